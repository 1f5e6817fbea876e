"""Equilibria by regret matching, vectorised over the choices and classes of a player.

Each iteration takes every action in proportion to what it would have won, over all iterations so far, above the
strategies that were played (Zinkevich et al. 2007). The average plans come ever closer to an equilibrium of a game of
two players; with more of them nothing is promised, and `bots.solving.plans.nash_conv` says how close they are. CFR+
(Tammelin 2014) never lets a regret fall below zero and weights iteration t by t.

As in OpenSpiel, the average takes the strategy that an iteration began with, even chances in the first.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from bots.solving.plans import Chances, others_of, sequence_values
from bots.solving.sequence_form import Plan, Plans, SequenceForm

__all__ = ["cfr", "cfr_plus"]


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
