"""Values of a contest without the luck of the cards.

`CorrectedValues` corrects hands during play, for stop rules that look at corrected scores. `fitted_deals` corrects the
logs of a finished contest, for its result. `dealer.run.tally` counts the chips won in either case.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from itertools import islice
from typing import Final

import numpy as np
from numpy.typing import NDArray

from dealer.match.events import Event, HandFinished, Watcher
from dealer.run.contest_plan import ContestPlan
from dealer.run.scores import DealScores
from logs import HandRecord
from logs.acpc_log.reader import read_log
from logs.errors import LogsError
from logs.variance.correction import ChanceCorrection, fitted_scores

_AT_ONCE: Final = 32
"""Hands corrected together during play. Players wait for it, a millisecond or two."""
_RESTORED_AT_ONCE: Final = 4096
"""Hands corrected together from a log during play."""


class CorrectedValues(Watcher):
    """Corrected net chips of a match.

    Attributes:
        values: corrected chips by seat, hand after hand, without the hands that wait for `correct`.
    """

    wants = frozenset({HandFinished})

    def __init__(self, correction: ChanceCorrection, records: Iterable[HandRecord] = ()) -> None:
        """Begin with the hands of an interrupted run."""
        self.values = array("d")
        self._correction = correction
        self._pending: list[HandRecord] = []
        for record in records:
            self._take(record, _RESTORED_AT_ONCE)
        self.correct()

    def notice(self, event: Event) -> None:
        if isinstance(event, HandFinished):
            self._take(event.record, _AT_ONCE)

    def _take(self, record: HandRecord, at_once: int) -> None:
        self._pending.append(record)
        if len(self._pending) >= at_once:
            self.correct()

    def correct(self) -> None:
        """Correct the pending hands."""
        pending, self._pending = self._pending, []
        for record, values in zip(pending, self._correction.values(pending) if pending else (), strict=True):
            self.values.extend(value for _, value in sorted(zip(record.seats, values, strict=True)))


def corrected_values(plan: ContestPlan, scores: DealScores) -> list[CorrectedValues]:
    """Correct the logged hands of a contest, by match, up to the number of hands in `scores`.

    Raises:
        OSError: a log cannot be read.
        LogsError: a log is damaged.
    """
    correction = ChanceCorrection(plan.game)
    matches = []
    for index, match_plan in enumerate(plan.match_plans):
        hands = scores.hands(index)
        records: Iterable[HandRecord] = ()
        # A match without hands may have no log.
        if hands:
            records = islice(read_log(plan.record.folder / f"{match_plan.name}.log"), hands)
        matches.append(CorrectedValues(correction, records))
    return matches


def fitted_deals(plan: ContestPlan, scores: DealScores) -> NDArray[np.float64] | None:
    """Return scores without the luck of the cards, each with weights fitted on other deals.

    Args:
        scores: of all logged hands of a finished contest.

    Returns:
        Array of shape (deals, players) in mbb/g. None with too few deals, or if a log cannot be read.
    """
    try:
        values = [match.values for match in corrected_values(plan, scores)]
    except (OSError, LogsError):
        # A log was removed or damaged after the contest. The raw scores do not depend on it.
        return None
    corrected = DealScores(plan.game, plan.match_plans, values)
    raw_deals = np.array(list(scores.in_order()), np.float64)
    corrected_deals = np.array(list(corrected.in_order()), np.float64)
    if not len(raw_deals) or raw_deals.shape != corrected_deals.shape:
        return None
    return fitted_scores(raw_deals, corrected_deals)
