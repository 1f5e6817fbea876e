"""Seat of a player in a match over TCP: session, clock and output buffer."""

from __future__ import annotations

import enum
from collections.abc import Callable

from dealer.errors import MatchFailure
from dealer.match.causes import Limit, NotStarted, OutOfTime, StartProblem, TooManyIdleLines
from dealer.match.setup import MatchSetup
from engine import Seat
from protocol import NEED_DATA, DealerSession, Handshake, RemoteProtocolError

Write = Callable[[bytes, bool], None]
"""Sends bytes to a player. The flag says that they ask it for an action, so they must not be held back.

Raises:
    OSError: the connection is broken.
"""


class Presence(enum.Enum):
    """State of a seat."""

    AWAITED = "awaited"
    """No client is connected, because none has come yet or the player was lost."""
    ARRIVED = "arrived"
    """A client is connected and has not named its version yet. Nothing is sent to it."""
    SEATED = "seated"
    """The player takes part."""
    ABSENT = "absent"
    """The player has forfeited: the dealer checks or folds for it to the end of the match."""


def _write_nothing(data: bytes, is_asked: bool) -> None:
    """Write function of a seat without a connection."""


class SeatClock:
    """Time used by a player, counted as the reference dealer counts it, in integer microseconds.

    A player is out of time when one charge exceeds the response limit, the charges of a hand exceed the hand limit, or
    all charges exceed the limit per hand times the number of hands of the match. `MatchSetup.charges_idle_lines` says
    which lines are charged.

    Attributes:
        limits: the limits of this player.
        hand_us: time charged in the current hand.
        match_us: time charged in the match.
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
        """The time for the match is used up, so no further answer can be in time."""
        return self.match_us > self._match_limit_us

    @property
    def left_us(self) -> int:
        """Time after the question within which an answer is in time."""
        left_us = min(self._hand_limit_us - self.hand_us, self._match_limit_us - self.match_us)
        return max(0, min(self._response_limit_us, left_us))

    def charge(self, elapsed_us: int) -> bool:
        """Charge a line, and return whether the player is within its limits.

        Args:
            elapsed_us: time since the question, not since the line before.
        """
        # As in the reference: add first, then compare, and time equal to a limit is in time.
        self.hand_us = hand_us = self.hand_us + elapsed_us
        self.match_us = match_us = self.match_us + elapsed_us
        return (
            elapsed_us <= self._response_limit_us
            and hand_us <= self._hand_limit_us
            and match_us <= self._match_limit_us
        )

    def exceeded_limit(self, elapsed_us: int) -> Limit:
        """Return the narrowest limit that the last charge exceeded."""
        if elapsed_us > self._response_limit_us:
            return Limit.RESPONSE
        if self.hand_us > self._hand_limit_us:
            return Limit.HAND
        return Limit.MATCH


class PlayerSeat:
    """Seat of a player.

    Attributes:
        session: the dealer's side of the connection.
        clock: the time that the player has used.
        write: sends to the player; does nothing without a connection.
        pending: last state of the previous hand, to be sent together with the first state of the next.
        has_unread: the session may hold unread bytes, or the seat has no player.
        idle_lines: number of lines in this hand that are not answers.
        silence_ns: longest wait for a line.
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
        # `write` stays idle until the version line: the other players' actions must not reach this client before.
        self._arrived = write

    def read_version(self) -> Handshake | None:
        """Read the version line of a player that has arrived, and seat it.

        Returns:
            the version, or None until the line is complete.

        Raises:
            MatchFailure: the line is not a version line, or the player has left.
        """
        try:
            event = self.session.next_event()
        except RemoteProtocolError as error:
            raise MatchFailure(NotStarted(self.seat, StartProblem.UNREADABLE_VERSION, line=error.line)) from None
        if event is NEED_DATA:
            return None
        if not isinstance(event, Handshake):
            # `Closed`: the session raises an error for every other first line.
            raise MatchFailure(NotStarted(self.seat, StartProblem.LEFT))
        self.presence = Presence.SEATED
        self.write = self._arrived
        return event

    def vacate(self, presence: Presence) -> None:
        """Empty the seat, until the player returns (`AWAITED`) or to the end of the match (`ABSENT`)."""
        self.presence = presence
        # What the old connection left unread must not precede the version line of the next one.
        self.session = DealerSession(self._setup.game)
        self.write = self._arrived = _write_nothing
        self.has_unread = True
        # A restarted player gets the whole time for the hand, and what is left of the time for the match.
        self.clock.hand_us = 0

    def begin_hand(self) -> None:
        """Reset the hand's time and idle lines."""
        self.clock.hand_us = 0
        self.idle_lines = 0

    def charge(self, elapsed_us: int, *, is_replayed: bool = False) -> None:
        """Charge the clock with a line.

        Raises:
            MatchFailure: the player has exceeded a limit.
        """
        if not self.clock.charge(elapsed_us):
            raise self.out_of_time(elapsed_us, is_replayed=is_replayed)

    def out_of_time(self, elapsed_us: int, *, is_replayed: bool = False) -> MatchFailure:
        """Return the failure of a player whose last charge exceeded a limit."""
        return MatchFailure(OutOfTime(self.seat, self.clock.exceeded_limit(elapsed_us), is_replayed))

    def count_idle_line(self, hand_number: int, line: bytes) -> None:
        """Count a line that is not an answer.

        Raises:
            MatchFailure: the hand has too many such lines.
        """
        self.idle_lines += 1
        max_lines = self._setup.max_idle_lines_per_hand
        if max_lines is not None and self.idle_lines > max_lines:
            raise MatchFailure(TooManyIdleLines(self.seat, hand_number, max_lines, line=line))
