"""Rule for contests that count in the standings, and its effect on every kind of request."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2
import pytest

from dealer.joining.server_client import JoinedServer
from dealer.run.plan import planned_contests, settle
from dealer.run.run_settings import validated
from dealer.server.db.records import Bot
from dealer.server.db.users import User
from dealer.server.queue.unrated import unrated_reason
from dealer.server.server_settings import LadderSettings, ServerSettings, read_toml_settings
from dealer.web.server_site import server_site
from engine import DealKey
from protocol.joining import Challenge, ContestTerms
from tests.dealer.helpers import PATIENCE_S
from tests.dealer.joining.test_joining import joining_client
from tests.dealer.server.servers import House, running
from tests.dealer.web.visits import new_user
from tests.scripts import script

ANN = User(1, "ann")
BOB = User(2, "bob")
SAME_OWNER = "two of its bots belong to the same user"


def bot(version: int, owner: User | None = None) -> Bot:
    return Bot(
        version=version, game="kuhn", name=f"bot{version}", owner=owner, number=1, label="", created_s=0.0, seen_s=None
    )


@pytest.mark.parametrize(
    ("bots", "changes", "reason"),
    [
        ((bot(1), bot(2)), {}, ""),
        ((bot(1, ANN), bot(2)), {}, ""),
        ((bot(1, ANN), bot(2, BOB)), {}, ""),
        ((bot(1, ANN), bot(2, ANN)), {}, SAME_OWNER),
        ((bot(1), bot(1)), {}, "a bot played against itself"),
        ((bot(1), None), {}, "a player is not a registered bot"),
        ((bot(1), bot(2)), {"seed": 7}, "its cards follow from a seed, as in practice, not from a key of the server"),
        ((bot(1), bot(2)), {"seating": "single"}, "it was not played in every seating"),
        ((bot(1), bot(2)), {"stop": "better:-9,9"}, "its length depended on the score"),
        ((bot(1), bot(2)), {"stop": "ci=30"}, ""),
        (
            (bot(1), bot(2)),
            {"games": ["limit"], "bots": [{"bot": "learner"}, {"bot": "calling"}]},
            "a player learned during play",
        ),
    ],
)
def test_contest_whose_result_could_be_arranged_does_not_count(
    tmp_path: Path, bots: tuple[Bot | None, ...], changes: dict[str, Any], reason: str
) -> None:
    settings = {"games": ["kuhn"], "bots": [{"bot": "calling"}, {"bot": "random"}], "seating": "rotations"}
    plan = settle(validated(settings | {"seed": DealKey(bytes(32))} | changes))
    (contest,) = planned_contests(plan, tmp_path)
    assert unrated_reason(contest, bots, is_practice=False) == reason
    assert unrated_reason(contest, bots, is_practice=True) == "only the ladder's contests count here"


CONFIG = """
port = 0
[web]
port = 0
[[games]]
game = "kuhn.limit.2p"
name = "kuhn"
deals = 3
bots = []
"""


@contextlib.asynccontextmanager
async def serving(settings: ServerSettings) -> AsyncIterator[tuple[House, dict[str, str]]]:
    """Run a server with the users ann and bob; yield it and their tokens."""
    async with running(settings, web=server_site) as house:
        yield house, {name: new_user(house.folder, name) for name in ("ann", "bob")}


@contextlib.asynccontextmanager
async def connected_bots(house: House, tokens: dict[str, str], **more: Any) -> AsyncIterator[None]:
    """Connect the bots a and a2 of ann and b of bob until the end of the block."""
    clients = [
        joining_client(house, name=name, token=tokens[user], at_once=20, **more)
        for name, user in (("a", "ann"), ("a2", "ann"), ("b", "bob"))
    ]
    for client in clients:
        client.start()
    for client in clients:
        await client.until(JoinedServer)
    yield
    for client in clients:
        await client.leave()


async def reasons(house: House, count: int) -> set[tuple[str, tuple[str, ...], bool, str]]:
    """Wait for so many finished runs; return tag, players, whether they count, and the reason if not."""
    query = (
        "SELECT tag, players, runs.lineup IS NOT NULL, unrated FROM runs JOIN jobs ON jobs.id = job "
        "WHERE runs.state = 'finished'"
    )
    async with asyncio.timeout(PATIENCE_S):
        while len(rows := house.rows(query)) < count:
            await asyncio.sleep(0.05)
    return {(tag, tuple(json.loads(players)), bool(is_rated), reason) for tag, players, is_rated, reason in rows}


async def request_contests(house: House, tokens: dict[str, str]) -> None:
    """Request contests of ann's bots at the text port, the HTTP interface, the page and as a client of a bot."""
    assert house.started.page is not None
    peer = await house.log_in("ann", tokens["ann"])
    peer.send("RUNMATCHES kuhn 1 text 0 a a2\n")
    async with httpx2.AsyncClient(base_url=house.started.page, timeout=PATIENCE_S) as browser:
        page = (await browser.get("/login")).text
        key = page.partition('name="form_key" value="')[2].partition('"')[0]
        form = {"form_key": key, "name": "ann", "secret": tokens["ann"], "next": "/"}
        assert (await browser.post("/login", data=form)).status_code == 303
        page = (await browser.get("/account/request?game=kuhn")).text
        key = page.partition('name="form_key" value="')[2].partition('"')[0]
        for other in ("a2", "b"):
            headers = {"authorization": f"Bearer {tokens['ann']}"}
            job = {"game": "kuhn", "players": ["a", other], "tag": "http"}
            assert (await browser.post("/api/v1/jobs", json=job, headers=headers)).status_code == 201
            form = {"form_key": key, "game": "kuhn", "player1": "a", "player2": other, "tag": "page"}
            assert (await browser.post("/account/request", data=form)).status_code == 303
    challenges = (
        *(Challenge(f"join-{other}", "kuhn", ("c", other)) for other in ("a", "b")),
        Challenge("practice", "kuhn", ("c", "b"), terms=ContestTerms(practice=True)),
    )
    challenger = joining_client(house, name="c", token=tokens["ann"], at_once=20, challenges=challenges)
    challenger.start()
    await challenger.ending()


