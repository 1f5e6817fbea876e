"""Pages of organisers: state of the server, users, teams, texts and the list of changes."""

from __future__ import annotations

import contextlib
import logging
import re
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import httpx2
import pytest
from websockets.asyncio.client import connect

from dealer.server.accounts import Scope, add_token, hash_secret, revoke_tokens
from dealer.server.db.audit import changes, record_change, with_audit
from dealer.server.db.bot_registry import register_user_bot, used_names
from dealer.server.db.store import DATABASE_NAME, MIGRATIONS, Store
from dealer.server.db.teams import form_team, teams
from dealer.server.db.users import User, add_user
from dealer.web.visitor import Sessions
from protocol.joining import Join, Joined, Refused, encode, read_server_message
from tests.browsers import SIZES, launch_browser, needs_browser, open_page, page_problems
from tests.dealer.server.servers import add_user_of_any_version
from tests.dealer.web.pages.test_standings import submit, wait_for_job
from tests.dealer.web.served import ServerThread
from tests.dealer.web.visits import Visit, new_user, small_house, visiting, with_slow_bot

ADMIN = (Scope.READ, Scope.PLAY, Scope.ADMIN)


def open_store(folder: Path) -> contextlib.closing[Store]:
    return contextlib.closing(Store(folder / DATABASE_NAME))


def words_of(page: str) -> str:
    return re.sub(r"\s+", " ", re.sub("<[^>]+>", " ", page))


async def test_organiser_sees_the_state_of_the_server_and_all_changes(tmp_path: Path) -> None:
    async with visiting(small_house(), tmp_path) as visit:
        job = await submit(visit)
        with open_store(tmp_path) as store:
            token = store.write_now(lambda db: add_token(db, add_user(db, "olga"), ADMIN))
            store.write_now(lambda db: record_change(db, "root (command line)", "disabled <b>bob</b>"))
        await visit.log_in("olga", token)
        logging.getLogger("dealer.server").error("something has failed")
        answer = await visit.browser.get("/organiser")
        assert answer.status_code == 200
        assert "&lt;b&gt;bob" in answer.text
        assert "<b>bob" not in answer.text
        words = words_of(answer.text)
        assert "something has failed" in words
        assert "There are no faults." in words
        await wait_for_job(visit, job)
        with open_store(tmp_path) as store:
            store.write_now(
                lambda db: db.executemany(
                    "INSERT INTO faults (run, match, seat, kind, hand_number, line, remedy) "
                    "VALUES (?, 'match.a', 0, 'timeout', 1, x'7365637265742121', '')",
                    [(1,), (1,)],
                )
            )
        page = (await visit.browser.get("/organiser")).text
        assert "timeout" in page
        assert "secret!!" not in page
        assert '<a href="/organiser" aria-current="page">Organiser</a>' in page
        every = await visit.browser.get("/organiser/changes")
        assert "disabled" in words_of(every.text)
        assert "Next page" not in every.text
        with open_store(tmp_path) as store:
            store.write_now(lambda db: [record_change(db, "olga", f"change {number}") for number in range(90)])
        first = (await visit.browser.get("/organiser/changes")).text
        (following,) = re.findall(r'href="(\?after=\d+)"', first)
        second = (await visit.browser.get(f"/organiser/changes{following}")).text
        numbers = [int(number) for page in (first, second) for number in re.findall(r"change (\d+)", page)]
        assert numbers == list(range(89, -1, -1))
        with open_store(tmp_path) as store:
            store.write_now(lambda db: revoke_tokens(db, "olga"))
        assert (await visit.browser.get("/organiser")).status_code == 403
        assert "Organiser" not in (await visit.browser.get("/")).text


@contextlib.asynccontextmanager
async def organising(folder: Path) -> AsyncIterator[Visit]:
    """Run a server whose browser has logged in as the organiser olga."""
    async with visiting(small_house(), folder) as visit:
        with open_store(folder) as store:
            token = store.write_now(lambda db: add_token(db, add_user(db, "olga"), ADMIN))
        await visit.log_in("olga", token)
        yield visit


