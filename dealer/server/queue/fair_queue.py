"""Fair queue, as pure functions of the waiting and the running jobs.

The user who was served longest ago comes first, and among a user's jobs the one that started or arrived longest ago,
as in the reference. A job that does not fit now is skipped. After `MAX_SKIPS` skips, no job that would take what it
waits for starts before it.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from dealer.server.capacity import CapacityShare, Limits
from engine.text import count_of

MAX_SKIPS = 10


@dataclass(frozen=True, slots=True)
class WaitingJob:
    """A waiting job.

    Attributes:
        share: of the limits, for one of its runs.
        runs_left: number of runs to start.
        stamp: order of its last start, or of its arrival; a larger number is later.
        user_served: stamp of the last start of its user; 0 for never.
        skips: number of times that another job started in its place because it did not fit.
        is_ready: whether its players are connected and free.
    """

    id: int
    share: CapacityShare
    runs_left: int
    stamp: int
    user_served: int
    skips: int = 0
    is_ready: bool = True

    @property
    def order(self) -> tuple[bool, int, int, int]:
        """Sort key: the smallest is first. Users who were never served are in the order of their numbers."""
        return self.share.is_idle, self.user_served, self.share.user, self.stamp


def never_fits(share: CapacityShare, limits: Limits) -> str:
    """Reason that a run cannot fit into the limits at any time, as a clause; empty if it can."""
    if limits.bots is not None and len(share.bots) > limits.bots:
        return f"it needs {count_of(len(share.bots), 'bot')}, and at most {limits.bots} may run at a time"
    for bot, times in Counter(share.bots).items():
        if limits.runs_per_bot is not None and times > limits.runs_per_bot:
            return f"the bot {bot} would have {count_of(times, 'seat')}, and the limit is {limits.runs_per_bot}"
    return ""


def _fits(share: CapacityShare, running: Sequence[CapacityShare], limits: Limits) -> bool:
    games = limits.runs_per_game or {}
    if share.game in games and sum(other.game == share.game for other in running) >= games[share.game]:
        return False
    if limits.runs_per_user is not None and sum(other.user == share.user for other in running) >= limits.runs_per_user:
        return False
    if limits.bots is not None and sum(len(other.bots) for other in running) + len(share.bots) > limits.bots:
        return False
    if limits.runs_per_bot is None:
        return True
    seats = Counter(share.bots)
    for other in running:
        seats.update(other.bots)
    return all(seats[bot] <= limits.runs_per_bot for bot in share.bots)


def _is_delayed(share: CapacityShare, other: CapacityShare) -> bool:
    """Return whether a run with `share` could take capacity that `other` waits for."""
    # The limit per user is left out, because it concerns no other user.
    return share.game == other.game or bool(share.bots and other.bots)


def next_job(waiting: Iterable[WaitingJob], running: Mapping[int, CapacityShare], limits: Limits) -> WaitingJob | None:
    """Return the job whose run starts next; None if none can start now."""
    passed: list[WaitingJob] = []
    for job in sorted(_eligible(waiting, running), key=lambda job: job.order):
        starved = [other for other in passed if other.skips >= MAX_SKIPS and _is_delayed(job.share, other.share)]
        if not starved and _fits(job.share, list(running.values()), limits):
            return job
        # A job that only its own user's runs keep from starting does not hold back others.
        own_runs = [share for share in running.values() if share.user == job.share.user]
        if _fits(job.share, own_runs, limits):
            passed.append(job)
    return None


def _eligible(waiting: Iterable[WaitingJob], running: Mapping[int, CapacityShare]) -> list[WaitingJob]:
    return [job for job in waiting if job.is_ready and job.runs_left > 0 and job.id not in running]


def can_start_idle_run(
    waiting: Iterable[WaitingJob], running: Mapping[int, CapacityShare], *, max_idle: int, max_runs: int
) -> bool:
    """Return whether an idle run, one that is played only while no request waits, may start.

    Args:
        max_idle: limit on concurrent idle runs.
        max_runs: limit on all concurrent runs, for idle ones.
    """
    if any(not job.share.is_idle for job in _eligible(waiting, running)):
        return False
    idle_runs = sum(share.is_idle for share in running.values())
    return len(running) < max_runs and idle_runs < max_idle


def preempted_jobs(
    waiting: Iterable[WaitingJob], running: Mapping[int, CapacityShare], limits: Limits, *, max_runs: int
) -> list[int]:
    """Return the idle jobs to interrupt: all if a request could start without them, else those above `max_runs`."""
    idle = [number for number, share in running.items() if share.is_idle]
    requested = {number: share for number, share in running.items() if not share.is_idle}
    requests = [job for job in waiting if not job.share.is_idle and job.id not in running]
    if next_job(requests, requested, limits) is not None:
        return idle
    # Requests that have started since can have raised the number of runs above the limit.
    return idle[: max(0, len(running) - max_runs)]


def skipped_jobs(waiting: Iterable[WaitingJob], running: Mapping[int, CapacityShare], chosen: WaitingJob) -> list[int]:
    """Return the jobs that came before the chosen one and did not fit."""
    return [job.id for job in _eligible(waiting, running) if job.order < chosen.order]


@dataclass(frozen=True, slots=True)
class Forecast:
    """Forecast of a waiting job's next start.

    Attributes:
        position: in the order of starts, from 1.
        starts_in_s: an estimate; None if the duration of runs is unknown.
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
    """Forecast the start of each waiting job by a simulation of the queue.

    Args:
        seconds_of: returns the duration of a job's runs; None if unknown.
        left_s: returns the remaining time of a job's run; None if unknown.
        max_starts: number of starts to simulate; jobs beyond are left out.
    """
    jobs = {job.id: job for job in waiting}
    simulated = dict(running)
    # Heap of the ends of runs: time, whether it is known, number of the job.
    ends: list[tuple[float, bool, int]] = []
    for number in simulated:
        left = left_s(number)
        if left is None:
            left = seconds_of(number)
        # A run of unknown duration ends at once here, and makes all later times unknown.
        heapq.heappush(ends, (left or 0.0, left is not None, number))
    forecasts: dict[int, Forecast] = {}
    now_s = 0.0
    is_known = True
    stamp = max((max(job.stamp, job.user_served) for job in jobs.values()), default=0)
    for _ in range(max_starts):
        job = next_job(jobs.values(), simulated, limits)
        while job is None and ends:
            end_s, is_end_known, number = heapq.heappop(ends)
            now_s = max(now_s, end_s)
            is_known = is_known and is_end_known
            del simulated[number]
            job = next_job(jobs.values(), simulated, limits)
        if job is None:
            break
        stamp += 1
        for other in jobs.values():
            if other.share.user == job.share.user:
                jobs[other.id] = replace(other, user_served=stamp)
        jobs[job.id] = replace(jobs[job.id], runs_left=job.runs_left - 1, stamp=stamp)
        simulated[job.id] = job.share
        if job.id not in forecasts and job.id not in running:
            forecasts[job.id] = Forecast(len(forecasts) + 1, now_s if is_known else None)
        seconds = seconds_of(job.id)
        heapq.heappush(ends, (now_s + (seconds or 0.0), seconds is not None, job.id))
    return forecasts
