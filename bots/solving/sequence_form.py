"""A zero-sum game as its solvers see it, its sequence form, and what plans are worth.

What everybody sees is a tree, what one player sees is a class.

The private classes are dealt first, with a joint probability for each combination: it covers cards that two players
cannot both hold. Everything after that is public. A chance node deals public cards, and the matrix of a leaf holds, for
each pair of classes, the probability of the pair and of all public cards on the way there, times what one chip is
worth:

    probability                     where a player has folded and loses its chips
    probability * (wins - losses)   where the cards decide

So the expected payoff of a leaf is chips * sum(matrix[i, j] * p0(i) * p1(j)) with each player's own probabilities of
playing to it, and no solver needs to know which cards there were. Of two players one wins what the other loses; with
more of them, a leaf has such a matrix, with an axis for each player, for the payoffs of every one.

The sequence form of a game (Koller, Megiddo & von Stengel 1996): linear in the size of the tree.

A *sequence* is what one player has done on the way to a node; sequence 0 is the empty one. A *plan* holds the
probability that a player contributes to each sequence, for each of its classes: an array of shape (sequences, classes)
whose row 0 is all ones and in which the sequences of one choice sum to the sequence before it. Payoffs are linear in
each plan, which is what all solvers rest on.

As vectors and matrices, the empty sequence comes first, then class by class the other sequences: with n of them,
sequence s of class c is number 1 + n * c + (s - 1). Information sets are numbered alike, after one for the start.
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
"""An exploitability up to this, in chips, is the rounding of sums."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """The end of the game, named by what was done and seen; payoffs are the numbered matrix times the chips."""

    name: str
    matrix: int
    chips: float


@dataclass(frozen=True, slots=True)
class DecisionNode:
    """A player's turn, the same for all its classes.

    It is named by what was done and seen, such as ``cr``; a player does not distinguish its decisions of one name.

    Attributes:
        point: the decision as whoever made the tree knows it.
    """

    name: str
    player: int
    actions: tuple[str, ...]
    children: tuple[Node, ...]
    point: Any = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class ChanceNode:
    """Public cards are dealt; the probability of an outcome is part of the matrices of its leaves."""

    children: tuple[Node, ...]


Node: TypeAlias = Leaf | DecisionNode | ChanceNode


@dataclass(frozen=True, slots=True, eq=False)
class PublicGame:
    """A whole game.

    Attributes:
        classes: the names of each player's private classes.
        matrices: of shape (matrices, classes of player 0, classes of player 1), the payoffs of player 0; with more
            players of shape (matrices, players, classes of player 0, classes of player 1, ...). Made read-only.
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
        """What one chip of a matrix is worth to a player, with an axis for each player."""
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
"""Those of all players."""


class Choice(NamedTuple):
    """A decision of one player, for all its classes.

    Attributes:
        parent: the player's sequence on the way there.
        first: the sequence of the first action; those of the others follow.
        point: that of its first node.
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
    """A leaf, and each player's sequence on the way there."""

    leaf: Leaf
    sequences: tuple[int, ...]


_Level: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Choices of one player, none of which comes after another of them, with as many actions each.

