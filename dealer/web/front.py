"""The first page of a server: its games with their bots, and how to have matches played."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from dealer.web.site import Site

__all__ = ["routes"]


def routes(site: Site) -> list[BaseRoute]:
    """The pages of this room; none for a site without a server."""
    server = site.server
    if server is None:
        return []

    async def show(request: Request) -> Response:
        return site.page(
            request, "front.html.jinja", games=server.settings.games, may_play=server.settings.web.guests_may_play
        )

    return [Route("/", show)]
