"""The sequence form of a game (Koller, Megiddo & von Stengel 1996): linear in the size of the tree.

A *sequence* is what one player has done on the way to a node; sequence 0 is the empty one. A *plan* holds the
probability that a player contributes to each sequence, for each of its classes: an array of shape (sequences, classes)
whose row 0 is all ones and in which the sequences of one choice sum to the sequence before it. Payoffs are linear in
each plan, which is what all solvers rest on.

As vectors and matrices, the empty sequence comes first, then class by class the other sequences: with n of them,
sequence s of class c is number 1 + n * c + (s - 1). Information sets are numbered alike, after one for the start.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bots.errors import SolvingError
from bots.solving.tree import Chance, Decision, Leaf, Node, PublicGame
from engine.errors import quoted

__all__ = ["Choice", "End", "EndsOfMatrix", "Entries", "Level", "Plan", "Plans", "SequenceForm", "sequence_form"]

Plan: TypeAlias = NDArray[np.float64]
Plans: TypeAlias = tuple[Plan, ...]
"""Those of all players."""


class Choice(NamedTuple):
    """A decision of one player, for all its classes.

    Attributes:
        name: that of the decision.
        actions: the names of the actions.
        parent: the player's sequence on the way there.
        first: the sequence of the first action; those of the others follow.
    """

    name: str
    actions: tuple[str, ...]
    parent: int
    first: int

    @property
    def sequences(self) -> slice:
        """The sequences of its actions."""
        return slice(self.first, self.first + len(self.actions))


class End(NamedTuple):
    """A leaf.

    Attributes:
        leaf: the leaf.
        sequences: each player's sequence on the way there.
    """

    leaf: Leaf
    sequences: tuple[int, ...]


class EndsOfMatrix(NamedTuple):
    """The leaves of one matrix.

    Attributes:
        matrix: its number.
        chips: of each leaf, as a column.
        sequences: for each player, its sequence at each leaf.
    """

    matrix: int
    chips: NDArray[np.float64]
    sequences: NDArray[np.int64]


class Level(NamedTuple):
    """Choices of one player, none of which comes after another of them, with as many actions each.

    Attributes:
        parents: the sequence before each choice.
        sequences: of shape (actions, choices).
    """

    parents: NDArray[np.int64]
    sequences: NDArray[np.int64]


class Entries(NamedTuple):
    """The entries of a sparse matrix, one of which may be given in several parts."""

    rows: NDArray[np.int64]
    columns: NDArray[np.int64]
    values: NDArray[np.float64]
    shape: tuple[int, int]

    def summed(self) -> Entries:
        """The same matrix: each entry once, row by row."""
        cells, places = np.unique(self.rows * self.shape[1] + self.columns, return_inverse=True)
        values = np.zeros(len(cells))
        np.add.at(values, places, self.values)
        return self._of(cells, values)

    def overwritten(self) -> Entries:
        """What becomes of the matrix if each part replaces what stood in its cell: the last one stays."""
        cells, last = np.unique((self.rows * self.shape[1] + self.columns)[::-1], return_index=True)
        return self._of(cells, self.values[::-1][last])

    def _of(self, cells: NDArray[np.int64], values: NDArray[np.float64]) -> Entries:
        rows, columns = np.divmod(cells, self.shape[1])
        return Entries(rows, columns, values, self.shape)


@dataclass(frozen=True)
class SequenceForm:
    """A game in sequence form.

    Attributes:
        game: the game.
        choices: each player's decisions, those before others first.
        ends: the leaves.
    """

    game: PublicGame
    choices: tuple[tuple[Choice, ...], ...]
    ends: tuple[End, ...]

    @cached_property
    def ends_by_matrix(self) -> tuple[EndsOfMatrix, ...]:
        """The leaves, those of one matrix together."""
        groups: dict[int, list[End]] = {}
        for end in self.ends:
            groups.setdefault(end.leaf.matrix, []).append(end)
        return tuple(
            EndsOfMatrix(
                matrix,
                np.array([[end.leaf.chips] for end in ends], np.float64),
                np.array([end.sequences for end in ends]).T.copy(),
            )
            for matrix, ends in groups.items()
        )

    @cached_property
    def levels(self) -> tuple[tuple[Level, ...], ...]:
        """Each player's choices, those before others first."""
        return tuple(_levels(choices) for choices in self.choices)

    @cached_property
    def sequences(self) -> tuple[int, ...]:
        """How many sequences each player has for one class, the empty one included."""
        return tuple(1 + sum(len(choice.actions) for choice in choices) for choices in self.choices)

    def plan_shape(self, player: int) -> tuple[int, int]:
        """The shape of a plan: sequences, classes."""
        return self.sequences[player], len(self.game.classes[player])

    def numbers(self, player: int) -> NDArray[np.int64]:
        """The place of each sequence and class in a vector; that of the empty sequence is 0 for every class."""
        sequences, classes = self.plan_shape(player)
        numbers = np.zeros((sequences, classes), np.int64)
        numbers[1:] = 1 + np.arange(classes) * (sequences - 1) + np.arange(sequences - 1)[:, None]
        return numbers

    def payoffs(self) -> Entries:
        """The payoffs of player 0: a row for each sequence of its own, a column for each of the other player's.

        A leaf reached by the empty sequence of a player is one cell for all classes of that player, whose parts are
        given one after the other and have to be summed.

        Raises:
            SolvingError: there are more than two players.
        """
        if self.game.players != 2:
            raise SolvingError(f"a linear program solves games of two players, not one of {self.game.players}")
        rows, columns = self.numbers(0), self.numbers(1)
        matrices = self.game.matrices
        parts = [
            (
                np.repeat(rows[end.sequences[0]], len(self.game.classes[1])),
                np.tile(columns[end.sequences[1]], len(self.game.classes[0])),
                (end.leaf.chips * matrices[end.leaf.matrix]).ravel(),
            )
            for end in self.ends
        ]
        shape = int(rows.max()) + 1, int(columns.max()) + 1
        of_rows, of_columns, values = map(np.concatenate, zip(*parts, strict=True))
        return Entries(of_rows, of_columns, values, shape)

    def constraints(self, player: int) -> Entries:
        """What makes a vector a plan: row 0 times it is 1, every other row times it is 0.

        Row 0 is the empty sequence; each other row belongs to an information set, a choice of one class.
        """
        numbers = self.numbers(player)
        choices, classes = self.choices[player], numbers.shape[1]
        rows, columns, values = [np.zeros(1, np.int64)], [np.zeros(1, np.int64)], [np.ones(1)]
        for at, choice in enumerate(choices):
            row = 1 + np.arange(classes) * len(choices) + at
            own = numbers[choice.sequences]
            rows += [row, *([row] * len(own))]
            columns += [numbers[choice.parent], *own]
            values += [-np.ones(classes), *([np.ones(classes)] * len(own))]
        shape = 1 + classes * len(choices), int(numbers.max()) + 1
        return Entries(np.concatenate(rows), np.concatenate(columns), np.concatenate(values), shape)


