"""Completion of plans: probabilities for every class, as strategy files need them."""

from __future__ import annotations

import numpy as np

from bots.solving.sequence_form import Chances, Plans, SequenceForm, others_of, sequence_values, strategy_of


def complete_plan(form: SequenceForm, player: int, plans: Plans) -> dict[str, Chances]:
    """Return the action probabilities of each choice by its name, also for unreached classes.

    A class that its plan never leads to a choice plays its best response there to the plans of the others.

    """
    strategy = strategy_of(form, player, plans[player])
    values = sequence_values(form, player, *others_of(plans, player))
    for choice in reversed(form.choices[player]):
        chances, of_actions = strategy[choice.name], values[choice.sequences]
        chances[:] = np.where(np.isnan(chances), np.arange(len(of_actions))[:, None] == of_actions.argmax(0), chances)
        values[choice.parent] += (chances * of_actions).sum(0)
    return strategy
