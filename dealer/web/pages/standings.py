"""Pages of the standings of a server.

/                       running matches, the best bots of each game, the last results
/standings/GAME         ratings and crosstable of a game
/tables/GAME            tables of a game for more than two players, all or those of two bots
/pairs/GAME/NUMBER      runs of a pair or a larger table, the worst of its first bot first
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final
from urllib.parse import quote, urlencode

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from dealer.errors import WebError
from dealer.server.db import counted_scores, event_records, records
from dealer.server.db.counted_scores import PairScore, Rating, worst_runs
from dealer.server.db.records import Bot, Run, RunState
from dealer.server.db.texts import TextName, read_text
from dealer.server.event_results import events_table
from dealer.server.server import ServerParts
from dealer.server.server_settings import ServerGame
from dealer.web.pages.event_pages import event_path
from dealer.web.pages.shown_runs import ServerLibrary, bot_path, run_path, runs_table
from dealer.web.pages.views import crosstable_note, current_scenes, match_path
from dealer.web.security import parse_number
from dealer.web.site import Site, find_server_game, next_page_links, page_links, read_page, read_rows
from dealer.web.visitor import Visitor, get_visitor
from engine.text import count_of, shown
from logs.document import CODE, NAME, Column, Document, Fact, Link, Part, Section, Table
from logs.document.paging import ROWS_ON_PAGE
from logs.errors import LogsError
from logs.estimation import Rate
from protocol.game_definition import short_name

_MAX_FULL_CELLS: Final = 10
"""Cells of a crosstable's row up to which there is room for the intervals."""
_BEST_BOTS: Final = 5
_RUNS_ON_FRONT: Final = 8
_EVENTS_ON_FRONT: Final = 3
_TABLES_ON_FRONT: Final = 4
_RATING: Final = "expected winnings against the average of the comparable bots"
_RATING_NOTE: Final = (
    f"The rating is the {_RATING}, in mbb/g with its guaranteed 95 % interval. Provisional: based on few deals."
)
_LADDER_ONLY: Final = "Only contests of the server's ladder count. It plays them while no request waits."
_COUNTED_CONTESTS: Final = (
    "A contest counts if bots of different users play it in every seating, with cards that the server draws. Request "
    "one, or let the server's ladder play it."
)


def routes(site: Site, server: ServerParts, library: ServerLibrary) -> list[BaseRoute]:
    """Return the routes of these pages."""

    async def show_front(request: Request) -> Response:
        values = await run_in_threadpool(home_values, library, get_visitor(request))
        return site.document(
            request,
            Document(site.name),
            "front.html.jinja",
            layout="broad",
            message=read_text(server.store, TextName.MESSAGE),
            has_rules=bool(read_text(server.store, TextName.RULES)),
            may_play=server.settings.web.guests_may_play,
            games=await run_in_threadpool(_best_bots, server),
            **values,
        )

    async def redirect_to_first_game(request: Request) -> Response:
        games = server.settings.games
        return RedirectResponse(_path("standings", games[0]) if games else "/", 302)

    async def show_standings(request: Request) -> Response:
        game = find_server_game(server, request.path_params["game"])
        page, last = read_page(request, counted_scores.count_rated(server.store, game.name), ROWS_ON_PAGE)
        document = await run_in_threadpool(_standings, server, game, (page - 1) * ROWS_ON_PAGE)
        return site.document(
            request,
            document,
            tabs=[Link(game.shown, _path("standings", game)) for game in server.settings.games],
            pages=page_links(page, last),
            layout="broad",
            tab_path=_path("standings", game),
        )

    async def show_tables(request: Request) -> Response:
        game = find_server_game(server, request.path_params["game"])
        if game.game.num_players == 2:
            raise WebError(404, "This game has two players. Its standings link to every pair.")
        numbers = [_query_number(request, name) for name in ("bot", "with", "after")]
        document, following = await run_in_threadpool(_tables, server, game, *numbers)
        pages = next_page_links(request, following)
        return site.document(request, document, crumbs=standings_crumbs(game), pages=pages)

    async def show_pair(request: Request) -> Response:
        game = find_server_game(server, request.path_params["game"])
        number = request.path_params["number"]
        after = _query_number(request, "after")
        document, following = await run_in_threadpool(_pair, server, game, number, after)
        pages = next_page_links(request, following)
        return site.document(request, document, crumbs=standings_crumbs(game), pages=pages)

    return [
        Route("/", show_front),
        Route("/standings", redirect_to_first_game),
        Route("/standings/{game:path}", show_standings),
        Route("/tables/{game:path}", show_tables),
        Route("/pairs/{game:path}/{number:int}", show_pair),
    ]


def _query_number(request: Request, name: str) -> int | None:
    """Return a number of the query, or None if it is missing."""
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
    """Return the name of a bot, with its version from the second on."""
    name = shown(bot.name)
    return f"{name} v{bot.number}" if bot.number > 1 else name


def _find_bot_name(server: ServerParts, version: int) -> str:
    bot = records.bot(server.store, version)
    return "?" if bot is None else format_bot_name(bot)


