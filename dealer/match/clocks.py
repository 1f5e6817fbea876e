"""The three clocks of a player, counted as the reference dealer counts them.

Every line that is not a comment is charged with the time since the player was asked, so a player that answers nonsense
first pays again for each line, unless the number of such lines is limited (`MatchSetup.charges_idle_lines`). A player
runs out of time when a single charge exceeds the response limit, the charges of a hand exceed the hand limit, or all
charges exceed the per-hand limit times the number of hands in the match.
Comments are free and begin the wait for the reply again, but the reply is still measured from the question. Where idle
lines are limited, a comment that comes when no answer could count ends the wait. Times are integer microseconds of a
monotonic clock.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TimeLimits:
    """Time limits in microseconds.

    Attributes:
        response_us: for a single answer; also the longest silence between two lines.
        hand_us: for all answers of one hand.
        per_hand_us: for all answers of the match, per hand of it.
        start_us: for all players to connect and name their version; None: without limit.
    """

    response_us: int = 600_000_000
    hand_us: int = 600_000_000
    per_hand_us: int = 7_000_000
    start_us: int | None = None

    def match_us(self, hands: int) -> int:
        """The time of a player for a match of that many hands; 64 bits, as the reference counts."""
        return self.per_hand_us * hands % 2**64


DEFAULT_LIMITS = TimeLimits()
"""The limits of the reference dealer when its command line sets none."""


class Limit(enum.Enum):
    """Which of the three limits."""

    RESPONSE = "response"
    HAND = "hand"
    MATCH = "match"


class SeatClock:
    """The time one player has used.

    Attributes:
        hand_us: charged in the present hand; set to 0 when a hand begins.
    """

    __slots__ = ("_hand_limit_us", "_match_limit_us", "_response_limit_us", "hand_us", "match_us")

    def __init__(self, limits: TimeLimits, hands: int) -> None:
        self._response_limit_us = limits.response_us
        self._hand_limit_us = limits.hand_us
        self._match_limit_us = limits.match_us(hands)
        self.hand_us = 0
        self.match_us = 0

    @property
    def is_spent(self) -> bool:
        """Whether the time for the match is used up, so that no answer could count any more."""
        return self.match_us > self._match_limit_us

    @property
    def left_us(self) -> int:
        """How long after the question an answer still counts."""
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
        """The limit that the last charge has broken, the narrowest of them first."""
        if elapsed_us > self._response_limit_us:
            return Limit.RESPONSE
        return Limit.HAND if self.hand_us > self._hand_limit_us else Limit.MATCH
