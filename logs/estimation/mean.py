"""Means with intervals for skewed scores and for scores not yet seen, and win rates that name their players.

The mean of poker scores can depend on rare hands: a bot that wins a little in every hand and loses 200 big blinds once
in 200 looks like a sure winner until the first such loss. No interval from the scores alone is both narrow and right
about events that have not occurred, so there are two:

- The *± 95 % interval* follows the scores and allows for their skewness (`skewed_half_width`).
- The *guaranteed interval* holds for every distribution of scores within the bounds that the stacks set for a score
  (`score_bounds`, `interval_half_width`). Stop rules and gates use it.

`RunningMean` is for a number of units fixed before any result is seen, `AnyTimeMean` for a mean that is looked at while
units are added. docs/confidence.md and research/tables/intervals.md have the measured coverage.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Final, Self, TypeAlias

from engine import Game
from engine.game import MAX_ACTIONS_PER_ROUND


def signed(value: float, digits: int = 0) -> str:
    """Format a gain or a loss for people: ``+1,234.5``."""
    # The results of two opponents can differ in the last bit. Without the inner rounding, one could be shown as 388 and
    # the other as -389.
    return f"{round(value, 6):+z,.{digits}f}"


def chips_in_words(chips: float) -> str:
    """Format a number of chips without a sign: ``1,250``, ``33.33``."""
    return f"{chips:,.2f}".rstrip("0").rstrip(".")


def chips_text(chips: float) -> str:
    """Format chips won or lost with a sign; parts of a split pot have two decimals."""
    return signed(chips, 2).removesuffix(".00")


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean with its intervals.

    Attributes:
        half_width: half the 95 % interval; None with too few units.
        error: standard error; None for fewer than two units.
        guaranteed_half_width: half the guaranteed interval; None with too few units, and without bounds of the scores.
    """

    mean: float
    half_width: float | None = None
    error: float | None = None
    guaranteed_half_width: float | None = None

    def __neg__(self) -> Self:
        # 0.0 - x instead of -x, which would make -0.0 of a mean of 0.
        return replace(self, mean=0.0 - self.mean)

    def times(self, factor: float) -> Self:
        """Convert to another unit of measurement by a factor above 0."""
        return replace(
            self,
            mean=self.mean * factor,
            half_width=_product(self.half_width, factor),
            error=_product(self.error, factor),
            guaranteed_half_width=_product(self.guaranteed_half_width, factor),
        )

    @property
    def guaranteed(self) -> Self:
        """The same mean with the guaranteed interval in place of the 95 % interval."""
        return replace(self, half_width=self.guaranteed_half_width)

    @property
    def decisive_half_width(self) -> float | None:
        """Half the 95 % interval, or the guaranteed one where all scores are equal and have no other."""
        return self.guaranteed_half_width if self.half_width is None else self.half_width

    @property
    def low(self) -> float | None:
        """Lower end of the interval; None without an interval."""
        if self.half_width is None:
            return None
        return self.mean - self.half_width

    @property
    def high(self) -> float | None:
        """Upper end of the interval; None without an interval."""
        if self.half_width is None:
            return None
        return self.mean + self.half_width

    def text(self, digits: int = 0, *, has_plus: bool = True) -> str:
        """Format an estimate in mbb per game, such as ``+12 ± 5 mbb/g``.

        Args:
            has_plus: whether a gain has its sign.
        """
        mean = signed(self.mean, digits) if has_plus else f"{round(self.mean, 6):z,.{digits}f}"
        if self.half_width is None:
            return f"{mean} mbb/g"
        return f"{mean} ± {self.half_width:,.{digits}f} mbb/g"


def _product(value: float | None, factor: float) -> float | None:
    return None if value is None else value * factor


@dataclass(frozen=True, slots=True)
class LargestLoss:
    """The most that a player can lose in one hand, in mbb.

    Attributes:
        is_stack: it is a whole stack, which limit games with deep stacks never take.
    """

    mbb: float
    is_stack: bool


