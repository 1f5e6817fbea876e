"""Policies of strategies of small games."""

from __future__ import annotations

from collections.abc import Mapping

from bots.sdk.view import View
from engine import Action
from tests.logs.variance.small_games import Strategy


class Known:
    """The policy of a strategy."""

    def __init__(self, strategy: Strategy) -> None:
        self.strategy = strategy

    def policy(self, view: View) -> Mapping[Action, float]:
        return self.strategy(view.betting, view.hole_cards[0], view.board)
