"""The site of a server: its pages and interfaces, served as long as the server runs."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from functools import partial

from starlette.routing import BaseRoute

from dealer.server.db.texts import TextName, write_text
from dealer.server.server import ServerParts
from dealer.server.server_tables import ServerTableStore
from dealer.server.table_manager import TableManager
from dealer.table import listener
from dealer.uploads.intake import Intake
from dealer.web.api import app as api
from dealer.web.api import join_socket
from dealer.web.pages import (
    account,
    bot_pages,
    event_pages,
    leak_pages,
    live,
    monitoring,
    organiser,
    organiser_acts,
    play_pages,
    replay_pages,
    series_pages,
    standings,
    team_forms,
    upload_pages,
)
from dealer.web.pages.monitoring import Metrics
from dealer.web.pages.shown_runs import HandCounter, ServerLibrary
from dealer.web.serving import public_addresses, serve_app
from dealer.web.site import Site, compile_templates, make_app
from dealer.web.slumbot.interface import SlumbotSessions
from dealer.web.visitor import Sessions
from logs.document import Link


def make_server_site(parts: ServerParts) -> Site:
    """Make the site of a server, with its sessions, tables and uploads."""
    web = parts.settings.web
    return Site(
        server=parts,
        sessions=Sessions(parts.store, 86_400 * web.session_days),
        table_manager=TableManager(ServerTableStore(parts), web),
        intake=Intake(parts),
        links=(
            Link("Standings", "/standings"),
            Link("Runs", "/runs"),
            Link("Events", "/events"),
            Link("Play", "/play"),
        ),
        private_links=(Link("Account", "/account"),),
        organiser_links=(Link("Organiser", "/organiser"),),
    )


def server_routes(
    site: Site, parts: ServerParts, slumbot_sessions: SlumbotSessions, counter: HandCounter, metrics: Metrics
) -> list[BaseRoute]:
    """Return the routes of all pages and interfaces; `make_app` adds the static files."""
    library = ServerLibrary(parts)
    assert site.sessions is not None
    assert site.table_manager is not None
    assert site.intake is not None
    return [
        *monitoring.routes(site, parts, metrics),
        *join_socket.routes(site, parts),
        *api.routes(site, parts),
        *play_pages.routes(site, site.table_manager),
        *account.routes(site, parts, site.sessions),
        *team_forms.routes(parts),
        *upload_pages.routes(site, parts, site.intake),
        *bot_pages.routes(site, parts),
        *standings.routes(site, parts, library),
        *event_pages.routes(site, parts),
        *series_pages.routes(site, parts),
        *organiser.routes(site, parts),
        *organiser_acts.routes(site, parts, site.intake),
        *leak_pages.routes(site, library),
        *live.routes(site, library, counter),
        *replay_pages.routes(site, library, counter),
        *slumbot_sessions.routes(),
    ]


@contextlib.asynccontextmanager
async def server_site(parts: ServerParts) -> AsyncIterator[str]:
    """Serve the pages of a server until the end of the block; yield the address for browsers."""
    site = make_server_site(parts)
    compile_templates()
    assert site.table_manager is not None
    assert site.intake is not None
    slumbot_sessions = SlumbotSessions(parts, site.table_manager)
    counter, metrics = HandCounter(), Metrics(parts)
    host, settings = parts.settings.host, parts.settings.web
    routes = server_routes(site, parts, slumbot_sessions, counter, metrics)
    app = metrics.time_requests(make_app(site, routes, settings, is_loopback=parts.settings.is_loopback))
    keeper = asyncio.create_task(slumbot_sessions.keep())
    try:
        async with (
            site.table_manager,
            site.intake.open(),
            serve_app(app, host, settings, busy_s=listener.BUSY_PORT_S) as address,
        ):
            public_address = public_addresses(parts.settings, address)[0].rstrip("/")
            await parts.store.write(partial(write_text, name=TextName.ADDRESS, text=public_address))
            try:
                yield address
            finally:
                site.table_manager.refuse_new()
    finally:
        keeper.cancel()
        counter.close()
        await slumbot_sessions.close()