async def act(visit: Visit, path: str, page: str = "/organiser/users", **fields: str) -> httpx2.Response:
    return await visit.browser.post(path, data={"form_key": await visit.form_key(page)} | fields)


@pytest.mark.usefixtures("cheap_hashes")
async def test_organiser_invites_people_and_a_second_organiser(tmp_path: Path) -> None:
    async with organising(tmp_path) as visit:
        refused = await act(visit, "/organiser/users", people="Name;Login\nAnn;a b")
        assert refused.status_code == 422
        assert "Line 2, column 2: no user can be called" in words_of(refused.text)
        invited = await act(visit, "/organiser/users", people="Zoë <b>Müller\nbob")
        assert invited.status_code == 201
        assert "Zoë &lt;b&gt;Müller (zoe.b.muller): http" in invited.text
        assert len(set(re.findall(r"/invitation/[\w-]+", invited.text))) == 2
        teacher = await act(visit, "/organiser/users", people="Tom", organiser="1")
        (path,) = re.findall(r"/invitation/[\w-]+", teacher.text)
        async with visit.another() as browser:
            tom = Visit(visit.house, browser, "")
            accepted = await act(tom, path, path, new="correct horse", again="correct horse")
            assert "You are an organiser" in words_of(accepted.text)
            assert (await browser.get("/organiser/users")).status_code == 200
        listed = words_of((await visit.browser.get("/organiser/users")).text)
        assert "Tom password, token organiser" in listed
        assert "invited Tom as organisers" in words_of((await visit.browser.get("/organiser/changes")).text)


async def test_organiser_disables_users_with_their_bots_and_removes_them(tmp_path: Path) -> None:
    async with organising(tmp_path) as visit:
        token = new_user(tmp_path, "ann")
        address = f"{visit.address.replace('http', 'ws')}api/v1/join"
        async with connect(address, additional_headers={"Authorization": f"Bearer {token}"}) as bot:
            await bot.send(encode(Join("mine", "s", games=("kuhn",))).decode())
            assert isinstance(read_server_message(await bot.recv()), Joined)
            answer = await act(visit, "/organiser/users/ann/disable", "/organiser/users/ann", disconnect="1")
            assert answer.status_code == 303
            refused = read_server_message(await bot.recv())
            assert refused == Refused("an organiser has disconnected the bots of this user")
        async with visit.another() as other:
            assert (await other.get("/api/v1/me", headers={"authorization": f"Bearer {token}"})).status_code == 401
            assert "nothing: disabled" in words_of((await visit.browser.get("/organiser/users/ann")).text)
            await act(visit, "/organiser/users/ann/enable", "/organiser/users/ann")
            assert (await other.get("/api/v1/me", headers={"authorization": f"Bearer {token}"})).status_code == 200
        link = await act(visit, "/organiser/users/ann/link", "/organiser/users/ann")
        assert re.search(r"/invitation/[\w-]{32}<", link.text)
        wrong = await act(visit, "/organiser/users/ann/remove", "/organiser/users/ann", again="bob")
        assert wrong.status_code == 422
        assert "Type ann to remove" in wrong.text
        await act(visit, "/organiser/users/ann/remove", "/organiser/users/ann", again="ann")
        assert (await visit.browser.get("/organiser/users/ann")).status_code == 404
        own_removal = await act(visit, "/organiser/users/olga/remove", again="olga")
        assert own_removal.status_code == 403
        assert "cannot change themselves" in own_removal.text


