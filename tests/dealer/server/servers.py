"""Servers in the loop of a test, and clients of their text port.

The servers' bots are small scripts that import nothing of ours: one plays, others wait, hang or crash.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import json
import lzma
import os
import re
import socket
import sqlite3
import sys
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from bots.workers import Workers, local_workers
from dealer.server.accounts import GuessLimit
from dealer.server.db.store import DATABASE_NAME, Store
from dealer.server.reference_settings import read_reference_settings
from dealer.server.server import Started, WebFace, serve
from dealer.server.server_settings import ServerSettings
from dealer.table.links import OpenSeat, PlayerLink
from protocol import find_game, format_game_definition
from tests.dealer.helpers import CONFORMANCE, PATIENCE_S

LIMIT = "holdem.limit.2p.reverse_blinds.game"
KUHN = "kuhn.limit.3p.game"

BOT = '''#!{python} -ISs
"""Calls at every turn, except that a bot with one of the names below waits, hangs or crashes."""
import os, _socket, sys, time
name = os.path.basename(sys.argv[0]).partition(".")[0]
if name == "crash":
    sys.exit(3)
if name == "spy":
    with open("spied.txt", "a") as file:
        paths = ["/proc/self/fd/" + fd for fd in os.listdir("/proc/self/fd") if int(fd) > 2]
        links = [os.readlink(path) for path in paths if os.path.exists(path)]
        file.write(repr((sys.argv[3:], links)) + "\\n")
if name == "hang":
    child = os.fork()
    with open("hung.txt", "a") as file:
        file.write("%d\\n" % os.getpid())
    if child and not os.fork():
        # A daemon: it has another parent, a session of its own and no environment.
        os.setsid()
        if os.fork():
            os._exit(0)
        with open("hung.txt", "a") as file:
            file.write("%d\\n" % os.getpid())
        os.execve(sys.executable, [sys.executable, "-ISs", "-c", "import time; time.sleep(600)"], {{}})
    time.sleep(600)
while name == "slow" and not take_ticket():
    time.sleep(0.01)
'''
TAKE_TICKET = '''
def take_ticket():
    """Use up a ticket to start, and return whether there was one."""
    for ticket in os.listdir("tickets"):
        try:
            os.unlink("tickets/" + ticket)
            return True
        except OSError:
            pass
    return False

'''
PLAYING = """
sock = _socket.socket()  # `socket` takes as long to import as Python to start
sock.connect((sys.argv[1], int(sys.argv[2])))
sock.setsockopt(_socket.IPPROTO_TCP, _socket.TCP_NODELAY, 1)
sock.sendall(b"VERSION:2.0.0\\r\\n")
stream = open(sock.fileno(), "rb", closefd=False)
game = open(os.environ["ARENA_GAME"]).read().lower()
players = int(game.split("numplayers =")[1].split()[0])
first = [int(word) - 1 for word in game.split("firstplayer =")[1].split("\\n")[0].split()]
for line in stream:
    if name == "midcrash":
        sys.exit(3)
    while name == "held" and not os.path.exists("go"):
        time.sleep(0.01)
    line = line.strip()
    parts = line.split(b":")
    seat, rounds = int(parts[1]), parts[3].split(b"/")
    if b"f" in parts[3] and players == 2:
        continue
    turn = (first[min(len(rounds), len(first)) - 1] + len(rounds[-1])) % players
    cards = parts[4].split(b"/")[0].split(b"|")
    if turn == seat and (players > 2 or sum(map(bool, cards)) == 1):
        sock.sendall(line + b":c\\r\\n")
if name == "slowexit":
    time.sleep(600)
