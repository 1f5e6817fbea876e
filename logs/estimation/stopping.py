"""Rules that stop a match, the monitor that applies a rule, and the sequential test of ``better:``.

    10000                  after 10,000 deals
    ci=20                  when half the guaranteed interval is at most 20 mbb/g
    better:0,30            when it is clear that the first player wins more than 0 mbb/g, or less than 30
    better:0,30,0.01,0.05  the same with these error rates (default 0.05 each)

research/tables/intervals.md has the measured error rates of both tests and the number of units that they take.
"""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeAlias

from engine.errors import quoted
from logs.errors import StopRuleError
from logs.estimation.mean import MIN_UNITS, Z_95, Bounds, RunningMean, units_for_half_width

_MULTIPLES: Final = (1.0, 2.0, 4.0, 8.0, 16.0)
"""Edges that a gambler bets on, in units of HIGH - LOW."""
_WEIGHTS: Final = (0.6, 0.2, 0.1, 0.06, 0.04)
"""Shares of the wealth that are bet on the edges at the start.

Measured: a weight of 0.5 on the first edge costs 0.05 of Wald's units more at a mean of LOW or HIGH. The last edge
reduces the test to one or two hundredths of them at a mean of LOW + 20 (HIGH - LOW).
"""
_CAPS: Final = tuple(multiple / (multiple + 1) for multiple in _MULTIPLES)
"""Largest share of a stake that is risked in one unit, by edge.

All bets reach their caps where the bounds are wide and the spread is small. The small cap survives rare big losses
(with 0.75 for all edges, one loss of 190 blinds in 1000 hands cost 2.4 times the units of Wald's test instead of 1.6),
the large caps are faster without such losses.
"""
_UNSEEN_REACH: Final = 0.5
"""Distance of the added score that has not occurred, as a part of the distance to the bound."""
_MIN_STAKE: Final = 1e-300
"""Stakes below this count as this in forecasts, to have a logarithm; neither can recover."""
_POSTERIOR: Final = (-1.593219, -0.967422, -0.589456, -0.282216, 0.0, 0.282216, 0.589456, 0.967422, 1.593219)
"""Nine equally likely values of the true mean: normal quantiles 1/18, 3/18, ... 17/18."""


class Verdict(enum.Enum):
    """Outcome of a `BetterTest`."""

    BETTER = "better"
    """The mean is above LOW."""
    NOT_BETTER = "not better"
    """The mean is below HIGH."""


class _Forecast(NamedTuple):
    """Future of one stake, on a logarithmic scale.

    Attributes:
        distance: logarithm of the target minus that of the stake.
        growth: mean growth of the logarithm per unit.
        variance: variance of this growth.
    """

    distance: float
    growth: float
    variance: float


class _Gambler:
    """A gambler with a wealth of 1 who bets against one claim until the wealth reaches the target.

    Betting uses stakes, not their logarithms, which would take 2.9 us a unit instead of 1.3 us. A stake cannot
    overflow: it never exceeds the target times the largest factor of one unit. A stake that underflows was lost in any
    case.
    """

    __slots__ = ("_bets", "_stakes", "target", "wealth")

    def __init__(self, edge: float, reach: float | None, error_rate: float) -> None:
        """Divide the wealth among the edges.

        Args:
            edge: HIGH - LOW in mbb.
            reach: the most that one unit can cost per unit bet, in mbb; None for no cap.
            error_rate: probability of reaching the target if the claim is true.
        """
        # Pairs of an edge in mbb and the largest bet on it, per mbb.
        self._bets = []
        for multiple, cap in zip(_MULTIPLES, _CAPS, strict=True):
            max_bet = math.inf if reach is None else cap / reach
            self._bets.append((multiple * edge, max_bet))
        self._stakes = list(_WEIGHTS)
        self.wealth = 1.0
        self.target = 1.0 / error_rate

    def play(self, gain: float, variance: float) -> None:
        """Bet on one unit.

        Args:
            gain: evidence of the score against the claim, in mbb.
            variance: variance of a score, estimated from earlier units only.
        """
        # The wealth is multiplied by 1 + bet * gain, whose mean is at most 1 if the claim is true, so that the
        # probability of ever reaching 1 / alpha is at most alpha (Ville 1939).
        stakes = self._stakes
        wealth = 0.0
        for i, (edge, max_bet) in enumerate(self._bets):
            # The bet that grows fastest at a mean gain of `edge`: with it, the logarithm of the wealth moves like
            # Wald's likelihood ratio (1945) of two normal distributions.
            bet = edge / (variance + edge * edge)
            if bet > max_bet:
                bet = max_bet
            stake = stakes[i] * (1.0 + bet * gain)
            stakes[i] = stake
            wealth += stake
        self.wealth = wealth

    def forecast(self, gain: float, variance: float) -> list[_Forecast]:
        """Forecast the stakes, by edge, for units with this mean gain in mbb and this variance."""
        forecasts = []
        for stake, (edge, max_bet) in zip(self._stakes, self._bets, strict=True):
            bet = min(max_bet, edge / (variance + edge * edge))
            distance = math.log(self.target) - math.log(max(stake, _MIN_STAKE))
            # log(1 + y) is taken as y - y**2 / 2, which is accurate for small bets and a little low for large ones.
            growth = bet * gain - bet * bet * (variance + gain * gain) / 2
            forecasts.append(_Forecast(distance, growth, bet * bet * variance))
        return forecasts