@dataclass(frozen=True, slots=True)
class Rate(Estimate):
    """Winnings of one player from another, in mbb per game (thousandths of a big blind per hand).

    A rate carries both names, because a number alone does not show whose winnings it is. Only ``-`` and `of` change the
    point of view.

    Attributes:
        opponent: the other player, or "the table".
    """

    player: str = field(kw_only=True)
    opponent: str = field(kw_only=True)

    @classmethod
    def from_estimate(cls, estimate: Estimate, player: str, opponent: str) -> Rate:
        """Add the names to an estimate of a player's winnings."""
        return Rate(
            estimate.mean,
            estimate.half_width,
            estimate.error,
            estimate.guaranteed_half_width,
            player=player,
            opponent=opponent,
        )

    def __neg__(self) -> Self:
        return replace(self, mean=0.0 - self.mean, player=self.opponent, opponent=self.player)

    def of(self, player: str) -> Self:
        """Return the rate from the point of view of one of its two players.

        Raises:
            ValueError: the rate has two other players.
        """
        if player == self.player:
            return self
        if player == self.opponent:
            return -self
        raise ValueError(f"a rate of {self.player} over {self.opponent} does not concern {player}")

    def __str__(self) -> str:
        return f"{self.player} over {self.opponent} {self.text()}"


def largest_loss(game: Game) -> int:
    """Return the most chips that a player can lose in one hand."""
    return max(possible_losses(game))


def largest_loss_mbb(game: Game) -> LargestLoss:
    """Return the most that a player can lose in one hand, in mbb."""
    chips = largest_loss(game)
    return LargestLoss(1000 * chips / game.big_blind, chips in game.stacks)


def largest_value(game: Game) -> int:
    """Return an upper bound of the chips that a player can win in one hand."""
    losses = possible_losses(game)
    return sum(losses) - min(losses)


def score_bounds(game: Game) -> tuple[float, float]:
    """Return the lowest and the highest score of a hand, and so of a mean over seatings, in mbb per hand."""
    to_mbb = 1000 / game.big_blind
    return -largest_loss(game) * to_mbb, largest_value(game) * to_mbb


def possible_losses(game: Game) -> list[int]:
    """Return the most chips that each position can lose in one hand, whatever the cards.

    A position wins at most the possible losses of all others together. The tighter these bounds are, the sooner a test
    that is valid for any scores within them can stop (`logs.estimation.stopping`).
    """
    if game.is_limit:
        # A raise leaves room for every player to answer, so a round has fewer raises than actions.
        max_raises = MAX_ACTIONS_PER_ROUND - game.num_players + 1
        highest_bet = max(game.blinds)
        for size, raises in zip(game.raise_sizes, game.max_raises, strict=True):
            highest_bet += size * min(raises, max_raises)
        # The stacks of the others are no bound here. A raise that ends at a short stack can lower the bet (see
        # `engine.betting`), and a player that has already put in more loses it.
        return [min(stack, highest_bet) for stack in game.stacks]
    losses = []
    for position, stack in enumerate(game.stacks):
        # Nobody can be raised beyond the deepest other stack, and unmatched chips come back at the showdown.
        other_stacks = game.stacks[:position] + game.stacks[position + 1 :]
        losses.append(min(stack, max(other_stacks)))
    return losses


Bounds: TypeAlias = tuple[float, float]
"""Lowest and highest possible score, as `logs.estimation.score_bounds` returns them."""
TAIL_95: Final = 0.025
"""Probability that a two-sided 95 % interval lies on one given side of the true mean."""
Z_95: Final = 1.959964
"""Two-sided 95 % point of the normal distribution."""
MIN_UNITS: Final = 100
"""Units below which no interval is given."""
BETS: Final = tuple(4.0**power for power in range(-6, 5))
"""Bets of `AnyTimeMean`, as parts of the range of scores.

For a standard deviation of 0.003 to 0.5 of the range and 100 to 100,000 units, twice as many bets change no width by
more than 5 %.
"""
RELATIVE_ZERO: Final = 1e-8
"""Standard errors below this part of the mean are rounding of equal numbers."""
_SKEWNESS_WEIGHT: Final = 2.0
"""Weight of the term of the skewness in `skewed_half_width`.

A sample is less skewed than the scores where the largest ones are rare. With a weight of 1 the interval of 100 AIVAT
scores of `cfr` against `mfs` held in 0.924 of the samples of research/results/intervals.py.
"""
_MIN_HALF_WIDTH: Final = 1e-6
_SLACK: Final = 1e-9
"""Rounding beyond a bound, as a part of the range; a score can be a mean of equal values."""


