"""The hand being played, and the dealer that deals one hand after the other.

Matches over TCP and in process share both, so deals, seats, times, comments and records are the same.
"""

from __future__ import annotations

from collections.abc import Sequence

from dealer.match.setup import MAX_COMMENT_BYTES_PER_MATCH, MAX_COMMENTS_PER_HAND, MatchSetup
from engine import BettingState, Deal, Seat, betting_start, deals
from engine.betting_rules import BettingPoint
from engine.hand import end_values
from logs import HandRecord, PlayerComment, Times


class CommentSpace:
    """Space for the comments of a match.

    Attributes:
        bytes_left: bytes of comments that can still be kept.
        dropped: number of comments dropped for lack of space.
    """

    __slots__ = ("bytes_left", "dropped")

    def __init__(self) -> None:
        self.bytes_left = MAX_COMMENT_BYTES_PER_MATCH
        self.dropped = 0


class HandInPlay:
    """A hand being played.

    Attributes:
        seats: seats by position.
        betting: the current state.
        values: net chips by position; empty until `HandDealer.count` sets them.
        times_ns: times of the question and the reply of each action, on the clock of `time.monotonic_ns`.
        comments: comments of the players that are kept.
    """

    __slots__ = (
        "_comment_space",
        "_offset_ns",
        "_times",
        "betting",
        "comments",
        "deal",
        "number",
        "seats",
        "times_ns",
        "values",
    )

    def __init__(
        self,
        number: int,
        deal: Deal,
        seats: tuple[Seat, ...],
        betting: BettingState,
        offset_ns: int,
        comment_space: CommentSpace,
    ) -> None:
        """Start a hand; `offset_ns` is the offset from monotonic to Unix time."""
        self.number = number
        self.deal = deal
        self.seats = seats
        self.betting = betting
        self.values: tuple[float, ...] = ()
        self.times_ns: list[tuple[int, int]] = []
        self.comments: list[PlayerComment] = []
        self._comment_space = comment_space
        self._offset_ns = offset_ns
        self._times: tuple[Times, ...] | None = None

    @property
    def actor(self) -> Seat:
        """Seat to act."""
        return self.seats[self.betting.acting_position]

    def unix_us(self, now_ns: int) -> int:
        """Convert a monotonic time to microseconds of Unix time."""
        return (now_ns + self._offset_ns) // 1000

    def monotonic_ns(self, unix_us: int) -> int:
        """Convert microseconds of Unix time to a monotonic time."""
        return unix_us * 1000 - self._offset_ns

    def play(self, after: BettingState, asked_ns: int, answered_ns: int) -> None:
        """Apply an action, given the state that it leads to."""
        self.times_ns.append((asked_ns, answered_ns))
        self.betting = after

    def comment(self, seat: Seat, line: bytes) -> None:
        """Keep a comment on the next action, or drop it if the hand or the match has too many."""
        space = self._comment_space
        if len(self.comments) >= MAX_COMMENTS_PER_HAND or len(line) > space.bytes_left:
            space.dropped += 1
            return
        space.bytes_left -= len(line)
        text = line.decode("utf-8", "replace").rstrip("\r\n")
        self.comments.append(PlayerComment(seat, len(self.times_ns), text))

    def count_actions(self, seat: Seat) -> int:
        """Number of actions of a seat in this hand."""
        count = 0
        for actions in self.betting.rounds:
            for position, _ in actions:
                if self.seats[position] == seat:
                    count += 1
        return count

    @property
    def times(self) -> tuple[Times, ...]:
        """Unix times of the actions of the finished hand."""
        if self._times is None:
            offset_ns = self._offset_ns
            # Times(...) would go through a Python-level __new__, which takes twice as long.
            new_tuple = tuple.__new__
            times = []
            for asked_ns, answered_ns in self.times_ns:
                asked_us = (asked_ns + offset_ns) // 1000
                answered_us = (answered_ns + offset_ns) // 1000
                times.append(new_tuple(Times, (asked_us, answered_us)))
            self._times = tuple(times)
        return self._times

    def record(self, setup: MatchSetup) -> HandRecord:
        """Build the record of the finished hand."""
        return HandRecord(
            game=setup.game,
            match_name=setup.name,
            hand_number=self.number,
            names_by_seat=setup.names,
            seats=self.seats,
            deal=self.deal,
            betting=self.betting,
            values=self.values,
            times=self.times,
            comments=tuple(self.comments),
        )


class HandDealer:
    """Deals the hands of a match and keeps the score.

    Attributes:
        hands_played: number of finished hands, including those of an earlier run.
        totals: net chips by seat over the finished hands.
        deals: cards of the following hands. They follow from the seed, unless a caller replaces them.
        comment_space: space for the comments of all hands.
    """

    def __init__(self, setup: MatchSetup, hands_played: int, totals: Sequence[float]) -> None:
        players = setup.game.num_players
        self.hands_played = hands_played
        # `EarlierHands` of a new match has no totals.
        self.totals = list(totals) or [0.0] * players
        self._setup = setup
        self.comment_space = CommentSpace()
        self.deals = deals(setup.game, setup.seed, setup.first_hand + hands_played)
        # Betting states are immutable, so all hands start from the same one.
        self._start = betting_start(setup.game)
        self._seats_by_shift: list[tuple[Seat, ...]] = []
        for shift in range(players):
            seats = [Seat((position + shift) % players) for position in range(players)]
            self._seats_by_shift.append(tuple(seats))

    @property
    def hand_number(self) -> int:
        """Number of the current hand or, between two hands, of the next one."""
        return self._setup.first_hand + self.hands_played

    def deal(self, offset_ns: int) -> HandInPlay:
        """Deal the next hand; `offset_ns` is the offset from monotonic to Unix time."""
        number = self.hand_number
        # As in the reference, each position moves on by one seat from hand to hand. The shift follows from the number
        # of the hand, so slices of a match continue the rotation.
        shift = number % len(self._seats_by_shift)
        if self._setup.fixed_seats:
            shift = 0
        seats = self._seats_by_shift[shift]
        return HandInPlay(number, next(self.deals), seats, self._start, offset_ns, self.comment_space)

    def settle(self, hand: HandInPlay) -> HandRecord:
        """Count a finished hand and return its record."""
        self.count(hand, hand.betting)
        return hand.record(self._setup)

    def count(self, hand: HandInPlay, end: BettingState | BettingPoint) -> None:
        """Set the values of a hand and add them to the totals.

        Args:
            end: final state of its betting.
        """
        hand.values = end_values(self._setup.game, end.round, end.spent, end.folded, hand.deal)
        # Hand by hand, as the reference adds: values of split pots are fractions, and the SCORE line prints the sum.
        totals = self.totals
        for seat, value in zip(hand.seats, hand.values, strict=True):
            totals[seat] += value
        self.hands_played += 1