def sequence_form(game: PublicGame) -> SequenceForm:
    """The sequence form of a game.

    Raises:
        SolvingError: two decisions of one name differ in their actions, or in what their player has done before.
    """
    known: list[dict[str, Choice]] = [{} for _ in game.classes]
    ends: list[End] = []
    counts = [1] * game.players

    def choice_at(node: Decision, parent: int) -> Choice:
        choice = known[node.player].get(node.name)
        if choice is None:
            choice = known[node.player][node.name] = Choice(node.name, node.actions, parent, counts[node.player])
            counts[node.player] += len(node.actions)
        elif (choice.actions, choice.parent) != (node.actions, parent):
            raise SolvingError(
                f"player {node.player} cannot tell two decisions {quoted(node.name)} apart, but it has come to them by "
                "different actions of its own, or has different actions there"
            )
        return choice

    def walk(node: Node, sequences: tuple[int, ...]) -> None:
        match node:
            case Leaf():
                ends.append(End(node, sequences))
            case Chance():
                for child in node.children:
                    walk(child, sequences)
            case Decision(player=player, children=children):
                choice = choice_at(node, sequences[player])
                for sequence, child in enumerate(children, start=choice.first):
                    walk(child, (*sequences[:player], sequence, *sequences[player + 1 :]))

    walk(game.root, (0,) * game.players)
    return SequenceForm(game, tuple(tuple(choices.values()) for choices in known), tuple(ends))


def _levels(choices: Sequence[Choice]) -> tuple[Level, ...]:
    depths = {0: 0}
    groups: dict[tuple[int, int], list[Choice]] = {}
    for choice in choices:
        depth = depths[choice.parent] + 1
        depths |= dict.fromkeys(range(choice.first, choice.first + len(choice.actions)), depth)
        groups.setdefault((depth, len(choice.actions)), []).append(choice)
    return tuple(
        Level(
            np.array([choice.parent for choice in group]),
            np.array([choice.first for choice in group]) + np.arange(actions)[:, None],
        )
        for (_, actions), group in sorted(groups.items())
    )
