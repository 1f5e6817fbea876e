"""Match whose hands are played by worker processes, slice by slice (`dealer.run.slice_worker`).

This process writes the files and counts the hands, from the events of the slices in order, so that logs, results and
stops are those of `LocalRun`. With no more workers than matches, a match is a single slice. Otherwise it is cut into
several, and each has new bots, like a match that is resumed. Slices that are played at the same time do not know the
time that the others have used, so a match whose limit on average time is below the default is not cut.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import math
import os
import pickle
import sys
import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from bots.errors import WorkersError
from bots.workers import Workers, local_workers
from dealer.errors import Cause
from dealer.match.causes import Failure, NotWritten, WorkerLost
from dealer.match.events import Audience, BotWrote, Event, FaultSeen, HandClosed, MatchEnded, MatchStarted, Watcher
from dealer.match.setup import DEFAULT_LIMITS, EarlierHands, MatchSetup
from dealer.run.choices import Command
from dealer.run.contest_plan import ContestPlan, MatchPlan
from dealer.run.match_run import MatchRun
from dealer.run.slice_worker import SliceTask, StepReport, close_slice, play_step
from dealer.run.tally import Tally
from dealer.table.players import LearnerFiles
from engine import Seat

_MAX_HANDS: Final = 1000
"""Hands per slice of a match that is cut. Events of a slice wait in memory for the slices before it."""
_MAX_STEPS: Final = 4
"""Steps of a match that is not cut that may wait to be written."""
_MAX_LOSSES: Final = 3
"""Processes that may be lost in a row without playing a hand of a slice."""
_CLOSE_S: Final = 1.0
"""Time for bots to finish before their process is killed."""
_numbers = itertools.count()


class SliceProcesses:
    """Worker processes of this machine. As a context manager, it ends them."""

    def __init__(self, count: int) -> None:
        self.count = count
        self._workers = [local_workers(1) for _ in range(count)]
        self._slices = [0] * count
        self._is_stuck = False

    def __enter__(self) -> SliceProcesses:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._workers:
            worker.end(at_once=self._is_stuck)

    def take(self) -> tuple[int, Workers]:
        """Reserve the process with the fewest slices; return its number and the process."""
        number = self._slices.index(min(self._slices))
        self._slices[number] += 1
        return number, self._workers[number]

    def give_back(self, number: int, *, is_stuck: bool = False) -> None:
        """Release a slice of a process, or note that its bots are stuck."""
        self._slices[number] -= 1
        self._is_stuck = self._is_stuck or is_stuck


class _Slice:
    """Slice during play.

    Attributes:
        key: unique name of the slice.
        number: number of its process.
        worker: its process.
        first: number of hands of the match before the slice.
        forfeited: seats that were lost before the slice.
        progress: state of the match that its process has reached.
        end: number of hands of the match after the slice.
        events: events that wait to be published.
        reports: steps that wait for their events to be published.
        is_over: there are no further events.
        feeding: task that submits the steps.
    """

    def __init__(self, processes: SliceProcesses, progress: EarlierHands, end: int, max_steps: int) -> None:
        self.key = f"{os.getpid()}.{next(_numbers)}"
        self.number, self.worker = processes.take()
        self.first = progress.hands
        self.forfeited = progress.forfeited
        self.progress = progress
        self.end = end
        self.events: deque[Event] = deque()
        self.reports: asyncio.Queue[StepReport | Exception] = asyncio.Queue(max_steps)
        self.is_over = False
        self.feeding: asyncio.Task[None] | None = None

    def note(self, report: StepReport) -> None:
        """Update `progress`, from which another process can continue."""
        used_us = self.progress.used_us
        forfeited = self.progress.forfeited
        for event in report.events:
            if isinstance(event, HandClosed):
                used_us = event.used_us
            elif isinstance(event, FaultSeen) and event.fault.is_final:
                forfeited |= {event.fault.seat}
        self.progress = replace(self.progress, hands=report.hands, used_us=used_us, forfeited=forfeited)


def _has_short_clock(setup: MatchSetup) -> bool:
    """Return whether a player's average time per hand has a limit below the default."""
    limits = [setup.limits, *(own for own in setup.own_limits if own is not None)]
    return any(player_limits.per_hand_us < DEFAULT_LIMITS.per_hand_us for player_limits in limits)


