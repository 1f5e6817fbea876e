"""What the estimators ask of a decision in a finished hand."""

from __future__ import annotations

from engine import Action, ActionKind, BettingState, Position
from logs.record import HandRecord
from protocol import format_action

__all__ = ["chips_of", "no_chance"]


def chips_of(betting: BettingState, action: Action) -> int:
    """The chips that an action of the player in turn puts in."""
    if action.kind == ActionKind.FOLD:
        return 0
    if action.kind == ActionKind.CALL:
        return betting.to_call
    hand_total = betting.legal_actions().raise_min if betting.game.is_limit else action.hand_total
    return hand_total - betting.spent[betting.acting_position]


def no_chance(record: HandRecord, position: Position, action: Action) -> str:
    """Why a hand cannot have been played by a policy, as a sentence."""
    return (
        f"{record.name_at(position)} plays {format_action(action)} in hand {record.hand_number} of "
        f"{record.match_name}, to which its policy gives no chance: these hands were played by another policy, or a "
        "fault was played for it"
    )
