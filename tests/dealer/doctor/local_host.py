"""Bots without sockets, processes and clocks: time passes only where the doctor lets it pass."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from dealer.doctor import examination
from dealer.doctor.dialogue import Absence, Exit
from dealer.doctor.report import Examination
from dealer.doctor.situations import SITUATIONS, ExaminationSetup, Situation
from engine import Game
from tests.dealer.doctor.peers import SECRET, Leave

MOST_BYTES_AT_ONCE = 1 << 16


class Speaker(Protocol):
    """A bot: bytes in, bytes out."""

    exit_code: int | None

    def open(self) -> bytes: ...
    def receive_data(self, data: bytes) -> bytes: ...
    def on_silence(self, seconds: float) -> None: ...


class LocalVisit:
    """A conversation with a bot within this process."""

    def __init__(self, bot: Speaker) -> None:
        self.bot = bot
        self.sent: list[bytes] = []
        self.closed = False
        self._time_s = 0.0
        self._waiting = b""
        self._exit: Exit | None = None
        self._let(bot.open)

    def _let(self, speak: Callable[[], bytes | None]) -> None:
        if self._exit is not None:
            return
        try:
            self._waiting += speak() or b""
        except Leave as leaving:
            self._exit = Exit(leaving.code, (SECRET,))
        except ValueError as error:
            self._exit = Exit(1, (str(error),))

    def send(self, data: bytes) -> None:
        self.sent.append(data)
        self._let(lambda: self.bot.receive_data(data))

    def receive(self, deadline_s: float) -> bytes | None:
        data, self._waiting = self._waiting[:MOST_BYTES_AT_ONCE], self._waiting[MOST_BYTES_AT_ONCE:]
        if data:
            return data
        if self._exit is not None:
            return b""
        self._time_s = max(self._time_s, deadline_s)
        return None

    def pause(self, seconds: float) -> None:
        self._time_s += seconds
        self._let(lambda: self.bot.on_silence(seconds))

    def now_s(self) -> float:
        return self._time_s

    def hang_up(self) -> None:
        if self._exit is None and self.bot.exit_code is not None:
            self._exit = Exit(self.bot.exit_code)

    def wait_for_exit(self, timeout_s: float) -> Exit:
        return self._exit or Exit(None)

    def close(self) -> None:
        self.closed = True


class LocalHost:
    """Makes a new bot for every connection.

    Attributes:
        visits: all there were.
    """

    def __init__(self, make: Callable[[Game], Speaker], game: Game, *, can_start: bool = True) -> None:
        self.can_start = can_start
        self.visits: list[LocalVisit] = []
        self._make = make
        self._game = game

    def receive_bot(self) -> LocalVisit:
        self.visits.append(LocalVisit(self._make(self._game)))
        return self.visits[-1]


class EmptyHost(LocalHost):
    """Nobody connects."""

    def __init__(self, how: Exit) -> None:
        self.how = how
        self.can_start = True

    def receive_bot(self) -> Absence:  # type: ignore[override]
        return Absence(self.how, 2.0)


def examine(make: Callable[[Game], Speaker], game: Game, situations: Sequence[Situation] = SITUATIONS) -> Examination:
    """Examine bots of this make to the end."""
    return examination.examine(ExaminationSetup(game, situations), LocalHost(make, game))
