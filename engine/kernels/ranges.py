"""Compiled showdowns of hold'em between players who see each other's cards, and of all holdings at once.

Holdings are numbered as in `engine.ranges`. The functions validate nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import cast

import numpy as np
from numpy.typing import NDArray

from engine.duels import BOARDS, duel_row
from engine.kernels.cards import BITS, FLUSHES, KEYS, VALUES
from engine.kernels.draw import draw_cards, mixed
from engine.kernels.evaluation import key_and_set, seven_rank
from engine.kernels.jit import njit
from engine.splitmix import STEP

# With at most this many board cards to come, every board is counted.
_MAX_COUNTED = 2
_BOARD_CARDS = 5
_STEP = np.uint64(STEP)
_ZERO = np.uint64(0)
_ONE = np.uint64(1)
_duel_row = cast("Callable[[np.int64, np.int64, np.int64, np.int64], np.int64]", njit(duel_row))


@njit
def find_shares(
    cards: NDArray[np.uint8],
    hands: NDArray[np.int64],
    members: NDArray[np.uint64],
    known: NDArray[np.int64],
    streams: NDArray[np.uint64],
    draws: int,
    duels: NDArray[np.uint32],
    shares: NDArray[np.float64],
) -> None:
    """Write the expected share of each player in each of some pots.

    Shares are exact for two players before the flop and with at most two board cards to come. Otherwise boards are
    drawn. The draws depend on the known cards and on `streams` alone, so the shares are unbiased.

    Args:
        cards: hole cards by position, then the board, shape (hands, 2 * players + 5). Unknown board cards can be any.
        hands: index of the hand of each pot, shape (pots,).
        members: players of each pot, as a set of bits.
        known: number of known board cards of each pot, 0 to 5. The hole cards of all players are known.
        streams: start of the random numbers of each hand, shape (hands,).
        draws: number of boards to draw.
        duels: the table `engine.duels.duel_counts`.
        shares: results, shape (pots, players), 0 to 1; 0 for players who do not play for the pot.
    """
    players = (cards.shape[1] - _BOARD_CARDS) // 2
    deck = np.empty(52, np.uint8)
    ranks = np.zeros(players, np.int64)
    # The players of one pot: their hole cards as keys and as sets, and their positions.
    keys = np.zeros(players, np.uint64)
    bits = np.zeros(players, np.uint64)
    positions = np.zeros(players, np.int64)
    for pot in range(len(hands)):
        hand = hands[pot]
        count = 0
        taken = _ZERO
        # Collect the players of the pot, and the hole cards of all players, which cannot come.
        for position in range(players):
            shares[pot, position] = 0.0
            first = cards[hand, 2 * position]
            second = cards[hand, 2 * position + 1]
            both = BITS[first] | BITS[second]
            taken |= both
            if members[pot] >> np.uint64(position) & _ONE:
                positions[count] = position
                keys[count] = KEYS[first] + KEYS[second]
                bits[count] = both
                count += 1
        if count == 1:
            shares[pot, positions[0]] = 1.0
        elif players == 2 and not known[pot]:
            _look_up_pot_shares(cards, hand, duels, pot, shares)
        else:
            board_key, board_bits = key_and_set(cards[hand, 2 * players : 2 * players + known[pot]])
            missing = _BOARD_CARDS - known[pot]
            counter = mixed(streams[hand] + np.uint64(known[pot]) * _STEP)
            _count_pot_shares(
                board_key,
                board_bits,
                taken,
                missing=missing,
                draws=draws,
                counter=counter,
                deck=deck,
                count=count,
                keys=keys,
                bits=bits,
                ranks=ranks,
                positions=positions,
                pot=pot,
                shares=shares,
            )


@njit
def _look_up_pot_shares(
    cards: NDArray[np.uint8], hand: int, duels: NDArray[np.uint32], pot: int, shares: NDArray[np.float64]
) -> None:
    """Write the shares of two players before the flop."""
    row = _duel_row(
        np.int64(cards[hand, 0]), np.int64(cards[hand, 1]), np.int64(cards[hand, 2]), np.int64(cards[hand, 3])
    )
    # A negative row is that of the duel with the holdings exchanged.
    winner = 0 if row >= 0 else 1
    counts = duels[max(row, -1 - row)]
    shares[pot, winner] = (counts[0] + 0.5 * counts[1]) / BOARDS
    shares[pot, 1 - winner] = 1.0 - shares[pot, winner]


@njit
def _count_pot_shares(
    board_key: np.uint64,
    board_bits: np.uint64,
    taken: np.uint64,
    missing: int,
    draws: int,
    counter: np.uint64,
    deck: NDArray[np.uint8],
    count: int,
    keys: NDArray[np.uint64],
    bits: NDArray[np.uint64],
    ranks: NDArray[np.int64],
    positions: NDArray[np.int64],
    pot: int,
    shares: NDArray[np.float64],
) -> None:
    """Write the mean shares of the players of a pot over all boards to come, or over drawn ones."""
    boards = 1
    left = 0
    if missing:
        left = _fill_deck(taken | board_bits, deck)
        boards = draws
        if missing == 1:
            boards = left
        elif missing <= _MAX_COUNTED:
            boards = left * (left - 1) // 2
    # The next two cards to come, as places in the deck.
    turn, river = 0, 1
    for _ in range(boards):
        # Complete the board: a draw, the next card or pair of cards of the deck, or nothing.
        key = board_key
        table = board_bits
        if missing > _MAX_COUNTED:
            counter = draw_cards(deck[:left], missing, counter)
            for place in range(missing):
                key += KEYS[deck[place]]
                table |= BITS[deck[place]]
        elif missing:
            key += KEYS[deck[turn]]
            table |= BITS[deck[turn]]
            if missing == 1:
                turn += 1
            else:
                key += KEYS[deck[river]]
                table |= BITS[deck[river]]
                river += 1
                if river == left:
                    turn += 1
                    river = turn + 1
        # Find the best rank and the number of its players.
        best = np.int64(-1)
        winners = 0
        for i in range(count):
            rank = np.int64(seven_rank(key + keys[i], table | bits[i]))
            ranks[i] = rank
            if rank > best:
                best = rank
                winners = 1
            elif rank == best:
                winners += 1
        # Sum the shares of the winners.
        for i in range(count):
            if ranks[i] == best:
                shares[pot, positions[i]] += 1.0 / winners
    for i in range(count):
        shares[pot, positions[i]] /= boards


@njit
def _fill_deck(taken: np.uint64, deck: NDArray[np.uint8]) -> int:
    """Write the cards that are not in a set to a deck, ascending. Returns their number."""
    left = 0
    for card in range(52):
        if not taken & BITS[card]:
            deck[left] = card
            left += 1
    return left


HOLDINGS = np.array(list(combinations(range(52), 2)), dtype=np.uint8)
"""Cards of each holding, the lower one first, shape (1326, 2)."""
_HOLDING_KEYS = KEYS[HOLDINGS[:, 0]] + KEYS[HOLDINGS[:, 1]]
_HOLDING_BITS = BITS[HOLDINGS[:, 0]] | BITS[HOLDINGS[:, 1]]
_FIRST, _SECOND = HOLDINGS[:, 0].astype(np.uint64), HOLDINGS[:, 1].astype(np.uint64)
# Ranks of seven cards as consecutive numbers, with which hands can be sorted by counting.
_RANKS = np.unique(np.concatenate([VALUES[6], FLUSHES]))
_DENSE = np.zeros(int(_RANKS.max()) + 1, dtype=np.uint16)
_DENSE[_RANKS] = np.arange(len(_RANKS))
_NUM_RANKS = len(_RANKS)
_NUM_HOLDINGS = len(HOLDINGS)


@njit
def _advance(chosen: NDArray[np.int64], missing: int, cards: int) -> bool:
    """Advance to the next combination of `missing` places among `cards`; return whether there is one."""
    # Find the last place that can move, and put the later ones right behind it.
    last = missing - 1
    while last >= 0 and chosen[last] == cards - missing + last:
        last -= 1
    if last < 0:
        return False
    chosen[last] += 1
    for later in range(last + 1, missing):
        chosen[later] = chosen[later - 1] + 1
    return True


@njit
def count_against_all(board: NDArray[np.uint8], wins: NDArray[np.int64], ties: NDArray[np.int64]) -> None:
    """Add the wins and ties of every holding against every other one, over all boards that complete the known cards.

    Args:
        board: three to five cards.
        wins: by holding, shape (1326,). Nothing is added for holdings that share a card with a board.
        ties: by holding, shape (1326,).
    """
    deck = np.empty(52, np.uint8)
    key, table = key_and_set(board)
    left = _fill_deck(table, deck)
    missing = _BOARD_CARDS - len(board)
    chosen = np.arange(2)
    starts = np.zeros(_NUM_RANKS + 1, np.int64)
    ranks = np.zeros(_NUM_HOLDINGS, np.int64)
    free = np.zeros(_NUM_HOLDINGS, np.int64)
    order = np.zeros(_NUM_HOLDINGS, np.int64)
    # By card, the holdings with this card that are weaker, and those of the same rank.
    below = np.zeros(52, np.int64)
    equal = np.zeros(52, np.int64)
    has_board = True
    while has_board:
        whole_key = key
        whole = table
        for place in range(missing):
            whole_key += KEYS[deck[chosen[place]]]
            whole |= BITS[deck[chosen[place]]]
        # Rank the holdings that share no card with the board, and count those of each rank.
        number = 0
        starts[:] = 0
        for holding in range(_NUM_HOLDINGS):
            if not _HOLDING_BITS[holding] & whole:
                rank = seven_rank(whole_key + _HOLDING_KEYS[holding], whole | _HOLDING_BITS[holding])
                dense = np.int64(_DENSE[rank])
                free[number] = holding
                ranks[number] = dense
                number += 1
                starts[dense + 1] += 1
        # Sort them by counting: sum up where the holdings of each rank start, then put each in its place.
        for dense_rank in range(_NUM_RANKS):
            starts[dense_rank + 1] += starts[dense_rank]
        for i in range(number):
            order[starts[ranks[i]]] = i
            starts[ranks[i]] += 1
        # Go up from the weakest holding, by groups of the same rank. A holding beats all those before its group except
        # those that share a card with it.
        below[:] = 0
        begin = 0
        while begin < number:
            rank = ranks[order[begin]]
            # Count the holdings of the group by their cards.
            end = begin
            while end < number and ranks[order[end]] == rank:
                holding = free[order[end]]
                equal[_FIRST[holding]] += 1
                equal[_SECOND[holding]] += 1
                end += 1
            # Add their wins and ties. Each holding is counted among those that share its cards twice, once per card.
            for i in range(begin, end):
                holding = free[order[i]]
                first, second = _FIRST[holding], _SECOND[holding]
                wins[holding] += begin - below[first] - below[second]
                ties[holding] += end - begin - equal[first] - equal[second] + 1
            # Move the group to the weaker holdings.
            for i in range(begin, end):
                holding = free[order[i]]
                first, second = _FIRST[holding], _SECOND[holding]
                below[first] += 1
                below[second] += 1
                equal[first] = 0
                equal[second] = 0
            begin = end
        has_board = missing > 0 and _advance(chosen, missing, left)


@njit
def count_shares(hole: NDArray[np.uint8], board: NDArray[np.uint8], shares: NDArray[np.int64]) -> None:
    """Add twice the wins and once the ties of two cards against every holding, over all boards.

    Args:
        board: three to five cards.
        shares: by holding, shape (1326,). Nothing is added for holdings that share a card with `hole` or a board.
    """
    deck = np.empty(52, np.uint8)
    key, table = key_and_set(board)
    own_key = KEYS[hole[0]] + KEYS[hole[1]]
    own = BITS[hole[0]] | BITS[hole[1]]
    left = _fill_deck(table | own, deck)
    missing = _BOARD_CARDS - len(board)
    chosen = np.arange(2)
    has_board = True
    while has_board:
        whole_key = key
        whole = table
        for place in range(missing):
            whole_key += KEYS[deck[chosen[place]]]
            whole |= BITS[deck[chosen[place]]]
        rank = seven_rank(whole_key + own_key, whole | own)
        taken = whole | own
        # Compare with every holding that is possible on this board.
        for holding in range(_NUM_HOLDINGS):
            if not _HOLDING_BITS[holding] & taken:
                against = seven_rank(whole_key + _HOLDING_KEYS[holding], whole | _HOLDING_BITS[holding])
                if rank > against:
                    shares[holding] += 2
                elif rank == against:
                    shares[holding] += 1
        has_board = missing > 0 and _advance(chosen, missing, left)


@njit
def count_duels(hole: NDArray[np.uint8], duels: NDArray[np.uint32], boards: int, shares: NDArray[np.int64]) -> None:
    """Write twice the wins and once the ties of two cards against every holding before the flop.

    Args:
        duels: the table `engine.duels.duel_counts`.
        boards: number of boards without the cards of two holdings.
        shares: by holding, shape (1326,). Nothing is written for holdings that share a card with `hole`.
    """
    own = BITS[hole[0]] | BITS[hole[1]]
    first, second = np.int64(hole[0]), np.int64(hole[1])
    for holding in range(_NUM_HOLDINGS):
        if not _HOLDING_BITS[holding] & own:
            row = _duel_row(first, second, np.int64(HOLDINGS[holding, 0]), np.int64(HOLDINGS[holding, 1]))
            if row >= 0:
                shares[holding] = 2 * np.int64(duels[row, 0]) + np.int64(duels[row, 1])
            else:
                # The table has the duel with the holdings exchanged.
                lost = np.int64(duels[-1 - row, 0])
                tied = np.int64(duels[-1 - row, 1])
                shares[holding] = 2 * (boards - lost - tied) + tied
