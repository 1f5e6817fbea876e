"""A mean and how far it can be trusted, as a win rate that names its players (`Rate`), within the bounds of a game.

Scores of poker hands are bounded by the stacks, and what decides their mean may be rare: a bot that wins a little in
every hand and loses 200 big blinds once in 200 looks like a sure winner until the first such loss. So both intervals
here know how far scores can reach, and allow for what has not been seen:

- `RunningMean` is for a number of units that was fixed before any result was seen. Its interval is the normal one,
  widened by the unseen: the true mean is compared with a sample in which one more score lies at the bound and every
  score, that one too, has a random weight of mean 1, drawn from the exponential distribution (the bound of Gaffke 2005,
  "Three test statistics for a nonparametric one-sided hypothesis on the mean of a nonnegative variable", Mathematical
  Methods of Statistics 14; studied by Learned-Miller & Thomas 2019, arXiv 1905.06208). The weighted sum of the seen
  scores is taken as normal. What is left is the sum of a normal and an exponential variable, and half the interval is
  its 97.5 % point. Scores that were all equal give the rule of three: 3.7 times the distance to the bound, over the
  number of units. With many units that vary, little is left of the difference to the normal interval.
- `AnyTimeMean` may be looked at after every unit, and the look may decide when to stop: with probability 95 % the mean
  lies within *all* the intervals it ever shows, whatever bounded scores do. A gambler who doubts that the mean is at
  most m bets on every score, and could not have become rich if it were (testing by betting, see
  `logs.estimation.stopping`); the interval is the set of all m that no such gambler, on either side, has refuted. The
  half width is 3.0 to 3.7 standard errors, and never less than about 5 times the distance to a bound, over the number
  of units.

How often the interval of `RunningMean` holds the true mean and, in brackets, how often the normal one does, which it
replaces; and how much wider it is in the median. Populations of the tests, 20,000 runs each:

    scores                                      100 units           1,000               3,000
    normal                                      1.000 (0.948) 1.84  0.977 (0.947) 1.17  0.966 (0.948) 1.09
    even all-ins                                1.000 (0.978) 2.15  0.988 (0.953) 1.22  0.972 (0.951) 1.11
    rare loss                                   1.000 (0.633) 2.12  0.968 (0.927) 1.22  0.959 (0.932) 1.11
    rare win                                    1.000 (0.633) 2.12  0.968 (0.927) 1.22  0.959 (0.932) 1.11
    rarer loss                                  1.000 (0.312)  inf  0.977 (0.883) 1.42  0.961 (0.920) 1.21
    no-limit, shoving against tight             1.000 (0.803) 2.15  0.978 (0.949) 1.17  0.967 (0.948) 1.09
    no-limit duplicates, tight against calling  1.000 (0.947) 4.45  0.999 (0.950) 1.72  0.992 (0.950) 1.33
    limit, raising against tight                0.970 (0.946) 1.11  0.954 (0.947) 1.03  0.954 (0.949) 1.02
    leduc no-limit, careless against calling    0.975 (0.948) 1.14  0.956 (0.948) 1.04  0.954 (0.950) 1.02

There is little to gain by another bound. After n equal scores a loss at the bound may have a probability p with
(1 - p)**n = 0.025, so that no interval that holds for all bounded scores is narrower than the distance to the bound
times that p: this one is 1.02 times as wide after 100 scores, 1.002 after 1,000. The interval by betting for a settled
number of units (Waudby-Smith & Ramdas 2024, with their bets for it) is 1.07 to 1.22 times as wide in the median on
the first three populations and on the duplicates, for 1,000 to 10,000 units.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Final, Self, TypeAlias

from engine import Game
from engine.game import MAX_ACTIONS_PER_ROUND


def signed(value: float, digits: int = 0) -> str:
    """A gain or a loss for people: ``+1,234.5``.

    Two sides of one sum may differ in the last bit, which must not make 388 of one and -389 of the other.
    """
    return f"{round(value, 6):+z,.{digits}f}"


def chips_in_words(chips: float) -> str:
    """A number of chips: ``1,250``, ``33.33``."""
    return f"{chips:,.2f}".rstrip("0").rstrip(".")


def chips_text(chips: float) -> str:
    """Chips won or lost for people: parts of a split pot to a hundredth."""
    return signed(chips, 2).removesuffix(".00")


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean and how far it can be trusted.

    Attributes:
        half_width: half its 95 % interval; None with too few units to give one.
        error: its standard error; None for fewer than two units.
    """

    mean: float
    half_width: float | None = None
    error: float | None = None

    def __neg__(self) -> Self:
        return replace(self, mean=0.0 - self.mean)

    def times(self, factor: float) -> Self:
        """The same in another unit; the factor is above 0."""
        half_width, error = (None if one is None else one * factor for one in (self.half_width, self.error))
        return replace(self, mean=self.mean * factor, half_width=half_width, error=error)

    @property
    def low(self) -> float | None:
        """The lower end of the interval; None without one."""
        if self.half_width is None:
            return None
        return self.mean - self.half_width

    @property
    def high(self) -> float | None:
        """The upper end of the interval; None without one."""
        if self.half_width is None:
            return None
        return self.mean + self.half_width

    def text(self, digits: int = 0, *, has_plus: bool = True) -> str:
        """The figures alone, for one in mbb per game: ``+12 ± 5 mbb/g``; ``+12 mbb/g`` without an interval.

        Args:
            has_plus: whether a gain has its sign.
        """
        mean = signed(self.mean, digits) if has_plus else f"{round(self.mean, 6):z,.{digits}f}"
        spread = "" if self.half_width is None else f" ± {self.half_width:,.{digits}f}"
        return f"{mean}{spread} mbb/g"


