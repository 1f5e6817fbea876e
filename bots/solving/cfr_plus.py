"""Equilibria by regret matching: CFR+ (Tammelin 2014), vectorised over the classes of a player.

The players take turns; regrets never fall below zero; the average plan weights iteration t by t.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from bots.solving.plans import Chances, plan_of, sequence_values
from bots.solving.sequence_form import Choice, Plan, Plans, SequenceForm

__all__ = ["cfr_plus"]


def cfr_plus(form: SequenceForm) -> Iterator[Plans]:
    """The average plans after each iteration, without end: they come ever closer to an equilibrium."""
    regrets = [np.zeros(form.plan_shape(player)) for player in (0, 1)]
    current = [_matched(form, player, regrets[player]) for player in (0, 1)]
    sums = [np.zeros(form.plan_shape(player)) for player in (0, 1)]
    iteration = 0
    while True:
        iteration += 1
        for player in (0, 1):
            _add_regrets(form, player, regrets[player], current[1 - player])
            current[player] = _matched(form, player, regrets[player])
            sums[player] += iteration * current[player]
        weight = iteration * (iteration + 1) / 2
        yield sums[0] / weight, sums[1] / weight


def _add_regrets(form: SequenceForm, player: int, regrets: Plan, other: Plan) -> None:
    """Add what each action would have won above the average of the present strategy."""
    values = sequence_values(form, player, other)
    for choice in reversed(form.choices[player]):
        of_actions, known = values[choice.sequences], regrets[choice.sequences]
        average = (_chances(known) * of_actions).sum(0)
        values[choice.parent] += average
        np.maximum(known + of_actions - average, 0, out=known)


def _matched(form: SequenceForm, player: int, regrets: Plan) -> Plan:
    """The plan that takes each action in proportion to its regret."""

    def chances(choice: Choice) -> Chances:
        return _chances(regrets[choice.sequences])

    return plan_of(form, player, chances)


def _chances(regrets: Plan) -> Chances:
    total = regrets.sum(0)
    chances: Chances = np.divide(regrets, total, out=np.full(regrets.shape, 1 / len(regrets)), where=total > 0)
    return chances
