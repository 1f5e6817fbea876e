"""A win rate that says whose it is.

A number of mbb/g means nothing without its point of view, and a sign that was flipped once too often looks like any
other result. So a `Rate` carries both names, and the only ways to turn it round are `Rate.flipped` and `Rate.of`.
"""

from __future__ import annotations

from dataclasses import dataclass


def signed(value: float, digits: int = 0) -> str:
    """A gain or a loss for people: ``+1,234.5``.

    Two sides of one sum may differ in the last bit, which must not make 388 of one and -389 of the other.

    Args:
        value: the figure.
        digits: decimal places.
    """
    return f"{round(value, 6):+z,.{digits}f}"


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
        return f"{signed(self.mbb, digits)}{spread} mbb/g"

    def __str__(self) -> str:
        return f"{self.player} over {self.opponent} {self.text()}"