"""


def write_house(folder: Path) -> None:
    """Write the games and the bots that configurations name."""
    if os.name == "nt":
        pytest.skip("the bots are scripts, which Windows does not start")
    folder.mkdir(exist_ok=True)
    (folder / "tickets").mkdir()
    for name in (LIMIT, KUHN):
        (folder / name).write_text(format_game_definition(find_game(name.removesuffix(".game"))[1]), "ascii")
    head, rest = BOT.format(python=sys.executable).split("import os, _socket, sys, time\n")
    code = f"{head}import os, _socket, sys, time\n{TAKE_TICKET}{rest}{PLAYING}"
    names = "bot bot2l botk spy spyk slowexit crash hang midcrash slow held noexec"
    for name in names.split():
        path = folder / f"{name}.sh"
        path.write_text(code)
        path.chmod(0o644 if name == "noexec" else 0o755)


@cache
def recordings() -> dict[str, list[dict[str, Any]]]:
    """Events recorded with the reference server, by name of the recording."""
    events: dict[str, list[dict[str, Any]]] = json.loads(
        lzma.decompress((CONFORMANCE / "benchmark_server.json.xz").read_bytes())
    )
    return events


def recorded_events(number: int) -> list[dict[str, Any]]:
    (name,) = (name for name in recordings() if name.startswith(f"{number:02}-"))
    return recordings()[name]


def reference_settings(text: str, **changes: Any) -> ServerSettings:
    """Settings from a configuration of the reference, which is written to the working folder."""
    Path("cfg").write_text(text)
    return replace(read_reference_settings(Path("cfg")), port=0, **changes)


def comparable_bytes(data: bytes) -> bytes:
    """Remove our remarks and the reference's stray zero bytes, and replace port numbers by a word."""
    lines = [line for line in data.splitlines(keepends=True) if not line.startswith(b"# ") or b"# RUNNING " in line]
    return re.sub(rb"(?m)^(RUN \S+) [0-9]+$", rb"\1 PORT", b"".join(lines).replace(b"\0", b""))


@dataclass
class Peer:
    """A scripted client of the text port.

    Attributes:
        received: all bytes from the server.
        is_closed: the server has closed its side.
    """

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    received: bytearray = field(default_factory=bytearray)
    is_closed: bool = False
    _position: int = 0
    _listening: asyncio.Task[None] | None = None
    _news: asyncio.Event = field(default_factory=asyncio.Event)

    def listen(self) -> None:
        self._listening = asyncio.create_task(self._listen())

    async def _listen(self) -> None:
        with contextlib.suppress(OSError):
            while data := await self.reader.read(65536):
                self.received += data
                self._news.set()
        self.is_closed = True
        self._news.set()

    def send(self, text: str | bytes) -> None:
        self.writer.write(text.encode() if isinstance(text, str) else text)

    async def until(self, is_enough: Callable[[], bool]) -> None:
        """Receive until a condition holds."""
        async with asyncio.timeout(PATIENCE_S):
            while not is_enough():
                assert not self.is_closed, f"closed after {bytes(self.received)!r}"
                self._news.clear()
                await self._news.wait()

    async def expect(self, expected: str | bytes) -> None:
        """Expect these bytes next, apart from our remarks and port numbers."""
        expected_bytes = comparable_bytes(expected.encode("latin-1") if isinstance(expected, str) else expected)
        with contextlib.suppress(TimeoutError):
            await self.until(lambda: len(self._comparable()) >= self._position + len(expected_bytes))
        assert self._comparable()[self._position : self._position + len(expected_bytes)] == expected_bytes
        self._position += len(expected_bytes)

    def _comparable(self) -> bytes:
        return comparable_bytes(bytes(self.received))

    async def expect_remark(self, pattern: str) -> re.Match[str]:
        """Receive until one of our remarks matches a pattern."""
        regex = re.compile(rf"(?m)^# {pattern}$")

        def match() -> re.Match[str] | None:
            return regex.search(self.received.decode("utf-8", "replace"))

        await self.until(lambda: match() is not None)
        remark = match()
        assert remark is not None
        return remark

    async def expect_close(self) -> None:
        """Expect the server to close without sending more."""
        async with asyncio.timeout(PATIENCE_S):
            while not self.is_closed:
                self._news.clear()
                await self._news.wait()
        assert self._comparable()[self._position :] == b""

    async def ask(self, question: str, answer: str) -> None:
        """Repeat a question until this is the answer."""
        async with asyncio.timeout(PATIENCE_S):
            while True:
                self.send(question)
                before = self._position
                await self.until(lambda before=before: len(self._comparable()) > before)  # type: ignore[misc]
                await self.settle()
                received = self._comparable()[before:]
                self._position += len(received)
                if received == comparable_bytes(answer.encode("latin-1")):
                    return
                await asyncio.sleep(0.02)

    def skip(self) -> None:
        """Ignore the bytes received so far."""
        self._position = len(self._comparable())

    async def settle(self) -> None:
        """Receive the answers to all earlier requests."""
        # The server answers in order, and each refusal of an unknown tag is counted.
        marks = self.received.count(b"none of your runs has a log")
        self.send("LOG no-such-tag-is-there\n")
        await self.until(lambda: self.received.count(b"none of your runs has a log") > marks)

    def ports(self) -> list[int]:
        """Ports for agents, in the order in which the server named them."""
        return [int(port) for port in re.findall(rb"(?m)^RUN \S+ ([0-9]+)$", bytes(self.received))]

    async def close(self) -> None:
        if self._listening is not None:
            self._listening.cancel()
        self.writer.close()
        with contextlib.suppress(OSError):
            await self.writer.wait_closed()


