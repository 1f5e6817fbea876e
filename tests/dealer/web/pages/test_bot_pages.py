"""Page of a bot: rating, opponents, faults and its name."""

from __future__ import annotations

import contextlib
import re
from pathlib import Path

from dealer.server.accounts import add_token
from dealer.server.db.bot_registry import register_user_bot, used_names
from dealer.server.db.store import DATABASE_NAME, Store
from dealer.server.db.users import add_user, find_user
from tests.dealer.web.pages.test_organiser import ADMIN
from tests.dealer.web.pages.test_standings import GAME
from tests.dealer.web.visits import Visit, fill_server, new_user, small_house, visiting


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
        # One interval for the axis and one for the opponent.
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


async def free_name(visit: Visit, name: str) -> tuple[int, str]:
    """Submit the form that frees a name; return the status, and the target of the redirection or the page."""
    page = f"/bots/{GAME}/{name}"
    answer = await visit.browser.post(f"{page}/free", data={"form_key": await visit.form_key(page)})
    return answer.status_code, answer.headers.get("location", answer.text)


async def test_owner_and_organisers_free_the_name_of_a_bot_on_its_page(tmp_path: Path) -> None:
    async with visiting(small_house(), tmp_path) as visit:
        ann = new_user(tmp_path, "ann")
        with contextlib.closing(Store(tmp_path / DATABASE_NAME)) as store:
            owner = find_user(store, "ann")
            assert owner is not None
            for name in ("mine", "other"):
                store.write_now(lambda db, name=name: register_user_bot(db, owner.id, GAME, name, "v1"))  # type: ignore[misc]
            olga = store.write_now(lambda db: add_token(db, add_user(db, "olga"), ADMIN))
            await visit.log_in("ann", ann)
            status, page = await free_name(visit, "mine")
            assert status == 422
            assert "The bot mine is connected, or was a minute ago" in page
            assert "Free mine" in page
            store.write_now(lambda db: db.execute("UPDATE bots SET seen_s = 1").rowcount)
            assert "Free the name" not in (await visit.browser.get(f"/bots/{GAME}/calling")).text
            assert await free_name(visit, "mine") == (303, f"/bots/{GAME}/mine")
            assert "Free the name" not in (await visit.browser.get(f"/bots/{GAME}/mine")).text
            assert used_names(store, owner.id) == ("other",)
            await visit.log_in()
            assert "Free the name" not in (await visit.browser.get(f"/bots/{GAME}/other")).text
            key = await visit.form_key("/account")
            refused = await visit.browser.post(f"/bots/{GAME}/other/free", data={"form_key": key})
            assert refused.status_code == 422
            assert "No bot of yours is called other" in refused.text
            await visit.log_in("olga", olga)
            assert await free_name(visit, "other") == (303, f"/bots/{GAME}/other")
            assert used_names(store, owner.id) == ()
