"""Processes that play the matches of a run, from the side of the run.

    dealers = DealerProcesses(2, Affinity.AUTO)
    match = DealtRun(dealers, plan, match_plan, watchers, tally)
    await match.play_until(100)
    ...
    await dealers.close()

This process supervises: it shows progress, applies stop rules and counts results. The dealer processes start the bots,
deal, and write the files of their matches.
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
    Update,
    pack,
    read_message,
)
from dealer.run.ending import AwaitedPlayer, Wait
from dealer.run.folder import launching
from dealer.run.running_match import RunningMatch
from dealer.run.tally import Tally
from dealer.table.players import LearnerFiles
from engine import Seat

_START: Final = "from dealer.run.dealer_process import main; main()"
_MAX_LOSSES: Final = 5
"""Processes that may end in turn without a match being closed in between."""
_LEAVE_S: Final = 0.5
"""Time for bots to end by themselves after their dealer has."""
_END_S: Final = 5.0
"""Time for a dealer process to end after its matches were closed."""
MIN_HANDS: Final = 4000
"""Runs of fewer hands are dealt by the process of the run: starting others takes longer than they save."""


class DealerProcesses:
    """Dealer processes of a run, started with its first match."""

    def __init__(self, count: int, *, has_affinity: bool, held: Sequence[int] = ()) -> None:
        """Prepare the processes.

        Args:
            count: of processes; about as many matches are played at a time.
            has_affinity: whether each shares a core with its quick bots.
            held: file descriptors of locks, which are not released before the processes have ended.
        """
        self._count = count
        self._cores = usable_cores() if has_affinity else ()
        self._has_spare_cores = count < len(self._cores)
        self._held = tuple(held)
        self._processes: list[_DealerProcess] = []
        self._numbers = itertools.count()
        self._starting = asyncio.Lock()
        self._losses = 0

    async def process_for(self, match: DealtRun) -> _DealerProcess:
        """Choose the process with the fewest matches for one more.

        Raises:
            LaunchError: no process can be started.
        """
        async with self._starting:
            lost = [process for process in self._processes if process.has_ended]
            self._processes = [process for process in self._processes if not process.has_ended]
            for process in lost:
                await process.reap()
            # A match that ends every process must not be played for ever.
            self._losses += len(lost)
            if self._losses > _MAX_LOSSES:
                raise LaunchError("start a dealer process", f"{self._losses} ended in turn, and no match was finished")
            missing = self._count - len(self._processes)
            if missing:
                self._processes += await self._start(missing)
        process = min(self._processes, key=lambda process: len(process.matches))
        process.matches[match.number] = match
        return process

    def note_closed_match(self) -> None:
        """Count the processes that end in turn anew: a match was closed by its process."""
        self._losses = 0

    def new_number(self) -> int:
        """Number of another match."""
        return next(self._numbers)

    async def close(self) -> None:
        """End the processes."""
        await asyncio.gather(*(process.close() for process in self._processes))
        self._processes.clear()

    async def _start(self, count: int) -> list[_DealerProcess]:
        """Start processes; where the system can fork, all are copies of one, which imports everything once."""
        started: list[_DealerProcess] = []
        with launching("start a dealer process"):
            if os.name == "nt":
                for _ in range(count):
                    ours, theirs = socket.socketpair()
                    with theirs:
                        popen = subprocess.Popen([sys.executable, "-P", "-c", _START], stdin=subprocess.PIPE)
                        assert popen.stdin is not None
                        popen.stdin.write(theirs.share(popen.pid))  # type: ignore[attr-defined]
                        popen.stdin.close()
                    started.append(await _DealerProcess.connect(ours, popen, self._settings(len(started))))
                return started
            pairs = [socket.socketpair() for _ in range(count)]
            fds = [theirs.fileno() for _, theirs in pairs]
            popen = subprocess.Popen(
                [sys.executable, "-P", "-c", _START, *map(str, fds)],
                stdin=subprocess.DEVNULL,
                pass_fds=(*fds, *self._held),
            )
        for ours, theirs in pairs:
            theirs.close()
            # The process that was started has the first socket.
            own_popen = None if started else popen
            started.append(await _DealerProcess.connect(ours, own_popen, self._settings(len(started))))
        return started

    def _settings(self, number: int) -> Settings:
        level = logging.getLogger("dealer").getEffectiveLevel()
        core = None
        if self._cores:
            # Runs side by side begin with different cores.
            core = self._cores[(os.getpid() + number) % len(self._cores)]
        return Settings(level, core, self._cores, self._has_spare_cores)


class _DealerProcess:
    """One dealer process.

    Attributes:
        matches: those that it plays, by number.
    """

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, popen: subprocess.Popen[bytes] | None
    ) -> None:
        self.matches: dict[int, DealtRun] = {}
        self.has_ended = False
        self._writer = writer
        self._popen = popen
        self._reading = asyncio.create_task(self._read(reader))

    @classmethod
    async def connect(
        cls, sock: socket.socket, popen: subprocess.Popen[bytes] | None, settings: Settings
    ) -> _DealerProcess:
        """Connect to a process; one that another dealer process has forked has no `popen`."""
        reader, writer = await asyncio.open_connection(sock=sock)
        writer.write(pack(settings))
        return cls(reader, writer, popen)

    def send(self, command: Command) -> None:
        if not self.has_ended:
            self._writer.write(pack(command))

    async def _read(self, reader: asyncio.StreamReader) -> None:
        while (message := await read_message(reader)) is not None:
            if isinstance(message, LogRecord):
                logging.getLogger(message.name).log(message.level, "%s", message.text)
            elif (match := self.matches.get(message.match)) is not None:
                match.receive(message)
        self.has_ended = True
        self._writer.close()
        for match in list(self.matches.values()):
            match.lose_process()

    async def close(self) -> None:
        """End the process; it has no matches."""
        self._writer.close()
        await self._reading
        await self.reap()

    async def reap(self) -> None:
        """Wait for the process, which has ended or is about to end."""
        if self._popen is not None:
            # In a thread: the process may take a moment.
            await asyncio.to_thread(_wait_or_kill, self._popen)


def _wait_or_kill(popen: subprocess.Popen[bytes]) -> None:
    try:
        popen.wait(_END_S)
    except subprocess.TimeoutExpired:
        popen.kill()
        popen.wait()


class DealtRun(RunningMatch):
    """A match that a dealer process plays.

    Attributes:
        number: in the messages about it.
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
        """Prepare a match; no process is used before it is played.

        Args:
            watchers: get the events of the match, in order, a moment after they happened.
            tally: of the hands that an earlier run played; kept up to date.
            sends_newest: whether of the events of hands and actions the watchers need only the newest.
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
        self._closed: asyncio.Future[None]
        self._standing = Standing()

    @property
    def start_time_left_s(self) -> float | None:
        return self._standing.start_time_left_s

    def waiting_for(self) -> list[AwaitedPlayer]:
        return list(self._standing.awaited)

    def waits(self) -> list[Wait]:
        return list(self._standing.waits)

    async def play_until(self, hands: int) -> None:
        await self._command(Play(self.number, hands))

    def hold(self) -> bool:
        if self._process is None or self._reply is None:
            return False
        self._process.send(Hold(self.number))
        return True

    async def finish(self) -> None:
        if self.failure is None:
            await self._command(Finish(self.number))

    async def close(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        # The reply to a command that was cancelled may come first.
        self._reply = None
        if process.has_ended:
            await self._kill_bots()
        else:
            process.send(Close(self.number))
            await asyncio.shield(self._closed)
            if not process.has_ended:
                self._dealers.note_closed_match()
        process.matches.pop(self.number, None)

    async def _command(self, command: Play | Finish) -> None:
        if self._process is None:
            self._process = await self._dealers.process_for(self)
            self._closed = asyncio.get_running_loop().create_future()
            self._process.send(
                Open(
                    self.number,
                    self._plan,
                    self._match_plan,
                    self.tally,
                    learner_files=self._learner_files,
                    wants=self._wants,
                    sends_newest=self._sends_newest,
                )
            )
        self._reply = asyncio.get_running_loop().create_future()
        if self._process.has_ended:
            self.lose_process()
        else:
            self._process.send(command)
        try:
            reply = await self._reply
        finally:
            self._reply = None
        self.failure = reply.failure
        if reply.error is not None:
            raise reply.error

    def receive(self, message: Update | Reply | Closed) -> None:
        """Take a message of the dealer process."""
        match message:
            case Update():
                self._standing = message.standing
                self.tally.include(message.values, message.counts)
                for event in message.events:
                    self._audience.publish(event)
            case Reply():
                if self._reply is not None and not self._reply.done():
                    self._reply.set_result(message)
            case Closed():
                self._closed.set_result(None)

    async def _kill_bots(self) -> None:
        """Kill the bots that a dealer process has left, unless they end by themselves in time."""
        await asyncio.sleep(_LEAVE_S)
        for pid in self._standing.pids:
            with contextlib.suppress(OSError):
                if os.name == "nt":
                    os.kill(pid, signal.SIGTERM)
                else:
                    # Each bot has a process group of its own.
                    os.killpg(pid, signal.SIGKILL)

    def lose_process(self) -> None:
        """Note that the dealer process has ended."""
        if self._reply is not None and not self._reply.done():
            self._reply.set_result(Reply(self.number, None, DealerLostError(self._match_plan.name)))
        if not self._closed.done():
            self._closed.set_result(None)
