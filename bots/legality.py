"""What to do with an action that the rules refuse. Two answers, never mixed.

A user's own bot is told: `require_legal` refuses, naming the rule, the hand and the state, because an illegal action
is a bug in the bot and a dealer that quietly turns it into a call would hide it. The bots that come with the arena
adapt on purpose: each documents an intention ("raise always"), and `engine.nearest_legal` gives the action nearest to
it where the rules forbid it.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

from bots.errors import IllegalReply
from engine import CALL, RAISE, Action, ActionKind, IllegalAction, Rule

if TYPE_CHECKING:
    from bots.view import View

__all__ = ["require_legal"]


def require_legal(answer: object, view: View) -> Action:
    """What a bot answered, as the action it is, ready to be sent.

    Raises:
        IllegalReply: it is not an action, or the rules refuse it.
    """
    if answer is CALL:
        return CALL
    if not isinstance(answer, Action):
        raise _refused(answer, "act() must return an Action such as view.call()", view, None)
    try:
        kind, hand_total = ActionKind(answer.kind), operator.index(answer.hand_total)
    except (TypeError, ValueError):
        raise _refused(answer, "an action is a kind and a whole number of chips", view, None) from None
    if kind is not ActionKind.RAISE and hand_total:
        raise _refused(answer, "only a raise has a size", view, None)
    action = Action(kind, hand_total)
    betting = view.betting
    try:
        betting.check(action)
    except IllegalAction as error:
        raise _refused(action, str(error), view, error.rule) from None
    if kind is ActionKind.RAISE and betting.game.is_limit:
        fixed = betting.legal_actions().raise_min
        if hand_total not in (0, fixed):
            problem = f"in this limit game a raise here makes the total {fixed}; RAISE needs no size"
            rule = Rule.BELOW_MINIMUM if hand_total < fixed else Rule.ABOVE_MAXIMUM
            raise _refused(action, problem, view, rule)
        return RAISE
    return action


def _refused(answer: object, problem: str, view: View, rule: Rule | None) -> IllegalReply:
    shown = _describe(answer) if isinstance(answer, Action) else repr(answer)
    return IllegalReply(shown, problem, rule=rule, hand_number=view.hand_number, state=view.match_state.format())


def _describe(action: Action) -> str:
    try:
        name = ActionKind(action.kind).name.lower()
    except ValueError:
        return repr(tuple(action))
    return f"{name} to {action.hand_total}" if action.hand_total else name
