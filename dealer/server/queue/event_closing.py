"""Close events at their times, rank finished ones, and stop contests of absent bots."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from bots.errors import WorkersError
from dealer.errors import StoreError
from dealer.server.capacity import Limits
from dealer.server.computing import Computing
from dealer.server.db.event_records import (
    EVENT_USER,
    EventState,
    ScheduledEvent,
    close_event,
    dropped_contests,
    due_events,
    open_events,
    store_entering,
    store_standings,
    unranked_events,
)
from dealer.server.db.records import Bot
from dealer.server.db.series_records import add_final, series_of, series_without_final, store_draw
from dealer.server.db.store import Store
from dealer.server.db.users import User, add_user
from dealer.server.event_results import event_standings, played_contests
from dealer.server.queue.event_schedule import find_entrants, plan_event
from dealer.server.queue.job_queue import JobQueue
from dealer.server.queue.jobs import ActiveJob, Running
from dealer.server.queue.presence import Presence
from dealer.server.queue.series_schedule import draw_groups, qualified_bots
from dealer.server.server_settings import ServerGame

_log = logging.getLogger(__name__)
_POLL_S = 1.0
"""Interval of the checks; the database is polled because other programs also add events."""


class Events:
    """Background task that drives the events of a server."""

    def __init__(
        self,
        games: Sequence[ServerGame],
        store: Store,
        queue: JobQueue,
        presence: Presence,
        computing: Computing,
        *,
        limits: Limits,
        reconnect_timeout_s: float,
    ) -> None:
        """Prepare to run.

        Args:
            reconnect_timeout_s: time that a contest waits for a bot in the version that entered.
        """
        self._games = {game.name: game for game in games}
        self._store = store
        self._queue = queue
        self._presence = presence
        self._computing = computing
        self._limits = limits
        self._reconnect_timeout_s = reconnect_timeout_s
        self._entering: dict[int, tuple[Bot, ...]] = {}

    async def run(self) -> None:
        """Check all events at intervals until cancelled."""
        absent_since_s: dict[int, float] = {}
        while True:
            try:
                for event in open_events(self._store):
                    await self._list_entrants(event)
                for event in due_events(self._store):
                    await self._close(await self._draw(event))
                for event in unranked_events(self._store):
                    if event.state is EventState.FINISHED:
                        await self._rank(event)
                for series in series_without_final(self._store):
                    if qualified := qualified_bots(series):
                        await self._store.write(partial(add_final, series=series, names=qualified))
                self._stop_dropped()
            except (StoreError, WorkersError) as error:
                _log.error("no event can be closed or ranked: %s", error)
            absent_since_s = self._stop_absent(absent_since_s)
            await asyncio.sleep(_POLL_S)

    def _stop_absent(self, absent_since_s: dict[int, float]) -> dict[int, float]:
        """Stop contests that have waited too long for a bot; return the start of the wait for each that waits."""
        now_s = time.monotonic()
        waiting: dict[int, float] = {}
        for job in self._queue.active():
            if not job.versions or isinstance(job.state, Running):
                continue
            name = self._queue.absent_player(job)
            if not name:
                continue
            # A job that has not waited at the last check begins a new wait.
            since_s = absent_since_s.get(job.row.id, now_s)
            waiting[job.row.id] = since_s
            if now_s - since_s > self._reconnect_timeout_s:
                reason = f"{name} has not connected in the version that entered"
                self._queue.stop(job, reason, is_run_stopped=False)
        return waiting

    def _stop_dropped(self) -> None:
        """Stop contests that no longer count."""
        reasons = dropped_contests(self._store)
        for job in self._queue.active():
            if job.row.id in reasons:
                self._queue.stop(job, reasons[job.row.id], is_run_stopped=True)

    async def _rank(self, event: ScheduledEvent) -> None:
        played = await asyncio.to_thread(played_contests, self._store, event)
        standings = await self._computing.run(event_standings, event, played)
        await self._store.write(lambda db: store_standings(db, event, standings.model_dump_json()))

    async def _list_entrants(self, event: ScheduledEvent) -> None:
        """Store who enters if the event closes now, for pages and commands."""
        game = self._games.get(event.game)
        if game is None:
            return
        entrants = find_entrants(self._store, event, game, self._presence.version)
        if self._entering.get(event.id) != entrants:
            await self._store.write(lambda db: store_entering(db, event, entrants))
            self._entering[event.id] = entrants

    async def _draw(self, event: ScheduledEvent) -> ScheduledEvent:
        """Draw the groups of a series when the first of them closes; return the event with its bots."""
        series = series_of(self._store, event)
        game = self._games.get(event.game)
        groups = () if series is None else series.groups
        # Read again: the draw of an event that closed just before has named its bots.
        current = next((group for group in groups if group.id == event.id), None)
        if series is None or game is None or current is None:
            return event
        if current.named is not None:
            return current
        entrants = find_entrants(self._store, current, game, self._presence.version)
        drawn = list(zip(groups, draw_groups(self._store, series, entrants), strict=True))
        await self._store.write(lambda db: store_draw(db, drawn))
        return next(replace(group, named=tuple(names)) for group, names in drawn if group is current)

    async def _close(self, event: ScheduledEvent) -> None:
        """Freeze the entrants of an event and add its contests, in one change."""
        game = self._games.get(event.game)
        event_user = User(await self._store.write(lambda db: add_user(db, EVENT_USER)), EVENT_USER)
        decided, entrants, scheduled = plan_event(self._store, event, game, self._limits, self._presence.version)
        contests = [(self._queue.new_job(event_user, request), versions) for request, versions in scheduled]
        rows = await self._store.write(lambda db: close_event(db, decided, entrants, contests))
        # No rows if the event was closed already.
        for row, (_, versions) in zip(rows, contests, strict=False):
            assert game is not None
            self._queue.add(ActiveJob(row, game, versions=versions))
