"""The values of a contest without the luck of the cards: a second look at the same hands.

For a rule that stops the contest hands come during play, or, for those that an interrupted run had played, from the
log; a few at a time are corrected together. For a result alone, `fitted_deals` corrects what the logs hold once all is
played. The chips that were won are counted elsewhere (`dealer.run.tally`) all the same.
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
"""Hands corrected together: a millisecond or two, for which players hardly wait."""
_RESTORED_AT_ONCE: Final = 4096


class CorrectedValues(Watcher):
    """The corrected net chips of one match.

    Attributes:
        values: by seat, hand after hand, except for the hands that `correct` has yet to look at.
    """

    wants = frozenset({HandFinished})

    def __init__(self, correction: ChanceCorrection, records: Iterable[HandRecord] = ()) -> None:
        """Begin with the hands that an interrupted run had played."""
        self.values = array("d")
        self._correction = correction
        self._pending: list[HandRecord] = []
        for record in records:
            self._take(record, _RESTORED_AT_ONCE)
        self.correct()

    def notice(self, event: Event) -> None:
        """Count the next hand."""
        if isinstance(event, HandFinished):
            self._take(event.record, _AT_ONCE)

    def _take(self, record: HandRecord, at_once: int) -> None:
        self._pending.append(record)
        if len(self._pending) >= at_once:
            self.correct()

    def correct(self) -> None:
        """Correct all hands that have come."""
        pending, self._pending = self._pending, []
        for record, values in zip(pending, self._correction.values(pending) if pending else (), strict=True):
            self.values.extend(value for _, value in sorted(zip(record.seats, values, strict=True)))


def corrected_values(plan: ContestPlan, scores: DealScores) -> list[CorrectedValues]:
    """The corrected values of as many hands of the logs of a contest as have scores, by match.

    Raises:
        OSError: a log cannot be read.
        LogsError: a log is damaged.
    """
    correction = ChanceCorrection(plan.game)
    logs = [plan.record.folder / f"{match_plan.name}.log" for match_plan in plan.match_plans]
    return [
        CorrectedValues(correction, islice(read_log(log), hands) if (hands := scores.hands(index)) else ())
        for index, log in enumerate(logs)
    ]


def fitted_deals(plan: ContestPlan, scores: DealScores) -> NDArray[np.float64] | None:
    """The scores of a contest that was played, without the luck of the cards, with weights fitted on other deals.

    Args:
        scores: of all its hands, which are in its logs.

    Returns:
        shape (deals, players), in mbb/g; None with too few deals, or where the logs cannot be read any more.
    """
    try:
        corrected = DealScores(
            plan.game, plan.match_plans, [of_match.values for of_match in corrected_values(plan, scores)]
        )
    except (OSError, LogsError):
        # The logs have been taken away, or damaged, since they were written: the result is what was won.
        return None
    raw, less_luck = (np.array(list(book.in_order()), np.float64) for book in (scores, corrected))
    return fitted_scores(raw, less_luck) if len(raw) and raw.shape == less_luck.shape else None
