"""How good chromosomes are, measured here or on other processes and machines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from bots.evolution.genome import Bools, Chromosomes, Floats, Seeds

__all__ = ["Evaluation", "Evaluator", "Map", "evaluate_in_parts", "joined"]


@dataclass(frozen=True, slots=True, eq=False)
class Evaluation:
    """What an evaluation found.

    Attributes:
        fitness: of each individual; the higher, the better.
        used: which genes were asked, shape (individuals, genes); None means all.
        against: what each opponent got against each individual, shape (individuals, opponents); None without opponents.
        totals: what each opponent got against all individuals together; it is enough for rivals, where `against` would
            be large.
    """

    fitness: Floats
    used: Bools | None = None
    against: Floats | None = None
    totals: Floats | None = None

    def used_genes(self, genes: int) -> Bools:
        """Which of that many genes each individual used, shape (individuals, genes)."""
        return np.ones((len(self.fitness), genes), bool) if self.used is None else self.used

    def of(self, individuals: Sequence[int]) -> Evaluation:
        """What was found of some of the individuals, without totals."""
        chosen = np.array(individuals, np.intp)
        used = None if self.used is None else self.used[chosen]
        against = None if self.against is None else self.against[chosen]
        return Evaluation(self.fitness[chosen], used, against)


def joined(*parts: Evaluation) -> Evaluation:
    """What was found of the individuals of all parts, in order; parts without individuals do not count."""
    found = [part for part in parts if len(part.fitness)]
    if len(found) == 1:
        return found[0]
    used = [part.used for part in found if part.used is not None]
    against = [part.against for part in found if part.against is not None]
    totals = [part.totals for part in found if part.totals is not None]
    return Evaluation(
        np.concatenate([part.fitness for part in found]),
        np.concatenate(used) if used else None,
        np.concatenate(against) if against else None,
        np.sum(totals, axis=0) if len(totals) == len(found) else None,
    )


Evaluator: TypeAlias = Callable[[Chromosomes, Seeds, Chromosomes | None], Evaluation]
"""Evaluates chromosomes.

It is given the chromosomes, a seed for each and the opponents' chromosomes (None where there are none). What it finds
of one individual may depend on that individual, its seed and the opponents only, so that the work can be divided
anyhow. It must be picklable where other processes do it.
"""

Map: TypeAlias = Callable[..., Sequence[Evaluation]]
"""Like the built-in ``map``: a function and its arguments, results in order, wherever they are computed."""


def evaluate_in_parts(
    evaluator: Evaluator, chromosomes: Chromosomes, seeds: Seeds, opponents: Chromosomes | None, parts: int, over: Map
) -> Evaluation:
    """Evaluate in `parts` tasks of nearly equal size, which `over` spreads; the result does not depend on either."""
    bounds = np.linspace(0, len(chromosomes), min(parts, len(chromosomes)) + 1).astype(int)
    pairs = list(pairwise(bounds.tolist()))
    done = over(
        evaluator,
        [chromosomes[start:end] for start, end in pairs],
        [seeds[start:end] for start, end in pairs],
        [opponents] * len(pairs),
    )
    return joined(*done)
