"""Matches of the doctor with bots in this process, without sockets and clocks."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any, Protocol

from dealer.doctor import examination
from dealer.doctor.dialogue import Dialogue, OnEvent
from dealer.doctor.examination import Exit
from dealer.doctor.findings import Examination
from dealer.doctor.situations import DoctorSettings
from dealer.match import Phase
from dealer.match.causes import NotStarted, StartProblem
from engine import Game
from tests.dealer.doctor.peers import SECRET, Leave

MAX_READ_BYTES = 1 << 16


class Speaker(Protocol):
    """Bot that takes and returns bytes."""

    exit_code: int | None

    def open(self) -> bytes: ...
    def receive_data(self, data: bytes) -> bytes: ...
    def on_silence(self, seconds: float) -> None: ...


class LocalVisit:
    """A match with a bot within this process."""

    def __init__(self, bot: Speaker, match: Dialogue) -> None:
        self.bot = bot
        self.sent: list[bytes] = []
        self.closed = False
        self._match = match
        self._unread = b""
        self._exit: Exit | None = None
        self._steps: deque[tuple[float, Callable[[], None]]] = deque()

    def play(self) -> Exit:
        match = self._match
        match.call_later = lambda delay_s, step: self._steps.append((delay_s, step))
        self._let(self.bot.open)
        try:
            match.connect(match.bot, self._send)
            self._run()
            if match.is_done:
                match.begin_end()
                if self._exit is None and self.bot.exit_code is not None:
                    self._exit = (self.bot.exit_code, ())
                self._run()
        finally:
            self.closed = True
        return self._exit or (None, ())

    def _run(self) -> None:
        """Pass on the bot's bytes and let time pass until the match holds or ends."""
        match = self._match
        while match.phase not in (Phase.FINISHED, Phase.FAILED):
            data = self._unread[:MAX_READ_BYTES]
            self._unread = self._unread[MAX_READ_BYTES:]
            if data:
                match.receive(match.bot, data)
            elif self._exit is not None and not match.has_closed:
                match.receive_eof(match.bot)
            elif self._steps:
                delay_s, step = self._steps.popleft()
                self._let(lambda: self.bot.on_silence(delay_s))  # noqa: B023
                if self._unread:
                    self._steps.appendleft((0.0, step))
                else:
                    step()
            elif match.phase is Phase.HOLDING:
                return
            elif match.phase is Phase.GREETING:
                match.fail(NotStarted(match.bot, StartProblem.VERSION_LATE))
            else:
                assert match.deadline_ns is not None
                match.check_time(match.deadline_ns)

    def _let(self, speak: Callable[[], bytes | None]) -> None:
        if self._exit is not None:
            return
        try:
            self._unread += speak() or b""
        except Leave as leaving:
            self._exit = (leaving.code, (SECRET,))
        except ValueError as error:
            self._exit = (1, (str(error),))

    def _send(self, data: bytes, is_asked: bool) -> None:
        self.sent.append(data)
        self._let(lambda: self.bot.receive_data(data))


class LocalHost:
    """Host that makes a new bot for every connection.

    Attributes:
        visits: connections so far.
    """

    def __init__(self, make: Callable[[Game], Speaker], game: Game, *, can_start: bool = True) -> None:
        self.can_start = can_start
        self.visits: list[LocalVisit] = []
        self._make = make
        self._game = game

    async def play(self, match: Dialogue) -> Exit:
        self.visits.append(LocalVisit(self._make(self._game), match))
        return self.visits[-1].play()


class EmptyHost:
    """Host of a bot that does not connect, and may exit."""

    def __init__(self, exit_: Exit, problem: StartProblem = StartProblem.NOT_CONNECTED) -> None:
        self.exit = exit_
        self.problem = problem if exit_[0] is None else StartProblem.ENDED
        self.can_start = True

    async def play(self, match: Dialogue) -> Exit:
        match.miss(NotStarted(match.bot, self.problem))
        return self.exit


def examine_host(
    host: LocalHost | EmptyHost, game: Game, *names: str, on_event: OnEvent = lambda event: None, **settings: Any
) -> Examination:
    """Examine the bots of a host in the situations of these names, by default in all."""
    result = Examination(DoctorSettings(situations=list(names), **settings), game, is_remote=not host.can_start)
    asyncio.run(examination.examine(result, host.play, on_event))
    return result


def examine(make: Callable[[Game], Speaker], game: Game) -> Examination:
    """Examine bots of this constructor in all situations."""
    return examine_host(LocalHost(make, game), game)
