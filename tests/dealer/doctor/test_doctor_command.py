"""``arena doctor`` with programs over sockets: good bots, bots with faults, clients that connect by themselves."""

from __future__ import annotations

import json
import os
import shlex
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import pytest

from dealer.doctor.situations import SITUATIONS
from tests.dealer.cli.conftest import run_here
from tests.dealer.doctor.peers import FAULTS, SECRET
from tests.dealer.helpers import (
    ARENA,
    CONNECT,
    CONTROL_CODES,
    PATIENCE_S,
    ROOT,
    enter_program_env,
    free_ports,
    program_env,
    write_program,
)
from tests.outside import needs, require_compiler
from tests.programs import start

DOCTOR = [*ARENA, "doctor"]
PEERS = ROOT / "tests" / "dealer" / "doctor" / "peers.py"
unix_only = pytest.mark.skipif(os.name == "nt", reason="signals of Unix")


class CommandResult(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def data(self) -> Any:
        return json.loads(self.out)

    @property
    def kinds(self) -> set[str]:
        return {finding["kind"] for finding in self.data["findings"]}


Doctor: TypeAlias = Callable[..., CommandResult]


def command(*words: str | Path) -> str:
    """Quote a command line for this system."""
    texts = [str(word) for word in words]
    return shlex.join(texts) if os.name != "nt" else subprocess.list2cmdline(texts)


@pytest.fixture
def doctor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Doctor:
    """Function that runs the command in this process, with bots as programs."""
    enter_program_env(tmp_path, monkeypatch)

    def run(*arguments: str) -> CommandResult:
        result = CommandResult(*run_here(["doctor", *arguments, "--wait", "0.01"]))
        for text in (result.out, result.err):
            assert not CONTROL_CODES.search(text.encode()), text
        return result

    return run


def peer(name: str) -> str:
    return command(sys.executable, PEERS, name)


# ---- good bots


def test_built_in_bot_passes(doctor: Doctor) -> None:
    result = doctor("random", "--game", "kuhn")
    assert (result.code, result.err) == (0, "")
    assert "Nothing wrong found in " in result.out
    assert "not tried" not in result.out


SOME = (
    "--situation",
    "bets",
    "--situation",
    "joined",
    "--situation",
    "straddled",
    "--situation",
    "end-of-match",
    "--situation",
    "cut-off",
)
ALL_IS_SLOW = pytest.mark.parametrize("situations", [SOME, pytest.param((), marks=pytest.mark.slow)])


def test_example_passes(doctor: Doctor) -> None:
    result = doctor(command(sys.executable, ROOT / "examples" / "minimal_bot.py"), "-g", "nolimit", "--json", *SOME)
    assert (result.code, result.data["findings"]) == (0, [])


@pytest.mark.slow
@pytest.mark.parametrize("game", ["limit", "nolimit", "nolimit3", "kuhn", "leduc", "limit10", "nolimit10"])
@pytest.mark.parametrize("bot", ["minimal", "pot_odds"])
def test_example_passes_in_any_game(doctor: Doctor, bot: str, game: str) -> None:
    """The built-in bots are tried in all games by `test_faults`, without a process."""
    result = doctor(command(sys.executable, ROOT / "examples" / f"{bot}_bot.py"), "-g", game, "--json")
    assert (result.code, result.data["findings"]) == (0, [])


@needs("node")
@ALL_IS_SLOW
def test_client_in_javascript_passes(doctor: Doctor, situations: tuple[str, ...]) -> None:
    result = doctor(command("node", ROOT / "examples" / "client.js"), "-g", "nolimit3", "--json", *situations)
    assert (result.code, result.data["findings"]) == (0, [])


@ALL_IS_SLOW
def test_client_in_c_passes(doctor: Doctor, tmp_path: Path, situations: tuple[str, ...]) -> None:
    program = tmp_path / "client"
    source = ROOT / "examples" / "client.c"
    subprocess.run([require_compiler(), "-std=c99", "-o", str(program), str(source)], check=True, timeout=PATIENCE_S)
    result = doctor(str(program), "--json", *situations)
    assert (result.code, result.data["findings"]) == (0, [])


def test_comments_pass(doctor: Doctor) -> None:
    result = doctor(peer("Chatty"), "-g", "leduc-nolimit", "--json", *SOME)
    assert (result.code, result.data["findings"]) == (0, [])


def test_reply_in_pieces_is_a_note(doctor: Doctor) -> None:
    result = doctor(peer("bytewise"), "-g", "leduc-nolimit", "--json", *SOME)
    assert (result.code, result.kinds, result.data["notes"]) == (0, {"two-pieces"}, 1)


_ENDS_AT_CR = """
import socket, sys
from protocol import PlayerSession, Handshake, Reply, ReceivedState, find_game
from engine import CALL
session = PlayerSession(find_game("limit")[1])
with socket.create_connection((sys.argv[-2], int(sys.argv[-1]))) as dealer:
    dealer.sendall(session.send(Handshake()))
    while data := dealer.recv(1):
        if data != b"\\n":
            session.receive_data(data.replace(b"\\r", b"\\r\\n"))
        while isinstance(event := session.next_event(), ReceivedState):
            if event.is_my_turn:
                dealer.sendall(session.send(Reply(CALL)))
"""


def test_reader_of_lines_that_ends_at_cr_is_a_note(doctor: Doctor, tmp_path: Path) -> None:
    """As every Java client is whose lines come from BufferedReader.readLine()."""
    bot = write_program(tmp_path, "bot.py", _ENDS_AT_CR)
    result = doctor(bot, "--json", "--strict", "--situation", "bets", "--situation", "bytewise")
    assert (result.code, result.kinds, result.data["notes"]) == (0, {"early"}, 1)
    assert {situation["result"] for situation in result.data["situations"]} == {"ok"}


def test_lf_alone_is_a_warning_and_strict_an_error(doctor: Doctor) -> None:
    result = doctor(peer("WithLf"), "--situation", "bets", "--json")
    assert (result.code, result.kinds, result.data["warnings"]) == (0, {"line-end"}, 1)
    assert doctor(peer("WithLf"), "--situation", "bets", "--strict", "-q").code == 1


# ---- broken ones, as programs

OVER_TCP = (
    "crashes on the river",
    "leaves in between",
    "ends with an error",
    "comes and goes",
    "total of the round",
    "action alone",
    "NUL of the string",
    "a line of ten megabytes",
    "comments without end",
    "binary noise",
)


@pytest.mark.sampled
@pytest.mark.parametrize("name", OVER_TCP)
def test_fault_of_a_program_is_reported(doctor: Doctor, name: str) -> None:
    fault = FAULTS[name]
    result = doctor(
        peer(name), "--game", fault.game, "--json", "--situation", "check-down", "--situation", "end-of-match"
    )
    assert fault.kind.value in result.kinds
    assert result.kinds <= {fault.kind.value} | {other.value for other in fault.others}
    assert result.code == (1 if result.data["errors"] else 0)
    (first,) = [finding for finding in result.data["findings"] if finding["kind"] == fault.kind.value]
    if fault.marked is not None:
        assert first["line"][first["byte"] - 1 :].encode("latin-1").startswith(fault.marked)


def test_crash_has_output_and_exit_code(doctor: Doctor) -> None:
    result = doctor(peer("crashes on the river"), "--situation", "check-down")
    assert result.code == 1
    assert "error crashed, once, in check-down" in result.out
    assert "The bot ended with exit code 7 instead of answering." in result.out
    assert SECRET in result.out


def test_bot_that_does_not_exit_is_killed(doctor: Doctor) -> None:
    result = doctor(peer("does not end"), "--situation", "end-of-match", "--timeout", "0.5", "--json")
    assert (result.code, result.kinds, result.data["warnings"]) == (0, {"lingers"}, 1)
    assert "0.5 s after the dealer closed the connection, the bot has" in result.data["findings"][0]["wrong"]


def test_silence_is_a_fault_after_the_timeout(doctor: Doctor) -> None:
    result = doctor(peer("stalls"), "--situation", "bets", "--timeout", "0.5", "--json")
    assert (result.code, result.kinds) == (1, {"silent"})
    assert "no answer came within 0.5 s" in result.data["findings"][0]["wrong"]


@unix_only
def test_crash_by_a_signal_has_its_name(doctor: Doctor, tmp_path: Path) -> None:
    code = f"{CONNECT}os.kill(os.getpid(), 9)\n"
    result = doctor(write_program(tmp_path, "bot.py", code), "--json")
    assert result.kinds == {"crashed"}
    assert "ended with signal 9 (SIGKILL) before the first state" in result.data["findings"][0]["wrong"]


@pytest.mark.parametrize(
    ("code", "limit_s", "words"),
    [
        ("print('no idea what to do')", "60", "ended with exit code 0 without connecting"),
        ("import time; time.sleep(600)", "1", "did not connect within "),
    ],
)
def test_program_that_never_connects_is_a_fault(
    doctor: Doctor, tmp_path: Path, code: str, limit_s: str, words: str
) -> None:
    result = doctor(write_program(tmp_path, "bot.py", code), "--start-timeout", limit_s, "--json")
    assert (result.code, result.kinds) == (1, {"no-connection"})
    assert words in result.data["findings"][0]["wrong"]
    assert result.data["findings"][0]["expected"].endswith("the host and port in its last two arguments")


def test_client_that_never_connects_is_a_fault(doctor: Doctor) -> None:
    result = doctor("tcp", "--start-timeout", "0.01", "--json")
    assert (result.code, result.kinds) == (1, {"no-connection"})
    assert result.data["findings"][0]["expected"] == "a TCP connection to the host and port of the doctor"


def test_second_connection_of_a_program_is_ignored(doctor: Doctor, tmp_path: Path) -> None:
    code = (
        "import contextlib, socket, sys\nfrom bots import Bot, run\n"
        "class Caller(Bot):\n    def act(self, view):\n        return view.call()\n"
        "    def hand_started(self, view):\n        with contextlib.suppress(OSError):\n"
        "            socket.create_connection((sys.argv[1], int(sys.argv[2])), timeout=0.1)\nrun(Caller())\n"
    )
    result = doctor(write_program(tmp_path, "bot.py", code), *SOME, "--json")
    assert (result.code, result.data["findings"]) == (0, [])


def test_bot_for_another_game_fails_with_its_output(doctor: Doctor) -> None:
    result = doctor("calling", "--situation", "bets", "-g", "kuhn", "--json")
    assert result.code == 0
    fixed = command(sys.executable, ROOT / "examples" / "minimal_bot.py", "--game", "limit")
    result = doctor(fixed, "--situation", "bets", "-g", "kuhn", "--json")
    assert (result.code, result.kinds) == (1, {"crashed"})
    assert "does not fit the game assumed" in result.data["findings"][0]["output"][-1]


def test_bot_gets_the_file_of_the_game_and_its_short_name(doctor: Doctor, tmp_path: Path) -> None:
    code = "import os\nprint(os.environ['ARENA_GAME_NAME'], open(os.environ['ARENA_GAME']).read().split()[:2])\n"
    result = doctor(write_program(tmp_path, "bot.py", code), "-g", "holdem.limit.2p", "--json")
    assert result.data["findings"][0]["output"] == ["limit ['GAMEDEF', 'limit']"]
    assert result.data["game"] == "holdem.limit.2p.reverse_blinds"
    assert " of limit." in result.data["sentence"]


# ---- clients that connect by themselves


class Background:
    """The doctor in the background."""

    def __init__(self, *arguments: str) -> None:
        self.process = start([*DOCTOR, *arguments], cwd=Path.cwd(), env=program_env())

    def waiting_line(self) -> str:
        assert self.process.stderr is not None
        return self.process.stderr.readline().decode()

    def end(self) -> CommandResult:
        out, err = self.process.communicate(timeout=PATIENCE_S)
        return CommandResult(self.process.returncode, out.decode(), err.decode())


@pytest.fixture
def background() -> Iterator[list[Background]]:
    started: list[Background] = []
    yield started
    for doctor_program in started:
        doctor_program.process.kill()
        doctor_program.process.communicate()


def run_client(port: int) -> int:
    """Run a good client to its end; return its exit code."""
    code = "import sys; from tests.dealer.doctor.peers import main; sys.exit(main())"
    words = [sys.executable, "-P", "-c", code, "Peer", "127.0.0.1", str(port)]
    client = start(words, cwd=ROOT, env=program_env(ARENA_GAME="kuhn"))
    client.communicate(timeout=PATIENCE_S)
    return client.wait()


def test_client_with_one_connection_is_not_tried_in_all_situations(background: list[Background]) -> None:
    (port,) = free_ports(1)
    doctor_program = Background("tcp", "-g", "kuhn", "--port", str(port), "--wait", "0", "--json")
    background.append(doctor_program)
    assert doctor_program.waiting_line() == f"waiting for the bot at 127.0.0.1:{port}, 300 s left\n"
    assert run_client(port) == 0
    result = doctor_program.end()
    assert (result.code, result.err, result.data["findings"]) == (0, "", [])
    missing = [row["name"] for row in result.data["situations"] if row["result"] == "not tried"]
    assert missing == [situation.name for situation in SITUATIONS if situation.needs_connection]
    assert "it needs another connection; use --reconnect" in result.data["sentence"]


def test_strangers_are_closed_until_a_client_connects(background: list[Background]) -> None:
    (port,) = free_ports(1)
    doctor_program = Background("tcp", "-g", "kuhn", "--port", str(port), "--situation", "bets", "--json")
    background.append(doctor_program)
    assert doctor_program.waiting_line().startswith("waiting for the bot at ")
    for words, problem in (
        (b"", "closed the connection without sending anything"),
        (b"GET / HTTP/1.1\r\n", "did not begin with"),
    ):
        with socket.create_connection(("127.0.0.1", port)) as stranger:
            stranger.sendall(words)
        assert f"a connection from 127.0.0.1 to tcp's port was closed: it {problem}" in doctor_program.waiting_line()
    assert run_client(port) == 0
    result = doctor_program.end()
    assert (result.code, result.data["findings"], result.data["situations"][0]["result"]) == (0, [], "ok")


def test_client_connects_again_for_the_next_situation(background: list[Background]) -> None:
    (port,) = free_ports(1)
    doctor_program = Background(
        "tcp",
        "-g",
        "kuhn",
        "--port",
        str(port),
        "--reconnect",
        "--situation",
        "bets",
        "--situation",
        "cut-off",
        "--json",
    )
    background.append(doctor_program)
    for _ in range(2):
        assert doctor_program.waiting_line().startswith("waiting for the bot at ")
        assert run_client(port) == 0
    result = doctor_program.end()
    assert (result.code, [row["result"] for row in result.data["situations"]]) == (0, ["ok", "ok"])


@unix_only
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupt_ends_the_bot(background: list[Background], tmp_path: Path, number: signal.Signals) -> None:
    code = (
        f"{CONNECT}hello()\nimport time\ns.recv(100)\n"
        f"open({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid()))\ntime.sleep(600)\n"
    )
    doctor_program = Background(
        write_program(tmp_path, "bot.py", code), "--situation", "bets", "--verbose", "--timeout", "600"
    )
    background.append(doctor_program)
    while not doctor_program.waiting_line().startswith("dealer  MATCHSTATE"):
        assert doctor_program.process.poll() is None
    pid = int(_content(tmp_path / "pid"))
    doctor_program.process.send_signal(number)
    result = doctor_program.end()
    assert result.code == 130
    assert "The examination was interrupted." in result.out
    assert "Traceback" not in result.err
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def _content(path: Path) -> str:
    """Wait until a program has written a file, and read it."""
    deadline_s = time.monotonic() + PATIENCE_S
    while not (path.is_file() and path.read_text()):
        assert time.monotonic() < deadline_s
        time.sleep(0.01)
    return path.read_text()


# ---- the command line


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "BOT is missing"),
        (("calling", "--situation", "x"), "there is no situation 'x'; the situations are handshake, "),
        (("tcp", "--host", "192.0.2.1"), "cannot listen on 192.0.2.1 port any"),
    ],
)
def test_refusal_is_one_sentence(doctor: Doctor, arguments: tuple[str, ...], words: str) -> None:
    result = doctor(*arguments)
    assert (result.code, result.out) == (2, "")
    (line,) = result.err.splitlines()
    assert line.startswith("arena: ")
    assert words in line


def test_verbose_shows_every_line(doctor: Doctor) -> None:
    result = doctor("calling", "--situation", "folds", "-g", "kuhn", "--verbose")
    lines = result.err.splitlines()
    assert lines[:2] == ["bot     VERSION:2.0.0", "dealer  MATCHSTATE:0:0::As|"]
    assert "bot     MATCHSTATE:0:0::As|:c" in lines


def test_quiet_is_one_sentence(doctor: Doctor) -> None:
    result = doctor("calling", "--situation", "folds", "-g", "kuhn", "-q")
    assert result.err == ""
    (line,) = result.out.splitlines()
    assert line.startswith("Nothing wrong found in ")
