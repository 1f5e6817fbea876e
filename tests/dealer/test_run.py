"""One match with everything around it: bots as processes, files, and a result that says what happened to whom."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dealer.clock import TimeLimits
from dealer.event_loop import new_event_loop
from dealer.launcher import LaunchError
from dealer.observer import MatchObserver
from dealer.players import parse_player
from dealer.results import MatchResult
from dealer.run import MatchPlan, MatchRun
from logs import HandRecord
from protocol import find_game
from tests.dealer.helpers import CONNECT, PATIENCE_S, ROOT, limits, write_program

unix_only = pytest.mark.skipif(os.name == "nt", reason="signals of Unix")
needs_full = pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
needs_proc = pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="this system does not list open files")


@pytest.fixture(autouse=True)
def _bots_find_our_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))


def _plan(folder: Path, *players: str, game: str = "kuhn", hands: int = 10, **options: Any) -> MatchPlan:
    name, rules = find_game(game)
    texts = players or ("calling",) * rules.num_players
    out = folder / "out"
    out.mkdir(exist_ok=True)
    return MatchPlan("match", name, rules, tuple(parse_player(text) for text in texts), hands, 1, out, **options)


def _play(plan: MatchPlan, *observers: MatchObserver) -> MatchResult:
    run = MatchRun(plan, observers)

    async def main() -> MatchResult:
        async with asyncio.timeout(PATIENCE_S):
            return await run.play()

    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        result = runner.run(main())
    assert all(process.exit_code is not None for process in run._processes.values())
    return result


def _bot(folder: Path, name: str, code: str) -> str:
    return f"{name}=" + write_program(folder, f"{name}.py", CONNECT + code)


# ---- matches that end well


def test_a_match_leaves_its_files(tmp_path: Path) -> None:
    result = _play(_plan(tmp_path, "calling", "Bob=raising"))
    assert result.outcome == "finished"
    assert result.reason == "all hands were played."
    assert (result.match, result.game, result.seed) == ("match", "kuhn.limit.2p", 1)
    assert (result.hands_asked, result.hands_played) == (10, 10)
    assert result.folder == str(tmp_path / "out")
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
    assert [player.name for player in result.players] == ["calling", "Bob"]
    assert sum(player.chips for player in result.players) == 0
    assert result.players[0].half_width_95 is None
    assert result.players[0].faults == {}
    assert result.seconds > 0


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
    result = _play(_plan(tmp_path, *players, game=game, hands=120))
    assert result.outcome == "finished"
    assert [player.faults for player in result.players] == [{}] * len(players)
    assert all(player.half_width_95 is not None for player in result.players)
    assert sum(player.chips for player in result.players) == pytest.approx(0, abs=1e-6)


def test_a_seed_fixes_everything(tmp_path: Path) -> None:
    logs = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        _play(_plan(tmp_path / name, "random", "random", hands=30))
        logs.append((tmp_path / name / "out" / "match.log").read_text())
    assert logs[0] == logs[1]
    assert "random#1" in logs[0]


def test_fixed_seats_and_coalescing_are_passed_on(tmp_path: Path) -> None:
    result = _play(_plan(tmp_path, "A=random", "B=random", hands=30, fixed_seats=True, coalesce_s=0.001))
    assert result.outcome == "finished"
    states = [line for line in (tmp_path / "out" / "match.log").read_text().splitlines() if line.startswith("STATE")]
    assert all(line.endswith(":A|B") for line in states)


def test_observers_are_told(tmp_path: Path) -> None:
    class Counter(MatchObserver):
        records: list[HandRecord] = []  # noqa: RUF012

        def hand_finished(self, record: HandRecord) -> None:
            self.records.append(record)

    _play(_plan(tmp_path), counter := Counter())
    assert [record.hand_number for record in counter.records] == list(range(10))


def test_bad_replies_are_counted_and_the_first_is_quoted(tmp_path: Path) -> None:
    bad = _bot(tmp_path, "bad", "hello()\nfor line in f:\n    f.write(b'what?\\r\\n')\n    call(line)\n")
    result = _play(_plan(tmp_path, bad, "calling", hands=3))
    assert result.outcome == "finished"
    faults = result.players[0].faults
    assert faults["malformed reply"] >= 3
    assert set(faults) <= {"malformed reply", "stale reply"}
    assert result.players[0].first_fault == "malformed reply in hand 0: 'what?', ignored"
    assert result.players[1].faults == {}


def test_a_tcp_seat_is_waited_for_and_named_with_its_address(tmp_path: Path) -> None:
    plan = _plan(tmp_path, "tcp", "calling", hands=1)
    run = MatchRun(plan)

    async def main() -> MatchResult:
        playing = asyncio.create_task(run.play())
        while not run.ports:
            await asyncio.sleep(0.001)
        assert ("tcp", f"127.0.0.1:{run.ports[0]}") in run.waiting_for()
        assert run.start_time_left_s is None
        process = await asyncio.create_subprocess_exec(
            *parse_player(write_program(tmp_path, "c.py", CONNECT + "hello()\nfor line in f: call(line)")).command,
            "127.0.0.1",
            str(run.ports[0]),
        )
        result = await playing
        assert run.waiting_for() == []
        await process.wait()
        return result

    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        assert runner.run(main()).outcome == "finished"


# ---- why a match ended early, in words


def _fails(plan: MatchPlan) -> str:
    result = _play(plan)
    assert result.outcome == "failed"
    assert result.reason in result.sentence
    return result.reason


def test_a_bot_that_ends_before_it_connects(tmp_path: Path) -> None:
    quitter = "Bob=" + write_program(tmp_path, "b.py", "import sys; print('no luck today'); sys.exit(3)")
    assert _fails(_plan(tmp_path, "calling", quitter)) == (
        "Bob ended before it connected. Its process ended with exit code 3. The last it wrote:\n    no luck today"
    )


def test_a_bot_that_dies_of_an_exception(tmp_path: Path) -> None:
    dying = "Bob=" + write_program(tmp_path, "b.py", "raise RuntimeError('out of luck')")
    reason = _fails(_plan(tmp_path, dying, "calling"))
    assert reason.startswith("Bob ended before it connected. Its process ended with exit code 1. The last it wrote:\n")
    assert reason.endswith("RuntimeError: out of luck")


def test_a_bot_that_ends_without_a_word(tmp_path: Path) -> None:
    silent = "Bob=" + write_program(tmp_path, "b.py", "")
    assert _fails(_plan(tmp_path, silent, "calling")) == (
        "Bob ended before it connected. Its process ended with exit code 0. It wrote nothing."
    )


def test_a_bot_that_never_connects(tmp_path: Path) -> None:
    idle = "Bob=" + write_program(tmp_path, "b.py", "import time; time.sleep(600)")
    reason = _fails(_plan(tmp_path, idle, "tcp", limits=limits(start_s=0.5)))
    assert reason == "Bob has not connected within 0.5 s. It wrote nothing."


def test_a_client_that_does_not_name_its_version(tmp_path: Path) -> None:
    run = MatchRun(_plan(tmp_path, "tcp", "tcp", limits=limits(start_s=1)))

    async def main() -> MatchResult:
        playing = asyncio.create_task(run.play())
        while not run.ports:
            await asyncio.sleep(0)
        peers = [socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S) for port in run.ports]
        peers[1].sendall(b"VERSION:2.0.0\r\n")
        result = await playing
        for peer in peers:
            peer.close()
        return result

    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        assert runner.run(main()).reason == "tcp#1 has not named its version within 1 s."


def test_a_client_that_does_not_come(tmp_path: Path) -> None:
    assert _fails(_plan(tmp_path, "tcp", "tcp", limits=limits(start_s=0.2))) == (
        "tcp#1 has not connected within 0.2 s."
    )


def test_a_bot_that_speaks_something_else(tmp_path: Path) -> None:
    foreign = _bot(tmp_path, "Bob", "f.write(b'HELLO\\r\\n')\nf.read()")
    reason = _fails(_plan(tmp_path, foreign, "calling"))
    assert reason.startswith("Bob does not speak the protocol: its first line was 'HELLO', not 'VERSION:2.0.0'.")


def test_a_bot_that_leaves_before_its_version(tmp_path: Path) -> None:
    leaving = _bot(tmp_path, "Bob", "print('changed my mind', flush=True)\nos._exit(4)")
    reason = _fails(_plan(tmp_path, leaving, "calling"))
    assert reason in (
        "Bob closed the connection before it named its version. Its process ended with exit code 4. "
        "The last it wrote:\n    changed my mind",
        # It may be gone before the others are there.
        "Bob ended before it connected. Its process ended with exit code 4. The last it wrote:\n    changed my mind",
    )


def test_a_bot_that_does_not_answer(tmp_path: Path) -> None:
    slow = _bot(tmp_path, "Bob", "hello()\nf.read()")
    reason = _fails(_plan(tmp_path, slow, "calling", limits=limits(response_s=0.5)))
    assert reason == "Bob did not answer within 0.5 s in hand 0. It wrote nothing."


def test_a_bot_that_uses_up_its_time(tmp_path: Path) -> None:
    code = "import time\nhello()\nfor line in f:\n    time.sleep(0.3)\n    call(line)"
    slow = _bot(tmp_path, "Bob", code)
    clocks = TimeLimits(600_000_000, 600_000_000, 100_000)
    other = _bot(tmp_path, "Ann", "hello()\nfor line in f: call(line)")
    reason = _fails(_plan(tmp_path, slow, other, hands=1, limits=clocks))
    assert reason.startswith("Bob used more time than it had in hand ")


@unix_only
def test_a_bot_that_is_killed_in_the_middle(tmp_path: Path) -> None:
    code = (
        "import signal\nhello()\nfor line in f:\n"
        "    if b':3:' in line: print('argh', flush=True); os.kill(os.getpid(), signal.SIGKILL)\n"
        "    call(line)"
    )
    reason = _fails(_plan(tmp_path, _bot(tmp_path, "Bob", code), "calling"))
    assert reason == (
        "Bob closed the connection in hand 3. Its process ended with signal 9 (SIGKILL). The last it wrote:\n    argh"
    )


def test_a_bot_that_ends_in_the_middle(tmp_path: Path) -> None:
    code = "hello()\nfor line in f:\n    if b':2:' in line: os._exit(7)\n    call(line)"
    result = _play(_plan(tmp_path, "calling", _bot(tmp_path, "Bob", code)))
    assert result.reason == "Bob closed the connection in hand 2. Its process ended with exit code 7. It wrote nothing."
    assert result.hands_played == 2
    assert result.players[1].faults["disconnect"] == 1
    assert result.players[1].exit_code == 7
    assert result.sentence.endswith(f" The match ended early: {result.reason}")


@needs_full
def test_a_disk_that_is_full_in_the_middle(tmp_path: Path) -> None:
    plan = _plan(tmp_path)
    (plan.folder / "match.tlog").symlink_to("/dev/full")
    assert _fails(plan) == f"could not write {plan.folder / 'match.tlog'}: No space left on device."


# ---- what makes a start impossible


def _cannot_start(plan: MatchPlan) -> str:
    with pytest.raises(LaunchError) as raised:
        _play(plan)
    return str(raised.value)


@needs_full
def test_a_disk_that_is_full_from_the_beginning(tmp_path: Path) -> None:
    plan = _plan(tmp_path)
    (plan.folder / "match.log").symlink_to("/dev/full")
    assert _cannot_start(plan) == f"cannot write to {plan.folder}: No space left on device"


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    plan = _plan(tmp_path)
    plan.folder.rmdir()
    assert _cannot_start(plan) == f"cannot write to {plan.folder}: No such file or directory"


def test_a_port_in_use(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        sentence = _cannot_start(_plan(tmp_path, ports=(0, port)))
    assert sentence.startswith(f"cannot listen on 127.0.0.1 port {port}: ")
    assert sentence.endswith("; choose another --host or --ports")


def test_an_address_that_is_not_ours(tmp_path: Path) -> None:
    assert _cannot_start(_plan(tmp_path, host="192.0.2.1")).startswith("cannot listen on 192.0.2.1 port any: ")


def test_a_bot_that_cannot_be_started_takes_the_others_with_it(tmp_path: Path) -> None:
    path = tmp_path / "bot"
    path.write_bytes(b"\x7fELF no program")
    path.chmod(0o755)
    plan = _plan(tmp_path, "calling", str(path))
    run = MatchRun(plan)
    with asyncio.Runner(loop_factory=new_event_loop) as runner, pytest.raises(LaunchError, match=r"^cannot start "):
        runner.run(run.play())
    assert [process.exit_code is None for process in run._processes.values()] == [False]


# ---- interruptions and what is left open


async def _interrupt(run: MatchRun, is_time: Callable[[], bool]) -> MatchResult:
    playing = asyncio.create_task(run.play())
    while not is_time():
        await asyncio.sleep(0.001)
    playing.cancel()
    return await playing


def test_an_interrupted_match_has_a_result_so_far(tmp_path: Path) -> None:
    run = MatchRun(_plan(tmp_path, hands=10_000_000))
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        result = runner.run(_interrupt(run, lambda: run.tally.hands > 20))
    assert result.outcome == "interrupted"
    assert result.hands_played > 20
    assert result.reason == "it was interrupted."
    assert "it was interrupted." in result.sentence
    log = (tmp_path / "out" / "match.log").read_text()
    assert log.endswith("\n")
    assert log.count("STATE:") == result.hands_played
    assert all(process.exit_code is not None for process in run._processes.values())


def test_an_interrupted_wait_has_a_result_too(tmp_path: Path) -> None:
    run = MatchRun(_plan(tmp_path, "tcp", "tcp"))
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        result = runner.run(_interrupt(run, lambda: bool(run.ports)))
    assert result.outcome == "interrupted"
    assert result.sentence == "No hand was finished: it was interrupted."


def test_an_interrupt_just_after_the_failure_still_gives_a_result(tmp_path: Path) -> None:
    """The bot has hung up and lingers; while its exit code is awaited, somebody presses Ctrl-C."""
    code = "import time\nhello()\nf.readline()\ns.shutdown(2)\ntime.sleep(600)"
    run = MatchRun(_plan(tmp_path, _bot(tmp_path, "Bob", code), "calling"))

    async def main() -> MatchResult:
        playing = asyncio.create_task(run.play())
        while not run.tally.fault_count:
            await asyncio.sleep(0)
        for _ in range(5):
            await asyncio.sleep(0)
        playing.cancel()
        return await playing

    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        assert runner.run(main()).outcome in ("failed", "interrupted")


@unix_only
def test_a_bot_that_will_not_end_does_not_keep_the_match(tmp_path: Path) -> None:
    code = "import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nhello()\n"
    stubborn = _bot(tmp_path, "Bob", code + "for line in f: call(line)\nwhile True: time.sleep(600)")
    run = MatchRun(_plan(tmp_path, stubborn, "calling", hands=2))
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        result = runner.run(run.play())
    assert result.outcome == "finished"
    assert run._processes[0].wait(PATIENCE_S) == -signal.SIGKILL  # type: ignore[index]


def _open_files() -> int:
    gc.collect()
    return len(list(Path("/proc/self/fd").iterdir()))


@needs_proc
@pytest.mark.parametrize(
    "how",
    [
        "finished",
        "failed",
        "interrupted",
        "port in use",
    ],
)
def test_no_file_stays_open(tmp_path: Path, how: str) -> None:
    def once(folder: Path) -> None:
        folder.mkdir()
        if how == "finished":
            _play(_plan(folder))
        elif how == "failed":
            _play(_plan(folder, "tcp", "tcp", limits=limits(start_s=0.01)))
        elif how == "interrupted":
            run = MatchRun(_plan(folder, "tcp", "tcp"))
            with asyncio.Runner(loop_factory=new_event_loop) as runner:
                runner.run(_interrupt(run, lambda: bool(run.ports)))
        else:
            with socket.create_server(("127.0.0.1", 0)) as taken:
                _cannot_start(_plan(folder, ports=(taken.getsockname()[1],)))

    once(tmp_path / "first")
    before = _open_files()
    once(tmp_path / "second")
    assert _open_files() == before


def test_every_bot_writes_in_a_file_of_its_own(tmp_path: Path) -> None:
    players = [write_program(tmp_path, f"{i}.py", f"print({i}); raise SystemExit") for i in range(3)]
    names = ("a", "a", "a-1")
    texts = [f"{name}={player}" for name, player in zip(names, players, strict=True)]
    run = MatchRun(_plan(tmp_path, *texts, game="kuhn.limit.3p"))
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        runner.run(run.play())
    assert len({process.output_path for process in run._processes.values()}) == 3


def test_two_matches_in_one_loop(tmp_path: Path) -> None:
    """One fails, the other ends as it does alone."""
    (tmp_path / "alone").mkdir()
    _play(_plan(tmp_path / "alone", "random", "random", hands=50))
    expected = (tmp_path / "alone" / "out" / "match.log").read_text()
    (tmp_path / "good").mkdir()
    (tmp_path / "bad").mkdir()
    dying = _bot(tmp_path, "Bob", "hello()\nf.readline()\nos._exit(1)")
    good = MatchRun(_plan(tmp_path / "good", "random", "random", hands=50))
    bad = MatchRun(_plan(tmp_path / "bad", dying, "calling", hands=50))

    async def main() -> tuple[MatchResult, MatchResult]:
        return await asyncio.gather(good.play(), bad.play())

    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        results = runner.run(main())
    assert [result.outcome for result in results] == ["finished", "failed"]
    assert (tmp_path / "good" / "out" / "match.log").read_text() == expected
