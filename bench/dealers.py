"""Runs of `arena play` and `arena tournament`: wall time, processor time and memory, by affinity and by workers.

Each round plays every run once in turn: bound and free, and with another checkout if one is named. With the folder of
the reference's programs, matches of its players are dealt by `arena play` and by the reference dealer, which has all
cores or one. The time of a run is that of the whole command. Measure on a quiet machine: what else computes takes the
cores that are compared here.
"""

from __future__ import annotations

import itertools
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import psutil

from bench.match import OWN, START_ARENA, other_checkout, reference_programs
from bench.served import is_dealer_process
from dealer.bench import Row
from protocol import find_game, format_game_definition

_SAMPLE_S: Final = 0.2
_SLOW: Final = """\
import time
from bots import Bot
class Slow(Bot):
    def act(self, view):
        time.sleep(0.005)
        return view.call()
"""
_THREADED: Final = """\
import threading
from bots import Bot
class Threaded(Bot):
    def prepare(self, game):
        threading.Thread(target=self._compute, daemon=True).start()
    def _compute(self):
        while True:
            sum(range(10_000))
    def act(self, view):
        return view.call()
"""
_RUNS: Final = {
    "one match, limit": "play limit calling raising --no-duplicate -n {hands}",
    "one match, no-limit": "play nolimit calling raising --no-duplicate -n {hands}",
    "one match, six players": (
        "play nolimit6 calling raising calling raising calling raising --no-duplicate -n {thirtieth}"
    ),
    "two seatings, limit": "play limit calling raising -n {hands}",
    "two seatings, no-limit": "play nolimit calling raising -n {hands}",
    "1 worker": "play limit calling raising -n {hands} --workers 1",
    "4 workers": "play limit calling raising -n {hands} --workers 4",
    "8 workers": "play limit calling raising -n {hands} --workers 8",
    "tournament of ten contests": "tournament limit calling raising random folding mfs -n {tenth}",
    "a bot that sleeps 5 ms": "play limit slow.py:Slow calling -n {twentieth}",
    "a bot with a busy thread": "play limit threaded.py:Threaded calling -n {tenth}",
}


class _Times(NamedTuple):
    """Seconds of a run, and the peak memory of its dealing processes together in MB."""

    wall: float
    cpu: float
    memory_mb: float


