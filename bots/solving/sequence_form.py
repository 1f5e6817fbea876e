"""Zero-sum games as trees of public events, their sequence form, and the values of plans.

A private class, such as a holding, is dealt to each player first. Everything after that is public. The matrix of a leaf
has, for each combination of classes, the probability of the cards times the payoff of one chip, so solvers need no
cards: the value of a leaf is chips * sum(matrix[i, j] * p0[i] * p1[j]).

A *sequence* is the list of a player's own actions on the way to a node, number 0 the empty one. A *plan*, shape
(sequences, classes), has the probability with which the player plays each sequence with each class: row 0 is 1, and the
sequences of a choice sum to that before it. Payoffs are linear in each plan (Koller, Megiddo & von Stengel 1996).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bots.errors import SolvingError
from engine.errors import quoted

ROUNDING: Final = 1e-12
"""An exploitability up to this, in chips, counts as 0: float sums are not exact."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """End of the game, with the index of its matrix in `PublicGame.matrices` and the chips that multiply it."""

    name: str
    matrix: int
    chips: float


@dataclass(frozen=True, slots=True)
class DecisionNode:
    """Turn of a player, with all its classes.

    Attributes:
        name: public events so far, such as ``cr``. A player does not distinguish its decisions of one name.
        point: value attached by the maker of the tree, which solvers ignore.
    """

    name: str
    player: int
    actions: tuple[str, ...]
    children: tuple[Node, ...]
    point: Any = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class ChanceNode:
    """Deal of public cards, whose probabilities are part of the matrices of the leaves."""

    children: tuple[Node, ...]


Node: TypeAlias = Leaf | DecisionNode | ChanceNode


@dataclass(frozen=True, slots=True, eq=False)
class PublicGame:
    """Game for the solvers.

    Attributes:
        classes: names of each player's private classes.
        matrices: payoffs of player 0 per chip, shape (matrices, classes of player 0, classes of player 1). With more
            than two players those of each player, shape (matrices, players, classes of player 0, ...). Read-only.
    """

    root: Node
    classes: tuple[tuple[str, ...], ...]
    matrices: NDArray[np.float64]

    def __post_init__(self) -> None:
        self.matrices.flags.writeable = False

    @property
    def players(self) -> int:
        return len(self.classes)

    def payoffs(self, matrix: int, player: int) -> NDArray[np.float64]:
        """Return the payoffs of one chip to a player, with an axis for the classes of each player."""
        payoffs: NDArray[np.float64] = self.matrices[matrix]
        if self.players > 2:
            payoffs = payoffs[player]
        elif player == 1:
            payoffs = -payoffs
        return payoffs

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, PublicGame)
            and (self.classes, self.root) == (other.classes, other.root)
            and np.array_equal(self.matrices, other.matrices)
        )

    def __hash__(self) -> int:
        return hash((self.classes, self.root))


Plan: TypeAlias = NDArray[np.float64]
Plans: TypeAlias = tuple[Plan, ...]
"""Plans of all players in order."""


class Choice(NamedTuple):
    """Decisions of a player with the same name, for all its classes.

    Attributes:
        parent: the player's sequence before the decision.
        first: sequence of the first action, followed by those of the other actions.
        point: `DecisionNode.point` of the first node with this name.
    """

    name: str
    actions: tuple[str, ...]
    parent: int
    first: int
    point: Any = None

    @property
    def sequences(self) -> slice:
        return slice(self.first, self.first + len(self.actions))


class TerminalNode(NamedTuple):
    """Leaf with the sequence of each player that leads to it."""

    leaf: Leaf
    sequences: tuple[int, ...]


_Level: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Choices of a player at one depth and with the same number of actions, for vectorised passes over the tree.

The parent sequences, shape (choices,), and the sequences, shape (actions, choices).
"""


