"""The result of a match as data: what ``--json`` prints and ``result.json`` holds.

`SCHEMA_VERSION` counts up when a field changes its meaning or disappears; new fields do not change it.
"""

from __future__ import annotations

import math
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

__all__ = ["SCHEMA_VERSION", "MatchResult", "PlayerResult", "RunningMean", "result_sentence"]

SCHEMA_VERSION = 1

Z_95 = 1.959964
"""Two-sided 95 % point of the normal distribution."""

_LEVEL_CHIPS = 1e-6
"""Sums of split pots leave rests far smaller than this."""

FEWEST_HANDS = 100
"""Below so many hands no interval is given: chips per hand are far from normal and a mean of few says little."""


class RunningMean:
    """Mean and variance of a stream of numbers in one pass (Welford 1962)."""

    __slots__ = ("_squares", "count", "mean")

    def __init__(self) -> None:
        self.count = 0
        self.mean = 0.0
        self._squares = 0.0

    def add(self, value: float) -> None:
        """Count a number in."""
        self.count += 1
        delta = value - self.mean
        self.mean += delta / self.count
        self._squares += delta * (value - self.mean)

    @property
    def half_width_95(self) -> float | None:
        """Half the width of the 95 % interval of the mean; None when there are too few numbers."""
        if self.count < FEWEST_HANDS:
            return None
        return Z_95 * math.sqrt(self._squares / (self.count - 1) / self.count)


class PlayerResult(BaseModel):
    """One player of a match."""

    model_config = ConfigDict(frozen=True)

    name: str
    player: str = Field(description="as given: built-in bot, command or tcp")
    seat: int = Field(description="0-based")
    chips: float = Field(description="net chips over the hands played")
    mbb_per_game: float | None = Field(description="thousandths of a big blind per hand, against the whole table")
    half_width_95: float | None = Field(description="half the 95 % interval of mbb_per_game; null with too few hands")
    thinking_s: float = Field(description="time used, as the clocks counted it")
    faults: dict[str, int] = Field(description="how often this player did what wrong")
    first_fault: str | None = Field(description="the first thing this player did wrong, in words")
    exit_code: int | None = Field(description="of the bot's process; null when it ran to the end or is not ours")


class MatchResult(BaseModel):
    """One match."""

    model_config = ConfigDict(frozen=True)

    schema_version: int = SCHEMA_VERSION
    match: str
    game: str
    seed: int
    hands_asked: int
    hands_played: int
    outcome: Literal["finished", "failed", "interrupted"]
    reason: str = Field(description="why the match ended, in one sentence")
    seconds: float
    hands_per_second: float
    folder: str | None = Field(description="where the logs are")
    players: list[PlayerResult]
    sentence: str = Field(description="the result in words")


def result_sentence(players: list[PlayerResult], game: str, hands: int, outcome: str, reason: str) -> str:
    """Say in words who won, by how much and how sure that is."""
    if hands == 0:
        return f"No hand was finished: {reason}"
    early = "" if outcome == "finished" else f" The match ended early: {reason}"
    ranked = sorted(players, key=lambda player: -player.chips)
    best = ranked[0]
    over = ranked[1].name if len(ranked) == 2 else "the table"
    count = f"{hands:,} {'hand' if hands == 1 else 'hands'} of {game}"
    if best.chips - ranked[-1].chips < _LEVEL_CHIPS:
        return f"{best.name} and {over} are level after {count}.{early}"
    rate = best.mbb_per_game or 0.0
    half = best.half_width_95
    if half is None:
        return (
            f"{best.name} is ahead of {over} by {rate:,.0f} mbb/g after {count}, "
            f"too few hands to say anything about strength (at least {FEWEST_HANDS} are needed for an interval).{early}"
        )
    measured = f"{rate:,.0f} ± {half:,.0f} mbb/g (95 %)"
    if rate > half:
        return f"{best.name} beats {over} by {measured} over {count}.{early}"
    needed = _two_digits(hands * (half / rate) ** 2) if rate else 0
    more = f" If the lead is real, about {needed:,} hands would show it." if needed else ""
    return f"{best.name} is ahead of {over} by {measured} after {count}: that may be luck.{more}{early}"


def _two_digits(number: float) -> int:
    """Rounded up to two digits: an estimate should not look like a measurement."""
    unit: int = 10 ** max(0, math.floor(math.log10(number)) - 1)
    return math.ceil(number / unit) * unit
