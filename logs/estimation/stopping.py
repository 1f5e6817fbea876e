"""When to stop a match: the rules people write, and the monitor that watches the scores for them.

    10000                  after 10,000 hands
    ci=20                  when half the 95 % interval is at most 20 mbb/g
    better:0,30            when it is known that the first player wins more than 0 mbb/g, or less than 30
    better:0,30,0.01,0.05  the same with these error rates (default 0.05 each)

Stopping when the interval is narrow enough is the sequential fixed-width interval of Chow & Robbins (1965), "On the
asymptotic theory of fixed-width sequential confidence intervals for the mean", Annals of Mathematical Statistics 36:
because the moment depends on the spread and hardly on the mean, the ordinary interval keeps its 95 % there. The rule
never stops before `FEWEST_UNITS_OF_WIDTH` units, because a spread that happens to look small early would stop it at
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

A verdict of ``better:`` is that of `logs.estimation.sequential.BetterTest`, whose error rates hold for all of these.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeAlias

from engine.errors import quoted
from logs.errors import StopRuleError
from logs.estimation.mean import Z_95, Bounds, RunningMean
from logs.estimation.sequential import BetterTest, Verdict, expected_units

FEWEST_UNITS_OF_WIDTH = 1000
"""``ci=`` never stops sooner: see the head of this module."""

_SMALLEST_RATE = 1e-9
_DEFAULT_RATE = 0.05


@dataclass(frozen=True, slots=True)
class FixedHands:
    """Stop after a number of hands.

    Raises:
        StopRuleError: the number is not above 0.
    """

    hands: int

    def __post_init__(self) -> None:
        if self.hands < 1:
            raise StopRuleError(f"{self.hands} is not a number of hands above 0")

    def __str__(self) -> str:
        return str(self.hands)


@dataclass(frozen=True, slots=True)
class IntervalWidth:
    """Stop when half the 95 % interval of the first player's score is narrow enough, in mbb per hand.

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
    """Stop when it is known that the first player's mean is more than LOW, or less than HIGH.

    Attributes:
        low_mbb: LOW in mbb per hand.
        high_mbb: HIGH in mbb per hand.
        alpha: how often "more than LOW" may be said of a player with LOW or less.
        beta: how often "less than HIGH" may be said of a player with HIGH or more.

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


StopRule: TypeAlias = FixedHands | IntervalWidth | Better


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
        return FixedHands(int(plain))
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
    """A number as people write it, exact."""
    return repr(float(number)).removesuffix(".0")


class Monitor:
    """Watches the scores of a match for a stop rule, from the first player's point of view: "A over B".

    Attributes:
        rule: the rule.
        scores: the mean of the scores so far.
        is_decided: whether there is a reason to stop; it remains.
    """

    def __init__(self, rule: StopRule, bounds: Bounds, *, hands_per_unit: int = 1) -> None:
        """Start to watch.

        Args:
            rule: the rule.
            bounds: the lowest and the highest possible score, in mbb per hand; see `logs.estimation.score_bounds`.
            hands_per_unit: how many hands one score belongs to, for rules that count hands.

        Raises:
            StopRuleError: the rule asks about scores that are out of the game's bounds.
        """
        self.rule = rule
        self.is_decided = False
        self._bounds = bounds
        self._hands_per_unit = hands_per_unit
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
        """Count a unit, in the order of the hands: an order that depends on how long hands take would be biased.

        Args:
            score: the first player's, in mbb per hand.

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
        return None if self._test is None else self._test.verdict

    def _decide(self) -> bool:
        rule, scores = self.rule, self.scores
        match rule:
            case FixedHands():
                return scores.count * self._hands_per_unit >= rule.hands
            case IntervalWidth():
                width, count = rule.half_width_mbb, scores.count
                # No interval is narrower than the normal one, which costs less.
                if count < FEWEST_UNITS_OF_WIDTH or scores.squares > count * (count - 1) * (width / Z_95) ** 2:
                    return False
                half_width = scores.half_width_95
                return half_width is not None and half_width <= width
            case Better():
                return self.verdict is not None

    def expected_more(self) -> int | None:
        """How many more units it will take if the scores go on as they did; 0 when it is time to stop.

        None as long as there is too little to go by.
        """
        if self.is_decided:
            return 0
        if self._test is not None:
            return self._test.expected_more()
        if isinstance(self.rule, FixedHands):
            return self.likely_units(0.0) - self.scores.count
        if self.scores.half_width_95 is None or self.scores.standard_deviation is None:
            return None
        return max(1, self.likely_units(self.scores.standard_deviation) - self.scores.count)

    def likely_units(self, sd: float) -> int:
        """About how many units the rule takes in all, predicted before the first.

        For ``better:`` this is at a true mean of LOW or HIGH, whichever takes longer; halfway between them it takes up
        to twice as many, outside of them fewer.

        Args:
            sd: the expected standard deviation of a score, in mbb per hand; for ``better:`` above 0.
        """
        rule = self.rule
        match rule:
            case FixedHands():
                return -(-rule.hands // self._hands_per_unit)
            case IntervalWidth():
                # Of the unseen, about one score at the bound is left where scores vary, 3.7 where they do not.
                unseen = max(map(abs, self._bounds)) / rule.half_width_mbb
                normal = (Z_95 * sd / rule.half_width_mbb) ** 2
                return max(FEWEST_UNITS_OF_WIDTH, math.ceil(max(normal + 2 * unseen, 3.7 * unseen)))
            case Better():
                return max(
                    expected_units(
                        sd,
                        low=rule.low_mbb,
                        high=rule.high_mbb,
                        alpha=rule.alpha,
                        beta=rule.beta,
                        mean=mean,
                        lowest=self._bounds[0],
                        highest=self._bounds[1],
                    )
                    for mean in (rule.low_mbb, rule.high_mbb)
                )
