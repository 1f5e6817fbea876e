"""What a plan is worth, the best answer to it, and how it is played: exact, in vectors over classes."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bots.solving.sequence_form import Choice, Plan, Plans, SequenceForm

__all__ = [
    "BestResponse",
    "Chances",
    "best_response",
    "completed",
    "expected_value",
    "exploitability",
    "plan_of",
    "sequence_values",
    "strategy_of",
]

Chances: TypeAlias = NDArray[np.float64]
"""The probabilities of the actions of one choice, of shape (actions, classes)."""


class BestResponse(NamedTuple):
    """The best that a player can do against a plan.

    Attributes:
        value: what it wins on average, in chips.
        plan: how; of several best actions the first.
    """

    value: float
    plan: Plan


def sequence_values(form: SequenceForm, player: int, other: Plan) -> NDArray[np.float64]:
    """What each of a player's sequences wins at the leaves it ends in, in chips: of the shape of its plan.

    The sum of the products with the player's plan is its expected value.
    """
    values = np.zeros(form.plan_shape(player))
    matrices = form.game.matrices
    for number, chips, of_first, of_second in form.ends_by_matrix:
        matrix = matrices[number]
        if player == 0:
            np.add.at(values, of_first, chips * (other[of_second] @ matrix.T))
        else:
            np.add.at(values, of_second, -chips * (other[of_first] @ matrix))
    return values


def expected_value(form: SequenceForm, plans: Plans) -> float:
    """What player 0 wins on average, in chips."""
    return float((sequence_values(form, 0, plans[1]) * plans[0]).sum())


def best_response(form: SequenceForm, player: int, other: Plan) -> BestResponse:
    """The best answer of a player to the other player's plan."""
    values = sequence_values(form, player, other)
    best: dict[str, NDArray[np.intp]] = {}
    for choice in reversed(form.choices[player]):
        of_actions = values[choice.sequences]
        values[choice.parent] += of_actions.max(0)
        best[choice.name] = of_actions.argmax(0)
    plan = plan_of(form, player, lambda choice: _pure(choice, best[choice.name]))
    return BestResponse(float(values[0].sum()), plan)


def exploitability(form: SequenceForm, plans: Plans) -> float:
    """What the two plans lose on average to their best answers, in chips per game; 0 in an equilibrium."""
    return (best_response(form, 0, plans[1]).value + best_response(form, 1, plans[0]).value) / 2


def plan_of(form: SequenceForm, player: int, strategy: Callable[[Choice], Chances]) -> Plan:
    """The plan of a player that takes the actions of each choice with these probabilities."""
    plan = np.ones(form.plan_shape(player))
    for choice in form.choices[player]:
        plan[choice.sequences] = plan[choice.parent] * strategy(choice)
    return plan


def strategy_of(form: SequenceForm, player: int, plan: Plan) -> dict[str, Chances]:
    """The probabilities of the actions of each choice, by its name; nan for classes that never get there."""
    strategy = {}
    for choice in form.choices[player]:
        of_actions = plan[choice.sequences]
        total = of_actions.sum(0)
        strategy[choice.name] = np.divide(of_actions, total, out=np.full(of_actions.shape, np.nan), where=total > 0)
    return strategy


def completed(form: SequenceForm, player: int, plans: Plans) -> dict[str, Chances]:
    """The probabilities of the actions of each choice, by its name, also for classes that never get there.

    A class that its plan keeps from a choice plays its best answer there to the other player's plan.
    """
    strategy = strategy_of(form, player, plans[player])
    values = sequence_values(form, player, plans[1 - player])
    for choice in reversed(form.choices[player]):
        chances, of_actions = strategy[choice.name], values[choice.sequences]
        chances[:] = np.where(np.isnan(chances), _pure(choice, of_actions.argmax(0)), chances)
        values[choice.parent] += (chances * of_actions).sum(0)
    return strategy


def _pure(choice: Choice, actions: NDArray[np.intp]) -> Chances:
    """Probability 1 for one action of each class."""
    chances: Chances = (np.arange(len(choice.actions))[:, None] == actions).astype(np.float64)
    return chances
