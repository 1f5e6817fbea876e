"""Dealer processes: the same files and results as without them, whatever ends them."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

from dealer import library
from dealer.library import MatchEvent, play, resume, tournament
from dealer.run.ending import Outcome
from dealer.run.results import ContestResult
from tests.dealer.helpers import PATIENCE_S, without_times

FILES = ("*.log", "*.game", "*.comments", "*.faults")


@pytest.fixture(autouse=True)
def _many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library, "MIN_HANDS", 0)


def _alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library, "MIN_HANDS", 1 << 40)


def _dealer_processes() -> list[psutil.Process]:
    """The processes below this one that deal."""
    children = psutil.Process().children(recursive=True)
    return [child for child in children if any("dealer.run.dealer_process" in word for word in _words(child))]


def _words(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []


def _files(folder: Path) -> dict[str, bytes]:
    found = [path for pattern in FILES for path in folder.rglob(pattern)]
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


@pytest.mark.parametrize(
    ("game", "bots", "settings"),
    [
        ("limit", ["calling", "random"], {"deals": 60}),
        ("nolimit", ["random", "random"], {"deals": 30, "workers": 3, "affinity": "off"}),
        ("kuhn3", ["random", "calling", "raising"], {"deals": 40}),
        ("kuhn", ["raising", "random"], {"stop": "ci=400", "deals": 2000}),
        ("kuhn", ["raising", "random"], {"stop": "better:0,200", "deals": 1000, "score": "corrected"}),
    ],
)
def test_files_and_results_are_those_of_one_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, game: str, bots: list[str], settings: dict[str, Any]
) -> None:
    settings = {"workers": 2, "seed": 7} | settings
    apart = play(game, bots, out=tmp_path / "a" / "run", **settings)
    _alone(monkeypatch)
    alone = play(game, bots, out=tmp_path / "b" / "run", **settings)
    assert without_times(apart.model_dump(mode="json")) == without_times(alone.model_dump(mode="json"))
    assert _files(tmp_path / "a") == _files(tmp_path / "b")
    assert not _dealer_processes()


def test_tournament_is_that_of_one_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bots = ["calling", "random", "raising"]
    apart = tournament(["kuhn", "leduc"], bots, out=tmp_path / "a" / "run", deals=20, seed=3, workers=2)
    _alone(monkeypatch)
    alone = tournament(["kuhn", "leduc"], bots, out=tmp_path / "b" / "run", deals=20, seed=3, workers=2)
    assert without_times(apart.model_dump(mode="json")) == without_times(alone.model_dump(mode="json"))
    assert _files(tmp_path / "a") == _files(tmp_path / "b")


def test_events_are_those_of_one_process(monkeypatch: pytest.MonkeyPatch) -> None:
    def watched() -> dict[str, list[str]]:
        events: dict[str, list[str]] = {}

        def watch(event: MatchEvent) -> None:
            events.setdefault(event.match, []).append(type(event.event).__name__)

        play("kuhn", ["calling", "random"], deals=20, seed=1, workers=2, watch=watch)
        return events

    apart = watched()
    _alone(monkeypatch)
    assert apart == watched()
    assert set(apart) == {"match.a", "match.b"}


@pytest.fixture
def failing_bot(tmp_path: Path) -> str:
    path = tmp_path / "failing.py"
    path.write_text(
        "from bots import Bot\nclass Failing(Bot):\n    def act(self, view):\n        raise ValueError('no idea')\n"
    )
    return f"{path}:Failing"


def test_failing_bot_gets_the_same_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing_bot: str) -> None:
    def reason() -> str:
        result = play("kuhn", [f"Bad={failing_bot}", "calling"], deals=5, seed=1, workers=2)
        assert result.outcome is Outcome.FAILED
        # Which of the two matches fails first is not determined.
        return result.reason.partition("MATCHSTATE")[0]

    apart = reason()
    _alone(monkeypatch)
    assert apart == reason()
    assert "no idea" in apart


def test_bot_that_cannot_start_raises_the_same_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "program"
    program.write_text("no interpreter\n")
    program.chmod(0o755)

    def sentence() -> str:
        with pytest.raises(library.StartError) as caught:
            play("kuhn", [f"Bad={program}", "calling"], deals=5, seed=1, workers=2)
        return str(caught.value)

    apart = sentence()
    _alone(monkeypatch)
    assert apart == sentence()


def _killed_once(folder: Path) -> ContestResult:
    """Play until some hands are logged, and kill a dealer process then."""

    def kill(progress: library.Progress) -> None:
        processes = _dealer_processes()
        if progress.hands > 50 and processes and not killed:
            killed.append(processes[0].pid)
            processes[0].send_signal(signal.SIGKILL)

    killed: list[int] = []
    result = play("limit", ["calling", "random"], deals=2000, seed=5, workers=2, out=folder, on_progress=kill)
    assert killed
    return result


def test_killed_dealer_is_one_sentence_and_the_run_resumes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "a" / "run"
    result = _killed_once(folder)
    assert result.outcome is Outcome.FAILED
    assert result.reason in {f"the dealer process of match.{name} ended unexpectedly." for name in "ab"}
    until_s = time.monotonic() + PATIENCE_S
    while any("bots.sdk.builtin" in word for child in psutil.Process().children() for word in _words(child)):
        assert time.monotonic() < until_s
    resumed = resume(folder)
    assert resumed.outcome is Outcome.FINISHED
    _alone(monkeypatch)
    whole = play("limit", ["calling", "random"], deals=2000, seed=5, workers=2, out=tmp_path / "b" / "run")
    assert _files(tmp_path / "a") == _files(tmp_path / "b")
    assert isinstance(resumed, ContestResult)
    assert [player.chips for player in resumed.players] == [player.chips for player in whole.players]


@pytest.mark.skipif(os.name == "nt", reason="a process that is killed leaves no copies of its locks there")
def test_processes_that_inherit_a_lock_hold_it(tmp_path: Path) -> None:
    from dealer.errors import FolderBusyError
    from dealer.run.folder import is_busy, lock_run

    lock = lock_run(tmp_path)
    # As `close`, but the file stays: the process is killed.
    with subprocess.Popen(["sleep", "300"], pass_fds=[lock.fileno()]) as process:
        lock._file.close()
        try:
            assert is_busy(tmp_path)
            with pytest.raises(FolderBusyError):
                lock_run(tmp_path)
        finally:
            process.kill()
    assert not is_busy(tmp_path)
