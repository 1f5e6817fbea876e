"""The ends of a game as arrays: what each pays, and what the genes of each seat contribute to its chance.

The chance of an end, given the cards, is the product of what both seats contribute, as in a sequence form. So payoffs
and their chances are products of matrices for whole populations, and one drawn number decides a hand.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import permutations
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bots.evolution.genome import Chromosomes, Floats
from bots.kuhn.games import CARDS, KuhnGame

__all__ = ["DEALS", "Outlook", "Payments", "contributions", "outlook", "payments", "value_matrix"]

DEALS: Final = tuple(permutations(range(len(CARDS)), 2))
"""The cards of both seats, all equally likely."""


class Payments(NamedTuple):
    """What each end pays the first player, in chips.

    Attributes:
        high: when it has the higher card.
        low: when it has the lower one.
    """

    high: NDArray[np.int64]
    low: NDArray[np.int64]


class Outlook(NamedTuple):
    """What a seat may win against one strategy.

    Attributes:
        payoffs: what can be won, in chips, in rising order.
        chances: of each payoff by what the seat contributes to the ends, shape (ends * cards, payoffs).
    """

    payoffs: Floats
    chances: Floats


@lru_cache
def payments(game: KuhnGame) -> Payments:
    """What the ends pay, in the order of `KuhnGame.lines`."""
    lines = game.lines()
    low = [-line.chips if line.is_showdown else line.chips for line in lines]
    return Payments(np.array([line.chips for line in lines], np.int64), np.array(low, np.int64))


@lru_cache
def _answers(game: KuhnGame, seat: int) -> tuple[tuple[tuple[int, bool], ...], ...]:
    return tuple(line.answers[seat] for line in game.lines())


def contributions(game: KuhnGame, seat: int, chromosomes: Chromosomes) -> Floats:
    """What strategies in the seat 0 or 1 contribute to the ends, shape (ends, cards, individuals)."""
    yes = chromosomes.reshape(len(chromosomes), -1).T.reshape(len(game.rows), len(CARDS), -1)
    chances = (1 - yes, yes)
    answers = _answers(game, seat)
    found = np.empty((len(answers), len(CARDS), len(chromosomes)))
    made: dict[tuple[tuple[int, bool], ...], Floats] = {(): np.ones(found.shape[1:])}
    for end, told in enumerate(answers):
        for length in range(1, len(told) + 1):
            if told[:length] not in made:
                row, answer = told[length - 1]
                made[told[:length]] = made[told[: length - 1]] * chances[answer][row]
        found[end] = made[told]
    return found


@lru_cache(maxsize=16)
def outlook(game: KuhnGame, seat: int, opponent: tuple[float, ...]) -> Outlook:
    """What the seat 0 or 1 may win against a strategy in the other seat."""
    other = contributions(game, 1 - seat, np.array(opponent)[None])[:, :, 0]
    pays = payments(game)
    sign = -1 if seat else 1
    payoffs = np.unique(np.concatenate([sign * pays.high, sign * pays.low]))
    chances = np.zeros((len(other), len(CARDS), len(payoffs)))
    for deal in DEALS:
        won = sign * (pays.high if deal[0] > deal[1] else pays.low)
        chances[range(len(won)), deal[seat], np.searchsorted(payoffs, won)] += other[:, deal[1 - seat]] / len(DEALS)
    return Outlook(payoffs.astype(float), chances.reshape(-1, len(payoffs)))


def value_matrix(game: KuhnGame, others: Floats) -> Floats:
    """What the first player wins on average, by what it contributes and by opponent.

    Args:
        game: which.
        others: what second players contribute, shape (ends, cards, players).

    Returns:
        shape (ends * cards, players).
    """
    pays = payments(game)
    found = np.zeros_like(others)
    for own, other in DEALS:
        won: Sequence[int] | NDArray[np.int64] = pays.high if own > other else pays.low
        found[:, own] += np.asarray(won)[:, None] * others[:, other] / len(DEALS)
    return found.reshape(-1, others.shape[2])
