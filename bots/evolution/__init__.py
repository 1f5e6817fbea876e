"""Genetic algorithms over arrays of numbers. Nothing here knows poker, or what a chromosome means.

    >>> def evaluate(chromosomes, seeds, opponents):
    ...     return Evaluation(-((chromosomes[:, :, 0] - 0.3) ** 2).sum(axis=1))
    >>> evolution = Evolution(Genome.alike(3, 0, 1), evaluate, Breeding(elite=1), population=50, seed=1)
    >>> for generation in evolution.generations(StopRule(generations=60)):
    ...     pass
    >>> evolution.champion[:, 0].round(1).tolist()
    [0.3, 0.3, 0.3]

A generation is: select parents, cross them, mutate the children, evaluate, replace. Each of these is a value with its
parameters (`Tournament(size=3)`), so that a run is described by values, and all that is random follows from one seed
and the number of the generation: a run that is stopped and goes on from its checkpoint ends as one that was not.

Chromosomes are arrays of shape (individuals, genes, values of a gene). Operators deal with genes; the values of one
gene stay together.
"""

from __future__ import annotations

from bots.evolution.breeding import (
    Breeding,
    Crossover,
    HalfOfUsedGenes,
    Mutation,
    NewValues,
    OneOf,
    OnePoint,
    RandomGenes,
    Rank,
    Roulette,
    Selection,
    Shift,
    SignedRoulette,
    Tournament,
    Uniform,
    UsedGenes,
)
from bots.evolution.evolution import (
    Challengers,
    Evolution,
    Fixed,
    Generation,
    HallOfFame,
    Opposition,
    Rivals,
    State,
    StopReason,
    StopRule,
    load_checkpoint,
    save_checkpoint,
)
from bots.evolution.genome import Evaluation, Evaluator, GeneRange, Genome

__all__ = [
    "Breeding",
    "Challengers",
    "Crossover",
    "Evaluation",
    "Evaluator",
    "Evolution",
    "Fixed",
    "GeneRange",
    "Generation",
    "Genome",
    "HalfOfUsedGenes",
    "HallOfFame",
    "Mutation",
    "NewValues",
    "OneOf",
    "OnePoint",
    "Opposition",
    "RandomGenes",
    "Rank",
    "Rivals",
    "Roulette",
    "Selection",
    "Shift",
    "SignedRoulette",
    "State",
    "StopReason",
    "StopRule",
    "Tournament",
    "Uniform",
    "UsedGenes",
    "load_checkpoint",
    "save_checkpoint",
]
