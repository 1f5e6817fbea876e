"""How winnings grow over the hands, in memory that does not grow with them.

A `Curve` keeps the sums after each hand, then after each second, fourth, ... hand: when there are more than
`MOST_POINTS` points, every other one goes and the step doubles. Two curves are joined by setting the second on the end
of the first.

The sums are in big blinds, so that hands of different stakes can lie on one curve.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from logs.estimation.mean import Moments

__all__ = ["MOST_POINTS", "Curve", "Sums"]

MOST_POINTS: Final = 1000


class Sums(NamedTuple):
    """Winnings up to some hand, in big blinds.

    Attributes:
        hands: how many.
        net: over all of them.
        squares: the sum of the squares of what each brought.
        showdown: what hands with a showdown brought.
        adjusted: as net, with all-in hands at their expectation.
    """

    hands: int = 0
    net: float = 0.0
    squares: float = 0.0
    showdown: float = 0.0
    adjusted: float = 0.0

    def plus(self, other: Sums) -> Sums:
        """The sums after these hands and then others."""
        return Sums(
            self.hands + other.hands,
            self.net + other.net,
            self.squares + other.squares,
            self.showdown + other.showdown,
            self.adjusted + other.adjusted,
        )

    @property
    def half_width(self) -> float | None:
        """Half the 95 % interval of net, in big blinds; None with too few hands."""
        half_width = Moments(self.hands, self.net, self.squares).half_width_95
        return None if half_width is None else half_width * self.hands


class Curve:
    """The winnings of one player.

    Attributes:
        points: the sums along the way, in order.
        step: how many hands apart the points are, but where two curves meet.
    """

    __slots__ = ("points", "step")

    def __init__(self) -> None:
        self.points: list[Sums] = []
        self.step = 1

    def add(self, sums: Sums) -> None:
        """Append the sums after some more hands; without any more nothing happens."""
        if self.points and self.points[-1].hands == sums.hands:
            return
        self.points.append(sums)
        self._thin()

    def next_in(self, hands: int) -> int:
        """In how many hands the next point is due.

        Args:
            hands: how many there have been.
        """
        return self.step - hands % self.step

    def merge(self, before: Sums, other: Curve) -> None:
        """Append the curve of hands that followed.

        Args:
            before: the sums after all hands of this curve.
            other: the other curve, from zero.
        """
        if before.hands and (not self.points or self.points[-1].hands < before.hands):
            self.points.append(before)
        self.points += [before.plus(sums) for sums in other.points]
        self.step = max(self.step, other.step)
        self._thin()

    def _thin(self) -> None:
        while len(self.points) > MOST_POINTS:
            self.points = self.points[1::2]
            self.step *= 2
