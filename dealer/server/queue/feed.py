"""What happens on a server, as numbered events: a follower can leave, come back and miss nothing.

    feed.publish(RunEndedEvent(job=3, run=7, ...))
    feed.after(last)                # last: the number that was seen last
    await feed.wait(last, 15.0)

The last events are kept in memory. Numbers grow, also over restarts of the server (they begin at its time of start in
microseconds), so a follower that comes back after a restart, or too late, gets `Lost` and reads everything once more.
Nothing secret is in an event: what may be shown to whom is the reader's to decide, from `dealer.server.db.records`.
"""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass
from typing import TypeAlias

from dealer.table.loop import Changes


@dataclass(frozen=True, slots=True)
class JobChanged:
    """A job has come, or nothing is left of it; `state` is one of `dealer.server.db.run_changes.JobState`."""

    job: int
    user: str
    game: str
    state: str


@dataclass(frozen=True, slots=True)
class RunChanged:
    """A run has started, gone on or ended; `state` is one of `dealer.server.db.run_changes.RunState`."""

    run: int
    job: int
    game: str
    state: str


@dataclass(frozen=True, slots=True)
class BotChanged:
    """A user's bot has come or gone."""

    game: str
    bot: str
    version: int
    is_online: bool


@dataclass(frozen=True, slots=True)
class StandingsChanged:
    """The ratings of a game have been fitted."""

    game: str


@dataclass(frozen=True, slots=True)
class Lost:
    """Events that a follower has not seen are no longer kept: read everything once more."""


FeedEvent: TypeAlias = JobChanged | RunChanged | BotChanged | StandingsChanged | Lost


class Feed:
    """The last events of a server."""

    def __init__(self, *, most_events: int = 10_000, first: int | None = None) -> None:
        self._first = time.time_ns() // 1000 if first is None else first
        self._next = self._first
        self._events: deque[tuple[int, FeedEvent]] = deque(maxlen=most_events)
        self._changes = Changes()

    @property
    def last(self) -> int:
        """The number of the last event: who begins with it sees what comes after."""
        return self._next - 1

    def publish(self, event: FeedEvent) -> int:
        """Notify all readers; returns the number of the event."""
        number = self._next
        self._events.append((number, event))
        self._next += 1
        self._changes.notify()
        return number

    def after(self, last: int) -> list[tuple[int, FeedEvent]]:
        """The events after a number; where some of them are no longer known, `Lost` and nothing else."""
        oldest = self._events[0][0] if self._events else self._next
        if not oldest - 1 <= last <= self.last:
            return [(self.last, Lost())]
        return [self._events[at] for at in range(last + 1 - oldest, len(self._events))]

    async def wait(self, last: int, timeout_s: float) -> bool:
        """Wait for an event after a number; returns whether one has come in time."""
        return await self._changes.wait_for(lambda: self.last > last, timeout_s)
