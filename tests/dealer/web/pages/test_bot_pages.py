"""Page of a bot: rating, opponents and faults."""

from __future__ import annotations

import contextlib
import re
from pathlib import Path

from dealer.server.db.store import DATABASE_NAME, Store
from tests.dealer.web.pages.test_standings import GAME
from tests.dealer.web.visits import fill_server, small_house, visiting


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
