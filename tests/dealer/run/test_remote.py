"""Contests on other machines: the same logs and results as on this one, also after losses of machines.

The machines of these tests are threads that exchange bytes; `tests/dealer/cli/test_cluster.py` uses a real cluster.
"""

from __future__ import annotations

import asyncio
import json
import pickle
import threading
import zlib
from collections.abc import Callable
from concurrent.futures import Executor, Future
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bots.workers import Workers
from dealer.run import remote
from dealer.run.results import TournamentResult
from dealer.run.run import new_run, reopen
from dealer.run.run_settings import validated
from dealer.table.loop import new_event_loop
from tests.dealer.helpers import CONNECT, PATIENCE_S, ROOT, without_times, write_program


class WorkerDied(Exception):
    pass


class Machines(Executor):
    """Executor with a thread for each machine; the first `deaths` machines die at once."""

    def __init__(self, deaths: int = 0) -> None:
        self._deaths = deaths
        self.contests = 0

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.contests += 1
        future: Future[Any] = Future()
        if self._deaths:
            self._deaths -= 1
            future.set_exception(WorkerDied())
        else:
            # Bots are forked from this thread, and a fork of a thread of an executor does not exit properly.
            threading.Thread(target=self._work, args=(future, fn, pickle.dumps(args))).start()
        return future

    @staticmethod
    def _work(future: Future[Any], fn: Callable[..., Any], args: bytes) -> None:
        try:
            future.set_result(fn(*pickle.loads(args)))
        except Exception as error:
            future.set_exception(error)


@pytest.fixture(autouse=True)
def _bots_find_our_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))


def play_run(folder: Path, machines: Machines | None = None, *, resume: bool = False, **settings: Any) -> Any:
    """Play or resume a tournament; return its result as plain data without times."""
    run = reopen(folder) if resume else new_run(validated({"command": "tournament"} | settings), folder)

    async def play() -> TournamentResult:
        async with asyncio.timeout(PATIENCE_S):
            if machines is None:
                return await run.play()
            with Workers(lambda: machines, lost=(WorkerDied,), survives=True, name="two machines", count=2) as cluster:
                return await run.play(cluster=cluster)

    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        result = runner.run(play())
    assert result == type(result).model_validate_json((folder / "result.json").read_text("utf-8"))
    return without_times(json.loads(result.model_dump_json()))


def logs(run: Path) -> dict[str, bytes]:
    kinds = (".log", ".comments", ".faults", ".game", ".out")
    return {str(path.relative_to(run)): path.read_bytes() for path in sorted(run.rglob("*")) if path.suffix in kinds}


def names(run: Path) -> set[str]:
    return {str(path.relative_to(run)) for path in run.rglob("*") if path.is_file() and "pokerstars" not in str(path)}


CUP: dict[str, Any] = {"bots": ["calling", "raising", "Rnd=random"], "games": ["kuhn", "leduc"], "seed": 3}
CUPS: dict[str, dict[str, Any]] = {
    "in process": {**CUP, "deals": 8, "in_process": True},
    "until it is known": {**CUP, "bots": ["folding", "raising"], "stop": "better:0,500", "in_process": True},
    "over sockets": {**CUP, "games": ["kuhn"], "deals": 20, "seating": "single"},
}


@pytest.mark.sampled
@pytest.mark.parametrize("cup", CUPS)
def test_tournament_equals_that_of_one_machine(tmp_path: Path, cup: str) -> None:
    machines = Machines()
    expected = play_run(tmp_path / "here", **CUPS[cup])
    result = play_run(tmp_path / "there", machines, **CUPS[cup])
    assert result == expected
    assert result["outcome"] == "finished"
    assert machines.contests == len(result["contests"])
    assert logs(tmp_path / "there") == logs(tmp_path / "here")
    assert names(tmp_path / "there") == names(tmp_path / "here")
    again = Machines()
    assert play_run(tmp_path / "there", again, resume=True) == expected
    assert not again.contests


def test_hand_histories_are_copied_to_this_machine(tmp_path: Path) -> None:
    cup = {**CUP, "games": ["limit"], "bots": ["calling", "raising"], "deals": 8, "in_process": True}
    histories = {}
    for place, machines in (("here", None), ("there", Machines())):
        for folder in (None, str(tmp_path / place / "all")):
            run = tmp_path / place / ("own" if folder is None else "shared")
            play_run(run, machines, **cup, **({} if folder is None else {"histories": folder}))
        histories[place] = sorted((tmp_path / place).rglob("*.txt"))
        assert len(histories[place]) == 4
    for path, remote_path in zip(*histories.values(), strict=True):
        assert path.parent.name == remote_path.parent.name
        # Lines with "PokerStars" have the date.
        lines, remote_lines = (
            [line for line in file.read_text("utf-8").splitlines() if "PokerStars" not in line]
            for file in (path, remote_path)
        )
        assert lines == remote_lines


def test_contest_of_a_lost_worker_is_played_again(tmp_path: Path) -> None:
    machines = Machines(deaths=2)
    result = play_run(tmp_path / "there", machines, **CUPS["in process"])
    assert result == play_run(tmp_path / "here", **CUPS["in process"])
    assert machines.contests == len(result["contests"]) + 2
    assert logs(tmp_path / "there") == logs(tmp_path / "here")


