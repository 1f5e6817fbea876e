"""How a contest ended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

__all__ = ["Ending", "Outcome"]

Outcome: TypeAlias = Literal["finished", "stopped", "failed", "interrupted"]
"""finished: all hands were played. stopped: the stop rule ended it. failed: a fault or an error ended it.
interrupted: a person or a signal did."""


@dataclass(frozen=True, slots=True)
class Ending:
    """How a contest ended.

    Attributes:
        outcome: in a word.
        reason: in a sentence.
        could_not_start: nothing was played, because a bot, a socket or a folder could not be had.
    """

    outcome: Outcome
    reason: str
    could_not_start: bool = False
