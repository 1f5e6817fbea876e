"""A verdict for a build server: does a bot win at least a given rate?

The 95 % interval decides: passed if all of it lies at or above the bound, failed if all of it lies below, undecided
otherwise and with too few hands.
"""

from __future__ import annotations

import enum
from typing import NamedTuple

from dealer.results.schema import ContestResult

__all__ = ["GateVerdict", "Judgement", "judge"]


class GateVerdict(enum.Enum):
    """What the gate says."""

    PASSED = "passed"
    FAILED = "failed"
    UNDECIDED = "undecided"


class Judgement(NamedTuple):
    """The gate's verdict and why."""

    verdict: GateVerdict
    sentence: str


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
    if rate is None or rate.low is None or rate.high is None:
        who = f"{player} over {result.opponent_of(player)}"
        few = f"{who}: too few hands to compare with {bound} ({result.duplicates:,})."
        return Judgement(GateVerdict.UNDECIDED, few)
    measured = f"{rate.player} over {rate.opponent}: {rate.text(1)} (95 %)"
    if rate.low >= min_mbb:
        return Judgement(GateVerdict.PASSED, f"{measured}, at least {bound}.")
    if rate.high < min_mbb:
        return Judgement(GateVerdict.FAILED, f"{measured}, below {bound}.")
    return Judgement(GateVerdict.UNDECIDED, f"{measured}: the interval contains {bound}; more hands are needed.")
