"""Matches over TCP with bots as processes: files, faults, restarts and reasons of early ends."""

from __future__ import annotations

import asyncio
import gc
import json
import logging
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bots.sdk import registry
from dealer.errors import LaunchError
from dealer.match.ending_sentences import failure_sentence
from dealer.match.events import Event, FaultSeen, Watcher
from dealer.match.faults import Fault, FaultKind, FaultPolicy, Remedy
from dealer.match.setup import DEFAULT_LIMITS, TimeLimits
from dealer.run.choices import Seating
from dealer.run.contest_plan import ContestPlan
from dealer.run.match_files import MatchFiles
from dealer.run.match_run import TcpRun
from dealer.run.recovery import recover_match
from dealer.run.results.result_sentences import fault_phrase
from dealer.run.tally import Tally
from dealer.table.launcher import BotProcess
from dealer.table.loop import MatchLoop, new_event_loop
from dealer.table.players import parse_player
from engine import Seat
from engine.kernels.disk import COMPILING
from tests.dealer.helpers import CONNECT, PATIENCE_S, ROOT, Recorder, contest_plan, limits, write_program

unix_only = pytest.mark.skipif(os.name == "nt", reason="signals of Unix")
needs_full = pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
needs_proc = pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="this system does not list open files")


@pytest.fixture(autouse=True)
def _bots_find_our_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))


def _plan(
    folder: Path,
    *players: str,
    hands: int = 10,
    limits: TimeLimits = DEFAULT_LIMITS,
    **settings: Any,
) -> ContestPlan:
    plan = contest_plan(
        folder / "out", *(players or ("calling", "calling")), deals=hands, seed=1, seating=Seating.SINGLE, **settings
    )
    return replace(plan, run=replace(plan.run, limits=limits))


def _run(plan: ContestPlan, *watchers: Watcher, tally: Tally | None = None) -> TcpRun:
    (match_plan,) = plan.match_plans
    return TcpRun(plan, match_plan, watchers, tally)


def _recover(run: TcpRun) -> Tally:
    return recover_match(run.setup, run.plan.record)


async def _finish(run: TcpRun) -> TcpRun:
    try:
        async with asyncio.timeout(PATIENCE_S):
            await run.play_until(run.setup.hands)
    finally:
        await run.close()
    return run


def _play(plan: ContestPlan, *watchers: Watcher) -> TcpRun:
    run = _run(plan, *watchers)
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        runner.run(_finish(run))
    assert all(process.exit_code is not None for process in run._processes.values())
    return run


def _log(run: TcpRun) -> list[str]:
    return (run.plan.record.folder / "match.log").read_text().splitlines()


def _bot(folder: Path, name: str, code: str) -> str:
    return f"{name}=" + write_program(folder, f"{name}.py", CONNECT + code)


# ---- finished matches


def test_match_writes_its_files(tmp_path: Path) -> None:
    recorder = Recorder(wants_lines=False)
    run = _play(_plan(tmp_path, "calling", "Bob=raising"), recorder)
    assert run.failure is None
    assert run.is_over
    assert [record.hand_number for record in recorder.records] == list(range(10))
    assert run.tally.hands == 10
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "match.game",
        "match.log",
        "match.seat1.calling.out",
        "match.seat2.Bob.out",
        "match.tlog",
    ]
    log = (tmp_path / "out" / "match.log").read_text().splitlines()
    assert log[0] == "# name/game/hands/seed match kuhn.limit.2p 10 1"
    assert len(log) == 4 + 10 + 1
    assert log[-1].startswith("SCORE:")
    assert sum(run.tally.chips) == 0
    assert run.tally.fault_count == 0
    assert run.tally.questions > 0
    assert run.tally.overhead_ns > 0


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("game", "players"),
    [
        ("leduc", ("random", "random")),
        ("limit", ("random?fold=0.1,call=0.5,raise=0.4", "folding")),
        ("nolimit", ("random", "constant?action=raise,size=pot")),
        ("kuhn.limit.3p", ("random", "calling", "raising")),
        ("holdem.nolimit.3p", ("random", "random", "random")),
    ],
)
def test_built_in_bots_play_without_faults(tmp_path: Path, game: str, players: tuple[str, ...]) -> None:
    run = _play(_plan(tmp_path, *players, game=game, hands=40))
    assert run.failure is None
    assert run.tally.fault_count == 0
    assert run.tally.hands == 40
    assert sum(run.tally.chips) == pytest.approx(0, abs=1e-6)


