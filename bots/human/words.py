"""What happens at the table in sentences: of the person in the second person, of everybody else by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from bots.human.happenings import Acted, Dealt, Happening, Posted, Returned, Shown, Won
from bots.human.scene import Scene
from engine import CARD_TEXTS, Card, Move
from engine.holdem import holdem_blinds
from logs.text import shown
from logs.tracker.positions import round_names

__all__ = ["chips_in_words", "in_words"]


def chips_in_words(chips: float) -> str:
    """A number of chips: ``1,250``, ``33.33``."""
    return f"{chips:,.2f}".rstrip("0").rstrip(".")


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
    who = "You" if is_you else shown(scene.names[happening.position])

    def does(verb: str) -> str:
        return f"{who} {verb}" if is_you else f"{who} {verb}s"

    match happening:
        case Posted(position, chips):
            blinds = holdem_blinds(scene.game)
            kind = "" if blinds is None else "the small blind of " if position == blinds.small else "the big blind of "
            return f"{does('post')} {kind}{chips:,}"
        case Acted():
            return _action(happening, does)
        case Returned(_, chips):
            return f"{does('get')} {chips:,} back, which nobody called"
        case Shown(_, cards_, strength):
            return f"{does('show')} {cards_text(cards_)}{f', {strength}' if strength else ''}"
        case Won(_, won):
            return f"{does('win')} {chips_in_words(won)}"


def _action(action: Acted, does: Callable[[str], str]) -> str:
    end = ", all-in" if action.is_all_in else ""
    match action.move:
        case Move.FOLD:
            return does("fold")
        case Move.CHECK:
            return does("check")
        case Move.CALL:
            return f"{does('call')} {action.added:,}{end}"
        case Move.BET:
            return f"{does('bet')} {action.added:,}{end}"
        case Move.RAISE:
            return f"{does('raise')} to {action.street_total:,}{end}"