@dataclass(frozen=True, slots=True)
class Rate(Estimate):
    """What one player wins from another, in mbb per game (thousandths of a big blind per hand).

    A number means nothing without its point of view, so a rate carries both names, and the only ways to turn it round
    are ``-`` and `of`.

    Attributes:
        opponent: who pays them: another player, or "the table".
    """

    player: str = field(kw_only=True)
    opponent: str = field(kw_only=True)

    @classmethod
    def from_estimate(cls, estimate: Estimate, player: str, opponent: str) -> Rate:
        """An estimate of what a player won, with the names."""
        return Rate(estimate.mean, estimate.half_width, estimate.error, player=player, opponent=opponent)

    def __neg__(self) -> Self:
        """The same result from the opponent's point of view."""
        return replace(self, mean=0.0 - self.mean, player=self.opponent, opponent=self.player)

    def of(self, player: str) -> Self:
        """The same result from the point of view of either player.

        Raises:
            ValueError: the rate is about two others.
        """
        if player == self.player:
            return self
        if player == self.opponent:
            return -self
        raise ValueError(f"a rate of {self.player} over {self.opponent} does not concern {player}")

    def __str__(self) -> str:
        return f"{self.player} over {self.opponent} {self.text()}"


def largest_loss(game: Game) -> int:
    """The most chips that a player can lose in one hand."""
    return max(possible_losses(game))


def largest_value(game: Game) -> int:
    """A bound on the chips that a player can win in one hand; some games never pay quite as much."""
    losses = possible_losses(game)
    return sum(losses) - min(losses)


def score_bounds(game: Game) -> tuple[float, float]:
    """The lowest and the highest score in mbb per hand, of a hand and so of any mean over seatings."""
    to_mbb = 1000 / game.big_blind
    return -largest_loss(game) * to_mbb, largest_value(game) * to_mbb


def possible_losses(game: Game) -> list[int]:
    """The most chips that each position can lose in one hand: the most it can be made to put in for good.

    - never more than its stack;
    - in no-limit games never more than the deepest other stack: no player can be raised beyond another's stack, and
      what no player has matched comes back at the showdown;
    - in limit games never more than the largest blind and all raises of all rounds. A raise that ends at a short stack
      can lower the bet there (see `engine.betting`), and then chips above it are lost: other stacks are no bound.

    Winnings come from losses: a position's largest win is at most what all others can lose together. Cards do not
    matter. Tighter bounds end a test that must hold for scores of any shape sooner (`logs.estimation.stopping`).
    """
    if game.is_limit:
        # A raise leaves room for every player to answer, so a round has fewer raises than actions.
        most_raises = MAX_ACTIONS_PER_ROUND - game.num_players + 1
        bets = sum(
            size * min(raises, most_raises) for size, raises in zip(game.raise_sizes, game.max_raises, strict=True)
        )
        highest_bet = max(game.blinds) + bets
        return [min(stack, highest_bet) for stack in game.stacks]
    return [
        min(stack, max(game.stacks[:position] + game.stacks[position + 1 :]))
        for position, stack in enumerate(game.stacks)
    ]


