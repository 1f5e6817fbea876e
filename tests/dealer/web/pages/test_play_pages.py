"""Play page without a script: forms, repeated and late entries, access, breaks and the end."""

from __future__ import annotations

import asyncio
import contextlib
import html
import re
import threading
from pathlib import Path
from typing import Any

import httpx2
import pytest

from dealer.person.table_session import TableSession
from dealer.run.run import Run
from dealer.server.db.records import runs
from dealer.server.db.run_changes import TableRow, open_tables
from dealer.server.db.store import DATABASE_NAME, Store
from dealer.server.server_tables import ServerTableStore
from dealer.server.table_manager import TableManager
from dealer.web.pages import play_pages
from engine import DealKey
from logs.acpc_log.reader import check_deals
from logs.hand_source import find
from tests.dealer.helpers import PATIENCE_S
from tests.dealer.web.visits import logged_in_visit, new_user, small_house, visiting

Answer = httpx2.Response


def field(text: str, name: str) -> str:
    """Return the value of a form field."""
    match = re.search(f'name="{name}" value="([^"]*)"', text)
    assert match, text
    return html.unescape(match[1])


def page_words(answer: Answer) -> str:
    """Return the text of a page without its markup."""
    return " ".join(html.unescape(re.sub("<[^>]*>", " ", answer.text)).split())


async def start_table(browser: httpx2.AsyncClient, game: str = "kuhn.limit.2p", **fields: str) -> str:
    """Submit the form for a table; return the path of the table."""
    page = await browser.get("/play", params={"game": game})
    data = {"form_key": field(page.text, "form_key"), "game": game, "bot1": "calling", "seed": "5"} | fields
    answer = await browser.post("/play", data=data)
    assert answer.status_code == 303, page_words(answer)
    return answer.headers["location"]


async def enter(browser: httpx2.AsyncClient, table: str, entry: str) -> Answer:
    """Send an entry for the current moment of a table."""
    page = await browser.get(table)
    data = {"form_key": field(page.text, "form_key"), "moment": field(page.text, "moment"), "entry": entry}
    return await browser.post(table, data=data)


GAME = "kuhn.limit.2p"


