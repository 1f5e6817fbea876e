"""Servers with pages inside a test, and browsers without a screen that visit them."""

from __future__ import annotations

import contextlib
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx2

from dealer.server.accounts import GuessLimit, add_token
from dealer.server.db.store import DATABASE_NAME, Store
from dealer.server.db.users import add_user
from dealer.server.server import WebFace
from dealer.server.server_settings import ServerGame, ServerSettings, WebSettings, bots_for
from dealer.web.server_site import server_site
from protocol import find_game
from tests.dealer.server.servers import House, running
from tests.programs import PATIENCE_S


def small_house(deals: int = 20, max_deals: int = 10_000, **web: Any) -> ServerSettings:
    """A server of four games with small bots, on free ports."""
    games = []
    for name in ("kuhn", "leduc", "limit", "nolimit"):
        full, game = find_game(name)
        games.append(ServerGame(full, full, game, deals, 10, bots_for(game, ("random", "calling")), max_deals))
    return ServerSettings(tuple(games), port=0, web=WebSettings(port=0, **web))


@dataclass
class Visit:
    """A server, and a browser without a screen.

    Attributes:
        house: the server.
        browser: keeps its cookies; follows no redirection.
        token: of the user `player`.
    """

    house: House
    browser: httpx2.AsyncClient
    token: str

    @property
    def address(self) -> str:
        """Of the pages."""
        assert self.house.started.page is not None
        return self.house.started.page

    def another(self) -> httpx2.AsyncClient:
        """Another browser."""
        return httpx2.AsyncClient(base_url=self.address, timeout=PATIENCE_S, verify=False)

    async def form_key(self, path: str = "/login") -> str:
        """The key in the first form of a page."""
        found = re.search('name="form_key" value="([0-9a-f]+)"', (await self.browser.get(path)).text)
        assert found
        return found[1]

    async def log_in(self, name: str = "player", secret: str | None = None) -> httpx2.Response:
        """Send the form of the login."""
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
    """Run a server with pages and a browser until the end of the block."""
    async with running(settings, folder, guesses, web) as house:
        assert house.started.page is not None
        async with httpx2.AsyncClient(base_url=house.started.page, timeout=PATIENCE_S, verify=False) as browser:
            yield Visit(house, browser, house.started.token or "")


@contextlib.asynccontextmanager
async def logged_in(folder: Path, **web: Any) -> AsyncIterator[Visit]:
    """Run a small server whose browser has logged in as `player`."""
    async with visiting(small_house(**web), folder) as visit:
        assert (await visit.log_in()).status_code == 303
        yield visit


def new_user(folder: Path, name: str) -> str:
    """A user of the server in a folder; returns a token."""
    store = Store(folder / DATABASE_NAME)
    try:
        return store.write_now(lambda db: add_token(db, add_user(db, name)))
    finally:
        store.close()


def with_web(settings: ServerSettings, **changes: Any) -> ServerSettings:
    """Settings whose pages are set otherwise."""
    return replace(settings, web=replace(settings.web, **changes))
