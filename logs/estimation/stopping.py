"""When to stop a match: the rules people write, the monitor that applies one, and the test behind ``better:``.

10000                  after 10,000 deals
    ci=20                  when half the 95 % interval is at most 20 mbb/g
    better:0,30            when it is clear that the first player wins more than 0 mbb/g, or less than 30
    better:0,30,0.01,0.05  the same with these error rates (default 0.05 each)

Stopping when the interval is narrow enough is the sequential fixed-width interval of Chow & Robbins (1965), "On the
asymptotic theory of fixed-width sequential confidence intervals for the mean", Annals of Mathematical Statistics 36:
because the moment depends on the spread and hardly on the mean, the ordinary interval keeps its 95 % there. The rule
never stops before `MIN_UNITS_FOR_WIDTH` units, because a spread that happens to look small early would stop it at
once. The interval allows for what was never seen (see `logs.estimation.mean`), so it does not become narrow before the
scores have shown enough. How often it holds the true mean at the stop, on the populations of the tests (1,000 runs
each, a width for which the normal interval takes 5,000 units):

    normal                                      0.968
    even all-ins                                0.960
    rare loss                                   0.947
    rare win                                    0.947
    rarer loss                                  0.958
    no-limit, shoving against tight             0.954
    no-limit duplicates, tight against calling  0.982
    limit, raising against tight                0.964
    leduc no-limit, careless against calling    0.945

A verdict of ``better:`` is that of `BetterTest`, whose error rates hold for all of these.

**Is A better than B?** `BetterTest` may be looked at after every unit and stops as soon as there is an answer.
There are two opposite claims: the mean score is at most LOW, and it is at least HIGH. The test ends with `BETTER`
when it refutes the first and with `NOT_BETTER` when it refutes the second. It is wrong with probability at most alpha
when the mean is at most LOW (decision: better), and at most beta when the mean is at least HIGH (decision: not better),
however often it is looked at and whatever the scores are like, as long as they stay within the bounds it is given.

How: a gambler who doubts that the mean is at most LOW bets against it, unit by unit, at odds that would be fair if it
were true. The gambler starts with 1 and stakes so little that no single score is ruinous: after a score x the wealth is
multiplied by 1 + bet * (x - LOW). If the claim is true the wealth cannot be expected to grow, and the probability that
it ever reaches 1 / alpha is at most alpha (Ville 1939). A second gambler bets against "the mean is at least HIGH" with
factors 1 + bet * (HIGH - x). The first to have 1 / alpha (the second: 1 / beta) has refuted its claim. This is testing
by betting as in Waudby-Smith & Ramdas (2024), "Estimating means of bounded random variables by betting", Journal of the
Royal Statistical Society B 86.

The claim is about every unit *given the units before*: bots may learn, and cards need not be independent.

The size of the bets decides only how soon the test ends, never whether it is right, provided that a bet depends on
earlier scores alone. The bet that grows fastest when the mean is LOW + e is close to e / (s**2 + e**2), s being the
standard deviation of the scores; for e = HIGH - LOW the logarithm of the wealth then moves like Wald's likelihood ratio
(1945) of two normal distributions. A gambler does not know how lopsided the match is, and so divides the wealth among
the e of `MULTIPLES`, most of it on the smallest (Robbins' method of mixtures, 1970): an even match costs little more
than with the smallest alone, and a lopsided one ends early.

The spread s is what earlier scores show, plus one score halfway to the bound that never happened, so that a bot that
has not yet been seen to lose its stack is not bet on as if it never could.

What it costs, measured on the populations of the tests with error rates of 0.05 (1000 matches each, looked at after
every unit; HIGH - LOW such that Wald's test with a known spread takes 2000 units when the mean is LOW or HIGH, and a
test that looks only once takes 4084): how often it was wrong at a mean of LOW and at a mean of HIGH, and its mean
number of units at LOW, at HIGH, halfway, and at LOW + 5 (HIGH - LOW), as multiples of Wald's 2000.

                                                  wrong at             units at
    scores                                      LOW   HIGH     LOW   HIGH   half   far
    normal                                    0.056  0.045    1.10   1.03   1.91  0.10
    limit hold'em, raising against tight      0.040  0.050    1.14   1.14   2.12  0.08
    Leduc without limit                       0.052  0.035    1.21   1.13   2.33  0.07
    even, 200 blinds at stake in 1 % of hands 0.047  0.045    1.29   1.27   2.52  0.12
    all-in in 5 % of hands, else folding      0.041  0.047    1.28   1.35   3.74  0.11
    duplicates of no-limit hold'em            0.025  0.022    1.43   1.45   2.08  0.23
    loses 200 blinds in 1 % of hands          0.043  0.034    0.86   1.69   1.82  0.14
    loses 200 blinds in 0.37 % of hands       0.042  0.031    1.08   1.64   1.82  0.20

(1000 matches show an error rate to 0.007. The duplicates cost more because their scores keep so far within the bounds;
with a HIGH - LOW for which Wald's test takes 20,000 units it is 1.07 and 1.14.)
"""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from engine.errors import quoted
from logs.errors import StopRuleError
from logs.estimation.mean import MIN_UNITS, Z_95, Bounds, RunningMean, units_for_half_width

