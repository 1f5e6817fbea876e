"""What a match is told before it begins, and how far it can be."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Final, NamedTuple

from dealer.match.causes import PlayerCause
from dealer.match.clocks import DEFAULT_LIMITS, TimeLimits
from dealer.match.faults import FaultPolicy
from engine import Game, Seat

__all__ = ["MAX_COMMENTS_PER_HAND", "NO_PROGRESS", "Loss", "MatchSetup", "Phase", "Progress"]

MAX_COMMENTS_PER_HAND: Final = 256
"""So many comments of a hand are kept; further ones are heard and dropped."""


@dataclass(frozen=True, slots=True)
class MatchSetup:
    """What is played.

    Attributes:
        game: the game.
        name: of the match.
        hands: how many.
        seed: of the cards.
        names: the players by seat.
        fixed_seats: the button does not move.
        first_hand: number of the first hand dealt, for a slice of a longer match.
        limits: the players' clocks.
        on_fault: what becomes of a player who is late or gone.
        max_idle_lines_per_hand: so many lines of a player in one hand may be no answers before he counts as a flood;
            None, as for the reference, sets no bound but his time.
    """

    game: Game
    name: str
    hands: int
    seed: int
    names: tuple[str, ...]
    fixed_seats: bool = False
    first_hand: int = 0
    limits: TimeLimits = DEFAULT_LIMITS
    on_fault: FaultPolicy = FaultPolicy.END
    max_idle_lines_per_hand: int | None = None


@dataclass(frozen=True, slots=True)
class Progress:
    """What had been played when a match was broken off, always at the end of a hand.

    Attributes:
        hands: how many were finished.
        totals: net chips by seat; empty stands for zeros.
        used_us: time used by seat; empty stands for zeros.
        forfeited: seats that take no part any more.
    """

    hands: int = 0
    totals: tuple[float, ...] = ()
    used_us: tuple[int, ...] = ()
    forfeited: frozenset[Seat] = frozenset()


NO_PROGRESS = Progress()


class Loss(NamedTuple):
    """A player that is gone while the match goes on.

    Attributes:
        cause: why.
        hand_number: in which hand.
        answers: how many it had given in that hand.
        is_final: it cannot come back: the policy says so, or its time for the match is used up.
    """

    cause: PlayerCause
    hand_number: int
    answers: int
    is_final: bool


class Phase(enum.Enum):
    """How far a match is."""

    CONNECTING = "connecting"
    GREETING = "greeting"
    PLAYING = "playing"
    HOLDING = "holding"
    FINISHED = "finished"
    FAILED = "failed"