def make_rate(scores: PairScore | Rating, player: str, opponent: str) -> Rate:
    return Rate(scores.mbb_per_game, scores.half_width_95, player=player, opponent=opponent)


def _ratings_table(ratings: Sequence[Rating], skipped: int = 0) -> Table:
    """Make the table of rated bots, after `skipped` ones on earlier pages."""
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


def _best_bots(server: ServerParts) -> list[tuple[ServerGame, Table, int]]:
    """Return the best bots of each game and the number of rated ones; games with results come first."""
    games = []
    for game in server.settings.games:
        ratings = counted_scores.standings(server.store, game.name, limit=_BEST_BOTS)
        table = replace(_ratings_table(ratings), title=f"The best in {game.shown}")
        # There is no room for the last column.
        table = table.with_columns(range(len(table.columns) - 1))
        count = counted_scores.count_rated(server.store, game.name)
        games.append((game, table, count))
    return sorted(games, key=lambda entry: entry[2] == 0)


def home_values(library: ServerLibrary, visitor: Visitor) -> dict[str, Any]:
    """Return running matches and last results, the variables of ``now.html.jinja``."""
    server = library.parts
    running = records.runs(server.store, state=RunState.RUNNING, limit=_RUNS_ON_FRONT)
    ended = records.runs(server.store, state=RunState.FINISHED, limit=_RUNS_ON_FRONT)
    tables: list[dict[str, Any]] = []
    for run in running:
        if len(tables) == _TABLES_ON_FRONT:
            break
        table = _thumbnail_values(library, run, visitor)
        if table is not None:
            tables.append(table)
    events = event_records.events_by_time(server.store, limit=_EVENTS_ON_FRONT)
    return {
        "tables": tables,
        "events": events_table("Events", events, event_path),
        "playing": runs_table("Running", running, server.service.queue.progress()),
        "ended": runs_table("Last results", ended, {}),
    }


def _thumbnail_values(library: ServerLibrary, run: Run, visitor: Visitor) -> dict[str, Any] | None:
    """Return the table of a running match of a run, or None before its first hand."""
    try:
        shown_run = library.open(str(run.id), visitor)
    except (WebError, LogsError, OSError):
        return None
    match = next(iter(shown_run.run.matches.values()), None)
    if match is None:
        return None
    with shown_run.run.lock:
        contest = shown_run.run.contest_of(match)
        _, _, scenes = current_scenes(shown_run, contest, match, with_cards=False)
        title = " - ".join(map(shown, match.hands.names))
        path = match_path(shown_run.run.key, match.key)
    if not scenes:
        return None
    return {"path": path, "title": title, "game": short_name(run.game), "scene": scenes[-1]}


def _standings(server: ServerParts, game: ServerGame, skip: int) -> Document:
    """Make a page of the ratings and the crosstable of a game.

    Args:
        skip: number of bots on earlier pages.
    """
    api = f"/api/v1/games/{quote(game.name, safe='')}"
    facts = [Fact("as JSON", (Link("ratings", f"{api}/standings"), Link("crosstable", f"{api}/pairs")), NAME)]
    if game.shown != game.name:
        facts.append(Fact("full name of the game", game.name, CODE))
    ratings = counted_scores.standings(server.store, game.name, skip=skip, limit=ROWS_ON_PAGE)
    if not ratings:
        return _empty_standings(server, game, facts)
    is_for_two = game.game.num_players == 2
    if not is_for_two:
        facts.insert(0, Fact("tables", Link(counted_scores.count_tables(server.store, game), _path("tables", game))))
    count = counted_scores.count_rated(server.store, game.name)
    note = crosstable_note(is_for_two)
    if count > len(ratings):
        note += f" It has the bots of this page, out of {count}. The page of a bot has all of its opponents."
    crosstable = replace(_crosstable(server, game, ratings), note=note)
    sections = (
        Section("Ratings", (replace(_ratings_table(ratings, skip), note=_RATING_NOTE),)),
        Section("Crosstable", (crosstable,)),
    )
    return Document(_title(game), (), tuple(facts), sections)


def _empty_standings(server: ServerParts, game: ServerGame, facts: Sequence[Fact]) -> Document:
    sentence = "This game has no results that count yet."
    if server.settings.has_only_ladder:
        return Document(_title(game), (sentence, _LADDER_ONLY), tuple(facts))
    request = Fact("request", Link("request a contest", "/account/request"), NAME)
    return Document(_title(game), (sentence, _COUNTED_CONTESTS), (request, *facts))


def _crosstable(server: ServerParts, game: ServerGame, ratings: Sequence[Rating]) -> Table:
    names = {rating.bot.version: format_bot_name(rating.bot) for rating in ratings}
    cells = read_crosstable(server, game, names, among=tuple(names))
    rows = []
    for version, name in names.items():
        rows.append((name, *(cells.get((version, opponent), "") for opponent in names)))
    is_brief = len(names) > _MAX_FULL_CELLS
    columns = (Column("bot"), *(Column(name, "+,.0f", is_brief=is_brief) for name in names.values()))
    return Table.of("Crosstable", columns, rows)


