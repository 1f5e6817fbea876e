"""Pages of a server's results: standings, bots, pairs, tables, runs and hands."""

from __future__ import annotations

import asyncio
import contextlib
import html
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dealer.server.db.store import DATABASE_NAME, Store
from dealer.server.db.users import add_user
from dealer.server.server_settings import ServerGame, bots_for
from protocol import find_game
from tests.dealer.web.browsing import links
from tests.dealer.web.visits import PATIENCE_S, Visit, fill_server, small_house, visiting, with_slow_bot
from tests.filled import BOTS

GAME = "kuhn.limit.2p"


async def submit(visit: Visit, **fields: Any) -> int:
    headers = {"authorization": f"Bearer {visit.token}"}
    body = {"game": GAME, "players": ["random", "calling"], "deals": 1, "seating": "single"} | fields
    answer = await visit.browser.post("/api/v1/jobs", json=body, headers=headers)
    assert answer.status_code < 300, answer.text
    return int(answer.json()["id"])


async def wait_for_job(visit: Visit, job: int) -> None:
    headers = {"authorization": f"Bearer {visit.token}"}
    async with asyncio.timeout(PATIENCE_S):
        while (await visit.browser.get(f"/api/v1/jobs/{job}", headers=headers)).json()["job"]["ended_s"] is None:
            await asyncio.sleep(0.05)


async def first_state(visit: Visit, path: str) -> str:
    """Read a stream of events up to its first state."""
    text = ""
    async with visit.browser.stream("GET", path) as events:
        async for piece in events.aiter_text():
            text += piece
            if "event: state" in text and text.endswith("\n\n"):
                break
    return text


async def first_view_bytes(visit: Visit) -> int:
    """Bytes that a browser loads for the home page, all of which must come from this server."""
    page = await visit.browser.get("/")
    parts = re.findall(r'<(?:link rel="(?:icon|stylesheet)" href|script src|img src)="([^"]+)"', page.text)
    assert all(part.startswith("/static/") for part in parts)
    assert not re.search(r'src="(?!/static/)', page.text)
    loaded = [page]
    for part in dict.fromkeys(parts):
        loaded.append(await visit.browser.get(part))
        assert loaded[-1].status_code == 200
        assert "url(" not in loaded[-1].text
        assert "@import" not in loaded[-1].text
    assert len(loaded) == 8
    return sum(answer.num_bytes_downloaded for answer in loaded)


async def test_standings_lead_to_runs_and_hands(tmp_path: Path) -> None:
    async with visiting(small_house(), tmp_path) as visit:
        home = (await visit.browser.get("/")).text
        assert "Nothing has been played yet" in home
        assert {"/login?next=/account/request", "/account/request", "#join", "/events"} <= {*links(home, "")}
        empty = await visit.browser.get(f"/standings/{GAME}")
        assert "no results that count yet" in empty.text
        assert "/account/request" in links(empty.text)
        for path, status in (("/standings", 302), ("/standings/chess", 404), (f"/pairs/{GAME}/7", 404), ("/runs", 200)):
            assert (await visit.browser.get(path)).status_code == status
        await wait_for_job(visit, await submit(visit, deals=10, seating="rotations"))
        runs = links((await visit.browser.get("/runs")).text, "/runs/") or ["/runs/1"]
        page = await visit.browser.get(runs[0])
        assert "10 deals of kuhn in 2 seatings each" in page.text
        match = next(link for link in links(page.text, f"{runs[0]}/matches/") if "/hands/" not in link)
        hand = await visit.browser.get(f"{match}/hands/3")
        assert hand.status_code == 200
        assert "What happened" not in hand.text
        async with asyncio.timeout(PATIENCE_S):
            while not (pairs := links((await visit.browser.get(f"/standings/{GAME}")).text, "/pairs/")):
                await asyncio.sleep(0.1)
        assert (await visit.browser.get("/standings/kuhn")).text.count('class="interval"') == 3
        standings = (await visit.browser.get("/standings/kuhn")).text
        assert f'<a href="/standings/{GAME}" aria-current="page">kuhn</a>' in standings
        (path,) = links(standings, f"/bots/{GAME}/random")
        bot = await visit.browser.get(path)
        assert {*links(bot.text, "/runs/"), *links(bot.text, "/pairs/")} == {runs[0], pairs[0]}
        assert (await visit.browser.get(f"/bots/{GAME}/chess")).status_code == 404
        home = (await visit.browser.get("/")).text
        assert f"arena join {visit.address.rstrip('/')} --token-file" in home
        assert path in links(home)
        assert runs[0] in links(home)
        assert "Nothing has been played yet" not in home
        assert await first_view_bytes(visit) < 40_000
        assert runs[0] in links(await first_state(visit, "/live/home"))
        for query, is_listed in (
            ("game=kuhn&bot=random&user=player&state=finished", True),
            ("game=leduc", False),
            ("bot=mfs", False),
            ("user=ann", False),
            ("state=failed", False),
        ):
            assert (runs[0] in links((await visit.browser.get(f"/runs?{query}")).text)) is is_listed, query
        assert (await visit.browser.get("/runs?state=lost")).status_code == 400
        assert "owner" not in (await visit.browser.get("/standings/kuhn")).text
        with contextlib.closing(Store(visit.house.folder / DATABASE_NAME)) as store:
            query = "UPDATE bots SET owner = ? WHERE game = ? AND name = 'random'"
            store.write_now(lambda db: db.execute(query, (add_user(db, "ann-lee"), GAME)).rowcount)
        standings = (await visit.browser.get("/standings/kuhn")).text
        assert "owner" in standings
        assert standings.count("ann-lee") == 1
        pair = await visit.browser.get(pairs[0])
        assert pair.status_code == 200
        assert runs[0] in links(pair.text)


