"""The standings of a server: ratings with their intervals, the crosstable of a game, its pairs and their runs.

/                       what is played, the best of each game, the last results
/standings/GAME         ratings and crosstable; without a game, those of the first
/bots/GAME/NAME         a bot: its versions, its rating, its opponents, its last runs
/tables/GAME            of a game of more than two: all tables, or those at which two bots met
/pairs/GAME/NUMBER      a pair, or a table of more: its runs, those that its first bot lost most on before the others
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote, urlencode

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from dealer.errors import RefusedError, WebError
from dealer.server.db import crosstable, records
from dealer.server.db.crosstable import Company, Pair, Rating, worst_runs
from dealer.server.db.records import Run, RunState
from dealer.server.server import ServerParts
from dealer.server.settings import ServerGame
from dealer.web.figures import Cell, cell_of, interval_bars
from dealer.web.library import ServerLibrary, run_entry
from dealer.web.site import Site
from dealer.web.views import Crosstable, Line, LineUp, run_path, table_now
from dealer.web.visitor import Visitor, visitor_of
from engine.text import shown
from logs.errors import LogsError
from logs.estimation import Rate

_RUNS_OF_A_PAGE: Final = 100
_TABLES_OF_A_PAGE: Final = 50
_RUNS_OF_A_BOT: Final = 20
_BEST: Final = 5
_RUNS_OF_THE_FRONT: Final = 8
_TABLES_OF_THE_FRONT: Final = 2
_MOST_DIGITS: Final = 12


def routes(site: Site, server: ServerParts, library: ServerLibrary) -> list[BaseRoute]:
    """The addresses of these pages."""

    async def front(request: Request) -> Response:
        values = await run_in_threadpool(_front, server, library, visitor_of(request))
        address = f"{request.url.hostname}:{server.settings.port}"
        may_play = server.settings.web.guests_may_play
        return site.page(request, "front.html.jinja", address=address, may_play=may_play, **values)

    async def first(request: Request) -> Response:
        games = server.settings.games
        return RedirectResponse(f"/standings/{quote(games[0].name, safe='/')}" if games else "/", 302)

    async def game(request: Request) -> Response:
        found = _game(server, request)
        values = await run_in_threadpool(_standings, server, found)
        names = [one.name for one in server.settings.games]
        return site.page(request, "standings.html.jinja", games=names, game=found.name, **values)

    async def bot(request: Request) -> Response:
        found = _game(server, request)
        values = await run_in_threadpool(_bot, server, found, request.path_params["name"])
        return site.page(request, "bot.html.jinja", game=found.name, **values)

    async def tables(request: Request) -> Response:
        found = _game(server, request)
        if found.game.num_players == 2:
            raise WebError(404, "In this game two play; the standings lead to every pair.")
        numbers = [_number(request, name) for name in ("bot", "with", "after")]
        values = await run_in_threadpool(_tables, server, found, *numbers)
        return site.page(request, "tables.html.jinja", game=found.name, **values)

    async def pair(request: Request) -> Response:
        found = _game(server, request)
        number = request.path_params["number"]
        if not _is_number(number):
            raise WebError(404, "There is no such pair.")
        values = await run_in_threadpool(_pair, server, found, int(number), _number(request, "after"))
        return site.page(request, "pair.html.jinja", game=found.name, **values)

    return [
        Route("/", front),
        Route("/standings", first),
        Route("/bots/{game:path}/{name}", bot),
        Route("/standings/{game:path}", game),
        Route("/tables/{game:path}", tables),
        Route("/pairs/{game:path}/{number}", pair),
    ]


def _game(server: ServerParts, request: Request) -> ServerGame:
    try:
        return server.settings.resolve_game(request.path_params["game"])
    except RefusedError as error:
        raise WebError.of(error, 404) from None


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS


def _number(request: Request, name: str) -> int | None:
    """A number in the query; None where there is none."""
    text = request.query_params.get(name, "")
    if text and not _is_number(text):
        raise WebError(404, "There is no such page.")
    return int(text) if text else None


def _name(name: str, number: int) -> str:
    """A bot with its version, if it is not the first."""
    return shown(name) + (f" v{number}" if number > 1 else "")


def _name_of(server: ServerParts, version: int) -> str:
    bot = records.bot(server.store, version)
    return "?" if bot is None else _name(bot.name, bot.number)


@dataclass(frozen=True, slots=True)
class RatingLine:
    """A bot in the ratings of a game; the bar is its rating as a picture, all of a table on one scale."""

    place: int
    name: str
    path: str
    mean: Cell
    bar: str
    deals: int
    is_provisional: bool


def _ratings(game: ServerGame, ratings: Sequence[Rating]) -> list[RatingLine]:
    bars = interval_bars([(rating.mbb_per_game, rating.half_width_95) for rating in ratings])
    lines = []
    for place, (rating, bar) in enumerate(zip(ratings, bars, strict=True), 1):
        name = _name(rating.bot.name, rating.bot.number)
        mean = cell_of(Rate(rating.mbb_per_game, rating.half_width_95, player=name, opponent="the field"))
        path = f"/bots/{quote(game.name, safe='/')}/{quote(rating.bot.name, safe='')}"
        deals, is_provisional = rating.duplicates or 0, rating.is_provisional
        lines.append(RatingLine(place, name, path, mean, bar=bar, deals=deals, is_provisional=is_provisional))
    return lines


def _front(server: ServerParts, library: ServerLibrary, visitor: Visitor) -> dict[str, Any]:
    """What is played now, the best bots of each game, and the last results."""
    games = []
    for game in server.settings.games:
        ratings = crosstable.standings(server.store, game.name)
        games.append((game, _ratings(game, ratings)[:_BEST], len(ratings)))
    playing = records.runs(server.store, state=RunState.RUNNING, most=_RUNS_OF_THE_FRONT)
    ended = records.runs(server.store, state=RunState.FINISHED, most=_RUNS_OF_THE_FRONT)
    return {
        "games": games,
        "playing": list(map(run_entry, playing)),
        "ended": list(map(run_entry, ended)),
        "tables": [table for run in playing[:_TABLES_OF_THE_FRONT] if (table := _thumbnail(library, run, visitor))],
    }


def _thumbnail(library: ServerLibrary, run: Run, visitor: Visitor) -> dict[str, Any] | None:
    """The table of a run that is being played; None before its first hand."""
    try:
        found = library.open(str(run.id), visitor)
    except (WebError, LogsError, OSError):
        return None
    match = None if found is None else next(iter(found.run.matches.values()), None)
    if found is None or match is None:
        return None
    with found.run.lock:
        _, _, scenes = table_now(found, found.run.contest_of(match), match, with_cards=False)
        title = " - ".join(map(shown, match.hands.names))
    return {"path": run_path(str(run.id)), "title": title, "scene": scenes[-1]} if scenes else None


def _standings(server: ServerParts, game: ServerGame) -> dict[str, Any]:
    """The ratings of a game and who won what from, or at the tables of, whom; and of more than two, the tables."""
    ratings = crosstable.standings(server.store, game.name)
    names = {rating.bot.version: _name(rating.bot.name, rating.bot.number) for rating in ratings}
    is_for_two = game.game.num_players == 2
    met = _against(server, game, names) if is_for_two else _in_company(server, game, names)
    shown_ratings = _ratings(game, ratings)
    lines = [
        Line(line.place, line.name, line.mean, tuple(met.get((version, other), Cell("")) for other in names))
        for version, line in zip(names, shown_ratings, strict=True)
    ]
    return {
        "ratings": shown_ratings,
        "table": Crosstable("", tuple(names.values()), tuple(lines), not is_for_two),
        "tables": 0 if is_for_two else crosstable.count_tables(server.store, game),
        "tables_path": _tables_path(game),
    }


def _bot(server: ServerParts, game: ServerGame, name: str) -> dict[str, Any]:
    """A bot in a game, with all of its versions."""
    versions = records.versions(server.store, game.name, name)
    if not versions:
        raise WebError(404, "There is no such bot in this game.")
    rated = {rating.bot.version: rating for rating in crosstable.standings(server.store, game.name)}
    names = {number: _name(rating.bot.name, rating.bot.number) for number, rating in rated.items()}
    rows, opponents = [], []
    for version in versions:
        rating = rated.get(version.version)
        rate = None if rating is None else Rate(rating.mbb_per_game, rating.half_width_95, player="", opponent="")
        rows.append((version, cell_of(rate), 0 if rating is None else rating.duplicates or 0))
    if game.game.num_players == 2:
        for (mine, other), cell in _against(server, game, names).items():
            if mine in {version.version for version in versions}:
                opponents.append((names.get(mine, "?"), names.get(other, "?"), cell))
    return {
        "name": shown(name),
        "owner": None if versions[0].owner is None else shown(versions[0].owner.name),
        "versions": rows,
        "opponents": sorted(opponents, key=lambda one: one[:2]),
        "runs": [run_entry(run) for run in records.runs(server.store, game=game.name, bot=name, most=_RUNS_OF_A_BOT)],
        "all_runs": f"/runs?{urlencode({'game': game.shown, 'bot': name})}",
    }


def _against(server: ServerParts, game: ServerGame, names: dict[int, str]) -> dict[tuple[int, int], Cell]:
    """By version and opponent, what the one won from the other."""
    return {
        (mine.version, theirs.version): cell_of(
            Rate(
                mine.mbb_per_game,
                mine.half_width_95,
                player=names.get(mine.version, "?"),
                opponent=names.get(theirs.version, "?"),
            ),
            _pair_path(game, pair),
        )
        for pair in crosstable.pairs(server.store, game)
        for mine, theirs in (pair.scores, pair.scores[::-1])
    }


def _in_company(server: ServerParts, game: ServerGame, names: dict[int, str]) -> dict[tuple[int, int], Cell]:
    """By version and another, what the one won at the tables at which the other sat too."""
    return {
        (one.version, one.other): _in_company_of(one, names, f"{_tables_path(game)}?bot={one.version}&with={one.other}")
        for one in crosstable.companies(server.store, game)
    }


def _in_company_of(one: Company, names: dict[int, str], path: str = "") -> Cell:
    name, other = names.get(one.version, "?"), names.get(one.other, "?")
    rate = Rate(one.mbb_per_game, one.half_width_95, player=name, opponent="the others")
    return cell_of(rate, path, f"{name} at the tables with {other} {rate.text()}")


def _tables(
    server: ServerParts, game: ServerGame, bot: int | None, other: int | None, after: int | None
) -> dict[str, Any]:
    """A page of tables: all, or those of two bots."""
    met = None
    if bot is not None or other is not None:
        companies = crosstable.companies(server.store, game)
        met = next((one for one in companies if (one.version, one.other) == (bot, other)), None)
        if met is None:
            raise WebError(404, "These bots have not met at a table.")
    together = None if met is None else (met.version, met.other)
    page = crosstable.tables(server.store, game, together=together, after=after, most=_TABLES_OF_A_PAGE + 1)
    shown_here = page[:_TABLES_OF_A_PAGE]
    versions = {*(together or ()), *(score.version for pair in shown_here for score in pair.scores)}
    names = {version: _name_of(server, version) for version in versions}
    # The bot that the page is about is the first at each table.
    tables = [_lineup(game, pair, names, bot) for pair in shown_here]
    return {
        "tables": tables,
        "together": None if met is None else (names[met.version], names[met.other]),
        "won": None if met is None else _in_company_of(met, names).text,
        "deals": None if met is None else met.duplicates,
        "query": {} if met is None else {"bot": bot, "with": other},
        "is_first": after is None,
        "following": shown_here[-1].id if len(page) > len(shown_here) else "",
    }


def _lineup(game: ServerGame, pair: Pair, names: dict[int, str], first: int | None) -> LineUp:
    """What the bots of a table won there."""
    scores = sorted(pair.scores, key=lambda score: score.version != first)
    rates = [
        Rate(score.mbb_per_game, score.half_width_95, player=names[score.version], opponent="the others")
        for score in scores
    ]
    won = tuple((rate.player, cell_of(rate)) for rate in rates)
    return LineUp(" - ".join(rate.player for rate in rates), _pair_path(game, pair), pair.duplicates, won)


def _tables_path(game: ServerGame) -> str:
    return f"/tables/{quote(game.name, safe='/')}"


def _pair_path(game: ServerGame, pair: Pair) -> str:
    return f"/pairs/{quote(game.name, safe='/')}/{pair.id}"


def _pair(server: ServerParts, game: ServerGame, number: int, after: int | None) -> dict[str, Any]:
    pair = crosstable.pair(server.store, game, number)
    if pair is None:
        raise WebError(404, "There is no such pair.")
    names = [_name_of(server, score.version) for score in pair.scores]
    first = pair.scores[0].version
    found = worst_runs(server.store, number, first, after=after, most=_RUNS_OF_A_PAGE + 1)
    runs = found[:_RUNS_OF_A_PAGE]
    following = runs[-1].id if len(found) > len(runs) else ""
    scores = [
        (name, cell_of(Rate(score.mbb_per_game, score.half_width_95, player=name, opponent="")).text)
        for name, score in zip(names, pair.scores, strict=True)
    ]
    rows = []
    for run in runs:
        mine = next((seat for seat in run.seats if seat.version == first), run.seats[0])
        rate = (
            None if mine.mbb_per_game is None else Rate(mine.mbb_per_game, mine.half_width_95, player="", opponent="")
        )
        rows.append((run_path(str(run.id)), run.id, run.duplicates or 0, cell_of(rate).text))
    return {
        "names": names,
        "scores": scores,
        "deals": pair.duplicates,
        "hands": pair.hands,
        "runs": rows,
        "is_first": after is None,
        "following": following,
    }