class SparseMatrix(NamedTuple):
    """Sparse matrix in coordinates, shape (entries,) each. Several entries can have the same cell."""

    rows: NDArray[np.int64]
    columns: NDArray[np.int64]
    values: NDArray[np.float64]
    shape: tuple[int, int]

    def summed(self) -> SparseMatrix:
        """Return the matrix with the entries of each cell added, in order of rows."""
        cells, places = np.unique(self.rows * self.shape[1] + self.columns, return_inverse=True)
        values = np.zeros(len(cells))
        np.add.at(values, places, self.values)
        return self._of(cells, values)

    def overwritten(self) -> SparseMatrix:
        """Return the matrix with only the last entry of each cell, in order of rows."""
        # `unique` returns first indexes, which in reversed order are those of the last entries.
        cells, last = np.unique((self.rows * self.shape[1] + self.columns)[::-1], return_index=True)
        return self._of(cells, self.values[::-1][last])

    def _of(self, cells: NDArray[np.int64], values: NDArray[np.float64]) -> SparseMatrix:
        rows, columns = np.divmod(cells, self.shape[1])
        return SparseMatrix(rows, columns, values, self.shape)


@dataclass(frozen=True)
class SequenceForm:
    """Game in sequence form.

    Attributes:
        choices: choices of each player, parents before their descendants.
        terminal_nodes: leaves in order of the tree.
    """

    game: PublicGame
    choices: tuple[tuple[Choice, ...], ...]
    terminal_nodes: tuple[TerminalNode, ...]

    @cached_property
    def terminal_nodes_by_matrix(self) -> tuple[tuple[int, NDArray[np.float64], NDArray[np.int64]], ...]:
        """Leaves by matrix: its index, their chips, shape (leaves, 1), and sequences, shape (players, leaves)."""
        groups: dict[int, list[TerminalNode]] = {}
        for end in self.terminal_nodes:
            groups.setdefault(end.leaf.matrix, []).append(end)
        by_matrix = []
        for matrix, ends in groups.items():
            chips = np.array([[end.leaf.chips] for end in ends], np.float64)
            sequences = np.array([end.sequences for end in ends]).T.copy()
            by_matrix.append((matrix, chips, sequences))
        return tuple(by_matrix)

    @cached_property
    def levels(self) -> tuple[tuple[_Level, ...], ...]:
        """Choices of each player in levels, parents before their descendants."""
        return tuple(_levels(choices) for choices in self.choices)

    @cached_property
    def sequences(self) -> tuple[int, ...]:
        """Number of sequences of each player, including the empty one."""
        counts = []
        for choices in self.choices:
            counts.append(1 + sum(len(choice.actions) for choice in choices))
        return tuple(counts)

    def plan_shape(self, player: int) -> tuple[int, int]:
        """Return the shape of a plan, (sequences, classes)."""
        return self.sequences[player], len(self.game.classes[player])

    def numbers(self, player: int) -> NDArray[np.int64]:
        """Return the index of each sequence and class in a vector, in the shape of a plan.

        The empty sequence is index 0 for all classes. The others follow class by class: with n of them, sequence s of
        class c is 1 + n * c + (s - 1).
        """
        sequences, classes = self.plan_shape(player)
        numbers = np.zeros((sequences, classes), np.int64)
        first_of_class = 1 + np.arange(classes) * (sequences - 1)
        numbers[1:] = first_of_class + np.arange(sequences - 1)[:, None]
        return numbers

    def payoffs(self) -> SparseMatrix:
        """Return the payoffs of player 0 in a game of two players, shape (vector of player 0, vector of player 1).

        Entries of a cell have to be added, because the empty sequence is one index for all classes.

        Raises:
            SolvingError: the game has more than two players.
        """
        if self.game.players != 2:
            raise SolvingError(f"a linear program solves games of two players, not one of {self.game.players}")
        rows = self.numbers(0)
        columns = self.numbers(1)
        matrices = self.game.matrices
        row_parts = []
        column_parts = []
        values = []
        for end in self.terminal_nodes:
            row_parts.append(np.repeat(rows[end.sequences[0]], len(self.game.classes[1])))
            column_parts.append(np.tile(columns[end.sequences[1]], len(self.game.classes[0])))
            values.append((end.leaf.chips * matrices[end.leaf.matrix]).ravel())
        shape = int(rows.max()) + 1, int(columns.max()) + 1
        return SparseMatrix(np.concatenate(row_parts), np.concatenate(column_parts), np.concatenate(values), shape)

    def constraints(self, player: int) -> SparseMatrix:
        """Return the constraints of a plan as a vector: row 0 times it is 1, every other row times it is 0.

        Row 0 is the empty sequence. The other rows are information sets, choices of one class, class by class.
        """
        numbers = self.numbers(player)
        choices = self.choices[player]
        classes = numbers.shape[1]
        rows = [np.zeros(1, np.int64)]
        columns = [np.zeros(1, np.int64)]
        values = [np.ones(1)]
        for number, choice in enumerate(choices):
            row = 1 + np.arange(classes) * len(choices) + number
            own = numbers[choice.sequences]
            rows += [row, *([row] * len(own))]
            columns += [numbers[choice.parent], *own]
            values += [-np.ones(classes), *([np.ones(classes)] * len(own))]
        shape = 1 + classes * len(choices), int(numbers.max()) + 1
        return SparseMatrix(np.concatenate(rows), np.concatenate(columns), np.concatenate(values), shape)


