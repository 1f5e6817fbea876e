"""Organisers' page and the changes that it lists."""

from __future__ import annotations

import contextlib
import logging
import re
import sqlite3
from pathlib import Path

import pytest

from dealer.server.accounts import Scope, add_token, hash_secret, revoke_tokens
from dealer.server.db.audit import changes, record_change, with_audit
from dealer.server.db.store import DATABASE_NAME, MIGRATIONS, Store
from dealer.server.db.users import User, add_user
from dealer.web.visitor import Sessions
from tests.browsers import SIZES, judged, launched, needs_browser, opened
from tests.dealer.web.pages.test_standings import finished, submit
from tests.dealer.web.served import Served
from tests.dealer.web.visits import new_user, small_house, visiting

ADMIN = (Scope.READ, Scope.PLAY, Scope.ADMIN)


def stored(folder: Path) -> contextlib.closing[Store]:
    return contextlib.closing(Store(folder / DATABASE_NAME))


def words_of(page: str) -> str:
    return re.sub(r"\s+", " ", re.sub("<[^>]+>", " ", page))


async def test_an_organiser_sees_the_state_of_the_server_and_who_changed_what(tmp_path: Path) -> None:
    async with visiting(small_house(), tmp_path) as visit:
        job = await submit(visit)
        with stored(tmp_path) as store:
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
        await finished(visit, job)
        with stored(tmp_path) as store:
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
        with stored(tmp_path) as store:
            store.write_now(lambda db: [record_change(db, "olga", f"change {number}") for number in range(120)])
        first = (await visit.browser.get("/organiser/changes")).text
        (following,) = re.findall(r'href="(\?after=\d+)"', first)
        second = (await visit.browser.get(f"/organiser/changes{following}")).text
        shown = [int(number) for page in (first, second) for number in re.findall(r"change (\d+)", page)]
        assert shown == list(range(119, -1, -1))
        with stored(tmp_path) as store:
            store.write_now(lambda db: revoke_tokens(db, "olga"))
        assert (await visit.browser.get("/organiser")).status_code == 403
        assert "Organiser" not in (await visit.browser.get("/")).text


async def test_the_page_is_for_organisers(tmp_path: Path) -> None:
    async with visiting(small_house(), tmp_path) as visit:
        for path in ("/organiser", "/organiser/changes"):
            stranger = await visit.browser.get(path)
            assert (stranger.status_code, stranger.headers["location"]) == (303, f"/login?next={path}")
        with stored(tmp_path) as store:
            store.write_now(lambda db: add_token(db, add_user(db, "player"), ADMIN))
        # Another token of a user, or a password, does not make an organiser of who has logged in with this visit.
        await visit.log_in()
        for path in ("/organiser", "/organiser/changes"):
            answer = await visit.browser.get(path)
            assert answer.status_code == 403
            assert "Log in with an admin token" in answer.text
        token = new_user(tmp_path, "bob")
        await visit.log_in("bob", token)
        assert (await visit.browser.get("/organiser")).status_code == 403


def test_changes_are_noted_with_what_they_change_and_stay(tmp_path: Path) -> None:
    with stored(tmp_path) as store:

        def fail(db: sqlite3.Connection) -> None:
            add_user(db, "ann")
            raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            store.write_now(with_audit("olga", "tried", fail))
        assert store.write_now(with_audit("olga", "found nothing", lambda db: False)) is False
        assert not changes(store)
        assert store.write_now(with_audit("olga", "created ann", lambda db: add_user(db, "ann"))) == 1
        ((who, what),) = [(change["who"], change["what"]) for change in changes(store)]
        assert (who, what) == ("olga", "created ann")
        for statement in ("DELETE FROM audit", "UPDATE audit SET who = 'bob'"):
            with pytest.raises(Exception, match="append-only"):
                store.write_now(lambda db, statement=statement: db.execute(statement))  # type: ignore[misc]
        assert len(changes(store)) == 1


def test_sessions_of_an_older_database_make_no_organisers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setattr("dealer.server.db.store.MIGRATIONS", MIGRATIONS[:3])
        with stored(tmp_path) as store:
            store.write_now(lambda db: add_token(db, add_user(db, "olga"), ADMIN))
            store.write_now(lambda db: db.execute("INSERT INTO sessions VALUES (?, 1, 1e9, 1e9)", (hash_secret("c"),)))
    with stored(tmp_path) as store:
        found = Sessions(store, 1e9, clock_s=lambda: 1e9).find("c")
        assert (found.user, found.is_admin) == (User(1, "olga"), False)


@needs_browser
@pytest.mark.slow
def test_everybody_can_use_the_page_at_every_width(tmp_path: Path) -> None:
    with Served(small_house(), tmp_path) as server, launched() as browser:
        with stored(tmp_path) as store:
            token = store.write_now(lambda db: add_token(db, add_user(db, "olga"), ADMIN))
            store.write_now(lambda db: record_change(db, "olga", "announced " + "a-long-name-" * 20))
        for width in SIZES:
            for scheme in ("light", "dark"):
                with opened(browser, width=width, scheme=scheme) as page:
                    page.goto(f"{server.address}login?next=/organiser")
                    page.locator("[name=name]").fill("olga")
                    page.locator("[name=secret]").fill(token)
                    page.locator("main button").click()
                    page.get_by_text("announced a-long-name").first.wait_for()
                    assert judged(page) == []
