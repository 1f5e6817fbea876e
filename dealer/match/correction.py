"""What becomes of an action that the rules refuse: the nearest legal one, as the reference dealer finds it."""

from __future__ import annotations

from engine import Action, ActionKind, BettingState, Rule, nearest_legal

__all__ = ["fit"]


def fit(betting: BettingState, action: Action) -> tuple[Action, str | None]:
    """The action itself where it is legal, else the nearest legal one, and the reference's sentence about the change.

    A raise of the wrong size becomes the nearest legal size; any other illegal action a call. In limit games any size
    of a raise that is allowed stands for the one there is.
    """
    nearest = nearest_legal(action, betting)
    if nearest.kind is not action.kind:
        warning = "WARNING: invalid action, changed to call"
        if action.kind is ActionKind.RAISE and betting.raise_refusal() is Rule.ACTION_LIMIT:
            warning = "WARNING: #actions in round is too close to MAX_NUM_ACTIONS, forcing call/fold\n" + warning
        return nearest, warning
    size, legal_size = action.hand_total, nearest.hand_total
    if size == legal_size or betting.game.is_limit:
        return action, None
    change = "increased" if size < legal_size else "decreased"
    return nearest, f"WARNING: raise of {size} {change} to {legal_size}"
