"""Connect the players of a match over TCP: listen, read, write, and watch the time.

`Connections` owns the sockets of one `Match` and drives it inside a `MatchLoop`. It works on raw sockets with reader
callbacks, so a reply goes from `recv` through the rules to `send` in one call, without a task or a stream.

Buffers are bounded. A seat with more than `max_unread_bytes` unread bytes is not read until its turn. A player that
leaves more than `max_unsent_bytes` unread commits a fault.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from dealer.errors import ListenError, UnreadLinesError
from dealer.match import Match, Phase
from dealer.match.causes import InternalError, NotStarted, StartProblem, Unreachable
from dealer.match.ending_sentences import cause_sentence
from dealer.match.events import SeatOpened, StrayConnection
from dealer.match.faults import QUOTED_BYTES, FaultPolicy, StrayProblem
from dealer.match.setup import DEFAULT_COALESCE_S, LostPlayer
from dealer.table.links import OpenSeat, PlayerLink
from dealer.table.listener import WOULD_BLOCK, Listener, acknowledge
from dealer.table.loop import Changes, MatchLoop, Waiting
from engine import Seat
from protocol import DealerSession, Handshake, RemoteProtocolError

_log = logging.getLogger(__name__)
_READ_BYTES = 448
"""Size of a read. Replies are short, and Python's small-object allocator serves blocks up to 512 bytes."""
_PLAYING = Phase.PLAYING
_MIN_RECHECK_S = 0.2
"""Shortest time between two checks of a player that may be late to connect."""
_MAX_TIMER_S = 1e8
"""Longest delay of a timer. Time limits can be longer, but asyncio refuses much longer delays on some systems."""


