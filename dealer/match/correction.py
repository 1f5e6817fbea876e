"""What is wrong with a reply, and what becomes of it: as the reference dealer judges replies."""

from __future__ import annotations

from dealer.match.faults import ReplyProblem
from engine import Action, ActionKind, BettingState, Rule, nearest_legal
from protocol import BadAction, BadState, DealerEvent, StaleReply, UnknownAction

__all__ = ["fit", "problem_of"]

_PROBLEMS: dict[type, ReplyProblem] = {
    BadState: ReplyProblem.NO_REPLY,
    StaleReply: ReplyProblem.OTHER_STATE,
    BadAction: ReplyProblem.UNREADABLE_SIZE,
    UnknownAction: ReplyProblem.UNKNOWN_ACTION,
}


def problem_of(event: DealerEvent) -> ReplyProblem:
    """What is wrong with a line that is no reply, or a reply without a readable action."""
    return _PROBLEMS[type(event)]


def fit(betting: BettingState, action: Action) -> tuple[Action, ReplyProblem | None]:
    """The action itself where it is legal, else the nearest legal one and what is wrong.

    A raise of the wrong size becomes the nearest legal size; any other illegal action a call. In limit games any size
    of a raise that is allowed stands for the one there is.
    """
    nearest = nearest_legal(action, betting)
    if nearest.kind is not action.kind:
        is_full = action.kind is ActionKind.RAISE and betting.raise_refusal() is Rule.ACTION_LIMIT
        return nearest, ReplyProblem.ACTION_LIMIT if is_full else ReplyProblem.ILLEGAL_ACTION
    if action.hand_total == nearest.hand_total or betting.game.is_limit:
        return action, None
    return nearest, ReplyProblem.ILLEGAL_SIZE