MULTIPLES = (1.0, 2.0, 4.0, 8.0, 16.0)
"""The edges that are bet on, in units of HIGH - LOW."""
WEIGHTS = (0.6, 0.2, 0.1, 0.06, 0.04)
"""How the wealth is divided among them at the start. Measured: a weight of 0.5 on the first costs 0.05 of Wald's units
more at a mean of LOW or HIGH; the last one brings the test down to one or two hundredths of them at a mean of
LOW + 20 (HIGH - LOW)."""
CAPS = tuple(multiple / (multiple + 1) for multiple in MULTIPLES)
"""The largest part of its wealth that a gambler risks in one unit, for each multiple. Where the bounds are wide and the
spread is small all bets end here, and only the caps differ: a careful one survives rare big losses (with 0.75 for all,
1 loss of 190 blinds in 1000 hands cost 2.4 times the units of Wald's test instead of 1.6), a bold one is faster without
them."""
_UNSEEN = 0.5
"""How far out the score that never happened lies, as a part of the way to the bound."""
_VANISHED = 1e-300
"""A smaller stake counts as this one: neither has a future."""
_POSTERIOR = (-1.593219, -0.967422, -0.589456, -0.282216, 0.0, 0.282216, 0.589456, 0.967422, 1.593219)
"""The quantiles 1/18, 3/18, ... 17/18 of the normal distribution: nine equally likely places of the true mean."""


class Verdict(enum.Enum):
    """How a test ended."""

    BETTER = "better"
    """The mean is more than LOW."""
    NOT_BETTER = "not better"
    """The mean is less than HIGH."""


class _Forecast(NamedTuple):
    """The distance of the logarithm of a stake to the target, and the mean and the variance of its growth per unit."""

    distance: float
    growth: float
    variance: float


class _Gambler:
    """A gambler who bets against one claim, with a wealth of 1 at the start, until it reaches the target.

    The wealth is kept as it is, not as its logarithm: it never passes the target times the largest single factor, so it
    cannot overflow, and a bet so small as to vanish was lost anyway. (Measured per unit of a `BetterTest`: 1.3 us; with
    logarithms 2.9 us.)
    """

    __slots__ = ("_bets", "_stakes", "target", "wealth")

    def __init__(self, edge: float, reach: float | None, error_rate: float) -> None:
        """Start with an edge of HIGH - LOW in mbb; `reach` is the most that one unit can cost per unit bet, in mbb, or
        None where that does not matter.
        """
        # The edges bet on and the largest bets on them, in mbb and per mbb.
        self._bets = [
            (multiple * edge, math.inf if reach is None else cap / reach)
            for multiple, cap in zip(MULTIPLES, CAPS, strict=True)
        ]
        self._stakes = list(WEIGHTS)
        self.wealth = 1.0
        self.target = 1.0 / error_rate

    def play(self, gain: float, variance: float) -> None:
        """Bet on one unit: `gain` is by how much its score speaks against the claim, in mbb, and `variance` is
        estimated before it.
        """
        stakes = self._stakes
        wealth = 0.0
        for i, (edge, cap) in enumerate(self._bets):
            bet = edge / (variance + edge * edge)
            stakes[i] = stake = stakes[i] * (1.0 + (bet if bet < cap else cap) * gain)
            wealth += stake
        self.wealth = wealth

    def forecast(self, gain: float, variance: float) -> list[_Forecast]:
        """The future of each bet, given the mean gain of a unit to come.

        It goes by log(1 + y) = y - y**2 / 2, which is good for small bets and a little too pessimistic for large ones.
        """
        forecast = []
        for stake, (edge, cap) in zip(self._stakes, self._bets, strict=True):
            bet = min(cap, edge / (variance + edge * edge))
            distance = math.log(self.target) - math.log(max(stake, _VANISHED))
            forecast.append(
                _Forecast(distance, bet * gain - bet * bet * (variance + gain * gain) / 2, bet * bet * variance)
            )
        return forecast


