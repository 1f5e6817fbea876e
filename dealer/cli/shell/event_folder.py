"""Folder with the results of an event, for any web server.

index.html              the event: ranking, crosstable, contests, entrants
page-2.html             more rows of its tables, 50 on a page
event.json              the same as JSON, as ``GET /api/v1/scheduled-events/NAME``
contests/00000012/      a contest: its page with replays of the biggest pots, and the files of each match
"""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

from dealer.errors import RefusedError
from dealer.reports.run_report import big_pots
from dealer.server.db import records
from dealer.server.db.event_records import EventState, ScheduledEvent
from dealer.server.db.records import Run
from dealer.server.db.store import Store
from dealer.server.event_results import event_detail, event_document, event_standings, played_contests
from dealer.server.resources import removal_sentence
from engine import DealKey
from engine.text import capitalized, shown
from logs.conversion import match_file
from logs.document import CHIPS, CODE, NAME, Column, Document, Fact, Link, Section, Table
from logs.document.page import format_page
from logs.document.paging import document_page, page_count, row_count
from logs.document.plain import json_data
from logs.errors import LogsError
from logs.export import FORMATS
from logs.hand_source import find
from logs.tracker.many_files import count_hands
from protocol.game_definition import short_name


def publish(store: Store, data: Path, event: ScheduledEvent, target: Path) -> int:
    """Write a finished event as pages, JSON, logs and hand histories; return the number of contests.

    Args:
        data: folder of the server.
        target: a new or empty folder.

    Raises:
        RefusedError: the event is not finished, the folder is not empty, or logs have been removed.
        OSError: a file cannot be read or written.
    """
    if event.state is not EventState.FINISHED:
        raise RefusedError(f"the event {event.name} is {event.state} and can be published only when it is finished")
    if target.exists() and not (target.is_dir() and not any(target.iterdir())):
        raise RefusedError(f"{target} is not an empty folder; name another one")
    detail = event_detail(store, event)
    if event.definition and not event.standings:
        detail = replace(detail, standings=event_standings(event, played_contests(store, event)))
    played = [contest.run for contest in detail.contests if contest.run is not None and contest.run.results]
    for run in played:
        if removed := removal_sentence(data / run.folder):
            raise RefusedError(f"run {run.id}: {removed}")
    for run in played:
        _publish_contest(store, data / run.folder, run, target / _contest_folder(run))
    document = event_document(store, detail, lambda run: f"{_contest_folder(run)}/index.html")
    target.mkdir(parents=True, exist_ok=True)
    (target / "event.json").write_text(json.dumps(json_data(document), indent=2) + "\n", "utf-8")
    write_pages(document, target)
    return len(played)


def write_pages(document: Document, folder: Path) -> None:
    """Write ``index.html`` and, if a table is long, ``page-2.html`` and so on, each with links to the others."""
    last = page_count(row_count(document))
    for page in range(1, last + 1):
        links = [Link(number, _page_name(number)) for number in range(1, last + 1) if number != page]
        facts = (*document.facts, *([Fact(f"page {page} of {last}, others", tuple(links), NAME)] if links else []))
        text = format_page(replace(document_page(document, page), facts=facts))
        (folder / _page_name(page)).write_text(text, "utf-8")


def _page_name(page: int) -> str:
    return "index.html" if page == 1 else f"page-{page}.html"


def _contest_folder(run: Run) -> str:
    return f"contests/{run.id:08}"


def _publish_contest(store: Store, folder: Path, run: Run, target: Path) -> None:
    target.mkdir(parents=True)
    rows = []
    for match in records.matches(store, run.id):
        log = target / match.log
        shutil.copyfile(folder / match.log, log)
        files = [Link("log", match.log)]
        for format_ in FORMATS.values():
            try:
                texts = list(match_file(str(folder / match.log), format_))
            except LogsError:
                # The format cannot represent this game.
                continue
            name = f"{match.name}{format_.endings[-1]}"
            (target / name).write_text("".join(texts), "utf-8")
            files.append(Link(format_.label, name))
        rows.append((match.name, match.hands, tuple(files)))
    players = [(seat.name, seat.won, seat.chips) for seat in run.results]
    won = Column("won", "+,.0f", "mbb/g", meaning="winnings per hand, with half the 95 % interval")
    replays = big_pots(count_hands(find([folder / match.log for match in records.matches(store, run.id)])))
    sections = (
        Section("Players", (Table.of("Players", (Column("player"), won, Column("chips", CHIPS)), players),)),
        Section("Matches", (Table.of("Matches", (Column("match"), Column("hands", ","), Column("files")), rows),)),
        Section("Biggest pots", tuple(replays)),
    )
    title = " - ".join(shown(seat.name) for seat in run.seats)
    # A bot's name at the beginning is not capitalised.
    begins_with_name = run.cause is not None and run.cause.seat is not None
    assert isinstance(run.seed, DealKey)
    document = Document(
        title,
        (run.reason if begins_with_name else capitalized(run.reason),),
        (
            Fact("event", Link("all contests", "../../index.html"), NAME),
            Fact("game", short_name(run.game), NAME),
            Fact("deals, each in every seating", run.duplicates),
            Fact("key of the cards", run.seed.secret.hex(), CODE),
        ),
        sections,
    )
    (target / "index.html").write_text(format_page(document), "utf-8")
