"""Records of finished hands, with everything that an output format needs and nothing else."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, NamedTuple

from engine import BettingState, Card, Deal, Game, Position, Seat

PLAY_MONEY: Final = "play money"
"""Currency of hands that are played for no money."""


class Times(NamedTuple):
    """Times of a question and its reply, in microseconds of Unix time."""

    sent_us: int
    received_us: int


class PlayerComment(NamedTuple):
    """A comment line that a player sent during the hand.

    Attributes:
        action_index: number of actions of the hand before it.
        text: line without its end; U+FFFD replaces bytes that are not UTF-8.
    """

    seat: Seat
    action_index: int
    text: str


@dataclass(frozen=True, slots=True)
class HandRecord:
    """One finished hand of a match.

    All fields about the players are by position, as in ACPC logs, except `names_by_seat`.

    Attributes:
        hand_number: 0-based.
        names_by_seat: players, in the same order in every hand of the match.
        seats: seat of each position.
        deal: known cards. Hole cards of a position are empty if unknown, and the board may end with the last round that
            was reached.
        betting: final betting state; its `rounds` hold the actions.
        values: net chips of each position.
        times: one entry per action, in order; empty if unknown.
        dealt_us: time of the deal in microseconds of Unix time; None if the file does not contain it.
        currency: code of the money in the file, or `PLAY_MONEY`; None if the file does not name it.
        number_prefix: letters before the number in files of GGPoker, which numbers each kind of game separately.
    """

    game: Game
    match_name: str
    hand_number: int
    names_by_seat: tuple[str, ...]
    seats: tuple[Seat, ...]
    deal: Deal
    betting: BettingState
    values: tuple[float, ...]
    times: tuple[Times, ...] = ()
    comments: tuple[PlayerComment, ...] = ()
    dealt_us: int | None = None
    currency: str | None = field(default=None, compare=False)
    number_prefix: str = field(default="", compare=False)

    @property
    def board_by_round(self) -> tuple[tuple[Card, ...], ...]:
        """Board cards of each reached round, without those of the rounds before."""
        board_by_round = []
        start = 0
        for end in self.game.board_cards_by_round[: self.betting.round + 1]:
            board_by_round.append(self.deal.board[start:end])
            start = end
        return tuple(board_by_round)

    @property
    def start_us(self) -> int | None:
        """Start of the hand in microseconds of Unix time; None if unknown."""
        if self.times:
            return self.times[0].sent_us
        return self.dealt_us

    @property
    def names(self) -> tuple[str, ...]:
        """Player in each position."""
        names = self.names_by_seat
        return tuple([names[seat] for seat in self.seats])

    def name_at(self, position: Position) -> str:
        """Return the player in a position."""
        return self.names_by_seat[self.seats[position]]
