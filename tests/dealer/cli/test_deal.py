"""``arena deal`` and ``arena bot``: a dealer without bots, and clients that connect by themselves."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.dealer.cli.conftest import Arena
from tests.dealer.helpers import ARENA, PATIENCE_S, free_ports, program_env
from tests.programs import Program, start

unix_only = pytest.mark.skipif(os.name == "nt", reason="signals of Unix")


class Dealing:
    """``arena deal`` in the background."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.processes: list[Program] = []

    def start(self, *arguments: str) -> Program:
        process = start([*ARENA, *arguments], cwd=self.folder, env=program_env())
        self.processes.append(process)
        return process

    def close(self) -> None:
        for process in self.processes:
            process.kill()
            process.communicate()


@pytest.fixture
def dealing(tmp_path: Path) -> Iterator[Dealing]:
    dealing = Dealing(tmp_path)
    yield dealing
    dealing.close()


def _waiting_line(process: Program) -> str:
    assert process.stderr is not None
    return process.stderr.readline().decode()


def test_client_takes_a_tcp_seat(dealing: Dealing, tmp_path: Path) -> None:
    dealer = dealing.start("deal", "kuhn", "Ann=tcp", "calling", "-n", "20", "--seed", "2", "--json", "--out", "x")
    waiting = _waiting_line(dealer)
    match = re.match(r"waiting for Ann at 127\.0\.0\.1:(\d+)", waiting)
    assert match
    assert re.search(r", \d+ s left\n", waiting)
    bot = dealing.start("bot", "raising", "127.0.0.1", match[1], "--game", "kuhn")
    out, err = dealer.communicate(timeout=PATIENCE_S)
    assert dealer.returncode == 0
    assert err == b""
    result = json.loads(out)
    assert (result["outcome"], result["hands_played"]) == ("finished", 20)
    assert [player["player"] for player in result["players"]] == ["tcp", "calling"]
    assert bot.wait(PATIENCE_S) == 0
    assert (tmp_path / "x" / "match.log").read_text().endswith(":Ann|calling\n")


def test_default_seats_are_tcp_at_the_given_ports(dealing: Dealing) -> None:
    one, two = free_ports(2)
    dealer = dealing.start("deal", "kuhn", "-n", "5", "--quiet", "--ports", f"{one},{two}", "--start-timeout", "0")
    waiting = _waiting_line(dealer)
    assert waiting == f"waiting for tcp at 127.0.0.1:{one} and tcp#2 at 127.0.0.1:{two}, without limit\n"
    bots = [dealing.start("bot", "calling", "127.0.0.1", str(port), "--game", "kuhn") for port in (one, two)]
    out, _ = dealer.communicate(timeout=PATIENCE_S)
    assert dealer.returncode == 0
    assert len(out.splitlines()) == 1
    assert [bot.wait(PATIENCE_S) for bot in bots] == [0, 0]


def test_missing_clients_end_the_match(arena_here: Arena) -> None:
    command = arena_here("deal", "kuhn", "--start-timeout", "0.3", "-q")
    assert command.code == 1
    outcome, _, hint = command.out.splitlines()
    assert outcome == "No hand was finished: tcp and tcp#2 have not connected within 0.3 s."
    assert hint.startswith("    arena resume runs")


def test_configuration_and_user_defaults_precede_those_of_the_command(
    arena_here: Arena, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def planned_run(*words: str) -> tuple[int, str, int]:
        command = arena_here("deal", "kuhn", "calling", "random", "--in-process", "--json", *words)
        result = json.loads(command.out)
        return result["deals_asked"], result["seating"], result["seatings"]

    (tmp_path / "run.toml").write_text('deals = 12\nseating = "rotations"\n')
    (tmp_path / "user.toml").write_text("deals = 7\n")
    assert planned_run() == (1000, "single", 1)
    assert planned_run("--stop", "better:-1900,1900") == (1_000_000, "single", 1)
    assert planned_run("--config", "run.toml") == (12, "rotations", 2)
    assert planned_run("--config", "run.toml", "-n", "3", "--no-duplicate") == (3, "single", 1)
    monkeypatch.setenv("ARENA_SETTINGS", str(tmp_path / "user.toml"))
    assert planned_run() == (7, "single", 1)


@unix_only
def test_interrupted_wait_names_the_command_that_resumes_it(dealing: Dealing) -> None:
    dealer = dealing.start("deal", "kuhn", "--quiet")
    assert _waiting_line(dealer).startswith("waiting for tcp at ")
    dealer.send_signal(signal.SIGINT)
    out, err = dealer.communicate(timeout=PATIENCE_S)
    assert dealer.returncode == 130
    outcome, _, hint = out.decode().splitlines()
    assert outcome == "No hand was finished: it was interrupted."
    assert hint.startswith("    arena resume runs")
    assert b"Traceback" not in err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("kuhn", "tcp"), "needs 2 players, 1 given"),
        (("kuhn", "--ports", "x"), "--ports: 'x' is not a valid port"),
        (("kuhn", "--ports", "²"), "is not a valid port"),
        (("kuhn", "--host", "192.0.2.1"), "cannot listen on 192.0.2.1 port any"),
    ],
)
def test_refusal_is_one_sentence(arena_here: Arena, arguments: tuple[str, ...], words: str) -> None:
    command = arena_here("deal", *arguments)
    assert command.code == 2
    assert words in command.sentence


@pytest.mark.parametrize("out", ["", "new", "there"])
def test_busy_port_leaves_no_run(arena_here: Arena, tmp_path: Path, out: str) -> None:
    """A run that could not start leaves no folder, but does not remove an existing one."""
    (tmp_path / "there").mkdir()
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        command = arena_here("deal", "kuhn", "--ports", f"0,{port}", *(("--out", out) if out else ()))
    assert [path for path in tmp_path.rglob("*") if path.name not in ("there", "runs")] == []
    assert (tmp_path / "there").is_dir()
    assert command.code == 2
    assert f"cannot listen on 127.0.0.1 port {port}: " in command.sentence
    assert "ddress already in use" in command.sentence


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("calling",), 2, "HOST is missing"),
        (("calling", "127.0.0.1", "x"), 2, "PORT must be a number from 1 to 65535, not 'x'"),
        (("calling", "127.0.0.1", "1", "--speed", "9"), 2, "unknown option --speed"),
        (("nobody", "127.0.0.1", "1"), 1, "there is no bot 'nobody'"),
    ],
)
def test_bot_that_cannot_play_is_refused(arena: Arena, arguments: tuple[str, ...], code: int, words: str) -> None:
    command = arena("bot", *arguments)
    assert (command.code, command.out) == (code, "")
    (line,) = command.err.splitlines()
    assert line.startswith("bot: ")
    assert words in line