async def test_organiser_assigns_invited_people_to_teams(tmp_path: Path) -> None:
    async with organising(tmp_path) as visit:
        invited = await act(visit, "/organiser/users", people="Name;Team\nAnn;Sharks\nBo;Sharks")
        assert invited.status_code == 201
        with open_store(tmp_path) as store:
            assert [(team.account.name, team.members) for team in teams(store)] == [("Sharks", ("Ann", "Bo"))]
        refused = await act(visit, "/organiser/users", people="Name;Team\nAnn;Rays\nCy;Rays")
        assert refused.status_code == 422
        assert "The user Ann is in a team already" in refused.text
        assert "Cy" not in words_of((await visit.browser.get("/organiser/users")).text)


async def test_organiser_frees_the_name_of_a_bot(tmp_path: Path) -> None:
    async with organising(tmp_path) as visit:
        new_user(tmp_path, "ann")
        with open_store(tmp_path) as store:
            number = store.write_now(lambda db: add_user(db, "ann"))
            store.write_now(lambda db: register_user_bot(db, number, "kuhn.limit.2p", "mine", ""))
            page = "/organiser/users/ann"
            refused = await act(visit, f"{page}/free", page, name="mine")
            assert refused.status_code == 422
            assert "The bot mine is connected" in refused.text
            store.write_now(lambda db: db.execute("UPDATE bots SET seen_s = 1").rowcount)
            freed = await act(visit, f"{page}/free", page, name="mine")
            assert (freed.status_code, freed.headers["location"]) == (303, page)
            assert used_names(store, number) == ()
            assert "Free a name" not in (await visit.browser.get(page)).text


async def test_disabled_member_of_a_team_is_disconnected(tmp_path: Path) -> None:
    async with organising(tmp_path) as visit:
        token = new_user(tmp_path, "ann")
        with open_store(tmp_path) as store:
            store.write_now(lambda db: form_team(db, "olga", "Sharks", ["ann"]))
        address = f"{visit.address.replace('http', 'ws')}api/v1/join"
        async with connect(address, additional_headers={"Authorization": f"Bearer {token}"}) as bot:
            await bot.send(encode(Join("mine", "s", games=("kuhn",))).decode())
            assert isinstance(read_server_message(await bot.recv()), Joined)
            await act(visit, "/organiser/users/ann/disable", "/organiser/users/ann", disconnect="1")
            assert isinstance(read_server_message(await bot.recv()), Refused)


async def test_organiser_cancels_requests_of_others(tmp_path: Path) -> None:
    async with visiting(with_slow_bot(small_house(), tmp_path), tmp_path / "data") as visit:
        job = await submit(visit, players=["calling", "slow"], deals=10_000)
        with open_store(tmp_path / "data") as store:
            token = store.write_now(lambda db: add_token(db, add_user(db, "olga"), ADMIN))
        await visit.log_in("olga", token)
        assert f"/organiser/jobs/{job}/cancel" in (await visit.browser.get("/organiser")).text
        assert (await act(visit, f"/organiser/jobs/{job}/cancel")).status_code == 303
        assert (await act(visit, f"/organiser/jobs/{job}/cancel")).status_code == 404


async def test_message_and_rules_are_shown_to_all_without_html(tmp_path: Path) -> None:
    async with organising(tmp_path) as visit:
        async with visit.another() as stranger:
            assert (await stranger.get("/rules")).status_code == 404
            rules = "# Entry\n\n- one **bot**\n\n<script>alert(1)</script>\n\n[x](javascript:alert(1))"
            sent = {"message": "Bring <b>bots", "rules": rules}
            assert (await act(visit, "/organiser/texts", "/organiser/texts", **sent)).status_code == 303
            home = (await stranger.get("/")).text
            assert "Bring &lt;b&gt;bots" in home
            assert 'href="/rules"' in home
            page = (await stranger.get("/rules")).text
            assert "<strong>bot</strong>" in page
            assert "<script>alert" not in page
            assert 'href="javascript' not in page
        long = await act(visit, "/organiser/texts", "/organiser/texts", message="x" * 501)
        assert long.status_code == 422
        assert "at most 500 characters" in long.text