@pytest.mark.usefixtures("house_folder")
@pytest.mark.parametrize("is_practice", [False, pytest.param(True, marks=pytest.mark.slow)])
async def test_rule_applies_to_every_kind_of_request(*, is_practice: bool) -> None:
    Path("s.toml").write_text(CONFIG)
    # A ladder without games plays nothing.
    ladder = LadderSettings(games=(), only=True) if is_practice else None
    key = "its cards follow from a seed, as in practice, not from a key of the server"
    practice = "only the ladder's contests count here"

    async with serving(replace(read_toml_settings(Path("s.toml")), ladder=ladder)) as (house, tokens):
        async with connected_bots(house, tokens):
            await request_contests(house, tokens)
            results = await reasons(house, 8)
        other = practice if is_practice else ""
        assert results == {
            ("text", ("a", "a2"), False, other or key),
            *((tag, ("a", "a2"), False, other or SAME_OWNER) for tag in ("http", "page")),
            *((tag, ("a", "b"), not is_practice, other) for tag in ("http", "page")),
            ("join-a", ("c", "a"), False, other or SAME_OWNER),
            ("join-b", ("c", "b"), not is_practice, other),
            ("practice", ("c", "b"), False, other or key),
        }


@pytest.mark.usefixtures("house_folder")
async def test_ladder_pairs_no_bots_of_one_user_and_its_contests_count() -> None:
    Path("s.toml").write_text(CONFIG + "[ladder]\ndeals = 100\nwidth = 100000\nshare = 1\nonly = true\n")

    async with serving(read_toml_settings(Path("s.toml"))) as (house, tokens):
        async with connected_bots(house, tokens, is_on_ladder=True):
            results = await reasons(house, 2)
        assert {(frozenset(players), is_rated, reason) for _, players, is_rated, reason in results} == {
            (frozenset(("a", "b")), True, ""),
            (frozenset(("a2", "b")), True, ""),
        }
        assert house.rows("SELECT 1 FROM jobs WHERE players LIKE '%\"a\"%' AND players LIKE '%\"a2\"%'") == []


@pytest.mark.slow  # a whole attack
def test_losing_on_purpose_raises_no_rating(monkeypatch: pytest.MonkeyPatch) -> None:
    """The attack would raise a rating beyond its interval, and changes nothing under the rule."""
    puppets = script("research/serve/puppets.py")
    # A bot that always bets wins most from one that folds to every bet, so that few deals show it.
    monkeypatch.setattr(puppets, "HONEST", "raising")
    honest, bought, by_rule = puppets.attack("kuhn", ("calling", "random", "raising"), deals=100, lost=400)
    assert by_rule == honest
    assert bought["mallory"].won.mean > honest["mallory"].won.high
    assert puppets.place(bought, "mallory") == 1
