"""Compiled: deals with all that is known about them ahead, and the hands that ten chromosomes play with them.

A deal is 25 cards: ten pairs, numbered 0 to 9, and a board. It is played a hundred times: for each rotation of the
pairs over the positions (pair (p + k) mod 10 at position p) the players are rotated (player (p + r) mod 10). Before the
flop everybody plays the same charts, so that part of a hand depends on k alone and is computed once. A hand without a
flop need not be played: over the rotations of the players everybody wins it once and pays each position's share once,
which is nothing in all (the rake is taken of pots that saw a flop only).

Money is in small bets' halves: blinds 1 and 2, bets 2 and 4, as at a table of $2 and $4. It validates nothing.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from bots.evolved.chromosome import BETTING_STATES, MOST_RAISES, THRESHOLD, chart, chart_position
from engine.cards import starting_hand_table
from engine.kernels.cards import BITS, KEYS
from engine.kernels.draw import draw_cards
from engine.kernels.evaluation import key_and_set, seven_rank
from engine.kernels.jit import njit

_PLAYERS: Final = 10
LOGGED: Final = 6
"""Columns of what is logged of a hand, see `play_table`."""
_CARDS: Final = 25
_CHART = np.array(chart(), np.uint8)
_POSITION_CLASS = np.array([chart_position(position, _PLAYERS) for position in range(_PLAYERS)], np.int64)
_STARTING_HAND = np.array(starting_hand_table(), np.uint8)
_BETS = np.array([2, 2, 4, 4], np.int64)
_FIRST_STATES = np.array([0, 0, 20, 45], np.int64)
_RAKE_STEP: Final = 5
_RAKE_PER_STEP: Final = 0.25
_MOST_RAKE: Final = 3.0


@njit
def preflop(cards: NDArray[np.uint8], rotation: int, spent: NDArray[np.int64]) -> tuple[int, int, int]:
    """Play the first round by the charts.

    Args:
        cards: of the deal, two by two the pairs, then the board.
        rotation: of the pairs, see above.
        spent: by position, what each has put in at the end.

    Returns:
        the bit set of the positions that have not folded, the raises without the blind, the bit set of the raisers.
    """
    spent[:] = 0
    spent[0] = 1
    spent[1] = 2
    in_pot = (1 << _PLAYERS) - 1
    left = _PLAYERS
    raises = 0
    called = 0
    price = 2
    position = 2
    raised = 0
    while called < left and left > 1:
        if in_pot >> position & 1:
            pair = (position + rotation) % _PLAYERS
            hand = _STARTING_HAND[cards[2 * pair], cards[2 * pair + 1]]
            action = _CHART[_POSITION_CLASS[position], hand, raises]
            if action == 0 and price > spent[position]:
                in_pot &= ~(1 << position)
                left -= 1
            else:
                called += 1
                if action == 2 and raises < MOST_RAISES - 1:
                    raises = raises + 1
                    called = 1
                    price = price + 2
                    raised |= 1 << position
                spent[position] = price
        position = position + 1 if position + 1 < _PLAYERS else 0
    return in_pot, raises, raised


@njit
def deal(start: np.uint64, cards: NDArray[np.uint8]) -> np.uint64:
    """Draw deals, shape (deals, 25), until as many have at least one rotation that sees a flop.

    Returns the generator's state afterwards.
    """
    deck = np.arange(52).astype(np.uint8)
    spent = np.empty(_PLAYERS, np.int64)
    found = 0
    while found < len(cards):
        start = np.uint64(draw_cards(deck, _CARDS, start))
        for rotation in range(_PLAYERS):
            in_pot, _, _ = preflop(deck, rotation, spent)
            if in_pot & (in_pot - 1):
                cards[found] = deck[:_CARDS]
                found += 1
                break
    return start


@njit
def weigh(
    cards: NDArray[np.uint8],
    trials: int,
    start: np.uint64,
    weights: NDArray[np.float64],
) -> None:
    """Find each pair's chance not to lose, by simulation: unknown cards are drawn `trials` times for nine opponents.

    Args:
        cards: deals, shape (deals, 25).
        start: the generator's state.
        weights: shape (deals, 10 pairs, 3 rounds, 9); the last index is opponents less one.
    """
    deck = np.empty(52, np.uint8)
    for number in range(len(cards)):
        for pair in range(_PLAYERS):
            one = cards[number, 2 * pair]
            other = cards[number, 2 * pair + 1]
            for round_ in range(3):
                known = 3 + round_
                key, seen = key_and_set(cards[number, 2 * _PLAYERS : 2 * _PLAYERS + known])
                own_key = KEYS[one] + KEYS[other]
                own = BITS[one] | BITS[other]
                size = 0
                for card in range(52):
                    if not BITS[card] & (seen | own):
                        deck[size] = card
                        size += 1
                to_come = 5 - known
                draws = to_come + 2 * (_PLAYERS - 1)
                for opponents in range(_PLAYERS - 1):
                    weights[number, pair, round_, opponents] = 0.0
                for _ in range(trials):
                    start = np.uint64(draw_cards(deck[:size], draws, start))
                    board_key = key
                    board = seen
                    for i in range(to_come):
                        board_key += KEYS[deck[i]]
                        board |= BITS[deck[i]]
                    ours = seven_rank(board_key + own_key, board | own)
                    for opponents in range(_PLAYERS - 1):
                        first = deck[to_come + 2 * opponents]
                        second = deck[to_come + 2 * opponents + 1]
                        if (
                            seven_rank(board_key + KEYS[first] + KEYS[second], board | BITS[first] | BITS[second])
                            > ours
                        ):
                            break
                        weights[number, pair, round_, opponents] += 1.0
                for opponents in range(_PLAYERS - 1):
                    weights[number, pair, round_, opponents] /= trials


@njit
def play_table(
    chromosomes: Any,
    by_price: NDArray[np.bool_],
    rake: bool,
    flops: Any,
    spent: NDArray[np.int64],
    categories: NDArray[np.uint8],
    ranks: NDArray[np.uint16],
    weights: NDArray[np.float64],
    used: NDArray[np.bool_],
    won: NDArray[np.float64],
    log: NDArray[np.float64],
) -> None:
    """Add what ten players win in all hands with a flop, each deal and rotation of pairs with all rotations of players.

    Args:
        chromosomes: one for each player, shape (10, 5040, 2).
        by_price: of each player, whether its odds are the price, not the reward (`bots.evolved.chromosome.Odds`).
        rake: whether a part of each pot is taken: $0.25 of each whole $5, at most $3.
        flops: the hands that see a flop, shape (hands, 4): deal, rotation of the pairs, bit set of the positions that
            are in, raises.
        spent: by hand and position, what each has put in.
        categories: of each deal, pair and round after the first.
        ranks: of each deal and pair, of all seven cards.
        weights: see `weigh`.
        used: the genes of player 0 that were asked are set.
        won: by player, in dollars.
        log: what player 0 did, shape (10 * hands, `LOGGED`), or without rows where it is not wanted: for each hand and
            rotation of the players its gain in dollars, the last round it saw (0 if it folded before the flop), 1 if
            it was in a showdown, 1 if it won a part of the pot, its bets and raises, its calls of a price.
    """
    put_in = np.empty(_PLAYERS, np.int64)
    is_logged = len(log) > 0
    for number in range(len(flops)):
        at = flops[number, 0]
        rotation = flops[number, 1]
        for turn in range(_PLAYERS):
            in_pot = flops[number, 2]
            before = flops[number, 3]
            pot = 0
            price = 0
            left = 0
            last = 0
            own_raises = 0
            own_calls = 0
            for position in range(_PLAYERS):
                put_in[position] = spent[number, position]
                pot += put_in[position]
                price = max(price, put_in[position])
                left += in_pot >> position & 1
            for round_ in range(1, 4):
                raises = 0
                called = 0
                position = 0
                if in_pot >> (_PLAYERS - turn) % _PLAYERS & 1:
                    last = round_
                while called < left and left > 1:
                    if in_pot >> position & 1:
                        pair = (position + rotation) % _PLAYERS
                        player = (position + turn) % _PLAYERS
                        state = _FIRST_STATES[round_] + before * (MOST_RAISES + 1) + raises
                        gene = (
                            categories[at, pair, round_ - 1] * 8 + _POSITION_CLASS[position]
                        ) * BETTING_STATES + state
                        to_call = price - put_in[position]
                        if by_price[player]:
                            factor = to_call / pot
                        else:
                            factor = pot / (pot + to_call)
                        d = THRESHOLD * weights[at, pair, round_ - 1, left - 2] * factor
                        wants_raise = d > chromosomes[player, gene, 0]
                        folds = not wants_raise and not d > chromosomes[player, gene, 1] and to_call > 0
                        if player == 0:
                            used[gene] = True
                            if wants_raise and raises < MOST_RAISES:
                                own_raises += 1
                            elif to_call > 0 and not folds:
                                own_calls += 1
                        if folds:
                            in_pot &= ~(1 << position)
                            left -= 1
                        else:
                            called += 1
                            if wants_raise and raises < MOST_RAISES:
                                raises = raises + 1
                                called = 1
                                price += _BETS[round_]
                            pot += price - put_in[position]
                            put_in[position] = price
                    position = position + 1 if position + 1 < _PLAYERS else 0
                before = raises
                if left == 1:
                    break
            best = np.int64(-1)
            winners = 0
            for position in range(_PLAYERS):
                if in_pot >> position & 1:
                    rank = np.int64(ranks[at, (position + rotation) % _PLAYERS])
                    if rank > best:
                        best = rank
                        winners = 1
                    elif rank == best:
                        winners += 1
            taken = 0.0
            if rake:
                taken = min(pot // _RAKE_STEP * _RAKE_PER_STEP, _MOST_RAKE)
            for position in range(_PLAYERS):
                player = (position + turn) % _PLAYERS
                won[player] -= put_in[position]
                if in_pot >> position & 1 and np.int64(ranks[at, (position + rotation) % _PLAYERS]) == best:
                    won[player] += (pot - taken) / winners
            if is_logged:
                own = (_PLAYERS - turn) % _PLAYERS
                row = log[_PLAYERS * number + turn]
                is_in = in_pot >> own & 1
                is_best = is_in and np.int64(ranks[at, (own + rotation) % _PLAYERS]) == best
                row[0] = (pot - taken) / winners - put_in[own] if is_best else -put_in[own]
                row[1] = last
                row[2] = is_in and left > 1
                row[3] = is_best
                row[4] = own_raises
                row[5] = own_calls