class SlicedRun(MatchRun):
    """Match in worker processes."""

    def __init__(
        self,
        processes: SliceProcesses,
        plan: ContestPlan,
        match_plan: MatchPlan,
        watchers: Sequence[Watcher] = (),
        tally: Tally | None = None,
        learner_files: Mapping[Seat, LearnerFiles] = MappingProxyType({}),
    ) -> None:
        """Prepare a run.

        Args:
            processes: shared by all matches of the run.
        """
        super().__init__(plan, match_plan, watchers, tally, learner_files)
        self._processes = processes
        self._slices: deque[_Slice] = deque()
        seatings = self.plan.seatings
        # A tournament has enough matches to keep its workers busy.
        is_cut = (
            self.plan.run.command is not Command.TOURNAMENT
            and processes.count > seatings
            and not _has_short_clock(self.setup)
        )
        # Rounded up: as many slices of each match as keep all processes busy.
        self._ahead = math.ceil(processes.count / seatings) if is_cut else 1
        share = math.ceil((self.setup.hands - self._progress.hands) / self._ahead)
        self._hands_of_slice = max(1, min(share, _MAX_HANDS)) if is_cut else self.setup.hands
        # 0 is no limit: slices ahead are played to their end while the first one is being written.
        self._max_steps = 0 if is_cut else _MAX_STEPS
        self._state = self._progress
        """State of the match after the last published event."""
        self._audience: Audience | None = None
        self._is_begun = self._is_over = False
        self._dropped_comments = 0

    async def _play_until(self, hands: int) -> Cause | None:
        if self._audience is None:
            self._audience = Audience(self._watchers)
        if self._state.hands >= self.setup.hands:
            return self._finish()
        try:
            # After its last hand, the slice still publishes the end of the match.
            while not self._is_over and (self._state.hands < hands or hands >= self.setup.hands):
                cause = self._publish(await self._next_event())
                if cause is not None:
                    return cause
        except OSError as error:
            return self._fail(NotWritten.from_error(error))
        except WorkersError:
            hand = self.setup.first_hand + self._state.hands
            self.failure = Failure(WorkerLost(_MAX_LOSSES), self.setup.names, hand)
        return None

    async def _next_event(self) -> Event:
        """Return the next event of the match."""
        while True:
            self._start_slices()
            front = self._slices[0]
            if front.events:
                return front.events.popleft()
            if not front.is_over:
                report = await front.reports.get()
                if isinstance(report, Exception):
                    raise report
                front.events.extend(report.events)
                front.is_over = report.is_over
                self._dropped_comments += report.dropped_comments
                continue
            self._slices.popleft()
            self._processes.give_back(front.number)
            # If a player was lost in this slice, those ahead began with that player, or at another hand.
            if self._slices:
                ahead = self._slices[0]
                if ahead.first != self._state.hands or ahead.forfeited != self._state.forfeited:
                    await self._drop_slices()

    def _start_slices(self) -> None:
        """Start slices, up to the number that may be played at a time."""
        first = self._slices[-1].end if self._slices else self._state.hands
        while len(self._slices) < self._ahead and (first < self.setup.hands or not self._slices):
            end = min(first + self._hands_of_slice, self.setup.hands)
            slice_ = _Slice(self._processes, replace(self._state, hands=first), end, self._max_steps)
            slice_.feeding = asyncio.create_task(self._feed(slice_))
            self._slices.append(slice_)
            first = end

    async def _feed(self, slice_: _Slice) -> None:
        """Submit the steps of a slice until it is over, and queue their reports or an error."""
        assert self._audience is not None
        wants = frozenset(kind for kind in Event.__args__ if self._audience.wants(kind))
        packed: bytes | None = self._packed(slice_, wants)
        losses = 0
        is_over = False
        try:
            while not is_over:
                report = await asyncio.wrap_future(slice_.worker.submit(play_step, slice_.key, packed))
                # The process keeps the slice, so only the first step carries its task.
                packed = None
                if report.is_lost:
                    losses += 1
                    if losses >= _MAX_LOSSES:
                        raise WorkersError(f"the process of {self.match_plan.name} ended several times in a row")
                    packed = self._packed(slice_, wants)
                    continue
                if report.hands > slice_.progress.hands:
                    losses = 0
                slice_.note(report)
                is_over = report.is_over
                await slice_.reports.put(report)
        except Exception as error:
            # Raised by `_next_event`, in the task that plays the match.
            await slice_.reports.put(error)

    def _packed(self, slice_: _Slice, wants: frozenset[type]) -> bytes:
        return pickle.dumps(SliceTask(self.plan, self.match_plan, slice_.progress, slice_.end, wants))

    def _publish(self, event: Event) -> Cause | None:
        """Send an event of a slice to the watchers; return why the match ended early, if it did."""
        assert self._audience is not None
        if isinstance(event, MatchStarted):
            # Every slice begins with this event, but the match starts once.
            if not self._is_begun:
                self._is_begun = True
                self._audience.publish(event)
            return None
        if isinstance(event, MatchEnded):
            self._is_over = True
            # A slice that began ahead does not know the chips of the hands before it.
            event = replace(event, totals=tuple(self.tally.chips))
            if event.cause is None:
                self._audience.publish(event)
            else:
                self._audience.publish_failure(event)
            return event.cause
        if isinstance(event, BotWrote) and event.stream:
            # The workers do not echo output, so that it appears in the order of the hands.
            getattr(sys, event.stream).write(event.text)
        self._audience.publish(event)
        if isinstance(event, HandClosed):
            hands = event.hand_number - self.setup.first_hand + 1
            self._state = replace(self._state, hands=hands, used_us=event.used_us)
        elif isinstance(event, FaultSeen) and event.fault.is_final:
            self._state = replace(self._state, forfeited=self._state.forfeited | {event.fault.seat})
        return None

    def _fail(self, cause: Cause) -> Cause:
        assert self._audience is not None
        self._is_over = True
        self._audience.publish_failure(self._end(cause))
        return cause

    def _finish(self) -> Cause | None:
        if self._audience is None or self._is_over:
            return None
        self._is_over = True
        try:
            self._audience.publish(self._end(None))
        except OSError as error:
            return self._fail(NotWritten.from_error(error))
        return None

    def _end(self, cause: Cause | None) -> MatchEnded:
        return MatchEnded(cause, self._state.hands, tuple(self.tally.chips), time.time_ns() // 1000)

    async def _close(self) -> None:
        await self._drop_slices(is_written=True)
        self._warn_of_comments(self._dropped_comments)

    async def _drop_slices(self, *, is_written: bool = False) -> None:
        """Close the slices. With `is_written`, keep the last output of the first slice's bots."""
        slices = self._slices
        self._slices = deque()
        for slice_ in slices:
            if slice_.feeding is not None:
                slice_.feeding.cancel()
        endings = [asyncio.wrap_future(slice_.worker.submit(close_slice, slice_.key)) for slice_ in slices]
        if endings:
            await asyncio.wait(endings, timeout=_CLOSE_S)
        for place, (slice_, ending) in enumerate(zip(slices, endings, strict=True)):
            self._processes.give_back(slice_.number, is_stuck=not ending.done())
            if not ending.done():
                ending.cancel()
            elif is_written and not place and ending.exception() is None:
                # The waiting events of an unfinished slice belong to hands that are not in the log.
                waiting = [*slice_.events] if slice_.is_over else []
                for event in (*waiting, *ending.result()):
                    if isinstance(event, BotWrote):
                        with contextlib.suppress(OSError):
                            self._publish(event)
