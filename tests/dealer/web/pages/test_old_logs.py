"""The files of a server's runs: hand histories on request, and logs that are removed after a while."""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace
from pathlib import Path

from dealer.server.accounts import add_token
from dealer.server.db.store import DATABASE_NAME, Store
from dealer.server.db.users import add_user
from dealer.server.resources import removal_sentence
from tests.dealer.web.pages.test_play_pages import seen
from tests.dealer.web.visits import PATIENCE_S, Visit, small_house, visiting

API = "/api/v1"


async def played(one: Visit, runs: int = 1) -> int:
    """Have a run played that makes it so many, and its job finished, so that all of it may be seen; its number."""
    headers = {"authorization": f"Bearer {one.token}"}
    asked = {"game": "holdem.limit.2p.reverse_blinds", "players": ["random", "calling"], "deals": 5}
    answer = await one.browser.post(f"{API}/jobs", json=asked, headers=headers)
    assert answer.status_code < 300, answer.text
    async with asyncio.timeout(PATIENCE_S):
        while True:
            job = (await one.browser.get(f"{API}/jobs/{answer.json()['id']}", headers=headers)).json()
            if job["job"]["state"] not in ("queued", "running"):
                found = (await one.browser.get(f"{API}/runs", headers=headers)).json()["runs"]
                assert len(found) == runs
                return int(found[0]["id"])
            await asyncio.sleep(0.05)


async def test_a_run_has_no_hand_histories_until_they_are_asked_for(tmp_path: Path) -> None:
    async with visiting(small_house(), tmp_path / "data") as visit:
        run = await played(visit)
        assert not list((tmp_path / "data").rglob("pokerstars"))
        headers = {"authorization": f"Bearer {visit.token}"}
        text = await visit.browser.get(f"{API}/runs/{run}/matches/0/export/pokerstars", headers=headers)
        assert text.text.count("PokerStars Hand #") == 5


async def test_logs_are_removed_after_some_days_and_results_stay(tmp_path: Path) -> None:
    data = tmp_path / "data"

    async with visiting(small_house(), data) as visit:
        await played(visit)
        await played(visit, 2)
    old, young = sorted((data / "runs").iterdir())
    assert list(old.glob("*.log"))

    token = age(data, run=1, days=3)
    async with visiting(replace(small_house(), keep_days=2), data) as visit:
        async with asyncio.timeout(PATIENCE_S):
            while (said := removal_sentence(old)) is None or len(list(old.iterdir())) > 2:
                await asyncio.sleep(0.05)
        assert {path.name for path in old.iterdir()} == {"result.json", "logs-removed"}
        assert re.fullmatch(r"The logs of this run were removed on 20[0-9-]{8}; its results are kept\.", said)
        assert removal_sentence(young) is None
        assert list(young.glob("*.log"))
        await visit.log_in(secret=token)
        page = await visit.browser.get("/runs/1")
        assert (page.status_code, said in seen(page)) == (410, True)
        assert said in seen(await visit.browser.get("/account/runs/1"))
        assert (await visit.browser.get("/runs/2")).status_code == 200
        headers = {"authorization": f"Bearer {token}"}
        answer = await visit.browser.get(f"{API}/runs/1/matches/0/log", headers=headers)
        assert (answer.status_code, said in answer.text) == (410, True)
        assert (await visit.browser.get(f"{API}/runs/1", headers=headers)).json()["run"]["state"] == "finished"


def age(data: Path, run: int, days: float) -> str:
    """Have a run have ended days ago; returns a token of the user's."""
    store = Store(data / DATABASE_NAME)
    try:
        store.write_now(
            lambda db: db.execute("UPDATE runs SET ended_s = ended_s - ? WHERE id = ?", (86_400 * days, run))
        )
        return store.write_now(lambda db: add_token(db, add_user(db, "player")))
    finally:
        store.close()
