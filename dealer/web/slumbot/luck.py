"""What hands are worth without the luck of the cards (`logs.variance.correction`), counted in a process of its own.

The compiled code takes a while to load and more than a hundred megabytes; a server has that when a client plays here.

    python -m dealer.web.slumbot.luck      answers questions, one after the other, until its input ends

A question is a game and some of its hands, the answer the corrected chips of each hand by position; both are pickled.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import pickle
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

from engine import Game
from logs import HandRecord

_log = logging.getLogger(__name__)
_AT_ONCE: Final = 256
"""Hands of one question: a second or so."""
_Values: TypeAlias = list[list[float]]


class LuckCorrection:
    """Asks the process, which is started by the first question."""

    def __init__(self, environment: Mapping[str, str], *, patience_s: float = 10.0, most_s: float = 300.0) -> None:
        """Prepare; no process is started.

        Args:
            environment: variables that the process gets besides ours.
            patience_s: for the answer to a question; the process continues, and the next answer comes sooner.
            most_s: a process that takes so long is ended.
        """
        self._environment = {**os.environ, **environment}
        self._patience_s = patience_s
        self._most_s = most_s
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = asyncio.Lock()
        self._tasks: set[asyncio.Task[_Values | None]] = set()
        self._is_closed = False

    async def values(self, game: Game, records: Sequence[HandRecord]) -> _Values | None:
        """The corrected chips of the first hands, as many as were counted in time, by position; None for none.

        Args:
            game: heads-up no-limit hold'em.
            records: hands of it with all hole cards; none only has the process made ready.
        """
        task = asyncio.create_task(self._answer(game, records[:_AT_ONCE]))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        await asyncio.wait([task], timeout=self._patience_s)
        return task.result() if task.done() else None

    async def close(self) -> None:
        """End the process."""
        self._is_closed = True
        self._kill()
        if self._tasks:
            await asyncio.wait(self._tasks)
        if self._process is not None:
            _end(self._process)

    async def _answer(self, game: Game, records: Sequence[HandRecord]) -> _Values | None:
        async with self._lock:
            if self._is_closed:
                return None
            killer = asyncio.get_running_loop().call_later(self._most_s, self._kill)
            try:
                return await asyncio.to_thread(self._ask, game, records)
            except (OSError, EOFError, pickle.PickleError) as error:
                # It has crashed, or was ended: the next question starts another.
                if not self._is_closed:
                    _log.error("hands cannot be corrected: %s", error or type(error).__name__)
                return None
            finally:
                killer.cancel()

    def _ask(self, game: Game, records: Sequence[HandRecord]) -> _Values:
        process = self._process
        if process is None:
            process = self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "dealer.web.slumbot.luck"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env=self._environment,
            )
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            pickle.dump((game, list(records)), process.stdin)
            process.stdin.flush()
            answer: _Values = pickle.load(process.stdout)
        except BaseException:
            self._process = None
            _end(process)
            raise
        return answer

    def _kill(self) -> None:
        """Notify those who wait for the process of its end."""
        if self._process is not None:
            with contextlib.suppress(OSError):
                self._process.kill()


def _end(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(OSError):
        process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        # What is left to be written is dropped.
        with contextlib.suppress(OSError):
            if pipe is not None:
                pipe.close()


def _main() -> None:
    from logs.variance.correction import ChanceCorrection

    questions, answers = sys.stdin.buffer, sys.stdout.buffer
    # What a library prints is no answer.
    sys.stdout = sys.stderr
    corrections: dict[Any, ChanceCorrection] = {}
    # The server's end is the end of the input; Ctrl-C is the server's to hear.
    with contextlib.suppress(EOFError, KeyboardInterrupt):
        while True:
            game, records = pickle.load(questions)
            if game not in corrections:
                corrections[game] = ChanceCorrection(game)
            pickle.dump(corrections[game].values(records) if records else [], answers)
            answers.flush()


if __name__ == "__main__":
    _main()
