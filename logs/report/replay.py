"""A hand as a page shows it: who sits where, and step by step what happened, was dealt and was said."""

from __future__ import annotations

from dataclasses import dataclass

from engine import CARD_TEXTS, Card
from logs.hand_events import Acted, Dealt, Posted, Returned, Shown, action_words, events_of
from logs.record import HandRecord
from logs.text import shown
from logs.tracker.positions import position_names, round_names

__all__ = ["ReplayStep", "ReplayedHand", "SeatView", "replayed"]


@dataclass(frozen=True, slots=True)
class SeatView:
    """A player at the table.

    Attributes:
        name: the player.
        position: SB, BB, BTN ...
        stack: chips before the hand; 0 in limit games, where they do not matter.
        cards: its hole cards, as texts.
        value: net chips of the hand.
    """

    name: str
    position: str
    stack: int
    cards: tuple[str, ...]
    value: float


@dataclass(frozen=True, slots=True)
class ReplayStep:
    """One thing that happened.

    Attributes:
        name: the player; empty where a street or the showdown begins.
        words: what happened.
        cards: dealt to the board, or shown.
        pot: chips in the pot afterwards.
        comments: names and texts of what players said since the previous step.
        time_ms: how long the answer took; None where that is not known.
    """

    name: str
    words: str
    cards: tuple[str, ...]
    pot: int
    comments: tuple[tuple[str, str], ...]
    time_ms: float | None


@dataclass(frozen=True, slots=True)
class ReplayedHand:
    """A hand step by step.

    Attributes:
        match_name: the match.
        number: the number of the hand.
        pot_in_blinds: how big the pot was, in big blinds.
        seats: the players, in the order of their positions.
        steps: what happened.
        last_words: names and texts of what players said after the last action.
    """

    match_name: str
    number: int
    pot_in_blinds: float
    seats: tuple[SeatView, ...]
    steps: tuple[ReplayStep, ...]
    last_words: tuple[tuple[str, str], ...]


def replayed(record: HandRecord, pot_in_blinds: float) -> ReplayedHand:
    """A hand as a page shows it."""
    game = record.game
    names = list(map(shown, record.names))
    places = position_names(game)
    seats = tuple(
        SeatView(names[p], places[p], 0 if game.is_limit else game.stacks[p], _texts(hole), record.values[p])
        for p, hole in enumerate(record.deal.hole_cards)
    )
    said: dict[int, list[tuple[str, str]]] = {}
    for comment in record.comments:
        said.setdefault(comment.action_index, []).append(
            (shown(record.names_by_seat[comment.seat]), _readable(comment.text))
        )
    acted = 0
    times_ms = [(received_us - sent_us) / 1000 for sent_us, received_us in record.times]
    steps: list[ReplayStep] = []
    pot = 0
    showdown_begun = False
    for event in events_of(record):
        if isinstance(event, Dealt):
            steps.append(ReplayStep("", round_names(game)[event.round], _texts(event.cards), pot, (), None))
            continue
        name = names[event.position]
        if isinstance(event, Shown):
            if not showdown_begun:
                steps.append(ReplayStep("", "showdown", (), pot, (), None))
                showdown_begun = True
            steps.append(ReplayStep(name, _shows(event), _texts(event.cards), pot, (), None))
            continue
        words = action_words(event, game)
        if isinstance(event, Acted):
            pot += event.added
            time_ms = times_ms[acted] if acted < len(times_ms) else None
            steps.append(ReplayStep(name, words, (), pot, tuple(said.get(acted, ())), time_ms))
            acted += 1
            continue
        pot += event.chips if isinstance(event, Posted) else 0
        pot -= event.chips if isinstance(event, Returned) else 0
        steps.append(ReplayStep(name, words, (), pot, (), None))
    last_words = tuple(words for at, comments in sorted(said.items()) if at >= acted for words in comments)
    return ReplayedHand(shown(record.match_name), record.hand_number, pot_in_blinds, seats, tuple(steps), last_words)


def _shows(event: Shown) -> str:
    """What is said of a player at the showdown: ``shows a pair of Kings``, in hold'em."""
    return " ".join(filter(None, ("shows", event.strength))) if event.cards else "does not show"


def _texts(cards: tuple[Card, ...]) -> tuple[str, ...]:
    return tuple(CARD_TEXTS[card] for card in cards)


def _readable(text: str) -> str:
    """A comment without its mark."""
    return shown(text.lstrip("#;").strip())