async def test_changes_need_an_organiser_and_the_key_of_the_form(tmp_path: Path) -> None:
    acts = [f"users/bob/{act}" for act in ("link", "disable", "enable", "disconnect", "free", "remove")]
    async with organising(tmp_path) as visit, visit.another() as stranger:
        for path in ("users", *acts, "jobs/1/cancel", "texts"):
            assert (await stranger.post(f"/organiser/{path}")).status_code == 401
            forged = await visit.browser.post(f"/organiser/{path}", data={"form_key": "0" * 64, "again": "bob"})
            assert forged.status_code == 403
            assert "out of date" in forged.text


async def test_organiser_pages_need_an_admin_login(tmp_path: Path) -> None:
    async with visiting(small_house(), tmp_path) as visit:
        for path in ("/organiser", "/organiser/changes"):
            stranger = await visit.browser.get(path)
            assert (stranger.status_code, stranger.headers["location"]) == (303, f"/login?next={path}")
        with open_store(tmp_path) as store:
            store.write_now(lambda db: add_token(db, add_user(db, "player"), ADMIN))
        # An admin token of the user has no effect on a login with another token.
        await visit.log_in()
        for path in ("/organiser", "/organiser/changes"):
            answer = await visit.browser.get(path)
            assert answer.status_code == 403
            assert "Log in with an admin token" in answer.text
        token = new_user(tmp_path, "bob")
        await visit.log_in("bob", token)
        assert (await visit.browser.get("/organiser")).status_code == 403


def test_changes_are_recorded_and_cannot_be_removed(tmp_path: Path) -> None:
    with open_store(tmp_path) as store:

        def fail(db: sqlite3.Connection) -> None:
            add_user(db, "ann")
            raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            store.write_now(with_audit("olga", "tried", fail))
        assert store.write_now(with_audit("olga", "found nothing", lambda db: False)) is False
        assert not changes(store)
        assert store.write_now(with_audit("olga", "created ann", lambda db: add_user(db, "ann"))) == 1
        (change,) = changes(store)
        assert (change["who"], change["what"]) == ("olga", "created ann")
        for statement in ("DELETE FROM audit", "UPDATE audit SET who = 'bob'"):
            with pytest.raises(Exception, match="append-only"):
                store.write_now(lambda db, statement=statement: db.execute(statement))  # type: ignore[misc]
        assert len(changes(store)) == 1


def test_sessions_of_an_older_database_give_no_admin_access(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setattr("dealer.server.db.store.MIGRATIONS", MIGRATIONS[:3])
        with open_store(tmp_path) as store:
            store.write_now(lambda db: add_token(db, add_user_of_any_version(db, "olga"), ADMIN))
            store.write_now(lambda db: db.execute("INSERT INTO sessions VALUES (?, 1, 1e9, 1e9)", (hash_secret("c"),)))
    with open_store(tmp_path) as store:
        person = Sessions(store, 1e9, clock_s=lambda: 1e9).find("c")
        assert person.user == User(1, "olga")
        assert not person.is_admin


@needs_browser
@pytest.mark.slow
def test_organiser_page_is_accessible_at_every_width(tmp_path: Path) -> None:
    with ServerThread(small_house(), tmp_path) as server, launch_browser() as browser:
        with open_store(tmp_path) as store:
            token = store.write_now(lambda db: add_token(db, add_user(db, "olga"), ADMIN))
            store.write_now(lambda db: record_change(db, "olga", "announced " + "a-long-name-" * 20))
        for width in SIZES:
            for scheme in ("light", "dark"):
                with open_page(browser, width=width, scheme=scheme) as page:
                    page.goto(f"{server.address}login?next=/organiser")
                    page.locator("[name=name]").fill("olga")
                    page.locator("[name=secret]").fill(token)
                    page.locator("main button").click()
                    page.get_by_text("announced a-long-name").first.wait_for()
                    assert page_problems(page) == []
