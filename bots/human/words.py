"""What happens at the table in sentences: of the person in the second person, of everybody else by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from bots.human.scene import Scene
from engine import CARD_TEXTS, Card, Move
from logs.hand_events import Dealt, HandEvent, Shown, action_words
from logs.text import shown
from logs.tracker.positions import round_names

__all__ = ["MOVED", "in_words"]

MOVED: Final = {
    Move.FOLD: "folded",
    Move.CHECK: "checked",
    Move.CALL: "called",
    Move.BET: "bet",
    Move.RAISE: "raised",
}
"""What a player did last, in a word."""


def _texts(cards: Sequence[Card]) -> str:
    return " ".join(CARD_TEXTS[card] for card in cards)


def in_words(event: HandEvent, scene: Scene, cards_text: Callable[[Sequence[Card]], str] = _texts) -> str:
    """One event of a scene as a sentence without its full stop.

    Args:
        event: one of `Scene.history`.
        scene: where it has happened.
        cards_text: writes cards.
    """
    if isinstance(event, Dealt):
        name = round_names(scene.game)[event.round].capitalize()
        cards = f": {cards_text(event.cards)}" if event.cards else ""
        return f"{name}{cards} (pot {event.pot:,})"
    is_you = event.position == scene.position
    who, end = ("You", "") if is_you else (shown(scene.names[event.position]), "s")
    if isinstance(event, Shown):
        strength = f", {event.strength}" if event.strength else ""
        return f"{who} show{end} {cards_text(event.cards)}{strength}"
    return f"{who} {action_words(event, scene.game, end=end)}"
