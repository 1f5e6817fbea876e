"""The page of a bot: its rating as it played, its opponents, its faults, and where its owner finds its leaks."""

from __future__ import annotations

import contextlib
import re
from pathlib import Path

from dealer.server.db.store import DATABASE_NAME, Store
from dealer.server.db.users import add_user
from tests.dealer.web.browsing import links
from tests.dealer.web.pages.test_standings import GAME, fill_server, finished, submit
from tests.dealer.web.visits import small_house, visiting

LIMIT = "holdem.limit.2p.reverse_blinds"


async def test_page_of_a_bot_shows_rating_opponents_and_faults(tmp_path: Path) -> None:
    settings = small_house()
    fill_server(tmp_path, settings, runs=2, bots=2)
    async with visiting(settings, tmp_path) as visit:
        page = f"/bots/{GAME}/bot1"
        with contextlib.closing(Store(tmp_path / DATABASE_NAME)) as store:
            store.write_now(lambda db: db.execute("INSERT INTO rating_history VALUES (1, 100, 0.0, 50.0)").rowcount)
        text = (await visit.browser.get(page)).text
        assert "<polyline" in text
        assert "rating, mbb/g over deals played" in text
        # The axis and one opponent.
        assert text.count('class="interval"') == 2
        assert "<h2>Faults</h2>" not in text
        with contextlib.closing(Store(visit.house.folder / DATABASE_NAME)) as store:
            fault = "INSERT INTO faults VALUES (NULL, ?, 'match.a', ?, ?, 1, x'', '')"
            for run, seat, kind in ((1, 0, "timeout"), (2, 0, "timeout"), (2, 0, "crash"), (2, 1, "flood")):
                store.write_now(lambda db, about=(run, seat, kind): db.execute(fault, about))  # type: ignore[misc]
        text = (await visit.browser.get(page)).text
        rows = re.findall(r'class="words">(\w+)</th><td>(\d)</td>', text.partition("<caption>Faults")[2])
        assert rows == [("timeout", "2"), ("crash", "1")]
        assert "flood" not in text
        assert (await visit.browser.get(f"{page}?version=1")).status_code == 200
        assert (await visit.browser.get(f"{page}?version=2")).status_code == 404


async def test_links_to_leaks_are_for_the_owner_alone(tmp_path: Path) -> None:
    async with visiting(small_house(), tmp_path) as visit:
        page = f"/bots/{LIMIT}/random"
        await finished(visit, await submit(visit, game=LIMIT, deals=1))
        with contextlib.closing(Store(visit.house.folder / DATABASE_NAME)) as store:
            query = "UPDATE bots SET owner = ? WHERE game = ? AND name = 'random'"
            store.write_now(lambda db: db.execute(query, (add_user(db, "player"), LIMIT)).rowcount)
        assert "A bot of player in limit." in (await visit.browser.get(page)).text
        await visit.log_in()
        (asked,) = links((await visit.browser.get(page)).text, "/account/request")
        assert "practice=1" in asked
        await finished(visit, await submit(visit, game=LIMIT, deals=1, practice=True))
        own = (await visit.browser.get(page)).text
        assert links(own, "/runs/2/leaks") == ["/runs/2/leaks?player=random"]
        assert links(own, "/runs/1/leaks") == []
        assert (await visit.browser.get("/runs/2/leaks?player=random")).status_code == 200
        async with visit.another() as stranger:
            assert "leaks" not in (await stranger.get(page)).text
