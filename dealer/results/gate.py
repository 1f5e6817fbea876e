"""A verdict for a build server: does a bot win at least a given rate?

The 95 % interval decides: passed if all of it lies at or above the bound, failed if all of it lies below, undecided
otherwise and with too few hands. The interval is the player's own, so choose the player before the run, not whoever did
best in it.
"""

from __future__ import annotations

import enum
from typing import NamedTuple

from dealer.results.schema import ContestResult
from logs.estimation import Rate

__all__ = ["GateVerdict", "Judgement", "judge"]


class GateVerdict(enum.Enum):
    """What the gate says."""

    PASSED = "passed"
    FAILED = "failed"
    UNDECIDED = "undecided"


class Judgement(NamedTuple):
    """The gate's verdict and why.

    Attributes:
        verdict: passed, failed or undecided.
        sentence: the same with the figures.
        rate: what the player won; None if no deal is complete.
        deals: in how many deals.
    """

    verdict: GateVerdict
    sentence: str
    rate: Rate | None
    deals: int


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
    bound = f"{min_mbb:+,g} mbb/g"
    verdict = GateVerdict.UNDECIDED
    if rate is None or rate.low is None or rate.high is None:
        who = f"{player} over {result.opponent_of(player)}"
        sentence = f"{who}: too few hands to compare with {bound} ({result.duplicates:,})."
    else:
        sentence = f"{rate.player} over {rate.opponent}: {rate.text(1)} (95 %)"
        if rate.low >= min_mbb:
            verdict, why = GateVerdict.PASSED, f", at least {bound}."
        elif rate.high < min_mbb:
            verdict, why = GateVerdict.FAILED, f", below {bound}."
        else:
            why = f": the interval contains {bound}; more hands are needed."
        sentence += why
    return Judgement(verdict, sentence, rate, result.duplicates)
