"""Dealer processes: the same files and results as with one process, and their losses and ends."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple, cast

import psutil
import pytest

from dealer import library
from dealer.errors import DealerLostError
from dealer.library import MatchEvent, play, resume, tournament
from dealer.match.causes import InternalError
from dealer.match.events import ActionPlayed, HandFinished
from dealer.run import dealers as dealers_module
from dealer.run import run as run_module
from dealer.run.contest import Contest
from dealer.run.contest_plan import ContestPlan
from dealer.run.dealer_process import Open, Reply, _Dealer, _DealtMatch
from dealer.run.dealers import DealerProcesses, DealtRun
from dealer.run.ending import Outcome
from dealer.run.results import ContestResult
from dealer.run.tally import Tally
from tests.dealer.helpers import contest_plan, without_times
from tests.programs import fork_dealers, wait_for_exit

FILES = ("*.log", "*.game", "*.comments", "*.faults")


@pytest.fixture(autouse=True)
def _dealers_are_forked_and_leave_nothing(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(run_module, "MIN_HANDS", 0)
    fork_dealers(monkeypatch)
    before = _children()
    yield
    assert all(wait_for_exit(child.pid) for child in _children() - before)


def _use_one_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_module, "MIN_HANDS", 1 << 40)


def _children() -> set[psutil.Process]:
    return set(psutil.Process().children(recursive=True))


def _files(folder: Path) -> dict[str, bytes]:
    paths = [path for pattern in FILES for path in folder.rglob(pattern)]
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


@pytest.mark.parametrize(
    ("game", "bots", "settings"),
    [
        ("nolimit", ["random", "random"], {"deals": 10, "workers": 3, "affinity": "off"}),
        ("kuhn", ["raising", "random"], {"stop": "better:0,600", "deals": 1000, "score": "corrected"}),
        pytest.param("limit", ["calling", "random"], {"deals": 60}, marks=pytest.mark.slow),
        pytest.param("kuhn3", ["random", "calling", "raising"], {"deals": 40}, marks=pytest.mark.slow),
        pytest.param("kuhn", ["raising", "random"], {"stop": "ci=400", "deals": 2000}, marks=pytest.mark.slow),
    ],
)
def test_files_events_and_results_are_those_of_one_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, game: str, bots: list[str], settings: dict[str, Any]
) -> None:
    settings = {"workers": 2, "seed": 7} | settings

    def play_and_watch(folder: Path) -> tuple[dict[str, Any], dict[str, list[str]]]:
        events: dict[str, list[str]] = {}

        def watch(event: MatchEvent) -> None:
            events.setdefault(event.match, []).append(type(event.event).__name__)

        # With a stop rule the number of surplus hands depends on the processes.
        watcher = None if "stop" in settings else watch
        result = play(game, bots, out=folder / "run", watch=watcher, **settings)
        return without_times(result.model_dump(mode="json")), events

    expected = play_and_watch(tmp_path / "a")
    _use_one_process(monkeypatch)
    assert play_and_watch(tmp_path / "b") == expected
    assert _files(tmp_path / "a") == _files(tmp_path / "b")


def test_tournament_is_that_of_one_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bots = ["calling", "random"]
    by_processes = tournament(["kuhn", "leduc"], bots, out=tmp_path / "a" / "run", deals=5, seed=3, workers=2)
    _use_one_process(monkeypatch)
    by_one = tournament(["kuhn", "leduc"], bots, out=tmp_path / "b" / "run", deals=5, seed=3, workers=2)
    assert without_times(by_processes.model_dump(mode="json")) == without_times(by_one.model_dump(mode="json"))
    assert _files(tmp_path / "a") == _files(tmp_path / "b")


@pytest.fixture
def failing_bot(tmp_path: Path) -> str:
    path = tmp_path / "failing.py"
    path.write_text(
        "from bots import Bot\nclass Failing(Bot):\n    def act(self, view):\n        raise ValueError('no idea')\n"
    )
    return f"{path}:Failing"


def test_failing_bot_gets_the_same_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing_bot: str) -> None:
    def reason() -> str:
        result = play("kuhn", [f"Bad={failing_bot}", "calling"], deals=1, seed=1, seating="single", workers=2)
        assert result.outcome is Outcome.FAILED
        return result.reason

    reason_of_processes = reason()
    _use_one_process(monkeypatch)
    assert reason() == reason_of_processes
    assert "no idea" in reason_of_processes


def test_bot_that_cannot_start_raises_the_same_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "program"
    program.write_text("no interpreter\n")
    program.chmod(0o755)

    def sentence() -> str:
        with pytest.raises(library.StartError) as raised:
            play("kuhn", [f"Bad={program}", "calling"], deals=5, seed=1, workers=2)
        return str(raised.value)

    sentence_of_processes = sentence()
    _use_one_process(monkeypatch)
    assert sentence() == sentence_of_processes


KILLS_ITS_DEALER_ONCE = """
import os, pathlib, signal
from bots import Bot

