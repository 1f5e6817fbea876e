"""What scores amount to: means and how far they can be trusted, when to stop, who is first.

A *unit* is whatever one score belongs to: a hand, or a deal played in several seatings. Scores are in mbb per game
(thousandths of a big blind per hand), from one player's point of view.

    >>> from logs.estimation import BetterTest, RunningMean
    >>> scores = [120.0, -80.0, 70.0, -30.0] * 100  # what A won from B
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

- `mean`: win rates that name their players, how much one hand can win or lose, the running mean and its interval, for a
  fixed number of units (`RunningMean`) and for looking at any time (`AnyTimeMean`)
- `stopping`: stop rules as people write them, the monitor that applies one, the test of which of two players is better
- `scoreboard`: scores of the players of a contest, counted deal by deal
- `ranking`: tournaments by total bankroll and by instant run-off, and how sure the places are
"""

from logs.errors import StopRuleError
from logs.estimation.mean import (
    MIN_UNITS,
    TAIL_95,
    Z_95,
    AnyTimeMean,
    Bounds,
    Estimate,
    PlainMean,
    Rate,
    RunningMean,
    interval_half_width,
    largest_loss,
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
    "largest_value",
    "mean_of_contests",
    "opponent_of",
    "parse_stop_rule",
    "ranked",
    "score_bounds",
]
