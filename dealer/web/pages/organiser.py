"""The page of those who run a server: its state, its queue, the faults of bots, the last errors, who changed what.

/organiser              the page
/organiser/changes      all changes, the latest first

For visitors who have logged in with a token for admins. It shows no seeds, no cards and no lines of bots.
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

from dealer.errors import WebError
from dealer.server.db import records
from dealer.server.db.audit import changes
from dealer.server.queue.jobs import ActiveJob
from dealer.server.resources import free_bytes
from dealer.server.server import ServerParts
from dealer.web.pages.monitoring import database_bytes, hands_per_second, health_problem
from dealer.web.pages.shown_runs import bot_path, run_path
from dealer.web.security import parse_number
from dealer.web.site import Site, next_page_links
from dealer.web.visitor import get_visitor, require_user
from engine.text import count_of
from logs.document import DATE, DURATION, NAME, TEXT, Column, Document, Fact, Link, Part, Section, Table, Tone, Toned
from protocol.game_definition import short_name

_MOST_JOBS = 50
_MOST_FAULTS = 30
_MOST_CHANGES = 20
_CHANGES_OF_A_PAGE = 100
_PATH = "/organiser"


def routes(site: Site, server: ServerParts) -> list[BaseRoute]:
    """The addresses of these pages."""

    def check(request: Request) -> None:
        require_user(request)
        if not get_visitor(request).is_organiser:
            raise WebError(403, "This page is for organisers: log in with a token for admins in place of the password.")

    async def show(request: Request) -> Response:
        check(request)
        problem = await health_problem(server)
        document = await run_in_threadpool(_document, server)
        return site.document(request, document, problems=[problem] if problem else [])

    async def show_changes(request: Request) -> Response:
        check(request)
        before = parse_number(request.query_params.get("after", ""))
        found = await run_in_threadpool(changes, server.store, before=before, limit=_CHANGES_OF_A_PAGE + 1)
        shown = found[:_CHANGES_OF_A_PAGE]
        document = Document("All changes", (), (), (Section("All changes", (_changes_part(shown),)),))
        pages = next_page_links(request, str(shown[-1]["id"]) if len(found) > len(shown) else "")
        return site.document(request, document, crumbs=(Link("Organiser", _PATH),), pages=pages)

    return [Route(_PATH, show), Route(f"{_PATH}/changes", show_changes)]


def _document(server: ServerParts) -> Document:
    service = server.service
    jobs, counts = service.queue.active(), records.counts(server.store)
    free, least = free_bytes(server.folder) / 1e9, server.settings.least_free_mb / 1e3
    facts = (
        Fact("matches being played", service.queue.matches_played),
        Fact("processor cores", os.cpu_count() or 1),
        Fact("hands per second", hands_per_second(server), ",.0f"),
        Fact("requests waiting", sum(not job.is_running for job in jobs)),
        Fact("connected bots", len(service.presence.bots)),
        Fact("users", counts["users"]),
        Fact("disk free", free, ",.1f", f"GB; nothing is begun below {least:,.1f} GB"),
        Fact("database", database_bytes(server) / 1e6, ",.1f", "MB"),
        Fact("errors since the start", server.errors.errors),
        Fact("all changes", Link("page by page", f"{_PATH}/changes"), NAME),
    )
    sections = (
        Section("Queue", (_queue_part(jobs),)),
        Section("Faults by bot", (_faults_part(server),)),
        Section("Last warnings and errors", (_errors_part(server),)),
        Section("Changes", (_changes_part(changes(server.store, limit=_MOST_CHANGES)),)),
    )
    return Document("Organiser", (), facts, sections)


def _queue_part(jobs: list[ActiveJob]) -> Part:
    rows = []
    for job in jobs[:_MOST_JOBS]:
        run = None if job.run is None else Link(job.run.id, run_path(str(job.run.id)))
        progress, waits_s = job.progress, max(0.0, time.time() - job.row.submitted_s)
        done = "" if progress is None else f", {progress.hands:,} of {count_of(progress.hands_planned, 'hand')}"
        state = Toned(f"being played{done}", Tone.GOOD) if job.is_running else "waiting"
        players = ", ".join(job.row.players)
        rows.append((job.row.id, state, run, players, short_name(job.row.game), job.row.user.name, waits_s))
    columns = (
        "request",
        Column("state"),
        Column("run"),
        Column("players"),
        Column("game"),
        Column("user"),
        Column("asked for", DURATION, "ago"),
    )
    note = f"The first {_MOST_JOBS} of {len(jobs):,}." if len(jobs) > _MOST_JOBS else ""
    return Table.of("Queue", columns, rows, note=note) if rows else "Nothing is being played, and nothing waits."


def _faults_part(server: ServerParts) -> Part:
    rows = [
        (
            Link(bot.name, bot_path(bot)),
            kind,
            count,
            Link(run, run_path(str(run))),
            short_name(bot.game),
            bot.number,
            "the server" if bot.owner is None else bot.owner.name,
        )
        for bot, kind, count, run in records.faults_by_bot(server.store, _MOST_FAULTS)
    ]
    columns = (
        "bot",
        Column("fault"),
        Column("times", ","),
        Column("last run"),
        Column("game"),
        Column("version"),
        Column("owner"),
    )
    note = f"Of the last {records.LAST_FAULTS:,} faults."
    return Table.of("Faults by bot", columns, rows, note=note) if rows else "No bot has made a fault."


def _errors_part(server: ServerParts) -> Part:
    rows = []
    for record in reversed(server.errors.last):
        word, tone = ("error", Tone.BAD) if record.levelno >= logging.ERROR else ("warning", Tone.DOUBTFUL)
        rows.append((word, Toned(record.getMessage(), tone), record.created))
    columns = ("what", Column("words", TEXT), Column("when", DATE, "UTC"))
    return Table.of("Last warnings and errors", columns, rows) if rows else "None since the start."


def _changes_part(found: Sequence[sqlite3.Row]) -> Part:
    rows = [(change["made_s"], f"{change['who']}: {change['what']}") for change in found]
    columns = (Column("when", DATE, "UTC"), Column("who and what", TEXT))
    return Table.of("Changes", columns, rows) if rows else "Nothing was changed yet."
