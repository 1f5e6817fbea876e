"""Whose turn it is: the fair queue as a function of what waits and what runs; no clock, no database, no sockets.

Among the users the one who was served longest ago comes first, and among one user's jobs the one that started or came
longest ago, as in the reference. A job that does not fit now is skipped, but not for ever: when others have been taken
`MAX_SKIPS` times in its place, nothing that uses what it waits for starts before it.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from dealer.server.capacity import CapacityShare, Limits
from engine.text import count_of, times_of

MAX_SKIPS = 10


@dataclass(frozen=True, slots=True)
class WaitingJob:
    """A job that waits.

    Attributes:
        runs_left: how many are to be started.
        stamp: when it last started, or came: a larger number is later.
        user_served: when its user was last served; 0 for never.
        skips: how often another was taken in its place because it did not fit.
    """

    id: int
    slot: CapacityShare
    runs_left: int
    stamp: int
    user_served: int
    skips: int = 0
    is_ready: bool = True

    @property
    def order(self) -> tuple[bool, int, int, int]:
        """The job with the smallest comes first; users that were never served in the order in which they came."""
        return self.slot.is_idle, self.user_served, self.slot.user, self.stamp


def never_fits(slot: CapacityShare, limits: Limits) -> str:
    """Why a job can never run under these limits, as a clause; empty if it can."""
    if limits.bots is not None and len(slot.bots) > limits.bots:
        return f"it needs {count_of(len(slot.bots), 'bot')}, and at most {limits.bots} may run at a time"
    for bot, times in Counter(slot.bots).items():
        if limits.runs_per_bot is not None and times > limits.runs_per_bot:
            return f"the bot {bot} would sit {times_of(times)}, and may sit {times_of(limits.runs_per_bot)} at a time"
    return ""


def _has_room(slot: CapacityShare, running: Sequence[CapacityShare], limits: Limits) -> bool:
    games = limits.runs_per_game or {}
    if slot.game in games and sum(other.game == slot.game for other in running) >= games[slot.game]:
        return False
    if limits.runs_per_user is not None and sum(other.user == slot.user for other in running) >= limits.runs_per_user:
        return False
    if limits.bots is not None and sum(len(other.bots) for other in running) + len(slot.bots) > limits.bots:
        return False
    if limits.runs_per_bot is None:
        return True
    seated = Counter(bot for other in (*running, slot) for bot in other.bots)
    return all(seated[bot] <= limits.runs_per_bot for bot in slot.bots)


def _is_delayed(slot: CapacityShare, other: CapacityShare) -> bool:
    """Whether a run in the one slot takes something that the other may be waiting for.

    The limit of a user is not shown to others.
    """
    return slot.game == other.game or bool(slot.bots and other.bots)


def next_job(waiting: Iterable[WaitingJob], running: Mapping[int, CapacityShare], limits: Limits) -> WaitingJob | None:
    """The job of which a run starts next; None if none can start now."""
    passed: list[WaitingJob] = []
    for job in sorted(_eligible(waiting, running), key=lambda job: job.order):
        starved = [other for other in passed if other.skips >= MAX_SKIPS and _is_delayed(job.slot, other.slot)]
        if not starved and _has_room(job.slot, list(running.values()), limits):
            return job
        if _has_room(job.slot, [other for other in running.values() if other.user == job.slot.user], limits):
            passed.append(job)
    return None


def _eligible(waiting: Iterable[WaitingJob], running: Mapping[int, CapacityShare]) -> list[WaitingJob]:
    return [job for job in waiting if job.is_ready and job.runs_left > 0 and job.id not in running]


def can_start_idle_run(
    waiting: Iterable[WaitingJob], running: Mapping[int, CapacityShare], *, max_idle: int, most: int
) -> bool:
    """Whether something may start that is played only while no request waits.

    Args:
        max_idle: how many runs of that kind may go on at a time. most: how many of any kind.
    """
    if any(not job.slot.is_idle for job in _eligible(waiting, running)):
        return False
    return len(running) < most and sum(slot.is_idle for slot in running.values()) < max_idle


def preempted_jobs(
    waiting: Iterable[WaitingJob], running: Mapping[int, CapacityShare], limits: Limits, *, most: int
) -> list[int]:
    """The jobs that are played only while no request waits, and have to make room now.

    Args:
        most: how many runs of any kind may run next to one that has to make room.
    """
    idle = [number for number, slot in running.items() if slot.is_idle]
    others = {number: slot for number, slot in running.items() if not slot.is_idle}
    wanted = [job for job in waiting if not job.slot.is_idle and job.id not in running]
    if next_job(wanted, others, limits) is not None:
        return idle
    return idle[: max(0, len(running) - most)]


def skipped_jobs(waiting: Iterable[WaitingJob], running: Mapping[int, CapacityShare], chosen: WaitingJob) -> list[int]:
    """The jobs in whose place another was chosen: they came first and did not fit."""
    return [job.id for job in _eligible(waiting, running) if job.order < chosen.order]


@dataclass(frozen=True, slots=True)
class Forecast:
    """When a job that waits will start.

    Attributes:
        position: from 1, in the order of the starts to come.
        starts_in_s: an estimate; None where nothing is known about how long runs take.
    """

    position: int
    starts_in_s: float | None


def forecast(
    waiting: Iterable[WaitingJob],
    running: Mapping[int, CapacityShare],
    limits: Limits,
    seconds_of: Callable[[int], float | None],
    *,
    left_s: Callable[[int], float | None] = lambda job: None,
    max_starts: int = 2000,
) -> dict[int, Forecast]:
    """When each job that waits will start: the queue is played out in advance.

    Args:
        seconds_of: how long a run of a job takes; None if unknown.
        left_s: how long a run that goes on still takes; None if unknown.
        max_starts: no more starts are looked ahead; jobs beyond them are left out.
    """
    jobs = {job.id: job for job in waiting}
    going = dict(running)
    ends: list[tuple[float, bool, int]] = []
    for number in going:
        left = left_s(number)
        left = seconds_of(number) if left is None else left
        heapq.heappush(ends, (left or 0.0, left is not None, number))
    found: dict[int, Forecast] = {}
    now_s, is_known = 0.0, True
    stamp = max((max(job.stamp, job.user_served) for job in jobs.values()), default=0)
    for _ in range(max_starts):
        job = next_job(jobs.values(), going, limits)
        while job is None and ends:
            end_s, is_end_known, number = heapq.heappop(ends)
            now_s, is_known = max(now_s, end_s), is_known and is_end_known
            del going[number]
            job = next_job(jobs.values(), going, limits)
        if job is None:
            break
        stamp += 1
        for other in jobs.values():
            if other.slot.user == job.slot.user:
                jobs[other.id] = replace(other, user_served=stamp)
        jobs[job.id] = replace(jobs[job.id], runs_left=job.runs_left - 1, stamp=stamp)
        going[job.id] = job.slot
        if job.id not in found and job.id not in running:
            found[job.id] = Forecast(len(found) + 1, now_s if is_known else None)
        seconds = seconds_of(job.id)
        heapq.heappush(ends, (now_s + (seconds or 0.0), seconds is not None, job.id))
    return found
