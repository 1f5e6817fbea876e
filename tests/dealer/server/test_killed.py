"""A server that is killed at any moment and started again: nothing is lost, and nothing counts twice."""

from __future__ import annotations

import contextlib
import random
import signal
import socket
import time
from pathlib import Path

import psutil
import pytest

from dealer.server.orphans import MARK
from tests.dealer.helpers import ARENA, PATIENCE_S, program_env
from tests.dealer.server.servers import KUHN, rows
from tests.programs import Program, start

pytestmark = pytest.mark.usefixtures("house_folder")

HANDS = 40
SEED = 42
CONFIG = f"""
[[games]]
game = "{KUHN}"
name = "kuhn"
hands = {HANDS}
max_running = 3
bots = ["A=./bot.sh", "B=./bot.sh", "C=./bot.sh"]
"""


class Client:
    """A server in a process of its own, and a client of it."""

    def __init__(self, token: str = "") -> None:
        Path("s.toml").write_text(CONFIG)
        command = [*ARENA, "serve", "s.toml", "--port", "0", "--web-port", "0", "--data", "data"]
        self.program: Program = start(command, cwd=Path.cwd(), env=program_env())
        assert self.program.stdout is not None
        line = self.program.stdout.readline().decode()
        assert line.startswith("Listening on 127.0.0.1 port "), line
        assert self.program.stdout.readline().startswith(b"The pages are at ")
        if not token:
            token = self.program.stdout.readline().decode().split()[-1]
        self.token = token
        self.socket = socket.create_connection(("127.0.0.1", int(line.split()[4].rstrip("."))), PATIENCE_S)
        self.lines = self.socket.makefile("rb")
        self.say(f"player {token}")
        assert self.hear() == "LOGON OKAY - type help for commands"

    def say(self, line: str) -> None:
        self.socket.sendall(f"{line}\n".encode())

    def hear(self) -> str:
        """The next line."""
        line = self.lines.readline()
        assert line.endswith(b"\n"), "the server has ended"
        return line.decode().rstrip("\n")

    def submit(self, tag: str) -> None:
        """Have a match played; it is the server's when this returns."""
        self.say(f"RUNMATCHES kuhn 1 {tag} {SEED} A B C")
        while not self.hear().startswith(f"# QUEUED player.{tag}: "):
            pass

    def wait_until_all_is_played(self) -> None:
        until_s = time.monotonic() + 10 * PATIENCE_S
        while True:
            assert time.monotonic() < until_s, "something is never played"
            # What is no command has an answer that ends the one before.
            self.say("QSTAT\nfoo")
            lines = []
            while (line := self.hear()) != "UNKNOWN":
                lines.append(line)
            if "Queue empty" in lines:
                return
            time.sleep(0.05)

    def kill(self) -> None:
        """End the server without a word."""
        self.program.kill()
        self._close()

    def end(self) -> None:
        """End the server as one does."""
        self.program.send_signal(signal.SIGTERM)
        self._close()
        assert self.program.wait(PATIENCE_S) == 0

    def _close(self) -> None:
        self.lines.close()
        self.socket.close()
        self.program.communicate(timeout=PATIENCE_S)


def left_behind() -> list[int]:
    """The processes that servers in this folder have started and that still run."""
    value = str(Path("data").absolute())
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if process.environ().get(MARK) == value and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process.pid)
    return found


def check(accepted: list[str], possible: list[str]) -> None:
    """Every match that was the server's has been played once, to its end, with the same log."""
    data = Path("data")
    states = dict(rows(data, "SELECT tag, state FROM jobs"))
    assert set(accepted) <= states.keys() <= {*accepted, *possible}
    assert set(states.values()) == {"done"}
    runs = rows(data, "SELECT id, job, number, state, duplicates, folder FROM runs ORDER BY id")
    assert len(runs) == len(states)
    assert {run[2:5] for run in runs} == {(1, "finished", HANDS)}
    assert len({run[1] for run in runs}) == len(runs)
    scores = rows(data, "SELECT run, count(*), sum(length(mbb_by_duplicate)) FROM scores GROUP BY run ORDER BY run")
    assert scores == [(run[0], 3, 3 * 8 * HANDS) for run in runs]
    assert rows(data, "SELECT run, count(*), sum(hands) FROM matches GROUP BY run ORDER BY run") == [
        (run[0], 1, HANDS) for run in runs
    ]
    logs = [(data / run[5] / "match.log").read_bytes() for run in runs]
    assert len(set(logs)) == 1
    assert logs[0].count(b"\nSTATE:") == HANDS
    assert logs[0].count(b"\nSCORE:") == 1
    assert rows(data, "PRAGMA integrity_check") == [("ok",)]
    assert left_behind() == []


def kill_often(kills: int, seed: int) -> None:
    chance = random.Random(seed)
    accepted: list[str] = []
    possible: list[str] = []
    token = ""
    for number in range(kills):
        client = Client(token)
        token = client.token
        for match in range(chance.randrange(3)):
            tag = f"t{number}.{match}"
            if chance.random() < 0.3:
                # Killed perhaps before it is the server's.
                possible.append(tag)
                client.say(f"RUNMATCHES kuhn 1 {tag} {SEED} A B C")
            else:
                client.submit(tag)
                accepted.append(tag)
        # No moment is spared: the start of a run, its hands, its end.
        time.sleep(chance.choice([0, 0.02, 0.1, 0.3]) * chance.random())
        client.kill()
    client = Client(token)
    client.submit("last")
    client.wait_until_all_is_played()
    client.end()
    check([*accepted, "last"], possible)


def test_a_server_that_is_killed_a_few_times() -> None:
    kill_often(3, 1)


@pytest.mark.slow
def test_a_server_that_is_killed_a_hundred_times() -> None:
    kill_often(100, 2)


def test_a_server_that_is_ended_goes_on_with_what_was_being_played() -> None:
    client = Client()
    for tag in "abcd":
        client.submit(tag)
    client.end()
    assert left_behind() == []
    again = Client(client.token)
    again.wait_until_all_is_played()
    again.end()
    check([*"abcd"], [])
