"""Values of a contest without the luck of the cards, and without that of a known player.

`CorrectedValues` corrects hands during play, for stop rules that look at corrected scores. `fitted_deals` corrects the
logs of a finished contest, for its result. `dealer.run.tally` counts the chips won in either case.

AIVAT by the values of a strategy takes 1 to 50 ms a hand, so no dealer computes it. `Valuation` collects the hands of a
contest and passes them to a process of low priority. A stop rule that looks at these scores waits for them.
"""

from __future__ import annotations

import asyncio
from array import array
from collections.abc import Iterable
from itertools import islice
from typing import Final

import numpy as np
from numpy.typing import NDArray

from bots.errors import BotsError
from bots.hand_values import ValuationTask, value_aside
from bots.workers import Workers, local_workers
from dealer.errors import ValuationError
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
_VALUED_AT_ONCE: Final = 32
"""Hands valued by one task: a second or two in no-limit, for which an interrupt may have to wait."""
_POLL_S: Final = 0.05


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
        pending = self._pending
        if not pending:
            return
        self._pending = []
        for record, values in zip(pending, self._correction.values(pending), strict=True):
            # By position in a record, by seat here.
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


# ---- AIVAT


class MatchValues(Watcher):
    """Estimates of the hands of a match.

    Attributes:
        values: estimated chips by seat, hand after hand.
    """

    wants = frozenset({HandFinished})

    def __init__(self, records: Iterable[HandRecord] = ()) -> None:
        """Begin with the hands of an interrupted run."""
        self.values = array("d")
        self.pending = list(records)

    def notice(self, event: Event) -> None:
        if isinstance(event, HandFinished):
            self.pending.append(event.record)


class Valuation:
    """Estimates of the hands of a contest.

    Attributes:
        matches: estimates by match.
        scores: these estimates as scores of deals.
    """

    def __init__(self, plan: ContestPlan, played: DealScores) -> None:
        """Begin with the logged hands of a contest.

        Args:
            played: scores of these hands.

        Raises:
            ValuationError: a log cannot be read.
        """
        self.matches: list[MatchValues] = []
        for index, match_plan in enumerate(plan.match_plans):
            hands = played.hands(index)
            path = plan.record.folder / f"{match_plan.name}.log"
            try:
                # A match without hands may have no log.
                records = list(islice(read_log(path), hands)) if hands else ()
            except (OSError, LogsError) as error:
                raise ValuationError(f"hands cannot be valued: {error}") from error
            self.matches.append(MatchValues(records))
        self.scores = DealScores(plan.game, plan.match_plans, [match.values for match in self.matches])
        self._task = ValuationTask(plan.game, plan.known, plan.max_correction)
        self._workers: Workers | None = None
        self._valuing: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Start to value hands."""
        self._workers = local_workers(1)
        self._valuing = asyncio.create_task(self._value())

    async def settle(self) -> None:
        """Wait until all hands so far have been valued.

        Raises:
            ValuationError: a hand cannot be valued.
        """
        assert self._valuing is not None, "it has been started"
        while any(match.pending for match in self.matches):
            await asyncio.wait([self._valuing], timeout=_POLL_S)
            if self._valuing.done():
                self._valuing.result()

    async def _value(self) -> None:
        assert self._workers is not None
        while True:
            match = max(self.matches, key=lambda match: len(match.pending))
            records = match.pending[:_VALUED_AT_ONCE]
            if not records:
                await asyncio.sleep(_POLL_S)
                continue
            try:
                values = await asyncio.wrap_future(self._workers.submit(value_aside, self._task, records))
            except (BotsError, ImportError) as error:
                raise ValuationError(f"hands cannot be valued: {error}") from error
            match.values.extend(values)
            # Only now, because `settle` waits for an empty list.
            del match.pending[: len(records)]

    async def close(self) -> None:
        """End the process; hands that have not been valued stay so."""
        if self._valuing is not None:
            self._valuing.cancel()
            await asyncio.gather(self._valuing, return_exceptions=True)
        if self._workers is not None:
            await asyncio.to_thread(self._workers.end, at_once=True)