The sequence before each choice, and the sequences of the choices, of shape (actions, choices).
"""


class SparseMatrix(NamedTuple):
    """The entries of a sparse matrix, one of which may be given in several parts."""

    rows: NDArray[np.int64]
    columns: NDArray[np.int64]
    values: NDArray[np.float64]
    shape: tuple[int, int]

    def summed(self) -> SparseMatrix:
        """The same matrix: each entry once, row by row."""
        cells, places = np.unique(self.rows * self.shape[1] + self.columns, return_inverse=True)
        values = np.zeros(len(cells))
        np.add.at(values, places, self.values)
        return self._of(cells, values)

    def overwritten(self) -> SparseMatrix:
        """Return the matrix in which each entry replaces the one before it in its cell."""
        cells, last = np.unique((self.rows * self.shape[1] + self.columns)[::-1], return_index=True)
        return self._of(cells, self.values[::-1][last])

    def _of(self, cells: NDArray[np.int64], values: NDArray[np.float64]) -> SparseMatrix:
        rows, columns = np.divmod(cells, self.shape[1])
        return SparseMatrix(rows, columns, values, self.shape)


@dataclass(frozen=True)
class SequenceForm:
    """A game in sequence form; each player's choices, those before others first."""

    game: PublicGame
    choices: tuple[tuple[Choice, ...], ...]
    terminal_nodes: tuple[TerminalNode, ...]

    @cached_property
    def terminal_nodes_by_matrix(self) -> tuple[tuple[int, NDArray[np.float64], NDArray[np.int64]], ...]:
        """Each matrix, the chips of its leaves as a column, and for each player its sequence at each of them."""
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
        """Each player's choices, those before others first."""
        return tuple(_levels(choices) for choices in self.choices)

    @cached_property
    def sequences(self) -> tuple[int, ...]:
        """Number of sequences of each player for one class, including the empty one."""
        counts = []
        for choices in self.choices:
            counts.append(1 + sum(len(choice.actions) for choice in choices))
        return tuple(counts)

    def plan_shape(self, player: int) -> tuple[int, int]:
        """Sequences, classes."""
        return self.sequences[player], len(self.game.classes[player])

    def numbers(self, player: int) -> NDArray[np.int64]:
        """The place of each sequence and class in a vector; that of the empty sequence is 0 for every class."""
        sequences, classes = self.plan_shape(player)
        numbers = np.zeros((sequences, classes), np.int64)
        numbers[1:] = 1 + np.arange(classes) * (sequences - 1) + np.arange(sequences - 1)[:, None]
        return numbers

    def payoffs(self) -> SparseMatrix:
        """The payoffs of player 0: a row for each sequence of its own, a column for each of the other player's.

        A leaf reached by the empty sequence of a player is one cell for all classes of that player, whose parts are
        given one after the other and have to be summed. Only games of two players have them.
        """
        if self.game.players != 2:
            raise SolvingError(f"a linear program solves games of two players, not one of {self.game.players}")
        rows = self.numbers(0)
        columns = self.numbers(1)
        matrices = self.game.matrices
        of_rows = []
        of_columns = []
        values = []
        for end in self.terminal_nodes:
            of_rows.append(np.repeat(rows[end.sequences[0]], len(self.game.classes[1])))
            of_columns.append(np.tile(columns[end.sequences[1]], len(self.game.classes[0])))
            values.append((end.leaf.chips * matrices[end.leaf.matrix]).ravel())
        shape = int(rows.max()) + 1, int(columns.max()) + 1
        return SparseMatrix(np.concatenate(of_rows), np.concatenate(of_columns), np.concatenate(values), shape)

    def constraints(self, player: int) -> SparseMatrix:
        """What makes a vector a plan: row 0 times it is 1, every other row times it is 0.

        Row 0 is the empty sequence; each other row belongs to an information set, a choice of one class.
        """
        numbers = self.numbers(player)
        choices = self.choices[player]
        classes = numbers.shape[1]
        rows = [np.zeros(1, np.int64)]
        columns = [np.zeros(1, np.int64)]
        values = [np.ones(1)]
        for at, choice in enumerate(choices):
            row = 1 + np.arange(classes) * len(choices) + at
            own = numbers[choice.sequences]
            rows += [row, *([row] * len(own))]
            columns += [numbers[choice.parent], *own]
            values += [-np.ones(classes), *([np.ones(classes)] * len(own))]
        shape = 1 + classes * len(choices), int(numbers.max()) + 1
        return SparseMatrix(np.concatenate(rows), np.concatenate(columns), np.concatenate(values), shape)


def sequence_form(game: PublicGame) -> SequenceForm:
    """The sequence form of a game.

    Raises:
        SolvingError: two decisions of one name differ in their actions, or in what their player has done before.
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
"""The probabilities of the actions of one choice, of shape (actions, classes)."""


class BestResponse(NamedTuple):
    """The best that a player can do against the plans of the others: its value in chips, and the plan.

    Of several best actions the plan has the first.
    """

    value: float
    plan: Plan


def sequence_values(form: SequenceForm, player: int, *others: Plan) -> NDArray[np.float64]:
    """What each of a player's sequences wins at the leaves it ends in, in chips: of the shape of its plan.

    The sum of the products with the player's plan is its expected value. The plans of all others come in order.
    """
    values = np.zeros(form.plan_shape(player))
    for number, chips, sequences in form.terminal_nodes_by_matrix:
        payoffs = np.moveaxis(form.game.payoffs(number, player), player, -1)
        of_others = [plan[at] for plan, at in zip(others, np.delete(sequences, player, 0), strict=True)]
        if len(others) == 1:
            won = of_others[0] @ payoffs
        else:
            won = _contracted(payoffs, of_others)
        np.add.at(values, sequences[player], chips * won)
    return values


def _contracted(payoffs: NDArray[np.float64], weights: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """For each leaf and class of the last axis, the sum of payoffs times the weights of all other axes."""
    won = np.tensordot(weights[0], payoffs, 1)
    for of_class in weights[1:]:
        won = np.einsum("lc,lc...->l...", of_class, won)
    return won


def others_of(plans: Plans, player: int) -> Plans:
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
    best: dict[str, Chances] = {}
    for choice in reversed(form.choices[player]):
        of_actions = values[choice.sequences]
        values[choice.parent] += of_actions.max(0)
        best[choice.name] = np.eye(len(choice.actions))[:, of_actions.argmax(0)]
    plan = plan_of(form, player, lambda choice: best[choice.name])
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


def exploitability_in_words(chips: float) -> str:
    within = f"below {ROUNDING:.0e}" if chips < ROUNDING else f"{chips:.6g}"
    return f"Exploitability by exact best responses: {within} chips per hand."


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