def sequence_form(game: PublicGame) -> SequenceForm:
    """Convert a game to sequence form.

    Raises:
        SolvingError: two decisions of one name have different actions, or different earlier actions of their player.
    """
    known: list[dict[str, Choice]] = [{} for _ in game.classes]
    terminal_nodes: list[TerminalNode] = []
    counts = [1] * game.players

    def choice_at(node: DecisionNode, parent: int) -> Choice:
        choice = known[node.player].get(node.name)
        if choice is None:
            first = counts[node.player]
            choice = known[node.player][node.name] = Choice(node.name, node.actions, parent, first, node.point)
            counts[node.player] += len(node.actions)
        elif (choice.actions, choice.parent) != (node.actions, parent):
            raise SolvingError(
                f"player {node.player} cannot distinguish two decisions {quoted(node.name)}, but has come to them by "
                "different actions of its own, or has different actions there"
            )
        return choice

    def walk(node: Node, sequences: tuple[int, ...]) -> None:
        match node:
            case Leaf():
                terminal_nodes.append(TerminalNode(node, sequences))
            case ChanceNode():
                for child in node.children:
                    walk(child, sequences)
            case DecisionNode(player=player, children=children):
                choice = choice_at(node, sequences[player])
                for sequence, child in enumerate(children, start=choice.first):
                    walk(child, (*sequences[:player], sequence, *sequences[player + 1 :]))

    walk(game.root, (0,) * game.players)
    return SequenceForm(game, tuple(tuple(choices.values()) for choices in known), tuple(terminal_nodes))


def _levels(choices: Sequence[Choice]) -> tuple[_Level, ...]:
    depths = {0: 0}
    groups: dict[tuple[int, int], list[Choice]] = {}
    for choice in choices:
        depth = depths[choice.parent] + 1
        depths |= dict.fromkeys(range(choice.first, choice.first + len(choice.actions)), depth)
        groups.setdefault((depth, len(choice.actions)), []).append(choice)
    levels = []
    for (_, actions), group in sorted(groups.items()):
        parents = np.array([choice.parent for choice in group])
        firsts = np.array([choice.first for choice in group])
        levels.append((parents, firsts + np.arange(actions)[:, None]))
    return tuple(levels)


Chances: TypeAlias = NDArray[np.float64]
"""Probabilities of the actions of a choice, shape (actions, classes)."""


class BestResponse(NamedTuple):
    """Best response to the plans of the other players, with its value in chips.

    The plan takes the first of several equally good actions.
    """

    value: float
    plan: Plan