def test_match_uses_the_settings_fixed_seats_and_coalesce(tmp_path: Path) -> None:
    run = _play(_plan(tmp_path, "A=random", "B=random", hands=30, fixed_seats=True, coalesce_ms=1))
    assert run.failure is None
    states = [line for line in _log(run) if line.startswith("STATE")]
    assert len(states) == 30
    assert all(line.endswith(":A|B") for line in states)


def test_bad_replies_are_counted_and_the_first_is_quoted(tmp_path: Path) -> None:
    bot = _bot(tmp_path, "bad", "hello()\nfor line in f:\n    f.write(b'what?\\r\\n')\n    call(line)\n")
    run = _play(_plan(tmp_path, bot, "calling", hands=3))
    assert run.failure is None
    faults = run.tally.faults[0]
    assert faults["malformed reply"] >= 3
    assert set(faults) <= {"malformed reply", "stale reply"}
    assert fault_phrase(run.tally.first_faults[Seat(0)]) == "malformed reply in hand 0: 'what?', ignored"
    assert run.tally.faults[1] == {}


async def test_tcp_seat_is_awaited_and_named_with_its_address(tmp_path: Path) -> None:
    plan = _plan(tmp_path, "tcp", "calling", hands=1)
    run = _run(plan)

    playing = asyncio.create_task(_finish(run))
    while not run.ports:
        await asyncio.sleep(0.001)
    assert ("tcp", run.ports[0]) in [(player.name, player.port) for player in run.waiting_for()]
    assert run.start_time_left_s is None
    process = await asyncio.create_subprocess_exec(
        *parse_player(write_program(tmp_path, "c.py", CONNECT + "hello()\nfor line in f: call(line)")).command,
        "127.0.0.1",
        str(run.ports[0]),
    )
    await playing
    assert run.waiting_for() == []
    await process.wait()
    assert run.failure is None


async def test_stray_connections_are_counted_and_end_no_match(tmp_path: Path) -> None:
    # A port scan and a browser.
    run = _run(_plan(tmp_path, "tcp", "calling"))

    playing = asyncio.create_task(_finish(run))
    while not run.ports:
        await asyncio.sleep(0)
    for count, data in enumerate((b"", b"GET / HTTP/1.1\r\n\r\n"), start=1):
        with socket.create_connection(("127.0.0.1", run.ports[0]), timeout=PATIENCE_S) as stranger:
            stranger.sendall(data)
        while run.tally.strays < count:
            await asyncio.sleep(0.001)
    process = await asyncio.create_subprocess_exec(
        *parse_player(write_program(tmp_path, "c.py", CONNECT + "hello()\nfor line in f: call(line)")).command,
        "127.0.0.1",
        str(run.ports[0]),
    )
    await playing
    await process.wait()
    assert run.failure is None
    assert run.tally.strays == 2
    assert [stray.line for stray in run.tally.latest_strays] == [b"", b"GET / HTTP/1.1\r\n\r\n"]


# ---- reasons of an early end


def _failure_sentence(run: TcpRun) -> str:
    assert run.failure is not None
    return failure_sentence(run.failure, shows_output=True)


def _play_to_failure(plan: ContestPlan) -> str:
    """Play a match that fails and return the sentence of its failure."""
    run = _play(plan)
    assert run.is_over
    return _failure_sentence(run)


@pytest.mark.parametrize(
    ("code", "exit_code", "output"),
    [
        ("import sys; print('no luck today'); sys.exit(3)", 3, "The last it wrote:\n    no luck today"),
        ("raise RuntimeError('out of luck')", 1, "RuntimeError: out of luck"),
        ("", 0, "It wrote nothing."),
    ],
)
def test_bot_that_exits_before_connecting_is_named_with_its_output(
    tmp_path: Path, code: str, exit_code: int, output: str
) -> None:
    quitter = "Bob=" + write_program(tmp_path, "b.py", code)
    reason = _play_to_failure(_plan(tmp_path, "calling", quitter))
    assert reason.startswith(f"Bob ended before it connected. Its process ended with exit code {exit_code}. ")
    assert reason.endswith(output)


def test_python_without_the_sdk_is_named(tmp_path: Path) -> None:
    path = tmp_path / "careful.py"
    path.write_text("from bots import Bot, run\nclass Careful(Bot): pass\nrun(Careful())\n")
    reason = _play_to_failure(_plan(tmp_path, f"Bob={sys.executable} -I -S {path}", "calling"))
    assert reason.startswith(
        "Bob ended before it connected. Its process ended with exit code 1. Its Python does not have acpc-arena: "
        f"install it there, or write {path}:Careful to start it with the Python of arena. The last it wrote:\n"
    )


