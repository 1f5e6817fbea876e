"""How likely each player comes to a betting with each holding, where both play a strategy.

A raise of a size that the strategy never makes is read as those beside it that it does make, as one of the opponent is
(`bots.cfr.translation`): it is as likely with a holding as they are, each by its chance. An action that the strategy
takes with no holding that is left tells nothing.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from bots.cfr.files import StrategyFile
from bots.cfr.places import Chances
from bots.cfr.play import BucketsOn, play
from bots.cfr.translation import NO_BET, readings
from engine import CALL, Action, ActionKind, BettingState, Card, betting_start
from engine.ranges import are_free

__all__ = ["narrowed", "ranges"]


def ranges(
    strategy: StrategyFile, betting: BettingState, board: tuple[Card, ...], buckets_on: BucketsOn
) -> NDArray[np.float64]:
    """The ranges at the beginning of the present round.

    Args:
        strategy: of hold'em for two.
        betting: in that round.
        board: the cards on the table.
        buckets_on: the buckets of all holdings.

    Returns:
        shape (2, 1326): by position and holding, up to a factor for each position; 0 with a card of the board.
    """
    shown = strategy.game.board_cards_by_round
    weights = np.tile(are_free(board), (2, 1)).astype(np.float64)
    state = betting_start(strategy.game)
    for position, action in (one for actions in betting.rounds[:-1] for one in actions):
        played = play(strategy, state, board[: shown[state.round]], buckets_on).policy
        weights[position] = narrowed(weights[position], _likely(played, state, action))
        state = state.after(action)
    return weights


def narrowed(weights: NDArray[np.float64], chances: Chances | float) -> NDArray[np.float64]:
    """A range after an action, by its probability with each holding; the largest entry is 1."""
    found = weights * chances
    return found / found.max() if found.any() else weights


def _likely(played: Mapping[Action, Chances], state: BettingState, action: Action) -> Chances | float:
    """The probability of an action by holding, where it may have to be read."""
    if action in played or action.kind is not ActionKind.RAISE or state.game.is_limit:
        return played.get(action, 0.0)
    raises = sorted(one for one in played if one.kind is ActionKind.RAISE)
    pots = [(one.hand_total - state.max_spent) / (2 * state.max_spent) for one in (*raises, action)]
    found: Chances | float = 0.0
    for number, chance in readings(pots[-1], pots[:-1]):
        found = found + chance * played.get(CALL if number == NO_BET else raises[number], 0.0)
    return found
