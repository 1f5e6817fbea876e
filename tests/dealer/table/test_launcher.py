"""Processes of bots: commands, failures to start, exit codes, output, and their end with all descendants."""

from __future__ import annotations

import getpass
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from bots.sdk import program
from bots.sdk.program import SERVER_VARIABLE, end_server_programs
from dealer.errors import LaunchError
from dealer.table.confinement import Confinement
from dealer.table.launcher import BotProcess, player_command, sdk_cure, stop_all
from dealer.table.players import Player, PlayerKind, parse_player
from tests.dealer.helpers import PATIENCE_S, write_program
from tests.programs import KUHN, is_alive, wait_for_exit

unix_only = pytest.mark.skipif(os.name == "nt", reason="signals of Unix")
Start = Callable[..., BotProcess]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Return a function that starts a bot from Python code. All bots are ended after the test."""
    started: list[BotProcess] = []

    def start(code: str = "", *, player: Player | None = None, seed: int | None = None) -> BotProcess:
        number = len(started)
        if player is None:
            player = parse_player(write_program(tmp_path, f"bot{number}.py", code))
        process = BotProcess(
            player, host="127.0.0.1", port=1, game=KUHN, seed=seed, output_path=tmp_path / f"bot{number}.out"
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.stop(grace_s=0.0)
        process.wait(PATIENCE_S)


def _wait_for_output(process: BotProcess, text: str) -> None:
    until = time.monotonic() + PATIENCE_S
    while text not in process.output_path.read_text("utf-8", "replace"):
        assert time.monotonic() < until, f"never wrote {text!r}"
        time.sleep(0.01)


# ---- commands


def test_host_and_port_are_the_last_arguments() -> None:
    player = parse_player(f"{sys.executable} bot.py --fast")
    assert player_command(player, host="h", port=5, game=KUHN.path) == [
        sys.executable,
        "bot.py",
        "--fast",
        "h",
        "5",
    ]


def test_built_in_bot_has_the_game_on_its_command_line() -> None:
    command = player_command(parse_player("random?fold=0.1"), host="h", port=5, game=Path("/g.game"))
    assert command[0] == sys.executable
    assert command[-5:] == ["random?fold=0.1", "h", "5", "--game", os.path.abspath("/g.game")]


@unix_only
def test_seed_is_not_readable_by_other_users(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        seeds = []
        for user in ("", getpass.getuser()):
            player = replace(parse_player("random"), confinement=Confinement(user=user, cpu_s=1000))
            port = listener.getsockname()[1]
            path = tmp_path / f"{user}.out"
            process = BotProcess(player, host="127.0.0.1", port=port, game=KUHN, seed=34567, output_path=path)
            connection, _ = listener.accept()
            with connection:
                bot = psutil.Process(process.pid)
                assert "34567" not in " ".join(bot.cmdline())
                seeds.append(bot.environ().get("ARENA_SEED"))
            process.stop()
    assert seeds == ["34567", None]


def test_bot_has_game_and_port_in_its_environment_and_arguments(start: Start) -> None:
    process = start(
        "import json, os, sys\n"
        "names = ('ARENA_GAME', 'ARENA_GAME_NAME', 'PYTHONUNBUFFERED')\n"
        "print(json.dumps([sys.argv[1:], [os.environ[n] for n in names], sys.stdin.read()]))"
    )
    assert process.wait(PATIENCE_S) == 0
    assert json.loads(process.last_lines()[0]) == [["127.0.0.1", "1"], [str(KUHN.path), "kuhn", "1"], ""]


def test_bot_may_import_from_its_folder(tmp_path: Path) -> None:
    (tmp_path / "strategy.py").write_text("WORD = 'found'\n")
    (tmp_path / "bot.py").write_text("from strategy import WORD\nprint(WORD)\n")
    player = parse_player(f"{sys.executable} {tmp_path / 'bot.py'}")
    process = BotProcess(player, host="h", port=1, game=KUHN, seed=None, output_path=tmp_path / "bot.out")
    assert process.wait(PATIENCE_S) == 0
    assert process.last_lines() == ["found"]


RUBY = ["bot.rb:3:in 'act': no luck (RuntimeError)", *[f"\tfrom bot.rb:{line}:in 'play'" for line in range(20)]]
PYTHON = ["Traceback (most recent call last):", *["  File 'bot.py', line 1"] * 9, "RuntimeError: no luck"]


@pytest.mark.parametrize(
    ("written", "last"),
    [
        (["hello", *RUBY], [RUBY[0], "...", *RUBY[-5:]]),
        (["hello", *PYTHON], PYTHON[-5:]),
        (RUBY[:4], RUBY[:4]),
        (["\tindented"] * 9, ["\tindented"] * 5),
    ],
)
def test_last_lines_include_the_error(start: Start, written: list[str], last: list[str]) -> None:
    process = start(f"print({chr(10).join(written)!r})")
    assert process.wait(PATIENCE_S) == 0
    assert process.last_lines() == last


# ---- failures to start


@unix_only
@pytest.mark.parametrize("content", [b"\x7fELF no program", b"#!/no/such/interpreter\n"])
def test_program_that_cannot_be_started_is_reported(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "bot"
    path.write_bytes(content)
    path.chmod(0o755)
    with pytest.raises(LaunchError, match=f"^cannot start '{path}': "):
        BotProcess(parse_player(str(path)), host="h", port=1, game=KUHN, seed=None, output_path=tmp_path / "bot.out")


def test_missing_program_is_reported(tmp_path: Path) -> None:
    player = Player("gone", "gone", PlayerKind.COMMAND, (str(tmp_path / "gone"),))
    with pytest.raises(LaunchError, match=r"^cannot start 'gone': No such file or directory"):
        BotProcess(player, host="h", port=1, game=KUHN, seed=None, output_path=tmp_path / "bot.out")


def test_output_file_that_cannot_be_created_is_reported(tmp_path: Path) -> None:
    with pytest.raises(LaunchError, match=r"^cannot start 'calling': No such file or directory"):
        BotProcess(
            parse_player("calling"), host="h", port=1, game=KUHN, seed=None, output_path=tmp_path / "no" / "bot.out"
        )


# ---- exit codes and output


@pytest.mark.parametrize("code", [0, 1, 3, 77])
def test_exit_code_is_reported(start: Start, code: int) -> None:
    process = start(f"import sys; print('bye'); sys.exit({code})")
    assert process.wait(PATIENCE_S) == code
    assert process.exit_code == code
    assert process.last_lines() == ["bye"]


@unix_only
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV])
def test_exit_code_is_the_negative_number_of_a_signal(start: Start, number: signal.Signals) -> None:
    process = start(f"import os; os.kill(os.getpid(), {int(number)})")
    assert process.wait(PATIENCE_S) == -number
    assert process.last_lines() == []


def test_running_bot_has_no_exit_code_until_it_is_stopped(start: Start) -> None:
    process = start("import time; print('up'); time.sleep(600)")
    _wait_for_output(process, "up")
    assert process.exit_code is None
    assert process.wait(0.0) is None
    process.stop(grace_s=PATIENCE_S)
    assert process.exit_code == (-signal.SIGTERM if os.name != "nt" else 1)


def test_large_output_does_not_block_a_bot(start: Start) -> None:
    process = start(
        "import sys\n"
        "for i in range(5_000): print('line', i, 'of a very chatty bot')\n"
        "sys.stdout.buffer.write(b'\\xff\\xfe not UTF-8\\n')\n"
        "sys.stdout.flush()\n"
        "print('last', file=sys.stderr)"
    )
    assert process.wait(PATIENCE_S) == 0
    assert process.output_path.stat().st_size > 125_000
    lines = process.last_lines()
    assert len(lines) <= 5
    assert lines[-1] == "last"
    assert lines[-2].endswith("not UTF-8")


def test_long_line_is_cut(start: Start) -> None:
    process = start("print('x' * 1_000_000)")
    assert process.wait(PATIENCE_S) == 0
    (line,) = process.last_lines()
    assert len(line) <= 4096


def test_deleted_output_has_no_last_lines(start: Start) -> None:
    process = start("print('bye')")
    process.wait(PATIENCE_S)
    process.output_path.unlink()
    assert process.last_lines() == []


def test_earlier_output_is_replaced(tmp_path: Path, start: Start) -> None:
    (tmp_path / "bot0.out").write_text("from an earlier run")
    process = start("print('new')")
    process.wait(PATIENCE_S)
    assert process.last_lines() == ["new"]


# ---- stopping bots


@unix_only
def test_bot_that_ignores_signals_is_killed(start: Start) -> None:
    process = start(
        "import signal, time\n"
        "for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP): signal.signal(number, signal.SIG_IGN)\n"
        "print('up')\ntime.sleep(600)"
    )
    _wait_for_output(process, "up")
    process.stop(grace_s=0.1)
    assert process.wait(PATIENCE_S) == -signal.SIGKILL


def test_ended_bot_may_be_stopped_again(start: Start) -> None:
    process = start("print('x' * 100_000)")
    process.wait(PATIENCE_S)
    process.stop()
    process.stop()
    assert process.exit_code == 0
    assert process.output_path.stat().st_size == 100_001 if os.name != "nt" else 100_002


CHILD = """
import os, signal, subprocess, sys
def spawn(code="pass", **options):
    code = "import os, signal, time; " + code + "; print('child', os.getpid(), flush=True); time.sleep(600)"
    return subprocess.Popen([sys.executable, "-c", code], **options)
