"""Gain of a user's rating from two of the user's own bots that lose on purpose, with and without the rule.

    python research/serve/puppets.py [--deals N] [--lost N]

The server has eight bots of its own, and three of a user that are the same program: `mallory`, `puppet1` and `puppet2`.
The ladder plays all pairs, so that every bot has its true rating. Then the puppets, under the same name and version,
fold to every bet, and challenge `mallory` for some thousand deals. This is played twice from the same state: once as if
contests between bots of one user counted, and once by the rule of the server
(`dealer.server.queue.unrated.unrated_reason`).

The server draws the keys of the cards, so figures of two runs of this program differ within their intervals.

"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import shutil
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from math import comb
from pathlib import Path
from typing import Final
from unittest import mock

from dealer.joining.connection import JoinSettings
from dealer.joining.server_client import Joining
from dealer.server.accounts import add_token
from dealer.server.db.counted_scores import table_scores
from dealer.server.db.records import all_versions
from dealer.server.db.store import DATABASE_NAME, Store
from dealer.server.db.users import add_user
from dealer.server.ratings import FittedRating, fit_ratings
from dealer.server.server import Started, serve
from dealer.server.server_settings import LadderSettings, ServerGame, ServerSettings, WebSettings, bots_for
from dealer.table.loop import new_event_loop
from dealer.table.players import parse_player
from dealer.web.server_site import server_site
from logs.document import text_of
from logs.estimation import score_bounds
from protocol import find_game
from protocol.joining import Challenge, ContestTerms

FIELD: Final = ("calling", "constant", "folding", "mfs", "raising", "random", "rembrant", "rh")
PUPPETS: Final = ("puppet1", "puppet2")
MALLORYS: Final = ("mallory", *PUPPETS)
HONEST, LOSING = "random", "folding"
"""Strategies of Mallory's bots, and of the puppets when they lose."""
_ANY_WIDTH = 1e9
_LOOK_S = 0.2

Ratings = dict[str, FittedRating]


def _settings(game: str, field: Sequence[str], deals: int) -> ServerSettings:
    full, rules = find_game(game)
    games = (ServerGame(full, full, rules, deals, 10, bots_for(rules, field), max_deals=max(deals, 100_000)),)
    return ServerSettings(games, port=0, web=WebSettings(port=0))


async def _with_server(settings: ServerSettings, folder: Path, work: Callable[[str], Awaitable[None]]) -> None:
    """Run a server in a folder while an async function uses the address of its pages."""
    started: asyncio.Future[Started] = asyncio.get_running_loop().create_future()
    server = asyncio.create_task(serve(settings, folder, started.set_result, web=server_site))
    await asyncio.wait([server, started], return_when=asyncio.FIRST_COMPLETED)
    if server.done():
        server.result()
    try:
        await work((await started).page or "")
    finally:
        server.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await server


def _serve(settings: ServerSettings, folder: Path, work: Callable[[str], Awaitable[None]]) -> None:
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        runner.run(_with_server(settings, folder, work))


def field_ratings(settings: ServerSettings, folder: Path, deals: int, token: str) -> Ratings:
    """Return the ratings after the ladder has played every pair once."""
    (game,) = settings.games

    async def work(address: str) -> None:
        clients = [
            asyncio.create_task(Joining(_joining(address, token, folder, name, HONEST, game.name), _ignore).run())
            for name in MALLORYS
        ]
        pairs = comb(len(game.bots) + len(MALLORYS), 2) - comb(len(MALLORYS), 2)
        with contextlib.closing(Store(folder / DATABASE_NAME)) as store:
            while store.read("SELECT count(*) AS n FROM lineups")[0]["n"] < pairs:
                await asyncio.sleep(_LOOK_S)
        for client in clients:
            client.cancel()
        await asyncio.gather(*clients, return_exceptions=True)

    ladder = LadderSettings(width=_ANY_WIDTH, games=(game.name,), deals=deals, share=1.0)
    _serve(replace(settings, ladder=ladder), folder, work)
    return _ratings(game, folder)


def lose(settings: ServerSettings, folder: Path, lost: int, token: str) -> Ratings:
    """Return the ratings after each puppet has challenged Mallory's first bot and lost half of the deals."""
    (game,) = settings.games

    async def work(address: str) -> None:
        first = asyncio.create_task(
            Joining(_joining(address, token, folder, MALLORYS[0], HONEST, game.name), _ignore).run()
        )
        for name in PUPPETS:
            challenge = Challenge(name, game.name, (name, MALLORYS[0]), terms=ContestTerms(deals=lost // len(PUPPETS)))
            settings = _joining(address, token, folder, name, LOSING, game.name)
            await Joining(replace(settings, challenges=(challenge,)), _ignore).run()
        first.cancel()
        await asyncio.gather(first, return_exceptions=True)

    _serve(settings, folder, work)
    return _ratings(game, folder)


def _joining(address: str, token: str, folder: Path, name: str, bot: str, game: str) -> JoinSettings:
    output = folder / "joined" / name
    output.mkdir(parents=True, exist_ok=True)
    player = replace(parse_player(bot), name=name)
    return JoinSettings(address, token, player, output, games=(game,), at_once=2, is_on_ladder=True)


def _ignore(news: object) -> None:
    del news


def _ratings(game: ServerGame, folder: Path) -> Ratings:
    """Return each bot's rating from everything that counts, the highest first."""
    with contextlib.closing(Store(folder / DATABASE_NAME)) as store:
        names = {version: bot.name for version, bot in all_versions(store, game.name).items()}
        fitted = fit_ratings(table_scores(store, game.name), score_bounds(game.game))
    return {names[one.player]: one for one in sorted(fitted, key=lambda one: -one.won.mean)}


def attack(game: str, field: Sequence[str], *, deals: int, lost: int) -> tuple[Ratings, Ratings, Ratings]:
    """Return the ratings before the puppets lose, after it if that counted, and after it by the rule of the server.

    Args:
        deals: of each pair before. lost: of the puppets together.

    """
    settings = _settings(game, field, deals)
    with tempfile.TemporaryDirectory() as name:
        before, as_if, by_rule = (Path(name) / one for one in ("before", "as-if", "by-rule"))
        before.mkdir()
        with contextlib.closing(Store(before / DATABASE_NAME)) as store:
            token = store.write_now(lambda db: add_token(db, add_user(db, "mallory")))
        honest = field_ratings(settings, before, deals, token)
        shutil.copytree(before, as_if)
        shutil.copytree(before, by_rule)
        with mock.patch("dealer.server.queue.unrated.has_one_owner_twice", return_value=False):
            bought = lose(settings, as_if, lost, token)
        return honest, bought, lose(settings, by_rule, lost, token)


def place(ratings: Ratings, name: str) -> int:
    """Return the place of a bot, from 1."""
    return 1 + list(ratings).index(name)


def _cell(ratings: Ratings, name: str) -> str:
    rating = ratings[name]
    return f"{place(ratings, name)}. {text_of(rating.won, '+,.0f')}".replace("-", "−")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--deals", type=int, default=1000)
    parser.add_argument("--lost", type=int, default=3000)
    options = parser.parse_args()
    found = attack("limit", FIELD, deals=options.deals, lost=options.lost)
    print("| bot | before | if it counted | by the rule |\n| --- | ---: | ---: | ---: |")
    for name in found[0]:
        print(f"| `{name}` | {' | '.join(_cell(ratings, name) for ratings in found)} |")


if __name__ == "__main__":
    main()
