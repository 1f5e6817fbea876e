"""What scores amount to: means and how far they can be trusted, when to stop, who is first.

A *unit* is whatever one score belongs to: a hand, or a deal played in several seatings. Scores are in mbb per hand
(thousandths of a big blind), from the first player's point of view.

- `mean`: the running mean and its intervals, for a fixed number of units and for looking at any time
- `bounds`: how much one hand can win or lose
- `sequential`: the test that says better or not better as soon as it is known
- `stopping`: stop rules as people write them, and the monitor that applies one
- `ranking`: tournaments by total bankroll and by instant run-off, and how sure the places are
"""

from logs.estimation.bounds import largest_loss, largest_value, score_bounds
from logs.estimation.mean import FEWEST_UNITS, Z_95, RunningMean
from logs.estimation.ranking import (
    RankedContest,
    Ranking,
    Standing,
    bootstrap,
    instant_runoff,
    total_bankroll,
)
from logs.estimation.sequential import BetterTest, Progress, Verdict, expected_units
from logs.estimation.stopping import (
    FEWEST_UNITS_OF_WIDTH,
    Better,
    FixedHands,
    IntervalWidth,
    Monitor,
    StopRule,
    StopRuleError,
    parse_stop_rule,
)

__all__ = [
    "FEWEST_UNITS",
    "FEWEST_UNITS_OF_WIDTH",
    "Z_95",
    "Better",
    "BetterTest",
    "FixedHands",
    "IntervalWidth",
    "Monitor",
    "Progress",
    "RankedContest",
    "Ranking",
    "RunningMean",
    "Standing",
    "StopRule",
    "StopRuleError",
    "Verdict",
    "bootstrap",
    "expected_units",
    "instant_runoff",
    "largest_loss",
    "largest_value",
    "parse_stop_rule",
    "score_bounds",
    "total_bankroll",
]
