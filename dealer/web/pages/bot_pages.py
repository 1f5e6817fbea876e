"""Page of a bot in a game, with its rating, opponents, versions, faults and last runs.

/bots/GAME/NAME?version=N       by default, the newest version with a rating
    /free                       frees the name
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Final
from urllib.parse import urlencode

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from dealer.errors import RefusedError, WebError
from dealer.server.db import counted_scores, records
from dealer.server.db.bot_registry import bot_owner, free_name
from dealer.server.db.counted_scores import Rating
from dealer.server.db.records import Bot, Run
from dealer.server.db.users import User
from dealer.server.server import ServerParts
from dealer.server.server_settings import ServerGame
from dealer.web.pages.shown_runs import bot_path, named_bot_path, run_path, runs_table
from dealer.web.pages.standings import format_bot_name, make_rate, read_crosstable, standings_crumbs
from dealer.web.security import as_web_error, parse_number, read_form
from dealer.web.site import Site, find_server_game, page_of
from dealer.web.visitor import SEE_OTHER, get_visitor, require_account, require_user
from engine import DealKey
from engine.holdem import is_holdem
from engine.text import ago, shown
from logs.document import DATE, NAME, Axis, Chart, Column, Document, Fact, Link, Part, Section, Series, Table, Value
from logs.document.values import plain_value
from logs.estimation import Estimate, Rate

_LAST_RUNS: Final = 20
_FAULT_RUNS: Final = 1000
_VERSIONS_IN_CHART: Final = 5


def routes(site: Site, server: ServerParts) -> list[BaseRoute]:
    """Return the route of the page."""

    async def show(request: Request, problem: str = "") -> Response:
        game = find_server_game(server, request.path_params["game"])
        name = request.path_params["name"]
        number = parse_number(request.query_params.get("version", ""))
        visitor = get_visitor(request)
        document = await run_in_threadpool(_document, server, game, name, number, visitor.account)
        document, pages = page_of(request, document)
        owner = bot_owner(server.store, game.name, name)
        is_own = visitor.account is not None and visitor.account.id == owner
        return site.document(
            request,
            document,
            "bot.html.jinja",
            crumbs=standings_crumbs(game),
            pages=pages,
            layout="broad paired",
            problems=[problem] if problem else [],
            status=422 if problem else 200,
            path=named_bot_path(game.name, name),
            may_free=owner is not None and (is_own or visitor.is_organiser),
        )

    async def free(request: Request) -> Response:
        """Free the name of the visitor's bot, or of any user's for an organiser."""
        user = require_user(request)
        game = find_server_game(server, request.path_params["game"])
        name = request.path_params["name"]
        await read_form(request)
        owner = None if get_visitor(request).is_organiser else require_account(request).id
        try:
            await server.store.write(partial(free_name, who=user.name, name=name, owner=owner))
        except RefusedError as error:
            return await show(request, as_web_error(error).sentence)
        return RedirectResponse(named_bot_path(game.name, name), SEE_OTHER)

    return [
        Route("/bots/{game:path}/{name}/free", free, methods=["POST"]),
        Route("/bots/{game:path}/{name}", show, methods=["GET"]),
    ]


def _document(server: ServerParts, game: ServerGame, name: str, number: int | None, user: User | None) -> Document:
    store = server.store
    versions = records.versions(store, game.name, name)
    ratings = {rating.bot.version: rating for rating in counted_scores.standings(store, game.name, name)}
    bot = _choose_version(versions, ratings, number)
    if bot is None:
        raise WebError(404, "There is no such bot in this game.")
    runs = records.runs(store, game=game.name, bot=name, limit=_LAST_RUNS)
    rating = ratings.get(bot.version)
    facts = (
        Fact("version", bot.label or (bot.number if len(versions) > 1 else None), NAME),
        Fact("rating", None if rating is None else make_rate(rating, name, "the field"), "+,.0f", "mbb/g"),
        Fact("deals", None if rating is None else rating.duplicates),
        Fact("last seen", _last_seen(server, bot) or None, NAME),
        Fact("runs", Link(f"all of {shown(name)}", f"/runs?{urlencode({'game': game.shown, 'bot': name})}"), NAME),
        Fact("leaks", tuple(_leak_links(server, game, bot, runs, user)) or None, NAME),
    )
    last_runs: Part = "This bot has not played yet."
    if runs:
        last_runs = runs_table("Last runs", runs, server.service.queue.progress())
    parts: tuple[tuple[str, Part | None], ...] = (
        ("Rating", _rating_chart(server, versions, ratings)),
        ("Opponents", _opponents_table(server, game, bot)),
        ("Versions", _versions_table(versions, ratings) if len(versions) > 1 or rating is None else None),
        ("Faults", _faults_table(records.faults_by_kind(store, bot.version, _FAULT_RUNS))),
        ("Last runs", last_runs),
    )
    sections = tuple(Section(title, (part,)) for title, part in parts if part is not None)
    known_facts = tuple(fact for fact in facts if fact.value is not None)
    owner = "the server" if bot.owner is None else shown(bot.owner.name)
    return Document(shown(name), (f"A bot of {owner} in {game.shown}.",), known_facts, sections)


def _choose_version(versions: Sequence[Bot], ratings: Mapping[int, Rating], number: int | None) -> Bot | None:
    """Return the version with a number, or without one the newest that is rated, or else the newest."""
    if number:
        return next((bot for bot in versions if bot.number == number), None)
    rated = (bot for bot in versions if bot.version in ratings)
    newest = versions[0] if versions else None
    return next(rated, newest)


def _last_seen(server: ServerParts, bot: Bot) -> str:
    online = server.service.presence.bots
    if any(guest.owner == bot.owner and guest.name == bot.name for guest in online):
        return "online"
    return "" if bot.seen_s is None else ago(bot.seen_s, time.time())


def _rating_chart(server: ServerParts, versions: Sequence[Bot], ratings: Mapping[int, Rating]) -> Chart | None:
    """Draw the ratings of the last versions, one after the other; None without any."""
    series = []
    marks = []
    start = 0
    for bot in reversed(versions[:_VERSIONS_IN_CHART]):
        points = dict(counted_scores.rating_history(server.store, bot.version))
        rating = ratings.get(bot.version)
        if rating is not None:
            points[rating.duplicates] = Estimate(rating.mbb_per_game, rating.half_width_95)
        # A single point makes no line.
        if len(points) > 1:
            deals = tuple(start + count for count in points)
            means = tuple(estimate.mean for estimate in points.values())
            half_widths = tuple(estimate.half_width for estimate in points.values())
            marks.append((float(start), f"v{bot.number}"))
            series.append(Series(format_bot_name(bot), deals, means, half_widths))
            start = deals[-1]
    if not series:
        return None
    return Chart(
        "Rating with its guaranteed 95 % interval",
        Axis("deals played"),
        Axis("rating", "mbb/g"),
        tuple(series),
        marks=tuple(marks) if len(marks) > 1 else (),
    )


def _opponents_table(server: ServerParts, game: ServerGame, bot: Bot) -> Table | None:
    """Make the table of winnings against each opponent, the largest first."""
    names = {
        version: format_bot_name(other) for version, other in records.all_versions(server.store, game.name).items()
    }
    cells = read_crosstable(server, game, names, bot.version)
    rows = [(names.get(opponent, "?"), cell) for (version, opponent), cell in cells.items() if version == bot.version]
    if not rows:
        return None
    rows.sort(key=lambda row: -_mean(row[1]))
    heading = "opponent" if game.game.num_players == 2 else "at the tables with"
    columns = (Column(heading), Column("won", "+,.0f", "mbb/g", is_drawn=True))
    return Table.of("Opponents", columns, rows)


def _mean(cell: Value) -> float:
    rate = plain_value(cell)
    assert isinstance(rate, Rate)
    return rate.mean


def _versions_table(versions: Sequence[Bot], ratings: Mapping[int, Rating]) -> Table:
    rows = []
    for bot in versions:
        rating = ratings.get(bot.version)
        rate = None if rating is None else make_rate(rating, bot.name, "the field")
        deals = 0 if rating is None else rating.duplicates
        link = Link(bot.number, f"{bot_path(bot)}?version={bot.number}")
        rows.append((link, bot.label, bot.created_s, rate, deals))
    columns = (
        Column("version"),
        Column("label"),
        Column("since", DATE, "UTC"),
        Column("rating", "+,.0f", "mbb/g", is_drawn=True),
        Column("deals", ","),
    )
    return Table.of("Versions", columns, rows).without_empty()


def _faults_table(faults: Mapping[str, int]) -> Table | None:
    if not faults:
        return None
    note = f"In the last {_FAULT_RUNS:,} runs of the version. The owner sees the faulty lines on the page Account."
    return Table.of("Faults", (Column("fault"), Column("times", ",")), faults.items(), note)


def _leak_links(
    server: ServerParts, game: ServerGame, bot: Bot, runs: Sequence[Run], user: User | None
) -> Iterator[Link]:
    """Yield links to runs that show the bot's leaks, or to a form that requests one; only for the owner."""
    if bot.owner is None or bot.owner != user or not is_holdem(game.game):
        return
    # Runs with a secret key have other cards in every seating, which hides leaks.
    leak_runs = [run for run in runs if run.results and not isinstance(run.seed, DealKey)]
    for run in leak_runs:
        yield Link(f"run {run.id}", f"{run_path(str(run.id))}/leaks?{urlencode({'player': bot.name})}")
    if not leak_runs and server.settings.practice_duplicates:
        query = {"game": game.name, "player1": bot.name, "practice": 1}
        yield Link("request a practice contest", f"/account/request?{urlencode(query)}")
