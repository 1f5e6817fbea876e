"""A win rate that says whose it is.

A number of mbb/g means nothing without its point of view, and a sign that was flipped once too often looks like any
other result. So a `Rate` carries both names, and the only ways to turn it round are `Rate.flipped` and `Rate.of`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["Rate", "mean_rate"]


@dataclass(frozen=True, slots=True)
class Rate:
    """What one player wins from another, in mbb per game (thousandths of a big blind per hand).

    Attributes:
        mbb: the mean.
        half_width: half its 95 % interval; None with too few games to give one.
        player: whose winnings they are.
        opponent: who pays them: another player, or "the table".
    """

    mbb: float
    half_width: float | None
    player: str
    opponent: str

    @property
    def low(self) -> float | None:
        """The lower end of the interval; None without one."""
        return None if self.half_width is None else self.mbb - self.half_width

    @property
    def high(self) -> float | None:
        """The upper end of the interval; None without one."""
        return None if self.half_width is None else self.mbb + self.half_width

    def flipped(self) -> Rate:
        """The same result from the opponent's point of view."""
        return Rate(0.0 - self.mbb, self.half_width, self.opponent, self.player)

    def __neg__(self) -> Rate:
        return self.flipped()

    def of(self, player: str) -> Rate:
        """The same result from the point of view of either player.

        Raises:
            ValueError: the rate is about two others.
        """
        if player == self.player:
            return self
        if player == self.opponent:
            return self.flipped()
        raise ValueError(f"a rate of {self.player} over {self.opponent} says nothing about {player}")

    def text(self, digits: int = 0) -> str:
        """The figures alone, such as ``+12 ± 5 mbb/g``; ``+12 mbb/g`` without an interval.

        Args:
            digits: decimal places.
        """
        spread = "" if self.half_width is None else f" ± {self.half_width:,.{digits}f}"
        return f"{self.mbb:+z,.{digits}f}{spread} mbb/g"

    def __str__(self) -> str:
        return f"{self.player} over {self.opponent} {self.text()}"


def mean_rate(rates: Sequence[Rate], opponent: str) -> Rate:
    """A player's mean over independent contests, each counting alike, however long it was.

    The interval is None unless every contest has one.

    Args:
        rates: at least one, all of the same player.
        opponent: whom the mean is against, such as "the field".

    Raises:
        ValueError: there is no rate, or they are of several players.
    """
    players = {rate.player for rate in rates}
    if len(players) != 1:
        raise ValueError(f"a mean is of one player's rates, not of those of {len(players)} players")
    half_widths = [rate.half_width for rate in rates if rate.half_width is not None]
    half_width = math.hypot(*half_widths) / len(rates) if len(half_widths) == len(rates) else None
    return Rate(math.fsum(rate.mbb for rate in rates) / len(rates), half_width, players.pop(), opponent)
