"""Pages of events: announcement, changes, access and long lists."""

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
from tests.dealer.web.pages.test_organiser import ADMIN, open_store
from tests.dealer.web.visits import Visit, new_user, small_house, visiting

FORM = {"name": "final", "game": "kuhn", "deals": "20", "entrants": "calling, random", "closes": "2100-01-01T12:00"}


async def announce(visit: Visit, **changed: str) -> tuple[int, str]:
    """Submit the form of a new event; return the status, and the target of the redirection or the page."""
    answer = await visit.browser.post("/events", data=FORM | changed | {"form_key": await visit.form_key("/events")})
    return answer.status_code, answer.headers.get("location", answer.text)


async def test_organiser_announces_an_event(tmp_path: Path) -> None:
    async with visiting(small_house(), tmp_path) as visit:
        with open_store(tmp_path) as store:
            token = store.write_now(lambda db: add_token(db, add_user(db, "olga"), ADMIN))
        await visit.log_in("olga", token)
        assert await announce(visit) == (303, "/events/final")
        page = (await visit.browser.get("/events/final")).text.replace("\xa0", " ")
        for text in ("The event is open, and ", "Closes in", "calling, random", "2100-01-01 12:00", "<dd>20</dd>"):
            assert text in page
        with open_store(tmp_path) as store:
            (change,) = [change for change in changes(store) if "event" in change["what"]]
            assert (change["who"], change["what"]) == ("olga", "announced the event final")
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
            status, text = await announce(visit, **changed)
            assert status == 422
            assert problem in text
            entrants = (FORM | changed)["entrants"]
            assert f'value="{entrants}"' in text, "the form keeps the entrants"


async def change_event(visit: Visit, action: str, **fields: str) -> tuple[int, str]:
    """Submit a form of the event's page; return the status, and the target of the redirection or the page."""
    fields["form_key"] = await visit.form_key("/events/final")
    answer = await visit.browser.post(f"/events/final/{action}", data=fields)
    return answer.status_code, answer.headers.get("location", html.unescape(answer.text))


async def test_organiser_edits_an_event_disqualifies_a_bot_and_withdraws_the_event(tmp_path: Path) -> None:
    async with visiting(small_house(), tmp_path) as visit:
        with open_store(tmp_path) as store:
            token = store.write_now(lambda db: add_token(db, add_user(db, "olga"), ADMIN))
        await visit.log_in("olga", token)
        await announce(visit)
        page = (await visit.browser.get("/events/final")).text
        for value in ('value="20"', 'value="calling, random"', 'value="2100-01-01T12:00"'):
            assert value in page, "the form has the current settings"
        assert await change_event(visit, "edit", **FORM | {"deals": "30"}) == (303, "/events/final")
        assert "<dd>30</dd>" in (await visit.browser.get("/events/final")).text
        status, page = await change_event(visit, "edit", **FORM | {"entrants": "caling"})
        assert status == 422
        assert "did you mean calling?" in page
        assert 'value="caling"' in page
        for bot, reason, problem in (("rando", "x", "did you mean random?"), ("random", " ", "A reason is needed")):
            status, page = await change_event(visit, "disqualify", bot=bot, reason=reason)
            assert status == 422
            assert problem in page
        assert await change_event(visit, "disqualify", bot="random", reason="<b>") == (303, "/events/final")
        assert "&lt;b&gt;" in (await visit.browser.get("/events/final")).text
        status, page = await change_event(visit, "withdraw", again="finale")
        assert status == 422
        assert "Type final to withdraw the event." in page
        assert await change_event(visit, "withdraw", again="final") == (303, "/events")
        assert (await visit.browser.get("/events/final")).status_code == 404
        await announce(visit)
        with open_store(tmp_path) as store:
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
            assert answer.status_code == 403
            assert "Only organisers change events" in answer.text
        assert (await visit.browser.get("/events/final")).status_code == 404
        with open_store(tmp_path) as store:
            settings = EventSettings(name="final", game="kuhn", closes=datetime(2100, 1, 1, tzinfo=UTC))
            store.write_now(lambda db: add_event(db, "olga", settings, "kuhn.limit.2p"))
        page = (await visit.browser.get("/events/final")).text
        assert "None of your bots is in." in page
        assert "Manage" not in page
        for action in ("edit", "disqualify", "withdraw"):
            answer = await visit.browser.post(f"/events/final/{action}", data=FORM | {"form_key": key})
            assert answer.status_code == 403


async def test_long_event_is_paged(tmp_path: Path) -> None:
    async with visiting(small_house(deals=1), tmp_path) as visit:
        with open_store(tmp_path) as store:
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
        assert "page 1 of 2" in first
        assert "b49" in first
        assert "b50" not in first
        assert "page 2 of 2" in second
        assert "b49" not in second
        assert "b50" in second


async def test_series_announced_by_the_interface_has_a_page(tmp_path: Path) -> None:
    async with visiting(small_house(), tmp_path) as visit:
        with open_store(tmp_path) as store:
            token = store.write_now(lambda db: add_token(db, add_user(db, "olga"), ADMIN))
        headers = {"authorization": f"Bearer {token}"}
        settings = {"name": "cup", "game": "kuhn", "closes": "2100-01-01T12:00Z", "groups": 2}
        answer = await visit.browser.post("/api/v1/series", json=settings, headers=headers)
        assert answer.status_code == 201
        assert answer.json()["events"][1] == {"name": "cup-B", "state": "open"}
        assert (await visit.browser.get("/api/v1/series")).json() == {"series": ["cup"]}
        for path in ("/series", "/events/cup-A"):
            assert 'href="/series/cup"' in (await visit.browser.get(path)).text
        page = (await visit.browser.get("/series/cup")).text
        assert "The first 2 of each group enter the final" in page
        assert 'href="/events/cup-A"' in page
        assert (await visit.browser.get("/series/cap")).status_code == 404
