"""Genetic algorithms over arrays of numbers, independent of poker.

    >>> from bots.evolution.breeding import Breeding, Evaluation, Genome
    >>> from bots.evolution.evolution import Evolution, StopRule
    >>> def evaluate(chromosomes, seeds, opponents):
    ...     return Evaluation(-((chromosomes[:, :, 0] - 0.3) ** 2).sum(axis=1))
    >>> evolution = Evolution(Genome.alike(3, 0, 1), evaluate, Breeding(elite=1), population=50, seed=1)
    >>> for generation in evolution.generations(StopRule(generations=60)):
    ...     pass
    >>> evolution.champion[:, 0].round(1).tolist()
    [0.3, 0.3, 0.3]

A generation selects parents, crosses them, mutates the children, evaluates them and replaces the population. Operators
are functions that are created with their parameters (``tournament_selection(size=3)``). All random numbers follow from
the seed and the number of the generation, so a resumed run ends exactly like an uninterrupted one.

Chromosomes are arrays of shape (individuals, genes, values of a gene). Operators move whole genes.
"""