class BetterTest:
    """Sequential test whether a player is better; it may be looked at after every unit.

    The test ends with `Verdict.BETTER` when it refutes the claim "the mean score is at most LOW", and with
    `Verdict.NOT_BETTER` when it refutes "the mean score is at least HIGH". It refutes a true claim with a probability
    of at most alpha, or beta for the second claim, whatever the scores are like within the bounds. The claims are about
    each unit given the units before it, so that bots may learn and deals may depend on each other.

    Method: testing by betting, as in Waudby-Smith & Ramdas (2024), "Estimating means of bounded random variables by
    betting", Journal of the Royal Statistical Society B 86. A gambler bets against each claim, at odds that would be
    fair if the claim were true. As the true edge is unknown, the wealth is divided among several edges (Robbins' method
    of mixtures, 1970), with most of it on the smallest one: an even match takes hardly more units than with the
    smallest edge alone, and a lopsided match ends early. The sizes of the bets decide only how soon the test ends; its
    error rates need no more than that a bet depends on earlier scores alone.
    """

    def __init__(
        self, low: float, high: float, *, alpha: float = 0.05, beta: float = 0.05, lowest: float, highest: float
    ) -> None:
        """Start a test; all scores are in mbb per hand, from the point of view of the player that is tested.

        Args:
            lowest: lowest possible score (see `logs.estimation.score_bounds`).
            highest: highest possible score.

        Raises:
            ValueError: not lowest < low < high < highest, or an error rate is not above 0 and at most 0.5.
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
        self._unseen_square = (_UNSEEN_REACH * max(low - lowest, highest - high)) ** 2
        self._optimist = _Gambler(high - low, low - lowest, alpha)
        self._pessimist = _Gambler(high - low, highest - high, beta)

    @property
    def units(self) -> int:
        return self.scores.count

    def add(self, score: float) -> None:
        """Count a score in mbb per hand; after the verdict it counts for the mean only.

        Raises:
            ValueError: the score is outside the bounds of the test.
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
        # Only now: the variance decides the bets on a score, and these must not depend on it.
        self.scores.add(score)

    @property
    def _variance(self) -> float:
        """Variance of a score, from the scores so far and one that has not occurred."""
        # Without the added score, large bets would be placed on a bot that has not lost its stack yet.
        return (self._unseen_square + self.scores.squares) / (self.scores.count + 1)

    def expected_more(self) -> int | None:
        """Forecast how many more units the test takes; 0 after the verdict, None below `MIN_UNITS` units.

        The forecast is the mean over nine values of the true mean that are equally likely given the scores, and takes
        0.7 ms. Measured on matches undecided after 400 units, at a mean of LOW or HIGH: 1020 and 1050 units forecast,
        1080 and 1050 taken. Halfway between them: 1110 forecast, 2230 taken, because the nine values include those with
        shorter matches.
        """
        if self.verdict is not None:
            return 0
        if self.units < MIN_UNITS:
            return None
        variance = self._variance
        error = math.sqrt(variance / self.units)
        forecasts = []
        for quantile in _POSTERIOR:
            mean = self.scores.mean + error * quantile
            forecasts.append(
                _expected_time(self._optimist, self._pessimist, mean - self.low, self.high - mean, variance)
            )
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
    """Forecast the units of a `BetterTest` from the standard deviation and the mean of a score.

    All arguments are in mbb per hand. The test takes longest at a mean halfway between LOW and HIGH; wide bounds make
    it longer.

    Raises:
        ValueError: the standard deviation is not above 0.
    """
    if not sd > 0:
        raise ValueError(f"a standard deviation must be above 0, not {sd:g}")
    optimist = _Gambler(high - low, None if lowest is None else low - lowest, alpha)
    pessimist = _Gambler(high - low, None if highest is None else highest - high, beta)
    return max(1, round(_expected_time(optimist, pessimist, mean - low, high - mean, sd * sd)))


