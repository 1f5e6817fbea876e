"""A bot in a game: its rating as it played, its opponents, its versions, its faults, its last runs.

/bots/GAME/NAME?version=N       without a version, the newest that is rated
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Final
from urllib.parse import urlencode

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from dealer.errors import WebError
from dealer.server.db import counted_scores, records
from dealer.server.db.counted_scores import Rating
from dealer.server.db.records import Bot, Run
from dealer.server.db.users import User
from dealer.server.server import ServerParts
from dealer.server.server_settings import ServerGame
from dealer.web.pages.shown_runs import bot_path, run_path, runs_table
from dealer.web.pages.standings import format_bot_name, make_rate, read_crosstable, standings_crumbs
from dealer.web.security import parse_number
from dealer.web.site import Site, find_server_game
from dealer.web.visitor import get_visitor
from engine import DealKey
from engine.holdem import is_holdem
from engine.text import ago, shown
from logs.document import DATE, NAME, Axis, Chart, Column, Document, Fact, Link, Part, Section, Series, Table, Value
from logs.document.values import plain_value
from logs.estimation import Estimate, Rate

_RUNS: Final = 20
_FAULTY_RUNS: Final = 1000
_VERSIONS_OF_A_CHART: Final = 5


def routes(site: Site, server: ServerParts) -> list[BaseRoute]:
    """The address of these pages."""

    async def bot(request: Request) -> Response:
        game, name = find_server_game(server, request.path_params["game"]), request.path_params["name"]
        number, user = parse_number(request.query_params.get("version", "")), get_visitor(request).user
        document = await run_in_threadpool(_document, server, game, name, number, user)
        return site.document(request, document, crumbs=standings_crumbs(game), layout="broad paired")

    return [Route("/bots/{game:path}/{name}", bot)]


def _document(server: ServerParts, game: ServerGame, name: str, number: int | None, user: User | None) -> Document:
    store = server.store
    versions = records.versions(store, game.name, name)
    ratings = {rating.bot.version: rating for rating in counted_scores.standings(store, game.name, name)}
    chosen = (
        [one for one in versions if one.number == number]
        if number
        else [
            *(one for one in versions if one.version in ratings),
            *versions,
        ]
    )
    if not chosen:
        raise WebError(404, "There is no such bot in this game.")
    bot = chosen[0]
    rating, faults = ratings.get(bot.version), records.faults_by_kind(store, bot.version, _FAULTY_RUNS)
    runs = records.runs(store, game=game.name, bot=name, limit=_RUNS)
    owner = "the server" if bot.owner is None else shown(bot.owner.name)
    is_here = any(one.owner == bot.owner and one.name == name for one in server.service.presence.bots)
    seen = "online" if is_here else "" if bot.seen_s is None else ago(bot.seen_s, time.time())
    every = Link(f"all of {shown(name)}", f"/runs?{urlencode({'game': game.shown, 'bot': name})}")
    facts = (
        Fact("version", bot.label or (bot.number if len(versions) > 1 else None), NAME),
        Fact("rating", None if rating is None else make_rate(rating, name, "the field"), "+,.0f", "mbb/g"),
        Fact("deals", None if rating is None else rating.duplicates),
        Fact("last seen", seen or None, NAME),
        Fact("runs", every, NAME),
        Fact("leaks", tuple(_leak_links(server, game, bot, runs, user)) or None, NAME),
    )
    parts: tuple[tuple[str, Part | None], ...] = (
        ("Rating", _rating_chart(server, versions, ratings)),
        ("Opponents", _opponents(server, game, bot)),
        ("Versions", _versions_table(versions, ratings) if len(versions) > 1 or rating is None else None),
        ("Faults", _faults_table(faults)),
        (
            "Last runs",
            runs_table("Last runs", runs, server.service.queue.progress()) if runs else "None has been played yet.",
        ),
    )
    sections = tuple(Section(title, (part,)) for title, part in parts if part is not None)
    known = tuple(fact for fact in facts if fact.value is not None)
    return Document(shown(name), (f"A bot of {owner} in {game.shown}.",), known, sections)


def _rating_chart(server: ServerParts, versions: Sequence[Bot], ratings: dict[int, Rating]) -> Chart | None:
    """The ratings of the last versions, one after the other."""
    series, marks, start = [], [], 0
    for bot in versions[:_VERSIONS_OF_A_CHART][::-1]:
        points = dict(counted_scores.rating_history(server.store, bot.version))
        if (now := ratings.get(bot.version)) is not None:
            points[now.duplicates] = Estimate(now.mbb_per_game, now.half_width_95)
        if len(points) > 1:
            units, values = zip(*points.items(), strict=True)
            means, half_widths = tuple(one.mean for one in values), tuple(one.half_width for one in values)
            marks.append((float(start), f"v{bot.number}"))
            series.append(Series(format_bot_name(bot), tuple(start + one for one in units), means, half_widths))
            start += units[-1]
    title = "Rating with its 95 % interval"
    named = tuple(marks) if len(marks) > 1 else ()
    return Chart(title, Axis("deals played"), Axis("rating", "mbb/g"), tuple(series), marks=named) if series else None


def _opponents(server: ServerParts, game: ServerGame, bot: Bot) -> Table | None:
    """What a version won from each opponent, the most first."""
    names = {version: format_bot_name(one) for version, one in records.all_versions(server.store, game.name).items()}
    met = read_crosstable(server, game, names, bot.version)
    rows = [(names.get(other, "?"), won) for (mine, other), won in met.items() if mine == bot.version]
    rows.sort(key=lambda row: -_mean(row[1]))
    who = "opponent" if game.game.num_players == 2 else "at the tables with"
    columns = (Column(who), Column("won", "+,.0f", "mbb/g", is_drawn=True))
    return Table.of("Opponents", columns, rows) if rows else None


def _mean(value: Value) -> float:
    won = plain_value(value)
    assert isinstance(won, Rate)
    return won.mean


def _versions_table(versions: Sequence[Bot], ratings: dict[int, Rating]) -> Table:
    rows = []
    for one in versions:
        rating = ratings.get(one.version)
        won = None if rating is None else make_rate(rating, one.name, "the field")
        link = Link(one.number, f"{bot_path(one)}?version={one.number}")
        rows.append((link, one.label, one.created_s, won, 0 if rating is None else rating.duplicates))
    columns = (
        Column("version"),
        Column("label"),
        Column("since", DATE, "UTC"),
        Column("rating", "+,.0f", "mbb/g", is_drawn=True),
        Column("deals", ","),
    )
    return Table.of("Versions", columns, rows).without_empty()


def _faults_table(faults: dict[str, int]) -> Table | None:
    note = f"In the last {_FAULTY_RUNS:,} runs of the version. The owner finds the lines on the page Account."
    return Table.of("Faults", (Column("fault"), Column("times", ",")), faults.items(), note) if faults else None


def _leak_links(
    server: ServerParts, game: ServerGame, bot: Bot, runs: Sequence[Run], user: User | None
) -> Iterator[Link]:
    """For the owner: the runs with the same cards in all seatings, which show where the bot loses, or a way to one."""
    if bot.owner is None or bot.owner != user or not is_holdem(game.game):
        return
    shows = [run for run in runs if run.results and not isinstance(run.seed, DealKey)]
    yield from (
        Link(f"run {run.id}", f"{run_path(str(run.id))}/leaks?{urlencode({'player': bot.name})}") for run in shows
    )
    if not shows and server.settings.practice_duplicates:
        asked = {"game": game.name, "player1": bot.name, "practice": 1}
        yield Link("have a practice contest played", f"/account/request?{urlencode(asked)}")
