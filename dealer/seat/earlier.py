"""The hands of an earlier sitting, from the logs of a run that is gone on with."""

from __future__ import annotations

import contextlib
from collections import deque
from typing import Any, Final, NamedTuple

from dealer.library import Run
from logs import HandRecord
from logs.errors import LogError
from logs.hand_source import find

__all__ = ["KEPT_HANDS", "EarlierHands", "earlier_hands"]

KEPT_HANDS: Final = 1000
"""How many hands can be shown again; earlier ones are in the log."""


class EarlierHands(NamedTuple):
    """The hands of the run that were played before: what counts of all, and those that can be shown again."""

    values: list[tuple[int, list[float]]]
    records: deque[HandRecord]


def earlier_hands(run: Run[Any]) -> EarlierHands:
    """The hands of a run that were played before; none of a new one."""
    earlier = EarlierHands([], deque(maxlen=KEPT_HANDS))
    # There are none yet; files that are damaged are found out when the run picks them up.
    with contextlib.suppress(LogError):
        for record in find([run.folder], on_problem=lambda problem: None, times=True).hands():
            earlier.values.append((record.hand_number, _by_seat(record)))
            earlier.records.append(record)
    return earlier


def _by_seat(record: HandRecord) -> list[float]:
    """The values of a hand by seat."""
    values = [0.0] * len(record.seats)
    for seat, value in zip(record.seats, record.values, strict=True):
        values[seat] = value
    return values
