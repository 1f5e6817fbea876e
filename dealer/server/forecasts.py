"""When jobs will start, told from how long the last runs of their games took."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Mapping

from dealer.contest.schedule import number_of_seatings
from dealer.server import ledger
from dealer.server.jobs import ActiveJob
from dealer.server.queue import Forecast, Job, Limits, Slot, forecast
from dealer.server.settings import most_hands
from dealer.server.store import Store
from logs.estimation import FixedHands, parse_stop_rule

__all__ = ["forecasts"]

_LEAST_LEFT_S = 1.0
"""A run that has taken longer than others is expected to end after this time."""


async def forecasts(
    store: Store, jobs: Mapping[int, ActiveJob], waiting: Iterable[Job], slots: Mapping[int, Slot], limits: Limits
) -> dict[int, Forecast]:
    """When each job that waits will start.

    Args:
        store: the database.
        jobs: of which something is left. waiting: the same as the queue sees them.
        slots: what the runs that go on take, by job.
        limits: what may go on.

    Raises:
        StoreError: the database cannot be read.
    """
    per_hand_s = {game: ledger.seconds_per_hand(store, game) for game in {job.row.game for job in jobs.values()}}
    seconds = {number: _seconds(job, per_hand_s[job.row.game]) for number, job in jobs.items()}
    now_s = time.monotonic()
    gone_s = {number: now_s - jobs[number].began_s for number in slots if number in jobs}

    def left_s(number: int) -> float | None:
        all_s = seconds.get(number)
        return None if all_s is None else max(_LEAST_LEFT_S, all_s - gone_s.get(number, 0.0))

    return await asyncio.to_thread(forecast, list(waiting), dict(slots), limits, seconds.get, left_s=left_s)


def _seconds(job: ActiveJob, per_hand_s: float | None) -> float | None:
    """How long a run of a job takes; None if nobody knows."""
    row = job.row
    if per_hand_s is None or not (row.stop is None or isinstance(parse_stop_rule(row.stop), FixedHands)):
        return None
    matches = number_of_seatings(row.seating, job.game.game.num_players)
    return per_hand_s * matches * most_hands(job.game, row.hands, row.stop)
