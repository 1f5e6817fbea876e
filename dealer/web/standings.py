"""The standings of a server: ratings with their intervals, the crosstable of a game, its pairs and their runs.

/standings              the games
/standings/GAME         ratings and crosstable
/tables/GAME            of a game of more than two: all tables, or those at which two bots met
/pairs/GAME/NUMBER      a pair, or a table of more: its runs, those that its first bot lost most on before the others
"""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import quote

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from dealer.errors import WebError
from dealer.server.db import crosstable, records
from dealer.server.db.crosstable import Company, Pair, worst_runs
from dealer.server.server import ServerParts
from dealer.server.settings import ServerGame
from dealer.web.site import Site
from dealer.web.views import Cell, Crosstable, Line, LineUp, cell_of, run_path
from engine.text import shown
from logs.estimation import Rate

_RUNS_OF_A_PAGE: Final = 100
_TABLES_OF_A_PAGE: Final = 50
_MOST_DIGITS: Final = 12


def routes(site: Site) -> list[BaseRoute]:
    """The pages of this room; none for a site without a server."""
    server = site.server
    if server is None:
        return []

    async def games(request: Request) -> Response:
        names = [game.name for game in server.settings.games]
        return site.page(request, "standings.html.jinja", games=names, table=None, game=None)

    async def game(request: Request) -> Response:
        found = _game(server, request)
        table, tables = await run_in_threadpool(_table, server, found)
        names = [one.name for one in server.settings.games]
        path = _tables_path(found)
        return site.page(
            request, "standings.html.jinja", games=names, table=table, game=found.name, tables=tables, tables_path=path
        )

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
        Route("/standings", games),
        Route("/standings/{game:path}", game),
        Route("/tables/{game:path}", tables),
        Route("/pairs/{game:path}/{number}", pair),
    ]


def _game(server: ServerParts, request: Request) -> ServerGame:
    found = next((one for one in server.settings.games if one.name == request.path_params["game"]), None)
    if found is None:
        raise WebError(404, "This server does not have that game.")
    return found


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


def _table(server: ServerParts, game: ServerGame) -> tuple[Crosstable, int]:
    """The ratings of a game and who won what against, or in the company of, whom; and of more than two, the tables."""
    ratings = crosstable.standings(server.store, game.name)
    names = {rating.bot.version: _name(rating.bot.name, rating.bot.number) for rating in ratings}
    is_for_two = game.game.num_players == 2
    met = _against(server, game, names) if is_for_two else _in_company(server, game, names)
    lines = []
    for place, rating in enumerate(ratings, 1):
        name = names[rating.bot.version]
        mean = cell_of(Rate(rating.mbb_per_game, rating.half_width_95, name, "the field"))
        cells = tuple(met.get((rating.bot.version, other), Cell("")) for other in names)
        lines.append(Line(place, name, mean, cells, is_provisional=rating.is_provisional))
    tables = 0 if is_for_two else crosstable.count_tables(server.store, game)
    return Crosstable(shown(game.name), tuple(names.values()), tuple(lines), not is_for_two), tables


def _against(server: ServerParts, game: ServerGame, names: dict[int, str]) -> dict[tuple[int, int], Cell]:
    """By version and opponent, what the one won from the other."""
    return {
        (mine.version, theirs.version): cell_of(
            Rate(mine.mbb_per_game, mine.half_width_95, names.get(mine.version, "?"), names.get(theirs.version, "?")),
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
    rate = Rate(one.mbb_per_game, one.half_width_95, name, "the others")
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
    rates = [Rate(score.mbb_per_game, score.half_width_95, names[score.version], "the others") for score in scores]
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
        (name, cell_of(Rate(score.mbb_per_game, score.half_width_95, name, "")).text)
        for name, score in zip(names, pair.scores, strict=True)
    ]
    rows = []
    for run in runs:
        mine = next((seat for seat in run.seats if seat.version == first), run.seats[0])
        rate = None if mine.mbb_per_game is None else Rate(mine.mbb_per_game, mine.half_width_95, "", "")
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
