"""What happens at the table in sentences: of the person in the second person, of everybody else by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from bots.human.scene import Scene
from engine import CARD_TEXTS, Card, Move
from logs.happenings import Dealt, Happening, Shown, deed
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


def in_words(happening: Happening, scene: Scene, cards_text: Callable[[Sequence[Card]], str] = _texts) -> str:
    """One happening of a scene as a sentence without its full stop.

    Args:
        happening: one of `Scene.history`.
        scene: where it has happened.
        cards_text: writes cards.
    """
    if isinstance(happening, Dealt):
        name = round_names(scene.game)[happening.round].capitalize()
        cards = f": {cards_text(happening.cards)}" if happening.cards else ""
        return f"{name}{cards} (pot {happening.pot:,})"
    is_you = happening.position == scene.position
    who, end = ("You", "") if is_you else (shown(scene.names[happening.position]), "s")
    if isinstance(happening, Shown):
        strength = f", {happening.strength}" if happening.strength else ""
        return f"{who} show{end} {cards_text(happening.cards)}{strength}"
    return f"{who} {deed(happening, scene.game, end=end)}"
