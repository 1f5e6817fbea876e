"""What organisers watch a server with: its health, its metrics, a feed of its results.

/healthz         200 while runs can be started, else 503 with the reason
/metrics         counts in the text format of Prometheus, for the addresses of `metrics_from`
/results.atom    the last results as an Atom feed (RFC 4287)
"""

from __future__ import annotations

import ipaddress
import sqlite3
from collections.abc import Iterator, Mapping
from datetime import datetime
from importlib.metadata import version
from typing import Final
from urllib.parse import urljoin
from xml.etree import ElementTree

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from dealer.errors import StoreError, WebError
from dealer.server.db import records
from dealer.server.db.records import RunState
from dealer.server.resources import free_bytes
from dealer.server.server import ServerParts
from dealer.web.library import run_path
from dealer.web.site import Site
from dealer.web.visitor import visitor_of
from engine.text import shown
from logs.document import text_of
from protocol.game_definition import short_name

_RESULTS: Final = 30
_METRICS_TYPE: Final = "text/plain; version=0.0.4"
_ATOM: Final = "http://www.w3.org/2005/Atom"


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
        text = await run_in_threadpool(_feed, site.name, server, str(request.base_url))
        return Response(text, media_type="application/atom+xml")

    return [Route("/healthz", health), Route("/metrics", metrics), Route("/results.atom", results)]


def _metrics(server: ServerParts) -> Iterator[str]:
    counts = records.counts(server.store)
    service = server.service
    yield from _gauge("info", "The version of the server.", {"version": version("acpc-arena")}, 1)
    yield from _gauges("runs", "Runs by state.", "state", counts.runs)
    yield from _gauge("requests_open", "Requests of which something is left to play.", {}, counts.open_jobs)
    yield from _gauge("faults", "Faults of bots in all runs.", {}, counts.faults)
    yield from _gauge("users", "Users.", {}, counts.users)
    yield from _gauge("bots_connected", "Connected bots of users.", {}, len(service.connected_bots.bots))
    yield from _gauge("matches_playing", "Requests that are being played.", {}, len(service.active()))
    yield from _gauge("disk_free_bytes", "Free space for runs.", {}, free_bytes(server.folder))


def _gauge(name: str, words: str, labels: Mapping[str, str], value: float) -> Iterator[str]:
    listed = ",".join(f'{label}="{word}"' for label, word in labels.items())
    yield from _head(name, words)
    yield f"arena_{name}{f'{{{listed}}}' if listed else ''} {value}"


def _gauges(name: str, words: str, label: str, values: Mapping[str, int]) -> Iterator[str]:
    yield from _head(name, words)
    for word, value in values.items():
        yield f'arena_{name}{{{label}="{word}"}} {value}'


def _head(name: str, words: str) -> Iterator[str]:
    yield f"# HELP arena_{name} {words}"
    yield f"# TYPE arena_{name} gauge"


def _feed(name: str, server: ServerParts, base: str) -> bytes:
    """The last results, the newest first."""
    runs = records.runs(server.store, state=RunState.FINISHED, most=_RESULTS)
    feed = ElementTree.Element("feed", xmlns=_ATOM)
    _add(feed, "title", f"{name}: results")
    _add(feed, "id", urljoin(base, "/results.atom"))
    _add(feed, "updated", max((_ended(run) for run in runs), default="1970-01-01T00:00:00+00:00"))
    ElementTree.SubElement(feed, "link", rel="self", href=urljoin(base, "/results.atom"))
    for run in runs:
        entry, address = ElementTree.SubElement(feed, "entry"), urljoin(base, run_path(str(run.id)))
        players = ", ".join(f"{shown(seat.name)} {text_of(seat.estimate, '+,.0f')}" for seat in run.seats)
        _add(entry, "title", f"{short_name(run.game)}: {players}")
        _add(entry, "id", address)
        _add(entry, "updated", _ended(run))
        _add(ElementTree.SubElement(entry, "author"), "name", name)
        ElementTree.SubElement(entry, "link", href=address)
        if run.duplicates:
            _add(entry, "summary", f"Winnings in mbb/g with 95 % intervals after {run.duplicates:,} deals.")
    text: bytes = ElementTree.tostring(feed, "utf-8", xml_declaration=True)
    return text


def _ended(run: records.Run) -> str:
    ended: datetime | None = run.ended_at
    assert ended is not None, "a finished run has ended"
    return ended.isoformat(timespec="seconds")


def _add(parent: ElementTree.Element, tag: str, text: str) -> None:
    ElementTree.SubElement(parent, tag).text = text
