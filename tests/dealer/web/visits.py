"""Servers with pages in the loop of a test, and HTTP clients with cookies that visit them."""

from __future__ import annotations

import contextlib
import os
import re
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx2
import pytest

from dealer.run.run_settings import BotSettings
from dealer.server.accounts import GuessLimit, add_token
from dealer.server.db import counted_scores
from dealer.server.db.store import DATABASE_NAME, Store
from dealer.server.db.users import add_user
from dealer.server.server import WebFace
from dealer.server.server_settings import ServerGame, ServerSettings, WebSettings, bots_for
from dealer.web.server_site import server_site
from protocol import find_game
from tests.dealer.server.servers import House, running
from tests.filled import BOTS, USERS, enter_ratings, fill
from tests.programs import PATIENCE_S


def small_house(deals: int = 20, max_deals: int = 10_000, **web: Any) -> ServerSettings:
    """Settings of a server with four games and small bots, on free ports."""
    games = []
    for name in ("kuhn", "leduc", "limit", "nolimit"):
        full, game = find_game(name)
        games.append(ServerGame(full, full, game, deals, 10, bots_for(game, ("random", "calling")), max_deals))
    return ServerSettings(tuple(games), port=0, web=WebSettings(port=0, **web))


@dataclass
class Visit:
    """Server and an HTTP client.

    Attributes:
        house: the server.
        browser: client that keeps cookies and follows no redirection.
        token: of the user `player`.
    """

    house: House
    browser: httpx2.AsyncClient
    token: str

    @property
    def address(self) -> str:
        """URL of the pages."""
        assert self.house.started.page is not None
        return self.house.started.page

    def another(self) -> httpx2.AsyncClient:
        """Create another client, without cookies."""
        return httpx2.AsyncClient(base_url=self.address, timeout=PATIENCE_S, verify=False)

    async def form_key(self, path: str = "/login") -> str:
        """Return the key in the first form of a page."""
        match = re.search('name="form_key" value="([0-9a-f]+)"', (await self.browser.get(path)).text)
        assert match
        return match[1]

    async def log_in(self, name: str = "player", secret: str | None = None) -> httpx2.Response:
        """Submit the login form."""
        data = {"form_key": await self.form_key(), "name": name, "secret": secret or self.token, "next": "/"}
        return await self.browser.post("/login", data=data)


@contextlib.asynccontextmanager
async def visiting(
    settings: ServerSettings,
    folder: Path,
    *,
    guesses: GuessLimit | None = None,
    web: WebFace = server_site,
) -> AsyncIterator[Visit]:
    """Run a server with pages until the end of the block; yield it with a client."""
    async with running(settings, folder, guesses, web) as house:
        assert house.started.page is not None
        async with httpx2.AsyncClient(base_url=house.started.page, timeout=PATIENCE_S, verify=False) as browser:
            yield Visit(house, browser, house.started.token or "")


@contextlib.asynccontextmanager
async def logged_in_visit(folder: Path, **web: Any) -> AsyncIterator[Visit]:
    """Run a small server, and log in as `player`."""
    async with visiting(small_house(**web), folder) as visit:
        assert (await visit.log_in()).status_code == 303
        yield visit


def new_user(folder: Path, name: str) -> str:
    """Add a user to the server in a folder; return a token."""
    store = Store(folder / DATABASE_NAME)
    try:
        return store.write_now(lambda db: add_token(db, add_user(db, name)))
    finally:
        store.close()


def with_web(settings: ServerSettings, **changes: Any) -> ServerSettings:
    """Change settings of the pages."""
    return replace(settings, web=replace(settings.web, **changes))


def fill_server(folder: Path, settings: ServerSettings, runs: int, bots: int = BOTS, players: int = 2) -> list[str]:
    """Write a database as after many rated runs of the first game; return the bots, the best first."""
    game = settings.games[0]
    with contextlib.closing(Store(folder / DATABASE_NAME)) as store:
        for number in range(USERS):
            store.write_now(lambda db, number=number: add_user(db, f"user{number}"))  # type: ignore[misc]
        store.write_now(lambda db: fill(db, game, runs, bots, players))
        enter_ratings(store, game)
        return [rating.bot.name for rating in counted_scores.standings(store, game.name)]


SLOW_BOT = """#!{python} -ISs
import socket, sys, time
with socket.create_connection((sys.argv[1], int(sys.argv[2]))) as dealer:
    dealer.sendall(b"VERSION:2.0.0\\r\\n")
    for line in dealer.makefile("rb"):
        time.sleep(0.02)
        dealer.sendall(line.strip() + b":c\\r\\n")
"""


def with_slow_bot(settings: ServerSettings, folder: Path) -> ServerSettings:
    """Give the first game a bot named slow, which keeps a long run going without using the processor."""
    if os.name == "nt":
        pytest.skip("the bot is a script")
    script = folder / "slow.py"
    script.write_text(SLOW_BOT.format(python=sys.executable))
    script.chmod(0o755)
    first, *games = settings.games
    first = replace(first, bots={**first.bots, "slow": BotSettings(bot=str(script))})
    return replace(settings, games=(first, *games))
