"""All addresses of the interface for programs."""

from __future__ import annotations

import json

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from dealer.server.server import ServerParts
from dealer.web.api.callers import Callers
from dealer.web.api.events import EventStreams
from dealer.web.api.files import Files
from dealer.web.api.jobs import JobDesk
from dealer.web.api.openapi import description
from dealer.web.api.operations import PREFIX, Operation
from dealer.web.api.reading import Reading
from dealer.web.site import Site

__all__ = ["operations", "routes"]


def operations(parts: ServerParts) -> list[Operation]:
    """The operations of a server."""
    rooms = (Reading(parts), JobDesk(parts), Files(parts), EventStreams(parts))
    return [operation for room in rooms for operation in room.operations()]


def routes(site: Site) -> list[BaseRoute]:
    """The addresses of this room; none for a site without a server."""
    if site.server is None:
        return []
    there = operations(site.server)
    callers = Callers(site.server)
    document = json.dumps(description(there))

    async def describe(request: Request) -> Response:
        return Response(document, media_type="application/json")

    return [Route(f"{PREFIX}/openapi.json", describe), *(one.route(callers) for one in there)]
