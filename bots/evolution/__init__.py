"""Genetic algorithms over arrays of numbers. Nothing here knows poker, or what a chromosome means.

    >>> from bots.evolution.breeding import Breeding, Evaluation, Genome
    >>> from bots.evolution.evolution import Evolution, StopRule
    >>> def evaluate(chromosomes, seeds, opponents):
    ...     return Evaluation(-((chromosomes[:, :, 0] - 0.3) ** 2).sum(axis=1))
    >>> evolution = Evolution(Genome.alike(3, 0, 1), evaluate, Breeding(elite=1), population=50, seed=1)
    >>> for generation in evolution.generations(StopRule(generations=60)):
    ...     pass
    >>> evolution.champion[:, 0].round(1).tolist()
    [0.3, 0.3, 0.3]

A generation is: select parents, cross them, mutate the children, evaluate, replace. The operators are functions, made
with their parameters (``tournament_selection(size=3)``). All that is random follows from one seed and the number of the
generation: a run that is stopped and resumed from its checkpoint ends as one that was not.

Chromosomes are arrays of shape (individuals, genes, values of a gene). Operators deal with genes; the values of one
gene stay together.
"""
