"""Measure the figures of a cluster in `research/tables/benchmarks.md`, and write them into the page.

    python research/cluster/remake.py

starts a cluster of two workers on this machine, plays a tournament with and without it, evaluates generations of the
training on it, and writes `measured.json` beside this script and the tables of the page. Times are processor times,
which still grow on a busy machine. The tests compare the page with the file; review the sentences around the tables
when the figures have changed.

"""

from __future__ import annotations

import asyncio
import json
import os
import pickle
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any, Final

sys.path.append(str(Path(__file__).resolve().parents[1]))
from blocks import APPENDIX, with_blocks

HERE: Final = Path(__file__).resolve().parent
PAGE: Final = APPENDIX / "benchmarks.md"
MEASURED: Final = HERE / "measured.json"

HANDS: Final = 500
BOTS: Final = ("calling", "raising", "random", "folding", "Loose=random?fold=0.05", "Wild=random?raise=0.6")
SEED: Final = 7
LENGTHS: Final = (500, 3_000)
"""Deals of two contests, whose difference gives the cost of a further hand."""
GENERATIONS: Final = 3
SMALL_TASKS: Final = 1_000
MACHINES: Final = 100
CORES: Final = 2
"""Cores of each machine in the estimate."""


class _Carried:
    """Bytes sent to the workers and back."""

    def __init__(self) -> None:
        self.sent = self.back = self.tasks = 0

    def watching(self, submit: Callable[..., Future[Any]]) -> Callable[..., Future[Any]]:
        """Wrap the method that submits tasks to count the bytes of arguments and results."""

        def counted(function: Callable[..., Any], *arguments: Any, **options: Any) -> Future[Any]:
            self.tasks += 1
            self.sent += len(pickle.dumps(arguments, 5))
            future = submit(function, *arguments, **options)
            future.add_done_callback(self._count)
            return future

        return counted

    def _count(self, future: Future[Any]) -> None:
        self.back += len(pickle.dumps(future.result(), 5))


def _processor_s() -> float:
    """Processor time of this process, which excludes that of the workers."""
    taken = os.times()
    return taken.user + taken.system


def tournament(folder: Path, cluster: Any = None, bots: Sequence[str] = BOTS, hands: int = HANDS) -> tuple[Any, float]:
    """Play the tournament; return its result and this process's processor time."""
    from dealer.run.run import new_run
    from dealer.run.run_settings import validated
    from dealer.table.loop import new_event_loop

    run = new_run(
        validated(
            {
                "command": "tournament",
                "bots": list(bots),
                "games": ["limit"],
                "deals": hands,
                "seed": SEED,
                "in_process": True,
            }
        ),
        folder,
    )
    began_s = _processor_s()
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        result = runner.run(run.play(cluster=cluster))
    assert result.outcome.is_complete, result.sentence
    return result, _processor_s() - began_s


class _Canned:
    """Cluster in this process that returns recorded reports."""

    name = "a cluster that has played before"

    def __init__(self) -> None:
        self.reports: list[bytes] = []
        self.is_played = False

    def submit(self, function: Callable[..., bytes], *arguments: Any, hear: object) -> Future[bytes]:
        """Return the report of the next contest."""
        future: Future[bytes] = Future()
        if self.is_played:
            future.set_result(self.reports[0])
        else:
            # A thread has no running loop.
            threading.Thread(target=self._play, args=(future, function, arguments)).start()
        return future

    def _play(self, future: Future[bytes], function: Callable[..., bytes], arguments: tuple[Any, ...]) -> None:
        self.reports.append(function(*arguments))
        future.set_result(self.reports[0])


def taken_in_us() -> float:
    """Processor time per received hand: of a long contest less that of a short one."""
    taken = []
    for hands in LENGTHS:
        cluster = _Canned()
        with tempfile.TemporaryDirectory() as name:
            tournament(Path(name, "first"), cluster, ("calling", "raising"), hands)
            cluster.is_played = True
            taken.append(tournament(Path(name, "again"), cluster, ("calling", "raising"), hands)[1])
    return 1e6 * (taken[1] - taken[0]) / (2 * (LENGTHS[1] - LENGTHS[0]))


