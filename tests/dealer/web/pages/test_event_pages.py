"""Events on pages: organisers announce them, others read them."""

from __future__ import annotations

from pathlib import Path

from dealer.server.accounts import add_token
from dealer.server.db.audit import changes
from dealer.server.db.users import add_user
from tests.dealer.web.pages.test_organiser import ADMIN, stored
from tests.dealer.web.visits import Visit, new_user, small_house, visiting

FORM = {"name": "final", "game": "kuhn", "deals": "20", "entrants": "calling, random", "closes": "2100-01-01T12:00"}


async def announced(visit: Visit, **changed: str) -> tuple[int, str]:
    """Send the form; gives the status, and the address or the page that follows."""
    answer = await visit.browser.post("/events", data=FORM | changed | {"form_key": await visit.form_key("/events")})
    return answer.status_code, answer.headers.get("location", answer.text)


async def test_an_organiser_announces_an_event_on_its_page(tmp_path: Path) -> None:
    async with visiting(small_house(), tmp_path) as visit:
        with stored(tmp_path) as store:
            token = store.write_now(lambda db: add_token(db, add_user(db, "olga"), ADMIN))
        await visit.log_in("olga", token)
        assert await announced(visit) == (303, "/events/final")
        page = (await visit.browser.get("/events/final")).text.replace("\xa0", " ")
        for text in ("The event is open. It closes in", "calling, random", "2100-01-01 12:00", "<dd>20</dd>"):
            assert text in page
        with stored(tmp_path) as store:
            assert [(one["who"], one["what"]) for one in changes(store) if "event" in one["what"]] == [
                ("olga", "announced the event final")
            ]
        for changed, problem in (
            ({}, "There is an event final already"),
            ({"name": "a b"}, "Name: must be 1 to 40 of the letters"),
            ({"name": "new", "closes": "2001-01-01T12:00"}, "The closing time of the event has passed"),
            ({"name": "new", "closes": "soon"}, "Closes: "),
            ({"name": "new", "deals": "0"}, "Deals: "),
            ({"name": "new", "game": ""}, "There is no game"),
            ({"name": "new", "entrants": "a,a"}, "A bot enters once"),
        ):
            status, text = await announced(visit, **changed)
            assert (status, problem in text, 'value="calling, random"' in text or "a,a" in text) == (422, True, True)


async def test_only_organisers_announce_events(tmp_path: Path) -> None:
    async with visiting(small_house(), tmp_path) as visit:
        for is_known in (False, True):
            if is_known:
                await visit.log_in("ann", new_user(tmp_path, "ann"))
            assert "Announce" not in (await visit.browser.get("/events")).text
            key = await visit.form_key("/account" if is_known else "/login")
            answer = await visit.browser.post("/events", data=FORM | {"form_key": key})
            assert (answer.status_code, "Only organisers announce events" in answer.text) == (403, True)
        assert (await visit.browser.get("/events/final")).status_code == 404