async def test_bot_has_a_page_before_its_opponents_are_rated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dealer.server.db.counted_scores.standings", lambda store, game, bot=None: [])
    settings = small_house()
    fill_server(tmp_path, settings, runs=1, bots=2)
    async with visiting(settings, tmp_path) as visit:
        bot = await visit.browser.get(f"/bots/{GAME}/bot1")
        assert (bot.status_code, len(links(bot.text, "/pairs/"))) == (200, 1)


def _mbb(text: str) -> float:
    return float(text.partition("\xa0")[0].replace(",", ""))


async def test_cell_of_a_larger_game_links_the_common_tables_of_two_bots(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, game = find_game("kuhn.limit.3p")
    bots = bots_for(game, ("random", "calling"))
    settings = replace(small_house(), games=(ServerGame("kuhn3", "kuhn.limit.3p", game, 20, 10, bots),))
    fill_server(tmp_path, settings, runs=5, bots=4, players=3)

    async with visiting(settings, tmp_path) as visit:
        page = (await visit.browser.get("/standings/kuhn3")).text
        cells = re.findall(r'<a href="(/tables/[^"]+with=[^"]+)" aria-label="([^"]+)">([^<]+)</a>', page)
        assert '<a href="/tables/kuhn3">4</a>' in page
        assert len(cells) == 12
        ((path, _, cell),) = (cell for cell in cells if cell[1].startswith("bot2 at the tables with bot4 "))
        with monkeypatch.context() as patch:
            patch.setattr("dealer.web.site.ROWS_ON_PAGE", 1)
            first = (await visit.browser.get(path.replace("&amp;", "&"))).text
            assert f"bot2 won {cell} mbb/g in 300 deals".replace("\xa0", " ") in first
            (following,) = links(first, "?")
            second = (await visit.browser.get(f"/tables/kuhn3{following}")).text
        pairs = []
        for text in (first, second):
            (pair,) = links(text, "/pairs/")
            pair_page = (await visit.browser.get(pair)).text
            pairs.append((pair, sorted(links(pair_page, "/runs/"))))
            # The page of the table has the same figures.
            figures = re.findall(r'<td class="(?:won|lost|even)[12]?">([^<]+)</td>', text)
            assert len(figures) == 3
            assert all(f"<dd>{figure} mbb/g</dd>" in pair_page for figure in figures)
        assert sorted(pairs) == [("/pairs/kuhn3/1", ["/runs/1", "/runs/5"]), ("/pairs/kuhn3/3", ["/runs/3"])]
        # Tables are sorted by the result of the page's bot, the worst first.
        won = [_mbb(re.findall(r"<th[^>]*>bot2</th><td[^>]*>([^<]+)</td>", text)[0]) for text in (first, second)]
        assert won == sorted(won)
        assert (2 * won[0] + won[1]) / 3 == pytest.approx(_mbb(cell), abs=1)
        wrong = ("?bot=1", "?bot=1&with=1", "?bot=1&with=77", "?bot=x&with=2", "?after=-1", f"?bot={'9' * 20}&with=1")
        for query in wrong:
            assert (await visit.browser.get(f"/tables/kuhn3{query}")).status_code == 404, query
        assert "There are no more tables" in (await visit.browser.get("/tables/kuhn3?after=99")).text
        assert (await visit.browser.get("/tables/nothing")).status_code == 404


async def test_lists_of_runs_are_paged_and_cells_of_large_crosstables_are_short(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dealer.web.site.ROWS_ON_PAGE", 2)
    monkeypatch.setattr("dealer.web.pages.standings._MAX_FULL_CELLS", 1)
    monkeypatch.setattr("dealer.web.pages.replay_pages.ROWS_ON_PAGE", 2)

    async def pages_from(visit: Visit, path: str) -> list[list[str]]:
        pages: list[list[str]] = []
        query = ""
        while True:
            page = await visit.browser.get(f"{path}{query}")
            assert page.status_code == 200
            pages.append([link for link in links(page.text, "/runs/") if link.count("/") == 2])
            following = links(page.text, "?after=")
            if not following:
                return pages
            (query,) = following

    settings = small_house()
    fill_server(tmp_path, settings, runs=3, bots=2)
    async with visiting(settings, tmp_path) as visit:
        assert await pages_from(visit, "/runs") == [["/runs/3", "/runs/2"], ["/runs/1"]]
        cell = r'<a href="(/pairs/[^"]+)"[^>]* title="([^"]+)">([^<]+)</a>'
        page = (await visit.browser.get(f"/standings/{GAME}")).text
        cells = re.findall(cell, page)
        assert len(cells) == 2
        assert all(whole.startswith(f"{short}\xa0±\xa0") for _, whole, short in cells)
        assert '<table class="cross">' in page
        pair = cells[0][0]
        pages = await pages_from(visit, pair)
        assert [len(page) for page in pages] == [2, 1]
        assert sorted(link for page in pages for link in page) == ["/runs/1", "/runs/2", "/runs/3"]
        assert (await visit.browser.get(f"{pair}?after=x")).status_code == 404
        for path in ("/runs?after=x", "/runs?after=-1", "/runs?after=" + "9" * 50):
            assert "There are no more runs" in (await visit.browser.get(path)).text


async def test_running_run_is_listed_first_and_hides_its_cards(tmp_path: Path) -> None:
    _, game = find_game("kuhn")
    bots = bots_for(game, ("random", "calling", "folding", "raising"))
    settings = replace(small_house(), games=(ServerGame(GAME, GAME, game, 20, 10, bots, 2_000_000),))
    settings = with_slow_bot(settings, tmp_path)

    async with visiting(settings, tmp_path / "data") as visit:
        await submit(visit, players=["slow", "calling"], deals=1_000_000, seating="rotations")
        await wait_for_job(visit, await submit(visit, players=["folding", "raising"], deals=100))
        async with asyncio.timeout(PATIENCE_S):
            while not re.search(r"[\d,]+ of 1,000,000", text := (await visit.browser.get("/runs")).text):
                await asyncio.sleep(0.1)
        assert links(text, "/runs/") == ["/runs/1", "/runs/2"]
        assert links((await visit.browser.get("/runs?state=finished")).text, "/runs/") == ["/runs/2"]
        # A bot that folds every hand always loses, and the winner is first.
        assert re.findall(r'<span class="words good">([^<]+)</span>', text) == ["raising"]
        assert "raising</span>, <span" in text
        for query, runs in (("", ["/runs/1", "/runs/2"]), ("?bot=folding", ["/runs/2"]), ("?user=ann", [])):
            assert links(await first_state(visit, f"/live/runs{query}"), "/runs/") == runs
        assert (await visit.browser.get("/live/runs?state=lost")).status_code == 400
        match = "/runs/1/matches/match.a"
        page = await visit.browser.get(match)
        assert page.status_code == 200
        assert "export" not in page.text
        for path in (f"{match}/hands/0", f"{match}/hands/0/acpc", f"{match}/export/log"):
            answer = await visit.browser.get(path)
            assert answer.status_code == 403
            assert "STATE" not in answer.text
        text = await first_state(visit, f"{match}/events")
        assert "Pot <b>" in text
        assert not re.search("queen|king| of spades", text)


async def test_standings_of_many_bots_are_paged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of twenty bots has one place, and every page has the crosstable of its own bots."""
    settings = small_house()
    order = fill_server(tmp_path, settings, runs=190)
    assert len(order) == BOTS

    def ranked_bots(page: str) -> list[tuple[int, str]]:
        rows = re.findall(r'<td>(\d+)</td><th scope="row"[^>]*><a href="/bots/[^"]*/(bot\d+)"', page)
        return [(int(place), name) for place, name in rows]

    async with visiting(settings, tmp_path) as visit:
        whole = (await visit.browser.get(f"/standings/{GAME}")).text
        assert ranked_bots(whole) == list(enumerate(order, 1))
        assert "Later" not in whole
        assert len(links(whole, "/pairs/")) == BOTS * (BOTS - 1)
        monkeypatch.setattr("dealer.web.pages.standings.ROWS_ON_PAGE", 8)
        path = f"/standings/{GAME}"
        bots: list[tuple[int, str]] = []
        pair_counts = []
        while path:
            page = (await visit.browser.get(path)).text
            bots += ranked_bots(page)
            pair_counts.append(len(links(page, "/pairs/")))
            assert "It has the bots of this page, out of 20" in page
            following = re.search(r'href="([^"]+)">Later', page)
            path = "" if following is None else f"/standings/{GAME}{html.unescape(following[1])}"
        assert bots == list(enumerate(order, 1))
        assert pair_counts == [8 * 7, 8 * 7, 4 * 3]
