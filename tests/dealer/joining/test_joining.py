"""Bots that join a server: their matches are those that would be played here, whatever happens to their connections."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from dealer.joining.client import JoinEnding, Joining
from dealer.joining.settings import (
    Challenge,
    JoinSettings,
    News,
)
from dealer.library import play
from dealer.server.settings import ServerSettings
from dealer.server.toml_settings import read_toml_settings
from dealer.table.loop import new_event_loop
from dealer.table.players import parse_player
from protocol.joining import RunOver
from tests.dealer.helpers import PATIENCE_S
from tests.dealer.server.servers import House, running

GAMES = """
port = 0
rejoin_timeout_s = {rejoin}
t_response_s = {response}
[[games]]
game = "kuhn.limit.2p"
name = "kuhn"
hands = 60
max_hands = 100000
max_running = 8
bots = ["A=./bot2l.sh"]
"""


def settings_of(folder: Path, *, rejoin: float = 60, response: float = 60) -> ServerSettings:
    path = folder / "s.toml"
    path.write_text(GAMES.format(rejoin=rejoin, response=response))
    return read_toml_settings(path)


@dataclass
class Bringing:
    """A client in the loop of the test.

    Attributes:
        news: what it was told. task: it runs as long as this.
    """

    settings: JoinSettings
    news: list[News] = field(default_factory=list)
    task: asyncio.Task[JoinEnding] | None = None
    _changed: asyncio.Event = field(default_factory=asyncio.Event)

    def start(self) -> None:
        def note(news: News) -> None:
            self.news.append(news)
            self._changed.set()

        self.task = asyncio.create_task(Joining(self.settings, note).run())

    async def until(self, kind: type[Any], count: int = 1) -> Any:
        """Wait until it was told so many things of a kind; returns the last."""
        assert self.task is not None
        async with asyncio.timeout(PATIENCE_S):
            while len(found := [news for news in self.news if isinstance(news, kind)]) < count:
                self._changed.clear()
                waiting = asyncio.create_task(self._changed.wait())
                await asyncio.wait([waiting, self.task], return_when=asyncio.FIRST_COMPLETED)
                waiting.cancel()
                if self.task.done() and not [news for news in self.news if isinstance(news, kind)]:
                    self.task.result()
                    raise AssertionError(f"it has left after {self.news}")
        return found[count - 1]

    async def ending(self) -> JoinEnding:
        """Wait until it leaves."""
        assert self.task is not None
        async with asyncio.timeout(PATIENCE_S):
            return await self.task

    async def leave(self) -> None:
        """Have it leave as Ctrl-C does."""
        assert self.task is not None
        self.task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self.task


def bringing(house: House, bot: str = "./bot2l.sh", *, name: str = "mine", **more: Any) -> Bringing:
    """A client of the first user, that brings a bot of the house's folder."""
    host, port = house.started.addresses[0]
    folder = Path("joined") / name
    folder.mkdir(parents=True, exist_ok=True)
    token = house.started.token if house.started.token is not None else Path("token").read_text()
    Path("token").write_text(token)
    player = replace(parse_player(bot, str(Path.cwd())), name=name)
    settings = JoinSettings(
        host,
        port,
        "player",
        token,
        player,
        folder,
        games=("kuhn",),
        retry_s=0.05,
        most_retry_s=0.2,
        answer_s=PATIENCE_S,
    )
    return Bringing(replace(settings, **more))


Talk = Callable[[House], Awaitable[None]]


def serve(talk: Talk, settings: ServerSettings) -> None:
    """Have a server for a while."""

    async def run() -> None:
        async with running(settings) as house:
            await talk(house)

    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        runner.run(run())


def hands_of(folder: Path) -> dict[str, list[str]]:
    """The hands and the score of each match of a run."""
    return {
        path.name: [line for line in path.read_text().splitlines() if not line.startswith("#")]
        for path in sorted(folder.glob("match*.log"))
    }


def challenge(**more: Any) -> tuple[Challenge, ...]:
    return (Challenge(**{"opponents": ("A",), "game": "kuhn", "hands": 40, "seed": 7, **more}),)


def test_a_challenge_is_the_contest_that_would_be_played_here(house_folder: Path) -> None:
    async def talk(house: House) -> None:
        client = bringing(house, challenges=challenge())
        client.start()
        ending = await client.ending()
        assert ending.is_good
        assert ending.runs == {"finished": 1}
        (over,) = [news for news in client.news if isinstance(news, RunOver)]
        assert (over.state, over.player, over.hands) == ("finished", "mine", 80)
        await asyncio.to_thread(compare, over)

    def compare(over: RunOver) -> None:
        here = play("kuhn", ["mine=./bot2l.sh", "A=./bot2l.sh"], hands=40, seed=7, out=Path("here"))
        assert hands_of(Path("here")) == hands_of(Path("data/runs/00000001"))
        assert here.players[0].mbb_per_game == over.mbb_per_game

    serve(talk, settings_of(house_folder))
