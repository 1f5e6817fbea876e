"""Matches in process by several workers: the same logs, results and stops as by one."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import CancelledError
from pathlib import Path
from typing import Any

import pytest

import dealer
from bots.errors import WorkersError
from bots.sdk.bot import Bot
from bots.sdk.view import View
from bots.workers import local_workers
from dealer.match.setup import EarlierHands
from dealer.run import sliced_run
from dealer.run.sliced_run import SliceProcesses
from engine import Action
from tests.dealer.helpers import PATIENCE_S, program_env
from tests.programs import forked_workers


@pytest.fixture(scope="module", autouse=True)
def _workers_are_forked() -> Iterator[None]:
    with forked_workers("dealer.run.slice_worker", __name__):
        yield


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


class Drawing(Bot):
    """Bot whose actions and comments depend on the hand number only."""

    def act(self, view: View) -> Action:
        if view.hand_number % 10 == 0:
            print(f"hand {view.hand_number}")
            view.comment(f"number {view.hand_number}")
        return view.raise_min() if view.hand_number % 3 == 0 and view.can_raise else view.call()


class Failing(Drawing):
    """Bot that fails in one way in one hand: in ``act``, in ``hand_finished`` or by an ``exit`` in ``act``."""

    def __init__(self, failure: str, hand: int) -> None:
        self.failure = failure
        self.hand = hand

    def act(self, view: View) -> Action:
        if view.hand_number == self.hand:
            if self.failure == "act":
                raise ZeroDivisionError
            if self.failure == "exit":
                os._exit(3)
        return super().act(view)

    def hand_finished(self, view: View) -> None:
        if view.hand_number == self.hand and self.failure == "hand_finished":
            raise ZeroDivisionError


class Remembering(Drawing):
    """Bot whose actions depend on its winnings in earlier hands, which a slice of a match does not have."""

    def __init__(self) -> None:
        self.winnings = 0.0

    def hand_finished(self, view: View) -> None:
        self.winnings += view.value

    def act(self, view: View) -> Action:
        return view.raise_min() if self.winnings < 0 and view.can_raise else view.call()


class Stuck(Drawing):
    def act(self, view: View) -> Action:
        if view.hand_number == 7:
            Path("stuck").touch()
            while True:
                time.sleep(0.01)
        return super().act(view)


def _compared(result: dealer.ContestResult) -> dict[str, Any]:
    """Return the result without times and folders."""
    data = result.model_dump(exclude={"seconds", "hands_per_second", "folder", "resume", "dealer"})
    for player in data["players"]:
        for name in ("thinking_s", "median_us", "p99_us"):
            del player[name]
    return data


def _files(folder: str) -> dict[str, bytes | list[list[bytes]]]:
    """Logs, comments, faults and outputs, and transactions without their times."""
    files: dict[str, bytes | list[list[bytes]]] = {
        path.name: path.read_bytes()
        for kind in ("log", "comments", "faults", "out")
        for path in sorted(Path(folder).glob(f"*.{kind}"))
    }
    for path in sorted(Path(folder).glob("*.tlog")):
        files[path.name] = [line.split()[:2] for line in path.read_bytes().splitlines()]
    return files


def _play(workers: int, bots: Any, game: str = "kuhn", **settings: Any) -> tuple[Any, Any, Any]:
    """Return the result, the files, and the events of each match."""
    events = defaultdict(list)

    def watch(event: dealer.MatchEvent) -> None:
        match_event = event.event
        values: Any = None
        if isinstance(match_event, dealer.HandFinished):
            values = match_event.record.values
        elif isinstance(match_event, dealer.MatchEnded):
            values = (match_event.hands, match_event.totals)
        events[event.match].append((type(match_event).__name__, values))

    options: dict[str, Any] = {"deals": 60, "seed": 5, "in_process": True} | settings
    result = dealer.play(game, bots, out=f"by{workers}", workers=workers, watch=watch, **options)
    return _compared(result), _files(f"by{workers}"), dict(events)


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("bots", "workers", "settings"),
    [
        ([Drawing, "random"], 3, {"game": "leduc", "deals": 41}),
        ([Drawing, "random"], 2, {}),
        ([Drawing(), Remembering], 2, {}),
        (["random", Failing("act", 41)], 3, {"seating": "single"}),
        (["random", Failing("hand_finished", 29)], 4, {"seating": "single"}),
        (["random", "raising", Failing("act", 17)], 2, {"game": "kuhn.limit.3p", "on_fault": "forfeit"}),
        (["random", Failing("hand_finished", 29)], 4, {"on_fault": "forfeit"}),
        (["random", "raising"], 3, {"deals": 30_000, "stop": "ci=60"}),
    ],
    ids=["cut", "two", "memory", "end", "late end", "forfeit", "late", "stop"],
)
def test_number_of_workers_changes_nothing(bots: Any, workers: int, settings: dict[str, Any]) -> None:
    expected_result, expected_files, expected_events = _play(1, bots, **settings)
    result, files, events = _play(workers, bots, **settings)
    assert result == expected_result
    assert files == expected_files
    assert events == expected_events


@pytest.mark.parametrize(("limits", "slices"), [({}, 4), ({"t_per_hand_s": 1.0}, 1)])
def test_match_with_a_short_clock_is_not_cut(
    monkeypatch: pytest.MonkeyPatch, limits: dict[str, float], slices: int
) -> None:
    # A slice knows nothing of the time that the others have used.
    ends: list[int] = []

    class CountedSlice(sliced_run._Slice):
        def __init__(self, processes: SliceProcesses, progress: EarlierHands, end: int, max_steps: int) -> None:
            ends.append(end)
            super().__init__(processes, progress, end, max_steps)

    monkeypatch.setattr(sliced_run, "_Slice", CountedSlice)
    settings: dict[str, Any] = {"deals": 40, "seating": "single", **limits}
    dealer.play("kuhn", ["calling", "random"], seed=1, in_process=True, workers=4, out="run", **settings)
    assert len(ends) == slices


@pytest.mark.slow
def test_number_of_workers_does_not_change_a_tournament() -> None:
    tournaments = [
        dealer.tournament(
            ["kuhn"],
            [Drawing, "random", "calling"],
            deals=20,
            seed=1,
            in_process=True,
            workers=workers,
            out=f"t{workers}",
        )
        for workers in (1, 2)
    ]
    assert tournaments[0].standings == tournaments[1].standings
    for path in Path("t1").glob("*/*.log"):
        assert path.read_bytes() == Path("t2", *path.parts[1:]).read_bytes()


def test_bot_that_ends_its_process_ends_the_contest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dealer.run.sliced_run._MAX_LOSSES", 2)
    result = dealer.play(
        "kuhn", [Failing("exit", 5), "random"], deals=20, seed=1, seating="single", workers=2, out="run"
    )
    assert result.outcome is dealer.Outcome.FAILED
    assert re.fullmatch(
        r"the process of Failing and random ended unexpectedly in or soon after hand [0-5], 2 times in a row; "
        r"the code of a bot or the system ended it\.",
        result.reason,
    )
    assert result.hands_played <= 5


@pytest.mark.parametrize("bot", [pytest.param(Drawing, marks=pytest.mark.slow), Stuck])
async def test_interrupted_run_can_be_resumed(bot: type[Bot]) -> None:
    options: dict[str, Any] = {"deals": 1000, "seed": 1, "workers": 2}

    is_ready = asyncio.Event()

    def on_progress(progress: dealer.Progress) -> None:
        if progress.hands >= 5 if bot is Drawing else Path("stuck").exists():
            is_ready.set()

    task = asyncio.create_task(
        dealer.play_async("kuhn", [bot, "random"], out="run", on_progress=on_progress, **options)
    )
    async with asyncio.timeout(PATIENCE_S):
        await is_ready.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    hands = sum(path.read_text().count("STATE:") for path in Path("run").glob("*.log"))
    assert hands < 2000
    if bot is Drawing:
        await dealer.resume_async("run")
        await dealer.play_async("kuhn", [bot, "random"], out="whole", **options)
        assert _files("run") == _files("whole")


def test_bot_that_cannot_be_pickled_is_refused() -> None:
    class Local(Drawing):
        pass

    class Notebook(Drawing):
        __module__ = "__main__"

    options: dict[str, Any] = {"deals": 2, "workers": 2}
    for bot, words in (
        (Local, "workers: Local cannot be taken to worker processes: .*Local.*; play with 1 worker$"),
        (Notebook, "workers: Notebook cannot be taken to worker processes: its class is of the main program or a note"),
    ):
        with pytest.raises(dealer.ConfigError, match=f"^{words}"):
            dealer.play("kuhn", [bot, "random"], **options)
    with pytest.raises(dealer.ConfigError, match=r"^workers: learner learns, in process with 1 worker only"):
        dealer.play("limit", ["learner", "random"], in_process=True, **options)


SCRIPT = """
from dealer import play

print("begins")
print(play("kuhn", ["mine.py:Mine", "random"], deals=1, seating="single", in_process=True, workers=2).hands_played)
"""
MINE = "from bots import Bot\n\n\nclass Mine(Bot):\n    def act(self, view):\n        return view.call()\n"


def test_script_without_a_guard_plays_once(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SCRIPT)
    (tmp_path / "mine.py").write_text(MINE)
    program = subprocess.run(
        [sys.executable, "script.py"], env=program_env(), capture_output=True, text=True, timeout=PATIENCE_S
    )
    assert program.stdout == "begins\n1\n"
    assert program.stderr == ""


def test_end_of_workers_does_not_end_other_workers() -> None:
    with local_workers(1) as other_workers:
        assert other_workers.map(abs, [-1]) == [1]
        workers = local_workers(1)
        pid = workers.submit(os.getpid).result()
        sleeping = workers.submit(time.sleep, PATIENCE_S)
        workers.end(at_once=True)
        # A task that has not started is cancelled.
        with pytest.raises((WorkersError, CancelledError)):
            sleeping.result(PATIENCE_S)
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
        assert other_workers.map(abs, [-2]) == [2]
