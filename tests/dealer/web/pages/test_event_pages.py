"""Events on pages: organisers announce them, others read them."""

from __future__ import annotations

import asyncio
import html
from datetime import UTC, datetime
from pathlib import Path

from dealer.server.accounts import add_token
from dealer.server.db import event_records
from dealer.server.db.audit import changes
from dealer.server.db.bot_registry import register_user_bot
from dealer.server.db.event_records import add_event
from dealer.server.db.users import add_user
from dealer.server.event_settings import EventSettings
from tests.dealer.helpers import PATIENCE_S
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
        for text in ("The event is open, and ", "Closes in", "calling, random", "2100-01-01 12:00", "<dd>20</dd>"):
            assert text in page
        with stored(tmp_path) as store:
            assert [(one["who"], one["what"]) for one in changes(store) if "event" in one["what"]] == [
                ("olga", "announced the event final")
            ]
        for changed, problem in (
            ({}, "There is an event final already"),
            ({"name": "a b"}, "Name: must have only the letters"),
            ({"name": "new", "closes": "2001-01-01T12:00"}, "The closing time of the event has passed"),
            ({"name": "new", "closes": "soon"}, "Closes: "),
            ({"name": "new", "deals": "0"}, "Deals: "),
            ({"name": "new", "game": ""}, "There is no game"),
            ({"name": "new", "entrants": "a,a"}, "A bot enters once"),
            ({"name": "new", "entrants": "caling"}, "The game kuhn has no bot caling (did you mean calling?)"),
        ):
            status, text = await announced(visit, **changed)
            assert (
                status,
                problem in text,
                'value="calling, random"' in text or changed.get("entrants", "") in text,
            ) == (422, True, True)


async def changed(visit: Visit, action: str, **fields: str) -> tuple[int, str]:
    """Send a form of the event's page; gives the status, and the address or the page that follows."""
    fields["form_key"] = await visit.form_key("/events/final")
    answer = await visit.browser.post(f"/events/final/{action}", data=fields)
    return answer.status_code, answer.headers.get("location", html.unescape(answer.text))


async def test_an_organiser_edits_an_event_disqualifies_a_bot_and_withdraws_the_event(tmp_path: Path) -> None:
    async with visiting(small_house(), tmp_path) as visit:
        with stored(tmp_path) as store:
            token = store.write_now(lambda db: add_token(db, add_user(db, "olga"), ADMIN))
        await visit.log_in("olga", token)
        await announced(visit)
        page = (await visit.browser.get("/events/final")).text
        for value in ('value="20"', 'value="calling, random"', 'value="2100-01-01T12:00"'):
            assert value in page, "the form has the present settings"
        assert await changed(visit, "edit", **FORM | {"deals": "30"}) == (303, "/events/final")
        assert "<dd>30</dd>" in (await visit.browser.get("/events/final")).text
        status, page = await changed(visit, "edit", **FORM | {"entrants": "caling"})
        assert (status, "did you mean calling?" in page, 'value="caling"' in page) == (422, True, True)
        for bot, reason, problem in (("rando", "x", "did you mean random?"), ("random", " ", "A reason is needed")):
            status, page = await changed(visit, "disqualify", bot=bot, reason=reason)
            assert (status, problem in page) == (422, True)
        assert await changed(visit, "disqualify", bot="random", reason="<b>") == (303, "/events/final")
        assert "&lt;b&gt;" in (await visit.browser.get("/events/final")).text
        status, page = await changed(visit, "withdraw", again="finale")
        assert (status, "Type final to withdraw the event." in page) == (422, True)
        assert await changed(visit, "withdraw", again="final") == (303, "/events")
        assert (await visit.browser.get("/events/final")).status_code == 404
        await announced(visit)
        with stored(tmp_path) as store:
            assert [change["what"] for change in changes(store) if "event" in change["what"]] == [
                "announced the event final",
                "withdrew the event final",
                "disqualified random in the event final: <b>",
                "edited the event final",
                "announced the event final",
            ]


async def test_only_organisers_announce_events(tmp_path: Path) -> None:
    async with visiting(small_house(), tmp_path) as visit:
        for is_known in (False, True):
            if is_known:
                await visit.log_in("ann", new_user(tmp_path, "ann"))
            assert "Announce" not in (await visit.browser.get("/events")).text
            key = await visit.form_key("/account" if is_known else "/login")
            answer = await visit.browser.post("/events", data=FORM | {"form_key": key})
            assert (answer.status_code, "Only organisers change events" in answer.text) == (403, True)
        assert (await visit.browser.get("/events/final")).status_code == 404
        with stored(tmp_path) as store:
            settings = EventSettings(name="final", game="kuhn", closes=datetime(2100, 1, 1, tzinfo=UTC))
            store.write_now(lambda db: add_event(db, "olga", settings, "kuhn.limit.2p"))
        page = (await visit.browser.get("/events/final")).text
        assert ("None of your bots is in." in page, "Manage" in page) == (True, False)
        for action in ("edit", "disqualify", "withdraw"):
            answer = await visit.browser.post(f"/events/final/{action}", data=FORM | {"form_key": key})
            assert answer.status_code == 403


async def test_a_long_event_is_shown_by_page(tmp_path: Path) -> None:
    async with visiting(small_house(deals=1), tmp_path) as visit:
        with stored(tmp_path) as store:
            player = store.write_now(lambda db: add_user(db, "player"))
            for number in range(60):
                store.write_now(
                    lambda db, number=number: register_user_bot(db, player, "kuhn.limit.2p", f"b{number:02}", "")  # type: ignore[misc]
                )
            settings = EventSettings.model_validate(
                {"name": "many", "game": "kuhn", "entries_per_user": 0, "closes": "2100-01-01T12:00Z"}
            )
            store.write_now(lambda db: add_event(db, "ann", settings, "kuhn.limit.2p"))
            store.write_now(lambda db: db.execute("UPDATE scheduled_events SET opens_s = 0").rowcount)
            async with asyncio.timeout(PATIENCE_S):
                while (event := event_records.event(store, "many")) is None or "b59" not in event.entrants:
                    await asyncio.sleep(0.05)
        first = (await visit.browser.get("/events/many")).text
        second = (await visit.browser.get("/events/many?page=2")).text
        assert ("b49" in first, "b50" in first, "page 1 of 2" in first) == (True, False, True)
        assert ("b49" in second, "b50" in second, "page 2 of 2" in second) == (False, True, True)


async def test_a_series_is_announced_by_the_interface_and_has_a_page(tmp_path: Path) -> None:
    async with visiting(small_house(), tmp_path) as visit:
        with stored(tmp_path) as store:
            token = store.write_now(lambda db: add_token(db, add_user(db, "olga"), ADMIN))
        headers = {"authorization": f"Bearer {token}"}
        settings = {"name": "cup", "game": "kuhn", "closes": "2100-01-01T12:00Z", "groups": 2}
        answer = await visit.browser.post("/api/v1/series", json=settings, headers=headers)
        assert (answer.status_code, answer.json()["events"][1]) == (201, {"name": "cup-B", "state": "open"})
        assert (await visit.browser.get("/api/v1/series")).json() == {"series": ["cup"]}
        for path in ("/series", "/events/cup-A"):
            assert 'href="/series/cup"' in (await visit.browser.get(path)).text
        page = (await visit.browser.get("/series/cup")).text
        assert "The first 2 of each group enter the final" in page
        assert 'href="/events/cup-A"' in page
        assert (await visit.browser.get("/series/cap")).status_code == 404
