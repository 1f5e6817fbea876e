"""The connections of matches: listening, reading, writing, timers. Everything about the game is in `dealer.match`.

A `Table` owns the sockets of one match and drives it inside an asyncio loop. Reading and writing are done on the raw
sockets from reader callbacks, with no task and no stream in the way: a reply goes from `recv` through the rules to
`send` in one call. Timers are lazy: one per match, moved only when it goes off, because nearly every answer comes in
time.

Bounds: a seat whose unread bytes exceed `max_unread_bytes` is not read until its turn comes; a seat that does not
read what it is sent may leave `max_unsent_bytes` waiting, then the match fails by that seat's fault.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import socket
import time
from collections.abc import Callable, Sequence

from dealer.errors import ListenError
from dealer.match.causes import InternalError, NotConnected, PlayerCause, VersionLate, sending_failed
from dealer.match.match import Match, Phase
from dealer.match.setup import Loss
from dealer.table.loop import Changes, MatchLoop
from engine import Seat

__all__ = ["Table"]

_log = logging.getLogger(__name__)

_READ_BYTES = 448
"""Replies are short; a read of so few bytes is served from Python's pool of small objects."""
_PLAYING = Phase.PLAYING
_WOULD_BLOCK = (BlockingIOError, InterruptedError)


class _Connection:
    """One seat's socket."""

    __slots__ = (
        "_held",
        "_is_queued",
        "_is_read",
        "_is_writing",
        "_queue",
        "_recv",
        "_send_some",
        "_unsent",
        "eof",
        "loop",
        "seat",
        "sock",
        "table",
    )

    def __init__(self, table: Table, seat: Seat, sock: socket.socket) -> None:
        self.table = table
        self.seat = seat
        self.sock = sock
        self._recv = sock.recv
        self._send_some = sock.send
        self.loop = table.loop
        self._queue = self.loop.soon() if table.coalesce_s is None else self.loop.later(table.coalesce_s)
        self.eof = False
        self._is_read = False
        self._is_writing = False
        self._unsent = bytearray()
        self._held = b""
        self._is_queued = False

    def start_reading(self) -> None:
        if not self._is_read and not self.eof:
            self._is_read = True
            self.loop.watch(self.sock, self._on_readable)

    def stop_reading(self) -> None:
        if self._is_read:
            self._is_read = False
            self.loop.unwatch(self.sock)

    def _on_readable(self) -> None:
        table = self.table
        match = table.match
        try:
            try:
                data = self._recv(_READ_BYTES)
            except _WOULD_BLOCK:
                return
            except OSError:
                data = b""
            if data:
                is_kept = match.receive(self.seat, data)
                if is_kept and match.buffered_bytes(self.seat) > table.max_unread_bytes:
                    self.stop_reading()
                    table.paused.add(self)
                    table.needs_step = True
            else:
                self.eof = True
                self.stop_reading()
                _log.info("%s: connection closed by the player", table.label(self.seat))
                match.receive_eof(self.seat)
            if match.phase is not _PLAYING or match.has_losses or table.needs_step:
                table.after_step()
        except Exception as error:
            # A mistake in our own code ends this match; the others in this process know nothing of it.
            table.fail_by_mistake(error)

    def write(self, data: bytes, is_asked: bool) -> None:
        """Send a question now; anything else soon, or with the next question when the table coalesces."""
        if is_asked:
            if self._held:
                data = self._held + data
                self._held = b""
            self._send(data)
        elif self._held:
            self._held += data
        else:
            self._held = data
            if not self._is_queued:
                self._is_queued = True
                self._queue(self)

    def flush(self) -> None:
        """Send what is held back, if it has not gone out with a question."""
        self._is_queued = False
        if self._held:
            data, self._held = self._held, b""
            try:
                self._send(data)
            except OSError as error:
                self.table.match.lose(sending_failed(self.seat, error))
                self.table.after_step()

    def _send(self, data: bytes) -> None:
        if not self._unsent:
            try:
                sent = self._send_some(data)
            except _WOULD_BLOCK:
                sent = 0
            if sent == len(data):
                return
            data = data[sent:]
        self._unsent += data
        if len(self._unsent) > self.table.max_unsent_bytes:
            raise OSError(errno.ENOBUFS, "the player does not read what it is sent")
        if not self._is_writing:
            self._is_writing = True
            self.loop.add_writer(self.sock, self._on_writable)

    def _on_writable(self) -> None:
        try:
            sent = self.sock.send(self._unsent)
        except _WOULD_BLOCK:
            return
        except OSError:
            sent = len(self._unsent)
        del self._unsent[:sent]
        if not self._unsent:
            self._is_writing = False
            self.loop.remove_writer(self.sock)
            self.table.changes.notify()

    @property
    def has_unsent(self) -> bool:
        return bool(self._unsent)

    def close(self) -> None:
        """Close so that what was sent still arrives; what is still held back is dropped."""
        self._held = b""
        self.stop_reading()
        if self._is_writing:
            self.loop.remove_writer(self.sock)
        try:
            # Unread bytes would turn the close into a reset, and the player might lose the last state.
            self.sock.shutdown(socket.SHUT_WR)
            for _ in range(16):
                if not self.sock.recv(1 << 16):
                    break
        except OSError:
            pass
        self.sock.close()


