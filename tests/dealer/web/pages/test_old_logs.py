"""Removal of old logs, and hand histories on request."""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace
from pathlib import Path

from dealer.server.accounts import add_token
from dealer.server.db.store import DATABASE_NAME, Store
from dealer.server.db.users import add_user
from dealer.server.resources import removal_sentence
from tests.dealer.web.pages.test_play_pages import page_words
from tests.dealer.web.test_api import ONE_HAND, Program
from tests.dealer.web.visits import PATIENCE_S, Visit, small_house, visiting


async def play_run(visit: Visit) -> None:
    """Have a run of one hand played."""
    program = Program(visit)
    job = ONE_HAND | {"game": "holdem.limit.2p.reverse_blinds"}
    await program.wait_for_job((await program.submit(job)).json()["id"])


async def test_logs_are_removed_after_some_days_and_results_stay(tmp_path: Path) -> None:
    data = tmp_path / "data"

    async with visiting(small_house(), data) as visit:
        await play_run(visit)
        await play_run(visit)
        assert not list(data.rglob("pokerstars"))
        text = await Program(visit).get("/runs/1/matches/0/export/pokerstars")
        assert text.text.count("PokerStars Hand #") == 1
    old, young = sorted((data / "runs").iterdir())
    assert list(old.glob("*.log"))

    token = age(data, run=1, days=3)
    async with visiting(replace(small_house(), keep_days=2), data) as visit:
        async with asyncio.timeout(PATIENCE_S):
            while (sentence := removal_sentence(old)) is None or len(list(old.iterdir())) > 2:
                await asyncio.sleep(0.05)
        assert {path.name for path in old.iterdir()} == {"result.json", "logs-removed"}
        assert re.fullmatch(r"The logs of this run were removed on 20[0-9-]{8}; its results are kept\.", sentence)
        assert removal_sentence(young) is None
        assert list(young.glob("*.log"))
        await visit.log_in(secret=token)
        page = await visit.browser.get("/runs/1")
        assert page.status_code == 410
        assert sentence in page_words(page)
        assert sentence in page_words(await visit.browser.get("/account/runs/1"))
        assert (await visit.browser.get("/runs/2")).status_code == 200
        program = Program(visit, token)
        answer = await program.get("/runs/1/matches/0/log")
        assert answer.status_code == 410
        assert sentence in answer.text
        assert (await program.get_json("/runs/1"))["run"]["state"] == "finished"


def age(data: Path, run: int, days: float) -> str:
    """Move the end of a run days back; return a token of the user."""
    store = Store(data / DATABASE_NAME)
    try:
        store.write_now(
            lambda db: db.execute("UPDATE runs SET ended_s = ended_s - ? WHERE id = ?", (86_400 * days, run))
        )
        return store.write_now(lambda db: add_token(db, add_user(db, "player")))
    finally:
        store.close()
