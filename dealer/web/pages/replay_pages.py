"""Runs, contests, matches and every hand of them: lists, replays step by step, files to take away.

    /runs/RUN                                   its contests, with standings where there are several
    /runs/RUN/contest/CONTEST                   scores, the hands most worth a look, its matches
    /runs/RUN/matches/MATCH                     its hands
    /runs/RUN/matches/MATCH/hands/N?step=S      one hand
    /runs/RUN/matches/MATCH/hands/N/FORMAT      the same as text: acpc, pokerstars, phh, ohh
    /runs/RUN/matches/MATCH/export/FORMAT       all hands in a format; `log` is the log itself

A page is made of values that are read in a worker thread, under the lock of the run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final
from urllib.parse import quote, urlencode

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from dealer.errors import WebError
from dealer.run.results import TournamentResult
from dealer.server.db import records
from dealer.server.db.records import RunState
from dealer.watching import WatchedContest, WatchedMatch
from dealer.web.pages.shown_runs import RUNS_ON_PAGE, HandCounter, Library, ShownRun, read_filters, run_path
from dealer.web.pages.views import (
    contest_document,
    contest_path,
    find_contest,
    find_match,
    hand_cells,
    hand_columns,
    hand_path,
    hero_position,
    match_path,
    read_run,
    read_visible_hand,
    run_document,
    scores_document,
)
from dealer.web.security import parse_number
from dealer.web.site import Site, download, next_page_links
from engine.text import count_of, shown
from logs import format_state_line
from logs.contest_scores import called_pot
from logs.document import CHIPS, NAME, Column, Document, Fact, Link, Section, Table, Value
from logs.errors import LogsError
from logs.export import FORMATS, hand_text, match_texts
from logs.formats.export_format import ExportOptions, file_stem
from logs.hand_view import views_of
from logs.record import HandRecord

_PAGE: Final = 50
_MOST_SEARCHED: Final = 8_000
"""Hands that are looked at for a page of those that are chosen."""
_NOT_PUBLIC: Final = "They are public when their cards are not played any more."


def routes(site: Site, library: Library, counting: HandCounter) -> list[BaseRoute]:
    """The pages of this room."""
    pages, match = _Pages(site, library, counting), "/runs/{run}/matches/{match:path}"
    return [
        Route(f"{match}/hands/{{number:int}}/{{format}}", pages.hand_text),
        Route(f"{match}/hands/{{number:int}}", pages.hand),
        Route(f"{match}/export/{{format}}", pages.export),
        Route(match, pages.match),
        Route("/runs/{run}/contest/{contest:path}", pages.contest),
        Route("/runs/{run}", pages.run),
        Route("/runs", pages.runs),
    ]


@dataclass(frozen=True)
class _Pages:
    site: Site
    library: Library
    counting: HandCounter

    async def runs(self, request: Request) -> Response:
        """All runs, or those that the query chooses, page by page."""
        after, query = request.query_params.get("after", ""), read_filters(request)
        table, following = await run_in_threadpool(self.library.runs, query, after, RUNS_ON_PAGE)
        if len(table.rows) == 1 and not after and self.site.server is None and isinstance(table.rows[0][0], Link):
            return RedirectResponse(table.rows[0][0].path, 302)
        server = self.site.server
        bots = () if server is None else await run_in_threadpool(records.bots, server.store)
        return self.site.document(
            request,
            Document("Runs"),
            "runs.html.jinja",
            table=table,
            nothing=self._no_runs(query, after),
            events="" if after or server is None else f"/live/runs?{urlencode(query)}",
            pages=next_page_links(request, following),
            layout="broad",
            query=query,
            states=list(RunState),
            bots=sorted({bot.name for bot in bots}),
        )

    def _no_runs(self, query: Mapping[str, str], after: str) -> str:
        if query:
            return f"No run matches these choices{' after these' if after else ''}."
        if after:
            return "There are none after these."
        way = "Play one with arena play" if self.site.server is None else "Request a contest on the page Account"
        return f"No run has been played yet. {way}, or look again later."

    async def run(self, request: Request) -> Response:
        """A run; one with a single contest is that contest."""

        def read(found: ShownRun) -> dict[str, Any]:
            run = found.run
            problems = [*map(shown, run.sentences)]
            if len(run.contests) == 1 and not isinstance(run.result, TournamentResult):
                return {**_contest_page(found, run.contests[0]), "problems": problems}
            return {"document": run_document(found), "crumbs": (Link("Runs", "/runs"),), "problems": problems}

        return self.site.document(request, **await read_run(self.library, request, read, self.counting))

    async def contest(self, request: Request) -> Response:
        """A contest of a run."""

        def read(found: ShownRun) -> dict[str, Any]:
            return _contest_page(found, find_contest(found, request.path_params["contest"]))

        return self.site.document(request, **await read_run(self.library, request, read, self.counting))

    async def match(self, request: Request) -> Response:
        """The hands of a match, page by page, all or those that the query chooses."""
        wanted = request.query_params.get("hand", "")
        if (number := parse_number(wanted)) is not None:
            return RedirectResponse(hand_path(request.path_params["run"], request.path_params["match"], number), 302)
        at = parse_number(request.query_params.get("page", "")) or 1
        start = parse_number(request.query_params.get("after", "")) or 0
        winner = request.query_params.get("winner", "")
        pot = parse_number(request.query_params.get("pot", "")) or 0

        def read(found: ShownRun) -> dict[str, Any]:
            contest, match = find_match(found, request.path_params["match"])
            count = found.public_hands(contest, match)
            last = max(1, -(-count // _PAGE))
            page = min(max(at, 1), last)
            here = match_path(found.run.key, match.key)
            formats = ["log", *(format_.name for format_ in FORMATS.values() if _has(format_.check, match))]
            exports = tuple(Link(name, f"{here}/export/{name}") for name in formats) if found.sees_cards else ()
            names = list(map(shown, match.hands.names))
            is_chosen = bool(winner or pot)
            begin = min(start, count) if is_chosen else (page - 1) * _PAGE
            rows, following = _hand_rows(found.run.key, match, begin, count, winner, pot)
            nothing = "There are none." if found.sees_cards else _NOT_PUBLIC
            if is_chosen:
                pages: tuple[Value, ...] = tuple(next_page_links(request, str(following) if following < count else ""))
                nothing = f"No hand of the {following - begin:,} that were looked at matches these choices."
            else:
                earlier = (Link("First", "?page=1"), Link("Earlier", f"?page={page - 1}")) if page > 1 else ()
                later = (Link("Later", f"?page={page + 1}"), Link("Last", f"?page={last}")) if page < last else ()
                pages = (*earlier, f"page {page} of {last}", *later) if last > 1 else ()
            return {
                "document": Document(
                    shown(match.key),
                    (f"{', '.join(names)}: {count_of(count, 'hand')}.",) if count else (f"{', '.join(names)}.",),
                    (Fact("take away", exports, NAME),) if exports else (),
                ),
                "template": "match.html.jinja",
                "crumbs": _crumbs(found, contest),
                "pages": pages,
                "here": here,
                "is_over": found.run.is_over,
                "hands": _hands_table(match.hands.names, rows),
                "names": names,
                "winner": winner,
                "pot": pot or "",
                "nothing": nothing,
                "has_hands": count > 0,
                "layout": "broad",
            }

        return self.site.document(request, **await read_run(self.library, request, read))

    async def hand(self, request: Request) -> Response:
        """One hand, moment by moment."""
        number, asked = request.path_params["number"], parse_number(request.query_params.get("step", "")) or 0

        def read(found: ShownRun) -> dict[str, Any]:
            contest, match = find_match(found, request.path_params["match"])
            record = read_visible_hand(found, contest, match, number)
            before, after = match.hands.around(number)
            scenes = views_of(record)
            run = found.run.key
            others = _others_table(run, contest, match, number)
            same = "The same deal in other seatings"
            return {
                "document": Document(f"Hand {number}", sections=(Section(same, (others,)),) if others.rows else ()),
                "template": "hand.html.jinja",
                "crumbs": (*_crumbs(found, contest), Link(match.name, match_path(run, match.key))),
                "scenes": scenes,
                "hero": hero_position(scenes[0], match),
                "holes": record.game.num_hole_cards,
                "step": min(asked, len(scenes) - 1),
                "before": None if before is None else Link(before, hand_path(run, match.key, before)),
                "after": None if after is None else Link(after, hand_path(run, match.key, after)),
                "here": hand_path(run, match.key, number),
                "texts": _texts(record, match),
            }

        return self.site.document(request, **await read_run(self.library, request, read))

    async def hand_text(self, request: Request) -> Response:
        """A hand as text."""
        number, wanted = request.path_params["number"], request.path_params["format"]

        def read(found: ShownRun) -> str:
            contest, match = find_match(found, request.path_params["match"])
            record = read_visible_hand(found, contest, match, number)
            text = dict(_texts(record, match)).get(wanted)
            if text is None:
                raise WebError(404, "This hand cannot be had in that format.")
            return text

        return PlainTextResponse(await read_run(self.library, request, read))

    async def export(self, request: Request) -> Response:
        """All hands of a match as a file."""
        wanted = request.path_params["format"]

        def read(found: ShownRun) -> Response:
            _, match = find_match(found, request.path_params["match"])
            if not found.sees_cards:
                raise WebError(403, "The files of a run can be had once it is over.")
            if wanted == "log":
                return FileResponse(match.path, filename=f"{file_stem(match.name)}.log", media_type="text/plain")
            format_ = FORMATS.get(wanted)
            if format_ is None or not _has(format_.check, match):
                raise WebError(404, "The hands of this match cannot be had in that format.")
            name = file_stem(match.name) + format_.endings[-1]

            def records() -> Iterator[HandRecord]:
                for start in range(0, match.hands.count, _PAGE):
                    for number in match.hands.page(start, _PAGE):
                        with suppress(LogsError):
                            yield match.hands.hand(number)

            return download(match_texts(format_, records(), ExportOptions(seed=match.hands.seed)), name)

        return await read_run(self.library, request, read)


def _crumbs(found: ShownRun, contest: WatchedContest) -> tuple[Link, ...]:
    run = found.run.key
    of_contest = (Link(contest.key, contest_path(run, contest.key)),) if contest.key else ()
    return Link("Runs", "/runs"), Link(run, run_path(run)), *of_contest


def _contest_page(found: ShownRun, contest: WatchedContest) -> dict[str, Any]:
    run = found.run
    goes_on = not run.is_over or contest.scores.waiting(contest.hands)
    return {
        "document": contest_document(found, contest),
        "template": "contest.html.jinja",
        "crumbs": (*_crumbs(found, contest)[: 2 if contest.key else 1], contest.key or run.key),
        "scores": scores_document(found, contest),
        "layout": "broad paired",
        "events": f"{run_path(run.key)}/contest-events/{quote(contest.key, safe='/')}" if goes_on else "",
    }


def _hands_table(names: Sequence[str], rows: Sequence[tuple[Value, ...]]) -> Table:
    first, *others = (Column(f"{shown(name)} won", CHIPS) for name in names)
    columns = (Column("hand", ","), Column("pot", ",", "chips"), first, *hand_columns(names), *others, Column(""))
    return Table.of("Hands", columns, rows).without_empty()


def _hand_rows(
    run: str, match: WatchedMatch, start: int, count: int, winner: str, least_pot: int
) -> tuple[list[tuple[Value, ...]], int]:
    """A page of hands from a place on with their cards, and the place after the last that was looked at.

    Args:
        count: the places of the match.
        winner: who has won most; empty for anybody.
        least_pot: chips in the pot.
    """
    names, rows, place = match.hands.names, list[tuple[Value, ...]](), start
    winners = [name for name in names if shown(name) == winner]
    end = min(count, start + _MOST_SEARCHED)
    for hand in islice(match.hands.summaries(start), end - start):
        if len(rows) == _PAGE:
            break
        place += 1
        values = dict(zip(hand.names, hand.values, strict=True))
        most = max(hand.values, default=None)
        if (winner and all(values.get(name) != most for name in winners)) or hand.most_pot < least_pot:
            continue
        record = None
        with suppress(LogsError):
            record = match.hands.hand(hand.number)
        pot = None if record is None else called_pot(record)
        if (pot or 0) < least_pot:
            continue
        link = Link(hand.number, hand_path(run, match.key, hand.number))
        damage = "its line is damaged" if record is None else ""
        first, *others = map(values.get, names)
        rows.append((link, pot, first, *hand_cells(record, names), *others, damage))
    return rows, place


def _has(check: Callable[..., object], match: WatchedMatch) -> bool:
    try:
        check(match.hands.game)
    except LogsError:
        return False
    return True


def _texts(record: HandRecord, match: WatchedMatch) -> list[tuple[str, str]]:
    """A hand in each format that has it, by the format's name."""
    first = match.hands.hand(match.hands.page(0, 1)[0])
    options = ExportOptions(seed=match.hands.seed)
    found = [("acpc", _escape_lines(format_state_line(record)))]
    for format_ in FORMATS.values():
        try:
            found.append((format_.name, _escape_lines(hand_text(format_, record, first, options))))
        except LogsError:
            continue
    return found


def _escape_lines(text: str) -> str:
    """Lines of text for people, with their ends."""
    return "\n".join(map(shown, text.replace("\r\n", "\n").split("\n")))


def _others_table(run: str, contest: WatchedContest, match: WatchedMatch, number: int) -> Table:
    """The net chips of each player in the same deal in other seatings."""
    same = next((names for names in contest.seatings if match.name in names), ())
    rows = []
    for name in () if contest.has_own_cards else same:
        other = contest.matches.get(name)
        if other is not None and other is not match:
            values: dict[str, float] = {}
            with suppress(LogsError):
                record = other.hands.hand(number)
                values = dict(zip(record.names, record.values, strict=True))
            link = Link(name, hand_path(run, other.key, number))
            rows.append((link, *(values.get(player) for player in match.hands.names)))
    return Table.of("Net chips", ("match", *(Column(shown(player), CHIPS) for player in match.hands.names)), rows)
