"""Means of scores with intervals, stop rules and rankings.

A *unit* is the span of one score: a hand, or a deal played in several seatings. Scores are in mbb per game (thousandths
of a big blind per hand), from one player's point of view.

    >>> from logs.estimation import BetterTest, RunningMean
    >>> scores = [120.0, -80.0, 70.0, -30.0] * 100  # won by A from B
    >>> rate = RunningMean(scores).rate("A", "B")
    >>> print(rate)
    A over B +20 ± 8 mbb/g
    >>> print(rate.of("B"))
    B over A -20 ± 8 mbb/g
    >>> test = BetterTest(0, 30, lowest=-1000, highest=1000)
    >>> while test.verdict is None:
    ...     test.add(scores[test.units])
    >>> test.verdict, test.units
    (<Verdict.BETTER: 'better'>, 257)

- `mean`: win rates, bounds of scores, running means with intervals for a fixed number of units or for any moment
- `stopping`: stop rules, the monitor that applies a rule, the test which of two players is better
- `scoreboard`: running means of all players of a contest
- `ranking`: rankings of tournaments by total bankroll and by instant run-off, and the confidence of each place
"""

from logs.errors import StopRuleError
from logs.estimation.mean import (
    MIN_UNITS,
    TAIL_95,
    Z_95,
    AnyTimeMean,
    Bounds,
    Estimate,
    LargestLoss,
    PlainMean,
    Rate,
    RunningMean,
    interval_half_width,
    largest_loss,
    largest_loss_mbb,
    largest_value,
    score_bounds,
)
from logs.estimation.ranking import (
    RankedContest,
    Ranking,
    bootstrap,
    mean_of_contests,
    ranked,
)
from logs.estimation.scoreboard import Scoreboard, estimate_of_best, opponent_of
from logs.estimation.stopping import (
    MIN_UNITS_FOR_WIDTH,
    Better,
    BetterTest,
    FixedDeals,
    IntervalWidth,
    Monitor,
    StopRule,
    Verdict,
    expected_units,
    parse_stop_rule,
)

__all__ = [
    "MIN_UNITS",
    "MIN_UNITS_FOR_WIDTH",
    "TAIL_95",
    "Z_95",
    "AnyTimeMean",
    "Better",
    "BetterTest",
    "Bounds",
    "Estimate",
    "FixedDeals",
    "IntervalWidth",
    "LargestLoss",
    "Monitor",
    "PlainMean",
    "RankedContest",
    "Ranking",
    "Rate",
    "RunningMean",
    "Scoreboard",
    "StopRule",
    "StopRuleError",
    "Verdict",
    "bootstrap",
    "estimate_of_best",
    "expected_units",
    "interval_half_width",
    "largest_loss",
    "largest_loss_mbb",
    "largest_value",
    "mean_of_contests",
    "opponent_of",
    "parse_stop_rule",
    "ranked",
    "score_bounds",
]
