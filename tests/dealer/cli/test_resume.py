"""``arena resume`` after kills, interruptions and full disks: the same files as without them."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.dealer.cli.conftest import Arena, CommandResult
from tests.dealer.helpers import ARENA, CONNECT, CONTROL_CODES, PATIENCE_S, program_env, without_times, write_program
from tests.programs import Program, start

unix_only = pytest.mark.skipif(os.name == "nt", reason="signals of Unix")
needs_full = pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")

RUNS: dict[str, list[str]] = {
    "play": ["play", "kuhn", "random", "calling", "-n", "150", "--workers", "2"],
    "slices": ["play", "leduc", "random", "random", "-n", "120", "--workers", "4"],
    "until it is known": [
        "play",
        "kuhn",
        "random",
        "folding",
        "-n",
        "2000",
        "--stop",
        "better:0,500",
        "--workers",
        "2",
    ],
    "tournament": ["tournament", "kuhn", "random", "calling", "folding", "-n", "60", "--workers", "3"],
    "in one process": ["play", "limit", "random", "raising", "-n", "1500", "--in-process"],
    "long, in one process": ["play", "limit", "random", "raising", "-n", "3000", "--in-process"],
}
"""Settings of runs that are in different states when they are killed."""
LONG = "long, in one process"


def _start(folder: Path, *arguments: str) -> Program:
    return start([*ARENA, *arguments, "--quiet"], cwd=folder, env=program_env())


def _logs(run: Path) -> dict[str, bytes]:
    return {str(path.relative_to(run)): path.read_bytes() for path in sorted(run.rglob("*.log"))}


def _hands(run: Path) -> int:
    try:
        return sum(log.count(b"\nSTATE:") for log in _logs(run).values())
    except OSError:
        return 0


class _HandCount:
    """Counter of finished hands in the logs of a run, which reads only new bytes."""

    def __init__(self, run: Path) -> None:
        self._run = run
        self._read: dict[Path, int] = {}
        self._hands = 0

    def __call__(self) -> int:
        for path in self._run.rglob("*.log"):
            with contextlib.suppress(OSError), path.open("rb") as file:
                file.seek(self._read.get(path, 0))
                lines, end, _ = file.read().rpartition(b"\n")
                self._read[path] = self._read.get(path, 0) + len(lines + end)
                self._hands += sum(line.startswith(b"STATE:") for line in lines.split(b"\n"))
        return self._hands


def _result(run: Path) -> Any:
    return without_times(json.loads((run / "result.json").read_text("utf-8")))


def _kill_at(process: Program, is_time: Callable[[], bool]) -> bool:
    """Kill the process once the condition is true; return whether it was still running."""
    until_s = time.monotonic() + PATIENCE_S
    while process.poll() is None and not is_time():
        assert time.monotonic() < until_s, "the run does not get on"
        time.sleep(0.002)
    process.kill()
    process.communicate()
    return process.returncode != 0


def _check_kills(folder: Path, arena: Arena, kind: str, draw: random.Random, kills: int) -> int:
    """Kill and resume a run several times, and compare it with an uninterrupted run."""
    seed = ["--seed", str(draw.randrange(1000))]
    for path in ("whole", "killed"):
        assert not (folder / path).exists()
    whole = arena(*RUNS[kind], *seed, "--out", "whole")
    assert whole.code == 0, whole.err
    hands = _hands(folder / "whole")
    run = folder / "killed"
    killed = 0
    for place in sorted(draw.randrange(hands) for _ in range(kills)):
        command = ["resume", "killed"] if (run / "run.toml").exists() else [*RUNS[kind], *seed, "--out", "killed"]
        count = _HandCount(run)
        killed += _kill_at(_start(folder, *command), lambda place=place, count=count: count() > place)  # type: ignore[misc]
    resumed = arena("resume", "killed")
    assert resumed.code == 0, resumed.err
    assert _logs(run) == _logs(folder / "whole")
    assert _result(run) == _result(folder / "whole")
    return killed


def _learnt(run: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for suffix in ("log", "journal", "memory") for path in run.glob(f"*.{suffix}")}


@pytest.mark.parametrize("kills", [1, pytest.param(8, marks=pytest.mark.slow)])
def test_resumed_training_learns_the_same(tmp_path: Path, arena_here: Arena, kills: int) -> None:
    hands = 15 * kills
    training = ["play", "nolimit", "learner?memory=own.memory", "calling", "-n", str(hands), "--seed", "4"]
    whole = arena_here(*training, "--in-process", "--out", "whole")
    assert whole.code == 0, whole.err
    (tmp_path / "own.memory").rename(tmp_path / "uninterrupted.memory")
    run = tmp_path / "killed"
    for place in sorted(random.Random(kills).randrange(2 * hands) for _ in range(kills)):
        command = (
            ["resume", "killed"] if (run / "run.toml").exists() else [*training, "--workers", "2", "--out", "killed"]
        )
        count = _HandCount(run)
        _kill_at(_start(tmp_path, *command), lambda place=place, count=count: count() > place)  # type: ignore[misc]
    resumed = arena_here("resume", "killed")
    assert resumed.code == 0, resumed.err
    assert _learnt(run) == _learnt(tmp_path / "whole")
    assert (tmp_path / "own.memory").read_bytes() == (tmp_path / "uninterrupted.memory").read_bytes()


@pytest.mark.sampled
@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=pytest.mark.slow) if kind == LONG else kind for kind in RUNS]
)
def test_resumed_run_equals_an_uninterrupted_one(tmp_path: Path, arena_here: Arena, kind: str) -> None:
    assert _check_kills(tmp_path, arena_here, kind, random.Random(kind), 2)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [kind for kind in RUNS if kind != "in one process"])
def test_run_killed_ten_times_equals_an_uninterrupted_one(tmp_path: Path, arena: Arena, kind: str) -> None:
    """Kills at random numbers of hands."""
    _check_kills(tmp_path, arena, kind, random.Random(f"ten {kind}"), 10)


def test_run_killed_before_its_first_hand_is_resumed(tmp_path: Path, arena_here: Arena) -> None:
    words = ("play", "kuhn", "random", "calling", "-n", "20", "--seed", "1", "--in-process")
    process = _start(tmp_path, *words, "--out", "killed")
    _kill_at(process, (tmp_path / "killed" / "run.toml").exists)
    assert arena_here("resume", "killed").code == 0
    arena_here(*words, "--out", "whole")
    assert _logs(tmp_path / "killed") == _logs(tmp_path / "whole")


def test_bots_of_a_killed_run_exit(tmp_path: Path) -> None:
    began, ended = (f"open({str(tmp_path / name)!r}, 'w').close()\n" for name in ("began", "ended"))
    code = f"{CONNECT}hello()\n{began}try:\n    while f.readline(): pass\nfinally:\n    {ended}"
    bot = "Bob=" + write_program(tmp_path, "bob.py", code)
    process = _start(tmp_path, "play", "kuhn", bot, "calling", "-n", "5", "--out", "killed")
    assert _kill_at(process, (tmp_path / "began").exists)
    until_s = time.monotonic() + PATIENCE_S
    while not (tmp_path / "ended").exists():
        assert time.monotonic() < until_s
        time.sleep(0.01)


@unix_only
def test_interrupted_tournament_names_the_command_that_resumes_it(tmp_path: Path) -> None:
    kind = ["tournament", "kuhn", "random", "calling", "folding", "-n", "20000", "--workers", "2"]
    process = _start(tmp_path, *kind, "--seed", "1", "--out", "cup")
    until_s = time.monotonic() + PATIENCE_S
    while _hands(tmp_path / "cup") < 20:
        assert time.monotonic() < until_s
        time.sleep(0.01)
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 130, err
    assert b"arena resume cup" in out
    assert not CONTROL_CODES.search(out)
    for log in _logs(tmp_path / "cup").values():
        assert log.endswith(b"\n")
    assert json.loads((tmp_path / "cup" / "result.json").read_text())["resume"] == "arena resume cup"


def test_running_run_is_not_resumed(tmp_path: Path, arena_here: Arena) -> None:
    process = _start(tmp_path, "play", "kuhn", "random", "calling", "-n", "1000000", "--out", "busy")
    until_s = time.monotonic() + PATIENCE_S
    while not _hands(tmp_path / "busy"):
        assert time.monotonic() < until_s
        time.sleep(0.01)
    completed = arena_here("resume", "busy")
    assert _kill_at(process, lambda: True)
    assert completed.code == 2
    assert completed.sentence == "the run in busy is still running in another process"


# ---- repaired faults


def test_failed_run_is_resumed_with_a_repaired_bot(tmp_path: Path, arena_here: Arena) -> None:
    code = CONNECT + (
        "hello()\nfor line in f:\n"
        "    _, position, hand, betting, cards = line.split(b':')\n"
        "    if hand == b'7' and not os.path.exists('mended'): os._exit(3)\n"
        "    if {b'': b'0', b'c': b'1', b'r': b'1', b'cr': b'0'}.get(betting) == position: call(line)\n"
    )
    bot = "Bob=" + write_program(tmp_path, "bob.py", code)
    failed = arena_here("play", "kuhn", bot, "random", "-n", "20", "--seed", "3", "--workers", "1", "--out", "run")
    assert failed.code == 1
    assert "Bob closed the connection in hand 7" in failed.out
    assert "arena resume run" in failed.out
    (tmp_path / "mended").touch()
    assert arena_here("resume", "run").code == 0
    arena_here("play", "kuhn", bot, "random", "-n", "20", "--seed", "3", "--workers", "1", "--out", "whole")
    assert _logs(tmp_path / "run") == _logs(tmp_path / "whole")
    assert _result(tmp_path / "run") == _result(tmp_path / "whole")
    assert json.loads((tmp_path / "run" / "result.json").read_text())["players"][0]["faults"] == {}


# ---- runs that cannot be resumed


def _finished(arena: Arena) -> CommandResult:
    completed = arena("play", "kuhn", "random", "calling", "-n", "20", "--seed", "1", "--in-process", "--out", "run")
    assert completed.code == 0
    return completed


def test_log_of_another_run_is_refused(tmp_path: Path, arena_here: Arena) -> None:
    _finished(arena_here)
    log = next(iter(sorted((tmp_path / "run").glob("*.log"))))
    log.write_bytes(log.read_bytes().replace(b" 1\n", b" 2\n", 1))
    (tmp_path / "run" / "result.json").unlink()
    completed = arena_here("resume", "run")
    assert completed.code == 2
    assert f"{log.name}, line 1: this is the log of another match" in completed.sentence


def test_damaged_configuration_is_refused(tmp_path: Path, arena_here: Arena) -> None:
    _finished(arena_here)
    (tmp_path / "run" / "run.toml").write_text("game = \n")
    completed = arena_here("resume", "run")
    assert completed.code == 2
    assert "run.toml" in completed.sentence
    assert "line 1" in completed.sentence


@unix_only
@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="root may write anywhere")
def test_read_only_folder_is_refused(tmp_path: Path, arena_here: Arena) -> None:
    (tmp_path / "locked").mkdir(0o500)
    completed = arena_here("play", "kuhn", "random", "calling", "--out", "locked/run")
    assert completed.code == 2
    assert "Permission denied" in completed.sentence


@needs_full
def test_full_disk_leaves_whole_lines(tmp_path: Path, arena_here: Arena) -> None:
    # The disk is full at the first action.
    process = _start(tmp_path, "play", "kuhn", "random", "calling", "-n", "100000", "--workers", "1", "--out", "run")
    assert _kill_at(process, lambda: _hands(tmp_path / "run") > 5)
    transactions = next(iter((tmp_path / "run").glob("*.tlog")))
    transactions.unlink()
    transactions.symlink_to("/dev/full")
    completed = arena_here("resume", "run")
    assert completed.code in (1, 2)
    assert "No space left on device" in completed.out + completed.err
    assert "Traceback" not in completed.err
    for log in _logs(tmp_path / "run").values():
        assert log.endswith(b"\n")


def test_run_keeps_its_game_file(tmp_path: Path, arena_here: Arena) -> None:
    kuhn = Path(__file__).resolve().parents[3] / "engine" / "games" / "kuhn.limit.2p.game"
    (tmp_path / "games").mkdir()
    (tmp_path / "games" / "my.game").write_bytes(kuhn.read_bytes())
    whole = arena_here(
        "play", "games/my.game", "calling", "random", "-n", "20", "--seed", "1", "--in-process", "--out", "run"
    )
    assert whole.code == 0
    logs = _logs(tmp_path / "run")
    assert logs["match.a.log"].startswith(b"# name/game/hands/seed match.a my.game 20 1\n")
    (tmp_path / "games" / "my.game").unlink()
    (tmp_path / "run" / "result.json").unlink()
    completed = arena_here("resume", str(tmp_path / "run"), "--json")
    assert completed.code == 0, completed.err
    assert json.loads(completed.out)["outcome"] == "finished"
    assert _logs(tmp_path / "run") == logs


# ---- runs that have finished, more hands, and those that have not


def _files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_finished_run_stays_unchanged(tmp_path: Path, arena_here: Arena) -> None:
    _finished(arena_here)
    files = _files(tmp_path / "run")
    completed = arena_here("resume", "run")
    assert completed.code == 0
    assert completed.err == "run has finished and stays unchanged; 'arena resume run -n DEALS' plays more deals.\n"
    assert "20 deals of kuhn" in completed.out
    again = arena_here("resume", "run", "--json")
    assert (again.code, json.loads(again.out)) == (0, json.loads(files["result.json"]))
    assert _files(tmp_path / "run") == files


MORE = {
    "play": ("play", "kuhn", "random", "calling", "--workers", "2"),
    "in process": ("play", "leduc", "random", "raising", "--in-process", "--export", "none"),
    "a rule that was not met": ("play", "kuhn", "random", "calling", "--in-process", "--stop", "ci=0.001"),
    "a number as a rule": ("play", "kuhn", "random", "calling", "--in-process", "--stop", "20"),
    "tournament": ("tournament", "kuhn", "random", "calling", "folding", "--in-process"),
}


@pytest.mark.sampled
@pytest.mark.parametrize("kind", MORE)
def test_extended_run_equals_a_longer_one(tmp_path: Path, arena_here: Arena, kind: str) -> None:
    words = MORE[kind]
    hands = () if kind == "a number as a rule" else ("-n", "20")
    assert arena_here(*words, *hands, "--seed", "3", "--out", "run").code == 0
    more = arena_here("resume", "run", "-n", "50", "-q")
    assert more.code == 0, more.err
    whole = [*words, "-n", "50"] if hands else [*words[:-2], "-n", "50"]
    assert arena_here(*whole, "--seed", "3", "--out", "whole").code == 0
    assert _logs(tmp_path / "run") == _logs(tmp_path / "whole")
    results = [_result(tmp_path / name) for name in ("run", "whole")]
    for result in results:
        result.pop("stop", None)
        for contest in result.get("contests", []):
            del contest["stop"]
    assert results[0] == results[1]
    assert arena_here("resume", "run").err.startswith("run has finished and stays unchanged;")


@pytest.mark.parametrize(
    ("words", "hands", "sentence"),
    [
        (("-n", "20"), "9999999999", "--deals: must be at most 4,294,967,295, not 9999999999"),
        (("-n", "20"), "20", "--deals: 20 is not more than the 20 of the run"),
        (("-n", "4", "--workers", "4"), "8", "--deals: a run of more workers than seatings cannot have more deals: "),
        (
            ("-n", "4000", "--stop", "better:-900,-899", "--workers", "1"),
            "8000",
            "--deals: the stop rule has ended this run, so more deals would change nothing",
        ),
    ],
)
def test_run_that_cannot_be_extended_is_refused(
    tmp_path: Path, arena_here: Arena, words: tuple[str, ...], hands: str, sentence: str
) -> None:
    way = () if "4" in words else ("--in-process",)
    assert arena_here("play", "kuhn", "random", "calling", *words, *way, "--seed", "1", "-q", "--out", "run").code == 0
    files = _files(tmp_path / "run")
    completed = arena_here("resume", "run", "-n", hands)
    assert (completed.code, completed.sentence[: len(sentence)]) == (2, sentence)
    assert _files(tmp_path / "run") == files


@pytest.mark.slow
def test_killed_extension_is_resumed(tmp_path: Path, arena: Arena) -> None:
    _finished(arena)
    process = _start(tmp_path, "resume", "run", "-n", "20000")
    assert _kill_at(process, lambda: _hands(tmp_path / "run") > 100)
    assert arena("resume", "run").code == 0
    assert _hands(tmp_path / "run") == 40000


def test_unfinished_runs_are_listed(arena_here: Arena, tmp_path: Path) -> None:
    completed = arena_here("resume")
    assert (completed.code, completed.out, completed.err) == (
        0,
        "Unfinished runs\nThere is no unfinished run in runs.\n",
        "",
    )
    runs = tmp_path / "runs"
    for name in ("a", "b", "c"):
        assert arena_here("play", "kuhn", "-n", "5", "--in-process", "--out", f"runs/{name}", "-q").code == 0
    (runs / "b" / "result.json").unlink()
    data = json.loads((runs / "c" / "result.json").read_text())
    (runs / "c" / "result.json").write_text(
        json.dumps(data | {"outcome": "interrupted", "reason": "it was interrupted."})
    )
    completed = arena_here("resume")
    assert [line.split(maxsplit=1) for line in completed.out.splitlines()[3:]] == [
        ["runs/c", "it was interrupted."],
        ["runs/b", "it was ended before it could write a result."],
        ["'arena", "resume RUN' continues one of them."],
    ]
    assert [run["folder"] for run in json.loads(arena_here("resume", "--json").out)] == ["runs/c", "runs/b"]
    assert arena_here("resume", "-n", "7").code == 2


# ---- damage


def test_damage_within_a_log_is_reported_and_kept(tmp_path: Path, arena_here: Arena) -> None:
    _finished(arena_here)
    (tmp_path / "run" / "result.json").unlink()
    for name in ("match.a.log", "match.a.tlog"):
        path = tmp_path / "run" / name
        whole = path.read_bytes()
        middle = len(whole) // 2
        path.write_bytes(whole[:middle] + b"\0" * 8 + whole[middle + 8 :])
        files = _files(tmp_path / "run")
        completed = arena_here("resume", "run")
        assert completed.code == 2
        assert f"{name}, line {whole[:middle].count(10) + 1}: the line is damaged: " in completed.sentence
        assert _files(tmp_path / "run") == files
        path.write_bytes(whole)


def test_hands_without_transactions_are_replayed_with_a_note(tmp_path: Path, arena_here: Arena) -> None:
    _finished(arena_here)
    whole = _logs(tmp_path / "run")
    (tmp_path / "run" / "result.json").unlink()
    log = tmp_path / "run" / "match.a.log"
    log.write_bytes(whole["match.a.log"][: whole["match.a.log"].index(b"SCORE:")])
    transactions = log.with_suffix(".tlog")
    texts = transactions.read_bytes()
    transactions.unlink()
    assert "match.a.tlog, line 1: the file is missing; restore it" in arena_here("resume", "run").sentence
    transactions.write_bytes(texts[: texts.index(b" 15 ") - 1])
    completed = arena_here("resume", "run")
    assert completed.code == 0
    assert completed.err == (
        "match.a: replayed 5 hands at the end of its log, before which its transaction log ended.\n"
    )
    assert _logs(tmp_path / "run") == whole
