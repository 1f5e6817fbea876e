"""Health, metrics and results of a server, for programs of its organisers.

/healthz         200 if database, disk and scheduler work, else 503 with the reason
/metrics         counts and times in Prometheus' text format, for the addresses of `metrics_from`
/results.atom    last results as an Atom feed (RFC 4287)
"""

from __future__ import annotations

import asyncio
import ipaddress
import os
import sqlite3
import time
from collections.abc import Iterable
from importlib.metadata import version
from typing import Final

from prometheus_client import CollectorRegistry, Histogram, ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import generate_latest
from prometheus_client.registry import Collector
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dealer.errors import StoreError, WebError
from dealer.server.db import records
from dealer.server.db.records import RunState
from dealer.server.resources import free_bytes
from dealer.server.server import ServerParts
from dealer.web.site import Site, templates
from dealer.web.visitor import get_visitor

_RESULTS: Final = 30
_METRICS_TYPE: Final = "text/plain; version=0.0.4"
_PATIENCE_S: Final = 5.0
_BUCKETS_S: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
_PROGRAM_PATHS: Final = ("api", "slumbot", "static")


async def find_health_problem(server: ServerParts) -> str:
    """Return a sentence about what keeps a server from starting runs, or an empty text."""
    try:
        async with asyncio.timeout(_PATIENCE_S):
            await run_in_threadpool(records.counts, server.store)
            await server.store.write(lambda db: None)
    except TimeoutError:
        return f"The database has not answered within {_PATIENCE_S:g} seconds."
    except (StoreError, sqlite3.Error):
        return "The database cannot be read or written."
    if not server.service.disk.has_space:
        return "The disk has less free space than least_free_mb."
    if broken := server.service.broken:
        return f"The scheduler has stopped the work on {', '.join(broken)} after an error. See the log and restart it."
    return ""


class Metrics(Collector):
    """Metrics of a server, for Prometheus."""

    def __init__(self, server: ServerParts) -> None:
        self._server = server
        self._registry = CollectorRegistry()
        self._registry.register(self)
        ProcessCollector(registry=self._registry)
        self._seconds = Histogram(
            "arena_request_seconds",
            "Seconds until a response begins.",
            ("kind", "status"),
            registry=self._registry,
            buckets=_BUCKETS_S,
        )

    def text(self) -> bytes:
        """Format all metrics."""
        return generate_latest(self._registry)

    def time_requests(self, app: ASGIApp) -> ASGIApp:
        """Wrap an application and measure its response times."""

        async def timed(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] != "http":
                await app(scope, receive, send)
                return
            began_s = time.perf_counter()
            first_segment = scope["path"].removeprefix("/").split("/", 1)[0]
            kind = first_segment if first_segment in _PROGRAM_PATHS else "page"

            async def observe(message: Message) -> None:
                if message["type"] == "http.response.start":
                    status = f"{message['status'] // 100}xx"
                    self._seconds.labels(kind, status).observe(time.perf_counter() - began_s)
                await send(message)

            await app(scope, receive, observe)

        return timed

    def collect(self) -> Iterable[Metric]:
        """Read the current counts of the server; the registry calls this for every scrape."""
        server = self._server
        service = server.service
        counts = records.counts(server.store)
        info = GaugeMetricFamily("arena_info", "Version of the server.", labels=("version",))
        info.add_metric((version("acpc-arena"),), 1)
        runs = GaugeMetricFamily("arena_runs", "Runs by state.", labels=("state",))
        for state, count in records.runs_by_state(server.store).items():
            runs.add_metric((state.value,), count)
        yield info
        yield runs
        yield CounterMetricFamily("arena_errors", "Errors in the log since the start.", server.errors.errors)
        for name, description, value in (
            ("requests_open", "Requests with unfinished runs.", counts["requests_open"]),
            ("matches_playing", "Running matches, each in a worker process.", service.queue.matches_played),
            ("workers", "Processor cores, the number of workers that play at full speed.", os.cpu_count() or 1),
            ("hands_per_second", "Sum of the average speeds of running runs.", hands_per_second(server)),
            ("faults", "Faults of bots in all runs.", counts["faults"]),
            ("users", "Users.", counts["users"]),
            ("bots_connected", "Connected bots of users.", len(service.presence.bots)),
            ("database_bytes", "Size of the database.", database_bytes(server)),
            ("disk_free_bytes", "Free space for runs.", free_bytes(server.folder)),
        ):
            yield GaugeMetricFamily(f"arena_{name}", description, value)


def hands_per_second(server: ServerParts) -> float:
    """Return the sum of the speeds of all running runs."""
    return sum(progress.hands_per_second for progress in server.service.queue.progress().values())


def database_bytes(server: ServerParts) -> int:
    """Return the size of the database with its journal."""
    path = server.store.path
    return sum(file.stat().st_size for file in path.parent.glob(f"{path.name}*"))


def routes(site: Site, server: ServerParts, metrics: Metrics) -> list[BaseRoute]:
    """Return the routes of health, metrics and results."""

    async def health(request: Request) -> Response:
        problem = await find_health_problem(server)
        return PlainTextResponse(f"{problem or 'ok'}\n", 503 if problem else 200)

    async def send_metrics(request: Request) -> Response:
        address = ipaddress.ip_address(get_visitor(request).address)
        if not any(address in ipaddress.ip_network(network) for network in server.settings.web.metrics_from):
            raise WebError(403, "Metrics are for the addresses of the setting metrics_from only.")
        return Response(await run_in_threadpool(metrics.text), media_type=_METRICS_TYPE)

    async def results(request: Request) -> Response:
        runs = await run_in_threadpool(records.runs, server.store, state=RunState.FINISHED, limit=_RESULTS)
        template = templates().get_template("results.atom.jinja")
        text = template.render(site=site, runs=runs, base=str(request.base_url).rstrip("/"))
        return Response(text, media_type="application/atom+xml")

    return [Route("/healthz", health), Route("/metrics", send_metrics), Route("/results.atom", results)]
