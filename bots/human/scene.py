"""What a person at the table sees at one moment, and what may be done in it.

A `Scene` holds what the protocol has told this seat, the names and the score; everything else follows from these and is
computed when asked for. It is frozen, equal by content, hashable and picklable. It never holds a card that the
person has not been shown.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from bots.sdk.view import View
from engine import Card, Game, Position, Seat
from engine.betting import BettingState
from logs.estimation import Rate
from logs.hand_events import HandEvent, hand_events, strength_of
from logs.tracker.positions import round_names
from logs.view import PlayerView, live_views

__all__ = ["Choices", "Raises", "Scene", "Score"]


@dataclass(frozen=True, slots=True)
class Score:
    """How a person has done in the match.

    Attributes:
        hands: finished hands.
        chips: net chips by seat over them.
        seat: the person's.
        rate: the person's winnings per hand with their interval, which needs many hands; None without any.
    """

    hands: int
    chips: tuple[float, ...]
    seat: Seat
    rate: Rate | None = None

    @property
    def yours(self) -> float:
        """The person's net chips."""
        return self.chips[self.seat]


@dataclass(frozen=True, slots=True)
class Raises:
    """The raises (or bets) that are legal; both bounds are equal where the game fixes the size.

    Attributes:
        street_min: the smallest as a total for the street.
        street_max: the largest as a total for the street, which in no-limit games is all-in.
        hand_min: the smallest as a total for the hand.
        hand_max: the largest as a total for the hand.
        is_bet: whether nobody has bet in this round, blinds included.
        is_fixed: whether the game fixes the size.
    """

    street_min: int
    street_max: int
    hand_min: int
    hand_max: int
    is_bet: bool
    is_fixed: bool


@dataclass(frozen=True, slots=True)
class Choices:
    """What a person whose turn it is may do; to call (or check) is always one of the choices.

    Attributes:
        can_fold: whether there is a bet to fold to.
        to_call: chips that a call adds; 0: it is a check.
        is_call_all_in: whether a call puts in the last chips.
        raises: None where no raise is legal.
    """

    can_fold: bool
    to_call: int
    is_call_all_in: bool
    raises: Raises | None


@dataclass(frozen=True)
class Scene:
    """One moment of a hand as a person at the table sees it.

    Attributes:
        names: the players, by position in this hand.
        position: the person's.
        hand_number: 0-based number of the hand in the match.
        all_hole_cards: by position; empty where the person has not been shown them.
        board: the cards on the table.
        betting: so far.
        score: over all finished hands, this one included once it is over.
    """

    names: tuple[str, ...]
    position: Position
    hand_number: int
    all_hole_cards: tuple[tuple[Card, ...], ...]
    board: tuple[Card, ...]
    betting: BettingState
    score: Score

    @property
    def game(self) -> Game:
        """The game being played."""
        return self.betting.game

    @cached_property
    def view(self) -> View:
        """The same moment as a bot would see it."""
        return View(self.betting, self.position, self.hand_number, self.all_hole_cards, self.board)

    @property
    def hole_cards(self) -> tuple[Card, ...]:
        """The person's own cards."""
        return self.all_hole_cards[self.position]

    @property
    def pot(self) -> int:
        """Chips put in by everybody so far."""
        return self.betting.pot

    @property
    def finished(self) -> bool:
        """Whether the hand is over."""
        return self.betting.finished

    @property
    def is_your_turn(self) -> bool:
        """Whether the dealer waits for the person."""
        return not self.finished and self.betting.acting_position == self.position

    @property
    def round_name(self) -> str:
        """What the betting round is called."""
        return round_names(self.game)[self.betting.round]

    @property
    def strength(self) -> str:
        """What the person's best hand is called, ``a pair of Kings``; empty before the flop and in other games."""
        return strength_of(self.game, self.hole_cards + self.board)

    @cached_property
    def values(self) -> tuple[float, ...] | None:
        """Net chips of the hand by position; None as long as it is not over."""
        return self.view.values if self.finished else None

    @cached_property
    def history(self) -> tuple[HandEvent, ...]:
        """What has happened in the hand, in order; a later scene of the hand only adds to it."""
        return hand_events(self.betting, self.all_hole_cards, self.board, self.values)

    @cached_property
    def choices(self) -> Choices | None:
        """What the person may do; None unless it is the person's turn."""
        if not self.is_your_turn:
            return None
        view = self.view
        raises = None
        if view.can_raise:
            raises = Raises(
                view.min_raise_street_total,
                view.max_raise_street_total,
                view.min_raise_hand_total,
                view.max_raise_hand_total,
                max(view.street_committed) == 0,
                self.game.is_limit,
            )
        return Choices(view.can_fold, view.to_call, 0 < view.to_call == view.stack_left, raises)

    @cached_property
    def players(self) -> tuple[PlayerView, ...]:
        """The players in the order of their positions."""
        return live_views(self.betting, self.names, self.all_hole_cards, self.board)[-1].seats