class BetterTest:
    """The test of one match, from the point of view of the player whose scores are added; see the module."""

    def __init__(
        self, low: float, high: float, *, alpha: float = 0.05, beta: float = 0.05, lowest: float, highest: float
    ) -> None:
        """Start a test; all scores are in mbb per hand, and those possible are within `logs.estimation.score_bounds`.

        Raises:
            ValueError: it does not hold that lowest < low < high < highest, or an error rate is not above 0 and at most
                0.5.
        """
        if not lowest < low < high < highest:
            raise ValueError(
                f"a test needs lowest < low < high < highest, not {lowest:g}, {low:g}, {high:g}, {highest:g}"
            )
        if not (0 < alpha <= 0.5 and 0 < beta <= 0.5):
            raise ValueError(f"error rates must be above 0 and at most 0.5, not {alpha:g} and {beta:g}")
        self.low = low
        self.high = high
        self.alpha = alpha
        self.beta = beta
        self.scores = RunningMean()
        self.verdict: Verdict | None = None
        self._lowest = lowest
        self._highest = highest
        # Means of equal values may miss the bound by a rounding.
        self._slack = 1e-9 * (highest - lowest)
        self._unseen = (_UNSEEN * max(low - lowest, highest - high)) ** 2
        self._optimist = _Gambler(high - low, low - lowest, alpha)
        self._pessimist = _Gambler(high - low, highest - high, beta)

    @property
    def units(self) -> int:
        """The number of scores added."""
        return self.scores.count

    def add(self, score: float) -> None:
        """Count a score in mbb per hand; after the verdict it only counts for the mean.

        Raises:
            ValueError: the score is out of bounds, so that the bounds are wrong.
        """
        if not self._lowest - self._slack <= score <= self._highest + self._slack:
            raise ValueError(f"a score of {score:g} mbb is out of bounds: {self._lowest:g} to {self._highest:g}")
        if self.verdict is None:
            variance = self._variance
            self._optimist.play(score - self.low, variance)
            self._pessimist.play(self.high - score, variance)
            if self._optimist.wealth >= self._optimist.target:
                self.verdict = Verdict.BETTER
            elif self._pessimist.wealth >= self._pessimist.target:
                self.verdict = Verdict.NOT_BETTER
        self.scores.add(score)

    @property
    def _variance(self) -> float:
        """The variance of the scores so far and the one that never happened."""
        return (self._unseen + self.scores.squares) / (self.scores.count + 1)

    def expected_more(self) -> int | None:
        """How many more units it will take if the scores continue as before; 0 after the verdict.

        It is the mean of nine forecasts for where the true mean may lie, given what was seen, and costs 0.7 ms.
        (Measured on matches undecided after 400 units, at a mean of LOW or HIGH: forecast 1020 and 1050 units, taken
        1080 and 1050; halfway between, 1110 and 2230, because the nine forecasts still spread over shorter matches.)
        None below `MIN_UNITS` units, when there is no interval.
        """
        if self.verdict is not None:
            return 0
        if self.units < MIN_UNITS:
            return None
        variance = self._variance
        error = math.sqrt(variance / self.units)
        forecasts = [
            _units_to_go(self._optimist, self._pessimist, mean - self.low, self.high - mean, variance)
            for mean in (self.scores.mean + error * quantile for quantile in _POSTERIOR)
        ]
        return max(1, round(sum(forecasts) / len(forecasts)))


def expected_units(
    sd: float,
    *,
    low: float,
    high: float,
    alpha: float,
    beta: float,
    mean: float,
    lowest: float | None = None,
    highest: float | None = None,
) -> int:
    """About how many units a `BetterTest` takes, predicted before it starts from the standard deviation and the mean of
    a score.

    The test takes longest halfway between LOW and HIGH; wide bounds make it longer.

    Raises:
        ValueError: the standard deviation is not above 0.
    """
    if not sd > 0:
        raise ValueError(f"a standard deviation must be above 0, not {sd:g}")
    optimist = _Gambler(high - low, None if lowest is None else low - lowest, alpha)
    pessimist = _Gambler(high - low, None if highest is None else highest - high, beta)
    return max(1, round(_units_to_go(optimist, pessimist, mean - low, high - mean, sd * sd)))


