"""Seat of a player: session, clock, output buffer."""

from __future__ import annotations

import enum
from collections.abc import Callable

from dealer.errors import MatchFailure
from dealer.match.causes import Limit, NotStarted, OutOfTime, StartProblem, TooManyIdleLines
from dealer.match.setup import MatchSetup
from engine import Seat
from protocol import NEED_DATA, DealerSession, Handshake, RemoteProtocolError

Write = Callable[[bytes, bool], None]
"""Sends bytes to a player; the flag is set when it is now asked for an action, so the bytes must leave at once.

Raises:
    OSError: the connection is broken.
"""


class Presence(enum.Enum):
    """State of a seat."""

    AWAITED = "awaited"
    """No client is connected: before the match, or since the player was lost."""
    ARRIVED = "arrived"
    """A player has connected and has not named its version yet; it is sent nothing before."""
    SEATED = "seated"
    """The player takes part."""
    ABSENT = "absent"
    """The player was given up: it checks or folds to the end of the match."""


def _write_nothing(data: bytes, is_asked: bool) -> None:
    """The write function of a seat without a connection."""


class SeatClock:
    """The three clocks of a player, counted as the reference dealer counts them.

    Every line that is not a comment is charged with the time since the player was asked, so a player that answers
    nonsense first pays again for each line, unless the number of such lines is limited
    (`MatchSetup.charges_idle_lines`). A player runs out of time when a single charge exceeds the response limit, the
    charges of a hand exceed the hand limit, or all charges exceed the per-hand limit times the number of hands in the
    match. Comments are free and begin the wait for the reply again, but the reply is still measured from the question.
    Where idle lines are limited, a comment that comes when no answer could count ends the wait. Times are integer
    microseconds of a monotonic clock.

    Attributes:
        hand_us: charged in the present hand; set to 0 when a hand begins.
    """

    __slots__ = ("_hand_limit_us", "_match_limit_us", "_response_limit_us", "hand_us", "limits", "match_us")

    def __init__(self, setup: MatchSetup, seat: Seat) -> None:
        limits = setup.limits
        if setup.own_limits:
            limits = setup.own_limits[seat] or limits
        self.limits = limits
        self._response_limit_us = limits.response_us
        self._hand_limit_us = limits.hand_us
        self._match_limit_us = limits.match_us(setup.hands)
        self.hand_us = 0
        self.match_us = 0

    @property
    def is_spent(self) -> bool:
        """The time for the match is used up, so that no further answer can count."""
        return self.match_us > self._match_limit_us

    @property
    def left_us(self) -> int:
        """Time after the question within which an answer counts."""
        left_us = min(self._hand_limit_us - self.hand_us, self._match_limit_us - self.match_us)
        return max(0, min(self._response_limit_us, left_us))

    def charge(self, elapsed_us: int) -> bool:
        """Charge a line; returns whether the player is still within its limits."""
        self.hand_us = hand_us = self.hand_us + elapsed_us
        self.match_us = match_us = self.match_us + elapsed_us
        return (
            elapsed_us <= self._response_limit_us
            and hand_us <= self._hand_limit_us
            and match_us <= self._match_limit_us
        )

    def exceeded_limit(self, elapsed_us: int) -> Limit:
        """The narrowest limit that the last charge exceeded."""
        if elapsed_us > self._response_limit_us:
            return Limit.RESPONSE
        if self.hand_us > self._hand_limit_us:
            return Limit.HAND
        return Limit.MATCH


class PlayerSeat:
    """Seat of a player.

    Attributes:
        session: the dealer's side of its connection.
        clock: the time it has used.
        write: sends to it; does nothing without a connection.
        pending: last state of the previous hand, which is sent with the first state of the next.
        has_unread: the session may hold unread bytes, or the seat has no player.
        idle_lines: lines of this hand that are no answers.
        silence_ns: longest wait for an answer.
    """

    __slots__ = (
        "_arrived",
        "_setup",
        "clock",
        "has_unread",
        "idle_lines",
        "pending",
        "presence",
        "seat",
        "session",
        "silence_ns",
        "write",
    )

    def __init__(self, seat: Seat, setup: MatchSetup, *, used_us: int, is_absent: bool) -> None:
        self.seat = seat
        self.presence = Presence.AWAITED
        if is_absent:
            self.presence = Presence.ABSENT
        self.session = DealerSession(setup.game)
        self.clock = SeatClock(setup, seat)
        self.clock.match_us = used_us
        self.silence_ns = self.clock.limits.response_us * 1000
        self.write: Write = _write_nothing
        self.pending = b""
        self.has_unread = True
        self.idle_lines = 0
        self._setup = setup
        self._arrived: Write = _write_nothing

    def arrive(self, write: Write) -> None:
        """Connect the awaited player."""
        self.presence = Presence.ARRIVED
        self._arrived = write

    def read_version(self) -> Handshake | None:
        """Read the first line of a player that has arrived, and seat it; None until the line is complete.

        Raises:
            MatchFailure: the line is no version, or the player has left.
        """
        try:
            event = self.session.next_event()
        except RemoteProtocolError as error:
            raise MatchFailure(NotStarted(self.seat, StartProblem.UNREADABLE_VERSION, line=error.line)) from None
        if event is NEED_DATA:
            return None
        if not isinstance(event, Handshake):
            raise MatchFailure(NotStarted(self.seat, StartProblem.LEFT))
        self.presence = Presence.SEATED
        self.write = self._arrived
        return event

    def vacate(self, presence: Presence) -> None:
        """Empty the seat, for now (`AWAITED`) or to the end of the match (`ABSENT`)."""
        self.presence = presence
        self.session = DealerSession(self._setup.game)
        self.write = self._arrived = _write_nothing
        self.has_unread = True
        self.clock.hand_us = 0

    def begin_hand(self) -> None:
        """Reset the time and the idle lines of a hand."""
        self.clock.hand_us = 0
        self.idle_lines = 0

    def charge(self, elapsed_us: int, *, is_replayed: bool = False) -> None:
        """Charge the clocks with an answer.

        Raises:
            MatchFailure: the player has used more time than it had.
        """
        if not self.clock.charge(elapsed_us):
            raise self.out_of_time(elapsed_us, is_replayed=is_replayed)

    def out_of_time(self, elapsed_us: int, *, is_replayed: bool = False) -> MatchFailure:
        """The failure of a player whose last charge has broken a limit."""
        return MatchFailure(OutOfTime(self.seat, self.clock.exceeded_limit(elapsed_us), is_replayed))

    def count_idle_line(self, hand_number: int, line: bytes) -> None:
        """Count a line that is no answer.

        Raises:
            MatchFailure: there are too many in this hand.
        """
        self.idle_lines += 1
        most = self._setup.max_idle_lines_per_hand
        if most is not None and self.idle_lines > most:
            raise MatchFailure(TooManyIdleLines(self.seat, hand_number, most, line=line))