class Connections:
    """The sockets of one match.

        connections = Connections(match, host="127.0.0.1")
        ports = connections.listen()
        await connections.run()

    Attributes:
        match: the match.
        changes: notified when a player connects, returns or is lost, and when the match holds or is over.
        on_loss: called for a player that was lost while the match continues. It calls `reopen` or the match's
            `forfeit`; the default is to forfeit.
        on_stray: called for every connection that was rejected.
        on_open: called for every seat that begins to await its player.
        may_be_late: called for a missing player when the time to connect is over; returns whether to wait once more.
    """

    def __init__(
        self,
        match: Match,
        *,
        host: str = "127.0.0.1",
        reads_versions: bool = False,
        may_return: Collection[Seat] = (),
        only_from: Mapping[Seat, str] | None = None,
        keys: Mapping[Seat, str] | None = None,
        listeners: Mapping[Seat, Listener | OpenSeat] | None = None,
        coalesce_s: float = DEFAULT_COALESCE_S,
        max_unread_bytes: int = 1 << 16,
        max_unsent_bytes: int = 1 << 20,
        drain_timeout_s: float = 5.0,
    ) -> None:
        """Initialise without opening a socket.

        Args:
            match: the match.
            host: address to listen on, or `LOOPBACK`.
            reads_versions: the first client that sends a version line takes a seat, not the first that connects.
            may_return: seats whose players may connect again from the same address at any time, and then continue
                over the new connection. Needs `reads_versions`.
            only_from: addresses by seat; other addresses are rejected. Needs `reads_versions`.
            keys: keys by seat, which the client sends as a line before its version line. Needs `reads_versions`.
            listeners: open listeners by seat. They stay open after the match.
            coalesce_s: time for which lines to players who are not to act are held back; 0 sends them at once.
            max_unread_bytes: limit for unread bytes of a seat.
            max_unsent_bytes: limit for bytes that a player has not read.
            drain_timeout_s: time for slow readers to fetch the last lines after the match.
        """
        self.match = match
        self.changes = Changes()
        self.on_loss: Callable[[LostPlayer], None] = lambda loss: match.forfeit(loss.cause.seat)
        self._coalesce_s = coalesce_s
        self._max_unread_bytes = max_unread_bytes
        self._max_unsent_bytes = max_unsent_bytes
        self._drain_timeout_s = drain_timeout_s
        self._host = host
        self._reads_versions = reads_versions
        self._may_return = may_return
        self._only_from = only_from or {}
        self._keys = keys or {}
        self._lent_listeners = listeners or {}
        self._strays: dict[Seat, StrayConnection] = {}
        self.on_stray: Callable[[StrayConnection], object] = lambda event: None
        self.on_open: Callable[[SeatOpened], object] = lambda event: None
        self.may_be_late: Callable[[Seat], bool] = lambda seat: False
        players = match.setup.game.num_players
        self._listeners: list[Listener | OpenSeat | None] = [None] * players
        self._connections: list[Connection | None] = [None] * players
        self._ports: list[int] = []
        self._running_loop: MatchLoop | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._start_timer: asyncio.TimerHandle | None = None
        self._pauses_before = 0
        self._paused_before_ns = 0
        self._is_start_extended = False
        self._paused: set[Connection] = set()
        self._returning: set[Seat] = set()
        """Seats whose players have connected again and have not named their version yet."""
        self._needs_step = True
        """`after_step` has something to do during play."""

    @property
    def _loop(self) -> MatchLoop:
        if self._running_loop is None:
            raise RuntimeError("call run() first")
        return self._running_loop

    @property
    def pauses(self) -> int:
        """Number of pauses of the loop since `run` was called."""
        if self._running_loop is None:
            return 0
        return self._running_loop.selector.pauses - self._pauses_before

    @property
    def paused_ns(self) -> int:
        """Total duration of these pauses, in nanoseconds."""
        if self._running_loop is None:
            return 0
        return self._running_loop.selector.paused_ns - self._paused_before_ns

    @property
    def hosts(self) -> list[str]:
        """Addresses listened on; empty if no seat is open."""
        for listener in self._listeners:
            if listener is not None:
                return listener.hosts
        return []

    @property
    def is_over(self) -> bool:
        """The match has ended, with a score or early."""
        return self.match.phase in (Phase.FINISHED, Phase.FAILED)

    @property
    def is_at_rest(self) -> bool:
        """The match holds or is over."""
        return self.match.phase is Phase.HOLDING or self.is_over

    def listen(self, ports: Sequence[int] = ()) -> list[int]:
        """Open a listening socket for each missing player.

        Args:
            ports: ports by seat; a missing port or 0 means any free port.

        Returns:
            the port of each seat; 0 for a seat without a listener.

        Raises:
            ListenError: a port is unavailable.
        """
        self._ports = [0] * len(self._listeners)
        try:
            for seat in self.match.missing_seats():
                port = 0
                if seat < len(ports):
                    port = ports[seat]
                self._open_listener(seat, port)
        except ListenError:
            self.close()
            raise
        return list(self._ports)

    def _open_listener(self, seat: Seat, port: int) -> Listener | OpenSeat:
        is_version = None
        if self._reads_versions:
            is_version = self._is_version
        listener = self._lent_listeners.get(seat)
        if listener is None:
            listener = Listener(self._host, port, seat, is_version=is_version, key=self._keys.get(seat))
        self._listeners[seat] = listener
        self._ports[seat] = listener.port
        _log.info("%s: listening on %s port %d", self.label(seat), self._host, listener.port)
        return listener

    def _is_version(self, line: bytes) -> bool:
        session = DealerSession(self.match.setup.game)
        session.receive_data(line + b"\n")
        try:
            return isinstance(session.next_event(), Handshake)
        except RemoteProtocolError:
            return False

    def reopen(self, seat: Seat) -> int:
        """Listen again for a lost player, at its old port if that is free.

        Returns:
            the port.

        Raises:
            ListenError: no port is available.
        """
        if self._listeners[seat] is None:
            try:
                listener = self._open_listener(seat, self._ports[seat])
            except ListenError:
                listener = self._open_listener(seat, 0)
            self._watch(listener, seat)
        self._strays.pop(seat, None)
        self._announce(seat)
        return self._ports[seat]

    def _announce(self, seat: Seat) -> None:
        listener = self._listeners[seat]
        open_seat = None
        if isinstance(listener, OpenSeat):
            open_seat = listener
        self.on_open(SeatOpened(seat, self._ports[seat], open_seat))

    def close_seat(self, seat: Seat) -> None:
        """Stop listening for the player of a seat, and close its connection."""
        self._close_listener(seat)
        connection = self._connections[seat]
        if connection is not None:
            self._drop(seat, connection)

    def label(self, seat: Seat) -> str:
        """Name of a seat in log messages."""
        return f"match {self.match.setup.name}, seat {seat + 1} ({self.match.setup.names[seat]})"

    async def run(self) -> None:
        """Wait for the players, play the match, and close every connection."""
        loop = asyncio.get_running_loop()
        if not isinstance(loop, MatchLoop):
            raise RuntimeError("matches run in the loop of dealer.table.loop.new_event_loop()")
        self._running_loop = loop
        self._pauses_before = loop.selector.pauses
        self._paused_before_ns = loop.selector.paused_ns
        match = self.match
        start_s = match.setup.limits.start_s
        if start_s is not None:
            self._start_timer = loop.call_later(min(start_s, _MAX_TIMER_S), self._start_timed_out)
        for seat in match.missing_seats():
            listener = self._listeners[seat]
            if listener is None:
                raise RuntimeError("call listen() before run()")
            self._watch(listener, seat)
        # Needed if every player of a resumed match has forfeited.
        match.open()
        for seat in match.missing_seats():
            self._announce(seat)
        self.changes.notify()
        self._needs_step = True
        try:
            await self.changes.wait_for(lambda: self.is_over)
            await self._drain()
        finally:
            if self._start_timer is not None:
                self._start_timer.cancel()
            self.close()

    def close(self) -> None:
        """Close every socket. This does not end a `run` in progress; `Match.fail` does."""
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
        self._listeners[seat] = None
        if listener is None:
            return
        listener.unwatch()
        if isinstance(listener, Listener) and listener not in self._lent_listeners.values():
            listener.close()

    def hang_up(self, seat: Seat) -> None:
        """Close the dealer's side of a player's connection, and keep reading."""
        connection = self._connections[seat]
        if connection is not None:
            with contextlib.suppress(OSError):
                connection.sock.shutdown(socket.SHUT_WR)

    def _watch(self, listener: Listener | OpenSeat, seat: Seat) -> None:
        listener.watch(self._loop, partial(self._admit, seat), partial(self._reject, seat))

    def _reject(self, seat: Seat, host: str, problem: StrayProblem, line: bytes) -> None:
        self._strays[seat] = stray = StrayConnection(seat, host, problem, line)
        # A linked player that has left is no stranger.
        if not self.has_left(seat):
            self.on_stray(stray)
        self.changes.notify()

    def has_left(self, seat: Seat) -> bool:
        """Return whether a missing linked player has left. No other client can take its seat."""
        return seat in self._strays and isinstance(self._lent_listeners.get(seat), OpenSeat)

    def start_cause(self, seat: Seat, problem: StartProblem, limit_us: int = 0) -> NotStarted:
        """Return the cause of an empty seat, judged by the clients that have connected to its port."""
        listener = self._listeners[seat]
        stray = self._strays.get(seat)
        if listener is not None and listener.has_client:
            # The process has ended, so the bytes and the end of its connection have just not been read yet.
            if problem is StartProblem.ENDED:
                return NotStarted(seat, StartProblem.LEFT)
            return NotStarted(seat, StartProblem.VERSION_LATE, limit_us)
        if stray is None or (seat in self._may_return and not self.has_left(seat)):
            return NotStarted(seat, problem, limit_us)
        # The dealer chose the port of a bot that it started, so a rejected client can only have been the bot.
        if stray.problem is StrayProblem.NO_VERSION:
            return NotStarted(seat, StartProblem.UNREADABLE_VERSION, line=stray.line)
        return NotStarted(seat, StartProblem.LEFT)

    def _admit(self, seat: Seat, sock: socket.socket | PlayerLink, address: tuple[str, int], received: bytes) -> None:
        match = self.match
        before = self._connections[seat]
        host = address[0]
        if before is not None:
            # Only the player itself may replace its connection; its address identifies it.
            is_taken = host != before.host
        else:
            is_taken = not match.is_awaited(seat)
        try:
            if host != self._only_from.get(seat, host):
                sock.close()
                self._reject(seat, host, StrayProblem.ELSEWHERE, received[:QUOTED_BYTES])
                return
            if is_taken:
                sock.close()
                self._reject(seat, host, StrayProblem.TAKEN, received[:QUOTED_BYTES])
                return
            _log.info("%s: connected from %s port %d", self.label(seat), *address)
            if before is not None:
                # The old connection is dead, even if the system has not noticed: a machine that lost its network sends
                # no FIN.
                self._drop(seat, before)
                match.unseat(seat)
            if seat not in self._may_return or isinstance(sock, PlayerLink):
                self._close_listener(seat)
            loop = self._loop
            connection = self._connections[seat] = Connection(
                seat,
                sock,
                host,
                loop,
                coalesce_s=self._coalesce_s,
                max_unsent_bytes=self._max_unsent_bytes,
                on_broken=self._on_broken,
                on_drained=self.changes.notify,
            )
            self._start_reading(connection)
            if match.phase is not Phase.CONNECTING:
                self._returning.add(seat)
            match.connect(seat, connection.write)
            # The listener has read the version line, and perhaps more.
            if received:
                match.receive(seat, received)
            self.changes.notify()
            self.after_step()
        except Exception as error:
            self.fail_internally(error)

    def _drop(self, seat: Seat, connection: Connection) -> None:
        self._connections[seat] = None
        self._paused.discard(connection)
        self._returning.discard(seat)
        connection.close()

    def _start_reading(self, connection: Connection) -> None:
        recv = connection.recv
        receive = self._receive

        def on_readable() -> None:
            try:
                data = recv(_READ_BYTES)
            except WOULD_BLOCK:
                return
            except OSError:
                # A reset connection counts as the end of the stream.
                data = b""
            receive(connection, data)

        if isinstance(connection.sock, PlayerLink):
            connection.sock.receive = partial(self._receive, connection)
        else:
            connection.start_reading(on_readable)

    def _receive(self, connection: Connection, data: bytes) -> None:
        """Pass the bytes of a read to the match; no bytes mean the end of the stream."""
        match = self.match
        seat = connection.seat
        try:
            if not data:
                self._on_closed(connection)
            elif match.receive(seat, data, connection.loop.selector.arrived_ns):
                # No line follows that would carry the acknowledgement.
                connection.acknowledge()
                if match.buffered_bytes(seat) > self._max_unread_bytes:
                    self._on_unread(connection)
            if self._needs_step or match.phase is not _PLAYING or match.has_losses:
                self.after_step()
        except Exception as error:
            # A bug must not end the other matches of this process.
            self.fail_internally(error)

    def _on_unread(self, connection: Connection) -> None:
        """Stop reading a player with many unread bytes."""
        # Further bytes stay in the socket, and TCP's flow control stops the sender. A link has no socket in which bytes
        # could wait, so it is closed.
        if not isinstance(connection.sock, PlayerLink):
            connection.stop_reading()
            self._paused.add(connection)
            self._needs_step = True
        elif self.match.buffered_bytes(connection.seat) > self._max_unsent_bytes:
            connection.sock.receive = lambda data: None
            self._on_closed(connection)

    def _on_closed(self, connection: Connection) -> None:
        match = self.match
        seat = connection.seat
        if match.phase is Phase.CONNECTING and seat in self._may_return:
            # It may return before the match, so this is no fault yet.
            self._drop(seat, connection)
            match.unseat(seat)
            if not isinstance(connection.sock, PlayerLink):
                self.reopen(seat)
            self._reject(seat, connection.host, StrayProblem.LEFT_EARLY, b"")
        else:
            connection.eof = True
            connection.stop_reading()
            _log.info("%s: connection closed by the player", self.label(seat))
            match.receive_eof(seat)

    def _on_broken(self, seat: Seat, error: OSError) -> None:
        self.match.lose(Unreachable.from_error(seat, error))
        self.after_step()

    def _start_timed_out(self) -> None:
        match = self.match
        limit_us = match.setup.limits.start_us or 0
        limit_s = match.setup.limits.start_s or 0.0
        if self.paused_ns and not self._is_start_extended:
            # Players that connected during a pause of the loop have not been read yet. Extend the time once.
            self._is_start_extended = True
            paused_s = min(self.paused_ns / 1e9, limit_s)
            self._start_timer = self._loop.call_later(paused_s, self._start_timed_out)
            return
        if match.phase is Phase.GREETING:
            for seat in map(Seat, range(len(self._connections))):
                if match.is_asked(seat):
                    match.fail(NotStarted(seat, StartProblem.VERSION_LATE, limit_us))
                    break
        missing = [seat for seat in match.missing_seats() if not self.may_be_late(seat)]
        for number, seat in enumerate(missing):
            cause = self.start_cause(seat, StartProblem.NOT_CONNECTED, limit_us)
            if cause.problem is StartProblem.NOT_CONNECTED and match.setup.on_fault is FaultPolicy.END:
                # This cause ends the match, so it names all players that are missing.
                cause = replace(cause, others=tuple(missing[number + 1 :]))
            match.miss(cause)
        if match.phase is Phase.CONNECTING:
            # Players that may be late are examined again.
            again_s = max(_MIN_RECHECK_S, min(limit_s, _MAX_TIMER_S))
            self._start_timer = self._loop.call_later(again_s, self._start_timed_out)
        self.after_step()

    def after_step(self) -> None:
        """Act on a change of the match: report losses, set the timer, resume reading."""
        match = self.match
        if match.has_losses:
            for loss in match.take_losses():
                sentence = cause_sentence(loss.cause, match.setup.names, loss.hand_number, shows_output=True)
                _log.warning("match %s: %s", match.setup.name, sentence)
                self.close_seat(loss.cause.seat)
                self.on_loss(loss)
            self.changes.notify()
        if self._returning:
            # The others have named their version, so tasks that wait for them check again.
            self._returning = {seat for seat in self._returning if match.is_awaited(seat)}
            self.changes.notify()
        if match.phase is Phase.PLAYING:
            # The timer is not moved with each question, as nearly every answer is in time. When it goes off, it is set
            # again for the deadline of that moment.
            if self._timer is None and match.deadline_ns is not None:
                self._set_timer(match.deadline_ns)
            for connection in list(self._paused):
                if match.buffered_bytes(connection.seat) <= self._max_unread_bytes:
                    self._paused.discard(connection)
                    self._start_reading(connection)
            # Without a timer, the step after the next reply has to set one.
            self._needs_step = bool(self._paused) or bool(self._returning) or self._timer is None
        else:
            self.changes.notify()

    async def rest(self) -> None:
        """Wait until the match holds or is over."""
        await self.changes.wait_for(lambda: self.is_at_rest)

    def _set_timer(self, due_ns: int) -> None:
        delay_s = max(0.0, (due_ns - time.monotonic_ns()) / 1e9)
        # A longer delay is continued by `_on_timer`.
        self._timer = self._loop.call_later(min(delay_s, 1e6), self._on_timer)

    def _on_timer(self) -> None:
        self._timer = None
        self._needs_step = True
        match = self.match
        if match.phase is Phase.PLAYING and match.deadline_ns is not None:
            now_ns = time.monotonic_ns()
            if now_ns >= match.deadline_ns and match.question is not None:
                # A reply that arrived while the loop was busy is in time.
                connection = self._connections[match.question.seat]
                if connection is not None:
                    connection.read_now()
            match.check_time(now_ns)
        self.after_step()

    def fail_internally(self, error: Exception) -> None:
        """End the match because of an unexpected exception in the dealer's own code."""
        _log.error("match %s: internal error", self.match.setup.name, exc_info=error)
        try:
            self.match.fail(InternalError.from_error(error))
        finally:
            self.after_step()

    async def _drain(self) -> None:
        """Wait until the players have read their last lines, for a limited time."""
        for connection in self._connections:
            if connection is not None:
                connection.flush()
        await self.changes.wait_for(
            lambda: not any(connection is not None and connection.has_unsent for connection in self._connections),
            self._drain_timeout_s,
        )


