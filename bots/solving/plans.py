"""What a plan is worth, the best answer to it, and how it is played: exact, in vectors over classes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
    "expected_values",
    "exploitability",
    "nash_conv",
    "others_of",
    "plan_of",
    "sequence_values",
    "strategy_of",
]

Chances: TypeAlias = NDArray[np.float64]
"""The probabilities of the actions of one choice, of shape (actions, classes)."""


class BestResponse(NamedTuple):
    """The best that a player can do against the plans of the others.

    Attributes:
        value: what it wins on average, in chips.
        plan: how; of several best actions the first.
    """

    value: float
    plan: Plan


def sequence_values(form: SequenceForm, player: int, *others: Plan) -> NDArray[np.float64]:
    """What each of a player's sequences wins at the leaves it ends in, in chips: of the shape of its plan.

    The sum of the products with the player's plan is its expected value.

    Args:
        form: the game.
        player: whose sequences.
        others: the plans of all other players, in order.
    """
    values = np.zeros(form.plan_shape(player))
    for number, chips, sequences in form.ends_by_matrix:
        payoffs = np.moveaxis(form.game.payoffs(number, player), player, -1)
        of_others = [plan[at] for plan, at in zip(others, np.delete(sequences, player, 0), strict=True)]
        won = of_others[0] @ payoffs if len(others) == 1 else _contracted(payoffs, of_others)
        np.add.at(values, sequences[player], chips * won)
    return values


def _contracted(payoffs: NDArray[np.float64], weights: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """For each leaf and class of the last axis, the sum of payoffs times the weights of all other axes."""
    won = np.tensordot(weights[0], payoffs, 1)
    for of_class in weights[1:]:
        won = np.einsum("lc,lc...->l...", of_class, won)
    return won


def others_of(plans: Plans, player: int) -> Plans:
    """All plans but that of one player."""
    return plans[:player] + plans[player + 1 :]


def expected_value(form: SequenceForm, plans: Plans, player: int = 0) -> float:
    """What a player wins on average, in chips."""
    return float((sequence_values(form, player, *others_of(plans, player)) * plans[player]).sum())


def expected_values(form: SequenceForm, plans: Plans) -> tuple[float, ...]:
    """What each player wins on average, in chips."""
    return tuple(expected_value(form, plans, player) for player in range(form.game.players))


def best_response(form: SequenceForm, player: int, *others: Plan) -> BestResponse:
    """The best answer of a player to the plans of all other players, in order."""
    values = sequence_values(form, player, *others)
    best: dict[str, NDArray[np.intp]] = {}
    for choice in reversed(form.choices[player]):
        of_actions = values[choice.sequences]
        values[choice.parent] += of_actions.max(0)
        best[choice.name] = of_actions.argmax(0)
    plan = plan_of(form, player, lambda choice: _pure(choice, best[choice.name]))
    return BestResponse(float(values[0].sum()), plan)


def nash_conv(form: SequenceForm, plans: Plans) -> float:
    """What all players together would win more by their best answers, in chips; 0 in an equilibrium, else above."""
    total = 0.0
    for player in range(form.game.players):
        values = sequence_values(form, player, *others_of(plans, player))
        for parents, sequences in reversed(form.levels[player]):
            np.add.at(values, parents, values[sequences].max(0))
        total += float(values[0].sum())
    # What they win together without that is 0.
    return total


def exploitability(form: SequenceForm, plans: Plans) -> float:
    """What a player loses to best answers on average over all seats, in chips per game: `nash_conv` by the players."""
    return nash_conv(form, plans) / form.game.players


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

    A class that its plan keeps from a choice plays its best answer there to the plans of the others.
    """
    strategy = strategy_of(form, player, plans[player])
    values = sequence_values(form, player, *others_of(plans, player))
    for choice in reversed(form.choices[player]):
        chances, of_actions = strategy[choice.name], values[choice.sequences]
        chances[:] = np.where(np.isnan(chances), _pure(choice, of_actions.argmax(0)), chances)
        values[choice.parent] += (chances * of_actions).sum(0)
    return strategy


def _pure(choice: Choice, actions: NDArray[np.intp]) -> Chances:
    """Probability 1 for one action of each class."""
    chances: Chances = (np.arange(len(choice.actions))[:, None] == actions).astype(np.float64)
    return chances
