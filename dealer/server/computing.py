"""Processes that compute results, ratings, standings and statistics for a server.

The main process deals and answers. It loads no compiled code and computes nothing long, so players and clients never
wait for it. One worker process starts with the server, further ones when needed. A task whose process dies is repeated
by another.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

from bots.errors import WorkersError
from bots.workers import Workers, local_workers
from engine import Game

_log = logging.getLogger(__name__)
_Result = TypeVar("_Result")
_PROCESSES: Final = 2
"""Two, so that a page that computes for seconds does not delay the results of matches."""


class Computing:
    """Worker processes; functions, arguments and results must be picklable."""

    def __init__(self, workers: Workers | None = None) -> None:
        """Create the workers without starting a process.

        Args:
            workers: to use and not to end; None to create its own.
        """
        self._workers = local_workers(_PROCESSES, ignores_term=True) if workers is None else workers
        self._is_own = workers is None

    def prepare(self, games: Sequence[Game]) -> None:
        """Start a process and let it load the modules that results of these games need."""
        if self._is_own:
            self._workers.submit(_call_in, os.getcwd(), _prepare, tuple(games))

    async def run(self, function: Callable[..., _Result], *arguments: Any) -> _Result:
        """Call a function in a worker process and return its result.

        Raises:
            WorkersError: no process could finish it.
        """
        try:
            return await asyncio.wrap_future(self._workers.submit(_call_in, os.getcwd(), function, *arguments))
        except WorkersError as error:
            _log.error("%s", error)
            raise

    def wait(self, function: Callable[..., _Result], *arguments: Any) -> _Result:
        """Call a function like `run`, but block; for threads.

        Raises:
            WorkersError: no process could finish it.
        """
        try:
            result: _Result = self._workers.submit(_call_in, os.getcwd(), function, *arguments).result()
        except WorkersError as error:
            _log.error("%s", error)
            raise
        return result

    def close(self) -> None:
        """End the processes at once; unfinished tasks fail."""
        if self._is_own:
            self._workers.end(at_once=True)


def _call_in(folder: str, function: Callable[..., _Result], *arguments: Any) -> _Result:
    """Call a function in the server's working folder, because paths may be relative."""
    if os.getcwd() != folder:
        os.chdir(folder)
    return function(*arguments)


def _prepare(games: Sequence[Game]) -> None:
    # Loads numpy and, if compiled kernels are on disk, numba.
    import logs.leaks  # noqa: F401
    from engine.equity import shares_refusal
    from engine.holdem import is_holdem
    from engine.kernels import disk
    from logs.variance.correction import ChanceCorrection

    for game in games:
        if shares_refusal(game) is None and (not is_holdem(game) or disk.is_filled()):
            ChanceCorrection(game)
