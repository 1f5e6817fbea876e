"""Equilibria by regret matching, vectorised over the choices and classes of a player.

Each iteration takes every action in proportion to what it would have won, over all iterations so far, above the
strategies that were played (Zinkevich et al. 2007). The average plans come ever closer to an equilibrium of a game of
two players; with more of them nothing is promised, and `bots.solving.plans.nash_conv` says how close they are. CFR+
(Tammelin 2014) never lets a regret fall below zero and weights iteration t by t.

As in OpenSpiel, the average takes the strategy that an iteration began with, even chances in the first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bots.solving.plans import Chances, expected_values, nash_conv, others_of, sequence_values
from bots.solving.sequence_form import Plan, Plans, SequenceForm

__all__ = ["Convergence", "Reached", "cfr", "cfr_plus", "converge", "reachable"]


def cfr(form: SequenceForm, *, is_alternating: bool = True) -> Iterator[Plans]:
    """The average plans after each iteration, without end.

    Args:
        form: the game.
        is_alternating: the players take turns, each answering what those before it have just learnt; else all answer
            what the iteration began with.
    """
    return _iterations(form, is_alternating=is_alternating, is_plus=False)


def cfr_plus(form: SequenceForm) -> Iterator[Plans]:
    """The average plans after each iteration of CFR+, without end; the players take turns."""
    return _iterations(form, is_alternating=True, is_plus=True)


def _iterations(form: SequenceForm, *, is_alternating: bool, is_plus: bool) -> Iterator[Plans]:
    players = range(form.game.players)
    regrets = [np.zeros(form.plan_shape(player)) for player in players]
    sums = [np.zeros(form.plan_shape(player)) for player in players]
    plans = tuple(_matched(form, player, regrets[player]) for player in players)
    iteration, weights = 0, 0
    while True:
        iteration += 1
        weight = iteration if is_plus else 1
        weights += weight
        before = plans
        for player in players:
            sums[player] += weight * before[player]
            _add_regrets(form, player, regrets[player], plans if is_alternating else before)
            if is_plus:
                np.maximum(regrets[player], 0, out=regrets[player])
            matched = _matched(form, player, regrets[player])
            plans = (*plans[:player], matched, *plans[player + 1 :])
        yield tuple(total / weights for total in sums)


def _add_regrets(form: SequenceForm, player: int, regrets: Plan, plans: Plans) -> None:
    """Add what each action would have won above the average of the present strategy."""
    values = sequence_values(form, player, *others_of(plans, player))
    for parents, sequences in reversed(form.levels[player]):
        of_actions, known = values[sequences], regrets[sequences]
        average = (_chances(known) * of_actions).sum(0)
        np.add.at(values, parents, average)
        regrets[sequences] = known + (of_actions - average)


def _matched(form: SequenceForm, player: int, regrets: Plan) -> Plan:
    """The plan that takes each action in proportion to its regret, where that is above 0."""
    plan = np.ones(form.plan_shape(player))
    for parents, sequences in form.levels[player]:
        plan[sequences] = plan[parents] * _chances(regrets[sequences])
    return plan


def _chances(regrets: Plan) -> Chances:
    """Along the first axis; even chances where no action has any regret."""
    above = np.maximum(regrets, 0)
    total = above.sum(0)
    chances: Chances = np.divide(above, total, out=np.full(above.shape, 1 / len(above)), where=total > 0)
    return chances


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
