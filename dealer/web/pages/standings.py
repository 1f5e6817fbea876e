"""The standings of a server: ratings with their intervals, the crosstable of a game, its pairs and their runs.

/                       what is played, the best of each game, the last results
/standings/GAME         ratings and crosstable; without a game, those of the first
/tables/GAME            of a game of more than two: all tables, or those at which two bots met
/pairs/GAME/NUMBER      a pair, or a table of more: its runs, those that its first bot lost most on before the others
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final
from urllib.parse import quote

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from dealer.errors import WebError
from dealer.server.db import counted_scores, event_records, records
from dealer.server.db.counted_scores import PairScore, Rating, worst_runs
from dealer.server.db.records import Bot, Run, RunState
from dealer.server.event_results import events_table
from dealer.server.server import ServerParts
from dealer.server.server_settings import ServerGame
from dealer.web.pages.event_pages import event_path
from dealer.web.pages.shown_runs import ServerLibrary, bot_path, run_path, runs_table
from dealer.web.pages.views import crosstable_note, current_scenes, match_path
from dealer.web.security import parse_number
from dealer.web.site import Site, find_server_game, next_page_links
from dealer.web.visitor import Visitor, get_visitor
from engine.text import count_of, shown
from logs.document import CODE, NAME, Column, Document, Fact, Link, Section, Table
from logs.errors import LogsError
from logs.estimation import Rate
from protocol.game_definition import short_name

_RUNS_ON_PAGE: Final = 100
_TABLES_OF_A_PAGE: Final = 50
_BOTS_OF_A_PAGE: Final = 30
_MOST_FULL_CELLS: Final = 10
"""In a row of a crosstable: more leave no room for the intervals."""
_BEST: Final = 5
_RUNS_OF_THE_FRONT: Final = 8
_EVENTS_OF_THE_FRONT: Final = 3
_TABLES_OF_THE_FRONT: Final = 4
_RATING: Final = "expected winnings from the average of the comparable bots"
_RATING_NOTE: Final = f"The rating is the {_RATING}, in mbb/g with its 95 % interval. Provisional: based on few deals."
_LADDER_ONLY: Final = "Only contests of the server's ladder count, which it plays while no request waits."
_WHAT_COUNTS: Final = (
    "Contests count if they are played in every seating with cards that the server draws, by bots of different users: "
    "request one, or let the server's ladder play them."
)


def routes(site: Site, server: ServerParts, library: ServerLibrary) -> list[BaseRoute]:
    """The addresses of these pages."""

    async def front(request: Request) -> Response:
        now = await run_in_threadpool(home_values, library, get_visitor(request))
        return site.document(
            request,
            Document(site.name),
            "front.html.jinja",
            layout="broad",
            address=str(request.base_url).rstrip("/"),
            may_play=server.settings.web.guests_may_play,
            games=await run_in_threadpool(_best, server),
            **now,
        )

    async def first(request: Request) -> Response:
        games = server.settings.games
        return RedirectResponse(_path("standings", games[0]) if games else "/", 302)

    async def game(request: Request) -> Response:
        found = find_server_game(server, request.path_params["game"])
        skipped = _number(request, "after") or 0
        document, following = await run_in_threadpool(_standings, server, found, skipped)
        games = [Link(one.shown, _path("standings", one)) for one in server.settings.games]
        pages = next_page_links(request, following)
        return site.document(request, document, tabs=games, pages=pages, layout="broad", here=_path("standings", found))

    async def tables(request: Request) -> Response:
        found = find_server_game(server, request.path_params["game"])
        if found.game.num_players == 2:
            raise WebError(404, "In this game two play; the standings lead to every pair.")
        numbers = [_number(request, name) for name in ("bot", "with", "after")]
        document, following = await run_in_threadpool(_tables, server, found, *numbers)
        return site.document(
            request, document, crumbs=standings_crumbs(found), pages=next_page_links(request, following)
        )

    async def pair(request: Request) -> Response:
        found = find_server_game(server, request.path_params["game"])
        number, after = request.path_params["number"], _number(request, "after")
        document, following = await run_in_threadpool(_pair, server, found, number, after)
        return site.document(
            request, document, crumbs=standings_crumbs(found), pages=next_page_links(request, following)
        )

    return [
        Route("/", front),
        Route("/standings", first),
        Route("/standings/{game:path}", game),
        Route("/tables/{game:path}", tables),
        Route("/pairs/{game:path}/{number:int}", pair),
    ]


def _number(request: Request, name: str) -> int | None:
    """A number in the query; None where there is none."""
    text = request.query_params.get(name, "")
    number = parse_number(text)
    if text and number is None:
        raise WebError(404, "There is no such page.")
    return number


def standings_crumbs(game: ServerGame) -> tuple[Link, ...]:
    return (Link(_title(game), _path("standings", game)),)


def _title(game: ServerGame) -> str:
    return f"Standings: {game.shown}"


def _path(kind: str, game: ServerGame) -> str:
    return f"/{kind}/{quote(game.name, safe='/')}"


def format_bot_name(bot: Bot) -> str:
    """A bot with its version, if it is not the first."""
    return shown(bot.name) + (f" v{bot.number}" if bot.number > 1 else "")


def _find_bot_name(server: ServerParts, version: int) -> str:
    bot = records.bot(server.store, version)
    return "?" if bot is None else format_bot_name(bot)


def make_rate(scores: PairScore | Rating, player: str, opponent: str) -> Rate:
    return Rate(scores.mbb_per_game, scores.half_width_95, player=player, opponent=opponent)


def _ratings(ratings: Sequence[Rating], skipped: int = 0) -> Table:
    """The bots of a game by place."""
    rows = []
    for place, rating in enumerate(ratings, skipped + 1):
        name = format_bot_name(rating.bot)
        remark = "provisional" if rating.is_provisional else ""
        rate = make_rate(rating, name, "the field")
        owner = "" if rating.bot.owner is None else rating.bot.owner.name
        rows.append((place, Link(name, bot_path(rating.bot)), rate, remark, owner, rating.duplicates or 0))
    columns = (
        Column("place", ","),
        Column("bot"),
        Column("rating", "+,.0f", "mbb/g", meaning=_RATING, is_drawn=True),
        Column("", meaning="provisional: based on few deals"),
        Column("owner"),
        Column("deals", ","),
    )
    return Table.of("Ratings", columns, rows).without_empty()


def _best(server: ServerParts) -> list[tuple[ServerGame, Table, int]]:
    """The best bots of each game, and how many there are; the games with results first."""
    games = []
    for game in server.settings.games:
        ratings = counted_scores.standings(server.store, game.name, limit=_BEST)
        best = replace(_ratings(ratings), title=f"The best in {game.shown}")
        count = counted_scores.count_rated(server.store, game.name)
        games.append((game, best.with_columns(range(len(best.columns) - 1)), count))
    return sorted(games, key=lambda one: not one[2])


def home_values(library: ServerLibrary, visitor: Visitor) -> dict[str, Any]:
    """What is played now and the last results, for ``now.html.jinja``."""
    server = library.parts
    playing = records.runs(server.store, state=RunState.RUNNING, limit=_RUNS_OF_THE_FRONT)
    ended = records.runs(server.store, state=RunState.FINISHED, limit=_RUNS_OF_THE_FRONT)
    tables: list[dict[str, Any]] = []
    for run in playing:
        if len(tables) < _TABLES_OF_THE_FRONT and (table := _thumbnail(library, run, visitor)) is not None:
            tables.append(table)
    return {
        "tables": tables,
        "events": events_table("Events", event_records.events(server.store, limit=_EVENTS_OF_THE_FRONT), event_path),
        "playing": runs_table("Being played", playing, server.service.queue.progress()),
        "ended": runs_table("Last results", ended, {}),
    }


def _thumbnail(library: ServerLibrary, run: Run, visitor: Visitor) -> dict[str, Any] | None:
    """The table of a run that is being played; None before its first hand."""
    try:
        found = library.open(str(run.id), visitor)
    except (WebError, LogsError, OSError):
        return None
    match = next(iter(found.run.matches.values()), None)
    if match is None:
        return None
    with found.run.lock:
        _, _, scenes = current_scenes(found, found.run.contest_of(match), match, with_cards=False)
        title = " - ".join(map(shown, match.hands.names))
        path = match_path(found.run.key, match.key)
    return {"path": path, "title": title, "game": short_name(run.game), "scene": scenes[-1]} if scenes else None


def _standings(server: ServerParts, game: ServerGame, skipped: int) -> tuple[Document, str]:
    """A page of the ratings of a game, and who won what from, or at the tables of, whom; how many came before the next.

    Args:
        skipped: how many are on the pages before.
    """
    api = f"/api/v1/games/{quote(game.name, safe='')}"
    facts = [Fact("as JSON", (Link("ratings", f"{api}/standings"), Link("crosstable", f"{api}/pairs")), NAME)]
    if game.shown != game.name:
        facts.append(Fact("full name of the game", game.name, CODE))
    ratings = counted_scores.standings(server.store, game.name, skip=skipped, limit=_BOTS_OF_A_PAGE)
    if not ratings:
        request = Fact("request", Link("Have a contest played", "/account/request"), NAME)
        why = _LADDER_ONLY if server.settings.has_only_ladder else _WHAT_COUNTS
        sentences = "This game has no results that count yet.", why
        return Document(_title(game), sentences, (*([] if server.settings.has_only_ladder else [request]), *facts)), ""
    names = {rating.bot.version: format_bot_name(rating.bot) for rating in ratings}
    is_for_two = game.game.num_players == 2
    if not is_for_two:
        facts.insert(0, Fact("tables", Link(counted_scores.count_tables(server.store, game), _path("tables", game))))
    met = read_crosstable(server, game, names, among=tuple(names))
    rows = [(name, *(met.get((version, other), "") for other in names)) for version, name in names.items()]
    is_brief = len(names) > _MOST_FULL_CELLS
    columns = (Column("bot"), *(Column(name, "+,.0f", is_brief=is_brief) for name in names.values()))
    count, so_far = counted_scores.count_rated(server.store, game.name), skipped + len(ratings)
    note = crosstable_note(is_for_two)
    if count > len(ratings):
        note += f" Of the {count} bots, those of this page; the page of a bot has all that it has met."
    sections = (
        Section("Ratings", (replace(_ratings(ratings, skipped), note=_RATING_NOTE),)),
        Section("Crosstable", (Table.of("Crosstable", columns, rows, note),)),
    )
    return Document(_title(game), (), tuple(facts), sections), str(so_far) if so_far < count else ""


def read_crosstable(
    server: ServerParts,
    game: ServerGame,
    names: Mapping[int, str],
    version: int | None = None,
    among: Sequence[int] = (),
) -> dict[tuple[int, int], Link]:
    """By version and another, what the one won from the other, or at the tables at which the other sat too.

    Args:
        version: the one; None for all.
        among: the only ones and others; all if there are none.
    """
    found, store, pairs_path, tables_path = {}, server.store, _path("pairs", game), _path("tables", game)
    for pair in counted_scores.pairs(store, game, version, among) if game.game.num_players == 2 else ():
        path = f"{pairs_path}/{pair.id}"
        for mine, theirs in (pair.scores, pair.scores[::-1]):
            won = make_rate(mine, names.get(mine.version, "?"), names.get(theirs.version, "?"))
            found[mine.version, theirs.version] = Link(won, path, str(won))
    # Between two there are none.
    for one in counted_scores.opponent_scores(store, game, version, among):
        name, other = names.get(one.version, "?"), names.get(one.other, "?")
        won = make_rate(one, name, "the others")
        path = f"{tables_path}?bot={one.version}&with={one.other}"
        found[one.version, one.other] = Link(won, path, f"{name} at the tables with {other} {won.text()}")
    return found


def _tables(
    server: ServerParts, game: ServerGame, bot: int | None, other: int | None, after: int | None
) -> tuple[Document, str]:
    """A page of tables, all or those of two bots, and the last of them if more follow."""
    met = None
    if bot is not None or other is not None:
        opponent_scores = counted_scores.opponent_scores(server.store, game)
        met = next((one for one in opponent_scores if (one.version, one.other) == (bot, other)), None)
        if met is None:
            raise WebError(404, "These bots have not met at a table.")
    together = None if met is None else (met.version, met.other)
    page = counted_scores.tables(server.store, game, together=together, after=after, limit=_TABLES_OF_A_PAGE + 1)
    shown_here = page[:_TABLES_OF_A_PAGE]
    versions = {*(together or ()), *(score.version for pair in shown_here for score in pair.scores)}
    names = {version: _find_bot_name(server, version) for version in versions}
    title, sentences, order = "Tables", [], ""
    if met is not None:
        name = names[met.version]
        title = f"{name} at the tables with {names[met.other]}"
        sentences = [f"{name} won {make_rate(met, name, 'the others').text()} in {count_of(met.duplicates, 'deal')}."]
        order = f"; the worst for {name} first"
    rows = []
    for pair in shown_here:
        # The bot that the page is about is the first at each table.
        scores = sorted(pair.scores, key=lambda score: score.version != bot)
        link = Link(" - ".join(names[score.version] for score in scores), f"{_path('pairs', game)}/{pair.id}")
        for score in scores:
            name = names[score.version]
            rows.append((link, name, make_rate(score, name, "the others"), pair.duplicates))
    columns = ("table", Column("bot"), Column("won", "+,.0f", "mbb/g"), Column("deals", ","))
    note = f"What each bot won from the others at a table, in mbb/g with its 95 % interval{order}."
    nothing = "There are none after these." if after else "There are none yet."
    part = Table.of(title, columns, rows, note, is_grouped=True) if rows else nothing
    following = str(shown_here[-1].id) if len(page) > len(shown_here) else ""
    return Document(title, tuple(sentences), (), (Section("Won at each table", (part,)),)), following


def _pair(server: ServerParts, game: ServerGame, number: int, after: int | None) -> tuple[Document, str]:
    """A page of the runs of a pair, and the last of them if more follow."""
    pair = counted_scores.pair(server.store, game, number)
    if pair is None:
        raise WebError(404, "There is no such pair.")
    rates = [make_rate(score, _find_bot_name(server, score.version), "the others") for score in pair.scores]
    first = pair.scores[0].version
    found = worst_runs(server.store, number, first, after=after, limit=_RUNS_ON_PAGE + 1)
    rows = []
    for run in found[:_RUNS_ON_PAGE]:
        mine = next((seat for seat in run.seats if seat.version == first), run.seats[0])
        rows.append((Link(f"run {run.id}", run_path(str(run.id))), run.duplicates or 0, mine.won))
    columns = ("run", Column("deals", ","), Column(f"{rates[0].player} won", "+,.0f", "mbb/g"))
    title = f"Runs, the worst for {rates[0].player} first"
    facts = [Fact("deals", pair.duplicates), Fact("hands", pair.hands)]
    facts += [Fact(rate.player, rate, "+,.0f", "mbb/g") for rate in rates]
    following = str(found[_RUNS_ON_PAGE - 1].id) if len(found) > _RUNS_ON_PAGE else ""
    sections = (Section(title, (Table.of(title, columns, rows),)),)
    return Document(" - ".join(rate.player for rate in rates), (), tuple(facts), sections), following
