"""The one table of `arena table --browser`: the page Play on this machine alone, without a server behind it."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import signal
import time
from collections.abc import Callable
from typing import Final

from dealer.library import Run
from dealer.results.schema import ContestResult
from dealer.seat.sitting import Sitting
from dealer.server.db.tables import TableRow
from dealer.server.settings import WebSettings
from dealer.table.loop import new_event_loop
from dealer.web.app import make_app
from dealer.web.hall import Hall, HallLimits, LocalBook
from dealer.web.play import LOCAL_OWNER, routes
from dealer.web.serving import answering
from dealer.web.site import Site

__all__ = ["play_in_browser"]

_HOST: Final = "127.0.0.1"
_LAST_PAGE_S: Final = 0.5
"""So long the browser has to fetch the last page and its style."""
_FOREVER_S: Final = 1e12


def play_in_browser(run: Run[ContestResult], port: int, on_address: Callable[[str], None]) -> Sitting:
    """Let a person play the first seat of a run in a browser, until it leaves there or interrupts the program.

    Args:
        run: its first player is ``tcp``.
        port: to listen on; 0 for a free one.
        on_address: called with the address of the page, which nobody else can guess.

    Raises:
        ListenError: the port cannot be had.
        WebError: the run cannot be gone on with.
    """
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        return runner.run(_play(run, port, on_address))


async def _play(run: Run[ContestResult], port: int, on_address: Callable[[str], None]) -> Sitting:
    names = tuple(run.plan.contests[0].names)
    game = run.plan.contests[0].record.game_name
    table = TableRow(secrets.token_urlsafe(16), LOCAL_OWNER, game, names[1:], run.folder, time.time())
    book = LocalBook(table)
    limits = HallLimits(asleep_after_s=_FOREVER_S, closed_after_s=_FOREVER_S)
    task = asyncio.current_task()
    assert task is not None
    for number in (signal.SIGINT, signal.SIGTERM):
        with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
            # Not on Windows, where Ctrl-C cancels this task itself.
            asyncio.get_running_loop().add_signal_handler(number, task.cancel)
    sitting = None
    async with Hall(book, limits) as hall:
        site = Site(hall=hall)
        sitting = await hall.sitting(table)
        async with answering(make_app(site, routes(site)), _HOST, WebSettings(port=port)) as address:
            on_address(f"{address}play/{table.id}")
            with contextlib.suppress(asyncio.CancelledError):
                await book.closed.wait()
                await asyncio.sleep(_LAST_PAGE_S)
    return sitting
