"""How regret matching comes closer to an equilibrium, iteration by iteration."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bots.solving.plans import expected_values, nash_conv
from bots.solving.sequence_form import Plans, SequenceForm

__all__ = ["Convergence", "Reached", "converge", "milestones", "reachable"]


class Reached(NamedTuple):
    """The average plans after some iterations.

    Attributes:
        iterations: how many.
        nash_conv: see `bots.solving.plans.nash_conv`, in chips.
        values: what each player wins on average, in chips.
    """

    iterations: int
    nash_conv: float
    values: tuple[float, ...]


class Convergence(NamedTuple):
    """What some iterations led to.

    Attributes:
        plans: the average plans after the last.
        steps: after the iterations of `milestones`, and after the last.
        is_interrupted: Ctrl-C came before all iterations were done.
    """

    plans: Plans
    steps: tuple[Reached, ...]
    is_interrupted: bool = False


def milestones(iterations: int) -> tuple[int, ...]:
    """The iterations worth telling of: 1, 2, 5, 10, 20, 50, ... and the last."""
    found, power = [], 1
    while power <= iterations:
        found += [power * digit for digit in (1, 2, 5) if power * digit <= iterations]
        power *= 10
    return tuple(dict.fromkeys([*found, iterations]))


def converge(
    form: SequenceForm, averages: Iterator[Plans], iterations: int, on_step: Callable[[int, Reached], None]
) -> Convergence:
    """Iterate; Ctrl-C ends it with what has been reached by then.

    Args:
        form: the game.
        averages: the plans after each iteration, such as `bots.solving.regret_matching.cfr_plus` gives.
        iterations: how many, 1 or more.
        on_step: called after each with its number and the last milestone.

    Raises:
        KeyboardInterrupt: no iteration was done yet.
    """

    def reached(number: int, plans: Plans) -> Reached:
        return Reached(number, nash_conv(form, plans), expected_values(form, plans))

    telling = set(milestones(iterations))
    steps: list[Reached] = []
    is_interrupted = False
    try:
        for number, plans in enumerate(islice(averages, iterations), 1):
            if number in telling:
                steps.append(reached(number, plans))
            on_step(number, steps[-1])
    except KeyboardInterrupt:
        if not steps:
            raise
        is_interrupted = True
        if steps[-1].iterations < number:
            steps.append(reached(number, plans))
    return Convergence(plans, tuple(steps), is_interrupted)


def reachable(form: SequenceForm, player: int) -> NDArray[np.bool_]:
    """Which of a player's sequences the cards allow: of the shape of its plan."""
    found = np.zeros(form.plan_shape(player), bool)
    for matrix, _, sequences in form.ends_by_matrix:
        payoffs = np.moveaxis(form.game.payoffs(matrix, player), player, 0)
        found[sequences[player]] |= (payoffs != 0).any(tuple(range(1, form.game.players)))
    for parents, sequences in reversed(form.levels[player]):
        np.logical_or.at(found, parents, found[sequences].any(0))
    return found