Bounds: TypeAlias = tuple[float, float]
"""The lowest and the highest possible score; see `logs.estimation.score_bounds`."""
TAIL_95: Final = 0.025
"""The probability with which a two-sided 95 % interval lies on one side of the truth."""
Z_95: Final = 1.959964
"""Two-sided 95 % point of the normal distribution."""
MIN_UNITS: Final = 100
"""No interval is given below this number of units: the mean of a few has little precision."""
BETS: Final = tuple(4.0**power for power in range(-6, 5))
"""The bets of `AnyTimeMean`, as parts of the range of scores. For a standard deviation of 0.003 to 0.5 of the range and
100 to 100,000 units, twice as many bets change no width by more than 5 %."""
_NARROWEST: Final = 1e-6
_SLACK: Final = 1e-9
"""Means of equal scores may miss a bound by a rounding, as a part of the range."""


def interval_half_width(error: float, unseen: float = 0.0, tail: float = TAIL_95) -> float:
    """Half an interval: what error * Z + unseen * E exceeds with probability `tail`; Z is normal, E exponential.

    Args:
        unseen: the weight of one more unit, times its distance from the mean at the farther bound; 0 without bounds.
    """
    most = -math.log(tail)
    if error <= 1e-6 * unseen:
        return unseen * most
    ratio = unseen / error
    if ratio < 0.03:
        # Nearly normal: the mean and the variance of the sum are enough, to a part of 1e-4.
        return error * (ratio + _normal_point(tail) * math.sqrt(1 + ratio * ratio))
    # Newton's method on the logarithm of the upper tail, which is concave: from above it never passes the root.
    point = _normal_point(tail / 2) + ratio * (most + 1)
    step = -math.inf
    while step < -1e-10 * point:
        # Completing the square: exp(1 / (2 ratio**2) - point / ratio) * P(Z < point - 1 / ratio), ratio * the density.
        density = math.exp((0.5 / ratio - point) / ratio) * _upper_tail(1 / ratio - point)
        above = _upper_tail(point) + density
        step = math.log(above / tail) * above * ratio / density
        point += step
    return error * point


def _upper_tail(x: float) -> float:
    return math.erfc(x / math.sqrt(2)) / 2


def _normal_point(tail: float) -> float:
    if tail == TAIL_95:
        return Z_95
    from statistics import NormalDist

    return NormalDist().inv_cdf(1 - tail)


def units_for_half_width(half_width: float, sd: float, farther: float) -> int:
    """The fewest units whose 95 % interval is that narrow; as for `_NARROWEST` for anything narrower.

    Args:
        sd: the standard deviation of a unit's score.
        farther: the distance from the mean to the farther bound.
    """
    narrow = max(half_width, _NARROWEST)
    # The sum of a normal and an exponential variable: each point of it is below the sum of their points.
    low = MIN_UNITS
    high = MIN_UNITS + math.ceil(8 * (Z_95 * sd / narrow) ** 2 + 16 * farther / narrow)
    while low < high:
        units = (low + high) // 2
        if interval_half_width(sd / math.sqrt(units), farther / units) <= narrow:
            high = units
        else:
            low = units + 1
    return low


