"""Fresh servers on a busy machine: matches that correct players lose, and the longest wait of another client.

Each server is new. Two users play with players in C, one many short contests, the other a long one, so that contests
end while others are played. The time limit of a reply is a second. A third client asks for the queue all the time. Some
processes keep the processor busy.
"""

from __future__ import annotations

import contextlib
import shutil
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from bench.served import ANSWER_S, served, until
from dealer.bench import Row
from dealer.server.accounts import add_token
from dealer.server.db.store import DATABASE_NAME, Store
from dealer.server.db.users import add_user

_CLIENT: Final = Path(__file__).resolve().parents[1] / "examples" / "client.c"
_CONFIG: Final = """
t_response_s = 1
[[games]]
game = "limit"
name = "short"
deals = {deals}
max_running = 0
bots = ["calling"]
[[games]]
game = "limit"
name = "long"
deals = {long}
max_running = 0
bots = ["calling"]
"""
_PAUSE_S: Final = 0.02
_CONTEST: Final = "contest"


class _Found(NamedTuple):
    """Counts of one server: matches, those that a player lost by a fault, and the longest wait for an answer."""

    matches: int
    lost: int
    wait_s: float


def measure(*, servers: int = 3, busy: int = 2, contests: int = 5, deals: int = 200) -> list[Row]:
    """Matches lost by players in C that answer at once, and the longest wait for QSTAT, of fresh servers.

    Args:
        servers: started one after the other.
        busy: processes that compute all the time.
        contests: short ones, played in a row while the long one is played.
        deals: of a short contest; the long one has ten times as many.

    Raises:
        OSError: there is no C compiler, or a program cannot be started.
        RuntimeError: the server fails.
    """
    compiler = shutil.which("cc")
    if compiler is None:
        raise RuntimeError("there is no C compiler `cc`")
    with tempfile.TemporaryDirectory() as folder, _busy(busy):
        player = Path(folder) / "client"
        subprocess.run([compiler, "-std=c99", "-O2", "-o", str(player), str(_CLIENT)], check=True)
        servers_counts = []
        for number in range(servers):
            place = Path(folder) / str(number)
            place.mkdir()
            servers_counts.append(_fresh(place, player, contests, deals))
    lost, waits = [float(one.lost) for one in servers_counts], [1000 * one.wait_s for one in servers_counts]
    note = f"of {servers_counts[0].matches} matches a server"
    return [
        Row("matches lost", "server", sorted(lost)[len(lost) // 2], min(lost), max(lost), "matches", None, note),
        Row("longest wait for QSTAT", "server", sorted(waits)[len(waits) // 2], min(waits), max(waits), "ms", None),
    ]


@contextlib.contextmanager
def _busy(count: int) -> Iterator[None]:
    """Keep processes busy until the end of the block."""
    processes = [subprocess.Popen([sys.executable, "-S", "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


class _Client:
    """A client of the text port."""

    def __init__(self, port: int, user: str, token: str) -> None:
        self._sock = socket.create_connection(("127.0.0.1", port), timeout=ANSWER_S)
        self._stream = self._sock.makefile("r", encoding="latin-1", newline="\n")
        self.say(f"{user} {token}")
        self.line_with("LOGON OKAY")

    def say(self, line: str) -> None:
        """Send a line."""
        self._sock.sendall(f"{line}\n".encode())

    def line(self) -> str:
        """Receive a line; empty at the end."""
        return self._stream.readline()

    def line_with(self, text: str) -> str:
        """Receive lines until one has a text."""
        while line := self.line():
            if text in line:
                return line
        raise RuntimeError(f"the server has ended the connection before {text!r}")

    def close(self) -> None:
        """Close the connection."""
        self._stream.close()
        self._sock.close()


def _fresh(folder: Path, player: Path, contests: int, deals: int) -> _Found:
    """Start a server, play, and count."""
    data = folder / "arena-server"
    data.mkdir()
    with contextlib.closing(Store(data / DATABASE_NAME)) as store:
        tokens = {name: store.write_now(lambda db, name=name: add_token(db, add_user(db, name))) for name in "abc"}
    with served(folder, _CONFIG.format(deals=deals, long=10 * deals)) as program:
        asking = _Client(program.text_port, "c", tokens["c"])
        is_over = threading.Event()
        waits: list[float] = []
        asker = threading.Thread(target=_ask, args=(asking, is_over, waits))
        asker.start()
        players = [
            threading.Thread(target=_play, args=(_Client(program.text_port, name, tokens[name]), game, count, player))
            for name, game, count in (("a", "short", contests), ("b", "long", 1))
        ]
        for thread in players:
            thread.start()
        for thread in players:
            thread.join()
        is_over.set()
        asker.join()
        asking.close()
        runs: list[str] = []

        def is_counted() -> bool:
            with contextlib.closing(sqlite3.connect(data / DATABASE_NAME)) as db:
                runs[:] = [state for (state,) in db.execute("SELECT state FROM runs")]
            return len(runs) == contests + 1 and "running" not in runs

        until(is_counted, every_s=0.1)
    return _Found(len(runs), sum(state != "finished" for state in runs), max(waits))


def _ask(client: _Client, is_over: threading.Event, waits: list[float]) -> None:
    """Ask for the queue until the contests are over."""
    while not is_over.is_set():
        began_s = time.monotonic()
        client.say("QSTAT\nHELP")
        client.line_with("HELP - ")
        waits.append(time.monotonic() - began_s)
        client.line_with("LOCAL")
        time.sleep(_PAUSE_S)


def _play(client: _Client, game: str, count: int, player: Path) -> None:
    """Request contests one after the other, and play both seats of each."""
    for number in range(count):
        client.say(f"RUNMATCHES {game} 1 {_CONTEST}{number} {number + 1} LOCAL LOCAL")
        processes = []
        for _ in range(2):
            _, host, port = client.line_with("RUN 127").split()
            processes.append(subprocess.Popen([str(player), host, port], stdout=subprocess.DEVNULL))
        client.line_with(f"{_CONTEST}{number} run 1 of 1: ")
        for process in processes:
            process.wait(ANSWER_S)
    client.close()
