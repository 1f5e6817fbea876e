"""Standings, pairs, runs, running matches and replays in a real browser."""

from __future__ import annotations

import re
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from dealer.server.db.store import DATABASE_NAME
from tests.browsers import SIZES, launch_browser, needs_browser, open_page, page_problems
from tests.dealer.web.served import ServerThread
from tests.dealer.web.visits import PATIENCE_S, small_house

pytestmark = [needs_browser, pytest.mark.slow]

GAME = "leduc.limit.2p"
HOSTILE = "<img src=x onerror=window.isHacked=1>"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with launch_browser() as browser:
        yield browser


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ServerThread]:
    with ServerThread(small_house(max_deals=2_000_000), tmp_path / "server") as server:
        yield server


def submit(page: Any, server: ServerThread, **fields: Any) -> int:
    """Request a contest; return the number of the job."""
    body = {"game": GAME, "players": ["random", "calling"], "deals": 10} | fields
    headers = {"authorization": f"Bearer {server.token}"}
    answer = page.request.post(f"{server.address}api/v1/jobs", data=body, headers=headers)
    assert answer.ok, answer.text()
    return int(answer.json()["id"])


def wait_for_pairs(page: Any, server: ServerThread) -> Any:
    """Wait until the crosstable has a cell with a link, and return the first such cell."""
    cells = page.get_by_role("region", name="Crosstable").get_by_role("link")
    deadline_s = time.monotonic() + PATIENCE_S
    page.goto(f"{server.address}standings/{GAME}")
    while cells.count() == 0:
        assert time.monotonic() < deadline_s
        page.wait_for_timeout(100)
        page.reload()
    return cells.first


def test_replay_is_controlled_by_keyboard(browser: Any, server: ServerThread) -> None:
    with open_page(browser) as page:
        submit(page, server)
        wait_for_pairs(page, server)
        page.goto(f"{server.address}runs/1/matches/match.a/hands/3")
        last = page.locator(".steps li").count() - 1

        def step() -> int:
            assert page.locator(".scene:visible").count() == 1
            marked = page.locator('.steps [aria-current="step"]')
            assert marked.inner_text() == page.locator(".scene:visible .words").inner_text()
            return int(marked.get_attribute("data-step"))

        assert step() == 0
        page.keyboard.press("ArrowLeft")
        assert step() == 0
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowRight")
        assert step() == 2
        page.keyboard.press("ArrowLeft")
        assert step() == 1
        assert page.locator(".progress").inner_text().startswith(f"step 1 of {last}")
        page.keyboard.press("End")
        assert step() == last
        page.keyboard.press("ArrowRight")
        assert step() == last
        page.keyboard.press("Home")
        assert step() == 0
        page.keyboard.press("ArrowRight")
        page.reload()
        assert step() == 1
        page.keyboard.press("j")
        page.wait_for_url(re.compile(r"/hands/4$"))
        page.keyboard.press("k")
        page.wait_for_url(re.compile(r"/hands/3$"))
        # Without the keys of the page, Tab moves the focus along the links.
        page.locator("[data-go=on]").focus()
        page.keyboard.press("Enter")
        assert step() == 1
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        assert step() == last


def test_table_of_a_running_match_updates_itself_also_after_a_restart(browser: Any, server: ServerThread) -> None:
    changed = "before => document.querySelector('#live h3') && document.querySelector('#live').innerText !== before"
    with open_page(browser) as page:
        submit(page, server, deals=1_000_000, seed=7)
        address = f"{server.address}runs/1/matches/match.a"
        while page.goto(address).status != 200:
            page.wait_for_timeout(100)
        page.evaluate("window.isTheSame = true")
        page.wait_for_function(changed, arg="")
        before = page.locator("#live").inner_text()
        assert "Pot" in before
        page.wait_for_function(changed, arg=before)
        assert not re.search("(king|queen|jack) of", page.locator("#live").inner_html())
        server.stop()
        # The page keeps its table while the server is down.
        before = page.locator("#live").inner_text()
        assert "Pot" in before
        server.start()
        page.wait_for_function(changed, arg=before)
        assert page.evaluate("window.isTheSame") is True


