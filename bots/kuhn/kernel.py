"""Compiled loops that play hands of two populations, and that sample hands against a single opponent.

A hand is a deal of two of three cards and an end of the betting. The chance of an end is the product of both players'
contributions (`bots.kuhn.fitness`). So a single random number decides a hand: each deal has a sixth of the interval,
within which the ends follow in order. Arguments are not validated.
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
"""Number of ends in a pass over the hands. It divides the number of a game's ends without the last."""
_STEP = np.uint64(STEP)
_ONE = np.uint64(1)
_LOW_BITS = np.uint64(11)
_UNIT: Final = 2.0**-53
_DEALS: Final = 6
_ROUNDING: Final = 1e-12
"""Maximum deviation of a sum of chances from 1."""


@njit
def _choose(is_first: bool, is_second: bool, first: float, second: float, third: float) -> float:
    if is_first:
        return first
    if is_second:
        return second
    return third


@njit
def _draw_deals(seed: np.uint64, drawn: NDArray[np.float64]) -> None:
    """Draw a number from 0 up to 6 for each hand; its whole part is the deal."""
    for hand in range(len(drawn)):
        word = mixed(seed + (np.uint64(hand) + _ONE) * _STEP)
        drawn[hand] = np.float64(word >> _LOW_BITS) * (_UNIT * _DEALS)


@njit
def _begin(
    drawn: NDArray[np.float64], high: int, low: int, so_far: NDArray[np.float64], won: NDArray[np.int64]
) -> None:
    """Give each hand the payoff of the first end."""
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
    """Pass four ends: a hand whose number lies behind an end gets the payoff of the next end.

    Args:
        drawn: numbers of the hands, see `_draw_deals`.
        own: contributions of the first player to the ends, shape (4, 3 cards).
        other: contributions of the second players, shape (4, 3 cards, hands).
        high: payoff of the end after each to a first player with the higher card.
        low: payoff of the end after each to a first player with the lower card.
        so_far: sum of the chances of the ends before, by hand.
        won: payoff of the first player so far, by hand.
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
    # Sums the chances of the ends of each hand. Without branches in the loop, the compiler does eight hands at once.
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
        # Load all three contributions before the choice: a conditional load prevents vectorisation.
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
    """Play a hand of a first player against every second player, and write its payoffs to `won`."""
    _draw_deals(seed, drawn)
    _begin(drawn, high[0], low[0], so_far, won)
    for end in range(0, len(high) - 1, ENDS_AT_ONCE):
        stop = end + ENDS_AT_ONCE
        _pass_ends(drawn, own[end:stop], other[end:stop], high[end + 1 :], low[end + 1 :], so_far, won)


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
    """Play a hand of every first player against every second player.

    Args:
        own: contributions of the first players to the ends without the last, shape (ends, 3 cards, players).
        other: contributions of the second players, shape (ends, 3 cards, players).
        high: payoff of each end to a first player with the higher card, including the last end.
        low: payoff of each end to a first player with the lower card.
        seeds: seeds of the hands of each first player.
        won: winnings of each first player, which are added to it.
        lost: losses of each second player, which are added to it.
    """
    hands = other.shape[2]
    drawn = np.empty(hands)
    so_far = np.empty(hands)
    paid = np.empty(hands, np.int64)
    for player in range(own.shape[2]):
        _play(seeds[player], own[:, :, player], other, high, low, drawn, so_far, paid)
        total = 0
        # Sums the winnings of the first player, and adds the loss of each second player.
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
    """Play as the listing of the thesis does for its mixed approach, which halves both sums after every two hands.

    The arguments of `play_population` have the same meaning here.

    Args:
        model: contributions of the fixed second player, repeated to the shape of `other`.
        model_seeds: seeds of the hands of each first player against the fixed one.
        lost: losses of each second player, which include those of the fixed one.
    """
    hands = other.shape[2]
    drawn = np.empty(hands)
    so_far = np.empty(hands)
    paid = np.empty(hands, np.int64)
    from_model = np.empty(hands, np.int64)
    for player in range(own.shape[2]):
        _play(seeds[player], own[:, :, player], other, high, low, drawn, so_far, paid)
        _play(model_seeds[player], own[:, :, player], model, high, low, drawn, so_far, from_model)
        # Adds the payoffs of a hand against a second player and of a hand against the model, and halves the sums.
        for hand in range(hands):
            both = paid[hand] + from_model[hand]
            won[player] = (won[player] + both) / 2
            lost[hand] = (lost[hand] + both) / 2


@njit
def binomial(trials: int, chance: float, point: float, log_factorials: NDArray[np.float64]) -> int:
    """Return the number of successful trials, by inversion that starts at the most probable number.

    Args:
        chance: probability of a success.
        point: random number from 0 up to 1.
        log_factorials: logarithms of the factorials of 0, 1, ... trials.
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
    # Subtracts the probabilities of the numbers around the most probable one, nearest first, until the point is passed.
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
    """Draw the number of hands with each payoff, and write the mean payoff of each player.

    Args:
        chances: probability of each payoff, shape (players, payoffs).
        payoffs: payoffs in chips.
        games: number of independent hands of each player.
        log_factorials: logarithms of the factorials of 0, 1, ... games.
        means: result, by player.
    """
    for player in range(len(chances)):
        counter = seeds[player]
        remaining = games
        rest = 1.0
        total = 0.0
        # Sums the payoffs. Their numbers are multinomial: each is binomial among the remaining hands and chances.
        for number in range(len(payoffs)):
            if remaining == 0:
                break
            chance = chances[player, number]
            if rest - chance < _ROUNDING:
                count = remaining
            else:
                counter += _STEP
                point = np.float64(mixed(counter) >> _LOW_BITS) * _UNIT
                count = binomial(remaining, min(chance / rest, 1.0), point, log_factorials)
            total += count * payoffs[number]
            remaining -= count
            rest -= chance
        means[player] = total / games
