"""The opponent's last action, as the tables ask for it.

With two players there is one opponent. With more, the action that has to be answered counts: the last bet or raise of
this round, by any player; without one, whether anybody has acted in it.
"""

from __future__ import annotations

from bots.rembrant.cells import Opponent
from bots.view import View
from engine import ActionKind

__all__ = ["read_opponent"]


def read_opponent(view: View) -> Opponent:
    """The opponent's last action in this round.

    The first bet or raise of a round is a raise, every further one a re-raise; blinds are neither. With two players
    this is the same as asking whether the bot has raised before. Either is all-in if it takes the raiser's whole stack
    or all the bot has left.
    """
    actions = view.round_actions
    raisers = [position for position, action in actions if action.kind is ActionKind.RAISE]
    if not raisers:
        return Opponent.CHECK_OR_CALL if any(a.kind is ActionKind.CALL for _, a in actions) else Opponent.NONE
    if not view.stacks_left[raisers[-1]] or view.to_call == view.stack_left:
        return Opponent.ALL_IN
    return Opponent.RAISE if len(raisers) == 1 else Opponent.RE_RAISE