def _expected_time(optimist: _Gambler, pessimist: _Gambler, gain: float, loss: float, variance: float) -> float:
    """Return the expected number of units until one of two gamblers reaches its target.

    Args:
        gain: mean gain of a unit for the optimist, in mbb.
        loss: mean gain of a unit for the pessimist, in mbb.
        variance: variance of a score.
    """
    rising = optimist.forecast(gain, variance)
    falling = pessimist.forecast(loss, variance)
    # The stakes of a gambler may grow steadily. With small bets under wide bounds those of both do, and the first one
    # to reach its target counts, so that the rates are added.
    rates = 1 / max(1.0, _growing_time(rising)) + 1 / max(1.0, _growing_time(falling))
    steady_time = 1 / rates if rates else math.inf
    # Near the middle between LOW and HIGH neither grows. The two stakes on the smallest edge mirror each other there,
    # and drift until one of them is large enough.
    drift = (rising[0].growth - falling[0].growth) / 2
    drifting_time = _exit_time(rising[0].distance, falling[0].distance, drift, rising[0].variance)
    return min(steady_time, drifting_time)


def _growing_time(stakes: list[_Forecast]) -> float:
    """Return the units after which growing stakes add up to the target; infinite if none grows."""
    after = min((stake.distance / stake.growth for stake in stakes if stake.growth > 0), default=math.inf)
    if after == math.inf:
        return after
    before = 0.0
    for _ in range(20):
        middle = (before + after) / 2
        if sum(math.exp(stake.growth * middle - stake.distance) for stake in stakes) < 1:
            before = middle
        else:
            after = middle
    return after


def _exit_time(up: float, down: float, drift: float, variance: float) -> float:
    """Return the mean time at which a Brownian motion from 0 leaves the interval from -down to up."""
    if drift < 0:
        return _exit_time(down, up, -drift, variance)
    slope = 2 * drift / variance
    if slope * (up + down) < 1e-6:
        # The limit without drift, where the formula below would divide 0 by 0.
        return up * down / variance
    up_first = math.expm1(-slope * down) / math.expm1(-slope * (up + down))
    return (up * up_first - down * (1 - up_first)) / drift


MIN_UNITS_FOR_WIDTH: Final = 1000
"""Units before which ``ci=`` never stops, as the spread of few scores can be small by chance."""
_MIN_ERROR_RATE: Final = 1e-9
_DEFAULT_ERROR_RATE: Final = 0.05


@dataclass(frozen=True, slots=True)
class FixedDeals:
    """Stop after a number of deals.

    Raises:
        StopRuleError: the number is not above 0.
    """

    deals: int

    def __post_init__(self) -> None:
        if self.deals < 1:
            raise StopRuleError(f"{self.deals} is not a number of deals above 0")

    def __str__(self) -> str:
        return str(self.deals)


@dataclass(frozen=True, slots=True)
class IntervalWidth:
    """Stop when half the guaranteed interval of the first player's score is at most this wide, in mbb per hand.

    The sequential fixed-width interval of Chow & Robbins (1965), "On the asymptotic theory of fixed-width sequential
    confidence intervals for the mean", Annals of Mathematical Statistics 36. The moment to stop depends on the spread
    of the scores and hardly on their mean, so that the interval keeps its 95 %.

    Raises:
        StopRuleError: the width is not above 0.
    """

    half_width_mbb: float

    def __post_init__(self) -> None:
        if not 0 < self.half_width_mbb < math.inf:
            raise StopRuleError(f"the width must be above 0, not {_text(self.half_width_mbb)}")

    def __str__(self) -> str:
        return f"ci={_text(self.half_width_mbb)}"


@dataclass(frozen=True, slots=True)
class Better:
    """Stop when the first player's mean is clearly above LOW, or clearly below HIGH (see `BetterTest`).

    Raises:
        StopRuleError: LOW is not below HIGH, or an error rate is out of range.
    """

    low_mbb: float
    high_mbb: float
    alpha: float = _DEFAULT_ERROR_RATE
    beta: float = _DEFAULT_ERROR_RATE

    def __post_init__(self) -> None:
        if not -math.inf < self.low_mbb < self.high_mbb < math.inf:
            raise StopRuleError(f"LOW must be below HIGH: {_text(self.low_mbb)} is not below {_text(self.high_mbb)}")
        for rate in (self.alpha, self.beta):
            if not _MIN_ERROR_RATE <= rate <= 0.5:
                raise StopRuleError(f"an error rate must be between {_MIN_ERROR_RATE:g} and 0.5, not {_text(rate)}")

    def __str__(self) -> str:
        numbers = [self.low_mbb, self.high_mbb]
        if (self.alpha, self.beta) != (_DEFAULT_ERROR_RATE, _DEFAULT_ERROR_RATE):
            numbers += [self.alpha, self.beta]
        return "better:" + ",".join(map(_text, numbers))


