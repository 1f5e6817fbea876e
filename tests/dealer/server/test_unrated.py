"""Which contests count in the standings: the rule, and that it holds for every way in to a server."""

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
from tests.dealer.joining.test_joining import bringing
from tests.dealer.server.servers import House, running
from tests.dealer.web.visits import new_user
from tests.scripts import script

ANN, BOB = User(1, "ann"), User(2, "bob")
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
def test_a_contest_counts_unless_it_could_be_made_for_its_result(
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
    """Run a server at which ann has the bots a and a2, and bob the bot b."""
    async with running(settings, web=server_site) as house:
        yield house, {name: new_user(house.folder, name) for name in ("ann", "bob")}


@contextlib.asynccontextmanager
async def brought(house: House, tokens: dict[str, str], **more: Any) -> AsyncIterator[None]:
    """Have the three bots there."""
    clients = [
        bringing(house, name=name, token=tokens[user], at_once=20, **more)
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
    """By tag and players, whether the runs count, and why not, once there are so many that have ended."""
    query = (
        "SELECT tag, players, runs.lineup IS NOT NULL, unrated FROM runs JOIN jobs ON jobs.id = job "
        "WHERE runs.state = 'finished'"
    )
    async with asyncio.timeout(PATIENCE_S):
        while len(rows := house.rows(query)) < count:
            await asyncio.sleep(0.05)
    return {(tag, tuple(json.loads(players)), bool(is_rated), reason) for tag, players, is_rated, reason in rows}


async def ask_by_every_way(house: House, tokens: dict[str, str]) -> None:
    """Ann asks for contests of her bot with her other one, and with bob's; the text port's own never count."""
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
            wish = {"game": "kuhn", "players": ["a", other], "tag": "http"}
            assert (await browser.post("/api/v1/jobs", json=wish, headers=headers)).status_code == 201
            form = {"form_key": key, "game": "kuhn", "player1": "a", "player2": other, "tag": "page"}
            assert (await browser.post("/account/request", data=form)).status_code == 303
    challenges = (
        *(Challenge(f"join-{other}", "kuhn", ("c", other)) for other in ("a", "b")),
        Challenge("practice", "kuhn", ("c", "b"), terms=ContestTerms(practice=True)),
    )
    challenger = bringing(house, name="c", token=tokens["ann"], at_once=20, challenges=challenges)
    challenger.start()
    await challenger.ending()


@pytest.mark.usefixtures("house_folder")
@pytest.mark.parametrize("is_practice", [False, pytest.param(True, marks=pytest.mark.slow)])
async def test_the_rule_holds_for_every_way_to_ask_for_a_contest(*, is_practice: bool) -> None:
    Path("s.toml").write_text(CONFIG)
    # A ladder whose only game is none of the server's plays nothing.
    ladder = LadderSettings(games=(), only=True) if is_practice else None
    key = "its cards follow from a seed, as in practice, not from a key of the server"
    practice = "only the ladder's contests count here"

    async with serving(replace(read_toml_settings(Path("s.toml")), ladder=ladder)) as (house, tokens):
        async with brought(house, tokens):
            await ask_by_every_way(house, tokens)
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
async def test_the_ladder_plays_no_two_bots_of_one_user_and_counts() -> None:
    Path("s.toml").write_text(CONFIG + "[ladder]\ndeals = 100\nwidth = 100000\nshare = 1\nonly = true\n")

    async with serving(read_toml_settings(Path("s.toml"))) as (house, tokens):
        async with brought(house, tokens, is_on_ladder=True):
            results = await reasons(house, 2)
        assert {(frozenset(players), is_rated, reason) for _, players, is_rated, reason in results} == {
            (frozenset(("a", "b")), True, ""),
            (frozenset(("a2", "b")), True, ""),
        }
        assert house.rows("SELECT 1 FROM jobs WHERE players LIKE '%\"a\"%' AND players LIKE '%\"a2\"%'") == []


@pytest.mark.slow  # a whole attack
def test_losing_on_purpose_raises_no_rating(monkeypatch: pytest.MonkeyPatch) -> None:
    """The attack raises a rating beyond its interval if it counts, and changes nothing by the rule."""
    puppets = script("research/serve/puppets.py")
    # Who always bets wins most from who folds to every bet, so that few deals show it.
    monkeypatch.setattr(puppets, "HONEST", "raising")
    honest, bought, by_rule = puppets.attack("kuhn", ("calling", "random", "raising"), deals=100, lost=400)
    assert by_rule == honest
    assert bought["mallory"].won.mean > honest["mallory"].won.high
    assert puppets.place(bought, "mallory") == 1
