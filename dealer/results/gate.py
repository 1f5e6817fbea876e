"""A verdict for a build server: does a bot win at least a given rate?

The 95 % interval decides: passed if all of it lies at or above the bound, failed if all of it lies below, undecided
otherwise and with too few hands. The interval is the player's own, so choose the player before the run, not whoever did
best in it.
"""

from __future__ import annotations

import enum
from typing import Any, NamedTuple

from dealer.results.junit import Case
from dealer.results.schema import ContestResult, Interval
from logs.estimation import Rate


class GateVerdict(enum.Enum):
    """What the gate says."""

    PASSED = "passed"
    FAILED = "failed"
    UNDECIDED = "undecided"


class Judgement(NamedTuple):
    """The gate's verdict and why.

    Attributes:
        player: whom it judges. opponent: against whom. min_mbb: the bound.
        verdict: passed, failed or undecided.
        sentence: the same with the figures.
        rate: what the player won; None if no deal is complete.
        deals: in how many deals.
    """

    player: str
    opponent: str
    min_mbb: float
    verdict: GateVerdict
    sentence: str
    rate: Rate | None
    standard_error: float | None
    deals: int

    @property
    def facts(self) -> dict[str, Any]:
        """All of it as JSON has it."""
        return {
            "verdict": self.verdict.value,
            "sentence": self.sentence,
            "player": self.player,
            "opponent": self.opponent,
            "min_mbb": self.min_mbb,
            "mbb_per_game": None if self.rate is None else self.rate.mbb,
            "half_width_95": None if self.rate is None else self.rate.half_width,
            "standard_error": self.standard_error,
            "deals": self.deals,
        }

    @property
    def case(self) -> Case:
        """The test case of a report for build servers."""
        return Case(
            f"{self.player} wins at least {self.min_mbb:g} mbb/g",
            self.sentence if self.verdict is GateVerdict.FAILED else "",
            "undecided" if self.verdict is GateVerdict.UNDECIDED else "",
        )


def judge(result: ContestResult, player: str, min_mbb: float) -> Judgement:
    """Hold a player's result against a bound.

    Args:
        result: of a contest.
        player: its name.
        min_mbb: the bound, in mbb/g.

    Raises:
        KeyError: there is no such player.
    """
    rate = result.rate(player)
    error = next(one.standard_error for one in result.players if one.name == player)
    bound = f"{min_mbb:+,g} mbb/g"
    verdict = GateVerdict.UNDECIDED
    if result.interval is Interval.NONE:
        sentence = f"{player} over {result.opponent_of(player)}: a player learnt, so there is nothing to judge."
    elif rate is None or rate.low is None or rate.high is None:
        who = f"{player} over {result.opponent_of(player)}"
        sentence = f"{who}: too few deals ({result.duplicates:,}) to compare with {bound}."
    else:
        sentence = f"{rate.player} over {rate.opponent}: {rate.text(1)} (95 %)"
        if rate.low >= min_mbb:
            verdict, why = GateVerdict.PASSED, f", at least {bound}."
        elif rate.high < min_mbb:
            verdict, why = GateVerdict.FAILED, f", below {bound}."
        else:
            why = f": the interval contains {bound}; more hands are needed."
        sentence += why
    return Judgement(player, result.opponent_of(player), min_mbb, verdict, sentence, rate, error, result.duplicates)