"""
"""Code for a bot that starts a child process, which writes its id to the bot's output."""

DAEMON = "spawn('os.fork() and os._exit(0); os.setsid(); os.fork() and os._exit(0)', env={})"
"""Start of a daemon: forked twice, with its own session, another parent and an empty environment."""

STAYS = "\nimport time; time.sleep(600)"


def _child_of(process: BotProcess) -> int:
    _wait_for_output(process, "child ")
    _wait_for_output(process, "\n")
    (line,) = [line for line in process.last_lines() if line.startswith("child ")]
    return int(line.split()[1])


def _ends_with_its_child(start: Start, code: str) -> None:
    process = start(CHILD + code)
    child = _child_of(process)
    if STAYS not in code:
        assert process.wait(PATIENCE_S) == 0
    process.stop(grace_s=0.2)
    assert wait_for_exit(child)
    assert process.exit_code is not None


@pytest.mark.parametrize(
    "code",
    [
        "spawn()" + STAYS,
        "spawn()",
        pytest.param("spawn(start_new_session=True)" + STAYS, marks=unix_only),
        pytest.param("spawn(start_new_session=True)", marks=unix_only),
        pytest.param("spawn('os.fork() and os._exit(0); os.setsid()')" + STAYS, marks=unix_only),
        pytest.param("spawn('os.fork() and os._exit(0); os.setsid()')", marks=unix_only),
        pytest.param("spawn(env={}, start_new_session=True)" + STAYS, marks=unix_only),
        pytest.param("spawn(env={})", marks=unix_only),
        pytest.param("spawn('signal.signal(signal.SIGTERM, signal.SIG_IGN)', start_new_session=True)", marks=unix_only),
    ],
    ids=[
        "child",
        "child left behind",
        "own session",
        "own session, left behind",
        "daemon",
        "daemon, left behind",
        "own session without our environment",
        "left behind without our environment",
        "own session, left behind, ignoring SIGTERM",
    ],
)
def test_processes_of_a_bot_end_with_it(start: Start, code: str) -> None:
    _ends_with_its_child(start, code)


