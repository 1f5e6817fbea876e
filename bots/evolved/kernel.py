"""Compiled loops that draw deals, compute the weights of their hands, and play them with ten chromosomes.

A deal is 25 cards: ten pairs, numbered 0 to 9, and a board. It is played a hundred times, in each combination of a
rotation k of the pairs (pair (p + k) mod 10 at position p) and a rotation r of the players (player (p + r) mod 10).
Chips are dollars: blinds 1 and 2, bets 2 and 4. Arguments are not validated.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from bots.evolved.chromosome import BETTING_STATES, MAX_RAISES, THRESHOLD, chart, chart_position
from engine.cards import starting_hand_table
from engine.kernels.cards import BITS, KEYS
from engine.kernels.draw import draw_cards
from engine.kernels.evaluation import key_and_set, seven_rank
from engine.kernels.jit import njit

_PLAYERS: Final = 10
LOGGED: Final = 6
"""Columns of a row of the log, see `play_table`."""
_CARDS: Final = 25
_CHART = np.array(chart(), np.uint8)
_POSITION_CLASS = np.array([chart_position(position, _PLAYERS) for position in range(_PLAYERS)], np.int64)
_STARTING_HAND = np.array(starting_hand_table(), np.uint8)
_BETS = np.array([2, 2, 4, 4], np.int64)
_FIRST_STATES = np.array([0, 0, 20, 45], np.int64)
_RAKE_STEP: Final = 5
_RAKE_PER_STEP: Final = 0.25
_MAX_RAKE: Final = 3.0


@njit
def preflop(cards: NDArray[np.uint8], rotation: int, spent: NDArray[np.int64]) -> tuple[int, int, int]:
    """Play the first round by the charts.

    Args:
        cards: cards of the deal, pair by pair, then the board.
        rotation: rotation of the pairs.
        spent: result, the chips of each position at the end of the round.

    Returns:
        Bit set of the active positions, number of raises without the blind, and bit set of the raisers.
    """
    # All players have the same charts, so the result does not depend on the rotation of the players.
    spent[:] = 0
    spent[0] = 1
    spent[1] = 2
    in_pot = (1 << _PLAYERS) - 1
    left = _PLAYERS
    raises = 0
    # Counts the players that have matched the price.
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
                if action == 2 and raises < MAX_RAISES - 1:
                    raises = raises + 1
                    called = 1
                    price = price + 2
                    raised |= 1 << position
                spent[position] = price
        position = position + 1 if position + 1 < _PLAYERS else 0
    return in_pot, raises, raised


@njit
def deal(start: np.uint64, cards: NDArray[np.uint8]) -> np.uint64:
    """Draw deals that see a flop in at least one rotation, and write them to `cards`, shape (deals, 25).

    Returns:
        State of the generator after the draws.
    """
    # A hand without a flop need not be played. Over the rotations of the players everybody wins it once and pays the
    # chips of each position once, which sums to 0, because there is no rake without a flop.
    deck = np.arange(52).astype(np.uint8)
    spent = np.empty(_PLAYERS, np.int64)
    count = 0
    while count < len(cards):
        start = np.uint64(draw_cards(deck, _CARDS, start))
        for rotation in range(_PLAYERS):
            in_pot, _, _ = preflop(deck, rotation, spent)
            # More than one bit is set: at least two players see the flop.
            if in_pot & (in_pot - 1):
                cards[count] = deck[:_CARDS]
                count += 1
                break
    return start


@njit
def weigh(
    cards: NDArray[np.uint8],
    trials: int,
    start: np.uint64,
    weights: NDArray[np.float64],
) -> None:
    """Estimate each pair's chance not to lose, by drawing the unknown cards of nine opponents and the board.

    Args:
        cards: deals, shape (deals, 25).
        trials: number of draws.
        start: state of the generator.
        weights: result, shape (deals, 10 pairs, 3 rounds, 9), by opponents less one.
    """
    deck = np.empty(52, np.uint8)
    for number in range(len(cards)):
        for pair in range(_PLAYERS):
            first_card = cards[number, 2 * pair]
            second_card = cards[number, 2 * pair + 1]
            for round_ in range(3):
                known = 3 + round_
                key, seen = key_and_set(cards[number, 2 * _PLAYERS : 2 * _PLAYERS + known])
                own_key = KEYS[first_card] + KEYS[second_card]
                own = BITS[first_card] | BITS[second_card]
                size = 0
                # Collects the unknown cards.
                for card in range(52):
                    if not BITS[card] & (seen | own):
                        deck[size] = card
                        size += 1
                to_come = 5 - known
                draws = to_come + 2 * (_PLAYERS - 1)
                for opponents in range(_PLAYERS - 1):
                    weights[number, pair, round_, opponents] = 0.0
                # Counts, for each number of opponents, the trials in which none of them has a better hand.
                for _ in range(trials):
                    start = np.uint64(draw_cards(deck[:size], draws, start))
                    board_key = key
                    board = seen
                    # Sums the keys of the board.
                    for i in range(to_come):
                        board_key += KEYS[deck[i]]
                        board |= BITS[deck[i]]
                    ours = seven_rank(board_key + own_key, board | own)
                    for opponents in range(_PLAYERS - 1):
                        first = deck[to_come + 2 * opponents]
                        second = deck[to_come + 2 * opponents + 1]
                        their_key = board_key + KEYS[first] + KEYS[second]
                        theirs = seven_rank(their_key, board | BITS[first] | BITS[second])
                        # An opponent that wins also wins with any more opponents.
                        if theirs > ours:
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
    """Play all hands with a flop in all rotations of the players, and add their winnings.

    Args:
        chromosomes: thresholds of each player, shape (10, 5040, 2).
        by_price: for each player, True for the odds "price" and False for "reward" (`bots.evolved.chromosome.Odds`).
        rake: take $0.25 of each whole $5 of a pot, at most $3.
        flops: hands that see a flop, shape (hands, 4), as in `DealSet`.
        spent: chips of each position before the flop, shape (hands, 10).
        categories: category by deal, pair and round after the first.
        ranks: rank of all seven cards by deal and pair.
        weights: result of `weigh`.
        used: result, the genes that player 0 used.
        won: winnings of each player in dollars, which are added to it.
        log: result, the play of player 0, shape (10 * hands, `LOGGED`); without rows nothing is logged. A row has the
            gain in dollars, the last round seen (0 after a fold before the flop), 1 for a showdown, 1 for a share of
            the pot, the number of bets and raises, and the number of calls with a price.
    """
    put_in = np.empty(_PLAYERS, np.int64)
    is_logged = len(log) > 0
    for number in range(len(flops)):
        deal_ = flops[number, 0]
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
            # Sums the pot, and counts the players in it.
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
                        gene = _gene(categories[deal_, pair, round_ - 1], position, round_, before, raises)
                        to_call = price - put_in[position]
                        factor = _odds_factor(to_call, pot, by_price[player])
                        value = THRESHOLD * weights[deal_, pair, round_ - 1, left - 2] * factor
                        wants_raise = value > chromosomes[player, gene, 0]
                        folds = not wants_raise and not value > chromosomes[player, gene, 1] and to_call > 0
                        # Record the play of player 0.
                        if player == 0:
                            used[gene] = True
                            if wants_raise and raises < MAX_RAISES:
                                own_raises += 1
                            elif to_call > 0 and not folds:
                                own_calls += 1
                        if folds:
                            in_pot &= ~(1 << position)
                            left -= 1
                        else:
                            called += 1
                            if wants_raise and raises < MAX_RAISES:
                                raises = raises + 1
                                called = 1
                                price += _BETS[round_]
                            pot += price - put_in[position]
                            put_in[position] = price
                    position = position + 1 if position + 1 < _PLAYERS else 0
                before = raises
                if left == 1:
                    break
            best, winners = _best_rank(in_pot, ranks[deal_], rotation)
            taken = 0.0
            if rake:
                taken = min(pot // _RAKE_STEP * _RAKE_PER_STEP, _MAX_RAKE)
            # Sums the winnings of each player.
            for position in range(_PLAYERS):
                player = (position + turn) % _PLAYERS
                won[player] -= put_in[position]
                if in_pot >> position & 1 and np.int64(ranks[deal_, (position + rotation) % _PLAYERS]) == best:
                    won[player] += (pot - taken) / winners
            if is_logged:
                own = (_PLAYERS - turn) % _PLAYERS
                is_in = in_pot >> own & 1
                is_best = is_in and np.int64(ranks[deal_, (own + rotation) % _PLAYERS]) == best
                row = log[_PLAYERS * number + turn]
                row[0] = (pot - taken) / winners - put_in[own] if is_best else -put_in[own]
                row[1] = last
                row[2] = is_in and left > 1
                row[3] = is_best
                row[4] = own_raises
                row[5] = own_calls


@njit
def _gene(category: int, position: int, round_: int, raises_before: int, raises: int) -> Any:
    """Return the number of a gene as `bots.evolved.chromosome.gene` does, for a position at a table of ten."""
    state = _FIRST_STATES[round_] + raises_before * (MAX_RAISES + 1) + raises
    return (category * 8 + _POSITION_CLASS[position]) * BETTING_STATES + state


@njit
def _odds_factor(to_call: int, pot: int, by_price: bool) -> float:
    """Return the factor of `bots.evolved.chromosome.odds_factor`."""
    if by_price:
        return to_call / pot
    return pot / (pot + to_call)


@njit
def _best_rank(in_pot: int, ranks: NDArray[np.uint16], rotation: int) -> tuple[Any, int]:
    """Return the best rank of the active positions, and the number of positions that have it.

    Args:
        ranks: rank of each pair.
    """
    best = np.int64(-1)
    winners = 0
    for position in range(_PLAYERS):
        if in_pot >> position & 1:
            rank = np.int64(ranks[(position + rotation) % _PLAYERS])
            if rank > best:
                best = rank
                winners = 1
            elif rank == best:
                winners += 1
    return best, winners
