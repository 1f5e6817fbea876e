"""What a player can do in turn.

The sizes of no-limit raises are ACPC sizes: the total a player will have put in **in this hand** (``hand_total``),
not in the round and not on top of the bet. In limit games the rules fix the size and ``hand_total`` is 0.
"""

from __future__ import annotations

import enum
from typing import NamedTuple


class ActionKind(enum.IntEnum):
    """The three kinds of action: call includes check, raise includes bet."""

    FOLD = 0
    CALL = 1
    RAISE = 2


class Move(enum.IntEnum):
    """What an action amounts to, in the words of card rooms: a bet is the first raise of a round without blinds."""

    FOLD = 0
    CHECK = 1
    CALL = 2
    BET = 3
    RAISE = 4


class Action(NamedTuple):
    """One action: its kind and, for a no-limit raise, the player's total for the hand in chips."""

    kind: ActionKind
    hand_total: int = 0


FOLD = Action(ActionKind.FOLD)
CALL = Action(ActionKind.CALL)
RAISE = Action(ActionKind.RAISE)
"""The limit raise, whose size the game fixes."""


def raise_to(hand_total: int) -> Action:
    """The no-limit raise to a total for the hand, in chips."""
    return Action(ActionKind.RAISE, hand_total)


class LegalActions(NamedTuple):
    """What the rules allow the acting player; a call (or check) is always allowed.

    ``raise_min`` and ``raise_max`` are hand totals in chips. In no-limit games they bound the size; in limit games
    both are the one total that a raise makes. They are 0 when no raise is allowed.
    """

    can_fold: bool
    can_raise: bool
    raise_min: int = 0
    raise_max: int = 0