def measure() -> dict[str, float]:
    """Measure all figures."""
    from distributed import Client, LocalCluster

    from bots.evolved.training import EvolvedSettings, trainer_evolution
    from bots.workers import cluster_workers

    found: dict[str, float] = {"taken_in_us": taken_in_us()}
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as local,
        Client(local) as client,
        cluster_workers(local.scheduler_address) as workers,
        tempfile.TemporaryDirectory() as name,
    ):
        submit = workers.submit
        folder = Path(name)
        local_result, alone_s = tournament(folder / "here")
        # The first tournament includes the imports of the workers.
        tournament(folder / "first", workers)
        carried = _Carried()
        workers.submit = carried.watching(submit)  # type: ignore[method-assign]
        before = sum(client.run(_processor_s).values())
        cluster_result, dealer_s = tournament(folder / "there", workers)
        away_s = sum(client.run(_processor_s).values()) - before
        hands = sum(contest.hands_played for contest in cluster_result.contests)
        assert [_log(path) for path in _logs(folder / "here")] == [_log(path) for path in _logs(folder / "there")]
        assert local_result.standings == cluster_result.standings
        files = sum(path.stat().st_size for path in (folder / "there").rglob("*") if path.is_file())
        found |= {
            "contests": len(cluster_result.contests),
            "hands": hands,
            "alone_us": 1e6 * alone_s / hands,
            "away_us": 1e6 * away_s / hands,
            "at_home_s": dealer_s,
            "bytes_sent": carried.sent / len(cluster_result.contests),
            "bytes_back": carried.back / hands,
            "bytes_of_files": files / hands,
        }
        workers.submit = submit  # type: ignore[method-assign]

        workers.map(abs, range(100))
        began_s = _processor_s()
        workers.map(abs, range(SMALL_TASKS))
        found["task_us"] = 1e6 * (_processor_s() - began_s) / SMALL_TASKS

        evolution = trainer_evolution(EvolvedSettings(), over=workers.map, parts=4 * workers.count)
        evolution.step()
        carried = _Carried()
        workers.submit = carried.watching(submit)  # type: ignore[method-assign]
        before, began_s = sum(client.run(_processor_s).values()), _processor_s()
        for _ in range(GENERATIONS):
            evolution.step()
        dealer_s, away_s = _processor_s() - began_s, sum(client.run(_processor_s).values()) - before
        found |= {
            "generation_tasks": carried.tasks / GENERATIONS,
            "generation_sent": carried.sent / GENERATIONS,
            "generation_back": carried.back / GENERATIONS,
            "generation_home_s": dealer_s / GENERATIONS,
            "generation_away_s": away_s / GENERATIONS,
            "generation_hands": 100 * EvolvedSettings().deals * EvolvedSettings().population,
        }
        workers.submit = submit  # type: ignore[method-assign]
    return found


def _logs(run: Path) -> list[Path]:
    return sorted(run.rglob("*.log"))


def _log(path: Path) -> tuple[str, bytes]:
    return f"{path.parent.name}/{path.name}", path.read_bytes()


def tables(found: Mapping[str, float]) -> dict[str, str]:
    """Tables of the page by name."""
    workers = MACHINES * CORES
    rate = 1e6 / found["away_us"]
    limit = 1e6 / found["taken_in_us"]
    return {
        "tournament": _table(
            [
                ("contests, hands", f"{found['contests']:,.0f}, {found['hands']:,.0f}"),
                ("processor time per hand, one machine, no cluster", f"{found['alone_us']:,.0f} µs"),
                ("processor time per hand, both workers together", f"{found['away_us']:,.0f} µs"),
                ("local processor time, total", f"{found['at_home_s']:,.1f} s"),
                ("of that, for each additional hand received", f"{found['taken_in_us']:,.1f} µs"),
                ("bytes sent per contest", f"{found['bytes_sent']:,.0f}"),
                ("bytes received per hand", f"{found['bytes_back']:,.0f}"),
                ("the same uncompressed, in the folder of the run", f"{found['bytes_of_files']:,.0f}"),
                ("local processor time per empty task", f"{found['task_us']:,.0f} µs"),
            ]
        ),
        "paper": _table(
            [
                ("hands per second of one worker", f"{rate:,.0f}"),
                (f"hands per second of {MACHINES} machines with {CORES} workers each", f"{workers * rate:,.0f}"),
                ("bytes received per second", f"{workers * rate * found['bytes_back'] / 1e6:,.1f} million"),
                ("hands per second that the local machine can receive", f"{limit:,.0f}"),
                ("workers that saturate it", f"{limit / rate:,.0f}"),
                ("tasks per second that it can distribute", f"{1e6 / found['task_us']:,.0f}"),
            ]
        ),
        "evolve": _table(
            [
                ("hands per generation", f"{found['generation_hands']:,.0f}"),
                ("tasks per generation", f"{found['generation_tasks']:,.0f}"),
                ("processor time per generation, both workers together", f"{found['generation_away_s']:,.2f} s"),
                ("local processor time per generation", f"{found['generation_home_s']:,.2f} s"),
                ("bytes sent per generation", f"{found['generation_sent'] / 1e6:,.1f} million"),
                ("bytes received per generation", f"{found['generation_back'] / 1e6:,.2f} million"),
            ]
        ),
    }


def _table(rows: list[tuple[str, str]]) -> str:
    return "\n".join(["| | |", "| --- | ---: |", *[f"| {what} | {value} |" for what, value in rows]])


def with_tables(page: str, found: Mapping[str, float]) -> str:
    """Return the page with these figures."""
    return with_blocks(page, {name: f"{table}\n" for name, table in tables(found).items()})


def main() -> None:
    """Measure and write."""
    began_s = time.monotonic()
    figures = measure()
    MEASURED.write_text(json.dumps(figures, indent=1) + "\n", "utf-8")
    if PAGE.exists():
        PAGE.write_text(with_tables(PAGE.read_text("utf-8"), figures), "utf-8")
    print(f"{MEASURED.name} and {PAGE.name} are written after {time.monotonic() - began_s:.0f} s")


if __name__ == "__main__":
    sys.exit(main())
