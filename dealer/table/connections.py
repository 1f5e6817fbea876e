"""The connections of a match: listening, reading, writing, timers. Everything about the game is in `dealer.match`.

`Connections` owns the sockets of one match and drives it inside an asyncio loop. Reading and writing are done on the
raw sockets from reader callbacks, with no task and no stream in between: a reply goes from `recv` through the rules to
`send` in one call. Timers are lazy: one per match, moved only when it goes off, because nearly every answer comes in
time. An answer counts from when it came (`dealer.table.loop.TimedSelector`): a pause of the loop is no player's time.

Bounds: a seat with more than `max_unread_bytes` unread bytes is not read until its turn comes; a seat that does not
read what it is sent may leave up to `max_unsent_bytes` waiting, then the match fails by that seat's fault.
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
"""Replies are short; a read of this size is served from Python's pool of small objects."""
_PLAYING = Phase.PLAYING
_MIN_RECHECK_S = 0.2
"""Shortest time between two checks of a player that may be late to connect."""
_MAX_TIMER_S = 1e8
"""Longest time of a timer: asyncio refuses much longer ones on some systems."""


class Connections:
    """The sockets of one match.

        connections = Connections(match, host="127.0.0.1")
        ports = connections.listen()
        await connections.run()

    Attributes:
        changes: notified whenever a player connects, comes back or is lost, and when the match holds or is over.
        on_loss: decides about a player lost without the end of the match, by `reopen` or the match's `forfeit`; unless
            set, the player forfeits.
        on_stray: called for every connection that was rejected.
        on_open: called with every seat that awaits its player, whenever it begins to.
        may_be_late: asked about a missing player when the time to connect is over; while it may, the time begins again.
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
        """Prepare the connections.

        Args:
            host: the address to listen on; `LOOPBACK` stands for all that no other machine can reach.
            reads_versions: a seat is taken by a version line, not by the first connection.
            may_return: the seats whose players may connect again at any time, from the address they have come from,
                and then play on over the new connection; needs `reads_versions`.
            only_from: the addresses of players that may come from one address only; needs `reads_versions`.
            keys: what has to be sent for a seat, as a line before the version line; needs `reads_versions`.
            listeners: of seats that are open already and stay open: for a `PlayerLink`, or for players of later
                matches, too.
            coalesce_s: how long lines to players that are not to act are held back, unless a question to them takes
                them along; 0 sends them at once.
            drain_timeout_s: how long a slow reader may take to fetch the last lines after the match.
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
        self._pauses_before = self._paused_before_ns = 0
        self._is_start_extended = False
        self._paused: set[Connection] = set()
        self._returning: set[Seat] = set()
        """Seats whose players have connected again and have not named their version yet."""
        self._needs_step = True
        """Whether `after_step` has something to do during play."""

    @property
    def _loop(self) -> MatchLoop:
        if self._running_loop is None:
            raise RuntimeError("run() comes first")
        return self._running_loop

    @property
    def pauses(self) -> int:
        """Number of pauses of the loop since the players have been awaited."""
        if self._running_loop is None:
            return 0
        return self._running_loop.selector.pauses - self._pauses_before

    @property
    def paused_ns(self) -> int:
        """Duration of these pauses together."""
        if self._running_loop is None:
            return 0
        return self._running_loop.selector.paused_ns - self._paused_before_ns

    @property
    def hosts(self) -> list[str]:
        """The addresses listened on, as long as a seat is open; see `Listener`."""
        for listener in self._listeners:
            if listener is not None:
                return listener.hosts
        return []

    @property
    def is_over(self) -> bool:
        """Whether the match has ended, with its score or early."""
        return self.match.phase in (Phase.FINISHED, Phase.FAILED)

    @property
    def is_at_rest(self) -> bool:
        """Whether the match holds or is over."""
        return self.match.phase is Phase.HOLDING or self.is_over

    def listen(self, ports: Sequence[int] = ()) -> list[int]:
        """Open a listening socket for each player that is missing; without a given port, or with port 0, at a free one.

        Returns:
            the port of each seat; 0 where none is opened.

        Raises:
            ListenError: a port cannot be had.
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
        """Listen again for a lost player, at the port its seat had, or at another if that is taken.

        Returns:
            the port.

        Raises:
            ListenError: no port can be had.
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
        """A seat of this match, as the log of the program names it."""
        return f"match {self.match.setup.name}, seat {seat + 1} ({self.match.setup.names[seat]})"

    async def run(self) -> None:
        """Wait for the players, play, and close every connection. The outcome is in the match."""
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
                raise RuntimeError("listen() comes first")
            self._watch(listener, seat)
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
        """Close every socket. A `run` in progress does not return."""
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
        """Close our side of a player's connection and keep reading."""
        connection = self._connections[seat]
        if connection is not None:
            with contextlib.suppress(OSError):
                connection.sock.shutdown(socket.SHUT_WR)

    def _watch(self, listener: Listener | OpenSeat, seat: Seat) -> None:
        listener.watch(self._loop, partial(self._admit, seat), partial(self._reject, seat))

    def _reject(self, seat: Seat, host: str, problem: StrayProblem, line: bytes) -> None:
        self._strays[seat] = stray = StrayConnection(seat, host, problem, line)
        if not self.has_left(seat):
            self.on_stray(stray)
        self.changes.notify()

    def has_left(self, seat: Seat) -> bool:
        """Return whether a missing player with a link has left; no other client can take its seat."""
        return seat in self._strays and isinstance(self._lent_listeners.get(seat), OpenSeat)

    def start_cause(self, seat: Seat, problem: StartProblem, limit_us: int = 0) -> NotStarted:
        """Cause of an empty seat, by the clients that have connected to its port."""
        listener = self._listeners[seat]
        stray = self._strays.get(seat)
        if listener is not None and listener.has_client:
            if problem is StartProblem.ENDED:
                return NotStarted(seat, StartProblem.LEFT)
            return NotStarted(seat, StartProblem.VERSION_LATE, limit_us)
        if stray is None or (seat in self._may_return and not self.has_left(seat)):
            return NotStarted(seat, problem, limit_us)
        # No other program knows the port of a player that we have started.
        if stray.problem is StrayProblem.NO_VERSION:
            return NotStarted(seat, StartProblem.UNREADABLE_VERSION, line=stray.line)
        return NotStarted(seat, StartProblem.LEFT)

    def _admit(self, seat: Seat, sock: socket.socket | PlayerLink, address: tuple[str, int], received: bytes) -> None:
        match = self.match
        before = self._connections[seat]
        host = address[0]
        if before is not None:
            # The player itself may connect again, from its address.
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
                # The player itself reports that its earlier connection is dead.
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
            self._read(connection)
            if match.phase is not Phase.CONNECTING:
                self._returning.add(seat)
            match.connect(seat, connection.write)
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

    def _read(self, connection: Connection) -> None:
        recv = connection.recv
        take = self._take

        def on_readable() -> None:
            try:
                data = recv(_READ_BYTES)
            except WOULD_BLOCK:
                return
            except OSError:
                data = b""
            take(connection, data)

        if isinstance(connection.sock, PlayerLink):
            connection.sock.receive = partial(self._take, connection)
        else:
            connection.start_reading(on_readable)

    def _take(self, connection: Connection, data: bytes) -> None:
        """Take the bytes of a read; none at the end of the player's stream."""
        match = self.match
        seat = connection.seat
        try:
            if not data:
                self._on_closed(connection)
            elif match.receive(seat, data, connection.loop.selector.arrived_ns):
                connection.acknowledge()
                if match.buffered_bytes(seat) > self._max_unread_bytes:
                    self._on_unread(connection)
            if self._needs_step or match.phase is not _PLAYING or match.has_losses:
                self.after_step()
        except Exception as error:
            # A mistake in our own code ends this match and leaves the others in this process alone.
            self.fail_internally(error)

    def _on_unread(self, connection: Connection) -> None:
        """Stop reading the socket of a player with many unread bytes. A link cannot be stopped, only closed."""
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
            # Players that connected during a pause have not been read yet.
            self._is_start_extended = True
            paused_s = min(self.paused_ns / 1e9, limit_s)
            self._start_timer = self._loop.call_later(paused_s, self._start_timed_out)
            return
        if match.phase is Phase.GREETING:
            seat = next(Seat(i) for i in range(len(self._connections)) if match.is_asked(Seat(i)))
            match.fail(NotStarted(seat, StartProblem.VERSION_LATE, limit_us))
        missing = [seat for seat in match.missing_seats() if not self.may_be_late(seat)]
        for number, seat in enumerate(missing):
            cause = self.start_cause(seat, StartProblem.NOT_CONNECTED, limit_us)
            if cause.problem is StartProblem.NOT_CONNECTED and match.setup.on_fault is FaultPolicy.END:
                cause = replace(cause, others=tuple(missing[number + 1 :]))
            match.miss(cause)
        if match.phase is Phase.CONNECTING:
            again_s = max(_MIN_RECHECK_S, min(limit_s, _MAX_TIMER_S))
            self._start_timer = self._loop.call_later(again_s, self._start_timed_out)
        self.after_step()

    def after_step(self) -> None:
        """Act on the state of the match: end the run, or set the timer and resume reading where it was paused."""
        match = self.match
        if match.has_losses:
            for loss in match.take_losses():
                sentence = cause_sentence(loss.cause, match.setup.names, loss.hand_number, shows_output=True)
                _log.warning("match %s: %s", match.setup.name, sentence)
                self.close_seat(loss.cause.seat)
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
            now_ns = time.monotonic_ns()
            if now_ns >= match.deadline_ns and match.question is not None:
                # A reply that arrived while the loop was busy is in time.
                connection = self._connections[match.question.seat]
                if connection is not None:
                    connection.read_now()
            match.check_time(now_ns)
        self.after_step()

    def fail_internally(self, error: Exception) -> None:
        """End the match because of an unexpected error in our own code."""
        _log.error("match %s: internal error", self.match.setup.name, exc_info=error)
        try:
            self.match.fail(InternalError.from_error(error))
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