def test_finished_contests_survive_the_loss_of_all_workers(tmp_path: Path) -> None:
    result = play_run(tmp_path / "there", Machines(deaths=3), **CUPS["in process"])
    assert result["outcome"] == "failed"
    failed = [contest for contest in result["contests"] if contest["outcome"] == "failed"]
    assert failed
    assert failed[0]["reason"] == "two machines: 3 workers died in turn, and no task was finished."
    machines = Machines()
    resumed = play_run(tmp_path / "there", machines, resume=True)
    assert machines.contests == len(failed)
    assert resumed == play_run(tmp_path / "here", **CUPS["in process"])
    assert logs(tmp_path / "there") == logs(tmp_path / "here")


def test_partial_contest_is_continued_on_the_worker(tmp_path: Path) -> None:
    whole = play_run(tmp_path / "here", **CUPS["in process"])
    play_run(tmp_path / "there", **CUPS["in process"])
    (tmp_path / "there" / "result.json").unlink()
    for log in (tmp_path / "there").rglob("*.b.log"):
        log.write_bytes(b"".join(log.read_bytes().splitlines(keepends=True)[:8]) + b"STATE:half")
    sent: list[set[str]] = []

    class Watched(Machines):
        def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
            sent.append(set(pickle.loads(zlib.decompress(args[1]))[2]))
            return super().submit(fn, *args, **kwargs)

    assert play_run(tmp_path / "there", Watched(), resume=True) == whole
    assert sent == [{"match.a.log", "match.a.tlog", "match.b.log", "match.b.tlog"}] * 6
    assert logs(tmp_path / "there") == logs(tmp_path / "here")


@pytest.mark.parametrize("on_fault", ["end", pytest.param("forfeit", marks=pytest.mark.slow), "restart"])
def test_faults_have_the_same_consequences(tmp_path: Path, on_fault: str) -> None:
    bot = "Bob=" + write_program(tmp_path, "bob.py", CONNECT + "hello()\nf.readline()\nprint('oh')\nos._exit(3)\n")
    cup = {
        "bots": [bot, "calling"],
        "games": ["kuhn"],
        "deals": 6,
        "seed": 3,
        "on_fault": on_fault,
        "seating": "single",
    }
    expected = play_run(tmp_path / "a", None, **cup)
    result = play_run(tmp_path / "b", Machines(), **cup)
    (contest,) = expected["contests"]
    assert contest["players"][0]["faults"]
    assert contest["players"][0]["exit_code"] == (3 if on_fault == "end" else None)
    assert result == expected
    assert logs(tmp_path / "a") == logs(tmp_path / "b")


def away(monkeypatch: pytest.MonkeyPatch, change: Callable[..., Any]) -> None:
    """Let tasks arrive changed, as on a machine that is not like this one."""
    play = remote.play_remotely
    monkeypatch.setattr(
        remote,
        "play_remotely",
        lambda there, task: play(there, zlib.compress(pickle.dumps(change(*pickle.loads(zlib.decompress(task)))))),
    )


class TestRefusals:
    def failed(self, folder: Path, **settings: Any) -> str:
        run = new_run(validated({"command": "tournament", **CUP, "games": ["kuhn"], "deals": 3, **settings}), folder)

        async def play() -> TournamentResult:
            with Workers(Machines, lost=(WorkerDied,), survives=True, name="two machines", count=2) as cluster:
                return await run.play(cluster=cluster)

        with asyncio.Runner(loop_factory=new_event_loop) as runner:
            result = runner.run(play())
        assert result.outcome == "failed"
        assert not list(folder.rglob("*.log"))
        return result.contests[0].reason

    @pytest.fixture(autouse=True)
    def _host(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("socket.gethostname", lambda: "node7")

    def test_other_version_is_refused(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        play = remote.play_remotely
        monkeypatch.setattr(remote, "play_remotely", lambda _, task: play("9.9", task))
        reason = self.failed(tmp_path / "run")
        assert reason.startswith("node7: acpc-arena ")
        assert reason.endswith(" is installed there, and 9.9 here: install the same version.")

    def test_missing_folder_is_named(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        bot = "Bob=" + write_program(tmp_path, "bob.py", CONNECT)
        away(monkeypatch, lambda plan, directory, files: (plan, "/nowhere", files))
        reason = self.failed(tmp_path / "run", bots=[bot, "calling"])
        assert reason == "node7: Bob cannot start in /nowhere: there is no such folder."

    def test_missing_program_is_named(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def without(plan: Any, *others: Any) -> Any:
            players = [replace(player, text=player.text.replace("my_", "no_")) for player in plan.players]
            return replace(plan, run=replace(plan.run, players=tuple(players))), *others

        (tmp_path / "my_bot.py").write_text("from bots.baseline import CallingBot as Bot1\n", "utf-8")
        away(monkeypatch, without)
        reason = self.failed(tmp_path / "run", bots=["Bob=my_bot.py:Bot1", "calling"], directory=str(tmp_path))
        assert reason == "node7: 'no_bot.py:Bot1': there is no file no_bot.py."

    def test_missing_installation_is_named(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def play(*_: Any) -> Any:
            raise ModuleNotFoundError("No module named 'dealer'", name="dealer")

        monkeypatch.setattr(remote, "play_remotely", play)
        reason = self.failed(tmp_path / "run")
        assert reason.startswith("two machines: a machine there cannot import dealer: install acpc-arena ")

    def test_full_disk_is_named(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def full(path: Path, content: object) -> None:
            raise OSError(28, "No space left on device", str(path))

        monkeypatch.setattr(remote, "write_whole", full)
        reason = self.failed(tmp_path / "run", bots=["calling", "raising"], in_process=True)
        assert "cannot write to " in reason
        assert reason.endswith(": No space left on device.")
