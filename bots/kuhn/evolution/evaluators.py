"""How fit strategies are: by the hands that the work plays, or exactly.

The chance of an end, given the cards, is the product of what both seats contribute, as in a sequence form. So payoffs
and their chances are products of matrices for whole populations, and one drawn number decides a hand.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import permutations
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bots.errors import EvolutionError
from bots.evolution.genome import Chromosomes, Evaluation, Floats, Seeds
from bots.kuhn.games import CARDS, Genes, KuhnGame

__all__ = ["Mixed", "OfModel", "OfRivals", "contributions", "outlook", "payments"]


@dataclass(frozen=True, slots=True)
class OfModel:
    """Each strategy plays against one that does not change.

    A hand's payoff is one of a few, so the numbers of hands with each payoff are multinomial: they are drawn in place
    of the hands.

    Attributes:
        game: which.
        seat: of those who evolve, 0 or 1.
        model: the strategy in the other seat.
        games: how many hands each plays; None takes the exact value.
        pays_model: who evolves is paid what the model wins, as in the listing of the work for the second seat.
    """

    game: KuhnGame
    seat: int
    model: Genes
    games: int | None
    pays_model: bool = False

    def __call__(self, chromosomes: Chromosomes, seeds: Seeds, opponents: Chromosomes | None) -> Evaluation:
        """See `bots.evolution.Evaluator`; there are no opponents but the model."""
        payoffs, by_end = outlook(self.game, self.seat, self.model)
        own = contributions(self.game, self.seat, chromosomes).reshape(len(by_end), -1)
        chances = own.T @ by_end
        if self.pays_model:
            payoffs = -payoffs
        if self.games is None:
            return Evaluation(chances @ payoffs)
        from bots.kuhn.evolution.kernel import sample_means

        means = np.empty(len(chromosomes))
        sample_means(chances, payoffs, self.games, seeds, _log_factorials(self.games), means)
        return Evaluation(means)


@dataclass(frozen=True, slots=True)
class OfRivals:
    """Each first player plays one hand against every second player; both get what it gives.

    Attributes:
        game: which.
        is_exact: they get what it gives on average.
    """

    game: KuhnGame
    is_exact: bool = False

    def __call__(self, chromosomes: Chromosomes, seeds: Seeds, opponents: Chromosomes | None) -> Evaluation:
        """See `bots.evolution.Evaluator`."""
        own, other = _both(self.game, chromosomes, opponents)
        if self.is_exact:
            values = own.reshape(-1, len(chromosomes)).T @ value_matrix(self.game, other)
            return Evaluation(values.mean(axis=1), totals=-values.sum(axis=0))
        from bots.kuhn.evolution.kernel import play_population

        won, lost = np.zeros(len(chromosomes), np.int64), np.zeros(other.shape[2], np.int64)
        play_population(own[:-1], other[:-1], *payments(self.game), seeds, won, lost)
        return Evaluation(won / len(lost), totals=-lost.astype(float))


@dataclass(frozen=True, slots=True)
class Mixed:
    """First players play against every second player and against a model; second players against first ones only.

    Attributes:
        game: which.
        model: a second player; half of a first player's fitness is what it wins from it.
        games: how many hands each first player plays against the model; None takes exact values of everything.
        is_halving: as in the listing of the work: after every hand against a second player and one against the model
            the sums of both players are halved, and the second is charged with the model's hand, too.
    """

    game: KuhnGame
    model: Genes
    games: int | None
    is_halving: bool = False

    def __call__(self, chromosomes: Chromosomes, seeds: Seeds, opponents: Chromosomes | None) -> Evaluation:
        """See `bots.evolution.Evaluator`."""
        # Hands against the model are no part of those against rivals: their seeds are others.
        model_seeds = ~seeds
        if self.is_halving:
            return self._halved(chromosomes, seeds, model_seeds, opponents)
        of_rivals = OfRivals(self.game, self.games is None)(chromosomes, seeds, opponents)
        of_model = OfModel(self.game, 0, self.model, self.games)(chromosomes, model_seeds, None)
        return Evaluation((of_rivals.fitness + of_model.fitness) / 2, totals=of_rivals.totals)

    def _halved(
        self, chromosomes: Chromosomes, seeds: Seeds, model_seeds: Seeds, opponents: Chromosomes | None
    ) -> Evaluation:
        from bots.kuhn.evolution.kernel import play_halving

        own, other = _both(self.game, chromosomes, opponents)
        model = contributions(self.game, 1, np.array(self.model)[None])
        model = np.ascontiguousarray(np.broadcast_to(model[:-1], other[:-1].shape))
        won, lost = np.zeros(len(chromosomes)), np.zeros(other.shape[2])
        play_halving(own[:-1], other[:-1], model, *payments(self.game), seeds, model_seeds, won, lost)
        return Evaluation(won / len(lost), totals=-lost * len(won) / len(lost))


def _both(game: KuhnGame, chromosomes: Chromosomes, opponents: Chromosomes | None) -> tuple[Floats, Floats]:
    """What first players contribute to the ends, and what second ones do."""
    if opponents is None:
        raise EvolutionError("second players are missing: there is nobody to play against")
    return contributions(game, 0, chromosomes), contributions(game, 1, opponents)


@lru_cache(maxsize=4)
def _log_factorials(most: int) -> Floats:
    """The logarithms of 0! to `most`!."""
    return np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, most + 1)))])


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