def measure(
    rounds: int = 3, hands: int = 3000, runs: Sequence[str] = (), checkout: str = "", reference: str = ""
) -> list[Row]:
    """Wall time, processor time and memory of whole runs, bound and free.

    Args:
        rounds: how often each run is played.
        hands: deals of the long runs.
        runs: words in the names of those to measure; all by default.
        checkout: another checkout, to compare this one with.
        reference: the folder with the reference's programs, dealer and example_player.

    Raises:
        RuntimeError: a run failed.
        ValueError: there is nothing to measure.
    """
    if sys.platform == "win32":
        raise ValueError("processor time of whole commands is measured on Linux and macOS only")
    if rounds < 1 or hands < 100:
        raise ValueError("at least one round of at least 100 hands is needed")
    contenders: dict[str, tuple[Path, str]] = {"bound": (OWN, ""), "free": (OWN, "--affinity off")}
    for name, path in other_checkout(checkout).items():
        contenders[name] = (path, "")
    programs = reference_programs(reference)
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "slow.py").write_text(_SLOW)
        Path(folder, "threaded.py").write_text(_THREADED)
        for name, command in _RUNS.items():
            if runs and not any(word in name for word in runs):
                continue
            counts = {"hands": hands, "thirtieth": hands // 30, "tenth": hands // 10, "twentieth": hands // 20}
            words = command.format_map(counts).split()
            times: dict[str, list[_Times]] = {who: [] for who in contenders}
            for _ in range(rounds):
                for who, (arena, options) in contenders.items():
                    times[who].append(_timed([*words, *options.split()], arena, folder))
            rows += _rows(name, times)
        for matches in (1, 8) if programs else ():
            rows += _against_reference(matches, rounds, hands, programs["reference"], folder)
    return rows


def _against_reference(matches: int, rounds: int, hands: int, reference: Path, folder: str) -> list[Row]:
    """Time matches of the reference's players, dealt by `arena play` and by the reference."""
    game = Path(folder, "limit.game")
    game.write_text(format_game_definition(find_game("limit")[1]), "ascii")
    player = f"{reference}/example_player {game}"
    total = hands * matches
    words = ["play", "limit", f"A={player}", f"B={player}", "--no-duplicate", "-n", str(total)]
    words += ["--workers", str(matches)]
    core = min(os.sched_getaffinity(0))
    times: dict[str, list[_Times]] = {"arena play": [], "reference, all cores": [], "reference, one core": []}
    for _ in range(rounds):
        times["arena play"].append(_timed(words, OWN, folder))
        for who, cores in (("reference, all cores", os.sched_getaffinity(0)), ("reference, one core", {core})):
            begun_s = time.perf_counter()
            started = [_start_reference(reference, game, hands, folder, number, cores) for number in range(matches)]
            for process in itertools.chain.from_iterable(started):
                if process.wait():
                    raise RuntimeError(f"{who} ended with exit code {process.returncode}")
            times[who].append(_Times(time.perf_counter() - begun_s, 0.0, 0.0))
    name = "one match of C players, limit"
    if matches > 1:
        name = f"{matches} matches of C players at once, limit"
    return _rows(name, times)


def _start_reference(
    reference: Path, game: Path, hands: int, folder: str, number: int, cores: Iterable[int]
) -> list[subprocess.Popen[bytes]]:
    """Start a match of the reference: its dealer and its players."""
    own_cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores)
    try:
        words = [f"{reference}/dealer", f"m{number}", str(game), str(hands), "1", "A", "B", "-q"]
        dealer = subprocess.Popen(words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        assert dealer.stdout is not None
        ports = dealer.stdout.readline().decode().split()
        players = [
            subprocess.Popen(
                [f"{reference}/example_player", str(game), "localhost", port],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            for port in ports
        ]
        return [dealer, *players]
    finally:
        os.sched_setaffinity(0, own_cores)


def _timed(words: Sequence[str], arena: Path, folder: str) -> _Times:
    with tempfile.TemporaryDirectory() as out:
        # Corrected scores take seconds where kernels have to be compiled.
        command = [
            *START_ARENA,
            *words,
            "--seed",
            "1",
            "--quiet",
            "--export",
            "none",
            "--score",
            "raw",
            "--out",
            f"{out}/run",
        ]
        environment = {**os.environ, "PYTHONPATH": str(arena)}
        begun_s = time.perf_counter()
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.DEVNULL)
        sampler = _Memory(process.pid)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        wall_s = time.perf_counter() - begun_s
        sampler.stop()
        if process.returncode:
            raise RuntimeError(f"arena {' '.join(words)} ended with exit code {process.returncode}")
        return _Times(wall_s, usage.ru_utime + usage.ru_stime, sampler.most_mb)


class _Memory:
    """Sampler of the memory of a run's processes apart from its bots, with shared pages counted once."""

    def __init__(self, pid: int) -> None:
        self.most_mb = 0.0
        self._pid = pid
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._sample, daemon=True)
        self._thread.start()

    def _sample(self) -> None:
        while not self._is_over.wait(_SAMPLE_S):
            try:
                process = psutil.Process(self._pid)
                dealing = [process, *(child for child in process.children(recursive=True) if is_dealer_process(child))]
                used = sum(one.memory_full_info().pss for one in dealing)
            except (psutil.Error, AttributeError):
                continue
            self.most_mb = max(self.most_mb, used / 1e6)

    def stop(self) -> None:
        self._is_over.set()
        self._thread.join()


def _rows(name: str, times: Mapping[str, Sequence[_Times]]) -> list[Row]:
    rows = []
    own = next(iter(times))
    for who, of_runs in times.items():
        walls = [run_times.wall for run_times in of_runs]
        ratio = None
        if who != own:
            pairs = zip(times[own], of_runs, strict=True)
            ratio = statistics.median(ours.wall / theirs.wall for ours, theirs in pairs)
        cpu_s = statistics.median(run_times.cpu for run_times in of_runs)
        memory_mb = max(run_times.memory_mb for run_times in of_runs)
        note = f"{cpu_s:.2f} s of processor time, {memory_mb:.0f} MB"
        rows.append(Row(name, who, statistics.median(walls), min(walls), max(walls), "s", ratio, note))
    return rows
