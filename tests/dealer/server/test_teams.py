"""Teams: several users with one entry, one set of bots and one quota."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from dealer.errors import RefusedError
from dealer.server.accounts import add_token, read_accounts, remove_user
from dealer.server.db import records
from dealer.server.db.bot_registry import register_user_bot, used_names
from dealer.server.db.store import DATABASE_NAME, Store
from dealer.server.db.teams import (
    accept_team,
    account_of,
    add_member,
    form_team,
    invite_member,
    leave_team,
    place_members,
    team_invitations,
    teams,
)
from dealer.server.db.users import User, add_user
from protocol.joining import Join, Joined, Refused
from tests.dealer.server.test_contests import Host, offer, serving
from tests.dealer.server.test_hosting import connect_peer
from tests.dealer.server.test_hosting import serving as serving_pages
from tests.dealer.server.test_scheduled_events import announce, eventually, final, house


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with contextlib.closing(Store(tmp_path / DATABASE_NAME)) as store:
        yield store


def new_users(store: Store, *names: str) -> list[User]:
    return [User(store.write_now(lambda db, name=name: add_user(db, name)), name) for name in names]  # type: ignore[misc]


def test_members_act_for_their_team_until_they_leave(store: Store) -> None:
    ann, bob, eve = new_users(store, "ann", "bob", "eve")
    store.write_now(lambda db: register_user_bot(db, bob.id, "kuhn", "shark", ""))
    store.write_now(lambda db: form_team(db, "ann", "Sharks", ["ann"]))
    store.write_now(lambda db: invite_member(db, ann, "bob", 2))
    assert team_invitations(store, bob) == ("Sharks",)
    with pytest.raises(RefusedError, match="a team has at most 2 members, invited ones included"):
        store.write_now(lambda db: invite_member(db, ann, "eve", 2))
    with pytest.raises(RefusedError, match="no invitation into a team Sharks"):
        store.write_now(lambda db: accept_team(db, eve, "Sharks"))
    store.write_now(lambda db: accept_team(db, bob, "Sharks"))
    (team,) = teams(store)
    assert (team.account.name, team.members, team.invited) == ("Sharks", ("ann", "bob"), ())
    assert account_of(store, ann) == account_of(store, bob) == team.account
    assert account_of(store, eve) == eve
    assert used_names(store, team.account.id) == ("shark",)
    store.write_now(lambda db: leave_team(db, "bob", bob))
    assert (account_of(store, bob), used_names(store, bob.id)) == (bob, ())
    # The last member keeps the bots of the team, and its name becomes free.
    store.write_now(lambda db: leave_team(db, "ann", ann))
    assert (teams(store), used_names(store, ann.id)) == ((), ("shark",))
    store.write_now(lambda db: form_team(db, "eve", "Sharks", ["eve"]))


def test_members_of_a_roster_are_placed_again_without_a_change(store: Store) -> None:
    new_users(store, "ann", "bob", "eve")
    for members in (["ann"], ["ann", "bob"], ["ann", "bob"]):
        store.write_now(lambda db, members=members: place_members(db, "x", {"Sharks": members}))  # type: ignore[misc]
    assert [team.members for team in teams(store)] == [("ann", "bob")]
    with pytest.raises(RefusedError, match="the user ann is in a team already"):
        store.write_now(lambda db: place_members(db, "x", {"Rays": ["eve", "ann"]}))
    with pytest.raises(RefusedError, match="the name bob is taken"):
        store.write_now(lambda db: place_members(db, "x", {"bob": ["eve"]}))
    assert [team.account.name for team in teams(store)] == ["Sharks"]


def test_removing_the_last_member_ends_the_team(store: Store) -> None:
    new_users(store, "ann", "bob")
    store.write_now(lambda db: form_team(db, "x", "Sharks", ["ann", "bob"]))
    store.write_now(lambda db: remove_user(db, "ann"))
    assert [team.members for team in teams(store)] == [("bob",)]
    store.write_now(lambda db: remove_user(db, "bob"))
    assert teams(store) == ()


def test_team_has_no_login_and_its_members_no_other_team(store: Store) -> None:
    new_users(store, "ann", "bob")
    store.write_now(lambda db: form_team(db, "x", "Sharks", ["ann"]))
    for change, problem in (
        (lambda db: add_user(db, "Sharks"), "the name Sharks is that of a team, which has no login"),
        (lambda db: form_team(db, "x", "bob", ["bob"]), "the name bob is taken"),
        (lambda db: form_team(db, "x", "Rays", ["ann"]), "ann is in a team already"),
        (lambda db: form_team(db, "x", "Rays", ["Sharks"]), "there is no user Sharks"),
        (lambda db: add_member(db, "x", "Shark", "bob"), "there is no team Shark"),
    ):
        with pytest.raises(RefusedError, match=problem):
            store.write_now(change)
    assert [account["name"] for account in read_accounts(store)] == ["ann", "bob"]
    # No refused change has created a team.
    assert [team.account.name for team in teams(store)] == ["Sharks"]


async def test_team_has_one_entry_and_one_quota(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    async with serving(replace(house(), max_names_per_user=2)) as (service, ann):
        bob, eve = new_users(service.store, "bob", "eve")
        service.store.write_now(lambda db: form_team(db, "x", "Sharks", ["ann", "bob"]))
        for user, name in ((ann, "first"), (bob, "second"), (eve, "third")):
            await service.presence.enter(account_of(service.store, user), offer(name), Host())
        announce(service, closes=1e6)
        own = {"calling", "raising", "random"}
        await eventually(lambda: set(final(service).entrants) == own | {"second", "third"})
        with pytest.raises(RefusedError, match="the limit is 2 names of bots per user"):
            await service.presence.enter(account_of(service.store, ann), offer("fourth"), Host())


@pytest.mark.usefixtures("house_folder")
async def test_each_member_may_join_with_the_bot_of_the_team() -> None:
    async with serving_pages() as server:
        with contextlib.closing(Store(server.folder / DATABASE_NAME)) as store:

            def change(db: sqlite3.Connection) -> list[str]:
                tokens = [add_token(db, add_user(db, name)) for name in ("ann", "bob", "eve")]
                form_team(db, "x", "Sharks", ["ann", "bob"])
                return tokens

            peers = [await connect_peer(server, token) for token in store.write_now(change)]
            await peers[0].send(Join("mine", "s1", games=("kuhn",)))
            assert (await peers[0].expect(Joined)).user == "Sharks"
            await peers[2].send(Join("mine", "s3", games=("kuhn",)))
            assert (await peers[2].expect(Refused)).reason.startswith("the bot mine belongs to another user")
            await peers[1].send(Join("mine", "s2", games=("kuhn",)))
            await peers[1].expect(Joined)
            assert (await peers[0].expect(Refused)).reason == "another client has connected the bot"
            (bot,) = [bot for bot in records.bots(store) if bot.name == "mine"]
            assert bot.owner is not None
            assert bot.owner.name == "Sharks"
