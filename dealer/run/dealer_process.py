"""Dealer process, which plays matches for the process of a run.

    python -c "from dealer.run.dealer_process import main; main()" FD [FD ...]

This module holds the messages and the dealer's side of the connection; `dealer.run.dealers` is the side of the run.
Messages are pickled values, each preceded by its length. The run sends commands. The dealer process answers `Play` and
`Finish` with a `Reply`, and reports progress with an `Update` several times a second.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import pickle
import signal
import socket
import struct
import sys
from array import array
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from dealer.errors import DealerError
from dealer.match.causes import Failure, InternalError
from dealer.match.events import ActionPlayed, Event, HandClosed, HandFinished, HandStarted, Watcher
from dealer.run.affinity import DealerCore
from dealer.run.contest_plan import ContestPlan, MatchPlan
from dealer.run.ending import AwaitedPlayer, Wait
from dealer.run.match_run import TcpRun
from dealer.run.tally import Tally
from dealer.table.collector import relax_collector
from dealer.table.loop import new_event_loop
from dealer.table.players import LearnerFiles
from engine import Seat

_UPDATE_S: Final = 0.1
"""Interval between updates of a match."""
LONG_WAIT_S: Final = 2.0
"""Shorter waits for a player are not shown."""
_MAX_UNSENT_EVENTS: Final = 1000
_FREQUENT: Final = frozenset({HandStarted, ActionPlayed, HandFinished, HandClosed})
"""Events of which a page shows only the newest of each kind."""
_PREFIX: Final = struct.Struct("!I")
_PACKAGES: Final = ("dealer", "bots", "logs", "protocol", "engine")
_log = logging.getLogger(__name__)


class Settings(NamedTuple):
    """First message to a dealer process.

    Attributes:
        log_level: level of the run's loggers. The process sends its log records back.
        core: core to share with quick bots, or None.
        cores: all usable cores.
        has_spare_cores: whether there are more cores than dealer processes.
    """

    log_level: int
    core: int | None
    cores: tuple[int, ...]
    has_spare_cores: bool


class Open(NamedTuple):
    """Prepare a match.

    Attributes:
        match: number of the match in all messages about it.
        tally: counts of the hands that an earlier run played.
        wants: types of events to send.
        sends_newest: send only the newest event of each frequent type per update.
    """

    match: int
    plan: ContestPlan
    match_plan: MatchPlan
    tally: Tally
    learner_files: Mapping[Seat, LearnerFiles]
    wants: frozenset[type]
    sends_newest: bool = False


class Play(NamedTuple):
    """Play until this many hands of the match are finished. Answered with `Reply`."""

    match: int
    hands: int


class Hold(NamedTuple):
    """Stop after the current hand. The reply is that of `Play`."""

    match: int


class Finish(NamedTuple):
    """End the match here, with its score. Answered with `Reply`."""

    match: int


class Close(NamedTuple):
    """Close the match, even during a hand. Answered with `Closed`, the last message about it."""

    match: int


Command: TypeAlias = Open | Play | Hold | Finish | Close


class Standing(NamedTuple):
    """Awaited players of a match, and its bots' processes.

    Attributes:
        waits: waits of at least `LONG_WAIT_S`.
        awaited: players that are not connected.
        start_time_left_s: time left for them to connect; None without a limit.
        pids: process numbers of the bots that were started, by seat.
    """

    waits: tuple[Wait, ...] = ()
    awaited: tuple[AwaitedPlayer, ...] = ()
    start_time_left_s: float | None = None
    pids: tuple[int, ...] = ()


class Update(NamedTuple):
    """Progress of a match since its last update.

    Attributes:
        values: net chips of the newly finished hands, by seat, hand after hand.
        counts: the whole tally without its values.
        events: new events that the run wants.
    """

    match: int
    values: array[float]
    counts: Tally
    standing: Standing
    events: tuple[Event, ...] = ()


class Reply(NamedTuple):
    """Completion of a command.

    Attributes:
        failure: reason why the match ended early, or None.
        error: exception that the command raised, or None.
    """

    match: int
    failure: Failure | None
    error: DealerError | None = None


class Closed(NamedTuple):
    """The files of a match are closed and its bots have exited."""

    match: int


class Started(NamedTuple):
    """First message of a dealer process."""

    pid: int


class LogRecord(NamedTuple):
    """Log record of a dealer process."""

    name: str
    level: int
    text: str


def pack(message: NamedTuple) -> bytes:
    """Encode a message, preceded by its length."""
    data = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    return _PREFIX.pack(len(data)) + data


async def read_message(reader: asyncio.StreamReader) -> Any:
    """Read the next message; return None if the other process has ended."""
    try:
        (length,) = _PREFIX.unpack(await reader.readexactly(_PREFIX.size))
        return pickle.loads(await reader.readexactly(length))
    except (asyncio.IncompleteReadError, ConnectionError):
        return None


class _Collector(Watcher):
    """Unsent events of a match."""

    def __init__(self, wants: frozenset[type], send: Callable[[], None], *, keeps_newest: bool) -> None:
        self.wants = wants
        self._events: list[Event] = []
        self._newest: dict[type, Event] = {}
        self._send = send
        self._keeps_newest = keeps_newest

    def notice(self, event: Event) -> None:
        if self._keeps_newest and type(event) in _FREQUENT:
            # Removing the key first moves it to the end, so that events stay in order.
            self._newest.pop(type(event), None)
            self._newest[type(event)] = event
            return
        # The newest frequent events come first, so that events stay in order.
        self._events += [*self._newest.values(), event]
        self._newest.clear()
        if len(self._events) >= _MAX_UNSENT_EVENTS:
            self._send()

    def take(self) -> tuple[Event, ...]:
        """Remove and return the events."""
        events = (*self._events, *self._newest.values())
        self._events.clear()
        self._newest.clear()
        return events


class _DealtMatch:
    """Match played by this process."""

    def __init__(self, dealer: _Dealer, opening: Open) -> None:
        self._dealer = dealer
        self._number = opening.match
        self._collector = _Collector(opening.wants, self._send_update, keeps_newest=opening.sends_newest)
        self._tally = opening.tally
        self._sent_values = len(self._tally.values)
        self._sent_standing = Standing()
        self._run = TcpRun(
            opening.plan,
            opening.match_plan,
            [self._collector] if opening.wants else [],
            opening.tally,
            opening.learner_files,
            dealer.core,
        )
        self._working: asyncio.Task[None] | None = None
        self._is_finishing = False
        self._updating = asyncio.create_task(self._update_regularly())

    def play(self, hands: int) -> None:
        self._work(self._run.play_until(hands))

    def finish(self) -> None:
        self._is_finishing = True
        self._work(self._run.finish())

    def hold(self) -> None:
        # A match that gets its score is over in a moment.
        if self._working is None or self._is_finishing:
            return
        # Without a hand in progress the match would wait for its players.
        if not self._run.hold():
            self._working.cancel()

    async def close(self) -> None:
        self._updating.cancel()
        if self._working is not None:
            self._working.cancel()
            await asyncio.wait([self._working])
        try:
            await self._run.close()
        finally:
            self._send_update()
            self._dealer.send(Closed(self._number))

    def _work(self, work: Coroutine[None, None, None]) -> None:
        self._working = asyncio.create_task(work)
        # In a callback, so that a task that is cancelled before its first step is answered, too.
        self._working.add_done_callback(self._answer)

    def _answer(self, work: asyncio.Task[None]) -> None:
        failure = self._run.failure
        error = None
        # `hold` and `close` cancel the task. The reply then only ends the command.
        problem = None if work.cancelled() else work.exception()
        if isinstance(problem, DealerError):
            error = problem
        elif isinstance(problem, Exception):
            _log.error("match %s: internal error", self._run.setup.name, exc_info=problem)
            failure = Failure(InternalError.from_error(problem))
        self._send_update()
        self._dealer.send(Reply(self._number, failure, error))

    async def _update_regularly(self) -> None:
        while True:
            await asyncio.sleep(_UPDATE_S)
            self._send_update(is_regular=True)

    def _send_update(self, *, is_regular: bool = False) -> None:
        """Send the progress since the last update; skip a regular update without any."""
        run = self._run
        tally = self._tally
        standing = Standing(
            waits=tuple(wait for wait in run.waits() if wait.waited_s >= LONG_WAIT_S),
            awaited=tuple(run.waiting_for()),
            start_time_left_s=run.start_time_left_s,
            pids=tuple(run.pids.values()),
        )
        values = tally.values[self._sent_values :]
        self._sent_values += len(values)
        events = self._collector.take()
        if is_regular and not values and not events and standing == self._sent_standing:
            return
        self._sent_standing = standing
        self._dealer.send(Update(self._number, values, tally.without_values(), standing, events))


class _Dealer:
    """Matches of this process, and its connection to the process of the run."""

    def __init__(self, writer: asyncio.StreamWriter, settings: Settings) -> None:
        self.core: DealerCore | None = None
        if settings.core is not None:
            self.core = DealerCore(settings.core, settings.cores, has_spare_cores=settings.has_spare_cores)
        self._writer = writer
        self._matches: dict[int, _DealtMatch] = {}
        self._closing: set[asyncio.Task[None]] = set()

    def send(self, message: NamedTuple) -> None:
        if not self._writer.is_closing():
            self._writer.write(pack(message))

    def execute(self, command: Command) -> None:
        match command:
            case Open():
                self._matches[command.match] = _DealtMatch(self, command)
            case Play(match, hands):
                self._matches[match].play(hands)
            case Hold(match):
                self._matches[match].hold()
            case Finish(match):
                self._matches[match].finish()
            case Close(match):
                task = asyncio.create_task(self._matches.pop(match).close())
                # asyncio keeps weak references only, so an unfinished task could vanish.
                self._closing.add(task)
                task.add_done_callback(self._closing.discard)

    async def end(self) -> None:
        """Wait for matches that are being closed. With open matches, exit at once."""
        if self._matches:
            # The run was killed. Exiting like this disconnects the bots, and the files stay as they are for a resume.
            os._exit(1)
        await asyncio.gather(*self._closing)


class _Forwarder(logging.Handler):
    """Send log records to the process of the run, which shows them."""

    def __init__(self, dealer: _Dealer) -> None:
        super().__init__()
        self._dealer = dealer

    def emit(self, record: logging.LogRecord) -> None:
        self._dealer.send(LogRecord(record.name, record.levelno, self.format(record)))


async def _deal(sock: socket.socket) -> None:
    """Play matches until the process of the run closes the connection or ends."""
    reader, writer = await asyncio.open_connection(sock=sock)
    writer.write(pack(Started(os.getpid())))
    settings = await read_message(reader)
    if settings is None:
        return
    dealer = _Dealer(writer, settings)
    for package in _PACKAGES:
        # Records that the run does not show are not sent.
        logging.getLogger(package).setLevel(settings.log_level)
    logging.getLogger().addHandler(_Forwarder(dealer))
    while (command := await read_message(reader)) is not None:
        dealer.execute(command)
    await dealer.end()
    writer.close()


def _sockets(arguments: Sequence[str]) -> list[socket.socket]:
    if os.name == "nt":
        return [socket.fromshare(sys.stdin.buffer.read())]  # type: ignore[attr-defined]
    return [socket.socket(fileno=int(number)) for number in arguments]


def main() -> None:
    """Fork a process per socket, and deal for the run at its other end."""
    # Ctrl-C reaches all processes of a terminal; only the run decides how to stop.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sockets = _sockets(sys.argv[1:])
    relax_collector()
    # Forked after the imports, so that the processes share their memory.
    forked: list[int] = []
    while len(sockets) > 1:
        own = sockets.pop()
        pid = os.fork()
        if pid == 0:
            for other in sockets:
                # Those of processes that are forked later: their connections must end with them.
                other.close()
            sockets = [own]
            forked = []
        else:
            own.close()
            forked.append(pid)
    with contextlib.suppress(KeyboardInterrupt), asyncio.Runner(loop_factory=new_event_loop) as runner:
        runner.run(_deal(sockets[0]))
    # The system counts the processor time of children only once they have been waited for.
    for pid in forked:
        os.waitpid(pid, 0)
