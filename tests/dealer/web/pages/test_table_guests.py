"""Bots of users at tables of people: choice, seats, limits and reconnection."""

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
from tests.dealer.web.pages.test_play_pages import GAME, enter, field, page_words, start_table
from tests.dealer.web.visits import PATIENCE_S, Visit, small_house, visiting


@dataclass
class GuestVisit:
    """Visit of a server that a user's bot may join.

    Attributes:
        ann: owner of the bot.
    """

    visit: Visit
    parts: ServerParts
    ann: User

    async def connect_bot(self, host: Host, game: str = GAME, *, at_once: int = 1, label: str = "") -> int:
        """Connect ann's bot; return its version."""
        guest = await self.parts.service.presence.enter(self.ann, offer("annbot", label, (game,), at_once), host)
        return guest.versions[game]

    async def wait_for_turn(self, table: str) -> str:
        """Wait until it is the person's turn; return the words of the table."""
        async with asyncio.timeout(PATIENCE_S):
            while "It is your turn." not in (words := page_words(await self.visit.browser.get(table))):
                await asyncio.sleep(0.05)
        return words


@contextlib.asynccontextmanager
async def with_guests(folder: Path, *games: ServerGame) -> AsyncIterator[GuestVisit]:
    all_parts: list[ServerParts] = []

    def record_parts(parts: ServerParts) -> AbstractAsyncContextManager[str]:
        all_parts.append(parts)
        return server_site(parts)

    settings = small_house()
    async with visiting(replace(settings, games=(*settings.games, *games)), folder, web=record_parts) as visit:
        assert (await visit.log_in()).status_code == 303
        (parts,) = all_parts
        number = await parts.store.write(lambda db: add_user(db, "ann"))
        yield GuestVisit(visit, parts, User(number, "ann"))


async def test_person_plays_a_bot_of_a_user(tmp_path: Path) -> None:
    async with with_guests(tmp_path) as guest_visit:
        browser = guest_visit.visit.browser
        host = Host()
        assert "annbot" not in (await browser.get("/play", params={"game": GAME})).text
        version = await guest_visit.connect_bot(host)
        form = page_words(await browser.get("/play", params={"game": GAME}))
        assert "annbot, of ann" in form
        table = await start_table(browser, bot1="annbot", hands="2")
        await guest_visit.wait_for_turn(table)
        assert [event.player for event in host.received] == ["annbot"]  # type: ignore[union-attr]
        assert not guest_visit.parts.service.can_join_table("annbot")
        data = {"form_key": field((await browser.get("/play")).text, "form_key"), "game": GAME, "bot1": "annbot"}
        busy = await browser.post("/play", data=data)
        assert busy.status_code == 409
        assert "The bot annbot is playing as many matches as its owner allows; try again later." in page_words(busy)
        async with asyncio.timeout(PATIENCE_S):
            while "The match is over." not in (words := page_words(page := await browser.get(table))):
                if "It is your turn." in words or 'value="next"' in page.text:
                    await enter(browser, table, "next" if 'value="next"' in page.text else "c")
        assert guest_visit.parts.service.can_join_table("annbot")
        await browser.post(f"{table}/end", data={"form_key": field(page.text, "form_key")})
    store = Store(tmp_path / DATABASE_NAME)
    (run,) = records.runs(store)
    store.close()
    assert run.state == "finished"
    assert not run.is_rated
    assert [(seat.name, seat.version) for seat in run.seats] == [("player", None), ("annbot", version)]
    assert len(list(find([tmp_path / run.folder]).hands())) == 2


async def test_table_waits_for_a_disconnected_bot(tmp_path: Path) -> None:
    async with with_guests(tmp_path) as guest_visit:
        browser = guest_visit.visit.browser
        host = Host()
        await guest_visit.connect_bot(host)
        table = await start_table(browser, bot1="annbot", hands="9")
        before = await guest_visit.wait_for_turn(table)
        page = await browser.get(table)
        await browser.post(f"{table}/leave", data={"form_key": field(page.text, "form_key")})
        assert guest_visit.parts.service.can_join_table("annbot")
        guest_visit.parts.service.presence.leave(host)
        assert "Waiting for annbot to connect." in page_words(await browser.get(table))
        # The table waits for the version with which it began.
        other = Host()
        await guest_visit.connect_bot(other, label="2")
        assert "Waiting for annbot to connect." in page_words(await browser.get(table))
        await guest_visit.connect_bot(Host())
        after = await guest_visit.wait_for_turn(table)
        assert not other.received
        assert before.partition("This hand")[2] == after.partition("This hand")[2], "the same decision"


async def test_bot_of_a_user_must_be_connected_and_takes_one_seat(tmp_path: Path) -> None:
    _, game = find_game("kuhn.limit.3p")
    three = ServerGame("kuhn3", "kuhn.limit.3p", game, 20, 10, bots_for(game, ("random", "calling")))

    async with with_guests(tmp_path, three) as guest_visit:
        browser = guest_visit.visit.browser
        await guest_visit.connect_bot(Host(), "kuhn3")
        key = field((await browser.get("/play", params={"game": "kuhn3"})).text, "form_key")
        for chosen, sentence in (
            (("annbot", "annbot"), "Choose another bot for seat 2. The bot of a user can take one seat at a table."),
            (("annbot", "bobbot"), "Choose a bot of kuhn3 for seat 2. The bot of a user must be connected."),
        ):
            data = {"form_key": key, "game": "kuhn3", "bot1": chosen[0], "bot2": chosen[1]}
            answer = await browser.post("/play", data=data)
            assert answer.status_code == 422
            assert sentence in page_words(answer)
        # A seat without a choice gets a bot of the server.
        table = await start_table(browser, "kuhn3", bot1="annbot")
        words = await guest_visit.wait_for_turn(table)
        assert "annbot" in words
        assert "random" in words or "calling" in words


async def test_ladder_makes_room_for_tables(tmp_path: Path) -> None:
    async with with_guests(tmp_path) as guest_visit:
        await guest_visit.connect_bot(Host())
        game = guest_visit.parts.settings.games[0]
        running = [
            ActiveJob(new_job(User(9, "ladder"), JobRequest(GAME, ("random", "annbot"), kind=kind), 7), game)
            for kind in (JobKind.LADDER, JobKind.REQUEST)
        ]
        states = [Running(object()), Running(object())]  # type: ignore[arg-type]
        for job, state in zip(running, states, strict=True):
            job.state = state
        service = guest_visit.parts.service
        service.queue.active = lambda: running[:1]  # type: ignore[method-assign]
        assert service.can_join_table("annbot"), "a contest of the ladder makes room"
        service.seat_bots({"annbot"})
        assert [state.is_interrupted for state in states] == [True, False]
        assert not service.can_join_table("annbot")
        service.presence.release_seats({"annbot"})
        assert service.can_join_table("annbot")
        assert not service.can_join_table("nobody")
        service.queue.active = lambda: running  # type: ignore[method-assign]
        assert not service.can_join_table("annbot"), "a request of a user does not"
