"""Connections to a bot: starts the bot if it is ours to start, waits for it at a door, and finds out how it ended.

All sockets, processes and clocks of the doctor are here. Each bot that we start gets a door of its own, so that a bot
that connects twice is not taken for the next one. A client that somebody else starts finds the same port each time, and
is the first to begin with a version line; everybody else is turned away and reported, as in a match. The beginning
of the line is enough: whatever is wrong with the rest of it is a finding.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import socket
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple

from dealer.doctor.situations import ExaminationSetup
from dealer.match.events import StrayConnection
from dealer.match.faults import StrayProblem
from dealer.table.door import Door
from dealer.table.launcher import BotProcess
from dealer.table.loop import new_event_loop
from dealer.table.players import Player, PlayerKind
from engine import Seat

__all__ = ["Absence", "BotHost", "Connection", "Exit"]

_POLL_S: Final = 0.1
"""The longest time without a look at the keyboard and the bot's process."""
_RECEIVE_BYTES: Final = 1 << 16
_SEND_TIMEOUT_S: Final = 5.0
"""A bot that reads nothing is given up after this time, once the system buffers no more for it."""
_BEGINNING: Final = b"VERSION"


class Exit(NamedTuple):
    """How a bot ended.

    Attributes:
        code: its exit code, negative for a signal; None if it is still running or is not our process.
        last_lines: the last lines it wrote.
    """

    code: int | None
    last_lines: tuple[str, ...] = ()


class Absence(NamedTuple):
    """The bot did not connect.

    Attributes:
        exit: how it ended, if it did.
        waited_s: how long the doctor waited, in seconds.
        strays: how many others connected and were turned away.
    """

    exit: Exit
    waited_s: float
    strays: int = 0


@dataclass(slots=True)
class Connection:
    """One connection of the bot, over TCP; of our process, or of somebody else's."""

    socket: socket.socket
    process: BotProcess | None
    said: bytes = b""
    takes_no_more: bool = False

    def send(self, data: bytes) -> None:
        """Send bytes as a segment of their own; a bot that takes no more is given up."""
        if self.takes_no_more:
            return
        self.socket.settimeout(_SEND_TIMEOUT_S)
        try:
            self.socket.sendall(data)
        except OSError:
            # A bot that has gone, or reads nothing, is noticed while its answer is awaited.
            self.takes_no_more = True

    def receive(self, deadline_s: float) -> bytes | None:
        """Received bytes, at most 64 KiB; empty when the bot has closed, None when the deadline passes."""
        if self.said:
            said, self.said = self.said, b""
            return said
        while True:
            left_s = deadline_s - self.now_s()
            self.socket.settimeout(max(0.0, min(_POLL_S, left_s)))
            try:
                return self.socket.recv(_RECEIVE_BYTES)
            except (TimeoutError, BlockingIOError):
                if left_s <= 0:
                    return None
            except OSError:
                return b""

    def pause(self, seconds: float) -> None:
        """Let time pass."""
        time.sleep(seconds)

    def now_s(self) -> float:
        """The monotonic clock, in seconds."""
        return time.monotonic()

    def hang_up(self) -> None:
        """Close the dealer's side; what the bot still sends can be read."""
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_WR)

    def wait_for_exit(self, timeout_s: float) -> Exit:
        """How the bot ended, once it has or `timeout_s` seconds have passed."""
        return _exit_of(self.process, timeout_s)

    def close(self) -> None:
        """Close the connection and end the process, if it is ours."""
        self.socket.close()
        if self.process is not None:
            self.process.stop()


@dataclass(slots=True)
class BotHost:
    """Receives the bot that a `Player` describes; use it in a ``with`` block.

    Attributes:
        player: the bot.
        setup: how long to wait for the connection, and the seed of a built-in bot's random decisions.
        game_name: the name of the game that the bot is given.
        folder: folder for the bot's output.
        address: host and port to listen on; port 0 takes a free one.
        on_waiting: called with address and port when the doctor waits for a client that somebody else starts.
        on_stray: told of everybody else who connects meanwhile.
    """

    player: Player
    setup: ExaminationSetup
    game_name: str
    folder: Path
    address: tuple[str, int]
    on_waiting: Callable[[str, int], None]
    on_stray: Callable[[StrayConnection], None] = lambda stray: None
    _loop: asyncio.AbstractEventLoop = field(default_factory=new_event_loop)
    _door: Door | None = None
    _arrived: deque[tuple[socket.socket, bytes]] = field(default_factory=deque)
    _strays: int = 0
    _connections: list[Connection] = field(default_factory=list)

    def __enter__(self) -> BotHost:
        return self

    def __exit__(self, *_: object) -> None:
        self._close_door()
        self._loop.close()
        for connection in self._connections:
            connection.close()

    @property
    def can_start(self) -> bool:
        """Whether the process is ours: it connects again whenever we like, and its end can be observed."""
        return self.player.kind is not PlayerKind.TCP

    def receive_bot(self) -> Connection | Absence:
        """Start the bot if it is ours to start, and wait for it.

        Raises:
            LaunchError: it cannot be started.
            ListenError: the address cannot be listened on.
        """
        door = self._door = self._door or self._open_door()
        process: BotProcess | None = None
        try:
            if self.can_start:
                process = BotProcess(
                    self.player,
                    host=door.hosts[0],
                    port=door.port,
                    game=self.game_name,
                    seed=self.setup.seed,
                    output_path=self.folder / f"bot{len(self._connections)}.out",
                )
            else:
                self.on_waiting(door.hosts[0], door.port)
            found = self._await_bot(process)
        except BaseException:
            if process is not None:
                process.stop()
            raise
        finally:
            if self.can_start:
                self._close_door()
        if isinstance(found, Connection):
            self._connections.append(found)
        elif process is not None:
            process.stop()
        return found

    def _open_door(self) -> Door:
        # Nobody else is given the port of a bot that we start: it is the first to connect.
        is_version = None if self.can_start else lambda line: line[: len(_BEGINNING)].upper() == _BEGINNING
        door = Door(*self.address, Seat(0), is_version=is_version, is_unfinished=_is_unfinished)
        door.watch(self._loop, lambda sock, _, said: self._arrived.append((sock, said)), self._turn_away)
        return door

    def _close_door(self) -> None:
        if self._door is not None:
            self._door.close()
            self._door = None
        while self._arrived:
            self._arrived.popleft()[0].close()

    def _turn_away(self, host: str, problem: StrayProblem, line: bytes) -> None:
        self._strays += 1
        self.on_stray(StrayConnection(Seat(0), host, problem, line))

    def _await_bot(self, process: BotProcess | None) -> Connection | Absence:
        start_s, limit_s = time.monotonic(), self.setup.start_timeout_s
        self._strays = 0
        while True:
            # Asked before looking: a bot that ends right after connecting is still let in here.
            has_ended = process is not None and process.exit_code is not None
            self._loop.run_until_complete(asyncio.sleep(0 if has_ended else _POLL_S / 10))
            if self._arrived:
                sock, said = self._arrived.popleft()
                return Connection(sock, process, said)
            waited_s = time.monotonic() - start_s
            if has_ended or waited_s > (math.inf if limit_s is None else limit_s):
                return Absence(_exit_of(process, 0.0), waited_s, self._strays)


def _is_unfinished(said: bytes) -> bool:
    return len(said) < len(_BEGINNING) and _BEGINNING.startswith(said.upper())


def _exit_of(process: BotProcess | None, timeout_s: float) -> Exit:
    if process is None:
        return Exit(None)
    code = process.wait(timeout_s)
    return Exit(code, tuple(process.last_lines()))
