"""Pages for runs of this machine, without a server: on a free port of the loopback address, for one visitor."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from typing import Final
from urllib.parse import urljoin

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from dealer.server.settings import WebSettings
from dealer.web import leaks, live, replay
from dealer.web.app import make_app
from dealer.web.library import Counting, Library, LocalLibrary
from dealer.web.serving import answering
from dealer.web.site import Link, Site

__all__ = ["local_routes", "local_site"]

_HOST: Final = "127.0.0.1"


def local_routes(site: Site, library: Library, counting: Counting) -> list[BaseRoute]:
    """All pages of runs, the list of them first."""

    async def first(request: Request) -> Response:
        return RedirectResponse("/runs", 302)

    return [
        Route("/", first),
        *live.routes(site, library, counting),
        *leaks.routes(site, library),
        *replay.routes(site, library, counting),
    ]


@contextlib.asynccontextmanager
async def local_site(library: LocalLibrary, *, port: int = 0, begin: str = "/") -> AsyncIterator[str]:
    """Show the pages until the end of the block; gives the address to begin with.

    Args:
        library: of the runs.
        port: 0 is a free one.
        begin: where to begin.

    Raises:
        ListenError: the port cannot be had.
    """
    site = Site(links=(Link("Runs", "/runs"),))
    counting = Counting()
    try:
        app = make_app(site, local_routes(site, library, counting))
        async with answering(app, _HOST, WebSettings(port=port)) as address:
            yield urljoin(address, begin)
    finally:
        counting.close()
