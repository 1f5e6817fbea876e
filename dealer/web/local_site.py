"""Pages for one person on this machine, served on the loopback address without a server.

`local_site` shows runs. `play_in_browser` lets the person play the first seat of a run.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import secrets
import time
from collections.abc import AsyncIterator, Callable
from typing import Final
from urllib.parse import urljoin

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from dealer.person.table_session import TableSession
from dealer.run.results import ContestResult
from dealer.run.run import Run
from dealer.server.db.run_changes import TableRow
from dealer.server.server_settings import WebSettings
from dealer.server.table_manager import TableManager, TableStore
from dealer.web.pages import leak_pages, live, replay_pages
from dealer.web.pages.play_pages import LOCAL_OWNER, routes
from dealer.web.pages.shown_runs import HandCounter, Library, LocalLibrary
from dealer.web.serving import serve_app
from dealer.web.site import Site, make_app
from logs.document import Link

_HOST: Final = "127.0.0.1"
_LAST_PAGE_S: Final = 0.5
"""Time for the browser to load the last page and its style sheet."""


def local_routes(site: Site, library: Library, counter: HandCounter) -> list[BaseRoute]:
    """Return the routes of all pages about runs; the first page redirects to their list."""

    async def redirect(request: Request) -> Response:
        return RedirectResponse("/runs", 302)

    return [
        Route("/", redirect),
        *leak_pages.routes(site, library),
        *live.routes(site, library, counter),
        *replay_pages.routes(site, library, counter),
    ]


@contextlib.asynccontextmanager
async def local_site(library: LocalLibrary, *, port: int = 0, begin: str = "/") -> AsyncIterator[str]:
    """Serve the pages until the end of the block; yield the address of the page to open.

    Args:
        library: runs to show.
        port: port to listen on; 0 for a free one.
        begin: path of the page to open.

    Raises:
        ListenError: the port is unavailable.
    """
    site = Site(links=(Link("Runs", "/runs"),))
    counter = HandCounter()
    try:
        app = make_app(site, local_routes(site, library, counter))
        async with serve_app(app, _HOST, WebSettings(port=port)) as address:
            yield urljoin(address, begin)
    finally:
        counter.close()


async def play_in_browser(run: Run[ContestResult], port: int, on_address: Callable[[str], None]) -> TableSession:
    """Let a person play the first seat of a run until they leave the table or the task is cancelled.

    Args:
        run: run whose first player is ``tcp``.
        port: port to listen on; 0 for a free one.
        on_address: called with the address of the page, which contains a secret.

    Raises:
        ListenError: the port is unavailable.
        WebError: the run cannot be resumed.
    """
    names = tuple(run.planned[0].names)
    game = run.planned[0].record.game_name
    table = TableRow(secrets.token_urlsafe(16), LOCAL_OWNER, game, names[1:], run.folder, time.time())
    table_store = TableStore([table])
    web = WebSettings(port=port, table_asleep_minutes=math.inf, table_closed_days=math.inf)
    async with TableManager(table_store, web) as table_manager:
        site = Site(table_manager=table_manager)
        table_session = await table_manager.table_session(table)
        async with serve_app(make_app(site, routes(site, table_manager)), _HOST, web) as address:
            on_address(f"{address}play/{table.id}")
            with contextlib.suppress(asyncio.CancelledError):
                await table_store.closed.wait()
                await asyncio.sleep(_LAST_PAGE_S)
    return table_session
