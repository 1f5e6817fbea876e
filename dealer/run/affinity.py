"""Cores that dealers share with their bots.

The programs of a match never compute at the same time. On one core the reader of a reply runs as soon as its writer
sleeps; across cores a sleeping core has to wake up first, which takes longer than the decision of a quick bot.

    dealer = DealerCore(core, usable_cores(), has_spare_cores=False)
    shared = SharedCore(dealer, times)
    shared.examine(pids)    # about once a second
    shared.release()        # when the match is over
"""

from __future__ import annotations

import contextlib
import math
import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence, Set
from pathlib import Path
from typing import Final, NamedTuple

import psutil

from dealer.run.tally import ResponseTimes
from engine import Seat

_QUOTA_FILE: Final = Path("/sys/fs/cgroup/cpu.max")
"""Quota and period of the control group in microseconds, as a container sees its own."""
_IS_WINDOWS: Final = sys.platform == "win32"
_MAX_MEDIAN_US: Final = 1000.0
"""A bot with a longer median decision is slow: waking another core costs it little."""
_MIN_DECISIONS: Final = 20
_MAX_BACKGROUND_SHARE: Final = 0.4
"""Share of the time that a bot may compute beyond its decisions: reading states costs a quick bot about a quarter."""
_MAX_THREAD_SHARE: Final = 0.1
"""Share of the time that threads other than the busiest may compute."""
_MIN_USED_SHARE: Final = 0.6
"""A match that gets less of its core than this shares it with other programs."""
_AVOID_S: Final = 30.0
"""Time for which a core that other programs use is avoided."""
_MIN_EXAMINED_S: Final = 0.2
"""Processor times of threads come in steps of 10 ms."""


def usable_cores() -> tuple[int, ...]:
    """Cores that this thread may use, in order; empty where the system cannot bind a thread to a core (macOS)."""
    if hasattr(os, "sched_getaffinity"):
        return tuple(sorted(os.sched_getaffinity(0)))
    if _IS_WINDOWS:
        return tuple(sorted(psutil.Process().cpu_affinity()))
    return ()


def core_count() -> int:
    """Number of cores that this process may use, by its mask and by the quota of its container."""
    cores = len(usable_cores()) or os.cpu_count() or 1
    return min(cores, _quota() or cores)


def _quota() -> int | None:
    """Cores that the container's quota of processor time is worth, rounded up; None without a quota."""
    try:
        quota_us, period_us = _QUOTA_FILE.read_text("ascii").split()
        return math.ceil(int(quota_us) / int(period_us))
    except (OSError, ValueError, ZeroDivisionError):
        # Another system, or the word "max".
        return None


class DealerCore:
    """Core of the thread that deals, which it is bound to while one of its matches is.

    Use it in that thread only.
    """

    def __init__(self, core: int, cores: Sequence[int], *, has_spare_cores: bool) -> None:
        """Choose a core.

        Args:
            core: one of `cores`.
            cores: all cores that the dealer and its bots may use.
            has_spare_cores: whether there are more cores than matches, so that a match with a slow bot needs no core
                of its own.
        """
        self.core = core
        self.cores = tuple(cores)
        self.has_spare_cores = has_spare_cores
        self._bound_matches = 0

    def bind(self) -> None:
        """Bind this thread to the core for one more match."""
        self._bound_matches += 1
        if self._bound_matches == 1:
            bind_thread((self.core,))

    def release(self) -> None:
        """Let this thread use all cores again once no match needs it bound."""
        self._bound_matches -= 1
        if not self._bound_matches:
            bind_thread(self.cores)

    @contextlib.contextmanager
    def unbound(self) -> Iterator[None]:
        """Let processes that are started meanwhile inherit all cores: they count them to choose their threads."""
        if not self._bound_matches:
            yield
            return
        bind_thread(self.cores)
        try:
            yield
        finally:
            bind_thread((self.core,))


class _Usage(NamedTuple):
    """Processor times of a bot since its start, in seconds.

    Attributes:
        threads: by thread number.
    """

    total_s: float
    threads: Mapping[int, float]