class RunningMean:
    """Mean and variance of a stream of numbers in one pass (Welford 1962): no sum of large squares, nothing cancels.

    Without `bounds`, how far scores can reach, the interval is the normal one. `squares` is the sum of the squared
    distances from the mean.
    """

    __slots__ = ("bounds", "count", "mean", "squares")

    def __init__(self, values: Iterable[float] = (), bounds: Bounds | None = None) -> None:
        self.bounds = bounds
        self.count = 0
        self.mean = 0.0
        self.squares = 0.0
        for value in values:
            self.add(value)

    @classmethod
    def from_moments(cls, count: int, mean: float, squares: float, bounds: Bounds | None = None) -> Self:
        """The mean of so many numbers that were counted elsewhere; rounding may have left `squares` below 0."""
        made = cls(bounds=bounds)
        made.count, made.mean, made.squares = count, mean, max(0.0, squares)
        return made

    def add(self, value: float) -> None:
        """Count a number."""
        self.count += 1
        delta = value - self.mean
        self.mean += delta / self.count
        self.squares += delta * (value - self.mean)

    @property
    def variance(self) -> float | None:
        """The unbiased variance of the numbers; None for fewer than two."""
        if self.count > 1:
            return self.squares / (self.count - 1)
        return None

    @property
    def standard_deviation(self) -> float | None:
        """The root of the variance; None for fewer than two numbers."""
        if self.count > 1:
            return math.sqrt(self.squares / (self.count - 1))
        return None

    @property
    def standard_error(self) -> float | None:
        """The standard deviation of the mean, as the numbers show it; None for fewer than two."""
        if self.count > 1:
            return math.sqrt(self.squares / (self.count - 1) / self.count)
        return None

    def half_width(self, tail: float = TAIL_95) -> float | None:
        """Half an interval of the mean, 95 % or with `tail` the probability of each side; None below `MIN_UNITS`,
        and for equal numbers without bounds.
        """
        error = self.standard_error
        if error is None or self.count < MIN_UNITS:
            return None
        if self.bounds is None:
            if error <= 1e-8 * abs(self.mean):
                return None
            return interval_half_width(error, 0.0, tail)
        lowest, highest = self.bounds
        farther = max(self.mean - lowest, highest - self.mean)
        return min(farther, interval_half_width(error, farther / self.count, tail))

    @property
    def estimate(self) -> Estimate:
        return Estimate(self.mean, self.half_width(), self.standard_error)

    def rate(self, player: str, opponent: str) -> Rate | None:
        """The mean of scores in mbb per game as a `Rate`; None without any."""
        if self.count:
            return Rate(self.mean, self.half_width(), player=player, opponent=opponent)
        return None


class PlainMean(RunningMean):
    """A mean without an interval, for scores that are not drawn from one distribution: a player that learns."""

    @property
    def standard_error(self) -> None:
        return None

    def half_width(self, tail: float = TAIL_95) -> None:
        """None: the error of such a mean is unknown."""
        return None


class AnyTimeMean(RunningMean):
    """A running mean whose interval holds at every moment from `MIN_UNITS` on.

    Raises:
        ValueError: a score is out of bounds.
    """

    __slots__ = ("_down", "_up")

    bounds: Bounds

    def __init__(self, values: Iterable[float], bounds: Bounds) -> None:
        # By bet, the logarithms of 1 + bet * (distance from the lowest, or from the highest) added up.
        self._up = [0.0] * len(BETS)
        self._down = [0.0] * len(BETS)
        super().__init__(values, bounds)

    def add(self, value: float) -> None:
        """Count a score."""
        lowest, highest = self.bounds
        above = (value - lowest) / (highest - lowest)
        below = (highest - value) / (highest - lowest)
        if min(above, below) < -_SLACK:
            raise ValueError(f"a score of {value:g} mbb is out of bounds: {lowest:g} to {highest:g}")
        super().add(value)
        for at, bet in enumerate(BETS):
            self._up[at] += math.log1p(bet * above)
            self._down[at] += math.log1p(bet * below)

    def half_width(self, tail: float = TAIL_95) -> float | None:
        """Half an interval that holds at every moment, `tail` being the probability that the mean ever lies on one
        side; None below `MIN_UNITS`.
        """
        if self.count < MIN_UNITS:
            return None
        lowest, highest = self.bounds
        scale = highest - lowest
        return max(
            self._refuted(self._up, (self.mean - lowest) / scale, tail) * scale,
            self._refuted(self._down, (highest - self.mean) / scale, tail) * scale,
        )

    def _refuted(self, logs: list[float], mean: float, tail: float) -> float:
        """How far from the mean, seen from one bound, a smaller mean has to lie to be refuted; in parts of the range.

        Against "the mean is at most m" a stake of 1 bet on each score x >= 0 at odds fair for a mean of m becomes the
        product of (1 + bet * x) / (1 + bet * m).
        """
        wanted = math.log(len(BETS)) - math.log(tail)
        low = 0.0
        high = max(0.0, mean)
        for _ in range(40):
            middle = (low + high) / 2
            wealth = [log - self.count * math.log1p(bet * middle) for log, bet in zip(logs, BETS, strict=True)]
            most = max(wealth)
            is_refuted = most + math.log(math.fsum(math.exp(one - most) for one in wealth)) >= wanted
            low, high = (middle, high) if is_refuted else (low, middle)
        return mean - low