def skewed_half_width(error: float, skewness: float, units: int, tail: float = TAIL_95) -> float:
    """Return half the symmetric interval of a mean of skewed scores.

    The Edgeworth expansion of the studentised mean (Hall 1992, "The Bootstrap and Edgeworth Expansion", section 2.6)
    gives the coverage of `z` standard errors to the order of 1 / n; its inverse gives the number of standard errors
    with the wanted coverage. The term of the kurtosis is left out, as it would only narrow the interval, and that of
    the skewness counts twice.

    Args:
        error: standard error of the mean.
        skewness: skewness of the mean, that is, of one unit's score divided by the root of the number of units.
        units: number of units; their part is the difference between the normal and Student's distribution.
        tail: probability of each side.
    """
    z = _normal_point(tail)
    student = (z * z + 1) / (4 * units)
    skewed = skewness * skewness * (z**4 + 2 * z * z - 3) / 18
    return error * z * (1 + student + _SKEWNESS_WEIGHT * skewed)


def interval_half_width(error: float, unseen: float = 0.0, tail: float = TAIL_95) -> float:
    """Return half the interval of a mean, with an allowance for scores that have not occurred.

    It is the value that ``error * Z + unseen * E`` exceeds with probability `tail`, Z normal and E exponential.

    The normal interval alone is too narrow, because rare large scores may not have occurred yet. The bound of Gaffke
    (2005), "Three test statistics for a nonparametric one-sided hypothesis on the mean of a nonnegative variable",
    Mathematical Methods of Statistics 14 (studied by Learned-Miller & Thomas 2019, arXiv 1905.06208) adds one score at
    the bound to the sample and gives every score a random weight of mean 1 with the exponential distribution. The
    weighted sum of the seen scores is approximated here by a normal variable; the added score is the exponential one.

    Equal scores give the rule of three: 3.7 times the distance to the bound, divided by the number of units. With many
    scores that vary, the result approaches the normal interval.

    Args:
        error: standard error of the mean.
        unseen: weight of one more unit, times the distance from the mean to the farther bound; 0 without bounds.
        tail: probability of each side.
    """
    # No bound that is valid for all scores can be much narrower. After n equal scores, a score at the bound may have a
    # probability p with (1 - p)**n = tail. The distance to the bound times p is a lower limit of the half width, and
    # this result is 1.02 times as large after 100 scores and 1.002 times after 1,000.
    exponential_point = -math.log(tail)
    if error <= 1e-6 * unseen:
        return unseen * exponential_point
    ratio = unseen / error
    if ratio < 0.03:
        # Nearly normal: the mean and the variance of the sum give the point with a relative error below 1e-4.
        return error * (ratio + _normal_point(tail) * math.sqrt(1 + ratio * ratio))
    # Newton's method on the logarithm of the upper tail. It is concave, so that steps from above never pass the root.
    point = _normal_point(tail / 2) + ratio * (exponential_point + 1)
    step = -math.inf
    while step < -1e-10 * point:
        # The density of the sum times `ratio`, by completing the square of the convolution:
        # exp(1 / (2 ratio**2) - point / ratio) * P(Z < point - 1 / ratio).
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
    """Return the number of units from which the guaranteed interval is at most this wide.

    Args:
        half_width: half the interval; widths below 1e-6 count as 1e-6.
        sd: standard deviation of a unit's score.
        farther: distance from the mean to the farther bound.
    """
    half_width = max(half_width, _MIN_HALF_WIDTH)
    low = MIN_UNITS
    # Each point of the sum of a normal and an exponential variable is below the sum of their points, so that half the
    # width for each of them is enough.
    high = MIN_UNITS + math.ceil(8 * (Z_95 * sd / half_width) ** 2 + 16 * farther / half_width)
    while low < high:
        units = (low + high) // 2
        if interval_half_width(sd / math.sqrt(units), farther / units) <= half_width:
            high = units
        else:
            low = units + 1
    return low


