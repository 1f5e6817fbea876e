"""Cores shared by a dealer and its quick bots: quick bots are bound, slow ones released."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections import namedtuple
from collections.abc import Sequence
from pathlib import Path

import psutil
import pytest

from dealer.run import affinity
from dealer.run.affinity import DealerCore, SharedCore, usable_cores
from dealer.run.tally import ResponseTimes
from engine import Seat

CORES = (0, 1)
Times = namedtuple("Times", "id user_time system_time")


class FakeBot:
    """Process of a bot with simulated times of its threads."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.threads_s = [0.0]
        self.cores: Sequence[int] = CORES

    def children(self, recursive: bool) -> list[FakeBot]:
        return []

    def threads(self) -> list[Times]:
        return [Times((self.pid, number), seconds, 0.0) for number, seconds in enumerate(self.threads_s)]


class Table:
    """A match of two fake bots, examined once a simulated second."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, has_spare_cores: bool = True) -> None:
        self.bots = {Seat(0): FakeBot(100), Seat(1): FakeBot(101)}
        self.times = [ResponseTimes(), ResponseTimes()]
        self.dealer_cores: Sequence[int] = CORES
        self._now_s = self._dealer_s = 0.0
        by_pid = {bot.pid: bot for bot in self.bots.values()}
        monkeypatch.setattr(psutil, "Process", by_pid.__getitem__)
        monkeypatch.setattr(affinity.time, "monotonic", lambda: self._now_s)
        monkeypatch.setattr(affinity.time, "thread_time", lambda: self._dealer_s)
        monkeypatch.setattr(affinity, "_IS_WINDOWS", False)
        monkeypatch.setattr(os, "sched_setaffinity", self._set_cores, raising=False)
        self.shared = SharedCore(DealerCore(1, CORES, has_spare_cores=has_spare_cores), self.times)
        self.shared.examine({seat: bot.pid for seat, bot in self.bots.items()})

    def _set_cores(self, thread: int | tuple[int, int], cores: Sequence[int]) -> None:
        if isinstance(thread, tuple):
            next(bot for bot in self.bots.values() if bot.pid == thread[0]).cores = tuple(cores)
        else:
            self.dealer_cores = tuple(cores)

    def pass_second(
        self,
        decisions: int = 1000,
        us: int = 200,
        other_us: int = 200,
        computed_s: float = 0.3,
        thread_s: float = 0.0,
        dealer_s: float = 0.4,
    ) -> tuple[Sequence[int], ...]:
        """Play for a second; return the cores of the dealer and of both bots.

        Args:
            decisions: decisions of each bot.
            us: microseconds of a decision of the first bot.
            other_us: microseconds of a decision of the second bot.
            computed_s: CPU time of each bot's main thread.
            thread_s: CPU time of a second thread of the first bot.
            dealer_s: CPU time of the dealer.
        """
        for times, time_us in zip(self.times, (us, other_us), strict=True):
            for _ in range(decisions):
                times.add(time_us)
        for bot in self.bots.values():
            bot.threads_s[0] += computed_s
        if thread_s:
            first = self.bots[Seat(0)]
            first.threads_s = [first.threads_s[0], sum(first.threads_s[1:]) + thread_s]
        self._now_s += 1
        self._dealer_s += dealer_s
        self.shared.examine({seat: bot.pid for seat, bot in self.bots.items()})
        return (self.dealer_cores, *(bot.cores for bot in self.bots.values()))


BOUND = ((1,), (1,), (1,))
FREE = (CORES, CORES, CORES)


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch) -> Table:
    return Table(monkeypatch)


def test_quick_bots_are_bound_after_the_first_stretch(table: Table) -> None:
    # The first examination only looks up their processes.
    assert table.pass_second() == FREE
    assert table.pass_second() == BOUND
    table.shared.release()
    assert (table.dealer_cores, *(bot.cores for bot in table.bots.values())) == FREE


@pytest.mark.parametrize(
    "slow",
    [
        {"us": 1500},
        {"thread_s": 0.2},
        # Decisions of 0.2 s in all, and 0.7 s of computing between them.
        {"computed_s": 0.9},
    ],
)
@pytest.mark.parametrize("is_first_bound", [True, False])
def test_slow_bots_are_free(table: Table, slow: dict[str, float], is_first_bound: bool) -> None:
    table.pass_second()
    if is_first_bound:
        assert table.pass_second() == BOUND
    assert table.pass_second(**slow) == FREE  # type: ignore[arg-type]
    # A slow bot that was bound stays free. One that was not may have been warming up.
    expected = FREE if is_first_bound else BOUND
    assert table.pass_second() == expected


def test_without_spare_cores_only_the_slow_bot_is_released(monkeypatch: pytest.MonkeyPatch) -> None:
    table = Table(monkeypatch, has_spare_cores=False)
    table.pass_second()
    assert table.pass_second(us=1500) == ((1,), CORES, (1,))


def test_core_used_by_other_programs_is_released(table: Table) -> None:
    table.pass_second()
    assert table.pass_second() == BOUND
    assert table.pass_second(computed_s=0.2, dealer_s=0.1) == FREE
    assert table.pass_second() == FREE


def test_restarted_bot_is_examined_again(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    table.pass_second()
    assert table.pass_second() == BOUND
    table.bots[Seat(0)].pid += 10
    # Its new process is free, and the next stretch begins.
    monkeypatch.setattr(psutil, "Process", {bot.pid: bot for bot in table.bots.values()}.__getitem__)
    table.bots[Seat(0)].cores = CORES
    assert table.pass_second()[1] == CORES
    assert table.pass_second() == BOUND


def test_too_few_decisions_change_nothing(table: Table) -> None:
    table.pass_second()
    assert table.pass_second(decisions=5) == FREE
    assert table.pass_second() == BOUND
    assert table.pass_second(decisions=5, us=100_000) == BOUND


@pytest.mark.skipif(not usable_cores(), reason="this system binds to no core")
def test_processes_started_by_a_bound_dealer_can_use_all_cores() -> None:
    # A separate thread, so that the cores of this one do not change.
    counts: list[str] = []

    def start() -> None:
        cores = usable_cores()
        core = DealerCore(cores[0], cores, has_spare_cores=False)
        core.bind()
        core.bind()
        count = [sys.executable, "-I", "-S", "-c", "import os; print(len(os.sched_getaffinity(0)))"]
        with core.unbound():
            counts.append(subprocess.check_output(count, text=True))
        counts.append(subprocess.check_output(count, text=True))
        core.release()
        counts.append(f"{len(usable_cores())}\n")
        core.release()
        counts.append(f"{len(usable_cores())}\n")

    thread = threading.Thread(target=start)
    thread.start()
    thread.join()
    all_cores = f"{len(usable_cores())}\n"
    assert counts == [all_cores, "1\n", "1\n", all_cores]


@pytest.mark.parametrize(("text", "cores"), [("150000 100000", 2), ("50000 100000", 1), ("max 100000", 4), ("", 4)])
def test_quota_of_a_container_bounds_the_cores(
    text: str, cores: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cpu.max").write_text(text)
    monkeypatch.setattr(affinity, "_QUOTA_FILE", tmp_path / "cpu.max")
    monkeypatch.setattr(affinity, "usable_cores", lambda: (0, 1, 2, 3))
    assert affinity.core_count() == cores