def test_list_of_runs_updates_itself(browser: Any, server: ServerThread) -> None:
    with open_page(browser, width=SIZES[0]) as page:
        submit(page, server, deals=1_000_000)
        page.goto(f"{server.address}runs")
        row = page.locator(".lines tbody tr").first
        page.wait_for_function("() => document.querySelector('.lines')?.textContent.includes(' of 1,000,000')")
        page.evaluate("document.querySelector('.lines tbody a').isTheSame = true")
        before = row.text_content()
        page.wait_for_function("before => document.querySelector('.lines tbody tr').textContent !== before", arg=before)
        # An update keeps the elements of existing rows, so that a click that has begun stays on its link.
        first = "document.querySelector('.lines tbody a[href=\"/runs/1\"]').isTheSame"
        assert page.evaluate(first) is True
        submit(page, server)
        page.locator(".lines tbody tr").nth(1).wait_for()
        assert page.evaluate(first) is True
        assert not page.evaluate("document.documentElement.scrollWidth > innerWidth")


def test_names_stay_text(browser: Any, tmp_path: Path) -> None:
    folder = tmp_path / "server"
    with ServerThread(small_house(), folder) as server, open_page(browser) as page:
        submit(page, server)
        pair = wait_for_pairs(page, server).get_attribute("href")
        server.stop()
        with closing(sqlite3.connect(folder / DATABASE_NAME)) as db, db:
            db.execute("UPDATE bots SET name = ? WHERE name = 'random' AND game = ?", (HOSTILE, GAME))
            db.execute("UPDATE seats SET name = ? WHERE name = 'random'", (HOSTILE,))
        for path in folder.glob("runs/*/*.log"):
            path.write_text(path.read_text().replace("random", HOSTILE))
        server.start()
        hand = "runs/1/matches/match.a/hands/3"
        for path in (f"standings/{GAME}", str(pair)[1:], "runs", "runs/1", "runs/1/matches/match.a", hand):
            assert page.goto(server.address + path).status == 200
            assert HOSTILE in page.locator("main").inner_text(), path
            assert page.locator("main img").count() == 0
            assert page.evaluate("window.isHacked") is None
            assert not page.evaluate("document.documentElement.scrollWidth > innerWidth")
        page.keyboard.press("End")
        assert HOSTILE in page.locator(".progress").inner_text() + page.locator(".scene:visible").inner_text()
        assert page.evaluate("window.isHacked") is None


@pytest.mark.parametrize(("width", "scheme"), [(SIZES[0], "dark"), (SIZES[1], "light")])
def test_pages_of_results_are_accessible(browser: Any, server: ServerThread, width: int, scheme: str) -> None:
    with open_page(browser, width=width, scheme=scheme) as page:
        submit(page, server)
        pair = wait_for_pairs(page, server).get_attribute("href")
        submit(page, server, deals=1_000_000)
        while page.goto(f"{server.address}runs/2/matches/match.a").status != 200:
            page.wait_for_timeout(100)
        page.locator("#live h3").first.wait_for()
        problems = {"live": page_problems(page)}
        hand = "runs/1/matches/match.a/hands/3"
        bot = f"bots/{GAME}/random"
        paths = (
            "",
            bot,
            "events",
            "nothing",
            "standings",
            f"standings/{GAME}",
            str(pair)[1:],
            "runs",
            "runs/1",
            "runs/1/matches/match.a",
            hand,
        )
        for path in paths:
            page.goto(server.address + path)
            problems[path] = page_problems(page)
        page.keyboard.press("End")
        problems["the last step"] = page_problems(page)
        assert not any(problems.values()), problems
