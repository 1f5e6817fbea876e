"""A match whose hands are played in worker processes, slice by slice (`dealer.run.slice_worker`).

The files are written, and everything is counted, in this process, from the events of the slices in the order of their
hands: logs, results and stops are those of `LocalRun`. With no more workers than matches a match is a single slice,
and its bots play from the first hand to the last. Otherwise it is cut, and bots begin anew in every slice, as they do
where an interrupted match is resumed.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
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
from dealer.match.setup import EarlierHands
from dealer.run.choices import Command
from dealer.run.contest_plan import ContestPlan, MatchPlan
from dealer.run.match_run import MatchRun
from dealer.run.slice_worker import SliceTask, StepReport, close_slice, play_step
from dealer.run.tally import Tally
from dealer.table.players import LearnerFiles
from engine import Seat

_MAX_HANDS: Final = 1000
"""Of a slice of a match that is cut: its events wait in memory for those before it."""
_MAX_STEPS: Final = 4
"""Of a match that is not cut, played before their events are written."""
_MAX_LOSSES: Final = 3
"""Processes that may end one after another without playing a hand of a slice."""
_CLOSE_S: Final = 1.0
"""How long bots have for the end of their match before their process is ended."""
_numbers = itertools.count()


class SliceProcesses:
    """Worker processes of this machine, each with slices of its own; a context manager, which ends them."""

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
        """The number of the process with the fewest slices, which gets one more, and the process."""
        number = min(range(self.count), key=self._slices.__getitem__)
        self._slices[number] += 1
        return number, self._workers[number]

    def give_back(self, number: int, *, is_stuck: bool = False) -> None:
        """A slice of a process is over, or its bots do not return."""
        self._slices[number] -= 1
        self._is_stuck = self._is_stuck or is_stuck


class _Slice:
    """A slice while it is played.

    Attributes:
        progress: what of the match its process has played, or begins with.
        events: that wait to be published.
        is_over: whether no more events come.
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
        """Note how far the process is, so that another could go on from there."""
        used_us, forfeited = self.progress.used_us, self.progress.forfeited
        for event in report.events:
            if isinstance(event, HandClosed):
                used_us = event.used_us
            elif isinstance(event, FaultSeen) and event.fault.is_final:
                forfeited |= {event.fault.seat}
        self.progress = replace(self.progress, hands=report.hands, used_us=used_us, forfeited=forfeited)


class SlicedRun(MatchRun):
    """A match inside worker processes."""

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
        # A tournament has enough matches to keep its workers busy.
        is_cut = self.plan.run.command is not Command.TOURNAMENT and self._processes.count > self.plan.seatings
        self._ahead = -(-self._processes.count // self.plan.seatings) if is_cut else 1
        share = -(-(self.setup.hands - self._progress.hands) // self._ahead)
        self._hands_of_slice = max(1, min(share, _MAX_HANDS)) if is_cut else self.setup.hands
        self._max_steps = 0 if is_cut else _MAX_STEPS
        self._state = self._progress
        """What of the match has been published."""
        self._audience: Audience | None = None
        self._is_begun = self._is_over = False
        self._dropped_comments = 0

    async def _play_until(self, hands: int) -> Cause | None:
        if self._audience is None:
            self._audience = Audience(self._watchers)
        if self._state.hands >= self.setup.hands:
            return self._finish()
        try:
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
        """The next event of the match."""
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
            # Slices ahead began with other players, or elsewhere, where a player was lost in the last one.
            if self._slices and (self._slices[0].first, self._slices[0].forfeited) != (
                self._state.hands,
                self._state.forfeited,
            ):
                await self._drop_slices()

    def _start_slices(self) -> None:
        """Have as many slices played as there may be."""
        first = self._slices[-1].end if self._slices else self._state.hands
        while len(self._slices) < self._ahead and (first < self.setup.hands or not self._slices):
            end = min(first + self._hands_of_slice, self.setup.hands)
            slice_ = _Slice(self._processes, replace(self._state, hands=first), end, self._max_steps)
            slice_.feeding = asyncio.create_task(self._feed(slice_))
            self._slices.append(slice_)
            first = end

    async def _feed(self, slice_: _Slice) -> None:
        """Have a slice played to its end; what goes wrong comes as a report."""
        assert self._audience is not None
        wants = frozenset(kind for kind in Event.__args__ if self._audience.wants(kind))
        packed: bytes | None = self._packed(slice_, wants)
        losses, is_over = 0, False
        try:
            while not is_over:
                report = await asyncio.wrap_future(slice_.worker.submit(play_step, slice_.key, packed))
                packed = None
                if report.is_lost:
                    losses += 1
                    if losses >= _MAX_LOSSES:
                        raise WorkersError(f"the process of {self.match_plan.name} ended again and again")
                    packed = self._packed(slice_, wants)
                    continue
                if report.hands > slice_.progress.hands:
                    losses = 0
                slice_.note(report)
                is_over = report.is_over
                await slice_.reports.put(report)
        except Exception as error:
            await slice_.reports.put(error)

    def _packed(self, slice_: _Slice, wants: frozenset[type]) -> bytes:
        return pickle.dumps(SliceTask(self.plan, self.match_plan, slice_.progress, slice_.end, wants))

    def _publish(self, event: Event) -> Cause | None:
        """Send an event of a slice to the watchers, as one of the match; returns why the match has ended early."""
        assert self._audience is not None
        if isinstance(event, MatchStarted):
            # Every slice begins so.
            if not self._is_begun:
                self._is_begun = True
                self._audience.publish(event)
            return None
        if isinstance(event, MatchEnded):
            self._is_over = True
            event = replace(event, totals=tuple(self.tally.chips))
            if event.cause is None:
                self._audience.publish(event)
            else:
                self._audience.publish_failure(event)
            return event.cause
        if isinstance(event, BotWrote) and event.stream:
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
        """End the slices; what bots of the first write at their end is kept if `is_written`."""
        slices, self._slices = self._slices, deque()
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
                # Of a slice that is not over, hands wait that are not in the log.
                waiting = [*slice_.events] if slice_.is_over else []
                for event in (*waiting, *ending.result()):
                    if isinstance(event, BotWrote):
                        with contextlib.suppress(OSError):
                            self._publish(event)
