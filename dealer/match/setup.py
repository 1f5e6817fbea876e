"""Setup and progress of a match."""

from __future__ import annotations

import enum
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from dealer.match.causes import PlayerCause
from dealer.match.faults import FaultPolicy
from engine import Game, Seat, Seed

MAX_COMMENTS_PER_HAND: Final = 256
"""Comments kept of a hand. Further ones are read and dropped."""
MAX_COMMENT_BYTES_PER_MATCH: Final = 10_000_000
"""Bytes of comments kept of a match."""
MAX_COMMENTS_PER_QUESTION: Final = 10_000
"""Comments allowed after a question if idle lines are not limited.

The reference dealer has no such limit: comments restart its wait for a reply, so a player can hold up a match forever.
"""

DEFAULT_COALESCE_S: Final = 0.01
"""Default time for which lines to players who are not to act are held back, in seconds."""


@dataclass(frozen=True, slots=True)
class TimeLimits:
    """Time limits of a player, in microseconds.

    Attributes:
        response_us: limit for an answer; also the longest silence between two lines.
        hand_us: limit for all answers of a hand.
        per_hand_us: limit for all answers of the match, divided by its number of hands.
        start_us: limit for all players to connect and name their versions; None for no limit.
    """

    response_us: int = 600_000_000
    hand_us: int = 600_000_000
    per_hand_us: int = 7_000_000
    start_us: int | None = None

    @classmethod
    def from_seconds(
        cls, *, response_s: float, hand_s: float, per_hand_s: float, start_s: float | None = None
    ) -> TimeLimits:
        """Convert limits in seconds, as settings have them."""
        start_us = None if start_s is None else _microseconds(start_s)
        return cls(_microseconds(response_s), _microseconds(hand_s), _microseconds(per_hand_s), start_us)

    def with_seconds(
        self, *, response_s: float | None = None, hand_s: float | None = None, per_hand_s: float | None = None
    ) -> TimeLimits:
        """Replace limits, given in seconds; None keeps a limit."""
        limits = self
        if response_s is not None:
            limits = replace(limits, response_us=_microseconds(response_s))
        if hand_s is not None:
            limits = replace(limits, hand_us=_microseconds(hand_s))
        if per_hand_s is not None:
            limits = replace(limits, per_hand_us=_microseconds(per_hand_s))
        return limits

    @property
    def start_s(self) -> float | None:
        """Start limit in seconds; None for no limit."""
        return None if self.start_us is None else self.start_us / 1e6

    @property
    def response_ms(self) -> int:
        """Response limit in whole milliseconds, as headers of logs have it."""
        return self.response_us // 1000

    @property
    def hand_ms(self) -> int:
        """Hand limit in whole milliseconds."""
        return self.hand_us // 1000

    @property
    def per_hand_ms(self) -> int:
        """Limit per hand of the match in whole milliseconds."""
        return self.per_hand_us // 1000

    def match_us(self, hands: int) -> int:
        """Limit for all answers of a match with this number of hands."""
        # The reference multiplies in 64 bits, so a huge --t_per_hand wraps around to a small limit.
        return self.per_hand_us * hands % 2**64


def _microseconds(seconds: float) -> int:
    # Rounded, because the product can lie just below a whole number: 1.001 * 1e6 is 1000999.9999999999.
    return round(seconds * 1e6)


DEFAULT_LIMITS = TimeLimits()
"""Defaults of the reference dealer."""


@dataclass(frozen=True, slots=True)
class MatchSetup:
    """Settings of one match.

    Attributes:
        name: name of the match, in file names and in the header of the log.
        hands: number of hands.
        seed: seed of the cards, a number or a key.
        names: names of the players, by seat.
        fixed_seats: the button stays at the same seat.
        first_hand: number of the first hand, for a slice of a longer match.
        limits: time limits of the players.
        on_fault: policy for a player that does not connect, times out, disconnects or floods.
        max_idle_lines_per_hand: limit for lines of a player in a hand that are not answers; None for the rules of the
            reference dealer (`charges_idle_lines`).
        own_limits: time limits by seat that replace `limits`; None keeps them. Empty if no seat has its own.
    """

    game: Game
    name: str
    hands: int
    seed: Seed
    names: tuple[str, ...]
    fixed_seats: bool = False
    first_hand: int = 0
    limits: TimeLimits = DEFAULT_LIMITS
    on_fault: FaultPolicy = FaultPolicy.END
    max_idle_lines_per_hand: int | None = None
    own_limits: tuple[TimeLimits | None, ...] = ()

    @property
    def charges_idle_lines(self) -> bool:
        """Idle lines are charged to the clock.

        The reference dealer charges every line but a comment with the time since the question, including lines that
        it then ignores, and waits for the full response time again after each line. If idle lines are limited, only
        the answer is charged, for the whole time since the question.
        """
        return self.max_idle_lines_per_hand is None


@dataclass(frozen=True, slots=True)
class EarlierHands:
    """Progress of an interrupted match, up to the end of a hand.

    Attributes:
        hands: number of finished hands.
        totals: net chips by seat; empty means zeros.
        used_us: time used in the match by seat, in microseconds; empty means zeros.
        forfeited: seats that check or fold to the end of the match.
    """

    hands: int = 0
    totals: tuple[float, ...] = ()
    used_us: tuple[int, ...] = ()
    forfeited: frozenset[Seat] = frozenset()


NO_EARLIER_HANDS = EarlierHands()


class LostPlayer(NamedTuple):
    """Loss of a player in a match that continues.

    Attributes:
        cause: fault of the player.
        hand_number: the current hand or, between two hands, the next one.
        answers: number of its answers in that hand.
        is_final: the player may not return, because of the policy or because its time for the match is used up.
    """

    cause: PlayerCause
    hand_number: int
    answers: int
    is_final: bool


class Question(NamedTuple):
    """Open question to a player.

    Attributes:
        asked_ns: time of the question, on the clock of `time.monotonic_ns`.
    """

    seat: Seat
    hand_number: int
    asked_ns: int


class Phase(enum.Enum):
    """State of a match."""

    CONNECTING = "connecting"
    """Not all players are connected."""
    GREETING = "greeting"
    """All players are connected, and some have not named their versions yet."""
    PLAYING = "playing"
    """Hands are being played."""
    HOLDING = "holding"
    """Between two hands, until `play_until` continues the match or `finish` ends it."""
    FINISHED = "finished"
    """Ended with a score."""
    FAILED = "failed"
    """Ended early."""