@dataclass
class House:
    """A running server.

    Attributes:
        started: addresses and the token of the first user.
        folder: the server's data.
        task: runs the server.
        peers: clients to close at the end.
    """

    started: Started
    folder: Path
    task: asyncio.Task[None]
    peers: list[Peer] = field(default_factory=list)

    async def connect(self, *, is_slow: bool = False) -> Peer:
        """Connect a client; a slow one has a small buffer and does not read."""
        address, port = self.started.addresses[0]
        sock = socket.socket()
        if is_slow:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
        sock.setblocking(False)
        await asyncio.get_running_loop().sock_connect(sock, (address, port))
        peer = Peer(*await asyncio.open_connection(sock=sock))
        if not is_slow:
            peer.listen()
        self.peers.append(peer)
        return peer

    async def log_in(self, name: str = "ann", password: str = "secret") -> Peer:
        """Connect a client and log in."""
        peer = await self.connect()
        peer.send(f"{name} {password}\n")
        await peer.expect("LOGON OKAY - type help for commands\n")
        return peer

    def rows(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        return rows(self.folder, query, *values)


def rows(folder: Path, query: str, *values: object) -> list[tuple[Any, ...]]:
    """Rows of the database in a folder."""
    with contextlib.closing(Store(folder / DATABASE_NAME)) as store:
        return [tuple(row) for row in store.read(query, *values)]


def add_user_of_any_version(db: sqlite3.Connection, name: str) -> int:
    """Add a user to a database that may be older than this program."""
    return int(db.execute("INSERT INTO users (name, created_s) VALUES (?, 0)", (name,)).lastrowid or 0)


@cache
def shared_workers() -> Workers:
    """Processes that compute for all servers of this process; each takes a second to start."""
    workers = local_workers(1)
    own_pid = os.getpid()

    def end() -> None:
        # Bots that are forked from this process run its exit functions, too, and must leave the workers alone.
        if os.getpid() == own_pid:
            workers.end(at_once=True)

    atexit.register(end)
    return workers


@contextlib.asynccontextmanager
async def running(
    settings: ServerSettings,
    folder: Path = Path("data"),
    guesses: GuessLimit | None = None,
    web: WebFace | None = None,
    dealer_count: int = 0,
) -> AsyncIterator[House]:
    """Run a server until the end of the block."""
    started: asyncio.Future[Started] = asyncio.get_running_loop().create_future()
    serving = serve(
        settings,
        folder,
        started.set_result,
        guesses=guesses,
        web=web,
        workers=shared_workers(),
        dealer_count=dealer_count,
    )
    task = asyncio.create_task(serving)
    await asyncio.wait([task, started], return_when=asyncio.FIRST_COMPLETED)
    if task.done():
        task.result()
    house = House(await started, folder, task)
    try:
        yield house
        assert not task.done(), "the server has ended"
    finally:
        # The server ends while its clients are still connected.
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
        for peer in house.peers:
            await peer.close()


async def play_agent(port: int, *, own_address: str = "127.0.0.1") -> bytes:
    """Play a client's own agent, which always calls; return its last line."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=(own_address, 0))
    line = b""
    writer.write(b"VERSION:2.0.0\r\n")
    try:
        with contextlib.suppress(ConnectionError):
            async for raw in reader:
                line = raw.strip()
                writer.write(line + b":c\r\n")
    finally:
        writer.close()
    with contextlib.suppress(OSError):
        await writer.wait_closed()
    return line


class CallingLink(PlayerLink):
    """A bot that has joined and calls until the match is over or `leave` is called."""

    def __init__(self, seat: OpenSeat) -> None:
        super().__init__(self._answer, lambda: None)
        self._loop = asyncio.get_running_loop()
        seat.take(self)
        self.receive(b"VERSION:2.0.0\r\n")

    def _answer(self, data: bytes) -> None:
        lines = b"".join(line.strip() + b":c\r\n" for line in data.splitlines())
        # The answer must come after the call that asks, not during it.
        self._loop.call_soon(lambda: self.receive(lines))

    def leave(self) -> None:
        self.receive(b"")


def allow_slow_bots(count: int) -> None:
    """Let so many more slow bots start."""
    folder = Path("tickets")
    existing_count = len(list(folder.iterdir()))
    for number in range(existing_count, existing_count + count):
        (folder / f"{number}-{id(object())}").touch()
