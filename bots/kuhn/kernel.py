"""Compiled: hands of two populations, every individual against every other, and samples of hands against one opponent.

A hand is a deal of two of three cards and one of the game's ends. The chance of an end is what the first player with
its card contributes to it times what the second does (`bots.kuhn.fitness`), so that one number drawn
decides a whole hand: a sixth of the interval for each deal, and within it the ends in order. The loops have no
branches, so that the compiler makes eight hands at a time of them. Nothing is validated.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.kernels.draw import mixed
from engine.kernels.jit import njit
from engine.splitmix import STEP

ENDS_AT_ONCE: Final = 4
"""Ends that a loop over the hands deals with; all ends of a game but the last are a multiple."""
_STEP = np.uint64(STEP)
_ONE = np.uint64(1)
_LOW_BITS = np.uint64(11)
_UNIT: Final = 2.0**-53
_DEALS: Final = 6
_ROUNDING: Final = 1e-12
"""Chances sum to 1 but for this."""


@njit
def _choose(is_one: bool, is_other: bool, one: float, other: float, rest: float) -> float:
    if is_one:
        return one
    if is_other:
        return other
    return rest


@njit
def _draw_deals(seed: np.uint64, drawn: NDArray[np.float64]) -> None:
    for hand in range(len(drawn)):
        word = mixed(seed + (np.uint64(hand) + _ONE) * _STEP)
        drawn[hand] = np.float64(word >> _LOW_BITS) * (_UNIT * _DEALS)


@njit
def _begin(
    drawn: NDArray[np.float64], high: int, low: int, so_far: NDArray[np.float64], won: NDArray[np.int64]
) -> None:
    for hand in range(len(drawn)):
        x = drawn[hand]
        won[hand] = high if (x >= 4) | ((x >= 2) & (x < 3)) else low
        so_far[hand] = 0.0


@njit
def _pass_ends(
    drawn: NDArray[np.float64],
    own: NDArray[np.float64],
    other: NDArray[np.float64],
    high: NDArray[np.int64],
    low: NDArray[np.int64],
    so_far: NDArray[np.float64],
    won: NDArray[np.int64],
) -> None:
    """Pass four ends: hands whose number lies behind an end get what the next one pays.

    Args:
        drawn: see `_draw_deals`.
        own: what the first player contributes to the ends, shape (4, 3 cards).
        other: what each second player does, shape (4, 3 cards, hands).
        high: what the end after each pays the first player when it has the higher card.
        low: the same for the lower card.
        so_far: the chances of all ends before.
        won: what the first player has won.
    """
    a0, a1, a2 = own[0, 0], own[0, 1], own[0, 2]
    b0, b1, b2 = own[1, 0], own[1, 1], own[1, 2]
    c0, c1, c2 = own[2, 0], own[2, 1], own[2, 2]
    d0, d1, d2 = own[3, 0], own[3, 1], own[3, 2]
    high_a = high[0]
    high_b = high[1]
    high_c = high[2]
    high_d = high[3]
    low_a = low[0]
    low_b = low[1]
    low_c = low[2]
    low_d = low[3]
    for hand in range(len(drawn)):
        x = drawn[hand]
        # The deals in order: JQ, JK, QJ, QK, KJ, KQ.
        jack = x < 2
        queen = x < 4
        their_jack = ((x >= 2) & (x < 3)) | ((x >= 4) & (x < 5))
        their_queen = (x < 1) | (x >= 5)
        is_high = (x >= 4) | ((x >= 2) & (x < 3))
        point = x - math.floor(x)
        end = so_far[hand]
        paid = won[hand]
        # Everything is loaded before it is chosen from: a load under a condition keeps the loop from being unrolled.
        p, q, r = other[0, 0, hand], other[0, 1, hand], other[0, 2, hand]
        end += _choose(jack, queen, a0, a1, a2) * _choose(their_jack, their_queen, p, q, r)
        pays = high_a if is_high else low_a
        paid = pays if point >= end else paid
        p, q, r = other[1, 0, hand], other[1, 1, hand], other[1, 2, hand]
        end += _choose(jack, queen, b0, b1, b2) * _choose(their_jack, their_queen, p, q, r)
        pays = high_b if is_high else low_b
        paid = pays if point >= end else paid
        p, q, r = other[2, 0, hand], other[2, 1, hand], other[2, 2, hand]
        end += _choose(jack, queen, c0, c1, c2) * _choose(their_jack, their_queen, p, q, r)
        pays = high_c if is_high else low_c
        paid = pays if point >= end else paid
        p, q, r = other[3, 0, hand], other[3, 1, hand], other[3, 2, hand]
        end += _choose(jack, queen, d0, d1, d2) * _choose(their_jack, their_queen, p, q, r)
        pays = high_d if is_high else low_d
        paid = pays if point >= end else paid
        so_far[hand] = end
        won[hand] = paid


@njit
def _play(
    seed: np.uint64,
    own: NDArray[np.float64],
    other: NDArray[np.float64],
    high: NDArray[np.int64],
    low: NDArray[np.int64],
    drawn: NDArray[np.float64],
    so_far: NDArray[np.float64],
    won: NDArray[np.int64],
) -> None:
    _draw_deals(seed, drawn)
    _begin(drawn, high[0], low[0], so_far, won)
    for end in range(0, len(high) - 1, ENDS_AT_ONCE):
        till = end + ENDS_AT_ONCE
        _pass_ends(drawn, own[end:till], other[end:till], high[end + 1 :], low[end + 1 :], so_far, won)


@njit
def play_population(
    own: NDArray[np.float64],
    other: NDArray[np.float64],
    high: NDArray[np.int64],
    low: NDArray[np.int64],
    seeds: NDArray[np.uint64],
    won: NDArray[np.int64],
    lost: NDArray[np.int64],
) -> None:
    """Play one hand of every first player against every second one; both get what it gives.

    Args:
        own: what each first player contributes to each end but the last, shape (ends, 3 cards, players).
        other: what each second player does, shape (ends, 3 cards, players).
        high: what each end pays the first player when it has the higher card, including the last one.
        low: the same for the lower card.
        seeds: of each first player's hands.
        won: by first player, added to.
        lost: by second player: what the first ones won, added to.
    """
    hands = other.shape[2]
    drawn = np.empty(hands)
    so_far = np.empty(hands)
    paid = np.empty(hands, np.int64)
    for player in range(own.shape[2]):
        _play(seeds[player], own[:, :, player], other, high, low, drawn, so_far, paid)
        total = 0
        for hand in range(hands):
            total += paid[hand]
            lost[hand] += paid[hand]
        won[player] += total


@njit
def play_halving(
    own: NDArray[np.float64],
    other: NDArray[np.float64],
    model: NDArray[np.float64],
    high: NDArray[np.int64],
    low: NDArray[np.int64],
    seeds: NDArray[np.uint64],
    model_seeds: NDArray[np.uint64],
    won: NDArray[np.float64],
    lost: NDArray[np.float64],
) -> None:
    """What the listing of the thesis does for its mixed approach: halve both sums after every pair of hands.

    Arguments as for `play_population`, and:

    Args:
        model: what the fixed second player contributes, as often as there are second players; of the shape of `other`.
        model_seeds: of each first player's hands against the fixed one.
        lost: by second player, which is charged with the hands of the fixed one, too.
    """
    hands = other.shape[2]
    drawn = np.empty(hands)
    so_far = np.empty(hands)
    paid = np.empty(hands, np.int64)
    from_model = np.empty(hands, np.int64)
    for player in range(own.shape[2]):
        _play(seeds[player], own[:, :, player], other, high, low, drawn, so_far, paid)
        _play(model_seeds[player], own[:, :, player], model, high, low, drawn, so_far, from_model)
        for hand in range(hands):
            both = paid[hand] + from_model[hand]
            won[player] = (won[player] + both) / 2
            lost[hand] = (lost[hand] + both) / 2


@njit
def binomial(trials: int, chance: float, point: float, log_factorials: NDArray[np.float64]) -> int:
    """How many of some trials succeed, by inversion that starts at the likeliest number.

    Args:
        point: drawn from 0 up to 1; each number of successes owns an interval as long as it is likely.
        log_factorials: of 0, 1, ... trials.
    """
    if trials == 0 or chance <= 0.0:
        return 0
    if chance >= 1.0:
        return trials
    mode = min(int((trials + 1) * chance), trials)
    odds = chance / (1.0 - chance)
    above = math.exp(
        log_factorials[trials]
        - log_factorials[mode]
        - log_factorials[trials - mode]
        + mode * math.log(chance)
        + (trials - mode) * math.log1p(-chance)
    )
    below = above
    up = mode
    down = mode
    point -= above
    while point >= 0.0 and (up < trials or down > 0):
        if up < trials:
            above *= (trials - up) / (up + 1) * odds
            up += 1
            point -= above
            if point < 0.0:
                return up
        if down > 0:
            below *= down / ((trials - down + 1) * odds)
            down -= 1
            point -= below
            if point < 0.0:
                return down
    return mode


@njit
def sample_means(
    chances: NDArray[np.float64],
    payoffs: NDArray[np.float64],
    games: int,
    seeds: NDArray[np.uint64],
    log_factorials: NDArray[np.float64],
    means: NDArray[np.float64],
) -> None:
    """Draw how often each payoff comes up in some games, and the mean payoff; games are independent of each other.

    Args:
        chances: of each payoff, shape (players, payoffs).
        log_factorials: of 0, 1, ... games.
    """
    for player in range(len(chances)):
        counter = seeds[player]
        left = games
        rest = 1.0
        total = 0.0
        for number in range(len(payoffs)):
            if left == 0:
                break
            chance = chances[player, number]
            if rest - chance < _ROUNDING:
                count = left
            else:
                counter += _STEP
                point = np.float64(mixed(counter) >> _LOW_BITS) * _UNIT
                count = binomial(left, min(chance / rest, 1.0), point, log_factorials)
            total += count * payoffs[number]
            left -= count
            rest -= chance
        means[player] = total / games
