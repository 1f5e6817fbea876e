"""Dealer processes of a run, seen from the run.

    dealers = DealerProcesses(2, has_affinity=True)
    match = DealtRun(dealers, plan, match_plan, watchers, tally)
    await match.play_until(100)
    ...
    await dealers.close()

The process of the run shows progress, applies stop rules and counts results. The dealer processes start the bots, deal,
and write the files of their matches.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

from dealer.errors import DealerLostError, LaunchError
from dealer.match.events import Audience, Watcher
from dealer.run.affinity import usable_cores
from dealer.run.contest_plan import ContestPlan, MatchPlan
from dealer.run.dealer_process import (
    Close,
    Closed,
    Command,
    Finish,
    Hold,
    LogRecord,
    Open,
    Play,
    Reply,
    Settings,
    Standing,
    Started,
    Update,
    pack,
    read_message,
)
from dealer.run.ending import AwaitedPlayer, Wait
from dealer.run.folder import launching
from dealer.run.match_run import RunningMatch
from dealer.run.tally import Tally
from dealer.table.players import LearnerFiles
from engine import Seat

_START: Final = "from dealer.run.dealer_process import main; main()"
_MAX_LOSSES: Final = 5
"""Processes that may be lost in a row, that is, without a match being closed in between."""
_LEAVE_S: Final = 0.5
"""Time for bots to exit after their dealer process was lost."""
_CLOSE_S: Final = 60.0
"""Time for a dealer process to close a match, including the time its bots have to exit."""
_END_S: Final = 5.0
"""Time for a dealer process to exit after its matches were closed."""
_KILL: Final = signal.SIGTERM if os.name == "nt" else signal.SIGKILL
MIN_HANDS: Final = 4000
"""Runs of fewer hands do without dealer processes, whose start would take longer than they save."""


class DealerProcesses:
    """Dealer processes of a run, started with its first match."""

    def __init__(self, count: int, *, has_affinity: bool, held: Sequence[int] = ()) -> None:
        """Prepare the processes; the first match starts them.

        Args:
            count: number of processes.
            has_affinity: whether each process shares a core with its quick bots.
            held: file descriptors of locks, inherited so that the locks last as long as the processes.
        """
        self._count = count
        self._cores = usable_cores() if has_affinity else ()
        self._has_spare_cores = count < len(self._cores)
        self._held = tuple(held)
        self._processes: list[_DealerProcess] = []
        self._numbers = itertools.count()
        self._filling: asyncio.Task[None] | None = None
        self._losses = 0

    async def next_process(self) -> _DealerProcess:
        """Return the process with the fewest matches, after starting those that are missing.

        Raises:
            LaunchError: no process can be started.
        """
        # Matches that begin at the same time wait for one start.
        if self._filling is None or self._filling.done():
            self._filling = asyncio.create_task(self._fill())
        # Shielded, because a start that is cancelled halfway would leave processes that nobody ends.
        await asyncio.shield(self._filling)
        return min(self._processes, key=lambda process: len(process.matches))

    async def _fill(self) -> None:
        """Start all processes, or later replace those that have ended."""
        lost = [process for process in self._processes if process.has_ended]
        self._processes = [process for process in self._processes if not process.has_ended]
        for process in lost:
            await process.reap()
        # Without a limit, a match that crashes its process would be restarted for ever.
        self._losses += len(lost)
        if self._losses > _MAX_LOSSES:
            problem = f"{self._losses} ended one after another without finishing a match"
            # Runs of a server share the processes. The next run starts with a clean count.
            self._losses = 0
            raise LaunchError("start a dealer process", problem)
        if missing := self._count - len(self._processes):
            await self._start(missing)

    def note_closed_match(self) -> None:
        """Reset the count of losses in a row."""
        self._losses = 0

    def new_number(self) -> int:
        """Return an unused number for a match."""
        return next(self._numbers)

    async def close(self) -> None:
        """End the processes."""
        if self._filling is not None:
            await asyncio.wait([self._filling])
        await asyncio.gather(*(process.close() for process in self._processes))
        self._processes.clear()

    async def _start(self, count: int) -> None:
        """Start processes. Except on Windows, one process is started, which forks the rest after its imports."""
        if os.name == "nt":
            for _ in range(count):
                await self._start_windows()
            return
        with launching("start a dealer process"), contextlib.ExitStack() as kept, contextlib.ExitStack() as passed:
            ours = []
            fds = []
            for _ in range(count):
                own, theirs = socket.socketpair()
                ours.append(kept.enter_context(own))
                fds.append(passed.enter_context(theirs).fileno())
            popen = subprocess.Popen(
                [sys.executable, "-P", "-c", _START, *map(str, fds)],
                stdin=subprocess.DEVNULL,
                pass_fds=(*fds, *self._held),
            )
            # Our ends stay open. The others are closed here: a connection ends only when no process has its other end.
            kept.pop_all()
        # The process that was started has the first socket.
        for place, own in enumerate(ours):
            await self._connect(own, None if place else popen)

    async def _start_windows(self) -> None:
        with launching("start a dealer process"), contextlib.ExitStack() as kept:
            ours, theirs = socket.socketpair()
            kept.enter_context(ours)
            with theirs:
                popen = subprocess.Popen([sys.executable, "-P", "-c", _START], stdin=subprocess.PIPE)
                assert popen.stdin is not None
                with popen.stdin:
                    popen.stdin.write(theirs.share(popen.pid))  # type: ignore[attr-defined]
            kept.pop_all()
        await self._connect(ours, popen)

    async def _connect(self, sock: socket.socket, popen: subprocess.Popen[bytes] | None) -> None:
        level = logging.getLogger("dealer").getEffectiveLevel()
        core = self._next_core()
        process = await _DealerProcess.connect(sock, popen, Settings(level, core, self._cores, self._has_spare_cores))
        self._processes.append(process)

    def _next_core(self) -> int | None:
        """Choose the core with the fewest processes."""
        if not self._cores:
            return None
        # Several runs at a time on this machine begin with different cores.
        shift = os.getpid() % len(self._cores)
        cores = self._cores[shift:] + self._cores[:shift]
        return min(cores, key=[process.core for process in self._processes].count)


class _DealerProcess:
    """Connection to a dealer process.

    Attributes:
        core: core that it shares with quick bots, or None.
        matches: matches that it plays, by number.
        has_ended: the connection is closed, and the process has exited or is about to.
    """

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        popen: subprocess.Popen[bytes] | None,
        core: int | None,
    ) -> None:
        self.core = core
        self.matches: dict[int, DealtRun] = {}
        self.has_ended = False
        self._pid: int | None = None
        self._writer = writer
        self._popen = popen
        self._reading = asyncio.create_task(self._read(reader))

    @classmethod
    async def connect(
        cls, sock: socket.socket, popen: subprocess.Popen[bytes] | None, settings: Settings
    ) -> _DealerProcess:
        """Connect to a process. Only the one that was started has a `popen`, not those that it forked."""
        reader, writer = await asyncio.open_connection(sock=sock)
        writer.write(pack(settings))
        return cls(reader, writer, popen, settings.core)

    def send(self, command: Command) -> None:
        if not self.has_ended:
            self._writer.write(pack(command))

    async def _read(self, reader: asyncio.StreamReader) -> None:
        try:
            while (message := await read_message(reader)) is not None:
                if isinstance(message, Started):
                    self._pid = message.pid
                elif isinstance(message, LogRecord):
                    # The text is formatted already, and may contain a percent sign.
                    logging.getLogger(message.name).log(message.level, "%s", message.text)
                elif (match := self.matches.get(message.match)) is not None:
                    match.receive(message)
        finally:
            self.has_ended = True
            self._writer.close()
            for match in list(self.matches.values()):
                match.lose_process()

    async def close(self) -> None:
        """End the process, which has no open matches."""
        # The process exits when its connection ends.
        self._writer.close()
        await asyncio.wait([self._reading], timeout=_END_S)
        if not self.has_ended:
            self.kill()
        await self.reap()

    def kill(self) -> None:
        """Kill a process that does not answer; its matches are lost."""
        # A process that was forked has no `popen`.
        if self._pid is not None:
            with contextlib.suppress(OSError):
                os.kill(self._pid, _KILL)
        # Ends `_read`, which fails the matches.
        self._writer.transport.abort()

    async def reap(self) -> None:
        """Wait for the process to exit."""
        if self._popen is not None:
            # Forked processes are waited for by the one that was started.
            await asyncio.to_thread(_wait_or_kill, self._popen)


def _wait_or_kill(popen: subprocess.Popen[bytes]) -> None:
    try:
        popen.wait(_END_S)
    except subprocess.TimeoutExpired:
        popen.kill()
        popen.wait()


class DealtRun(RunningMatch):
    """Match played by a dealer process.

    Attributes:
        number: number of the match in messages.
    """

    def __init__(
        self,
        dealers: DealerProcesses,
        plan: ContestPlan,
        match_plan: MatchPlan,
        watchers: Sequence[Watcher],
        tally: Tally,
        learner_files: Mapping[Seat, LearnerFiles] = MappingProxyType({}),
        *,
        sends_newest: bool = False,
    ) -> None:
        """Prepare a match; it gets a process when it is first played.

        Args:
            watchers: receive the events of the match in order, up to one update late.
            tally: counts of the hands that an earlier run played; updated during play.
            sends_newest: whether the watchers need only the newest events of hands and actions.
        """
        self.number = dealers.new_number()
        self.tally = tally
        self.failure = None
        self._dealers = dealers
        self._plan = plan
        self._match_plan = match_plan
        self._audience = Audience(watchers)
        self._wants = frozenset(kind for watcher in watchers for kind in watcher.wants)
        self._learner_files = learner_files
        self._sends_newest = sends_newest
        self._process: _DealerProcess | None = None
        self._reply: asyncio.Future[Reply] | None = None
        self._closed: asyncio.Future[bool]
        """True if the process closed the match, False if it ended before."""
        self._standing = Standing()
        self._error: Exception | None = None
        self._is_held = False

    @property
    def start_time_left_s(self) -> float | None:
        return self._standing.start_time_left_s

    def waiting_for(self) -> list[AwaitedPlayer]:
        return list(self._standing.awaited)

    def waits(self) -> list[Wait]:
        return list(self._standing.waits)

    async def play_until(self, hands: int) -> None:
        self._is_held = False
        await self._open()
        # `hold` may come while the process is being started.
        if not self._is_held:
            await self._command(Play(self.number, hands))

    def hold(self) -> bool:
        self._is_held = True
        if self._process is None or self._reply is None:
            return False
        self._process.send(Hold(self.number))
        return True

    async def finish(self) -> None:
        if self.failure is None:
            await self._open()
            await self._command(Finish(self.number))

    async def close(self) -> None:
        process = self._process
        if process is None:
            return
        self._process = None
        # A late reply to a cancelled command is ignored.
        self._reply = None
        try:
            process.send(Close(self.number))
            await asyncio.wait([self._closed], timeout=_CLOSE_S)
            if self._closed.done() and self._closed.result():
                self._dealers.note_closed_match()
            else:
                if not process.has_ended:
                    process.kill()
                await self._kill_bots()
        finally:
            process.matches.pop(self.number, None)

    async def _open(self) -> None:
        if self._process is not None:
            return
        self._process = await self._dealers.next_process()
        self._process.matches[self.number] = self
        self._closed = asyncio.get_running_loop().create_future()
        self._process.send(
            Open(
                self.number,
                self._plan,
                self._match_plan,
                self.tally,
                learner_files=dict(self._learner_files),
                wants=self._wants,
                sends_newest=self._sends_newest,
            )
        )
        # It may have ended before this match was registered, and then informed only the others.
        if self._process.has_ended:
            self.lose_process()

    async def _command(self, command: Play | Finish) -> None:
        assert self._process is not None
        if self._error is not None:
            raise self._error
        self._reply = asyncio.get_running_loop().create_future()
        self._process.send(command)
        try:
            reply = await self._reply
        finally:
            self._reply = None
        self.failure = reply.failure
        if reply.error is not None:
            raise reply.error

    def receive(self, message: Update | Reply | Closed) -> None:
        """Process a message of the dealer process."""
        match message:
            case Update():
                self._standing = message.standing
                self.tally.include(message.values, message.counts)
                try:
                    for event in message.events:
                        self._audience.publish(event)
                except Exception as error:
                    # Raised by a watcher. It ends this match and no other match of the process.
                    self._fail(error)
            case Reply():
                if self._reply is not None and not self._reply.done():
                    self._reply.set_result(message)
            case Closed():
                self._closed.set_result(True)

    def lose_process(self) -> None:
        """Fail the match, whose dealer process has ended."""
        self._fail(DealerLostError(self._match_plan.name))
        if not self._closed.done():
            self._closed.set_result(False)

    def _fail(self, error: Exception) -> None:
        """Raise an error from the current command, or else from the next one."""
        self._error = self._error or error
        if self._reply is not None and not self._reply.done():
            self._reply.set_exception(self._error)

    async def _kill_bots(self) -> None:
        """Kill bots that do not exit by themselves after their dealer process was lost."""
        try:
            await asyncio.sleep(_LEAVE_S)
        finally:
            for pid in self._standing.pids:
                with contextlib.suppress(OSError):
                    if os.name == "nt":
                        os.kill(pid, _KILL)
                    else:
                        # Each bot has a process group of its own.
                        os.killpg(pid, _KILL)
