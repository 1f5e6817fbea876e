"""The match that is dealt while a person plays in it: a run in a thread of its own, with news from it.

The person's part stays in the main thread, where a terminal is read and Ctrl-C arrives.
"""

from __future__ import annotations

import asyncio
import contextlib
import queue
import threading
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from types import TracebackType
from typing import Final, TypeAlias

from dealer.library import Run
from dealer.match.events import FaultSeen, HandFinished
from dealer.results.schema import ContestResult
from dealer.run.contest import MatchEvent
from dealer.run.match_run import REACHABLE
from dealer.run.tournament import AwaitedPlayer, Progress
from dealer.seat.earlier import KEPT_HANDS
from dealer.table.loop import new_event_loop
from logs import HandRecord

__all__ = ["Awaited", "Dealing", "Ended", "Failed", "News"]

_LOOK_UP_S: Final = 0.2


@dataclass(frozen=True, slots=True)
class Awaited:
    """The players that have not connected have become others; none, when all are there."""

    players: tuple[AwaitedPlayer, ...]


@dataclass(frozen=True, slots=True)
class Failed:
    """A player has done something wrong.

    Attributes:
        name: the player.
        event: what, and the remedy.
    """

    name: str
    event: FaultSeen


@dataclass(frozen=True, slots=True)
class Ended:
    """The run has ended."""


News: TypeAlias = Awaited | Failed | Ended


class Dealing:
    """A run that is played in a thread; a context manager that ends the run, and waits for it, when it is left.

    Attributes:
        news: what the person should know, in order.
    """

    def __init__(self, run: Run[ContestResult], records: Iterable[HandRecord] = ()) -> None:
        """Prepare to deal.

        Args:
            run: whose first player is the person.
            records: hands of an earlier sitting, which can be shown again.
        """
        self.news: queue.SimpleQueue[News] = queue.SimpleQueue()
        self._run = run
        self._records = deque(records, KEPT_HANDS)
        self._loop = new_event_loop()
        self._thread = threading.Thread(target=self._work, name="dealer")
        self._result: ContestResult | None = None
        self._error: BaseException | None = None
        self._awaited: tuple[AwaitedPlayer, ...] = ()

    def __enter__(self) -> Dealing:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def stop(self) -> None:
        """End the run, if it has not ended, and wait until its files are closed."""
        with contextlib.suppress(RuntimeError):
            # Its loop is closed when the run has just ended.
            self._loop.call_soon_threadsafe(self._run.interrupt)
        self._thread.join()

    def wait(self) -> None:
        """Wait for the run to end by itself; Ctrl-C interrupts the waiting on every system."""
        while self._thread.is_alive():
            self._thread.join(_LOOK_UP_S)

    @property
    def result(self) -> ContestResult:
        """The result of the run, once it has been stopped.

        Raises:
            DealerError: nothing could be played.
        """
        if self._error is not None:
            raise self._error
        assert self._result is not None
        return self._result

    def record(self, hand_number: int) -> HandRecord | None:
        """A finished hand; None where it is not kept."""
        return next((record for record in reversed(list(self._records)) if record.hand_number == hand_number), None)

    def address(self, name: str) -> tuple[str, int] | None:
        """Where a player is awaited; None if the run has ended without waiting for it."""
        while True:
            try:
                # Not for ever: Windows would not hear Ctrl-C.
                news = self.news.get(timeout=_LOOK_UP_S)
            except queue.Empty:
                continue
            if isinstance(news, Ended):
                return None
            if isinstance(news, Awaited):
                for player in news.players:
                    if player.name == name:
                        return REACHABLE.get(player.host, player.host), player.port

    def _work(self) -> None:
        try:
            with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
                self._result = runner.run(self._run.play(self._note_progress, self._note_event))
        except BaseException as error:
            self._error = error
        finally:
            self.news.put(Ended())

    def _note_progress(self, progress: Progress) -> None:
        if progress.awaited != self._awaited:
            self._awaited = progress.awaited
            self.news.put(Awaited(progress.awaited))

    def _note_event(self, event: MatchEvent) -> None:
        what = event.event
        if isinstance(what, HandFinished):
            self._records.append(what.record)
        elif isinstance(what, FaultSeen):
            self.news.put(Failed(event.players[what.fault.seat], what))
