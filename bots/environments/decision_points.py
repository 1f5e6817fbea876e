"""Points of the betting with the arrays that environments show of them, each computed once.

Random hands of a limit game pass through the same few thousand points again and again.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from bots.environments.action_menu import ActionMenu
from bots.environments.observation import ObservationLayout
from engine import Action, BettingState, Deal, Position, betting_start

_MAX_POINTS: Final = 1 << 14
"""Number of points remembered by one environment, about 30 MB. The next hand begins without any."""


class DecisionPoint:
    """A betting state, and the mask and observations that belong to it.

    Attributes:
        betting: the betting state.
    """

    __slots__ = ("_actions", "_children", "_mask", "_rows", "_tree", "betting")

    def __init__(self, tree: DecisionTree, betting: BettingState) -> None:
        self.betting = betting
        self._tree = tree
        self._children: dict[Action, DecisionPoint] = {}
        self._actions: tuple[Action | None, ...] | None = None
        self._mask: NDArray[np.int8] | None = None
        self._rows: dict[Position, NDArray[np.float32]] = {}
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

    def legal_action(self, number: int) -> Action | None:
        """Return the action with a number, None if the mask forbids it.

        Raises:
            ValueError: there is no such number.
        """
        if self._actions is None:
            self._actions = self._tree.menu.legal_actions(self.betting)
        if not 0 <= number < len(self._actions):
            raise ValueError(f"actions are numbered from 0 to {len(self._actions) - 1}, not {number}")
        return self._actions[number]

    def mask(self) -> NDArray[np.int8]:
        """Return a new array with 1 for each legal number."""
        if self._mask is None:
            actions = self._tree.menu.legal_actions(self.betting)
            self._mask = np.array([action is not None for action in actions], np.int8)
        return self._mask.copy()

    def observe(self, position: Position, deal: Deal) -> NDArray[np.float32]:
        """Return a position's observation as a new array."""
        row = self._rows.get(position)
        if row is None:
            row = self._rows[position] = self._tree.layout.betting_row(self.betting, position)
        row = row.copy()
        board = deal.board[: self._tree.board_ends[self.betting.round]]
        self._tree.layout.add_cards(row, deal.hole_cards[position], board)
        return row


class DecisionTree:
    """Points of a game's betting that one environment remembers.

    Attributes:
        count: number of points created since the tree was last emptied.
    """

    def __init__(self, layout: ObservationLayout, menu: ActionMenu) -> None:
        self.layout = layout
        self.menu = menu
        self.board_ends = layout.game.board_cards_by_round
        self.count = 0
        self._root = DecisionPoint(self, betting_start(layout.game))

    def start(self) -> DecisionPoint:
        """Return the point in which a hand starts."""
        if self.count > _MAX_POINTS:
            self.count = 0
            self._root = DecisionPoint(self, betting_start(self.layout.game))
        return self._root
