"""Copies of a training that learn apart, so that workers of other machines can help.

A board is walked in milliseconds, and a strategy is megabytes: workers that sent what every board has shown would send
more than they compute. So copies of a training learn apart, each on boards of its own, and their averages are added in
the order of the copies. What an answer wins from the mean of several strategies, each weighted with how likely it comes
somewhere, is at most the mean of what answers win from each; and what drawn boards have made of chance evens out.

A copy goes on where it stands: who computes it, where, and in how many parts changes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from bots.cfr.solver import Solver, Strategy, normalised

__all__ = ["MESSAGE_BYTES", "Copy", "go_on", "mean_strategy"]

MESSAGE_BYTES: Final = 32
"""What a copy is sent and sends, for each number of a strategy."""


class Copy(NamedTuple):
    """Where a copy stands.

    Attributes:
        regrets: see `bots.cfr.solver.Solver`.
        averages: see there.
    """

    regrets: Strategy
    averages: Strategy


def go_on(solver: Solver, iterations: int) -> Copy:
    """Do some iterations, and say where the copy stands."""
    for _ in range(iterations):
        solver.iterate()
    return Copy(solver.regrets, solver.averages)


def mean_strategy(solvers: Sequence[Solver]) -> Strategy:
    """What converges: how often each action was taken over all iterations of all copies."""
    averages = solvers[0].averages.copy()
    for solver in solvers[1:]:
        averages += solver.averages
    return normalised(solvers[0].tree, averages)
