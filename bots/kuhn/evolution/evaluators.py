"""How fit strategies are: by the hands that the work plays, or exactly."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from bots.errors import EvolutionError
from bots.evolution import Evaluation
from bots.evolution.genome import Chromosomes, Floats, Seeds
from bots.kuhn.evolution.ends import contributions, outlook, payments, value_matrix
from bots.kuhn.games import Genes, KuhnGame

__all__ = ["Mixed", "OfModel", "OfRivals"]


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