def read_crosstable(
    server: ServerParts,
    game: ServerGame,
    names: Mapping[int, str],
    version: int | None = None,
    among: Sequence[int] = (),
) -> dict[tuple[int, int], Link]:
    """Read winnings by version and opponent, as links to the runs behind them.

    In games for more than two players, they are the winnings at the tables that included both.

    Args:
        names: names of bots by version.
        version: only rows of this version; None for all.
        among: only pairs of these versions; empty for all.
    """
    store = server.store
    cells = {}
    if game.game.num_players == 2:
        for pair in counted_scores.pairs(store, game, version, among):
            path = f"{_path('pairs', game)}/{pair.id}"
            for score, opponent in (pair.scores, pair.scores[::-1]):
                rate = make_rate(score, names.get(score.version, "?"), names.get(opponent.version, "?"))
                cells[score.version, opponent.version] = Link(rate, path, str(rate))
    # Empty for games between two.
    for score in counted_scores.opponent_scores(store, game, version, among):
        name = names.get(score.version, "?")
        opponent_name = names.get(score.other, "?")
        rate = make_rate(score, name, "the others")
        path = f"{_path('tables', game)}?bot={score.version}&with={score.other}"
        label = f"{name} at the tables with {opponent_name} {rate.text()}"
        cells[score.version, score.other] = Link(rate, path, label)
    return cells


def _tables(
    server: ServerParts, game: ServerGame, bot: int | None, other: int | None, after: int | None
) -> tuple[Document, str]:
    """Make a page of tables, all or those of two bots.

    Returns:
        The page, and the number of its last table, empty if no more follow.
    """
    pair_score = None
    if bot is not None or other is not None:
        scores = counted_scores.opponent_scores(server.store, game)
        pair_score = next((score for score in scores if (score.version, score.other) == (bot, other)), None)
        if pair_score is None:
            raise WebError(404, "These bots have not met at a table.")
    together = None if pair_score is None else (pair_score.version, pair_score.other)
    page, following = read_rows(
        lambda limit: counted_scores.tables(server.store, game, together=together, after=after, limit=limit),
        lambda table: table.id,
    )
    versions = {*(together or ()), *(score.version for table in page for score in table.scores)}
    names = {version: _find_bot_name(server, version) for version in versions}
    title = "Tables"
    sentences = []
    note = "Winnings of each bot from the others at a table, in mbb/g with the guaranteed 95 % interval."
    if pair_score is not None:
        name = names[pair_score.version]
        rate = make_rate(pair_score, name, "the others")
        title = f"{name} at the tables with {names[pair_score.other]}"
        sentences = [f"{name} won {rate.text()} in {count_of(pair_score.duplicates, 'deal')}."]
        note += f" The worst tables of {name} come first."
    rows = []
    for table in page:
        # The subject of the page is the first at each table.
        table_scores = sorted(table.scores, key=lambda score: score.version != bot)
        link = Link(" - ".join(names[score.version] for score in table_scores), f"{_path('pairs', game)}/{table.id}")
        for table_score in table_scores:
            name = names[table_score.version]
            rows.append((link, name, make_rate(table_score, name, "the others"), table.duplicates))
    part: Part = "There are no more tables." if after else "There are no tables yet."
    if rows:
        columns = ("table", Column("bot"), Column("won", "+,.0f", "mbb/g"), Column("deals", ","))
        part = Table.of(title, columns, rows, note, is_grouped=True)
    return Document(title, tuple(sentences), (), (Section("Winnings by table", (part,)),)), following


def _pair(server: ServerParts, game: ServerGame, number: int, after: int | None) -> tuple[Document, str]:
    """Make a page of the runs of a pair.

    Returns:
        The page, and the number of its last run, empty if no more follow.
    """
    pair = counted_scores.pair(server.store, game, number)
    if pair is None:
        raise WebError(404, "There is no such pair.")
    rates = [make_rate(score, _find_bot_name(server, score.version), "the others") for score in pair.scores]
    first = pair.scores[0].version
    first_name = rates[0].player
    page, following = read_rows(
        lambda limit: worst_runs(server.store, number, first, after=after, limit=limit), lambda run: run.id
    )
    rows = []
    for run in page:
        first_seat = next((seat for seat in run.seats if seat.version == first), run.seats[0])
        rows.append((Link(f"run {run.id}", run_path(str(run.id))), run.duplicates or 0, first_seat.won))
    columns = ("run", Column("deals", ","), Column(f"{first_name} won", "+,.0f", "mbb/g"))
    title = f"Runs, the worst of {first_name} first"
    facts = [Fact("deals", pair.duplicates), Fact("hands", pair.hands)]
    facts += [Fact(rate.player, rate, "+,.0f", "mbb/g") for rate in rates]
    bots = [records.bot(server.store, score.version) for score in pair.scores]
    players = {f"player{seat}": bot.name for seat, bot in enumerate(bots, 1) if bot is not None}
    again = f"/account/request?{urlencode({'game': game.name, **players})}"
    facts.append(Fact("more deals", Link("request a contest between them", again), NAME))
    sections = (Section(title, (Table.of(title, columns, rows),)),)
    return Document(" - ".join(rate.player for rate in rates), (), tuple(facts), sections), following