class _BotOnCore:
    """Processes of one bot, and whether they are bound."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.is_bound = False
        self.is_slow = False
        self._processes: list[psutil.Process] = []
        with contextlib.suppress(psutil.Error):
            process = psutil.Process(pid)
            self._processes = [process, *process.children(recursive=True)]
        self._usage = self._read_usage()

    def _read_usage(self) -> _Usage:
        threads: dict[int, float] = {}
        for process in self._processes:
            with contextlib.suppress(psutil.Error):
                threads |= {thread.id: thread.user_time + thread.system_time for thread in process.threads()}
        return _Usage(sum(threads.values()), threads)

    def take_usage(self) -> tuple[float, float]:
        """Return processor seconds since the last call: of all threads, and of all but the busiest."""
        before = self._usage
        self._usage = self._read_usage()
        used = [seconds - before.threads.get(thread, 0.0) for thread, seconds in self._usage.threads.items()]
        return sum(used), sum(used) - max(used, default=0.0)

    def set_cores(self, cores: Sequence[int]) -> None:
        """Bind all threads of the bot to some cores."""
        for process in self._processes:
            # A thread that has just ended, or a bot of another user, keeps its cores.
            with contextlib.suppress(psutil.Error, OSError):
                if _IS_WINDOWS:
                    process.cpu_affinity(list(cores))
                else:
                    for thread in process.threads():
                        os.sched_setaffinity(thread.id, cores)


class SharedCore:
    """Keep the quick bots of a match on the core of their dealer.

    A bot is bound once it has proved quick: a median decision of at most a millisecond, one busy thread, and little
    computing while others act. A bot that turns slow is released for good.
    """

    def __init__(self, dealer: DealerCore, times: Sequence[ResponseTimes]) -> None:
        """Prepare a match.

        Args:
            times: decisions by seat, counted while the match is played.
        """
        self._dealer = dealer
        self._times = times
        self._bots: dict[Seat, _BotOnCore] = {}
        self._is_bound = False
        self._avoided_until_s = 0.0
        self._examined_s = time.monotonic()
        self._dealer_used_s = time.thread_time()
        self._times_before = [response.copy() for response in times]

    def examine(self, pids: Mapping[Seat, int]) -> None:
        """Bind or release bots by how they have behaved since the last call.

        Args:
            pids: of the bots' processes, by seat; all seats of the match.
        """
        now_s = time.monotonic()
        dealer_used_s = time.thread_time()
        passed_s = now_s - self._examined_s
        if passed_s < _MIN_EXAMINED_S or now_s < self._avoided_until_s:
            return
        recent = [response.since(before) for response, before in zip(self._times, self._times_before, strict=True)]
        used_s = dealer_used_s - self._dealer_used_s
        self._examined_s = now_s
        self._dealer_used_s = dealer_used_s
        self._times_before = [response.copy() for response in self._times]
        if self._replace(pids) or min(response.count for response in recent) < _MIN_DECISIONS:
            # A new process, or too little play: only the next stretch can be judged.
            for bot in self._bots.values():
                bot.take_usage()
            return
        quick: set[Seat] = set()
        for seat, bot in self._bots.items():
            total_s, other_threads_s = bot.take_usage()
            used_s += total_s
            median_us = recent[seat].quantile_us(0.5) or 0.0
            background_s = total_s - recent[seat].total_us / 1e6
            is_slow = (
                median_us > _MAX_MEDIAN_US
                or other_threads_s > _MAX_THREAD_SHARE * passed_s
                or background_s > _MAX_BACKGROUND_SHARE * passed_s
            )
            # A bot that has never been bound may still be warming up.
            bot.is_slow = bot.is_slow or (is_slow and bot.is_bound)
            if not (is_slow or bot.is_slow):
                quick.add(seat)
        is_all_quick = len(quick) == len(self._bots)
        if self._is_bound and is_all_quick and used_s < _MIN_USED_SHARE * passed_s:
            self._avoided_until_s = now_s + _AVOID_S
            quick.clear()
        elif not is_all_quick and self._dealer.has_spare_cores:
            quick.clear()
        self._bind(quick)

    def release(self) -> None:
        """Let the bots, and the dealer unless another match needs it bound, use all cores."""
        self._bind(set())

    def _replace(self, pids: Mapping[Seat, int]) -> bool:
        """Take the processes of bots that were started since the last call; return whether there are any."""
        started = {seat: pid for seat, pid in pids.items() if seat not in self._bots or self._bots[seat].pid != pid}
        for seat, pid in started.items():
            self._bots[seat] = _BotOnCore(pid)
        return bool(started)

    def _bind(self, seats: Set[Seat]) -> None:
        """Bind the bots in these seats, and the dealer if there are any; release all others."""
        for seat, bot in self._bots.items():
            is_bound = seat in seats
            if bot.is_bound != is_bound:
                bot.is_bound = is_bound
                bot.set_cores((self._dealer.core,) if is_bound else self._dealer.cores)
        if seats and not self._is_bound:
            self._dealer.bind()
        elif self._is_bound and not seats:
            self._dealer.release()
        self._is_bound = bool(seats)


def bind_thread(cores: Sequence[int]) -> None:
    """Bind this thread, on Windows this process, to some cores."""
    # The system refuses if the cores were taken away meanwhile, as a container's can be: then all stays as it is.
    with contextlib.suppress(OSError):
        if _IS_WINDOWS:
            psutil.Process().cpu_affinity(list(cores))
        else:
            os.sched_setaffinity(0, cores)
