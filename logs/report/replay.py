"""A hand as a page shows it: who sits where, and step by step what happened, was dealt and was said."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from engine import CARD_TEXTS, Card, Move, Step, betting_steps, rank_hand, uncalled
from engine.holdem import holdem_blinds, is_holdem
from logs.pokerstars.hand_names import name_hand
from logs.record import HandRecord
from logs.steps import showdown_order
from logs.text import shown
from logs.tracker.positions import position_names, round_names
from logs.tracker.tables import chips_text

__all__ = ["ReplayStep", "ReplayedHand", "SeatView", "replayed"]

_LEAST_CHIPS: Final = 1e-6


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
    game, betting = record.game, record.betting
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
    pot = 0
    steps = []
    blinds = holdem_blinds(game)
    for blind, position in sorted((blind, position) for position, blind in enumerate(game.blinds) if blind):
        pot += blind
        kind = "" if blinds is None else "the small blind of " if position == blinds.small else "the big blind of "
        steps.append(ReplayStep(names[position], f"posts {kind}{blind:,}", (), pot, (), None))
    actions = betting_steps(betting)
    times_ms = [(received_us - sent_us) / 1000 for sent_us, received_us in record.times]
    for round_, (street, board) in enumerate(zip(round_names(game), record.board_by_round, strict=False)):
        if round_ or board:
            steps.append(ReplayStep("", street, _texts(board), pot, (), None))
        for action in [action for action in actions if action.round == round_]:
            pot += action.added
            time_ms = times_ms[action.number] if action.number < len(times_ms) else None
            comments = tuple(said.get(action.number, ()))
            steps.append(ReplayStep(names[action.position], _words(action), (), pot, comments, time_ms))
    returned_to, returned = uncalled(betting.spent)
    if returned:
        pot -= returned
        words = f"gets {returned:,} back, which nobody called"
        steps.append(ReplayStep(names[returned_to], words, (), pot, (), None))
    shows = showdown_order(record, actions)
    if shows:
        steps.append(ReplayStep("", "showdown", (), pot, (), None))
    for position in shows:
        hole = record.deal.hole_cards[position]
        words = _hand_name(record, hole) if hole else "does not show"
        steps.append(ReplayStep(names[position], words, _texts(hole), pot, (), None))
    for position, value in enumerate(record.values):
        won = value + betting.spent[position] - (returned if position == returned_to else 0)
        if won > _LEAST_CHIPS:
            steps.append(ReplayStep(names[position], f"wins {chips_text(won).removeprefix('+')}", (), pot, (), None))
    last_words = tuple(words for at, comments in sorted(said.items()) if at >= len(actions) for words in comments)
    return ReplayedHand(shown(record.match_name), record.hand_number, pot_in_blinds, seats, tuple(steps), last_words)


def _hand_name(record: HandRecord, hole: tuple[Card, ...]) -> str:
    """What a hand at the showdown is called: ``shows a pair of Kings``; without a name in other games than hold'em."""
    cards = hole + record.deal.board
    return f"shows {name_hand(cards, rank_hand(cards)).text}" if is_holdem(record.game) and len(cards) > 4 else "shows"


def _words(action: Step) -> str:
    end = ", all-in" if action.is_all_in else ""
    match action.move:
        case Move.FOLD:
            return "folds"
        case Move.CHECK:
            return "checks"
        case Move.CALL:
            return f"calls {action.added:,}{end}"
        case Move.BET:
            return f"bets {action.added:,}{end}"
        case Move.RAISE:
            return f"raises to {action.street_total:,}{end}"


def _texts(cards: tuple[Card, ...]) -> tuple[str, ...]:
    return tuple(CARD_TEXTS[card] for card in cards)


def _readable(text: str) -> str:
    """A comment without its mark."""
    return shown(text.lstrip("#;").strip())
