"""What becomes of an action that the rules refuse: the nearest legal one, as the reference dealer finds it."""

from __future__ import annotations

from engine import CALL, Action, ActionKind, BettingState, Rule
from engine.actions import raise_to

__all__ = ["fit"]


def fit(betting: BettingState, action: Action) -> tuple[Action, str | None]:
    """The action itself where it is legal, else the nearest legal one, and the reference's sentence about the change.

    A raise of the wrong size becomes the nearest legal size; any other illegal action a call. In limit games any size
    of a raise that is allowed stands for the one there is.
    """
    legal = betting.legal_actions()
    if action.kind is ActionKind.RAISE:
        if legal.can_raise:
            size = action.hand_total
            if betting.game.is_limit or legal.raise_min <= size <= legal.raise_max:
                return action, None
            nearest = legal.raise_min if size < legal.raise_min else legal.raise_max
            change = "increased" if size < nearest else "decreased"
            return raise_to(nearest), f"WARNING: raise of {size} {change} to {nearest}"
        warning = "WARNING: invalid action, changed to call"
        if betting.raise_refusal() is Rule.ACTION_LIMIT:
            warning = "WARNING: #actions in round is too close to MAX_NUM_ACTIONS, forcing call/fold\n" + warning
        return CALL, warning
    if action.kind is ActionKind.FOLD and not legal.can_fold:
        return CALL, "WARNING: invalid action, changed to call"
    return action, None
