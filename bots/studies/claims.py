"""Claims of a publication, and the rule of verdicts.

A claim is

- *refuted* if the interval of our figure and that of the printed one have no point in common,
- *reproduced* if our whole interval differs from the printed figure by less than 20 %, or as much as the claim states,
- *undecided* otherwise, or if nothing was measured.

Intervals hold at 95 %; that of an exact figure is a point. The interval of a printed figure comes from its digits and,
where the publication names a number of runs or hands, from the spread of ours.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass
from math import comb, inf, sqrt
from typing import Final, NamedTuple

from bots.studies.measured import Measured
from logs.document.values import text_of
from logs.estimation import Estimate

_TOLERANCE: Final = 0.2
_MISSES: Final = 0.05


class Verdict(enum.StrEnum):
    REPRODUCED = enum.auto()
    UNDECIDED = enum.auto()
    REFUTED = enum.auto()


class Interval(NamedTuple):
    low: float
    high: float

    @classmethod
    def around(cls, middle: float, half_width: float) -> Interval:
        return cls(middle - half_width, middle + half_width)


def verdict_on(ours: Interval, printed: Interval, accepted: Interval) -> Verdict:
    """Return the verdict on a claim.

    Args:
        ours: our figure.
        printed: the printed figure.
        accepted: where our figure counts as the same.
    """
    if ours.low > printed.high or ours.high < printed.low:
        return Verdict.REFUTED
    if accepted.low <= ours.low and ours.high <= accepted.high:
        return Verdict.REPRODUCED
    return Verdict.UNDECIDED


def verdict_on_table(cells: Sequence[Verdict]) -> Verdict:
    """Return the verdict on the claim that all cells of a printed table are right.

    The claim is reproduced if all cells are, and refuted if more are refuted than chance explains: each interval misses
    its figure in 5 % of all cases.
    """
    if all(cell is Verdict.REPRODUCED for cell in cells):
        return Verdict.REPRODUCED
    refuted = sum(cell is Verdict.REFUTED for cell in cells)
    chances = [
        comb(len(cells), count) * _MISSES**count * (1 - _MISSES) ** (len(cells) - count)
        for count in range(refuted, len(cells) + 1)
    ]
    return Verdict.REFUTED if sum(chances) < _MISSES else Verdict.UNDECIDED


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A claim of a publication.

    Attributes:
        key: name of the claim, such as ``kuhn.records.3``.
        printed: the figure, or a bound such as ``> 0``.
        source: the section and page of the publication.
        measured: the name of our figure; `exact` in its place is an expression. Neither, if it cannot be measured.
        format: of our figure.
        units: the number of runs or hands behind the printed figure, if it is known.
        uncertainty: half the interval of the printed figure beyond its decimals, as a number or an expression. A whole
            number is exact.
        within: how far ours may differ, in place of 20 %, with `within_why`.
        why: a remark on the verdict.
    """

    key: str
    quantity: str
    printed: str
    source: str
    unit: str = ""
    measured: str = ""
    exact: str = ""
    format: str = "g"
    units: int = 0
    uncertainty: str | float = 0.0
    within: float | None = None
    within_why: str = ""
    why: str = ""

    def __post_init__(self) -> None:
        if (self.within is None) is bool(self.within_why):
            raise ValueError(f"{self.key}: a tolerance has a reason, and a reason a tolerance")


class Judged(NamedTuple):
    """A claim with the printed figure and ours as texts, and the verdict."""

    claim: Claim
    printed: str
    ours: str
    verdict: Verdict


def judged(claim: Claim, ours: Measured | None, uncertainty: float = 0.0) -> Judged:
    """Judge a claim.

    Args:
        ours: our figure, if there is one.
        uncertainty: of the printed figure, beyond its decimals and the spread of ours.
    """
    if ours is None:
        return Judged(claim, claim.printed, "not measured", Verdict.UNDECIDED)
    text = text_of(estimate_of(ours), claim.format)
    # A sample without any spread is no exact figure.
    own = Interval.around(ours.mean, ours.half_width or (inf if ours.units else 0.0))
    if claim.printed[0] in "<>":
        bound = float(claim.printed[1:])
        claimed = Interval(bound, inf) if claim.printed[0] == ">" else Interval(-inf, bound)
        return Judged(claim, claim.printed, text, verdict_on(own, claimed, claimed))
    value, shown, half_width = float(claim.printed), claim.printed, uncertainty
    if claim.units:
        half_width += ours.half_width * sqrt(ours.units / claim.units)
    if half_width:
        shown += f" ± {text_of(half_width, claim.format.replace('+', ''))}"
    if "." in claim.printed:
        half_width += 0.5 * 10.0 ** -len(claim.printed.partition(".")[2])
    room = abs(value) * _TOLERANCE if claim.within is None else claim.within
    printed, accepted = Interval.around(value, half_width), Interval.around(value, room)
    return Judged(claim, shown, text, verdict_on(own, printed, accepted))


def estimate_of(figure: Measured) -> Estimate:
    return Estimate(figure.mean, figure.half_width or None)
