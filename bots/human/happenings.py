"""What has happened in a hand so far, in order, as values; `bots.human.words` has the sentences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from engine import Card, Game, Move, Position, betting_steps, rank_hand, uncalled
from engine.betting import BettingState
from engine.holdem import is_holdem
from logs.pokerstars.hand_names import name_hand

__all__ = ["Acted", "Dealt", "Happening", "Posted", "Returned", "Shown", "Won", "happenings", "strength_of"]

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
        cards: its hole cards.
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


Happening: TypeAlias = Posted | Dealt | Acted | Returned | Shown | Won


def happenings(
    betting: BettingState,
    all_hole_cards: tuple[tuple[Card, ...], ...],
    board: tuple[Card, ...],
    values: tuple[float, ...] | None,
) -> tuple[Happening, ...]:
    """All that has happened in a hand: what was told before stays as it is when more has happened.

    Args:
        betting: so far.
        all_hole_cards: by position, empty where they have not been shown.
        board: so far.
        values: net chips by position; None as long as the hand is not over.
    """
    game = betting.game
    found: list[Happening] = [
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
    return tuple(found) if values is None else (*found, *_ending(betting, all_hole_cards, board, values))


def _ending(
    betting: BettingState,
    all_hole_cards: tuple[tuple[Card, ...], ...],
    board: tuple[Card, ...],
    values: tuple[float, ...],
) -> list[Happening]:
    found: list[Happening] = []
    returned_to, returned = uncalled(betting.spent)
    if returned:
        found.append(Returned(returned_to, returned))
    if betting.is_showdown:
        found += [
            Shown(position, all_hole_cards[position], strength_of(betting.game, all_hole_cards[position] + board))
            for position in betting.in_pot
        ]
    for place, value in enumerate(values):
        won = value + betting.spent[place] - (returned if place == returned_to else 0)
        if won > _LEAST_CHIPS:
            found.append(Won(Position(place), won))
    return found


def strength_of(game: Game, cards: tuple[Card, ...]) -> str:
    """What a hand is called; empty with too few cards, and in games without such names."""
    return name_hand(cards, rank_hand(cards)).text if is_holdem(game) and len(cards) > 4 else ""