def sequence_values(form: SequenceForm, player: int, *others: Plan) -> NDArray[np.float64]:
    """Return the gradient of a player's expected value by its plan, in chips, in the shape of the plan.

    The entry of a sequence is the sum over the leaves that it leads to. The sum of the products with the player's plan
    is its expected value.

    Args:
        others: plans of all other players in order.
    """
    values = np.zeros(form.plan_shape(player))
    for number, chips, sequences in form.terminal_nodes_by_matrix:
        payoffs = np.moveaxis(form.game.payoffs(number, player), player, -1)
        weights = [plan[rows] for plan, rows in zip(others, np.delete(sequences, player, 0), strict=True)]
        if len(others) == 1:
            won = weights[0] @ payoffs
        else:
            won = _contract(payoffs, weights)
        # Several leaves follow one sequence, of which `+=` would add only one.
        np.add.at(values, sequences[player], chips * won)
    return values


def _contract(payoffs: NDArray[np.float64], weights: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Return, for each leaf and class of the last axis, the sum of payoffs times the weights of all other axes."""
    won = np.tensordot(weights[0], payoffs, 1)
    for class_weights in weights[1:]:
        won = np.einsum("lc,lc...->l...", class_weights, won)
    return won


def others_of(plans: Plans, player: int) -> Plans:
    return plans[:player] + plans[player + 1 :]


def expected_value(form: SequenceForm, plans: Plans, player: int = 0) -> float:
    """Return the mean winnings of a player, in chips."""
    return float((sequence_values(form, player, *others_of(plans, player)) * plans[player]).sum())


def expected_values(form: SequenceForm, plans: Plans) -> tuple[float, ...]:
    """Return the mean winnings of each player, in chips."""
    return tuple(expected_value(form, plans, player) for player in range(form.game.players))


def best_response(form: SequenceForm, player: int, *others: Plan) -> BestResponse:
    """Return a best response of a player to the plans of all other players, in order."""
    values = sequence_values(form, player, *others)
    best: dict[str, Chances] = {}
    # Descendants first: the value of the best action is added to the sequence before the choice.
    for choice in reversed(form.choices[player]):
        action_values = values[choice.sequences]
        values[choice.parent] += action_values.max(0)
        best[choice.name] = np.eye(len(choice.actions))[:, action_values.argmax(0)]
    plan = plan_of(form, player, lambda choice: best[choice.name])
    return BestResponse(float(values[0].sum()), plan)


def nash_conv(form: SequenceForm, plans: Plans) -> float:
    """Return the sum over the players of the gain by a best response, in chips, 0 in an equilibrium."""
    total = 0.0
    for player in range(form.game.players):
        values = sequence_values(form, player, *others_of(plans, player))
        for parents, sequences in reversed(form.levels[player]):
            np.add.at(values, parents, values[sequences].max(0))
        total += float(values[0].sum())
    # The game is zero-sum: without best responses the players win 0 together.
    return total


def exploitability(form: SequenceForm, plans: Plans) -> float:
    """Return `nash_conv` divided by the number of players, in chips per hand."""
    return nash_conv(form, plans) / form.game.players


def exploitability_in_words(chips: float) -> str:
    within = f"below {ROUNDING:.0e}" if chips < ROUNDING else f"{chips:.6g}"
    return f"Exploitability by exact best responses: {within} chips per hand."


def plan_of(form: SequenceForm, player: int, strategy: Callable[[Choice], Chances]) -> Plan:
    """Return the plan of a strategy, which gives the probabilities at each choice, shape (actions, classes)."""
    plan = np.ones(form.plan_shape(player))
    for choice in form.choices[player]:
        plan[choice.sequences] = plan[choice.parent] * strategy(choice)
    return plan


def strategy_of(form: SequenceForm, player: int, plan: Plan) -> dict[str, Chances]:
    """Return the probabilities at each choice by name, NaN for classes with which the plan never reaches it."""
    strategy = {}
    for choice in form.choices[player]:
        weights = plan[choice.sequences]
        total = weights.sum(0)
        strategy[choice.name] = np.divide(weights, total, out=np.full(weights.shape, np.nan), where=total > 0)
    return strategy