def test_python_file_plays_without_naming_its_interpreter(tmp_path: Path) -> None:
    path = tmp_path / "new.py"
    path.write_text(
        "import sys\nfrom bots import Bot, run\nclass New(Bot):\n    def act(self, view): return view.call()\n"
        "assert sys.argv[1] == '3'\nrun(New())\n"
    )
    run = _play(_plan(tmp_path, f"New={path} 3", "calling"))
    assert run.failure is None


_TALKS = """
import os
from bots import Bot, run
class Talks(Bot):
    def act(self, view):
        os.write(1, b"x" * 500_000)
        for number in range(20):
            view.comment(str(number))
        return view.call()
run(Talks())
"""


def test_output_and_comments_are_bounded_with_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("bots.sdk.program", "dealer.run.match_run"):
        monkeypatch.setattr(f"{module}.MAX_OUTPUT_BYTES", 1_000_000)
    monkeypatch.setattr("dealer.match.hand_in_play.MAX_COMMENTS_PER_HAND", 5)
    run = _play(_plan(tmp_path, "Bob=" + write_program(tmp_path, "b.py", _TALKS), "calling", hands=3))
    assert run.failure is None
    output = run.plan.record.folder / "match.seat1.Bob.out"
    assert 1_000_000 < output.stat().st_size < 1_020_000
    comments_warning, output_warning = [sentence for sentence in run.tally.warnings if "left out" in sentence]
    assert comments_warning.startswith("match: ")
    assert comments_warning.endswith(" comments left out: a hand keeps 256, a match 10,000,000 bytes.")
    assert output_warning == "match.seat1.Bob.out: the bot wrote more than 1,000,000 bytes; the rest is left out."


def test_faults_in_the_file_are_bounded_with_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dealer.run.match_files.MAX_FAULT_BYTES", 400)
    plan = _plan(tmp_path)
    files = MatchFiles(_run(plan).setup, plan.record)
    stale = Fault(Seat(0), FaultKind.STALE_REPLY, 0, b"x" * 100, Remedy.IGNORED)
    final = Fault(Seat(0), FaultKind.FLOOD, 0, b"x" * 100, Remedy.MATCH_ENDED)
    for fault in (stale, stale, stale, final):
        files.notice(FaultSeen(fault))
    files.close()
    lines = (plan.record.folder / "match.faults").read_text().splitlines()
    assert [json.loads(line)["kind"] for line in lines] == [stale.kind.value, final.kind.value]
    assert files.left_out() == ["match.faults: 2 faults counted but left out, after 400 bytes."]


def test_bot_that_never_connects_ends_the_match(tmp_path: Path) -> None:
    idle = "Bob=" + write_program(tmp_path, "b.py", "import time; time.sleep(600)")
    reason = _play_to_failure(_plan(tmp_path, idle, "tcp", limits=limits(start_s=0.5)))
    assert reason == "Bob and tcp have not connected within 0.5 s. Bob wrote nothing."


COMPILING_BOT = """
import os, sys, time
from bots import Bot
from engine.kernels.disk import COMPILING

class Compiling(Bot):
    def prepare(self, game):
        print(COMPILING, flush=True)
        while not os.path.exists({ready!r}):
            time.sleep(0.01)

    def act(self, view):
        return view.call()
"""


@pytest.mark.parametrize("is_built_in", [True, False])
@pytest.mark.skipif(not hasattr(os, "fork"), reason="the bots of tests are forked")
async def test_compile_time_of_a_built_in_bot_does_not_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_built_in: bool
) -> None:
    ready = tmp_path / "ready"
    path = tmp_path / "compiling.py"
    path.write_text(COMPILING_BOT.format(ready=str(ready)))
    bot = f"{path}:Compiling"
    if is_built_in:
        monkeypatch.setitem(registry._ENTRIES, bot, (bot, ""))  # type: ignore[index]
    run = _run(_plan(tmp_path, f"Bob={bot}", "calling", limits=limits(start_s=PATIENCE_S)))

    playing = asyncio.create_task(_finish(run))
    while not (run._processes and run._processes[Seat(0)].has_written(COMPILING)):
        await asyncio.sleep(0.01)
    while [player.port for player in run.waiting_for()] != [run.ports[0]]:
        await asyncio.sleep(0.01)
    assert run._connections is not None
    # A pause of the loop, on a busy machine, would extend the time to connect.
    run._connections._is_start_extended = True
    run._connections._start_timed_out()
    ready.touch()
    await playing
    if is_built_in:
        assert run.failure is None
        assert run.tally.hands == 10
    else:
        sentence = _failure_sentence(run)
        assert sentence == f"Bob has not connected within {PATIENCE_S:g} s. The last it wrote:\n    {COMPILING}"
        assert "`arena warmup`" in sentence
        assert "--start-timeout" in sentence


