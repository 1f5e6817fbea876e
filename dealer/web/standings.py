"""The standings of a server: ratings with their intervals, the crosstable of a game, its pairs and their runs.

/standings              the games
/standings/GAME         ratings and crosstable
/pairs/GAME/NUMBER      a pair: its runs, those that its first bot lost most on before the others
"""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import quote

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from dealer.errors import WebError
from dealer.server import records
from dealer.server.records import PairRecord, RunRecord
from dealer.server.server import ServerParts
from dealer.server.settings import HouseGame
from dealer.web.addresses import run_path
from dealer.web.crosstable import Cell, Crosstable, Line, cell_of
from dealer.web.site import Site
from logs.estimation import Rate
from logs.text import shown

__all__ = ["routes"]

_MOST_RUNS: Final = 200
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
        table = await run_in_threadpool(_table, server, found)
        names = [one.name for one in server.settings.games]
        return site.page(request, "standings.html.jinja", games=names, table=table, game=found.name)

    async def pair(request: Request) -> Response:
        found = _game(server, request)
        number = request.path_params["number"]
        if not (number.isascii() and number.isdigit() and len(number) <= _MOST_DIGITS):
            raise WebError(404, "There is no such pair.")
        values = await run_in_threadpool(_pair, server, found, int(number))
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


def _name(name: str, number: int) -> str:
    """A bot with its version, if it is not the first."""
    return shown(name) + (f" v{number}" if number > 1 else "")


def _table(server: ServerParts, game: HouseGame) -> Crosstable:
    ratings = records.standings(server.store, game.name)
    won: dict[tuple[int, int], tuple[PairRecord, Rate]] = {}
    for pair in records.pairs(server.store, game):
        if len(pair.scores) == 2:
            for mine, theirs in (pair.scores, pair.scores[::-1]):
                won[mine.version, theirs.version] = pair, Rate(mine.mbb_per_game, mine.half_width_95, "", "")
    lines = []
    for place, rating in enumerate(ratings, 1):
        name = _name(rating.bot.name, rating.bot.number)
        cells = []
        for other in ratings:
            met = won.get((rating.bot.version, other.bot.version))
            if met is None:
                cells.append(Cell(""))
                continue
            pair, rate = met
            named = Rate(rate.mbb, rate.half_width, name, _name(other.bot.name, other.bot.number))
            cells.append(cell_of(named, f"/pairs/{quote(game.name, safe='/')}/{pair.id}"))
        mean = cell_of(Rate(rating.mbb_per_game, rating.half_width_95, name, "the field"))
        lines.append(Line(place, name, mean, tuple(cells), is_provisional=rating.is_provisional))
    return Crosstable(shown(game.name), tuple(line.name for line in lines), tuple(lines))


def _pair(server: ServerParts, game: HouseGame, number: int) -> dict[str, Any]:
    pair = records.pair(server.store, game, number)
    if pair is None:
        raise WebError(404, "There is no such pair.")
    bots = [records.bot(server.store, score.version) for score in pair.scores]
    names = ["?" if bot is None else _name(bot.name, bot.number) for bot in bots]
    first = pair.scores[0].version

    def won(run: RunRecord) -> float:
        return sum(seat.mbb_per_game or 0.0 for seat in run.seats if seat.version == first)

    runs = sorted(records.runs(server.store, pair=number, most=_MOST_RUNS), key=won)
    scores = [
        (name, cell_of(Rate(score.mbb_per_game, score.half_width_95, name, "")).text)
        for name, score in zip(names, pair.scores, strict=True)
    ]
    rows = []
    for run in runs:
        mine = next((seat for seat in run.seats if seat.version == first), run.seats[0])
        rate = None if mine.mbb_per_game is None else Rate(mine.mbb_per_game, mine.half_width_95, "", "")
        rows.append((run_path(str(run.id)), run.id, run.duplicates or 0, cell_of(rate).text))
    return {"names": names, "scores": scores, "deals": pair.duplicates, "hands": pair.hands, "runs": rows}
