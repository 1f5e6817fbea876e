"""What organisers watch a server with: its health, its metrics, a feed of its results.

/healthz         200 while runs can be started, else 503 with the reason
/metrics         counts in the text format of Prometheus, for the addresses of `metrics_from`
/results.atom    the last results as an Atom feed (RFC 4287)
"""

from __future__ import annotations

import ipaddress
import sqlite3
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from typing import Final

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from dealer.errors import StoreError, WebError
from dealer.server.db import records
from dealer.server.db.records import RunState
from dealer.server.resources import free_bytes
from dealer.server.server import ServerParts
from dealer.web.site import Site, templates
from dealer.web.visitor import visitor_of

_RESULTS: Final = 30
_METRICS_TYPE: Final = "text/plain; version=0.0.4"


def routes(site: Site, server: ServerParts) -> list[BaseRoute]:
    """The addresses of these answers."""

    async def health(request: Request) -> Response:
        try:
            await run_in_threadpool(records.counts, server.store)
        except (StoreError, sqlite3.Error):
            return PlainTextResponse("The database cannot be read.\n", 503)
        if not server.service.has_room:
            return PlainTextResponse("The disk is full: less than least_free_mb is free.\n", 503)
        return PlainTextResponse("ok\n")

    async def metrics(request: Request) -> Response:
        address = ipaddress.ip_address(visitor_of(request).address)
        if not any(address in ipaddress.ip_network(network) for network in server.settings.web.metrics_from):
            raise WebError(403, "Metrics are for the addresses of the setting metrics_from.")
        text = "".join(f"{line}\n" for line in await run_in_threadpool(_metrics, server))
        return PlainTextResponse(text, media_type=_METRICS_TYPE)

    async def results(request: Request) -> Response:
        runs = await run_in_threadpool(records.runs, server.store, state=RunState.FINISHED, most=_RESULTS)
        template = templates().get_template("results.atom.jinja")
        text = template.render(site=site, runs=runs, base=str(request.base_url).rstrip("/"))
        return Response(text, media_type="application/atom+xml")

    return [Route("/healthz", health), Route("/metrics", metrics), Route("/results.atom", results)]


def _metrics(server: ServerParts) -> Iterator[str]:
    counts, states, service = records.counts(server.store), records.runs_by_state(server.store), server.service
    gauges: tuple[tuple[str, str, Mapping[str, float]], ...] = (
        ("info", "The version of the server.", {f'{{version="{version("acpc-arena")}"}}': 1}),
        (
            "runs",
            "Runs by state.",
            {f'{{state="{state}"}}': count for state, count in states.items()},
        ),
        ("requests_open", "Requests of which something is left to play.", {"": counts["requests_open"]}),
        ("faults", "Faults of bots in all runs.", {"": counts["faults"]}),
        ("users", "Users.", {"": counts["users"]}),
        ("bots_connected", "Connected bots of users.", {"": len(service.connected_bots.bots)}),
        ("matches_playing", "Requests that are being played.", {"": len(service.active())}),
        ("disk_free_bytes", "Free space for runs.", {"": free_bytes(server.folder)}),
    )
    for name, words, values in gauges:
        yield f"# HELP arena_{name} {words}"
        yield f"# TYPE arena_{name} gauge"
        yield from (f"arena_{name}{label} {value}" for label, value in values.items())