StopRule: TypeAlias = FixedDeals | IntervalWidth | Better


def parse_stop_rule(text: str) -> StopRule:
    """Parse a stop rule, of which `str` is the inverse.

    Raises:
        StopRuleError: the text is not a stop rule.
    """
    plain = text.strip().lower()
    if plain.startswith("ci="):
        return IntervalWidth(*_numbers(text, plain[3:], 1, 1))
    if plain.startswith("better:"):
        return Better(*_numbers(text, plain[7:], 2, 4))
    if plain.isascii() and plain.isdecimal() and len(plain) <= 18:
        return FixedDeals(int(plain))
    raise StopRuleError(f"{quoted(text)} is not a stop rule")


def _numbers(text: str, listed: str, min_count: int, max_count: int) -> list[float]:
    parts = listed.split(",")
    if not min_count <= len(parts) <= max_count:
        needed = "one number" if max_count == 1 else f"{min_count} to {max_count} numbers with commas between them"
        raise StopRuleError(f"{quoted(text)} needs {needed} and has {len(parts)}")
    try:
        return [float(part) for part in parts]
    except ValueError:
        raise StopRuleError(f"{quoted(text)} contains something that is not a number") from None


def _text(number: float) -> str:
    return repr(float(number)).removesuffix(".0")


class Monitor:
    """Apply a stop rule to the scores of a match, from the first player's point of view.

    Attributes:
        is_decided: whether the rule stops the match; it stays True.
        scores: mean of the scores added.
    """

    def __init__(self, rule: StopRule, bounds: Bounds) -> None:
        """Start without a score; `bounds` are those of `logs.estimation.score_bounds`.

        Raises:
            StopRuleError: LOW or HIGH is beyond the bounds.
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
        """Count a score of the first player in mbb per hand.

        Scores must come in the order of the hands. The order in which hands end would favour short ones.

        Raises:
            ValueError: the score is outside the bounds of a ``better:`` rule.
        """
        if self._test is not None:
            self._test.add(score)
        else:
            self.scores.add(score)
        self.is_decided = self.is_decided or self._decide()

    @property
    def verdict(self) -> Verdict | None:
        """Verdict of ``better:``; None before it, and for other rules."""
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
                # The normal interval is a lower limit of the width and takes less time, and this runs for every deal.
                if count < MIN_UNITS_FOR_WIDTH or scores.squares > count * (count - 1) * (width / Z_95) ** 2:
                    return False
                half_width = scores.guaranteed_half_width()
                return half_width is not None and half_width <= width
            case Better():
                return self.verdict is not None

    def expected_more(self) -> int | None:
        """Forecast how many more units the rule takes; 0 once it is decided, None with too few scores."""
        if self.is_decided:
            return 0
        if self._test is not None:
            return self._test.expected_more()
        if isinstance(self.rule, FixedDeals):
            return self.rule.deals - self.scores.count
        sd = self.scores.standard_deviation
        if self.scores.count < MIN_UNITS or sd is None:
            return None
        return max(1, self.likely_units(sd, self.scores.mean) - self.scores.count)

    def likely_units(self, sd: float, mean: float = 0.0) -> int:
        """Forecast the units of the rule from the standard deviation of a score in mbb per hand.

        For ``ci=`` the forecast is exact if the standard deviation and the mean are exact. For ``better:`` it is the
        larger one of the forecasts for a mean of LOW and of HIGH. A match with a mean between them takes up to twice as
        many units, a match with a mean beyond them fewer.
        """
        rule = self.rule
        lowest, highest = self._bounds
        match rule:
            case FixedDeals():
                return rule.deals
            case IntervalWidth():
                farther = max(mean - lowest, highest - mean)
                return max(MIN_UNITS_FOR_WIDTH, units_for_half_width(rule.half_width_mbb, sd, farther))
            case Better():
                forecasts = [
                    expected_units(
                        sd,
                        low=rule.low_mbb,
                        high=rule.high_mbb,
                        alpha=rule.alpha,
                        beta=rule.beta,
                        mean=assumed_mean,
                        lowest=lowest,
                        highest=highest,
                    )
                    for assumed_mean in (rule.low_mbb, rule.high_mbb)
                ]
                return max(forecasts)
