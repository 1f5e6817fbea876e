"""The site of a server: which rooms of pages it has, and answering as long as the server runs."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Final

from starlette.routing import BaseRoute

from dealer.server.server import ServerParts
from dealer.web import front, leaks, live, login, mine, play, replay, standings
from dealer.web.api import app as api
from dealer.web.app import make_app
from dealer.web.hall import Hall, HallLimits
from dealer.web.library import Counting
from dealer.web.server_book import ServerBook
from dealer.web.server_library import ServerLibrary
from dealer.web.serving import answering
from dealer.web.sessions import Sessions
from dealer.web.site import Link, Site
from dealer.web.slumbot import routes as slumbot
from dealer.web.slumbot.desk import Desk
from dealer.web.table_guests import TableGuests

__all__ = ["make_server_site", "server_routes", "server_site"]

ROOMS: Final[tuple[Callable[[Site], Sequence[BaseRoute]], ...]] = (
    front.routes,
    login.routes,
    api.routes,
    play.routes,
    mine.routes,
    standings.routes,
)
"""The routes of each room; an address is answered by the first that knows it."""

LINKS: Final[tuple[Link, ...]] = (
    Link("Standings", "/standings"),
    Link("Runs", "/runs"),
    Link("Play", "/play"),
    Link("Mine", "/mine", is_private=True),
)


def make_server_site(parts: ServerParts) -> Site:
    """The site of a server."""
    web = parts.settings.web
    limits = HallLimits(
        per_person=web.max_tables_per_person,
        per_address=web.max_tables_per_address,
        awake=web.max_tables,
        for_users=web.tables_for_users_percent / 100,
        asleep_after_s=60 * web.table_asleep_minutes,
        closed_after_s=86_400 * web.table_closed_days,
    )
    return Site(
        server=parts,
        sessions=Sessions(parts.store, 86_400 * web.session_days),
        hall=Hall(ServerBook(parts), limits, TableGuests(parts)),
        links=LINKS,
    )


def server_routes(site: Site, parts: ServerParts, desk: Desk, counting: Counting) -> list[BaseRoute]:
    """Every address of a server's site but those of the files of its pages."""
    library = ServerLibrary(parts)
    return [
        *(route for room in ROOMS for route in room(site)),
        *live.routes(site, library, counting),
        *leaks.routes(site, library),
        *replay.routes(site, library, counting),
        *slumbot.routes(parts, desk),
    ]


@contextlib.asynccontextmanager
async def server_site(parts: ServerParts) -> AsyncIterator[str]:
    """Answer for a server until the end of the block; gives the address for browsers."""
    site = make_server_site(parts)
    assert site.hall is not None
    desk = Desk(parts, site.hall, forfeit_s=3600 * parts.settings.web.slumbot_forfeit_hours)
    counting = Counting()
    host, settings = parts.settings.host, parts.settings.web
    app = make_app(site, server_routes(site, parts, desk, counting), settings, is_loopback=_is_loopback(host))
    keeper = asyncio.create_task(desk.keep())
    try:
        async with site.hall, answering(app, host, settings) as address:
            try:
                yield address
            finally:
                site.hall.turn_away()
    finally:
        keeper.cancel()
        counting.close()
        await desk.close()


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
