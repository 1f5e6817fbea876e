"""Feed of numbered events on a server; a follower can reconnect without missing any.

    feed.publish("run-changed", run=7, job=3, game="kuhn", state="finished")
    feed.after(last)                # last: number of the last event seen
    await feed.wait(last, 15.0)

    job-changed         job, user, game, state              a job was added or has ended
    run-changed         run, job, game, state               a run has started, resumed or ended
    bot-changed         game, bot, version, is_online       a user's bot has connected or disconnected
    standings-changed   game                                the ratings of a game were fitted
    lost                                                    unseen events are no longer kept: read everything again

Recent events are kept in memory. Numbers grow across restarts of the server too, because they begin at the time of its
start in microseconds. A follower that returns after a restart, or too late, gets ``lost``. Events contain no secrets;
readers check permissions for what they then read.
"""

from __future__ import annotations

import time
from collections import deque
from typing import NamedTuple

from dealer.table.loop import Changes


class FeedEvent(NamedTuple):
    """An event of one of the kinds above, with its fields."""

    kind: str
    fields: dict[str, str | int | bool]


class Feed:
    """Recent events of a server."""

    def __init__(self, *, max_events: int = 10_000, first: int | None = None) -> None:
        self._next = time.time_ns() // 1000 if first is None else first
        self._events: deque[tuple[int, FeedEvent]] = deque(maxlen=max_events)
        self._changes = Changes()

    @property
    def last(self) -> int:
        """Number of the last event; a new follower starts here."""
        return self._next - 1

    def publish(self, kind: str, **fields: str | int | bool) -> None:
        """Add an event and wake all followers."""
        self._events.append((self._next, FeedEvent(kind, fields)))
        self._next += 1
        self._changes.notify()

    def after(self, last: int) -> list[tuple[int, FeedEvent]]:
        """Return the events after a number, or only ``lost`` if some of them are no longer kept."""
        oldest = self._events[0][0] if self._events else self._next
        if not oldest - 1 <= last <= self.last:
            return [(self.last, FeedEvent("lost", {}))]
        return [self._events[index] for index in range(last + 1 - oldest, len(self._events))]

    async def wait(self, last: int, timeout_s: float) -> bool:
        """Wait for an event after a number; return False after the timeout."""
        return await self._changes.wait_for(lambda: self.last > last, timeout_s)
