"""Winnings without the luck of the cards (`logs.variance.correction`), computed in a separate process.

The compiled code needs seconds to load and more than 100 MB, so the process starts when the first client plays.
"""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import signal
from collections.abc import Sequence
from functools import cache
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Final, TypeAlias

from engine import Game
from logs import HandRecord

_log = logging.getLogger(__name__)
PATIENCE_S: Final = 10.0
"""Time to wait for the process. It continues afterwards, and has less to do at the next call."""
_MAX_HANDS: Final = 256
"""Maximum number of hands of one request, which take about a second."""
_Values: TypeAlias = list[list[float]]
_Answer: TypeAlias = asyncio.Task[_Values | None]


class LuckCorrection:
    """Client of the process, which the first request starts."""

    def __init__(self) -> None:
        self._process: tuple[BaseProcess, Connection] | None = None
        self._turn = asyncio.Lock()
        self._answers: set[_Answer] = set()
        self._is_closed = False

    async def values(self, game: Game, records: Sequence[HandRecord]) -> _Values | None:
        """Compute the corrected chips of hands, by hand and position.

        Args:
            game: heads-up no-limit hold'em.
            records: hands with all hole cards.

        Returns:
            Values of the first hands, up to the number of one request; None if they are not ready in time.
        """
        answer = self.prepare(game, records[:_MAX_HANDS])
        await asyncio.wait([answer], timeout=PATIENCE_S)
        return answer.result() if answer.done() else None

    def prepare(self, game: Game, records: Sequence[HandRecord] = ()) -> _Answer:
        """Send a request without waiting; one without hands only starts the process."""
        answer = asyncio.create_task(self._in_turn(game, records))
        self._answers.add(answer)
        answer.add_done_callback(self._answers.discard)
        return answer

    async def close(self) -> None:
        """Kill the process and wait for the requests in progress."""
        self._is_closed = True
        while self._answers:
            # Repeated, because a request may start the process after the first kill.
            if self._process is not None:
                self._process[0].kill()
            await asyncio.wait(self._answers, timeout=0.05)
        if self._process is not None:
            await asyncio.to_thread(self._end)

    async def _in_turn(self, game: Game, records: Sequence[HandRecord]) -> _Values | None:
        async with self._turn:
            if self._is_closed:
                return None
            return await asyncio.to_thread(self._ask, game, records)

    def _ask(self, game: Game, records: Sequence[HandRecord]) -> _Values | None:
        try:
            if self._process is None:
                self._process = _start_process()
            self._process[1].send((game, records))
            answer: _Values = self._process[1].recv()
        except (OSError, EOFError) as error:
            # The process crashed or was killed. The next request starts another.
            if not self._is_closed:
                _log.error("hands cannot be corrected: %s", error or type(error).__name__)
                self._end()
            return None
        return answer

    def _end(self) -> None:
        if self._process is not None:
            process, connection = self._process
            self._process = None
            process.kill()
            process.join()
            connection.close()


def _start_process() -> tuple[BaseProcess, Connection]:
    # Not fork: the server has threads.
    context = multiprocessing.get_context("spawn")
    connection, child_connection = context.Pipe()
    process = context.Process(target=_run_process, args=(child_connection,), daemon=True)
    process.start()
    # With our copy closed, the pipe has one end per process and breaks when the other process ends.
    child_connection.close()
    return process, connection


def _run_process(connection: Connection) -> None:
    from logs.variance.correction import ChanceCorrection

    # Ctrl-C in a terminal reaches this process too; the server ends it in `close`.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    corrections = cache(ChanceCorrection)
    try:
        while True:
            game, records = connection.recv()
            correction = corrections(game)
            connection.send(correction.values(records) if records else [])
    except EOFError:
        return