class RunningMean:
    """Mean and variance of a stream of numbers, in one pass and without cancellation (Welford 1962).

    Attributes:
        bounds: lowest and highest possible number; None if unknown.
        count: numbers added.
        squares: sum of the squared distances from the mean.
        cubes: sum of the cubed distances from the mean; not a number if unknown.
    """

    __slots__ = ("bounds", "count", "cubes", "mean", "squares")

    def __init__(self, values: Iterable[float] = (), bounds: Bounds | None = None) -> None:
        self.bounds = bounds
        self.count = 0
        self.mean = 0.0
        self.squares = 0.0
        self.cubes = 0.0
        for value in values:
            self.add(value)

    @classmethod
    def from_moments(
        cls, count: int, mean: float, squares: float, cubes: float = math.nan, bounds: Bounds | None = None
    ) -> Self:
        """Return the mean of numbers that were added up elsewhere; without `cubes` it has no ± 95 % interval."""
        running = cls(bounds=bounds)
        running.count = count
        running.mean = mean
        # A difference of two sums can be below 0 by a rounding.
        running.squares = max(0.0, squares)
        running.cubes = cubes
        return running

    def add(self, value: float) -> None:
        self.count += 1
        delta = value - self.mean
        step = delta / self.count
        self.mean += step
        square = delta * (value - self.mean)
        # Pébay 2008, "Formulas for robust, one-pass parallel computation of covariances and arbitrary-order
        # statistical moments", of a set and one number.
        # Before the squares, of which the formula needs the old sum.
        self.cubes += step * (square * (self.count - 2) - 3 * self.squares)
        self.squares += square

    @property
    def variance(self) -> float | None:
        """Unbiased variance of the numbers; None for fewer than two."""
        if self.count > 1:
            return self.squares / (self.count - 1)
        return None

    @property
    def standard_deviation(self) -> float | None:
        """Square root of the variance; None for fewer than two numbers."""
        if self.count > 1:
            return math.sqrt(self.squares / (self.count - 1))
        return None

    @property
    def standard_error(self) -> float | None:
        """Standard deviation of the mean, estimated from the numbers; None for fewer than two."""
        if self.count > 1:
            return math.sqrt(self.squares / (self.count - 1) / self.count)
        return None

    @property
    def skewness(self) -> float | None:
        """Mean cube of the numbers' standardised distances from the mean; None if unknown or if they are equal."""
        if math.isnan(self.cubes) or not self._varies:
            return None
        # Rounding of sums can exceed the largest skewness that so many numbers can have.
        limit = math.sqrt(self.count)
        return max(-limit, min(limit, self.cubes * limit / math.pow(self.squares, 1.5)))

    @property
    def _varies(self) -> bool:
        """Differences of the numbers exceed rounding."""
        error = self.standard_error
        return error is not None and error > RELATIVE_ZERO * abs(self.mean)

    def half_width(self, tail: float = TAIL_95) -> float | None:
        """Return half the ± 95 % interval of the mean, which is never wider than the guaranteed one.

        Args:
            tail: probability that the interval lies on one given side of the true mean.

        Returns:
            None below `MIN_UNITS`, and for equal numbers, which do not show how far others could be.
        """
        error = self.standard_error
        skewness = self.skewness
        if error is None or skewness is None or self.count < MIN_UNITS:
            return None
        half_width = skewed_half_width(error, skewness / math.sqrt(self.count), self.count, tail)
        guaranteed = self.guaranteed_half_width(tail)
        if guaranteed is None:
            return half_width
        return min(half_width, guaranteed)

    def guaranteed_half_width(self, tail: float = TAIL_95) -> float | None:
        """Return half the interval that holds for every distribution within the bounds.

        Args:
            tail: probability that the interval lies on one given side of the true mean.

        Returns:
            None below `MIN_UNITS` and without bounds.
        """
        error = self.standard_error
        if error is None or self.bounds is None or self.count < MIN_UNITS:
            return None
        lowest, highest = self.bounds
        farther = max(self.mean - lowest, highest - self.mean)
        return min(farther, interval_half_width(error, farther / self.count, tail))

    @property
    def estimate(self) -> Estimate:
        return self.estimate_at(TAIL_95)

    def estimate_at(self, tail: float) -> Estimate:
        """Return the estimate with intervals that lie on one given side of the true mean with probability `tail`."""
        return Estimate(self.mean, self.half_width(tail), self.standard_error, self.guaranteed_half_width(tail))

    def rate(self, player: str, opponent: str) -> Rate | None:
        """Return the mean of scores in mbb per game with the players' names; None without a score."""
        if self.count:
            return Rate.from_estimate(self.estimate, player, opponent)
        return None


