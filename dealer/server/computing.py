"""Processes that compute for a server: results, ratings, standings, and what pages count.

The process that deals and answers loads no compiled code and counts nothing that takes long: players and clients would
wait meanwhile. One other process is started with the server and is made ready at once, more are started
when they are needed. A task whose process dies is done again by another.
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
"""A page that counts for seconds does not hold up the results of matches."""


class Computing:
    """Processes that compute; functions, arguments and results must be picklable."""

    def __init__(self, workers: Workers | None = None) -> None:
        """Start nothing.

        Args:
            workers: which compute, and are not ended; None for processes of its own.
        """
        self._workers = local_workers(_PROCESSES, ignores_term=True) if workers is None else workers
        self._is_own = workers is None

    def prepare(self, games: Sequence[Game]) -> None:
        """Start a process and have it load what results of these games need."""
        if self._is_own:
            self._workers.submit(_at, os.getcwd(), _prepare, tuple(games))

    async def run(self, function: Callable[..., _Result], *arguments: Any) -> _Result:
        """Return the function's result.

        Raises:
            WorkersError: no process could finish it.
        """
        try:
            return await asyncio.wrap_future(self._workers.submit(_at, os.getcwd(), function, *arguments))
        except WorkersError as error:
            _log.error("%s", error)
            raise

    def wait(self, function: Callable[..., _Result], *arguments: Any) -> _Result:
        """Return the function's result; for threads, as it waits.

        Raises:
            WorkersError: no process could finish it.
        """
        try:
            found: _Result = self._workers.submit(_at, os.getcwd(), function, *arguments).result()
        except WorkersError as error:
            _log.error("%s", error)
            raise
        return found

    def close(self) -> None:
        """End the processes at once; tasks that are not finished fail."""
        if self._is_own:
            self._workers.end(at_once=True)


def _at(folder: str, function: Callable[..., _Result], *arguments: Any) -> _Result:
    """Return the function's result, in the working folder of the server; paths may be relative."""
    if os.getcwd() != folder:
        os.chdir(folder)
    return function(*arguments)


def _prepare(games: Sequence[Game]) -> None:
    """Load what a result of these games needs, as far as it is compiled."""
    # Loads numpy and, where kernels are on disk, numba.
    import logs.leaks  # noqa: F401
    from engine.equity import shares_refusal
    from engine.holdem import is_holdem
    from engine.kernels import disk
    from logs.variance.correction import ChanceCorrection

    for game in games:
        if shares_refusal(game) is None and (not is_holdem(game) or disk.is_filled()):
            ChanceCorrection(game)
