"""The standings of a server: ratings with their intervals, the crosstable of a game, its pairs and their runs.

/standings              the games
/standings/GAME         ratings and crosstable
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
from dealer.server import crosstable, records
from dealer.server.crosstable import PairRecord, worst_runs
from dealer.server.server import ServerParts
from dealer.server.settings import HouseGame
from dealer.web.addresses import run_path
from dealer.web.crosstable import Cell, Crosstable, Line, LineUp, cell_of
from dealer.web.site import Site
from logs.estimation import Rate
from logs.text import shown

__all__ = ["routes"]

_RUNS_OF_A_PAGE: Final = 100
_MOST_DIGITS: Final = 12


def routes(site: Site) -> list[BaseRoute]:
    """The pages of this room; none for a site without a server."""
    server = site.server
    if server is None:
        return []

    async def games(request: Request) -> Response:
        names = [game.name for game in server.settings.games]
        return site.page(request, "standings.html.jinja", games=names, table=None, lineups=(), game=None)

    async def game(request: Request) -> Response:
        found = _game(server, request)
        table, lineups = await run_in_threadpool(_table, server, found)
        names = [one.name for one in server.settings.games]
        return site.page(request, "standings.html.jinja", games=names, table=table, lineups=lineups, game=found.name)

    async def pair(request: Request) -> Response:
        found = _game(server, request)
        number = request.path_params["number"]
        if not _is_number(number):
            raise WebError(404, "There is no such pair.")
        after = request.query_params.get("after", "")
        if after and not _is_number(after):
            raise WebError(404, "There is no such page.")
        values = await run_in_threadpool(_pair, server, found, int(number), int(after) if after else None)
        return site.page(request, "pair.html.jinja", game=found.name, **values)

    return [
        Route("/standings", games),
        Route("/standings/{game:path}", game),
        Route("/pairs/{game:path}/{number}", pair),
    ]


def _game(server: ServerParts, request: Request) -> HouseGame:
    found = next((one for one in server.settings.games if one.name == request.path_params["game"]), None)
    if found is None:
        raise WebError(404, "That game is not played here.")
    return found


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS


def _name(name: str, number: int) -> str:
    """A bot with its version, if it is not the first."""
    return shown(name) + (f" v{number}" if number > 1 else "")


def _table(server: ServerParts, game: HouseGame) -> tuple[Crosstable, tuple[LineUp, ...]]:
    """The ratings of a game; between two also who won what from whom, else what each won at each table."""
    ratings = crosstable.standings(server.store, game.name)
    pairs = crosstable.pairs(server.store, game)
    names = {rating.bot.version: _name(rating.bot.name, rating.bot.number) for rating in ratings}
    is_for_two = game.game.num_players == 2
    met = {
        (mine.version, theirs.version): cell_of(
            Rate(mine.mbb_per_game, mine.half_width_95, names.get(mine.version, "?"), names.get(theirs.version, "?")),
            _pair_path(game, pair),
        )
        for pair in pairs
        if is_for_two
        for mine, theirs in (pair.scores, pair.scores[::-1])
    }
    lines = []
    for place, rating in enumerate(ratings, 1):
        name = names[rating.bot.version]
        mean = cell_of(Rate(rating.mbb_per_game, rating.half_width_95, name, "the field"))
        cells = tuple(met.get((rating.bot.version, other), Cell("")) for other in names) if is_for_two else ()
        lines.append(Line(place, name, mean, cells, is_provisional=rating.is_provisional))
    table = Crosstable(shown(game.name), tuple(names.values()) if is_for_two else (), tuple(lines))
    return table, () if is_for_two else tuple(_lineup(game, pair, names) for pair in pairs)


def _lineup(game: HouseGame, pair: PairRecord, names: dict[int, str]) -> LineUp:
    """What the bots of a table won there."""
    others = "the others at the table"
    won = {
        score.version: cell_of(Rate(score.mbb_per_game, score.half_width_95, names.get(score.version, "?"), others))
        for score in pair.scores
    }
    cells = tuple(won.get(version, Cell("")) for version in names)
    seated = " - ".join(names.get(version, "?") for version in won)
    return LineUp(seated, _pair_path(game, pair), pair.duplicates, cells)


def _pair_path(game: HouseGame, pair: PairRecord) -> str:
    return f"/pairs/{quote(game.name, safe='/')}/{pair.id}"


def _pair(server: ServerParts, game: HouseGame, number: int, after: int | None) -> dict[str, Any]:
    pair = crosstable.pair(server.store, game, number)
    if pair is None:
        raise WebError(404, "There is no such pair.")
    bots = [records.bot(server.store, score.version) for score in pair.scores]
    names = ["?" if bot is None else _name(bot.name, bot.number) for bot in bots]
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
