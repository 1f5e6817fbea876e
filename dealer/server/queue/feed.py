"""What happens on a server, as numbered events: a follower can leave, come back and miss nothing.

    feed.publish("run-changed", run=7, job=3, game="kuhn", state="finished")
    feed.after(last)                # last: the number that was seen last
    await feed.wait(last, 15.0)

    job-changed         job, user, game, state              a job has come, or nothing is left of it
    run-changed         run, job, game, state               a run has started, gone on or ended
    bot-changed         game, bot, version, is_online       a user's bot has come or gone
    standings-changed   game                                the ratings of a game have been fitted
    lost                                                    unseen events are no longer kept: read everything again

The last events are kept in memory. Numbers grow, also over restarts of the server (they begin at its time of start in
microseconds), so a follower that comes back after a restart, or too late, gets ``lost``.
Nothing secret is in an event: what may be shown to whom is the reader's to decide, from `dealer.server.db.records`.
"""

from __future__ import annotations

import time
from collections import deque
from typing import NamedTuple

from dealer.table.loop import Changes


class FeedEvent(NamedTuple):
    """Something that has happened: one of the kinds above, with its fields."""

    kind: str
    fields: dict[str, str | int | bool]


class Feed:
    """The last events of a server."""

    def __init__(self, *, max_events: int = 10_000, first: int | None = None) -> None:
        self._next = time.time_ns() // 1000 if first is None else first
        self._events: deque[tuple[int, FeedEvent]] = deque(maxlen=max_events)
        self._changes = Changes()

    @property
    def last(self) -> int:
        """The number of the last event: who begins with it sees what comes after."""
        return self._next - 1

    def publish(self, kind: str, **fields: str | int | bool) -> None:
        """Notify all readers."""
        self._events.append((self._next, FeedEvent(kind, fields)))
        self._next += 1
        self._changes.notify()

    def after(self, last: int) -> list[tuple[int, FeedEvent]]:
        """The events after a number; where some of them are no longer known, ``lost`` and nothing else."""
        oldest = self._events[0][0] if self._events else self._next
        if not oldest - 1 <= last <= self.last:
            return [(self.last, FeedEvent("lost", {}))]
        return [self._events[at] for at in range(last + 1 - oldest, len(self._events))]

    async def wait(self, last: int, timeout_s: float) -> bool:
        """Wait for an event after a number; returns whether one has come in time."""
        return await self._changes.wait_for(lambda: self.last > last, timeout_s)
