"""A zero-sum game as its solvers see it: what everybody sees is a tree, what one player sees is a class.

The private classes are dealt first, with a joint probability for each combination: it covers cards that two players
cannot both hold. Everything after that is public. A chance node deals public cards, and the matrix of a leaf holds, for
each pair of classes, the probability of the pair and of all public cards on the way there, times what one chip is
worth:

    probability                     where a player has folded and loses its chips
    probability * (wins - losses)   where the cards decide

So the expected payoff of a leaf is chips * sum(matrix[i, j] * p0(i) * p1(j)) with each player's own probabilities of
playing to it, and no solver needs to know which cards there were. Of two players one wins what the other loses; with
more of them, a leaf has such a matrix, with an axis for each player, for the payoffs of every one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["Chance", "Decision", "Leaf", "Node", "PublicGame"]


@dataclass(frozen=True, slots=True)
class Leaf:
    """The end of the game.

    Attributes:
        name: what was done and seen, such as ``crf``.
        matrix: the number of its matrix.
        chips: what the entries of the matrix are multiplied by to be payoffs, in chips.
    """

    name: str
    matrix: int
    chips: float


@dataclass(frozen=True, slots=True)
class Decision:
    """A player's turn, the same for all its classes.

    Attributes:
        name: what was done and seen, such as ``cr``. Decisions of one player that have the same name are one to it: it
            cannot tell them apart.
        player: whose turn it is, 0 for the first.
        actions: the names of the actions.
        children: what follows each action.
    """

    name: str
    player: int
    actions: tuple[str, ...]
    children: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Chance:
    """Public cards are dealt.

    Attributes:
        children: what follows each outcome; its probability is part of the matrices of its leaves.
    """

    children: tuple[Node, ...]


Node: TypeAlias = Leaf | Decision | Chance


@dataclass(frozen=True, slots=True, eq=False)
class PublicGame:
    """A whole game.

    Attributes:
        root: where it starts.
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
        """How many there are."""
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