def _units_to_go(optimist: _Gambler, pessimist: _Gambler, gain: float, loss: float, variance: float) -> float:
    """Units until one of the two gamblers has reached the target, at a mean gain for the optimist and the pessimist.

    Either a gambler's bets grow steadily to the target; if both gamblers' do, as with small bets under wide bounds, the
    first one counts, and their rates are added. Or, about halfway between LOW and HIGH, the two bets on the smallest
    edge, which mirror each other there, drift until one of them reaches its target. The sooner of the two counts.
    """
    ours = optimist.forecast(gain, variance)
    theirs = pessimist.forecast(loss, variance)
    rates = 1 / max(1.0, _growing_time(ours)) + 1 / max(1.0, _growing_time(theirs))
    steady = 1 / rates if rates else math.inf
    drift = (ours[0].growth - theirs[0].growth) / 2
    return min(steady, _exit_time(ours[0].distance, theirs[0].distance, drift, ours[0].variance))


def _growing_time(bets: list[_Forecast]) -> float:
    alone = min((bet.distance / bet.growth for bet in bets if bet.growth > 0), default=math.inf)
    if alone == math.inf:
        return alone
    before = 0.0
    after = alone
    for _ in range(20):
        middle = (before + after) / 2
        if sum(math.exp(bet.growth * middle - bet.distance) for bet in bets) < 1:
            before = middle
        else:
            after = middle
    return after


def _exit_time(up: float, down: float, drift: float, variance: float) -> float:
    """The mean time at which a Brownian motion from 0 leaves the interval from -down to up."""
    if drift < 0:
        return _exit_time(down, up, -drift, variance)
    slope = 2 * drift / variance
    if slope * (up + down) < 1e-6:
        return up * down / variance
    up_first = math.expm1(-slope * down) / math.expm1(-slope * (up + down))
    return (up * up_first - down * (1 - up_first)) / drift


MIN_UNITS_FOR_WIDTH = 1000
"""``ci=`` never stops sooner: see the head of this module."""
_SMALLEST_RATE = 1e-9
_DEFAULT_RATE = 0.05


@dataclass(frozen=True, slots=True)
class FixedDeals:
    """Stop after a number of deals, which is above 0 (`StopRuleError` otherwise)."""

    deals: int

    def __post_init__(self) -> None:
        if self.deals < 1:
            raise StopRuleError(f"{self.deals} is not a number of deals above 0")

    def __str__(self) -> str:
        return str(self.deals)


@dataclass(frozen=True, slots=True)
class IntervalWidth:
    """Stop when half the 95 % interval of the first player's score is narrow enough, in mbb per hand: above 0
    (`StopRuleError` otherwise).
    """

    half_width_mbb: float

    def __post_init__(self) -> None:
        if not 0 < self.half_width_mbb < math.inf:
            raise StopRuleError(f"the width must be above 0, not {_text(self.half_width_mbb)}")

    def __str__(self) -> str:
        return f"ci={_text(self.half_width_mbb)}"


@dataclass(frozen=True, slots=True)
class Better:
    """Stop when it is clear that the first player's mean is more than LOW, or less than HIGH, with the error rates of a
    `BetterTest`.

    Raises:
        StopRuleError: LOW is not below HIGH, or an error rate is out of range.
    """

    low_mbb: float
    high_mbb: float
    alpha: float = _DEFAULT_RATE
    beta: float = _DEFAULT_RATE

    def __post_init__(self) -> None:
        if not -math.inf < self.low_mbb < self.high_mbb < math.inf:
            raise StopRuleError(f"LOW must be below HIGH: {_text(self.low_mbb)} is not below {_text(self.high_mbb)}")
        for rate in (self.alpha, self.beta):
            if not _SMALLEST_RATE <= rate <= 0.5:
                raise StopRuleError(f"an error rate must be between {_SMALLEST_RATE:g} and 0.5, not {_text(rate)}")

    def __str__(self) -> str:
        numbers = [self.low_mbb, self.high_mbb]
        if (self.alpha, self.beta) != (_DEFAULT_RATE, _DEFAULT_RATE):
            numbers += [self.alpha, self.beta]
        return "better:" + ",".join(map(_text, numbers))


StopRule: TypeAlias = FixedDeals | IntervalWidth | Better


def parse_stop_rule(text: str) -> StopRule:
    """Read a stop rule; `str` of the result reads back to an equal rule.

    Raises:
        StopRuleError: the text is not one.
    """
    plain = text.strip().lower()
    if plain.startswith("ci="):
        return IntervalWidth(*_numbers(text, plain[3:], 1, 1))
    if plain.startswith("better:"):
        return Better(*_numbers(text, plain[7:], 2, 4))
    if plain.isascii() and plain.isdecimal() and len(plain) <= 18:
        return FixedDeals(int(plain))
    raise StopRuleError(f"{quoted(text)} is not a stop rule")


