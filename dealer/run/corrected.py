"""The scores of a contest without the luck of the cards: a second look at the same hands.

For a rule that stops the contest hands come by `watcher`, or, for those that an interrupted run had played, by
`restore`; a few at a time are corrected together. For a result alone, `fitted_deals` corrects what the logs hold once
all is played. The chips that were won are counted elsewhere (`dealer.run.scores`) all the same.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from itertools import islice
from typing import Final

import numpy as np
from numpy.typing import NDArray

from dealer.match.events import Event, HandFinished, Watcher
from dealer.run.plan import ContestPlan
from dealer.run.scores import Scores
from dealer.run.settings import Score
from engine import Game
from logs import HandRecord
from logs.acpc_log.reader import read_log
from logs.errors import LogsError
from logs.variance.correction import ChanceCorrection, fitted_scores, is_cheap

_AT_ONCE: Final = 32
"""Hands corrected together: a millisecond or two, for which players hardly wait."""
_RESTORED_AT_ONCE: Final = 4096


class CorrectedScores:
    """The corrected scores of one contest."""

    def __init__(self, game: Game, scores: Scores) -> None:
        """Start without any hand.

        Args:
            scores: an empty book for them.
        """
        self._scores = scores
        self._correction = ChanceCorrection(game)
        self._pending: list[tuple[int, HandRecord]] = []

    @property
    def scores(self) -> Scores:
        """The book, with all hands that have come."""
        self._correct()
        return self._scores

    def restore(self, slot: int, records: Iterable[HandRecord]) -> None:
        """Start a match with the hands that an interrupted run had played."""
        values = array("d")
        some: list[HandRecord] = []
        for record in records:
            some.append(record)
            if len(some) == _RESTORED_AT_ONCE:
                values.extend(self._by_seat(some))
                some = []
        if some:
            values.extend(self._by_seat(some))
        self._scores.restore(slot, values)

    def watcher(self, slot: int) -> Watcher:
        """Who takes the hands of a match as they end."""
        return _HandWatcher(self, slot)

    def add(self, slot: int, record: HandRecord) -> None:
        """Count the next hand of a match."""
        self._pending.append((slot, record))
        if len(self._pending) >= _AT_ONCE:
            self._correct()

    def _correct(self) -> None:
        pending, self._pending = self._pending, []
        if not pending:
            return
        players = len(pending[0][1].seats)
        values = self._by_seat([record for _, record in pending])
        for at, (slot, _) in enumerate(pending):
            self._scores.add(slot, values[at * players : (at + 1) * players])

    def _by_seat(self, records: list[HandRecord]) -> array[float]:
        """The corrected chips, hand after hand by seat."""
        found = array("d")
        for record, values in zip(records, self._correction.values(records), strict=True):
            of_seats = [0.0] * len(values)
            for seat, value in zip(record.seats, values, strict=True):
                of_seats[seat] = value
            found.extend(of_seats)
        return found


def fitted_deals(plan: ContestPlan, scores: Scores) -> NDArray[np.float64] | None:
    """The scores of a contest that was played, without the luck of the cards, with weights fitted on other deals.

    Args:
        scores: of all its hands, which are in its logs.

    Returns:
        shape (deals, players), in mbb/g; None where the plan has none, they are counted during play, counting takes
        long, or there are too few deals.
    """
    if plan.run.settings.score is Score.CORRECTED or not plan.is_corrected:
        return None
    if not is_cheap(plan.game, scores.hands_played):
        return None
    book = CorrectedScores(plan.game, Scores(plan.game, plan.slots))
    try:
        for index, slot in enumerate(plan.slots):
            book.restore(index, islice(read_log(plan.record.folder / f"{slot.name}.log"), scores.hands(index)))
    except (OSError, LogsError):
        # The logs have been taken away, or damaged, since they were written: the result is what was won.
        return None
    raw, corrected = (np.array(list(one.in_order()), np.float64) for one in (scores, book.scores))
    return fitted_scores(raw, corrected) if len(raw) and raw.shape == corrected.shape else None


class _HandWatcher(Watcher):
    wants = frozenset({HandFinished})

    def __init__(self, corrected: CorrectedScores, slot: int) -> None:
        self._corrected, self._slot = corrected, slot

    def notice(self, event: Event) -> None:
        if isinstance(event, HandFinished):
            self._corrected.add(self._slot, event.record)
