"""Names of bots: limits for each user, floods of names, and freed names."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

import pytest

from dealer.errors import RefusedError
from dealer.server.db import records
from dealer.server.db.bot_registry import check_name, free_name, register_user_bot, used_names
from dealer.server.db.store import DATABASE_NAME, MIGRATIONS, Store
from dealer.server.db.users import User, add_user
from dealer.server.event_results import event_detail
from protocol.joining import Join, Joined, Refused
from tests.dealer.server import test_hosting
from tests.dealer.server.servers import add_user_of_any_version
from tests.dealer.server.test_contests import Host, offer, serving
from tests.dealer.server.test_scheduled_events import announce, eventually, final, finished_event, house, pairs_played

IN_FOLDER = pytest.mark.usefixtures("_in_folder")


@pytest.fixture
def _in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def forget_connections(store: Store) -> None:
    """Change the database as if all bots had disconnected more than a minute ago."""
    store.write_now(lambda db: db.execute("UPDATE bots SET seen_s = seen_s - 61").rowcount)


@IN_FOLDER
async def test_flood_of_names_does_not_affect_entrants_of_other_users() -> None:
    async with serving(house()) as (service, ann):
        bob = User(service.store.write_now(lambda db: add_user(db, "bob")), "bob")
        await service.presence.enter(bob, offer("honest"), Host())
        announce(service, closes=1e6, deals=5)
        refused = []
        for number in range(100):
            try:
                await service.presence.enter(ann, offer(f"flood{number}"), Host())
            except RefusedError as error:
                refused.append(str(error))
        limit = "the limit is 20 names of bots per user; free one on the page Account first"
        assert refused == [limit] * 80
        await eventually(lambda: "flood19" in final(service).entrants)
        # A known name may connect again.
        await service.presence.enter(ann, offer("flood0"), Host())
        service.store.write_now(lambda db: db.execute("UPDATE scheduled_events SET closes_s = 1").rowcount)
        event = await finished_event(service)
        assert event.entrants == ("calling", "flood0", "honest", "raising", "random")
        assert event.contests == event.contests_ended == 10
        assert ("calling", "honest") in pairs_played(service)


@IN_FOLDER
async def test_freed_name_may_be_taken_by_another_bot_and_results_keep_the_old_one() -> None:
    async with serving(house()) as (service, ann):
        bob = User(service.store.write_now(lambda db: add_user(db, "bob")), "bob")
        first = Host()
        await service.presence.enter(ann, offer("eve", "v1"), first)
        announce(service, deals=5)
        event = await finished_event(service)
        await eventually(lambda: final(service).standings != "")
        before = event_detail(service.store, final(service))
        with pytest.raises(RefusedError, match="eve is connected, or was a minute ago"):
            service.store.write_now(lambda db: free_name(db, "ann", "eve", ann.id))
        service.presence.leave(first)
        await service.presence.close()
        forget_connections(service.store)
        with pytest.raises(RefusedError, match="no bot of yours is called eve"):
            service.store.write_now(lambda db: free_name(db, "bob", "eve", bob.id))
        service.store.write_now(lambda db: free_name(db, "ann", "eve", ann.id))
        assert used_names(service.store, ann.id) == ()
        assert "eve" not in [bot.name for bot in records.bots(service.store)]
        (freed,) = records.versions(service.store, "two", "eve")
        await service.presence.enter(bob, offer("eve", "v1"), Host())
        (current,) = records.versions(service.store, "two", "eve")
        assert (freed.owner, current.owner) == (ann, bob)
        (entrant,) = [bot for bot in records.bots_of_event(service.store, event.id) if bot.name == "eve"]
        assert entrant == freed
        # Results of an event refer to versions, not to names.
        assert event_detail(service.store, final(service)) == before


@pytest.mark.usefixtures("house_folder")
async def test_joins_have_a_limit_per_minute() -> None:
    async with test_hosting.serving(max_joins_per_minute=2) as server:
        for name in ("one", "two"):
            peer = await test_hosting.connect_peer(server)
            await peer.send(Join(name, "s1"))
            await peer.expect(Joined)
        peer = await test_hosting.connect_peer(server)
        await peer.send(Join("three", "s1"))
        reason = (await peer.expect(Refused)).reason
        assert reason.startswith("the limit is 2 connections of bots a minute per user; try again in ")
        assert await peer.expect_close() == 1008


def test_names_of_uploads_count_and_are_freed_by_removing_them(tmp_path: Path) -> None:
    with contextlib.closing(Store(tmp_path / DATABASE_NAME)) as store:
        ann = store.write_now(lambda db: add_user(db, "ann"))
        bob = store.write_now(lambda db: add_user(db, "bob"))

        def upload(db: sqlite3.Connection) -> None:
            db.execute(
                "INSERT INTO uploads (user, bot, number, command, language, games, sha256, size, folder, submitted_s) "
                "VALUES (?, 'sent', 1, '', '', '[]', '', 0, '', 0)",
                (ann,),
            )
            register_user_bot(db, ann, "kuhn", "joined", "")
            register_user_bot(db, ann, "kuhn", "sent", "")

        store.write_now(upload)
        forget_connections(store)
        store.write_now(lambda db: check_name(db, ann, "sent", 2))
        with pytest.raises(RefusedError, match="the limit is 2 names"):
            store.write_now(lambda db: check_name(db, ann, "third", 2))
        with pytest.raises(RefusedError, match="belongs to another user"):
            store.write_now(lambda db: check_name(db, bob, "sent", 2))
        with pytest.raises(RefusedError, match="remove the upload first"):
            store.write_now(lambda db: free_name(db, "ann", "sent", ann))


def test_bots_of_an_older_database_keep_their_versions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / DATABASE_NAME
    with monkeypatch.context() as patched:
        patched.setattr("dealer.server.db.store.MIGRATIONS", MIGRATIONS[:8])
        with contextlib.closing(Store(path)) as store:

            def add(db: sqlite3.Connection) -> None:
                db.execute("INSERT INTO bots (game, name, owner, seen_s) VALUES ('kuhn', 'eve', ?, 5)", (ann,))
                db.execute("INSERT INTO versions VALUES (1, 1, 1, '', '', 0.0, 'v1')")

            ann = store.write_now(lambda db: add_user_of_any_version(db, "ann"))
            store.write_now(add)
    with contextlib.closing(Store(path)) as store:
        (bot,) = records.bots(store)
        assert (bot.name, bot.label, bot.owner, bot.seen_s) == ("eve", "v1", User(ann, "ann"), 5.0)
        with pytest.raises(Exception, match="FOREIGN KEY"):
            store.write_now(lambda db: db.execute("INSERT INTO versions VALUES (2, 9, 1, '', '', 0.0, '')").rowcount)