class Killing(Bot):
    def act(self, view):
        if view.hand_number == 20:
            try:
                pathlib.Path(__file__).with_name("killed").touch(exist_ok=False)
            except FileExistsError:
                pass
            else:
                os.kill(os.getppid(), signal.SIGTERM if os.name == "nt" else signal.SIGKILL)
        return view.call()
"""


def test_run_with_a_killed_dealer_fails_and_resumes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "killing.py").write_text(KILLS_ITS_DEALER_ONCE)
    bots = [f"{tmp_path / 'killing.py'}:Killing", "random"]
    settings: dict[str, Any] = {"deals": 30, "seed": 5, "seating": "single", "workers": 2}
    result = play("limit", bots, out=tmp_path / "a" / "run", **settings)
    assert (tmp_path / "killed").exists()
    assert result.outcome is Outcome.FAILED
    assert result.reason in {f"the dealer process of match.{part} ended unexpectedly." for part in (1, 2)}
    resumed = resume(tmp_path / "a" / "run")
    assert resumed.outcome is Outcome.FINISHED
    _use_one_process(monkeypatch)
    whole = play("limit", bots, out=tmp_path / "b" / "run", **settings)
    assert _files(tmp_path / "a") == _files(tmp_path / "b")
    assert isinstance(resumed, ContestResult)
    assert [player.chips for player in resumed.players] == [player.chips for player in whole.players]


@pytest.mark.skipif(os.name == "nt", reason="a process that is killed leaves no copies of its locks there")
def test_processes_that_inherit_a_lock_hold_it(tmp_path: Path) -> None:
    from dealer.errors import FolderBusyError
    from dealer.run.folder import is_busy, lock_run

    lock = lock_run(tmp_path)
    # `lock.close` would also remove the file, which a killed process leaves.
    with subprocess.Popen(["sleep", "300"], pass_fds=[lock.fileno()]) as process:
        lock._file.close()
        try:
            assert is_busy(tmp_path)
            with pytest.raises(FolderBusyError):
                lock_run(tmp_path)
        finally:
            process.kill()
    assert not is_busy(tmp_path)


# ---- starts, losses and ends of processes


@contextlib.asynccontextmanager
async def _dealer_processes(count: int) -> AsyncIterator[DealerProcesses]:
    dealers = DealerProcesses(count, has_affinity=False)
    try:
        yield dealers
    finally:
        await dealers.close()


def _long_plan(folder: Path) -> ContestPlan:
    return contest_plan(folder, "calling", "random", game="limit", deals=100_000)


def _dealt_run(dealers: DealerProcesses, plan: ContestPlan, index: int = 0) -> DealtRun:
    return DealtRun(dealers, plan, plan.match_plans[index], [], Tally(plan.game.num_players))


async def _wait_for_first_hand(run: DealtRun) -> None:
    while run.tally.hands < 1:
        await asyncio.sleep(0.01)


async def test_processes_are_kept_when_the_match_that_starts_them_is_cancelled() -> None:
    async with _dealer_processes(2) as dealers:
        first = asyncio.create_task(dealers.next_process())
        await asyncio.sleep(0)
        first.cancel()
        await asyncio.wait([first])
        await dealers.next_process()
        assert first.cancelled()
        assert len(dealers._processes) == 2


async def test_close_ends_processes_that_are_being_started(tmp_path: Path) -> None:
    async with _dealer_processes(2) as dealers:
        playing = asyncio.create_task(_dealt_run(dealers, _long_plan(tmp_path)).play_until(10))
        await asyncio.sleep(0)
        playing.cancel()


def test_restarted_process_gets_the_free_core(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dealers_module, "usable_cores", lambda: (4, 5, 6))
    dealers = DealerProcesses(3, has_affinity=True)
    dealers._processes = [cast("Any", SimpleNamespace(core=core)) for core in (4, 6)]
    assert dealers._next_core() == 5


async def test_match_held_while_its_process_starts_is_not_played(tmp_path: Path) -> None:
    async with _dealer_processes(1) as dealers:
        run = _dealt_run(dealers, _long_plan(tmp_path))
        playing = asyncio.create_task(run.play_until(10))
        await asyncio.sleep(0)
        assert not run.hold()
        await playing
        assert run.tally.hands == 0
        await run.play_until(10)
        assert run.tally.hands == 10
        await run.close()


async def test_loss_between_two_commands_fails_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Start the process instead of forking it.
    monkeypatch.setattr(dealers_module, "subprocess", subprocess)
    async with _dealer_processes(1) as dealers:
        run = _dealt_run(dealers, _long_plan(tmp_path))
        await run.play_until(10)
        (process,) = dealers._processes
        assert process._pid is not None
        os.kill(process._pid, signal.SIGKILL)
        while not process.has_ended:
            await asyncio.sleep(0.01)
        with pytest.raises(DealerLostError):
            await run.play_until(20)
        await run.close()


@pytest.mark.skipif(os.name == "nt", reason="there are no signals that stop a process there")
@pytest.mark.parametrize("is_forked", [False, True])
async def test_stuck_process_is_killed_with_its_bots(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_forked: bool
) -> None:
    monkeypatch.setattr(dealers_module, "_CLOSE_S", 0.2)
    plan = _long_plan(tmp_path)
    async with _dealer_processes(2) as dealers:
        runs = [_dealt_run(dealers, plan, index) for index in range(2)]
        playing = [asyncio.create_task(run.play_until(100_000)) for run in runs]
        for run in runs:
            await _wait_for_first_hand(run)
        # The first process was started, the second one forked from it.
        stuck_pid = dealers._processes[is_forked]._pid
        assert stuck_pid is not None
        bots = psutil.Process(stuck_pid).children()[-2:]
        os.kill(stuck_pid, signal.SIGSTOP)
        for task in playing:
            task.cancel()
        await asyncio.wait(playing)
        await asyncio.gather(*(run.close() for run in runs))
        assert all(wait_for_exit(bot.pid) for bot in bots)


async def test_error_of_a_watcher_ends_only_its_contest(tmp_path: Path) -> None:
    def watch(event: MatchEvent) -> None:
        if isinstance(event.event, HandFinished):
            raise ValueError("a page cannot be drawn")

    semaphore = asyncio.Semaphore(4)
    async with _dealer_processes(1) as dealers:
        failing = Contest(_long_plan(tmp_path / "failing"), semaphore, watch, dealers=dealers)
        other_plan = contest_plan(tmp_path / "other", "calling", "random", deals=50)
        other = Contest(other_plan, semaphore, lambda event: None, dealers=dealers)
        await asyncio.gather(failing.play_out(), other.play_out())
    assert failing.ending is not None
    assert failing.ending.failure is not None
    assert failing.ending.failure.cause == InternalError("ValueError", "a page cannot be drawn")
    assert other.ending is not None
    assert other.ending.outcome is Outcome.FINISHED


# ---- inside a dealer process


class _RecordingDealer:
    """Dealer process that records its replies instead of sending them."""

    core = None

    def __init__(self) -> None:
        self.replies: asyncio.Queue[Reply] = asyncio.Queue()

    def send(self, message: NamedTuple) -> None:
        if isinstance(message, Reply):
            self.replies.put_nowait(message)


def _dealt_match(plan: ContestPlan, dealer: _RecordingDealer) -> _DealtMatch:
    tally = Tally(plan.game.num_players)
    return _DealtMatch(
        cast("_Dealer", dealer), Open(0, plan, plan.match_plans[0], tally, {}, frozenset({ActionPlayed}))
    )


async def test_held_command_gets_a_reply(tmp_path: Path) -> None:
    dealer = _RecordingDealer()
    match = _dealt_match(_long_plan(tmp_path), dealer)
    match.play(10)
    match.hold()
    assert await dealer.replies.get() == Reply(0, None)
    await match.close()


async def test_hold_does_not_cancel_the_end_of_a_match(tmp_path: Path) -> None:
    dealer = _RecordingDealer()
    match = _dealt_match(_long_plan(tmp_path), dealer)
    match.finish()
    match.hold()
    assert await dealer.replies.get() == Reply(0, None)
    (log,) = tmp_path.glob("*.log")
    assert "SCORE:" in log.read_text()
    await match.close()


async def test_internal_error_is_the_failure_of_the_match(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dealer = _RecordingDealer()
    match = _dealt_match(_long_plan(tmp_path), dealer)

    async def play_until(hands: int) -> None:
        raise KeyError(hands)

    monkeypatch.setattr(match._run, "play_until", play_until)
    match.play(10)
    reply = await dealer.replies.get()
    assert reply.error is None
    assert reply.failure is not None
    assert reply.failure.cause == InternalError("KeyError", "10")
    await match.close()