@pytest.mark.skipif(sys.platform != "linux", reason="processes are marked by a limit of Linux")
@pytest.mark.parametrize("stays", [STAYS, ""], ids=["beside the bot", "left behind"])
def test_daemon_of_a_bot_ends_with_it(start: Start, stays: str) -> None:
    _ends_with_its_child(start, DAEMON + stays)


@pytest.mark.skipif(sys.platform != "linux", reason="processes are marked by a limit of Linux")
def test_process_that_starts_a_bot_does_not_count_as_a_bot() -> None:
    import resource

    mark = program._MIN_MARK + 7
    with program._inherited(mark), subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        pids = [os.getpid(), child.pid]
        assert program._marked(pids, "ARENA_BOT", "nobody", lambda process_mark: process_mark == mark) == []
        assert resource.getrlimit(resource.RLIMIT_RTTIME)[0] == mark
        child.communicate(b"\n")
    assert resource.getrlimit(resource.RLIMIT_RTTIME)[0] != mark


@pytest.mark.skipif(sys.platform != "linux", reason="processes are marked by a limit of Linux")
def test_daemon_started_before_its_bot_is_marked_ends_with_it(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bots.sdk.program._set_mark", lambda pid, mark: None)
    _ends_with_its_child(start, DAEMON)


@pytest.mark.skipif(sys.platform != "linux", reason="processes are marked by a limit of Linux")
def test_bots_of_a_killed_server_are_found_by_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, start: Start
) -> None:
    monkeypatch.setenv(SERVER_VARIABLE, str(tmp_path))
    children = [_child_of(start(CHILD + DAEMON + STAYS)), _child_of(start(CHILD + "spawn()" + STAYS))]
    monkeypatch.setenv(SERVER_VARIABLE, str(tmp_path / "another"))
    other = start("import time; print('up'); time.sleep(600)")
    assert end_server_programs(str(tmp_path)) == 4
    assert all(wait_for_exit(child) for child in children)
    assert other.exit_code is None


@pytest.mark.parametrize(
    "code", ["spawn()" + STAYS, "spawn()", "spawn(start_new_session=True)" + STAYS, "spawn(env={})" + STAYS]
)
def test_processes_of_a_bot_end_with_it_without_process_groups(
    monkeypatch: pytest.MonkeyPatch, start: Start, code: str
) -> None:
    """On Windows, descendants are found by their parents and by the mark in their environment."""
    monkeypatch.setattr("bots.sdk.program.IS_WINDOWS", True)
    monkeypatch.setattr("bots.sdk.program.os.killpg", None, raising=False)
    _ends_with_its_child(start, code)


