"""Connections to a bot: starts the bot if it is ours to start, waits for it, and finds out how it ended.

All sockets, processes and clocks of the doctor are here. Each bot that we start gets a listener of its own, so that a
bot that connects twice is not taken for the next one. A client that somebody else starts finds the same port each time,
and is whoever begins with a version line.
"""

from __future__ import annotations

import contextlib
import math
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple, Protocol

from dealer.doctor.inbox import Wire
from dealer.doctor.lobby import Arrival, Lobby
from dealer.doctor.situations import ExaminationSetup
from dealer.errors import ListenError
from dealer.match.events import StrayConnection
from dealer.table.launcher import BotProcess
from dealer.table.players import Player, PlayerKind
from engine import Seat

__all__ = ["Absence", "BotHost", "Exit", "Host", "Visit"]

_POLL_S: Final = 0.1
"""The longest time without a look at the keyboard and the bot's process."""

_RECEIVE_BYTES: Final = 1 << 16
_SEND_TIMEOUT_S: Final = 5.0
"""A bot that reads nothing is given up after this time, once the system buffers no more for it."""


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


class Visit(Wire, Protocol):
    """One connection of the bot."""

    def hang_up(self) -> None:
        """Close the dealer's side; what the bot still sends can be read."""

    def wait_for_exit(self, timeout_s: float) -> Exit:
        """How the bot ended; waits up to `timeout_s` seconds for it."""

    def close(self) -> None:
        """Close the connection and end the bot, whatever it is doing."""


class Host(Protocol):
    """The source of the bot's connections."""

    @property
    def can_start(self) -> bool:
        """Whether the process is ours: it connects again whenever we like, and its end can be observed."""

    def receive_bot(self) -> Visit | Absence:
        """Start the bot if it is ours to start, and wait for it.

        Raises:
            LaunchError: it cannot be started.
            ListenError: the address cannot be listened on.
        """


@dataclass(slots=True)
class _SocketVisit:
    """A connection over TCP to a bot that is our process, or somebody else's."""

    connection: socket.socket
    process: BotProcess | None
    said: bytes = b""
    takes_no_more: bool = False

    def send(self, data: bytes) -> None:
        """Send bytes; a bot that takes no more is given up."""
        if self.takes_no_more:
            return
        self.connection.settimeout(_SEND_TIMEOUT_S)
        try:
            self.connection.sendall(data)
        except OSError:
            # A bot that has gone, or reads nothing, is noticed while its answer is awaited.
            self.takes_no_more = True

    def receive(self, deadline_s: float) -> bytes | None:
        """What was read while the bot was awaited, then what arrives until the deadline."""
        if self.said:
            said, self.said = self.said, b""
            return said
        while True:
            left_s = deadline_s - self.now_s()
            self.connection.settimeout(max(0.0, min(_POLL_S, left_s)))
            try:
                return self.connection.recv(_RECEIVE_BYTES)
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
        """Close the dealer's side."""
        with contextlib.suppress(OSError):
            self.connection.shutdown(socket.SHUT_WR)

    def wait_for_exit(self, timeout_s: float) -> Exit:
        """How the bot ended, once it has or `timeout_s` seconds have passed."""
        return _exit_of(self.process, timeout_s)

    def close(self) -> None:
        """Close the connection and end the process, if it is ours."""
        self.connection.close()
        if self.process is not None:
            self.process.stop()


@dataclass(slots=True)
class BotHost:
    """Receives the bot that a `Player` describes. Call `close` at the end, or use it in a ``with`` block.

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
    _listener: socket.socket | None = None
    _visits: list[_SocketVisit] = field(default_factory=list)
    _started: int = 0

    def __enter__(self) -> BotHost:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def can_start(self) -> bool:
        """Whether the process is ours."""
        return self.player.kind is not PlayerKind.TCP

    def receive_bot(self) -> Visit | Absence:
        """Start the bot if it is ours to start, and wait for it."""
        listener = self._listen()
        host, port = listener.getsockname()[:2]
        process: BotProcess | None = None
        try:
            if self.player.kind is PlayerKind.TCP:
                self.on_waiting(host, port)
            else:
                self._started += 1
                process = BotProcess(
                    self.player,
                    host=host,
                    port=port,
                    game=self.game_name,
                    seed=self.setup.seed,
                    output_path=self.folder / f"bot{self._started}.out",
                )
            arrival = self._await_client(listener) if process is None else self._accept(listener, process)
        except BaseException:
            if process is not None:
                process.stop()
            raise
        finally:
            if self.can_start:
                listener.close()
                self._listener = None
        if isinstance(arrival, Absence):
            if process is not None:
                process.stop()
            return arrival
        arrival.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        visit = _SocketVisit(arrival.connection, process, arrival.said)
        self._visits.append(visit)
        return visit

    def close(self) -> None:
        """Stop listening and end every bot."""
        if self._listener is not None:
            self._listener.close()
            self._listener = None
        for visit in self._visits:
            visit.close()
        self._visits.clear()

    def _listen(self) -> socket.socket:
        if self._listener is None:
            try:
                self._listener = socket.create_server(self.address)
            except OSError as error:
                raise ListenError(*self.address, Seat(0), error.strerror or error) from None
        return self._listener

    def _await_client(self, listener: socket.socket) -> Arrival | Absence:
        """Whoever begins with a version line."""
        start_s, limit_s = time.monotonic(), self.setup.start_timeout_s
        with Lobby(listener, self.on_stray) as lobby:
            while (waited_s := time.monotonic() - start_s) <= (math.inf if limit_s is None else limit_s):
                arrival = lobby.wait(_POLL_S)
                if arrival is not None:
                    return arrival
        return Absence(Exit(None), waited_s, lobby.strays)

    def _accept(self, listener: socket.socket, process: BotProcess) -> Arrival | Absence:
        """The bot that was started: the first to connect, at a port that nobody else was told."""
        start_s, limit_s = time.monotonic(), self.setup.start_timeout_s
        listener.settimeout(_POLL_S)
        while True:
            # Asked before accepting: a bot that ends right after connecting is still accepted here.
            has_ended = process.exit_code is not None
            try:
                return Arrival(listener.accept()[0], b"")
            except TimeoutError:
                waited_s = time.monotonic() - start_s
                if has_ended or (limit_s is not None and waited_s > limit_s):
                    return Absence(_exit_of(process, 0.0), waited_s)


def _exit_of(process: BotProcess | None, timeout_s: float) -> Exit:
    if process is None:
        return Exit(None)
    code = process.wait(timeout_s)
    return Exit(code, tuple(process.last_lines()))