class PlainMean(RunningMean):
    """A mean without an interval, for scores whose distribution changes as a player learns."""

    @property
    def standard_error(self) -> None:
        return None

    def half_width(self, tail: float = TAIL_95) -> None:
        return None

    def guaranteed_half_width(self, tail: float = TAIL_95) -> None:
        return None


class AnyTimeMean(RunningMean):
    """A running mean whose intervals hold at all moments together.

    With 95 % probability all of them contain the true mean, however often it is looked at.

    The interval is that of testing by betting (see `logs.estimation.stopping`): the set of all m for which no gambler
    on either side could have become rich by betting against "the mean is m". Half the width is 3.0 to 3.7 standard
    errors, and at least about 5 times the distance to a bound, divided by the number of units.

    Raises:
        ValueError: a score is out of bounds.
    """

    __slots__ = ("_down_logs", "_up_logs")

    bounds: Bounds

    def __init__(self, values: Iterable[float], bounds: Bounds) -> None:
        # For each bet, the sum over scores of log(1 + bet * x), where x is the score's distance from the lowest score
        # (up) or from the highest one (down), as a part of the range.
        # Set before the base class adds the values.
        self._up_logs = [0.0] * len(BETS)
        self._down_logs = [0.0] * len(BETS)
        super().__init__(values, bounds)

    def add(self, value: float) -> None:
        lowest, highest = self.bounds
        above = (value - lowest) / (highest - lowest)
        below = (highest - value) / (highest - lowest)
        if min(above, below) < -_SLACK:
            raise ValueError(f"a score of {value:g} mbb is out of bounds: {lowest:g} to {highest:g}")
        super().add(value)
        for index, bet in enumerate(BETS):
            self._up_logs[index] += math.log1p(bet * above)
            self._down_logs[index] += math.log1p(bet * below)

    def half_width(self, tail: float = TAIL_95) -> float | None:
        """Return the guaranteed half width: no other interval here is valid at every moment."""
        return self.guaranteed_half_width(tail)

    def guaranteed_half_width(self, tail: float = TAIL_95) -> float | None:
        """Return half the interval that is valid at every moment; None below `MIN_UNITS`.

        Args:
            tail: probability that the interval ever lies on one given side of the true mean.
        """
        if self.count < MIN_UNITS:
            return None
        lowest, highest = self.bounds
        scale = highest - lowest
        return max(
            self._margin(self._up_logs, (self.mean - lowest) / scale, tail) * scale,
            self._margin(self._down_logs, (highest - self.mean) / scale, tail) * scale,
        )

    def _margin(self, logs: list[float], mean: float, tail: float) -> float:
        """Return the distance from the mean beyond which smaller means are refuted, as a part of the range.

        Args:
            logs: for each bet, the sum over scores x of log(1 + bet * x), x being the distance from one bound.
            mean: distance of the mean from the same bound, as a part of the range.
        """
        # Stakes of equal size on every bet start with a wealth of 1 in all. At odds that are fair for a mean of m, a
        # stake is multiplied by (1 + bet * x) / (1 + bet * m) with each score x. A total wealth of 1 / tail refutes m.
        log_target = math.log(len(BETS)) - math.log(tail)
        low = 0.0
        high = max(0.0, mean)
        # 40 halvings reach 1e-12 of the range. `low` stays below the limit, so rounding widens the interval.
        for _ in range(40):
            middle = (low + high) / 2
            log_stakes = [log - self.count * math.log1p(bet * middle) for log, bet in zip(logs, BETS, strict=True)]
            largest = max(log_stakes)
            # The largest stake is taken out of the sum, as exp() of a long match would overflow.
            log_wealth = largest + math.log(math.fsum(math.exp(log_stake - largest) for log_stake in log_stakes))
            if log_wealth >= log_target:
                low = middle
            else:
                high = middle
        return mean - low
