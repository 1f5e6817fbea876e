"""What to play in place of an action that the rules refuse."""

from __future__ import annotations

from engine.actions import CALL, FOLD, RAISE, Action, ActionKind, raise_to
from engine.betting import BettingState

__all__ = ["nearest_legal"]


def nearest_legal(action: Action, betting: BettingState) -> Action:
    """The action itself where it is legal, else the legal one nearest in meaning.

    - A fold where there is no bet to fold to becomes a check.
    - A raise where none is allowed becomes a call (or check).
    - A raise of a size outside the bounds moves to the nearest bound. A raise without a size is the smallest one, and
      in a limit game any raise is the one the game fixes.

    The reference dealer corrects actions the same way.

    Raises:
        IllegalAction: the hand is over, nothing is legal.
    """
    legal = betting.legal_actions()
    if action.kind == ActionKind.FOLD:
        return FOLD if legal.can_fold else CALL
    if action.kind == ActionKind.CALL or not legal.can_raise:
        return CALL
    if betting.game.is_limit:
        return RAISE
    return raise_to(max(legal.raise_min, min(legal.raise_max, action.hand_total)))