@dataclass(slots=True, eq=False)
class Connection:
    """Socket or link of one seat; knows nothing of the match.

    Attributes:
        sock: non-blocking, or a link.
        host: address of the player.
        coalesce_s: time that lines other than questions may be held back.
        on_drained: called when unsent bytes have been sent.
        on_readable: called whenever the socket is readable, while it is read.
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
        self.recv = self.sock.recv
        self._send_some = self.sock.send
        self._hold = self.loop.hold(self.coalesce_s)

    def start_reading(self, on_readable: Callable[[], None]) -> None:
        """Call back whenever the socket is readable."""
        if self.on_readable is None and not self.eof:
            self.on_readable = on_readable
            self.loop.watch(self.sock, on_readable)

    def acknowledge(self) -> None:
        """Acknowledge the bytes read at once, as no line is sent soon that would do so."""
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
        """Send a question now, other lines with the next question or after `coalesce_s`."""
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
        """Send the lines held back, unless a question took them along."""
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
            sent = len(self._unsent)
        del self._unsent[:sent]
        if not self._unsent:
            self._is_writing = False
            self.loop.remove_writer(self.sock)
            self.on_drained()

    @property
    def has_unsent(self) -> bool:
        """Whether written bytes wait for the player to read."""
        return bool(self._unsent)

    def close(self) -> None:
        """Close so that sent bytes still arrive. Lines held back are dropped."""
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
