"""Pages of runs, contests, matches and single hands, with exports.

    /runs/RUN                                   contests and standings of a run
    /runs/RUN/contest/CONTEST                   scores, notable hands and matches of a contest
    /runs/RUN/matches/MATCH                     hands of a match
    /runs/RUN/matches/MATCH/hands/N?step=S      replay of a hand
    /runs/RUN/matches/MATCH/hands/N/FORMAT      a hand as text, in acpc, pokerstars, phh or ohh
    /runs/RUN/matches/MATCH/export/FORMAT       all hands in a format, or the log itself

Pages are made from values that `read_run` reads in a worker thread, under the lock of the run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
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
from dealer.web.pages.model_exchanges import as_comments, exchanges_of_hand
from dealer.web.pages.shown_runs import HandCounter, Library, ShownRun, read_filters, run_path
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
from dealer.web.site import Site, download, next_page_links, page_links, read_page
from engine.text import count_of, shown
from logs import format_state_line
from logs.contest_scores import called_pot
from logs.document import CHIPS, NAME, Column, Document, Fact, Link, Section, Table, Value
from logs.document.paging import ROWS_ON_PAGE
from logs.errors import LogsError
from logs.export import FORMATS, hand_text, match_texts
from logs.formats.export_format import ExportOptions, file_stem
from logs.hand_view import views_of
from logs.record import HandRecord

_MAX_SEARCHED: Final = 8_000
"""Maximum number of hands that are searched for a page of matching ones."""
_NOT_PUBLIC: Final = "The hands become visible when their cards are no longer in play."


def routes(site: Site, library: Library, counter: HandCounter) -> list[BaseRoute]:
    """Return the routes of these pages."""
    pages = _Pages(site, library, counter)
    match = "/runs/{run}/matches/{match:path}"
    # A match can contain slashes, so the longer paths come first.
    return [
        Route(f"{match}/hands/{{number:int}}/{{format}}", pages.send_hand_text),
        Route(f"{match}/hands/{{number:int}}", pages.show_hand),
        Route(f"{match}/export/{{format}}", pages.export),
        Route(match, pages.show_match),
        Route("/runs/{run}/contest/{contest:path}", pages.show_contest),
        Route("/runs/{run}", pages.show_run),
        Route("/runs", pages.show_runs),
    ]


@dataclass(frozen=True)
class _Pages:
    site: Site
    library: Library
    counter: HandCounter

    async def show_runs(self, request: Request) -> Response:
        """Show a page of the runs that match the query."""
        after = request.query_params.get("after", "")
        filters = read_filters(request)
        table, following = await run_in_threadpool(self.library.runs, filters, after, ROWS_ON_PAGE)
        server = self.site.server
        if server is None and len(table.rows) == 1 and not after:
            link = table.rows[0][0]
            if isinstance(link, Link):
                return RedirectResponse(link.path, 302)
        bots = () if server is None else await run_in_threadpool(records.bots, server.store)
        return self.site.document(
            request,
            Document("Runs"),
            "runs.html.jinja",
            table=table,
            nothing=self._explain_no_runs(filters, after),
            events="" if after or server is None else f"/live/runs?{urlencode(filters)}",
            pages=next_page_links(request, following),
            layout="broad",
            query=filters,
            states=list(RunState),
            bots=sorted({bot.name for bot in bots}),
        )

    def _explain_no_runs(self, filters: Mapping[str, str], after: str) -> str:
        if filters:
            return "No more runs match these filters." if after else "No run matches these filters."
        if after:
            return "There are no more runs."
        if self.site.server is None:
            return "No run has been played yet. Play one with arena play, or look again later."
        return "No run has been played yet. Request a contest on the page Account, or look again later."

    async def show_run(self, request: Request) -> Response:
        """Show a run, or its contest if it has a single one."""

        def read(shown_run: ShownRun) -> dict[str, Any]:
            run = shown_run.run
            problems = [*map(shown, run.sentences)]
            if len(run.contests) == 1 and not isinstance(run.result, TournamentResult):
                return {**_contest_page(shown_run, run.contests[0]), "problems": problems}
            return {"document": run_document(shown_run), "crumbs": (Link("Runs", "/runs"),), "problems": problems}

        return self.site.document(request, **await read_run(self.library, request, read, self.counter))

    async def show_contest(self, request: Request) -> Response:
        def read(shown_run: ShownRun) -> dict[str, Any]:
            return _contest_page(shown_run, find_contest(shown_run, request.path_params["contest"]))

        return self.site.document(request, **await read_run(self.library, request, read, self.counter))

    async def show_match(self, request: Request) -> Response:
        """Show a page of the hands of a match, or redirect to the hand that the query names."""
        number = parse_number(request.query_params.get("hand", ""))
        if number is not None:
            return RedirectResponse(hand_path(request.path_params["run"], request.path_params["match"], number), 302)
        winner = request.query_params.get("winner", "")
        min_pot = parse_number(request.query_params.get("pot", "")) or 0

        def read(shown_run: ShownRun) -> dict[str, Any]:
            contest, match = find_match(shown_run, request.path_params["match"])
            count = shown_run.public_hands(contest, match)
            path = match_path(shown_run.run.key, match.key)
            names = list(map(shown, match.hands.names))
            sentence = f"{', '.join(names)}: {count_of(count, 'hand')}." if count else f"{', '.join(names)}."
            facts = []
            if shown_run.sees_cards:
                formats = ["log", *(format_.name for format_ in FORMATS.values() if _can_export(format_.check, match))]
                exports = tuple(Link(name, f"{path}/export/{name}") for name in formats)
                facts.append(Fact("download", exports, NAME))
            if winner or min_pot:
                rows, pages, nothing = _search_page(request, shown_run, match, count, winner, min_pot)
            else:
                rows, pages = _plain_page(request, shown_run, match, count)
                nothing = "There are no hands." if shown_run.sees_cards else _NOT_PUBLIC
            return {
                "document": Document(shown(match.key), (sentence,), tuple(facts)),
                "template": "match.html.jinja",
                "crumbs": _crumbs(shown_run, contest),
                "pages": pages,
                "match_path": path,
                "is_over": shown_run.run.is_over,
                "hands": _hands_table(match.hands.names, rows),
                "names": names,
                "winner": winner,
                "pot": min_pot or "",
                "nothing": nothing,
                "has_hands": count > 0,
                "layout": "broad",
            }

        return self.site.document(request, **await read_run(self.library, request, read))

    async def show_hand(self, request: Request) -> Response:
        """Show a hand step by step."""
        number = request.path_params["number"]
        step = parse_number(request.query_params.get("step", "")) or 0

        def read(shown_run: ShownRun) -> dict[str, Any]:
            contest, match = find_match(shown_run, request.path_params["match"])
            record = read_visible_hand(shown_run, contest, match, number)
            before, after = match.hands.around(number)
            # A prompt has the cards of its player, so the rule of comments holds.
            exchanges = exchanges_of_hand(match, record) if shown_run.sees_cards else []
            scenes = views_of(replace(record, comments=(*record.comments, *as_comments(exchanges))))
            run = shown_run.run.key
            other_seatings = _other_seatings_table(run, contest, match, number)
            sections = []
            if other_seatings.rows:
                sections.append(Section("The same deal in other seatings", (other_seatings,)))
            return {
                "document": Document(f"Hand {number}", sections=tuple(sections)),
                "template": "hand.html.jinja",
                "crumbs": (*_crumbs(shown_run, contest), Link(match.name, match_path(run, match.key))),
                "scenes": scenes,
                "hero": hero_position(scenes[0], match),
                "holes": record.game.num_hole_cards,
                "step": min(step, len(scenes) - 1),
                "number": number,
                "place": f"{match.hands.index(number) + 1:,} of {match.hands.count:,}",
                "before": None if before is None else Link(before, hand_path(run, match.key, before)),
                "after": None if after is None else Link(after, hand_path(run, match.key, after)),
                "hand_path": hand_path(run, match.key, number),
                "exchanges": exchanges,
                "texts": _format_hand(record, match),
            }

        return self.site.document(request, **await read_run(self.library, request, read))

    async def send_hand_text(self, request: Request) -> Response:
        number = request.path_params["number"]
        name = request.path_params["format"]

        def read(shown_run: ShownRun) -> str:
            contest, match = find_match(shown_run, request.path_params["match"])
            record = read_visible_hand(shown_run, contest, match, number)
            text = dict(_format_hand(record, match)).get(name)
            if text is None:
                raise WebError(404, "This hand is not available in that format.")
            return text

        return PlainTextResponse(await read_run(self.library, request, read))

    async def export(self, request: Request) -> Response:
        """Send all hands of a match as a file."""
        name = request.path_params["format"]

        def read(shown_run: ShownRun) -> Response:
            _, match = find_match(shown_run, request.path_params["match"])
            if not shown_run.sees_cards:
                raise WebError(403, "The files of a run are available once it is over.")
            if name == "log":
                return FileResponse(match.path, filename=f"{file_stem(match.name)}.log", media_type="text/plain")
            format_ = FORMATS.get(name)
            if format_ is None or not _can_export(format_.check, match):
                raise WebError(404, "The hands of this match are not available in that format.")
            file_name = file_stem(match.name) + format_.endings[-1]

            def read_records() -> Iterator[HandRecord]:
                for start in range(0, match.hands.count, ROWS_ON_PAGE):
                    for number in match.hands.page(start, ROWS_ON_PAGE):
                        # A damaged line is left out.
                        with suppress(LogsError):
                            yield match.hands.hand(number)

            texts = match_texts(format_, read_records(), ExportOptions(seed=match.hands.seed))
            return download(texts, file_name)

        return await read_run(self.library, request, read)


def _crumbs(shown_run: ShownRun, contest: WatchedContest) -> tuple[Link, ...]:
    run = shown_run.run.key
    crumbs = [Link("Runs", "/runs"), Link(run, run_path(run))]
    if contest.key:
        crumbs.append(Link(contest.key, contest_path(run, contest.key)))
    return tuple(crumbs)


def _contest_page(shown_run: ShownRun, contest: WatchedContest) -> dict[str, Any]:
    run = shown_run.run
    is_changing = not run.is_over or contest.scores.waiting(contest.hands)
    # The contest of a run with a single one is the page of the run itself.
    parents = _crumbs(shown_run, contest)[: 2 if contest.key else 1]
    return {
        "document": contest_document(shown_run, contest),
        "template": "contest.html.jinja",
        "crumbs": (*parents, contest.key or run.key),
        "scores": scores_document(shown_run, contest),
        "layout": "broad paired",
        "events": f"{run_path(run.key)}/contest-events/{quote(contest.key, safe='/')}" if is_changing else "",
    }


def _hands_table(names: Sequence[str], rows: Sequence[tuple[Value, ...]]) -> Table:
    first, *others = (Column(f"{shown(name)} won", CHIPS) for name in names)
    columns = (Column("hand", ","), Column("pot", ",", "chips"), first, *hand_columns(names), *others, Column(""))
    return Table.of("Hands", columns, rows).without_empty()


def _plain_page(
    request: Request, shown_run: ShownRun, match: WatchedMatch, count: int
) -> tuple[list[tuple[Value, ...]], tuple[Value, ...]]:
    """Return the rows of a numbered page of hands, and links to other pages."""
    page, last = read_page(request, count, ROWS_ON_PAGE)
    rows, _ = _hand_rows(shown_run.run.key, match, (page - 1) * ROWS_ON_PAGE, count, "", 0)
    return rows, page_links(page, last)


def _search_page(
    request: Request, shown_run: ShownRun, match: WatchedMatch, count: int, winner: str, min_pot: int
) -> tuple[list[tuple[Value, ...]], tuple[Value, ...], str]:
    """Return the rows of matching hands, links to other pages, and a sentence for a page without rows."""
    start = min(parse_number(request.query_params.get("after", "")) or 0, count)
    rows, end = _hand_rows(shown_run.run.key, match, start, count, winner, min_pot)
    links = next_page_links(request, str(end) if end < count else "")
    return rows, tuple(links), f"None of the {end - start:,} hands that were searched matches these filters."


def _hand_rows(
    run: str, match: WatchedMatch, start: int, count: int, winner: str, min_pot: int
) -> tuple[list[tuple[Value, ...]], int]:
    """Return a page of hands from an index on, and the index after the last hand that was searched.

    Args:
        start: index of the first hand.
        count: number of hands that the visitor may see.
        winner: only hands in which this player won most; empty for all.
        min_pot: only hands with at least so many chips in the pot.
    """
    names = match.hands.names
    # Names on pages are escaped.
    winners = [name for name in names if shown(name) == winner]
    rows: list[tuple[Value, ...]] = []
    index = start
    end = min(count, start + _MAX_SEARCHED)
    for hand in islice(match.hands.summaries(start), end - start):
        if len(rows) == ROWS_ON_PAGE:
            break
        index += 1
        values = dict(zip(hand.names, hand.values, strict=True))
        max_value = max(hand.values, default=None)
        if winner and all(values.get(name) != max_value for name in winners):
            continue
        # The summary has an upper bound of the pot; only hands above it are read.
        if hand.max_pot < min_pot:
            continue
        record = None
        with suppress(LogsError):
            record = match.hands.hand(hand.number)
        pot = None if record is None else called_pot(record)
        if (pot or 0) < min_pot:
            continue
        link = Link(hand.number, hand_path(run, match.key, hand.number))
        damage = "damaged line" if record is None else ""
        first, *others = map(values.get, names)
        rows.append((link, pot, first, *hand_cells(record, names), *others, damage))
    return rows, index


def _can_export(check: Callable[..., object], match: WatchedMatch) -> bool:
    try:
        check(match.hands.game)
    except LogsError:
        return False
    return True


def _format_hand(record: HandRecord, match: WatchedMatch) -> list[tuple[str, str]]:
    """Format a hand in each format that can express it; return names of formats and texts."""
    # Some formats refer to the first hand of the match.
    first = match.hands.hand(match.hands.page(0, 1)[0])
    options = ExportOptions(seed=match.hands.seed)
    texts = [("acpc", _escape_lines(format_state_line(record)))]
    for format_ in FORMATS.values():
        try:
            text = hand_text(format_, record, first, options)
        except LogsError:
            continue
        texts.append((format_.name, _escape_lines(text)))
    return texts


def _escape_lines(text: str) -> str:
    """Escape each line for display, and normalise line ends."""
    return "\n".join(map(shown, text.replace("\r\n", "\n").split("\n")))


def _other_seatings_table(run: str, contest: WatchedContest, match: WatchedMatch, number: int) -> Table:
    """Make the table of net chips in the same deal with other seatings."""
    players = match.hands.names
    seating_names: Sequence[str] = ()
    if not contest.has_own_cards:
        seating_names = next((names for names in contest.seatings if match.name in names), ())
    rows = []
    for name in seating_names:
        other = contest.matches.get(name)
        if other is None or other is match:
            continue
        values: dict[str, float] = {}
        with suppress(LogsError):
            record = other.hands.hand(number)
            values = dict(zip(record.names, record.values, strict=True))
        link = Link(name, hand_path(run, other.key, number))
        rows.append((link, *(values.get(player) for player in players)))
    columns = (Column(shown(player), CHIPS) for player in players)
    return Table.of("Net chips", ("match", *columns), rows)