@unix_only
def test_player_started_by_a_shell_script_ends_with_it(tmp_path: Path, start: Start) -> None:
    program = write_program(tmp_path, "player.py", "import os, time\nprint('child', os.getpid())\ntime.sleep(600)")
    script = tmp_path / "bot.sh"
    script.write_text(f"#!/bin/sh\n({program} &)\nwait\nsleep 600\n")
    script.chmod(0o755)
    process = start(player=parse_player(str(script)))
    child = _child_of(process)
    stop_all([process], leave_s=0.0)
    assert wait_for_exit(child)


def test_bot_that_keeps_starting_processes_can_be_stopped(start: Start) -> None:
    process = start(CHILD + "print('up')\nwhile True: subprocess.run([sys.executable, '-S', '-c', ''])")
    _wait_for_output(process, "up")
    process.stop(grace_s=0.2)
    assert process.exit_code is not None


def test_stopping_a_bot_does_not_affect_others(start: Start) -> None:
    stopped = start("import time; print('up'); time.sleep(600)")
    other = start(CHILD + "spawn()" + STAYS)
    child = _child_of(other)
    _wait_for_output(stopped, "up")
    stopped.stop()
    assert other.exit_code is None
    assert is_alive(child)


def test_exit_of_a_bot_calls_on_exit(tmp_path: Path) -> None:
    ended = threading.Event()
    program = parse_player(write_program(tmp_path, "bot.py", "raise SystemExit(3)"))
    process = BotProcess(
        program, host="h", port=1, game=KUHN, seed=None, output_path=tmp_path / "bot.out", on_exit=ended.set
    )
    assert ended.wait(PATIENCE_S)
    assert process.exit_code == 3


def test_bots_may_exit_before_they_are_stopped(start: Start) -> None:
    leaving = start("print('bye')")
    staying = start("import time; print('up'); time.sleep(600)")
    _wait_for_output(leaving, "bye")
    _wait_for_output(staying, "up")
    leaving.wait(PATIENCE_S)
    stop_all([leaving, staying], leave_s=0.05)
    assert leaving.exit_code == 0
    assert staying.wait(PATIENCE_S) != 0


def test_stopping_no_bots_does_nothing() -> None:
    stop_all([])


@pytest.mark.parametrize(
    ("source", "cure"),
    [
        ("class Careful(Bot):\n    pass\n", "bot0.py:Careful to start it"),
        ("class Helper:\n    pass\n", "bot0.py:CLASS to start it"),
    ],
)
def test_python_without_the_sdk_is_reported(start: Start, tmp_path: Path, source: str, cure: str) -> None:
    path = tmp_path / "bot0.py"
    path.write_text(f"from bots import Bot\n{source}")
    player = parse_player(f"{sys.executable} -I -S {path}")
    process = start(player=player)
    assert process.wait(PATIENCE_S) == 1
    sentence = sdk_cure(player, process.last_lines())
    assert sentence.startswith("Its Python does not have acpc-arena: install it there, or write ")
    assert f"{cure} with the Python of arena." in sentence


def test_other_failures_have_no_advice_about_the_sdk() -> None:
    player = parse_player(f"{sys.executable} -c pass")
    for line in ("ModuleNotFoundError: No module named 'torch'", "No module named 'bots'", ""):
        assert sdk_cure(player, ["Traceback", line]) == ""
    line = "ModuleNotFoundError: No module named 'bots'"
    assert sdk_cure(player, [line]) == "Its Python does not have acpc-arena: install it there."
    assert sdk_cure(parse_player("calling"), [line]) == ""


_WRITES = """
import os, sys
for number in range(40):
    os.write(1, b"%06d " % number + b"x" * 99_992 + b"\\n")
sys.exit("the last words")
"""


def test_output_of_a_bot_is_bounded(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program, "MAX_OUTPUT_BYTES", 1_000_000)
    process = start(_WRITES)
    assert process.wait(PATIENCE_S) == 1
    text = process.output_path.read_bytes()
    assert 1_000_000 < len(text) < 1_020_000
    assert text.startswith(b"000000 x")
    assert b"\n[more than 10,000,000 bytes: the rest is left out, except for its end]\n" in text
    assert process.last_lines()[-1] == "the last words"


def test_output_is_bounded_while_the_bot_runs(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program, "MAX_OUTPUT_BYTES", 1_000_000)
    # With the usual slack, output that is cut between two writes could grow again unnoticed.
    monkeypatch.setattr(program, "_OUTPUT_SLACK_BYTES", 20_000)
    process = start(_WRITES.replace("sys.exit", "import time; os.write(1, b'waits'); time.sleep(600);"))
    until = time.monotonic() + PATIENCE_S
    while not (text := process.output_path.read_bytes()).endswith(b"waits") or len(text) > 1_020_000:
        assert time.monotonic() < until
        time.sleep(0.01)
    assert process.exit_code is None
    os.truncate(process.output_path, 0)
    process.stop(grace_s=0.0)
    assert process.output_path.stat().st_size == 0
