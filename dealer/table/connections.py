"""The connections of a match: listening, reading, writing, timers. Everything about the game is in `dealer.match`.

`Connections` owns the sockets of one match and drives it inside an asyncio loop. Reading and writing are done on the
raw sockets from reader callbacks, with no task and no stream in between: a reply goes from `recv` through the rules to
`send` in one call. Timers are lazy: one per match, moved only when it goes off, because nearly every answer comes in
time.

Bounds: a seat with more than `max_unread_bytes` unread bytes is not read until its turn comes; a seat that does not
read what it is sent may leave up to `max_unsent_bytes` waiting, then the match fails by that seat's fault.
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import time
from collections.abc import Callable, Sequence
from functools import partial

from dealer.errors import ListenError
from dealer.match import Match, Phase
from dealer.match.causes import InternalError, NotStarted, StartProblem, sending_failed
from dealer.match.setup import Loss
from dealer.table.connection import WOULD_BLOCK, Connection
from dealer.table.loop import Changes, MatchLoop
from engine import Seat

__all__ = ["Connections"]

_log = logging.getLogger(__name__)

_READ_BYTES = 448
"""Replies are short; a read of this size is served from Python's pool of small objects."""
_PLAYING = Phase.PLAYING


class Connections:
    """The sockets of one match.

        connections = Connections(match, host="127.0.0.1")
        ports = connections.listen()
        await connections.run()

    Attributes:
        match: the match that is played.
        changes: notified whenever a player connects, comes back or is lost, and when the match holds or is over.
        on_loss: decides about a player lost while the match goes on, by `reopen` or the match's `forfeit`; unless set,
            the player forfeits.
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
        """Prepare the connections.

        Args:
            match: the match to be played.
            host: the address to listen on.
            coalesce_s: how long lines to players that are not to act are held back, unless a question to them takes
                them along. None sends them as soon as no reply waits to be served, at most a millisecond later.
            max_unread_bytes: see the module.
            max_unsent_bytes: see the module.
            drain_timeout_s: how long a slow reader may take to fetch the last lines after the match.
        """
        self.match = match
        self.changes = Changes()
        self.on_loss: Callable[[Loss], None] = lambda loss: match.forfeit(loss.cause.seat)
        self._coalesce_s = coalesce_s
        self._max_unread_bytes = max_unread_bytes
        self._max_unsent_bytes = max_unsent_bytes
        self._drain_timeout_s = drain_timeout_s
        self._host = host
        players = match.setup.game.num_players
        self._listeners: list[socket.socket | None] = [None] * players
        self._connections: list[Connection | None] = [None] * players
        self._ports: list[int] = []
        self._running_loop: MatchLoop | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._paused: set[Connection] = set()
        self._returning: set[Seat] = set()
        """Seats whose players have connected again and have not named their version yet."""
        self._needs_step = True
        """Whether `after_step` has something to do though the match goes on."""

    @property
    def _loop(self) -> MatchLoop:
        """The loop that `run` was started in."""
        if self._running_loop is None:
            raise RuntimeError("run() comes first")
        return self._running_loop

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
        self._ports = [0] * len(self._listeners)
        try:
            for seat in range(len(self._listeners)):
                self._listen_at(Seat(seat), ports[seat] if seat < len(ports) else 0)
        except ListenError:
            self.close()
            raise
        return list(self._ports)

    def _listen_at(self, seat: Seat, port: int) -> socket.socket:
        family = socket.AF_INET6 if ":" in self._host else socket.AF_INET
        listener = None
        try:
            listener = socket.socket(family, socket.SOCK_STREAM)
            if port and os.name != "nt":
                # Makes the port of a dealer that has just ended usable again; on Windows it would share a port in use.
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind((self._host, port))
            listener.listen(8)
        except (OSError, OverflowError) as error:
            if listener is not None:
                listener.close()
            raise ListenError(self._host, port, seat, getattr(error, "strerror", None) or error) from None
        listener.setblocking(False)
        self._listeners[seat] = listener
        self._ports[seat] = listener.getsockname()[1]
        _log.info("%s: listening on %s port %d", self.label(seat), self._host, self._ports[seat])
        return listener

    def reopen(self, seat: Seat) -> int:
        """Listen again for a lost player, at the port its seat had, or at another if that is taken.

        Returns:
            the port.

        Raises:
            ListenError: no port can be had.
        """
        if self._listeners[seat] is None:
            try:
                listener = self._listen_at(seat, self._ports[seat])
            except ListenError:
                listener = self._listen_at(seat, 0)
            self._loop.add_reader(listener, self._accept, seat)
        return self._ports[seat]

    def close_seat(self, seat: Seat) -> None:
        """Stop listening for the player of a seat, and close its connection."""
        self._close_listener(seat)
        connection, self._connections[seat] = self._connections[seat], None
        if connection is not None:
            self._paused.discard(connection)
            self._returning.discard(seat)
            connection.close()

    def label(self, seat: Seat) -> str:
        """A seat of this match, as the log of the program names it."""
        return f"match {self.match.setup.name}, seat {seat + 1} ({self.match.setup.names[seat]})"

    async def run(self) -> None:
        """Wait for the players, play, and close every connection. The outcome is in the match."""
        loop = asyncio.get_running_loop()
        if not isinstance(loop, MatchLoop):
            raise RuntimeError("matches run in the loop of dealer.table.loop.new_event_loop()")
        self._running_loop = loop
        match = self.match
        start_us = match.setup.limits.start_us
        start_timer = None if start_us is None else loop.call_later(min(start_us / 1e6, 1e8), self._start_timed_out)
        awaited = match.missing_seats()
        for seat, listener in enumerate(self._listeners):
            if listener is None:
                raise RuntimeError("listen() comes first")
            if seat in awaited:
                loop.add_reader(listener, self._accept, Seat(seat))
            else:
                self._close_listener(seat)
        match.open()
        self.changes.notify()
        self._needs_step = True
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
            if self._running_loop is not None:
                self._running_loop.remove_reader(listener)
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
            loop = self._loop
            connection = self._connections[seat] = Connection(
                seat,
                sock,
                loop,
                loop.soon() if self._coalesce_s is None else loop.later(self._coalesce_s),
                self._max_unsent_bytes,
                self._on_broken,
                self.changes.notify,
            )
            self._read(connection)
            if self.match.phase is not Phase.CONNECTING:
                self._returning.add(seat)
            self.match.connect(seat, connection.write)
            self.changes.notify()
            self.after_step()
        except Exception as error:
            self.fail_by_mistake(error)

    def _read(self, connection: Connection) -> None:
        connection.start_reading(partial(self._on_readable, connection))

    def _on_readable(self, connection: Connection) -> None:
        match = self.match
        seat = connection.seat
        try:
            try:
                data = connection.recv(_READ_BYTES)
            except WOULD_BLOCK:
                return
            except OSError:
                data = b""
            if data:
                is_kept = match.receive(seat, data)
                if is_kept and match.buffered_bytes(seat) > self._max_unread_bytes:
                    connection.stop_reading()
                    self._paused.add(connection)
                    self._needs_step = True
            else:
                connection.eof = True
                connection.stop_reading()
                _log.info("%s: connection closed by the player", self.label(seat))
                match.receive_eof(seat)
            if match.phase is not _PLAYING or match.has_losses or self._needs_step:
                self.after_step()
        except Exception as error:
            # A mistake in our own code ends this match and leaves the others in this process alone.
            self.fail_by_mistake(error)

    def _on_broken(self, seat: Seat, error: OSError) -> None:
        self.match.lose(sending_failed(seat, error))
        self.after_step()

    def _start_timed_out(self) -> None:
        phase = self.match.phase
        missing = self.match.missing_seats()
        limit_us = self.match.setup.limits.start_us or 0
        if phase is Phase.CONNECTING and missing:
            cause = NotStarted(missing[0], StartProblem.NOT_CONNECTED, limit_us)
        elif phase is Phase.GREETING:
            seat = next(Seat(i) for i in range(len(self._connections)) if self.match.is_asked(Seat(i)))
            cause = NotStarted(seat, StartProblem.VERSION_LATE, limit_us)
        else:
            return
        self.match.fail(cause)
        self.after_step()

    def after_step(self) -> None:
        """Act on what has happened: end the run, or set the timer and resume reading where it was paused."""
        match = self.match
        if match.has_losses:
            for loss in match.take_losses():
                seat = loss.cause.seat
                _log.warning("%s: lost in hand %d by %s", self.label(seat), loss.hand_number, loss.cause)
                self.close_seat(seat)
                self.on_loss(loss)
            self.changes.notify()
        if self._returning:
            self._returning = {seat for seat in self._returning if match.is_awaited(seat)}
            self.changes.notify()
        if match.phase is Phase.PLAYING:
            if self._timer is None and match.deadline_ns is not None:
                self._arm(match.deadline_ns)
            for connection in list(self._paused):
                if match.buffered_bytes(connection.seat) <= self._max_unread_bytes:
                    self._paused.discard(connection)
                    self._read(connection)
            self._needs_step = bool(self._paused) or bool(self._returning) or self._timer is None
        else:
            self.changes.notify()

    async def rest(self) -> None:
        """Wait until the match holds or is over."""
        await self.changes.wait_for(lambda: self.is_at_rest)

    def _arm(self, due_ns: int) -> None:
        delay_s = max(0.0, (due_ns - time.monotonic_ns()) / 1e9)
        self._timer = self._loop.call_later(min(delay_s, 1e6), self._on_timer)

    def _on_timer(self) -> None:
        self._timer = None
        self._needs_step = True
        match = self.match
        if match.phase is Phase.PLAYING and match.deadline_ns is not None:
            match.check_time(time.monotonic_ns())
        self.after_step()

    def fail_by_mistake(self, error: Exception) -> None:
        """End the match because of an unexpected error in our own code."""
        _log.error("match %s: internal error", self.match.setup.name, exc_info=error)
        try:
            self.match.fail(InternalError(type(error).__name__, str(error)))
        finally:
            self.after_step()

    async def _drain(self) -> None:
        """Let the last lines go out to players that read slowly."""
        for connection in self._connections:
            if connection is not None:
                connection.flush()
        await self.changes.wait_for(
            lambda: not any(connection is not None and connection.has_unsent for connection in self._connections),
            self._drain_timeout_s,
        )
