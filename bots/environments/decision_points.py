"""Points of the betting with the arrays that environments show of them, each computed once.

Random hands of a limit game pass through the same few thousand points again and again.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from bots.environments.action_menu import ActionMenu
from bots.environments.observation import ObservationLayout
from engine import Action, BettingState, Position, betting_start

_MAX_POINTS: Final = 1 << 15
"""Number of points remembered by one environment, about 30 MB. The next hand begins without any."""


class DecisionPoint:
    """A betting state, and the mask and observations that belong to it.

    Attributes:
        betting: the betting state.
    """

    __slots__ = ("_board_end", "_children", "_mask", "_rows", "_steps", "_tree", "betting")

    def __init__(self, tree: DecisionTree, betting: BettingState) -> None:
        self.betting = betting
        self._tree = tree
        self._children: dict[Action, DecisionPoint] = {}
        self._steps: dict[int, tuple[DecisionPoint, bool]] = {}
        self._mask: NDArray[np.int8] | None = None
        self._rows: dict[Position, NDArray[np.float32]] = {}
        self._board_end = betting.game.board_cards_by_round[betting.round]
        tree.count += 1

    def after(self, action: Action) -> DecisionPoint:
        """Return the point after an action.

        Raises:
            IllegalAction: the rules reject the action.
        """
        child = self._children.get(action)
        if child is None:
            child = DecisionPoint(self._tree, self.betting.after(action))
            self._children[action] = child
        return child

    def after_number(self, number: int) -> tuple[DecisionPoint, bool]:
        """Return the point after a numbered action, and whether the nearest legal action replaced it.

        Raises:
            ValueError: there is no such number.
        """
        step = self._steps.get(number)
        if step is None:
            menu = self._tree.menu
            if not 0 <= number < menu.size:
                raise ValueError(f"actions are numbered from 0 to {menu.size - 1}, not {number}")
            action = menu.legal_actions(self.betting)[number]
            played = action or menu.nearest_legal(number, self.betting)
            step = self._steps[number] = (self.after(played), action is None)
        return step

    def mask(self) -> NDArray[np.int8]:
        """Return a new array with 1 for each legal number."""
        if self._mask is None:
            actions = self._tree.menu.legal_actions(self.betting)
            self._mask = np.array([action is not None for action in actions], np.int8)
        return self._mask.copy()

    def observe(self, position: Position, hole: list[int], board: list[int]) -> NDArray[np.float32]:
        """Return a position's observation as a new array.

        Args:
            hole: indexes of the position's cards in an observation.
            board: indexes of all board cards.
        """
        row = self._rows.get(position)
        if row is None:
            row = self._rows[position] = self._tree.layout.betting_row(self.betting, position)
        row = row.copy()
        # Faster than one assignment with a list of indexes.
        for entry in hole:
            row[entry] = 1.0
        for entry in board[: self._board_end]:
            row[entry] = 1.0
        return row


class DecisionTree:
    """Points of a game's betting that one environment remembers.

    Attributes:
        count: number of points created since the tree was last emptied.
    """

    def __init__(self, layout: ObservationLayout, menu: ActionMenu) -> None:
        self.layout = layout
        self.menu = menu
        self.count = 0
        self._root = DecisionPoint(self, betting_start(layout.game))

    def start(self) -> DecisionPoint:
        """Return the point in which a hand starts."""
        if self.count > _MAX_POINTS:
            self.count = 0
            self._root = DecisionPoint(self, betting_start(self.layout.game))
        return self._root