class Table:
    """The sockets of one match.

        table = Table(match, host="127.0.0.1")
        ports = table.listen()
        await table.run()

    Attributes:
        match: the match played here.
        changes: notified whenever a player connects, comes back or is lost, and when the match holds or is over.
    """

    def __init__(
        self,
        match: Match,
        *,
        host: str = "127.0.0.1",
        coalesce_s: float | None = None,
        max_unread_bytes: int = 1 << 16,
        max_unsent_bytes: int = 1 << 20,
        drain_timeout_s: float = 5.0,
    ) -> None:
        """Prepare a table.

        Args:
            match: the match to be played.
            host: the address to listen on.
            coalesce_s: hold back lines to players who are not to act for so long, or until their next question.
                None sends them as soon as no reply waits to be served, at most a millisecond later.
            max_unread_bytes: see the module.
            max_unsent_bytes: see the module.
            drain_timeout_s: how long a slow reader may take to fetch the last lines after the match.
        """
        self.match = match
        self.coalesce_s = coalesce_s
        self.max_unread_bytes = max_unread_bytes
        self.max_unsent_bytes = max_unsent_bytes
        self._drain_timeout_s = drain_timeout_s
        self._host = host
        players = match.setup.game.num_players
        self._listeners: list[socket.socket | None] = [None] * players
        self._connections: list[_Connection | None] = [None] * players
        self._ports: list[int] = []
        self.on_loss: Callable[[Loss], None] | None = None
        """Decides about a player lost while the match goes on, by `reopen` or the match's `forfeit`; None forfeits."""
        self._loop: MatchLoop | None = None
        self.changes = Changes()
        self._returning: set[Seat] = set()
        """Seats whose players have connected again and have not named their version yet."""
        self._timer: asyncio.TimerHandle | None = None
        self.paused: set[_Connection] = set()
        self.needs_step = True
        """Whether `after_step` has something to do though the match goes on."""

    @property
    def loop(self) -> MatchLoop:
        """The loop the table runs in.

        Raises:
            RuntimeError: there is none before `run`.
        """
        if self._loop is None:
            raise RuntimeError("the table is not running")
        return self._loop

    @property
    def is_over(self) -> bool:
        """Whether the match has ended, with its score or early."""
        return self.match.phase in (Phase.FINISHED, Phase.FAILED)

    @property
    def is_at_rest(self) -> bool:
        """Whether the match holds or is over."""
        return self.match.phase is Phase.HOLDING or self.is_over

    def listen(self, ports: Sequence[int] = ()) -> list[int]:
        """Open one listening socket per seat; seats without a given port, or with port 0, get a free one.

        Returns:
            the port of each seat.

        Raises:
            ListenError: a port cannot be had.
        """
        self._ports = []
        try:
            for seat in range(len(self._listeners)):
                self._ports.append(self._listen_at(Seat(seat), ports[seat] if seat < len(ports) else 0))
        except ListenError:
            self.close()
            raise
        return list(self._ports)

    def _listen_at(self, seat: Seat, port: int) -> int:
        family = socket.AF_INET6 if ":" in self._host else socket.AF_INET
        listener = None
        try:
            listener = socket.socket(family, socket.SOCK_STREAM)
            if port and os.name != "nt":
                # A port of a dealer that has just ended can be had again; on Windows it would mean to share one.
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind((self._host, port))
            listener.listen(8)
        except (OSError, OverflowError) as error:
            if listener is not None:
                listener.close()
            raise ListenError(self._host, port, seat, getattr(error, "strerror", None) or error) from None
        listener.setblocking(False)
        self._listeners[seat] = listener
        bound: int = listener.getsockname()[1]
        _log.info("%s: listening on %s port %d", self.label(seat), self._host, bound)
        return bound

    def reopen(self, seat: Seat) -> int:
        """Listen again for a player who was lost, at the port his seat had, or another where that is taken.

        Raises:
            ListenError: no port can be had.
        """
        if self._listeners[seat] is None:
            try:
                self._listen_at(seat, self._ports[seat])
            except ListenError:
                self._ports[seat] = self._listen_at(seat, 0)
            listener = self._listeners[seat]
            assert listener is not None
            self.loop.add_reader(listener, self._accept, seat)
        return self._ports[seat]

    def close_seat(self, seat: Seat) -> None:
        """Await nobody at a seat any more, and part with who sits there."""
        self._close_listener(seat)
        connection, self._connections[seat] = self._connections[seat], None
        if connection is not None:
            self.paused.discard(connection)
            self._returning.discard(seat)
            connection.close()

    def label(self, seat: Seat) -> str:
        """A seat of this match, as the log of the program names it."""
        return f"match {self.match.setup.name}, seat {seat + 1} ({self.match.setup.names[seat]})"

    def missing_seats(self) -> list[Seat]:
        """The seats that wait for their player."""
        return self.match.missing_seats()

    async def run(self) -> None:
        """Wait for the players, play, and close every connection. The outcome stands in the match."""
        loop = asyncio.get_running_loop()
        if not isinstance(loop, MatchLoop):
            raise RuntimeError("a table runs in the loop of dealer.table.loop.new_event_loop()")
        self._loop = loop
        match = self.match
        start_us = match.setup.limits.start_us
        start_timer = None if start_us is None else loop.call_later(min(start_us / 1e6, 1e8), self._start_timed_out)
        awaited = self.missing_seats()
        for seat, listener in enumerate(self._listeners):
            assert listener is not None, "listen() comes first"
            if seat in awaited:
                loop.add_reader(listener, self._accept, Seat(seat))
            else:
                self._close_listener(seat)
        match.open()
        self.changes.notify()
        self.needs_step = True
        try:
            await self.changes.wait_for(lambda: self.is_over)
            await self._drain()
        finally:
            if start_timer is not None:
                start_timer.cancel()
            self.close()

    def close(self) -> None:
        """Close every socket; what a run in progress waits for never comes."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        for seat in range(len(self._listeners)):
            self._close_listener(seat)
        for connection in self._connections:
            if connection is not None:
                connection.close()
        self._connections = [None] * len(self._connections)

    def _close_listener(self, seat: int) -> None:
        listener = self._listeners[seat]
        if listener is not None:
            if self._loop is not None:
                self._loop.remove_reader(listener)
            listener.close()
            self._listeners[seat] = None

    def _accept(self, seat: Seat) -> None:
        listener = self._listeners[seat]
        if listener is None:
            return
        try:
            sock, address = listener.accept()
        except OSError:
            return
        sock.setblocking(False)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        _log.info("%s: connected from %s port %d", self.label(seat), *address[:2])
        self._close_listener(seat)
        try:
            connection = self._connections[seat] = _Connection(self, seat, sock)
            connection.start_reading()
            if self.match.phase is Phase.CONNECTING:
                self.match.connect(seat, connection.write)
            else:
                self._returning.add(seat)
                self.match.rejoin(seat, connection.write)
            self.changes.notify()
            self.after_step()
        except Exception as error:
            self.fail_by_mistake(error)

    def _start_timed_out(self) -> None:
        phase = self.match.phase
        missing = self.missing_seats()
        limit_us = self.match.setup.limits.start_us or 0
        cause: PlayerCause
        if phase is Phase.CONNECTING and missing:
            cause = NotConnected(missing[0], limit_us)
        elif phase is Phase.GREETING:
            seat = next(Seat(i) for i in range(len(self._connections)) if self.match.is_asked(Seat(i)))
            cause = VersionLate(seat, limit_us)
        else:
            return
        self.match.fail(cause)
        self.after_step()

    def after_step(self) -> None:
        """Something happened: end the run, or see to the timer and to seats whose reading had stopped."""
        match = self.match
        if match.has_losses:
            for loss in match.take_losses():
                seat = loss.cause.seat
                _log.warning("%s: lost in hand %d by %s", self.label(seat), loss.hand_number, loss.cause)
                self.close_seat(seat)
                if self.on_loss is not None:
                    self.on_loss(loss)
                else:
                    match.forfeit(seat)
            self.changes.notify()
        if self._returning:
            self._returning = {seat for seat in self._returning if match.is_awaited(seat)}
            self.changes.notify()
        if match.phase is Phase.PLAYING:
            if self._timer is None and match.deadline_ns is not None:
                self._arm(match.deadline_ns)
            for connection in list(self.paused):
                if match.buffered_bytes(connection.seat) <= self.max_unread_bytes:
                    self.paused.discard(connection)
                    connection.start_reading()
            self.needs_step = bool(self.paused) or bool(self._returning) or self._timer is None
        else:
            self.changes.notify()

    async def rest(self) -> None:
        """Wait until the match holds or is over."""
        await self.changes.wait_for(lambda: self.is_at_rest)

    def _arm(self, due_ns: int) -> None:
        delay_s = max(0.0, (due_ns - time.monotonic_ns()) / 1e9)
        self._timer = self.loop.call_later(min(delay_s, 1e6), self._on_timer)

    def _on_timer(self) -> None:
        self._timer = None
        self.needs_step = True
        match = self.match
        if match.phase is Phase.PLAYING and match.deadline_ns is not None:
            match.check_time(time.monotonic_ns())
        self.after_step()

    def fail_by_mistake(self, error: Exception) -> None:
        """Something of ours raised what nobody expected."""
        _log.error("match %s: internal error", self.match.setup.name, exc_info=error)
        try:
            self.match.fail(InternalError(type(error).__name__, str(error)))
        finally:
            self.after_step()

    async def _drain(self) -> None:
        """Let the last lines go out to players who read slowly."""
        for connection in self._connections:
            if connection is not None:
                connection.flush()
        await self.changes.wait_for(
            lambda: not any(connection is not None and connection.has_unsent for connection in self._connections),
            self._drain_timeout_s,
        )