def _numbers(text: str, listed: str, least: int, most: int) -> list[float]:
    parts = listed.split(",")
    if not least <= len(parts) <= most:
        needed = "one number" if most == 1 else f"{least} to {most} numbers with commas between them"
        raise StopRuleError(f"{quoted(text)} needs {needed} and has {len(parts)}")
    try:
        return [float(part) for part in parts]
    except ValueError:
        raise StopRuleError(f"{quoted(text)} contains something that is not a number") from None


def _text(number: float) -> str:
    return repr(float(number)).removesuffix(".0")


class Monitor:
    """Watches the scores of a match for a stop rule, from the first player's point of view: "A over B".

    Once `is_decided`, there is a reason to stop, which remains.
    """

    def __init__(self, rule: StopRule, bounds: Bounds) -> None:
        """Begin with the bounds of `logs.estimation.score_bounds`.

        Raises:
            StopRuleError: the rule asks about scores that are out of the game's bounds.
        """
        self.rule = rule
        self.is_decided = False
        self._bounds = bounds
        self._test: BetterTest | None = None
        lowest, highest = bounds
        if isinstance(rule, Better):
            if not (lowest < rule.low_mbb and rule.high_mbb < highest):
                raise StopRuleError(
                    f"{rule} is out of reach: all scores of this game are between {lowest:,.0f} and "
                    f"{highest:,.0f} mbb/g"
                )
            self._test = BetterTest(
                rule.low_mbb, rule.high_mbb, alpha=rule.alpha, beta=rule.beta, lowest=lowest, highest=highest
            )
        self.scores = RunningMean(bounds=bounds) if self._test is None else self._test.scores

    def add(self, score: float) -> None:
        """Count a score of the first player in mbb per hand, in the order of the hands: an order that depends on how
        long hands take would be biased.

        Raises:
            ValueError: for ``better:``, the score is out of bounds.
        """
        if self._test is not None:
            self._test.add(score)
        else:
            self.scores.add(score)
        self.is_decided = self.is_decided or self._decide()

    @property
    def verdict(self) -> Verdict | None:
        """The verdict of ``better:``; None before there is one and for other rules."""
        if self._test is None:
            return None
        return self._test.verdict

    def _decide(self) -> bool:
        rule = self.rule
        scores = self.scores
        match rule:
            case FixedDeals():
                return scores.count >= rule.deals
            case IntervalWidth():
                width = rule.half_width_mbb
                count = scores.count
                # No interval is narrower than the normal one, which costs less.
                if count < MIN_UNITS_FOR_WIDTH or scores.squares > count * (count - 1) * (width / Z_95) ** 2:
                    return False
                half_width = scores.half_width()
                return half_width is not None and half_width <= width
            case Better():
                return self.verdict is not None

    def expected_more(self) -> int | None:
        """How many more units it will take if the scores continue as before; 0 when it is time to stop, None with too
        few scores.
        """
        if self.is_decided:
            return 0
        if self._test is not None:
            return self._test.expected_more()
        if isinstance(self.rule, FixedDeals):
            return self.likely_units(0.0) - self.scores.count
        if self.scores.half_width() is None or self.scores.standard_deviation is None:
            return None
        return max(1, self.likely_units(self.scores.standard_deviation, self.scores.mean) - self.scores.count)

    def likely_units(self, sd: float, mean: float = 0.0) -> int:
        """About how many units the rule takes in all, predicted from the standard deviation of a score.

        For ``ci=`` this is exact if the mean and the standard deviation are. For ``better:`` it is at a mean of LOW or
        HIGH, whichever takes longer; halfway between them it takes up to twice as many, outside of them fewer.
        """
        rule = self.rule
        match rule:
            case FixedDeals():
                return rule.deals
            case IntervalWidth():
                farther = max(mean - self._bounds[0], self._bounds[1] - mean)
                return max(MIN_UNITS_FOR_WIDTH, units_for_half_width(rule.half_width_mbb, sd, farther))
            case Better():
                return max(
                    expected_units(
                        sd,
                        low=rule.low_mbb,
                        high=rule.high_mbb,
                        alpha=rule.alpha,
                        beta=rule.beta,
                        mean=bound,
                        lowest=self._bounds[0],
                        highest=self._bounds[1],
                    )
                    for bound in (rule.low_mbb, rule.high_mbb)
                )
