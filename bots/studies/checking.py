"""Compute figures of claims again, and compare them with the stored ones.

Runs and matches have seeds, so the same figures result. Those of long computations are computed for named claims only.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Final, NamedTuple

from bots.studies.claims import Claim, Judged, judged
from bots.studies.measured import Measured, Task
from bots.studies.study import Study

_SHARE: Final = 0.05
"""Maximum difference of a figure to the stored one, in half-widths of its interval. Some were rounded when stored."""
_PRECISION: Final = 1e-5
"""Maximum relative difference of an exact figure."""


class Effort(enum.Enum):
    """Effort of computing a claim's figure again."""

    SECONDS = enum.auto()
    MINUTES = enum.auto()
    NEEDS_RUNS = enum.auto()
    """The computation begins with runs that are not shipped."""
    NOT_MEASURED = enum.auto()


class Checked(NamedTuple):
    """A claim judged by a figure that was computed again.

    Attributes:
        stored: judged by the stored figure.
    """

    stored: Judged
    again: Judged
    is_equal: bool


@dataclass
class Checker:
    """Compute figures of a study, each task once."""

    study: Study
    _figures: dict[Task, Mapping[str, Measured]] = field(default_factory=dict)

    def effort(self, claim: Claim) -> Effort:
        if not claim.exact and claim.measured not in self.study.figures:
            return Effort.NOT_MEASURED
        tasks = [self.study.module.task_of(name) for name in self._names(claim)]
        if None in tasks:
            return Effort.NEEDS_RUNS
        if any(task.is_long for task in tasks):
            return Effort.MINUTES
        return Effort.SECONDS

    def check(self, claim: Claim) -> Checked:
        """Compute the figure of a claim, and everything that its interval needs."""
        figures = {name: self._measured(name) for name in self._names(claim)}
        study = Study(self.study.name, {**self.study.figures, **figures})
        ours = study.evaluated(claim.exact) if claim.exact else figures[claim.measured]
        uncertainty = claim.uncertainty
        if isinstance(uncertainty, str):
            uncertainty = study.evaluated(uncertainty).mean
        again = judged(claim, ours, uncertainty)
        stored = self.study.judged(claim)
        figure = self.study.figures[claim.exact or claim.measured]
        is_equal = again.verdict is stored.verdict and _is_close(ours, figure)
        return Checked(stored, again, is_equal)

    def _names(self, claim: Claim) -> list[str]:
        names = [claim.measured] if claim.measured and not claim.exact else []
        for expression in (claim.exact, claim.uncertainty):
            if isinstance(expression, str):
                names += self.study.names_in(expression)
        return names

    def _measured(self, name: str) -> Measured:
        task = self.study.module.task_of(name)
        if task not in self._figures:
            self._figures[task] = task.function(*task.arguments)
        return self._figures[task][name]


def _is_close(again: Measured, stored: Measured) -> bool:
    room = max(_SHARE * stored.half_width, _PRECISION * abs(stored.mean), _PRECISION**2)
    return abs(again.mean - stored.mean) <= room


def sample(claims: Iterable[tuple[Checker, Claim]], count: int, seed: int) -> Sequence[tuple[Checker, Claim]]:
    """Draw claims whose figures take seconds, in a random order."""
    quick = [(checker, claim) for checker, claim in claims if checker.effort(claim) is Effort.SECONDS]
    return Random(seed).sample(quick, min(count, len(quick)))


def claims_of(study: Study, key: str = "") -> Iterator[Claim]:
    """Claims of a study whose key is or begins with a name, in their order."""
    for group in study.data["claims"]:
        for claim in study.claims_of(group):
            if not key or key in (study.name, study.group_key(group), claim.key):
                yield claim
