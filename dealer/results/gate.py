"""A verdict for a build server: is a bot at least so good?

The 95 % interval decides: passed when all of it lies at or above the bound, failed when all of it lies below, undecided
in between and with too few hands.
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
        player: his name.
        min_mbb: what he has to reach, in mbb/g.

    Raises:
        KeyError: there is no such player.
    """
    found = next((one for one in result.players if one.name == player), None)
    if found is None:
        raise KeyError(player)
    others = [one.name for one in result.players if one is not found]
    over = others[0] if len(others) == 1 else "the table"
    bound = f"{min_mbb:+,g} mbb/g"
    mean, half = found.mbb_per_game, found.half_width_95
    if mean is None or half is None:
        return Judgement(
            GateVerdict.UNDECIDED,
            f"{player} over {over}: too few hands to hold against {bound} ({result.duplicates:,}).",
        )
    measured = f"{player} over {over}: {mean:+,.1f} ± {half:,.1f} mbb/g (95 %)"
    if mean - half >= min_mbb:
        return Judgement(GateVerdict.PASSED, f"{measured}, at least {bound}.")
    if mean + half < min_mbb:
        return Judgement(GateVerdict.FAILED, f"{measured}, below {bound}.")
    return Judgement(GateVerdict.UNDECIDED, f"{measured}: the interval holds {bound}; more hands are needed.")
