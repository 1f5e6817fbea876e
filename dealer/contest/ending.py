"""How a contest ended, and whom it was waiting for."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from dealer.errors import DealerError

__all__ = ["INTERRUPTED", "Ending", "Outcome", "Wait"]


@dataclass(frozen=True, slots=True, order=True)
class Wait:
    """A match waits for a player.

    Attributes:
        waited_s: for how long by now.
        player: its name.
        hand_number: the hand in which it is to act; None: it is to connect.
    """

    waited_s: float
    player: str
    hand_number: int | None

    def __str__(self) -> str:
        what = "to connect" if self.hand_number is None else f"(hand {self.hand_number})"
        return f"waiting for {self.player} for {self.waited_s:.0f} s {what}"


class Outcome(enum.StrEnum):
    """How a contest ended, in a word."""

    FINISHED = "finished"
    """All hands were played."""
    STOPPED = "stopped"
    """The stop rule ended it."""
    FAILED = "failed"
    """A fault or an error ended it."""
    INTERRUPTED = "interrupted"
    """A person or a signal ended it."""

    @property
    def is_complete(self) -> bool:
        """Whether nothing is left to play."""
        return self in (Outcome.FINISHED, Outcome.STOPPED)


@dataclass(frozen=True, slots=True)
class Ending:
    """How a contest ended.

    Attributes:
        outcome: in a word.
        reason: in a sentence.
        error: what kept it from starting: a bot, a socket or a folder that could not be had.
    """

    outcome: Outcome
    reason: str
    error: DealerError | None = None


INTERRUPTED = Ending(Outcome.INTERRUPTED, "it was interrupted.")