def test_built_in_bot_that_compiles_too_long_times_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = _run(_plan(tmp_path, "calling", "calling"))
    monkeypatch.setattr(BotProcess, "has_written", lambda *_: True)

    class Running:
        exit_code = None
        has_written = BotProcess.has_written

    run._processes[Seat(0)] = Running()  # type: ignore[assignment]
    assert run._is_compiling(Seat(0))
    run._opened_s -= 600
    assert not run._is_compiling(Seat(0))


async def test_client_that_names_no_version_ends_the_match(tmp_path: Path) -> None:
    run = _run(_plan(tmp_path, "tcp", "tcp", limits=limits(start_s=1)))

    playing = asyncio.create_task(_finish(run))
    while not run.ports:
        await asyncio.sleep(0)
    peers = [socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S) for port in run.ports]
    peers[1].sendall(b"VERSION:2.0.0\r\n")
    await playing
    for peer in peers:
        peer.close()
    assert _failure_sentence(run) == "tcp has not named its version within 1 s."


def test_all_missing_clients_are_named(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    run = _play(_plan(tmp_path, "tcp", "tcp", limits=limits(start_s=0.2)))
    assert _failure_sentence(run) == "tcp and tcp#2 have not connected within 0.2 s."
    assert run.tally.faults == [{"timeout": 1}, {"timeout": 1}]
    assert _messages(caplog, logging.WARNING)[1:] == [
        f"match match, seat {number} ({name}), before the first hand: timeout, the match ended"
        for number, name in ((1, "tcp"), (2, "tcp#2"))
    ]


def test_first_line_of_another_protocol_is_quoted(tmp_path: Path) -> None:
    foreign = _bot(tmp_path, "Bob", "f.write(b'HELLO\\r\\n')\nf.read()")
    reason = _play_to_failure(_plan(tmp_path, foreign, "calling"))
    assert reason.startswith("Bob does not speak the protocol: its first line was 'HELLO', not 'VERSION:2.0.0'.")


def test_bot_that_leaves_before_its_version_ends_the_match(tmp_path: Path) -> None:
    leaving = _bot(tmp_path, "Bob", "print('changed my mind', flush=True)\nos._exit(4)")
    reason = _play_to_failure(_plan(tmp_path, leaving, "calling"))
    assert reason in (
        "Bob closed the connection before it named its version. Its process ended with exit code 4. "
        "The last it wrote:\n    changed my mind",
        # The bot may exit before the other one has connected.
        "Bob ended before it connected. Its process ended with exit code 4. The last it wrote:\n    changed my mind",
    )


@pytest.mark.parametrize(
    ("delay_s", "clocks", "reason"),
    [
        (600, limits(response_s=0.3), "Bob did not answer within 0.3 s in hand 0. It wrote nothing."),
        (0.1, TimeLimits(600_000_000, 600_000_000, 50_000), "Bob exceeded its time for the match in hand "),
    ],
)
def test_slow_bot_runs_out_of_time(tmp_path: Path, delay_s: float, clocks: TimeLimits, reason: str) -> None:
    slow = _bot(tmp_path, "Bob", f"import time\nhello()\nfor line in f:\n    time.sleep({delay_s})\n    call(line)")
    calling = _bot(tmp_path, "Ann", "hello()\nfor line in f: call(line)")
    assert _play_to_failure(_plan(tmp_path, slow, calling, hands=1, limits=clocks)).startswith(reason)


@unix_only
def test_killed_bot_is_named_with_its_signal(tmp_path: Path) -> None:
    code = (
        "import signal\nhello()\nfor line in f:\n"
        "    if b':3:' in line: print('argh', flush=True); os.kill(os.getpid(), signal.SIGKILL)\n"
        "    call(line)"
    )
    reason = _play_to_failure(_plan(tmp_path, _bot(tmp_path, "Bob", code), "calling"))
    assert reason == (
        "Bob closed the connection in hand 3. Its process ended with signal 9 (SIGKILL). The last it wrote:\n    argh"
    )


def test_bot_that_exits_during_a_hand_ends_the_match(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    code = TURNS + "hello()\nfor line in f:\n    if b':2:' in line: os._exit(7)\n    if is_asked(line): call(line)"
    run = _play(_plan(tmp_path, "calling", _bot(tmp_path, "Bob", code)))
    assert (
        _failure_sentence(run)
        == "Bob closed the connection in hand 2. Its process ended with exit code 7. It wrote nothing."
    )
    assert run.tally.hands == 2
    assert run.tally.faults[1] == {"crash": 1}
    assert run.tally.exit_codes == {1: 7}
    assert _messages(caplog, logging.WARNING) == [
        "match match: Bob closed the connection in hand 2.",
        "match match, seat 2 (Bob), hand 2: crash, the match ended",
    ]


def _plan_with_full_disk(folder: Path, name: str) -> ContestPlan:
    """Plan of a match with one of its files on a full disk."""
    plan = _plan(folder)
    (plan.record.folder / name).symlink_to("/dev/full")
    return plan


@needs_full
def test_full_disk_ends_the_match(tmp_path: Path) -> None:
    plan = _plan_with_full_disk(tmp_path, "match.tlog")
    assert _play_to_failure(plan) == f"could not write {plan.record.folder / 'match.tlog'}: No space left on device."


# ---- starts that fail


def _start_error(plan: ContestPlan) -> str:
    with pytest.raises(LaunchError) as raised:
        _play(plan)
    return str(raised.value)


@needs_full
def test_full_disk_stops_the_start(tmp_path: Path) -> None:
    plan = _plan_with_full_disk(tmp_path, "match.log")
    assert _start_error(plan) == f"cannot write to {plan.record.folder}: No space left on device"


def test_missing_folder_and_unusable_addresses_stop_the_start(tmp_path: Path) -> None:
    plan = _plan(tmp_path)
    plan.record.folder.rmdir()
    assert _start_error(plan) == f"cannot write to {plan.record.folder}: No such file or directory"
    assert _start_error(_plan(tmp_path, host="192.0.2.1")).startswith("cannot listen on 192.0.2.1 port any: ")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        sentence = _start_error(_plan(tmp_path, ports=(0, port)))
    assert sentence.startswith(f"cannot listen on 127.0.0.1 port {port}: ")
    assert sentence.endswith("; choose another address or port")


def test_bot_that_cannot_start_ends_the_other_bots(tmp_path: Path) -> None:
    path = tmp_path / "bot"
    path.write_bytes(b"\x7fELF no program")
    path.chmod(0o755)
    plan = _plan(tmp_path, "calling", str(path))
    run = _run(plan)
    with asyncio.Runner(loop_factory=new_event_loop) as runner, pytest.raises(LaunchError, match=r"^cannot start "):
        runner.run(_finish(run))
    assert [process.exit_code is None for process in run._processes.values()] == [False]


# ---- interruptions and open files


def _interrupt(run: TcpRun, condition: Callable[[], bool]) -> TcpRun:
    """Play a match and interrupt it once the condition is true."""

    async def main() -> None:
        playing = asyncio.create_task(_finish(run))
        while not condition():
            await asyncio.sleep(0.001)
        playing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await playing

    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        runner.run(main())
    assert all(process.exit_code is not None for process in run._processes.values())
    return run


def test_interrupted_match_leaves_whole_lines(tmp_path: Path) -> None:
    run = _run(_plan(tmp_path, hands=10_000_000))
    _interrupt(run, lambda: run.tally.hands > 20)
    assert run.failure is None
    assert not run.is_over
    text = (tmp_path / "out" / "match.log").read_text()
    assert text.endswith("\n")
    assert text.count("STATE:") == run.tally.hands > 20
    assert "SCORE:" not in text


def test_waiting_match_sets_no_timers(tmp_path: Path) -> None:
    class Loop(MatchLoop):
        timers = 0

        def call_at(self, *arguments: Any, **options: Any) -> asyncio.TimerHandle:
            self.timers += 1
            return super().call_at(*arguments, **options)

    run = _run(_plan(tmp_path, "tcp", _bot(tmp_path, "Bob", "hello()\nf.read()")))

    async def main() -> int:
        playing = asyncio.create_task(run.play_until(1))
        while not run.ports or len(run.waiting_for()) != 1:
            await asyncio.sleep(0.01)
        timers = loop.timers
        await asyncio.sleep(0.2)
        playing.cancel()
        await run.close()
        return loop.timers - timers

    loop = Loop()
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        assert runner.run(main()) == 1


def test_interrupt_during_the_wait_for_an_exit_code_keeps_the_reason(tmp_path: Path) -> None:
    # The bot closes its connection and does not exit.
    code = "import time\nhello()\nf.readline()\ns.shutdown(2)\ntime.sleep(600)"
    run = _run(_plan(tmp_path, _bot(tmp_path, "Bob", code), "calling"))
    _interrupt(run, lambda: run.failure is not None)
    assert _failure_sentence(run).startswith("Bob closed the connection in hand 0.")


@unix_only
def test_bot_that_ignores_sigterm_is_killed(tmp_path: Path) -> None:
    code = "import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nhello()\n"
    stubborn = _bot(tmp_path, "Bob", code + "for line in f: call(line)\nwhile True: time.sleep(600)")
    run = _run(_plan(tmp_path, stubborn, "calling", hands=2))
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        runner.run(_finish(run))
    assert run.failure is None
    assert run._processes[0].wait(PATIENCE_S) == -signal.SIGKILL  # type: ignore[index]


def _open_files() -> int:
    gc.collect()
    return len(list(Path("/proc/self/fd").iterdir()))


@needs_proc
@pytest.mark.parametrize("ending", ["finished", "failed", "interrupted", "port in use"])
def test_no_file_stays_open(tmp_path: Path, ending: str) -> None:
    def play(folder: Path) -> None:
        folder.mkdir()
        if ending == "finished":
            _play(_plan(folder))
        elif ending == "failed":
            _play(_plan(folder, "tcp", "tcp", limits=limits(start_s=0.01)))
        elif ending == "interrupted":
            run = _run(_plan(folder, "tcp", "tcp"))
            _interrupt(run, lambda: bool(run.ports))
            assert run.tally.hands == 0
        else:
            with socket.create_server(("127.0.0.1", 0)) as server:
                _start_error(_plan(folder, ports=(server.getsockname()[1],)))

    play(tmp_path / "first")
    open_files = _open_files()
    play(tmp_path / "second")
    assert _open_files() == open_files


def test_each_bot_has_its_own_output_file(tmp_path: Path) -> None:
    players = [write_program(tmp_path, f"{i}.py", f"print({i}); raise SystemExit") for i in range(3)]
    names = ("a", "a", "a-1")
    texts = [f"{name}={player}" for name, player in zip(names, players, strict=True)]
    run = _run(_plan(tmp_path, *texts, game="kuhn.limit.3p"))
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        runner.run(_finish(run))
    assert len({process.output_path for process in run._processes.values()}) == 3


# ---- steps


async def test_match_finished_early_has_its_score_line(tmp_path: Path) -> None:
    run = _run(_plan(tmp_path, "random", "random", hands=30))

    await run.play_until(12)
    await run.finish()
    await run.close()
    assert [line.startswith("SCORE:") for line in _log(run)[4:]] == [False] * 12 + [True]


def test_match_played_in_steps_and_resumed_has_the_same_log(tmp_path: Path) -> None:
    (tmp_path / "once").mkdir()
    expected = _log(_play(_plan(tmp_path / "once", "random", "random", hands=30)))
    assert "random#2" in expected[-1]
    plan = _plan(tmp_path, "random", "random", hands=30)
    run = _run(plan)

    async def play_in_steps() -> None:
        try:
            for hands in (1, 2, 2, 17):
                await run.play_until(hands)
                assert run.tally.hands == hands
                assert not run.is_over
        finally:
            await run.close()

    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        runner.run(play_in_steps())
        resumed = runner.run(_finish(_run(plan, tally=_recover(run))))
    assert resumed.is_over
    assert _log(resumed) == expected


# ---- faults under `restart` and `forfeit`

TURNS = """
def is_asked(line):
    _, position, hand, betting, cards = line.split(b':')
    return {b'': b'0', b'c': b'1', b'r': b'1', b'cr': b'0'}.get(betting) == position
"""
"""Definition of `is_asked`, for bots of Kuhn poker."""

CALLS = TURNS + "hello()\nfor line in f:\n    if is_asked(line): call(line)"

FAILS_ONCE = (
    TURNS
    + """
import time
hello()
for line in f:
    if b':{hand}:' in line and not os.path.exists({mark!r}):
        open({mark!r}, 'w').close()
        {failing}
    if is_asked(line): call(line)
"""
)

DIES = "os._exit(7)"
LEAVES = "s.shutdown(2); time.sleep(600)"
SLEEPS = "time.sleep(600)"
FLOODS = "f.write(b'# why?\\r\\n' * 50)"


def _fails_once(folder: Path, failing: str, hand: int = 3) -> str:
    code = FAILS_ONCE.replace("{hand}", str(hand)).replace("{failing}", failing)
    return code.replace("{mark!r}", repr(str(folder / "failed")))


def _failing_once(folder: Path, failing: str, hand: int = 3) -> str:
    return _bot(folder, "Bob", _fails_once(folder, failing, hand))


def _log_of_calling(folder: Path, **options: Any) -> list[str]:
    """Log of a match in which Bob calls without faults."""
    folder = folder / "called"
    folder.mkdir()
    return _log(_play(_plan(folder, _bot(folder, "Bob", CALLS), "random", **options)))


@pytest.mark.parametrize(
    ("failing", "fault"),
    [
        pytest.param(DIES, "crash", id="dies"),
        pytest.param(LEAVES, "disconnect", id="leaves"),
        pytest.param(SLEEPS, "timeout", id="sleeps", marks=pytest.mark.slow),
        pytest.param(FLOODS, "flood", id="floods"),
    ],
)
def test_restarted_bot_plays_the_match_it_would_have_played(
    tmp_path: Path, failing: str, fault: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("dealer.run.contest_plan._MAX_IDLE_LINES_PER_HAND", 20)
    bob = _failing_once(tmp_path, failing)
    clocks = limits(response_s=3.0) if fault == "timeout" else limits()
    run = _play(_plan(tmp_path, bob, "random", limits=clocks, on_fault=FaultPolicy.RESTART))
    assert run.failure is None
    assert run.tally.faults[0] == {fault: 1}
    assert run.tally.restarts == [1, 0]
    assert fault_phrase(run.tally.first_faults[Seat(0)]).startswith(f"{fault} in hand 3")
    assert fault_phrase(run.tally.first_faults[Seat(0)]).endswith("started again")
    assert f"match match, seat 1 (Bob), hand 3: {fault}, started again" in _messages(caplog, logging.WARNING)
    assert _log(run)[4:] == _log_of_calling(tmp_path)[4:]


async def test_lost_tcp_client_is_awaited_again(tmp_path: Path) -> None:
    run = _run(_plan(tmp_path, "tcp", "calling", on_fault=FaultPolicy.RESTART))
    client = parse_player(write_program(tmp_path, "c.py", CONNECT + _fails_once(tmp_path, DIES))).command

    playing = asyncio.create_task(_finish(run))
    while not run.ports:
        await asyncio.sleep(0.001)
    for code in (7, 0):
        process = await asyncio.create_subprocess_exec(*client, "127.0.0.1", str(run.ports[0]))
        assert await process.wait() == code
    await playing
    assert run.failure is None
    assert run.tally.restarts == [1, 0]
    assert fault_phrase(run.tally.first_faults[Seat(0)]) == "disconnect in hand 3, awaited again"


def test_forfeiting_bot_checks_or_folds_in_later_hands(tmp_path: Path) -> None:
    run = _play(_plan(tmp_path, _failing_once(tmp_path, DIES), "raising", on_fault=FaultPolicy.FORFEIT))
    assert run.failure is None
    assert run.tally.hands == 10
    assert run.tally.faults[0]["crash"] == 1
    assert run.tally.restarts == [0, 0]
    bettings = [line.split(":")[2] for line in _log(run)[4:-1]]
    assert set(bettings[:3]) <= {"crc", "rc"}
    assert set(bettings[4:]) == {"crf", "rf"}


def test_forfeit_holds_after_a_resume(tmp_path: Path) -> None:
    bob = _failing_once(tmp_path, DIES)
    plan = _plan(tmp_path, bob, "raising", hands=400_000, on_fault=FaultPolicy.FORFEIT)
    run = _run(plan)
    _interrupt(run, lambda: run.tally.hands > 20)
    recovered = _recover(run)
    assert recovered.absent == {Seat(0)}
    resumed = _run(plan, tally=recovered)
    _interrupt(resumed, lambda: resumed.tally.hands > run.tally.hands + 20)
    assert resumed.tally.faults[0] == {"crash": 1}
    assert set(resumed._processes) == {Seat(1)}
    bettings = [line.split(":")[2] for line in _log(resumed)[4 + 4 :]]
    assert set(bettings) == {"crf", "rf"}


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("os._exit(3)", "crash"),
        ("f.write(b'HELLO\\r\\n')\nf.read()", "malformed reply"),
        ("import time; time.sleep(600)", "timeout"),
        (None, "timeout"),
    ],
)
async def test_bot_that_does_not_start_forfeits(tmp_path: Path, code: str | None, kind: str) -> None:
    bob = "Bob=tcp" if code is None else _bot(tmp_path, "Bob", code)
    plan = _plan(tmp_path, "raising", bob, on_fault=FaultPolicy.FORFEIT, limits=limits(start_s=PATIENCE_S))
    run = _run(plan)

    playing = asyncio.create_task(_finish(run))
    if kind == "timeout":
        while not run.ports or [player.port for player in run.waiting_for()] != [run.ports[1]]:
            await asyncio.sleep(0.001)
        assert run._connections is not None
        run._connections._start_timed_out()
    await playing
    assert run.failure is None
    assert run.tally.hands == 10
    assert run.tally.faults == [{}, {kind: 1}]
    assert fault_phrase(run.tally.first_faults[Seat(1)]).endswith(", checks or folds from there on")
    assert {line.split(":")[2] for line in _log(run)[4:-1]} == {"rf", "crf"}


def test_bot_whose_first_starts_fail_plays_the_match_it_would_have_played(tmp_path: Path) -> None:
    failing = "f.write(b'HELLO\\r\\n'); f.read(); os._exit(1)"
    path = str(tmp_path / "starts")
    count = f"open({path!r}, 'a').write('x')\nif os.path.getsize({path!r}) < 3: {failing}\n"
    run = _play(_plan(tmp_path, _bot(tmp_path, "Bob", count + CALLS), "random", on_fault=FaultPolicy.RESTART))
    assert run.failure is None
    assert run.tally.restarts == [2, 0]
    assert _log(run)[4:] == _log_of_calling(tmp_path)[4:]


def test_bot_that_does_not_start_is_restarted_three_times(tmp_path: Path) -> None:
    quitter = "Bob=" + write_program(tmp_path, "b.py", "raise SystemExit(3)")
    run = _play(_plan(tmp_path, "calling", quitter, on_fault=FaultPolicy.RESTART))
    assert run.failure is None
    assert run.tally.hands == 10
    assert run.tally.restarts == [0, 3]
    assert run.tally.faults == [{}, {"crash": 4}]


def test_match_without_players_ends_under_forfeit(tmp_path: Path) -> None:
    plan = _plan(tmp_path, "tcp", "tcp", on_fault=FaultPolicy.FORFEIT, limits=limits(start_s=0.2))
    assert _play_to_failure(plan) == "no player is left to act."


@needs_full
def test_full_disk_at_a_fault_ends_the_match(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = _plan(tmp_path, _failing_once(tmp_path, DIES), "calling", on_fault=FaultPolicy.FORFEIT)

    class Full(Watcher):
        wants = frozenset({FaultSeen})

        def notice(self, event: Event) -> None:
            (plan.record.folder / "match.faults").unlink(missing_ok=True)
            (plan.record.folder / "match.faults").symlink_to("/dev/full")

    def open_files(*arguments: Any, **options: Any) -> Any:
        files = MatchFiles(*arguments, **options)
        files.watchers = (Full(), *files.watchers)
        return files

    monkeypatch.setattr("dealer.run.match_run.MatchFiles", open_files)
    run = _play(plan)
    assert _failure_sentence(run).startswith("could not write ")
    assert _failure_sentence(run).endswith("No space left on device.")


# ---- messages in the log of the program


def _messages(caplog: pytest.LogCaptureFixture, level: int) -> list[str]:
    assert all(record.name.startswith("dealer.") for record in caplog.records)
    return [record.getMessage() for record in caplog.records if record.levelno == level]


def test_connections_start_and_end_are_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "dealer")
    run = _play(_plan(tmp_path, "Ann=calling", "Bob=calling", hands=3))
    messages = _messages(caplog, logging.INFO)
    for seat, name in enumerate(("Ann", "Bob")):
        label = f"match match, seat {seat + 1} ({name})"
        assert f"{label}: listening on 127.0.0.1 port {run.ports[seat]}" in messages
        assert any(message.startswith(f"{label}: connected from 127.0.0.1 port ") for message in messages)
        assert any(
            message.startswith(f"calling at port {run.ports[seat]}: started as process ") for message in messages
        )
    assert "match match: started" in messages
    assert "match match: finished" in messages
    assert _messages(caplog, logging.WARNING) == []


def test_resume_is_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    plan = _plan(tmp_path, hands=10_000_000)
    run = _run(plan)
    _interrupt(run, lambda: run.tally.hands > 5)
    caplog.set_level(logging.INFO, "dealer")
    caplog.clear()
    recovered = _recover(run)
    _run(plan, tally=recovered)
    assert _messages(caplog, logging.INFO) == [f"match match: resumed after {recovered.hands} hands"]


def test_logging_is_silent_by_default(tmp_path: Path) -> None:
    code = "import logging, dealer; logging.getLogger('dealer.table').error('x')"
    program = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, check=True)
    assert program.stdout == b""
    assert program.stderr == b""
