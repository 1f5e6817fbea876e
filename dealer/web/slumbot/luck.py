"""What hands are worth without the luck of the cards (`logs.variance.correction`), counted in a process of its own.

The compiled code takes a while to load and more than a hundred megabytes; a server has that when a client plays here.
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
"""For the answer to a question; the process continues, and the next answer comes sooner."""
_AT_ONCE: Final = 256
"""Hands of one question: a second or so."""
_Values: TypeAlias = list[list[float]]
_Answer: TypeAlias = asyncio.Task[_Values | None]


class LuckCorrection:
    """Asks the process, which is started by the first question."""

    def __init__(self) -> None:
        """Prepare; no process is started."""
        self._process: tuple[BaseProcess, Connection] | None = None
        self._turn = asyncio.Lock()
        self._answers: set[_Answer] = set()
        self._is_closed = False

    async def values(self, game: Game, records: Sequence[HandRecord]) -> _Values | None:
        """The corrected chips of the first hands, as many as were counted in time, by position; None for none.

        Args:
            game: heads-up no-limit hold'em.
            records: hands of it with all hole cards.
        """
        answer = self.prepare(game, records[:_AT_ONCE])
        await asyncio.wait([answer], timeout=PATIENCE_S)
        return answer.result() if answer.done() else None

    def prepare(self, game: Game, records: Sequence[HandRecord] = ()) -> _Answer:
        """Ask without waiting; without hands, the process is made ready."""
        answer = asyncio.create_task(self._in_turn(game, records))
        self._answers.add(answer)
        answer.add_done_callback(self._answers.discard)
        return answer

    async def close(self) -> None:
        """End the process."""
        self._is_closed = True
        while self._answers:
            if self._process is not None:
                self._process[0].kill()
            await asyncio.wait(self._answers, timeout=0.05)
        if self._process is not None:
            await asyncio.to_thread(self._end)

    async def _in_turn(self, game: Game, records: Sequence[HandRecord]) -> _Values | None:
        async with self._turn:
            return None if self._is_closed else await asyncio.to_thread(self._ask, game, records)

    def _ask(self, game: Game, records: Sequence[HandRecord]) -> _Values | None:
        try:
            if self._process is None:
                self._process = _started()
            self._process[1].send((game, records))
            answer: _Values = self._process[1].recv()
        except (OSError, EOFError) as error:
            # It has crashed, or was ended: the next question starts another.
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


def _started() -> tuple[BaseProcess, Connection]:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_answer, args=(theirs,), daemon=True)
    process.start()
    # The server's end, however it comes, is then the end of the questions.
    theirs.close()
    return process, ours


def _answer(questions: Connection) -> None:
    from logs.variance.correction import ChanceCorrection

    # Ctrl-C is the server's to hear.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    corrections = cache(ChanceCorrection)
    try:
        while True:
            game, records = questions.recv()
            correction = corrections(game)
            questions.send(correction.values(records) if records else [])
    except EOFError:
        return
