"""Pages for organisers, with the state of the server, its queue, faults of bots, errors and changes.

    /organiser              overview
    /organiser/changes      all changes, the latest first

They need a login with an admin token, and show no seeds, no cards and no lines of bots.
"""

from __future__ import annotations

import logging
import os
import sqlite3
import time
from collections.abc import Sequence

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from dealer.server.db import records
from dealer.server.db.audit import changes
from dealer.server.queue.jobs import ActiveJob
from dealer.server.resources import free_bytes
from dealer.server.server import ServerParts
from dealer.web.pages.monitoring import database_bytes, find_health_problem, hands_per_second
from dealer.web.pages.organiser_acts import PATH, TABS
from dealer.web.pages.shown_runs import bot_path, run_path
from dealer.web.security import parse_number
from dealer.web.site import Site, next_page_links, read_rows
from dealer.web.visitor import require_organiser
from engine.text import count_of
from logs.document import DATE, DURATION, TEXT, Column, Document, Fact, Link, Part, Section, Table, Tone, Toned
from protocol.game_definition import short_name

_JOBS_SHOWN = 50
_FAULTS_SHOWN = 30
_CHANGES_SHOWN = 20


def routes(site: Site, server: ServerParts) -> list[BaseRoute]:
    """Return the routes of these pages."""

    async def show_overview(request: Request) -> Response:
        require_organiser(request)
        problem = await find_health_problem(server)
        document = await run_in_threadpool(_document, server)
        return site.document(
            request,
            document,
            "organiser.html.jinja",
            tabs=TABS,
            tabs_label="Organiser",
            problems=[problem] if problem else [],
            jobs=server.service.queue.active()[:_JOBS_SHOWN],
        )

    async def show_changes(request: Request) -> Response:
        require_organiser(request)
        before = parse_number(request.query_params.get("after", ""))
        page, following = await run_in_threadpool(
            read_rows, lambda limit: changes(server.store, before=before, limit=limit), lambda change: change["id"]
        )
        document = Document("All changes", (), (), (Section("All changes", (_changes_part(page),)),))
        pages = next_page_links(request, following)
        return site.document(request, document, tabs=TABS, tabs_label="Organiser", pages=pages)

    return [Route(PATH, show_overview), Route(f"{PATH}/changes", show_changes)]


def _document(server: ServerParts) -> Document:
    service = server.service
    jobs = service.queue.active()
    counts = records.counts(server.store)
    free_gb = free_bytes(server.folder) / 1e9
    min_free_gb = server.settings.least_free_mb / 1e3
    facts = (
        Fact("running matches", service.queue.matches_played),
        Fact("processor cores", os.cpu_count() or 1),
        Fact("hands per second", hands_per_second(server), ",.0f"),
        Fact("waiting requests", len([job for job in jobs if not job.is_running])),
        Fact("connected bots", len(service.presence.bots)),
        Fact("users", counts["users"]),
        Fact("free disk space", free_gb, ",.1f", f"GB; no run starts below {min_free_gb:,.1f} GB"),
        Fact("database", database_bytes(server) / 1e6, ",.1f", "MB"),
        Fact("errors since the start", server.errors.errors),
    )
    sections = (
        Section("Queue", (_queue_part(jobs),)),
        Section("Faults by bot", (_faults_part(server),)),
        Section("Last warnings and errors", (_errors_part(server),)),
        Section("Changes", (_changes_part(changes(server.store, limit=_CHANGES_SHOWN)),)),
    )
    return Document("Organiser", (), facts, sections)


def _queue_part(jobs: list[ActiveJob]) -> Part:
    if not jobs:
        return "The queue is empty."
    rows = []
    for job in jobs[:_JOBS_SHOWN]:
        run = None if job.run is None else Link(job.run.id, run_path(str(job.run.id)))
        state: str | Toned = "waiting"
        if job.is_running:
            state = Toned(_describe_progress(job), Tone.GOOD)
        age_s = max(0.0, time.time() - job.row.submitted_s)
        players = ", ".join(job.row.players)
        rows.append((job.row.id, state, run, players, short_name(job.row.game), job.row.user.name, age_s))
    columns = (
        "request",
        Column("state"),
        Column("run"),
        Column("players"),
        Column("game"),
        Column("user"),
        Column("submitted", DURATION, "ago"),
    )
    note = f"The first {_JOBS_SHOWN} of {len(jobs):,}." if len(jobs) > _JOBS_SHOWN else ""
    return Table.of("Queue", columns, rows, note=note)


def _describe_progress(job: ActiveJob) -> str:
    if job.progress is None:
        return "running"
    return f"running, {job.progress.hands:,} of {count_of(job.progress.hands_planned, 'hand')}"


def _faults_part(server: ServerParts) -> Part:
    rows = []
    for bot, kind, count, run in records.faults_by_bot(server.store, _FAULTS_SHOWN):
        bot_link = Link(bot.name, bot_path(bot))
        run_link = Link(run, run_path(str(run)))
        owner = "the server" if bot.owner is None else bot.owner.name
        rows.append((bot_link, kind, count, run_link, short_name(bot.game), bot.number, owner))
    if not rows:
        return "There are no faults."
    columns = (
        "bot",
        Column("fault"),
        Column("times", ","),
        Column("last run"),
        Column("game"),
        Column("version"),
        Column("owner"),
    )
    note = f"Counted over the last {records.LAST_FAULTS:,} faults."
    return Table.of("Faults by bot", columns, rows, note=note)


def _errors_part(server: ServerParts) -> Part:
    rows = []
    for record in reversed(server.errors.last):
        if record.levelno >= logging.ERROR:
            level, tone = "error", Tone.BAD
        else:
            level, tone = "warning", Tone.DOUBTFUL
        rows.append((level, Toned(record.getMessage(), tone), record.created))
    columns = ("level", Column("message", TEXT), Column("when", DATE, "UTC"))
    return Table.of("Last warnings and errors", columns, rows) if rows else "None since the start."


def _changes_part(changes: Sequence[sqlite3.Row]) -> Part:
    rows = [(change["made_s"], f"{change['who']}: {change['what']}") for change in changes]
    columns = (Column("when", DATE, "UTC"), Column("change", TEXT))
    return Table.of("Changes", columns, rows) if rows else "There are no changes yet."
