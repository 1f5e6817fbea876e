"""Users' bots at people's tables: choice, calls, limits and reconnection."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from pathlib import Path

from dealer.server.db import records
from dealer.server.db.records import JobKind, JobRequest, new_job
from dealer.server.db.store import DATABASE_NAME, Store
from dealer.server.db.users import User, add_user
from dealer.server.queue.jobs import ActiveJob, Running
from dealer.server.server import ServerParts
from dealer.server.server_settings import ServerGame, bots_for
from dealer.web.server_site import server_site
from logs.hand_source import find
from protocol import find_game
from tests.dealer.server.test_contests import Host, offer
from tests.dealer.web.pages.test_play_pages import GAME, enter, field, seen, sit_down
from tests.dealer.web.visits import PATIENCE_S, Visit, small_house, visiting


@dataclass
class Guested:
    """A visit, the server's parts, and a user with a bot."""

    visit: Visit
    parts: ServerParts
    ann: User

    async def bring(self, host: Host, game: str = GAME, *, at_once: int = 1, label: str = "") -> int:
        """Ann's bot is there; returns its version."""
        guest = await self.parts.service.presence.enter(self.ann, offer("annbot", label, (game,), at_once), host)
        return guest.versions[game]

    async def until_asked(self, table: str) -> str:
        """The words of the table when the person is asked."""
        async with asyncio.timeout(PATIENCE_S):
            while "It is your turn." not in (words := seen(await self.visit.browser.get(table))):
                await asyncio.sleep(0.05)
        return words


@contextlib.asynccontextmanager
async def with_guests(folder: Path, *games: ServerGame) -> AsyncIterator[Guested]:
    shown: list[ServerParts] = []

    def face(parts: ServerParts) -> AbstractAsyncContextManager[str]:
        shown.append(parts)
        return server_site(parts)

    settings = small_house()
    async with visiting(replace(settings, games=(*settings.games, *games)), folder, web=face) as visit:
        assert (await visit.log_in()).status_code == 303
        number = await shown[0].store.write(lambda db: add_user(db, "ann"))
        yield Guested(visit, shown[0], User(number, "ann"))


async def test_a_person_plays_a_users_bot(tmp_path: Path) -> None:
    versions: list[int] = []

    async with with_guests(tmp_path) as guested:
        browser, host = guested.visit.browser, Host()
        assert "annbot" not in (await browser.get("/play", params={"game": GAME})).text
        versions.append(await guested.bring(host))
        form = seen(await browser.get("/play", params={"game": GAME}))
        assert "annbot, of ann" in form
        table = await sit_down(browser, bot1="annbot", hands="2")
        await guested.until_asked(table)
        assert [event.player for event in host.received] == ["annbot"]  # type: ignore[union-attr]
        assert not guested.parts.service.can_join_table("annbot")
        data = {"form_key": field((await browser.get("/play")).text, "form_key"), "game": GAME, "bot1": "annbot"}
        busy = await browser.post("/play", data=data)
        assert busy.status_code == 409
        assert "The bot annbot is playing as many matches as its owner allows; try again later." in seen(busy)
        async with asyncio.timeout(PATIENCE_S):
            while "The match is over." not in (words := seen(page := await browser.get(table))):
                if "It is your turn." in words or 'value="next"' in page.text:
                    await enter(browser, table, "next" if 'value="next"' in page.text else "c")
        assert guested.parts.service.can_join_table("annbot")
        await browser.post(f"{table}/end", data={"form_key": field(page.text, "form_key")})
    store = Store(tmp_path / DATABASE_NAME)
    (found,) = records.runs(store)
    store.close()
    assert (found.state, found.is_rated) == ("finished", False)
    assert [(seat.name, seat.version) for seat in found.seats] == [("player", None), ("annbot", versions[0])]
    assert len(list(find([tmp_path / found.folder]).hands())) == 2


async def test_table_waits_for_a_disconnected_bot(tmp_path: Path) -> None:
    async with with_guests(tmp_path) as guested:
        browser, host = guested.visit.browser, Host()
        await guested.bring(host)
        table = await sit_down(browser, bot1="annbot", hands="9")
        before = await guested.until_asked(table)
        page = await browser.get(table)
        await browser.post(f"{table}/leave", data={"form_key": field(page.text, "form_key")})
        assert guested.parts.service.can_join_table("annbot")
        guested.parts.service.presence.leave(host)
        assert "Waiting for annbot to connect." in seen(await browser.get(table))
        # Another version is another bot; the one that sat down is called.
        await guested.bring(other := Host(), label="2")
        assert "Waiting for annbot to connect." in seen(await browser.get(table))
        await guested.bring(Host())
        after = await guested.until_asked(table)
        assert not other.received
        assert before.partition("This hand")[2] == after.partition("This hand")[2], "the same decision"


async def test_bot_of_a_user_must_be_connected_and_takes_one_seat(tmp_path: Path) -> None:
    _, game = find_game("kuhn.limit.3p")
    three = ServerGame("kuhn3", "kuhn.limit.3p", game, 20, 10, bots_for(game, ("random", "calling")))

    async with with_guests(tmp_path, three) as guested:
        browser = guested.visit.browser
        await guested.bring(Host(), "kuhn3")
        key = field((await browser.get("/play", params={"game": "kuhn3"})).text, "form_key")
        for chosen, sentence in (
            (("annbot", "annbot"), "Choose another bot for seat 2. The bot of a user can take one seat at a table."),
            (("annbot", "bobbot"), "Choose a bot of kuhn3 for seat 2. The bot of a user must be connected."),
        ):
            data = {"form_key": key, "game": "kuhn3", "bot1": chosen[0], "bot2": chosen[1]}
            answer = await browser.post("/play", data=data)
            assert (answer.status_code, sentence in seen(answer)) == (422, True), seen(answer)
        # A seat without a choice is one of the house's.
        table = await sit_down(browser, "kuhn3", bot1="annbot")
        words = await guested.until_asked(table)
        assert "annbot" in words
        assert "random" in words or "calling" in words


async def test_the_ladder_makes_room_for_people(tmp_path: Path) -> None:
    async with with_guests(tmp_path) as guested:
        await guested.bring(Host())
        game = guested.parts.settings.games[0]
        running = [
            ActiveJob(new_job(User(9, "ladder"), JobRequest(GAME, ("random", "annbot"), kind=kind), 7), game)
            for kind in (JobKind.LADDER, JobKind.REQUEST)
        ]
        states = [Running(object()), Running(object())]  # type: ignore[arg-type]
        for job, state in zip(running, states, strict=True):
            job.state = state
        service = guested.parts.service
        service.queue.active = lambda: running[:1]  # type: ignore[method-assign]
        assert service.can_join_table("annbot"), "the ladder goes"
        service.seat_bots({"annbot"})
        assert [state.is_interrupted for state in states] == [True, False]
        assert not service.can_join_table("annbot")
        service.presence.release_seats({"annbot"})
        assert service.can_join_table("annbot")
        assert not service.can_join_table("nobody")
        service.queue.active = lambda: running  # type: ignore[method-assign]
        assert not service.can_join_table("annbot"), "what a user wants does not"
