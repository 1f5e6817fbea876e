"""What has happened in a hand so far, in order, as values and in words: at a table, in a replay, in a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from engine import Card, Game, Move, Position, betting_steps, rank_hand, uncalled
from engine.betting import BettingState
from engine.holdem import holdem_blinds, is_holdem
from logs.pokerstars.names import name_hand
from logs.record import HandRecord
from logs.steps import showdown_order

_LEAST_CHIPS = 1e-6


@dataclass(frozen=True, slots=True)
class Posted:
    """A blind was posted."""

    position: Position
    chips: int


@dataclass(frozen=True, slots=True)
class Dealt:
    """A betting round has begun.

    Attributes:
        round: which one, 0-based.
        cards: what it added to the board; none in most first rounds.
        pot: chips in the pot.
    """

    round: int
    cards: tuple[Card, ...]
    pot: int


@dataclass(frozen=True, slots=True)
class Acted:
    """A player has acted.

    Attributes:
        position: who.
        round: when.
        move: what it amounts to.
        added: chips that it put in.
        street_total: the player's chips in this round after it.
        is_all_in: whether they were its last chips.
    """

    position: Position
    round: int
    move: Move
    added: int
    street_total: int
    is_all_in: bool


@dataclass(frozen=True, slots=True)
class Returned:
    """Chips that nobody called went back."""

    position: Position
    chips: int


@dataclass(frozen=True, slots=True)
class Shown:
    """A player has shown its cards.

    Attributes:
        position: who.
        cards: its hole cards; empty where they are not known.
        strength: what its best hand is called, such as ``a pair of Kings``; empty in games without such names.
    """

    position: Position
    cards: tuple[Card, ...]
    strength: str


@dataclass(frozen=True, slots=True)
class Won:
    """A player has won chips of the pot, its own among them."""

    position: Position
    chips: float


HandEvent: TypeAlias = Posted | Dealt | Acted | Returned | Shown | Won


def hand_events(
    betting: BettingState,
    all_hole_cards: tuple[tuple[Card, ...], ...],
    board: tuple[Card, ...],
    values: tuple[float, ...] | None,
    showing: Sequence[Position] | None = None,
) -> tuple[HandEvent, ...]:
    """All that has happened in a hand: what was told before stays as it is when more has happened.

    Args:
        betting: so far.
        all_hole_cards: by position, empty where they have not been shown.
        board: so far.
        values: net chips by position; None as long as the hand is not over.
        showing: who shows at the showdown, in order; None is everybody left, in the order of the positions.
    """
    game = betting.game
    found: list[HandEvent] = [
        Posted(Position(position), blind)
        for blind, position in sorted((blind, position) for position, blind in enumerate(game.blinds) if blind)
    ]
    pot, dealt = sum(game.blinds), 0
    steps = betting_steps(betting)
    for round_ in range(betting.round + 1):
        until = game.board_cards_by_round[round_]
        if round_ or until:
            found.append(Dealt(round_, board[dealt:until], pot))
        dealt = until
        for step in steps:
            if step.round == round_:
                pot += step.added
                is_all_in = step.is_all_in
                found.append(Acted(step.position, round_, step.move, step.added, step.street_total, is_all_in))
    return tuple(found) if values is None else (*found, *_ending(betting, all_hole_cards, board, values, showing))


def events_of(record: HandRecord) -> tuple[HandEvent, ...]:
    """All that has happened in a finished hand; whoever has to show first does."""
    showing = showdown_order(record, betting_steps(record.betting))
    return hand_events(record.betting, record.deal.hole_cards, record.deal.board, record.values, showing)


def _ending(
    betting: BettingState,
    all_hole_cards: tuple[tuple[Card, ...], ...],
    board: tuple[Card, ...],
    values: tuple[float, ...],
    showing: Sequence[Position] | None,
) -> list[HandEvent]:
    found: list[HandEvent] = []
    returned_to, returned = uncalled(betting.spent)
    if returned:
        found.append(Returned(returned_to, returned))
    if betting.is_showdown:
        for position in betting.in_pot if showing is None else showing:
            hole = all_hole_cards[position]
            found.append(Shown(position, hole, strength_of(betting.game, hole + board) if hole else ""))
    for place, value in enumerate(values):
        won = value + betting.spent[place] - (returned if place == returned_to else 0)
        if won > _LEAST_CHIPS:
            found.append(Won(Position(place), won))
    return found


def strength_of(game: Game, cards: tuple[Card, ...]) -> str:
    """What a hand is called; empty with too few cards, and in games without such names."""
    return name_hand(cards, rank_hand(cards)).text if is_holdem(game) and len(cards) > 4 else ""


def action_words(event: Posted | Acted | Returned | Won, game: Game, *, end: str = "s") -> str:
    """What a player does, as the words behind its name: ``raises to 300, all-in``.

    Args:
        event: what it does.
        game: the game.
        end: of the verb: empty behind ``You``.
    """
    match event:
        case Posted(position, chips):
            blinds = holdem_blinds(game)
            kind = "" if blinds is None else "the small blind of " if position == blinds.small else "the big blind of "
            return f"post{end} {kind}{chips:,}"
        case Acted():
            return _action(event, end) + (", all-in" if event.is_all_in else "")
        case Returned(_, chips):
            return f"get{end} {chips:,} back, which nobody called"
        case Won(_, won):
            return f"win{end} {chips_in_words(won)}"


def _action(action: Acted, end: str) -> str:
    match action.move:
        case Move.FOLD:
            return f"fold{end}"
        case Move.CHECK:
            return f"check{end}"
        case Move.CALL:
            return f"call{end} {action.added:,}"
        case Move.BET:
            return f"bet{end} {action.added:,}"
        case Move.RAISE:
            return f"raise{end} to {action.street_total:,}"


def chips_in_words(chips: float) -> str:
    """A number of chips: ``1,250``, ``33.33``."""
    return f"{chips:,.2f}".rstrip("0").rstrip(".")