@pytest.fixture(autouse=True)
def _patient_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let pages wait for bots however busy the machine is."""
    monkeypatch.setattr(play_pages, "_AFTER_ENTRY_S", PATIENCE_S)


def event_of_call(monkeypatch: pytest.MonkeyPatch, owner: type, name: str) -> asyncio.Event:
    """Return an event that is set whenever a method is called."""
    method = getattr(owner, name)
    is_called = asyncio.Event()

    def call(*arguments: Any) -> Any:
        is_called.set()
        return method(*arguments)

    monkeypatch.setattr(owner, name, call)
    return is_called


async def test_match_is_played_by_forms_alone(tmp_path: Path) -> None:
    async with logged_in_visit(tmp_path) as visit:
        table = await start_table(visit.browser, hands="2")
        page = await visit.browser.get(table)
        assert "It is your turn." in page_words(page)
        hands = re.search('href="(/runs/[0-9]+)"', page.text)
        assert hands
        assert (await visit.browser.get(hands[1])).status_code == 200
        while "The match is over." not in page_words(page):
            entry = "next" if 'value="next"' in page.text else "c"
            answer = await enter(visit.browser, table, entry)
            assert (answer.status_code, answer.headers["location"]) == (303, table)
            page = await visit.browser.get(table)
        assert "too few to separate skill from luck" in page_words(page)
        ended = await visit.browser.post(f"{table}/end", data={"form_key": field(page.text, "form_key")})
        assert ended.headers["location"] == "/play"
        assert (await visit.browser.get(table)).status_code == 404
        # Without a seed from the person, the cards come from a secret key.
        table = await start_table(visit.browser, seed="")
        page = await visit.browser.get(table)
        await visit.browser.post(f"{table}/end", data={"form_key": field(page.text, "form_key")})
    store = Store(tmp_path / DATABASE_NAME)
    keyed_run, run = runs(store)
    store.close()
    assert isinstance(keyed_run.seed, DealKey)
    assert run.seed == 5
    assert check_deals(tmp_path / run.folder / "match.log", run.seed) == 2
    assert (run.state, run.user, run.tag) == ("finished", "player", "table")
    assert not run.is_rated
    assert [(seat.name, seat.version is None) for seat in run.seats] == [("player", True), ("calling", False)]
    records = list(find([tmp_path / run.folder]).hands())
    assert [record.names_by_seat for record in records] == [("player", "calling")] * 2


async def test_winning_hand_is_named_and_gets_the_chips(tmp_path: Path) -> None:
    async with logged_in_visit(tmp_path) as visit:
        table = await start_table(visit.browser, game="holdem.limit.2p.reverse_blinds", hands="1")
        while 'value="next"' not in (answer := await visit.browser.get(table)).text:
            assert "bet gain" not in answer.text
            await enter(visit.browser, table, "c")
        page = answer.text
        seats = page.split("<li class=")[1:]
        (winner,) = [seat for seat in seats if "winner" in seat.partition(">")[0]]
        (name,) = re.findall(r'class="named">([^<]+)<', page)
        assert f'class="named">{name}<' in winner
        assert f", {name}" in page_words(answer), "the history has the same name"
        assert page.count('class="bet gain"') == winner.count('class="bet gain"') == 1


async def test_repeated_entry_counts_once(tmp_path: Path) -> None:
    async with logged_in_visit(tmp_path) as visit:
        table = await start_table(visit.browser, hands="9")
        page = await visit.browser.get(table)
        data = {key: field(page.text, key) for key in ("form_key", "moment")} | {"entry": "r"}
        answers = await asyncio.gather(*(visit.browser.post(table, data=data) for _ in range(5)))
        assert sorted(answer.status_code for answer in answers) == [303, 409, 409, 409, 409]
        (stale, *_) = [answer for answer in answers if answer.status_code == 409]
        assert "This entry was already accepted and counts once: you raise to 2." in page_words(stale)
        assert "Next hand" in page_words(await visit.browser.get(table))
        other = await visit.browser.post(table, data=data | {"moment": "7.7"})
        assert other.status_code == 409
        assert "is ignored" in page_words(other)


async def test_impossible_tables_and_entries_are_refused(tmp_path: Path) -> None:
    async with logged_in_visit(tmp_path, max_tables_per_person=1) as visit:
        page = await visit.browser.get("/play", params={"game": GAME})
        data = {"form_key": field(page.text, "form_key"), "game": GAME, "bot1": "calling"}
        for fields, words in (
            ({"game": "chess"}, "Choose a game."),
            ({"bot1": "nobody"}, "Choose a bot of kuhn for seat 1."),
            ({"hands": "0"}, "Hands must be a whole number from 1"),
            ({"hands": "many"}, "Hands must be a whole number"),
            ({"seed": "-1"}, "Seed must be a whole number from 0"),
            ({"seed": "4294967296"}, "Seed must be a whole number"),
            ({"decision_s": "1e9"}, "must be a whole number"),
        ):
            answer = await visit.browser.post("/play", data=data | fields)
            assert answer.status_code == 422
            assert words in page_words(answer)
        table = await start_table(visit.browser)
        refused = await visit.browser.post("/play", data=data)
        assert refused.status_code == 429
        assert "The limit is 1 open table per person" in page_words(refused)
        page = await visit.browser.get(table)
        data = {key: field(page.text, key) for key in ("form_key", "moment")}
        for entry, words in (
            ({"entry": "fold"}, "There is no bet to fold to"),
            ({"entry": "size", "size": "7"}, "7 is not possible here"),
            ({"entry": "size", "size": "<b>"}, "'<b>' is not a size"),
            ({"entry": "\x00" * 5000}, "is not clear"),
            ({}, "Nothing was entered"),
        ):
            answer = await visit.browser.post(table, data=data | entry)
            assert answer.status_code == 422, entry
            assert words in page_words(answer)
            assert field(answer.text, "moment") == data["moment"], "the table still waits for a decision"
        assert (await visit.browser.post(table, data=data | {"entry": "size", "size": "2"})).status_code == 303


async def test_table_is_hidden_from_other_users(tmp_path: Path) -> None:
    async with logged_in_visit(tmp_path) as visit:
        table = await start_table(visit.browser)
        token = new_user(visit.house.folder, "eve")
        async with visit.another() as other:
            assert (await other.get("/play")).headers["location"] == "/login?next=/play"
            for path in (table, f"{table}/part"):
                assert (await other.get(path)).status_code == 404
            key = field((await other.get("/login")).text, "form_key")
            await other.post("/login", data={"form_key": key, "name": "eve", "secret": token, "next": "/"})
            page = await other.get("/play")
            key = field(page.text, "form_key")
            assert "Your tables" not in page.text
            for path in (table, f"{table}/part"):
                assert (await other.get(path)).status_code == 404
            for path in (table, f"{table}/leave", f"{table}/end"):
                assert (await other.post(path, data={"form_key": key, "entry": "f"})).status_code == 404
        page = await visit.browser.get(table)
        assert (await visit.browser.post(table, data={"moment": "0.0", "entry": "c"})).status_code == 403
        assert "It is your turn." in page_words(page)


async def test_tables_of_guests_are_limited_by_address_and_some_are_reserved_for_users(tmp_path: Path) -> None:
    settings = small_house(
        guests_may_play=True,
        max_tables_per_address=1,
        max_tables=4,
        tables_for_users_percent=50,
        proxies=("127.0.0.1",),
    )

    async def request_table(browser: httpx2.AsyncClient) -> Answer:
        page = await browser.get("/play", params={"game": GAME})
        data = {"form_key": field(page.text, "form_key"), "game": GAME, "bot1": "calling"}
        return await browser.post("/play", data=data)

    async with visiting(settings, tmp_path) as visit:
        async with contextlib.AsyncExitStack() as stack:

            async def guest(address: int) -> httpx2.AsyncClient:
                browser = await stack.enter_async_context(visit.another())
                browser.headers["x-forwarded-for"] = f"192.0.2.{address}"
                return browser

            browsers = [await guest(1) for _ in range(3)]
            answers = await asyncio.gather(*map(request_table, browsers))
            statuses = sorted(answer.status_code for answer in answers)
            assert statuses == [303, 429, 429], "parallel requests with different cookies"
            assert "The limit is 1 guest table per address" in page_words(await request_table(browsers[0]))
            last = await guest(2)
            table = (await request_table(last)).headers["location"]
            assert "guest against calling" in page_words(await last.get(table))
            assert (await browsers[0].get(table)).status_code == 404
            refused = await request_table(await guest(3))
            assert (refused.status_code, refused.headers["retry-after"]) == (503, "60")
            assert "All tables for guests are taken; log in" in page_words(refused)
            await visit.log_in()
            for _ in range(2):
                await start_table(visit.browser)
            assert "All tables are taken" in page_words(await request_table(visit.browser))
            key = field((await last.get(table)).text, "form_key")
            await last.post(f"{table}/end", data={"form_key": key})
            assert (await request_table(await guest(3))).status_code == 303, "a table is free again"
        store = Store(tmp_path / DATABASE_NAME)
        assert sorted(table.is_guests for table in open_tables(store, tmp_path)) == [False] * 2 + [True] * 2
        store.close()


async def test_table_resumes_at_the_same_decision_after_a_restart_or_a_departure(tmp_path: Path) -> None:
    async with visiting(small_house(), tmp_path) as visit:
        token = visit.token
        await visit.log_in()
        table = await start_table(visit.browser, "holdem.limit.2p.reverse_blinds", bot1="random", seed="3")
        moments: list[str] = []
        while len(moments) < 3:
            page = await visit.browser.get(table)
            if 'value="next"' not in page.text:
                moments.append(field(page.text, "moment"))
            if len(moments) < 3:
                await enter(visit.browser, table, "next" if 'value="next"' in page.text else "c")
        left = await visit.browser.post(f"{table}/leave", data={"form_key": field(page.text, "form_key")})
        assert "The table is kept" in page_words(left)
        assert field((await visit.browser.get(table)).text, "moment") == moments[-1]
    store = Store(tmp_path / DATABASE_NAME)
    assert [row.owner for row in open_tables(store, tmp_path)] == ["user 1"]
    store.close()
    async with visiting(small_house(), tmp_path) as visit:
        await visit.log_in(secret=token)
        assert table in (await visit.browser.get("/play")).text
        page = await visit.browser.get(table)
        assert field(page.text, "moment") == moments[-1]
        # An entry from before the restart that had not arrived is accepted now.
        data = {"form_key": field(page.text, "form_key"), "moment": moments[-1], "entry": "c"}
        assert (await visit.browser.post(table, data=data)).status_code == 303
        repeated = await visit.browser.post(table, data=data)
        assert repeated.status_code == 409
        assert "counts once" in page_words(repeated)


async def test_table_that_is_ended_while_it_resumes_stays_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_resuming, may_resume = threading.Event(), threading.Event()
    reopened = ServerTableStore.reopened

    def reopen_slowly(store: ServerTableStore, table: TableRow) -> Run[Any]:
        is_resuming.set()
        assert may_resume.wait(PATIENCE_S)
        return reopened(store, table)

    async with logged_in_visit(tmp_path) as visit:
        table = await start_table(visit.browser)
        form = {"form_key": field((await visit.browser.get(table)).text, "form_key")}
        await visit.browser.post(f"{table}/leave", data=form)
        monkeypatch.setattr(ServerTableStore, "reopened", reopen_slowly)
        async with asyncio.TaskGroup() as group:
            first = group.create_task(visit.browser.get(table))
            assert await asyncio.to_thread(is_resuming.wait, PATIENCE_S)
            is_ending = event_of_call(monkeypatch, TableManager, "suspend")
            end = group.create_task(visit.browser.post(f"{table}/end", data=form))
            await is_ending.wait()
            is_visited = event_of_call(monkeypatch, TableManager, "table_session")
            second = group.create_task(visit.browser.get(table))
            await is_visited.wait()
            may_resume.set()
        assert [task.result().status_code for task in (first, end, second)] == [200, 303, 404]
        assert "This table has been closed" in page_words(second.result())


async def test_entry_resumes_a_table_that_is_being_suspended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    play = TableSession.play
    is_stopped, may_end = asyncio.Event(), asyncio.Event()

    async def play_slowly(table_session: TableSession) -> None:
        await play(table_session)
        is_stopped.set()
        await may_end.wait()

    monkeypatch.setattr(TableSession, "play", play_slowly)
    async with logged_in_visit(tmp_path) as visit:
        table = await start_table(visit.browser)
        page = (await visit.browser.get(table)).text
        form = {name: field(page, name) for name in ("form_key", "moment")} | {"entry": "c"}
        async with asyncio.TaskGroup() as group:
            group.create_task(visit.browser.post(f"{table}/leave", data=form))
            await is_stopped.wait()
            is_visited = event_of_call(monkeypatch, TableManager, "table_session")
            entry = group.create_task(visit.browser.post(table, data=form))
            await is_visited.wait()
            may_end.set()
        assert entry.result().status_code == 303
        assert field((await visit.browser.get(table)).text, "moment") != form["moment"]


async def test_idle_table_is_suspended_and_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dealer.server.table_manager._TIDY_EVERY_S", 0.01)

    async with logged_in_visit(tmp_path, table_asleep_minutes=0.05 / 60, table_closed_days=0.1 / 86400) as visit:
        table = await start_table(visit.browser)
        query = "SELECT state, reason FROM runs WHERE id = ?"
        async with asyncio.timeout(PATIENCE_S):
            while (row := visit.house.rows(query, int(table.rpartition("/")[2]))[0])[0] == "running":
                await asyncio.sleep(0.02)
        assert row == ("cancelled", "no player has returned to it.")
        assert (await visit.browser.get(table)).status_code == 404


async def test_poll_returns_a_part_of_the_page_after_a_change(tmp_path: Path) -> None:
    async with logged_in_visit(tmp_path) as visit:
        table = await start_table(visit.browser)
        page = await visit.browser.get(table)
        tag = re.search('data-tag="([^"]+)"', page.text)
        assert tag
        waiting = asyncio.create_task(visit.browser.get(f"{table}/part", params={"seen": tag[1]}))
        data = {key: field(page.text, key) for key in ("form_key", "moment")} | {"entry": "c"}
        for answer in (await visit.browser.post(table, data=data, headers={"x-part": "1"}), await waiting):
            assert answer.status_code == 200
            assert "<html" not in answer.text
        # The tag of an earlier start of the server is answered at once.
        answer = await visit.browser.get(f"{table}/part", params={"seen": "of another start"})
        assert answer.status_code == 200


@pytest.mark.usefixtures("cheap_hashes")
async def test_login_leads_back_to_the_requested_table(tmp_path: Path) -> None:
    async with visiting(small_house(), tmp_path) as visit:
        first = await visit.browser.get("/")
        assert "Log in to play against its bots" in page_words(first)
        path = f"/play?game={GAME}"
        assert f'href="{path}"' in first.text
        redirect = await visit.browser.get(path)
        assert redirect.status_code == 303
        page = await visit.browser.get(redirect.headers["location"])
        data = {name: field(page.text, name) for name in ("form_key", "next")} | {"name": "player", "secret": "wrong"}
        wrong = await visit.browser.post("/login", data=data)
        assert 'value="player"' in wrong.text, "the form keeps the name"
        login = await visit.browser.post("/login", data=data | {"secret": visit.token})
        assert login.headers["location"] == path
        table = await start_table(visit.browser, hands="1")
        assert "The match has 1 hand." in page_words(await visit.browser.get(table))
        # The list of runs names the person among the players.
        assert re.search(r"player ?, calling .* running", page_words(await visit.browser.get("/runs")))