@dataclass(slots=True, eq=False)
class Connection:
    """Socket or link of one seat.

    Attributes:
        seat: the seat.
        sock: a non-blocking socket, or a link.
        host: address of the player.
        loop: the loop that reads the socket.
        coalesce_s: time for which lines other than questions may be held back.
        max_unsent_bytes: limit for bytes that the player has not read.
        on_broken: called when held lines cannot be sent.
        on_drained: called when all unsent bytes have been sent.
        on_readable: callback of the loop; None while the socket is not read.
        eof: the player has closed its side.
    """

    seat: Seat
    sock: socket.socket | PlayerLink
    host: str
    loop: MatchLoop
    coalesce_s: float
    max_unsent_bytes: int
    on_broken: Callable[[Seat, OSError], None]
    on_drained: Callable[[], None]
    recv: Callable[[int], bytes] = field(init=False)
    on_readable: Callable[[], None] | None = None
    _hold: Callable[[Waiting], None] = field(init=False)
    eof: bool = False
    _send_some: Callable[[bytes], int] = field(init=False)
    _is_writing: bool = False
    _unsent: bytearray = field(default_factory=bytearray)
    _held: bytes = b""
    _is_queued: bool = False

    def __post_init__(self) -> None:
        # Bound once: each is called for every action of a match.
        self.recv = self.sock.recv
        self._send_some = self.sock.send
        self._hold = self.loop.hold(self.coalesce_s)

    def start_reading(self, on_readable: Callable[[], None]) -> None:
        """Call back whenever the socket is readable, unless the player has closed its side."""
        if self.on_readable is None and not self.eof:
            self.on_readable = on_readable
            self.loop.watch(self.sock, on_readable)

    def acknowledge(self) -> None:
        """Acknowledge the bytes read at once; see `dealer.table.listener.acknowledge`."""
        if not isinstance(self.sock, PlayerLink):
            acknowledge(self.sock)

    def read_now(self) -> None:
        """Read without waiting for the loop."""
        if self.on_readable is not None:
            self.on_readable()

    def stop_reading(self) -> None:
        """Leave further bytes in the socket."""
        if self.on_readable is not None:
            self.on_readable = None
            self.loop.unwatch(self.sock)

    def write(self, data: bytes, is_asked: bool) -> None:
        """Send a question at once, and other lines with the next question or after `coalesce_s`.

        Raises:
            UnreadLinesError: more than `max_unsent_bytes` wait for the player.
            OSError: the connection is broken.
        """
        if is_asked or not self.coalesce_s:
            if self._held:
                data = self._held + data
                self._held = b""
            self._send(data)
        else:
            self._held += data
            if not self._is_queued:
                self._is_queued = True
                self._hold(self)

    def flush(self) -> None:
        """Send the held lines, unless a question has taken them along."""
        self._is_queued = False
        if self._held:
            data = self._held
            self._held = b""
            try:
                self._send(data)
            except OSError as error:
                self.on_broken(self.seat, error)

    def _send(self, data: bytes) -> None:
        if not self._unsent:
            # A socket's buffer nearly always takes a line whole, so no writer has to be registered.
            try:
                sent = self._send_some(data)
            except WOULD_BLOCK:
                sent = 0
            if sent == len(data):
                return
            data = data[sent:]
        self._unsent += data
        if len(self._unsent) > self.max_unsent_bytes:
            raise UnreadLinesError
        if not self._is_writing:
            self._is_writing = True
            self.loop.add_writer(self.sock, self._on_writable)

    def _on_writable(self) -> None:
        try:
            sent = self.sock.send(self._unsent)
        except WOULD_BLOCK:
            return
        except OSError:
            # The player is gone. Reading or the next question will notice.
            sent = len(self._unsent)
        del self._unsent[:sent]
        if not self._unsent:
            self._is_writing = False
            self.loop.remove_writer(self.sock)
            self.on_drained()

    @property
    def has_unsent(self) -> bool:
        """Some bytes wait for the player to read."""
        return bool(self._unsent)

    def close(self) -> None:
        """Close the connection so that bytes already sent still arrive. Held lines are dropped."""
        self._held = b""
        self.stop_reading()
        if self._is_writing:
            self.loop.remove_writer(self.sock)
        try:
            # Closing a socket with unread bytes sends RST instead of FIN, and the player may lose the last state. Read
            # them first, but not forever.
            self.sock.shutdown(socket.SHUT_WR)
            for _ in range(16):
                if not self.sock.recv(1 << 16):
                    break
        except OSError:
            pass
        self.sock.close()
