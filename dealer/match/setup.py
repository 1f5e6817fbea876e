"""Setup and progress of a match."""

from __future__ import annotations

import enum
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from dealer.match.causes import PlayerCause
from dealer.match.faults import FaultPolicy
from engine import Game, Seat, Seed

MAX_COMMENTS_PER_HAND: Final = 256
"""Comments of a hand that are kept. Further comments are read and dropped."""
MAX_COMMENT_BYTES_PER_MATCH: Final = 10_000_000
"""Bytes of all comments of a match that are kept."""
MAX_COMMENTS_PER_QUESTION: Final = 10_000
"""Comments that a player may send after a question if lines that are no answers are not limited."""

DEFAULT_COALESCE_S: Final = 0.01
"""Time that lines for players who are not to act are held back."""


@dataclass(frozen=True, slots=True)
class TimeLimits:
    """Time limits of a player, in microseconds.

    Settings are in seconds and headers of logs in milliseconds; they are converted here and nowhere else.

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

    @classmethod
    def from_seconds(
        cls, *, response_s: float, hand_s: float, per_hand_s: float, start_s: float | None = None
    ) -> TimeLimits:
        """Limits given in seconds."""
        start_us = None if start_s is None else _microseconds(start_s)
        return cls(_microseconds(response_s), _microseconds(hand_s), _microseconds(per_hand_s), start_us)

    def with_seconds(
        self, *, response_s: float | None = None, hand_s: float | None = None, per_hand_s: float | None = None
    ) -> TimeLimits:
        """Replace limits by seconds; None keeps one as it is."""
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
        """Seconds for all players to connect and name their version; None: without limit."""
        return None if self.start_us is None else self.start_us / 1e6

    @property
    def response_ms(self) -> int:
        """Whole milliseconds for a single answer."""
        return self.response_us // 1000

    @property
    def hand_ms(self) -> int:
        """Whole milliseconds for all answers of one hand."""
        return self.hand_us // 1000

    @property
    def per_hand_ms(self) -> int:
        """Whole milliseconds per hand of the match."""
        return self.per_hand_us // 1000

    def match_us(self, hands: int) -> int:
        """The time of a player for a match of that many hands; 64 bits, as the reference counts."""
        return self.per_hand_us * hands % 2**64


def _microseconds(seconds: float) -> int:
    return round(seconds * 1e6)


DEFAULT_LIMITS = TimeLimits()
"""The limits of the reference dealer when its command line sets none."""


@dataclass(frozen=True, slots=True)
class MatchSetup:
    """Settings of one match.

    Attributes:
        seed: of the cards, a number or a key.
        names: the players' names, by seat.
        fixed_seats: whether the button stays where it is.
        first_hand: the number of the first hand, for a slice of a longer match.
        own_limits: clocks by seat where they differ; None, or empty for all, where they are `limits`.
        on_fault: policy for a player that does not connect, times out, disconnects or floods.
        max_idle_lines_per_hand: how many lines of one player in one hand may be no answers; one more is a flood. None,
            as in the reference dealer: each but a comment is charged with the time since the question, like an answer,
            and each begins the wait for the answer again.
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
        """A line that is no answer is charged to the clock; otherwise the answer is charged for the whole time."""
        return self.max_idle_lines_per_hand is None


@dataclass(frozen=True, slots=True)
class EarlierHands:
    """Progress of an interrupted match, always up to the end of a hand.

    Attributes:
        totals: net chips by seat; empty means zeros.
        used_us: time used in the match by seat, in microseconds; empty means zeros.
        forfeited: the seats that check or fold to the end.
    """

    hands: int = 0
    totals: tuple[float, ...] = ()
    used_us: tuple[int, ...] = ()
    forfeited: frozenset[Seat] = frozenset()


NO_EARLIER_HANDS = EarlierHands()


class LostPlayer(NamedTuple):
    """A player lost while the match continues.

    Attributes:
        hand_number: the hand being played, or the next one if it was lost between two hands.
        answers: number of its answers in that hand.
        is_final: it cannot come back, because of the policy or because its time for the match is used up.
    """

    cause: PlayerCause
    hand_number: int
    answers: int
    is_final: bool


class Question(NamedTuple):
    """A question that a player has yet to answer.

    Attributes:
        asked_ns: when it was asked, on the clock of `time.monotonic_ns`.
    """

    seat: Seat
    hand_number: int
    asked_ns: int


class Phase(enum.Enum):
    """State of a match."""

    CONNECTING = "connecting"
    """Not all players are connected."""
    GREETING = "greeting"
    """All players are connected; not all have named their versions."""
    PLAYING = "playing"
    """Hands are being played."""
    HOLDING = "holding"
    """Between two hands, until it is continued or finished."""
    FINISHED = "finished"
    """Over, with its score."""
    FAILED = "failed"
    """Over, early."""
