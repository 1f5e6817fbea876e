"""Pages of series: announcement, withdrawal and access."""

from __future__ import annotations

import html
from datetime import UTC, datetime
from pathlib import Path

import pytest

from dealer.server.accounts import add_token
from dealer.server.db.event_records import EventState
from dealer.server.db.series_records import add_series, find_series
from dealer.server.db.users import add_user
from dealer.server.series_settings import SeriesSettings
from tests.dealer.web.pages.test_organiser import ADMIN, open_store
from tests.dealer.web.visits import Visit, new_user, small_house, visiting

REPEATED = {
    "name": "weekly",
    "game": "kuhn",
    "kind": "week",
    "count": "3",
    "score": "mean",
    "advance": "9",
    "draw": "chance",
    "closes": "2100-01-01T12:00",
}
"""Form of repeated events; fields for groups are ignored."""


async def send(visit: Visit, path: str, **fields: str) -> tuple[int, str]:
    """Submit a form; return the status, and the target of the redirection or the page."""
    answer = await visit.browser.post(path, data=fields | {"form_key": await visit.form_key("/series")})
    return answer.status_code, answer.headers.get("location", html.unescape(answer.text))


async def log_in_organiser(visit: Visit, folder: Path) -> None:
    with open_store(folder) as store:
        token = store.write_now(lambda db: add_token(db, add_user(db, "olga"), ADMIN))
    await visit.log_in("olga", token)


async def test_organiser_announces_repeated_events(tmp_path: Path) -> None:
    async with visiting(small_house(), tmp_path) as visit:
        await log_in_organiser(visit, tmp_path)
        assert "Series of events" in (await visit.browser.get("/events")).text
        assert await send(visit, "/series", **REPEATED) == (303, "/series/weekly")
        with open_store(tmp_path) as store:
            series = find_series(store, "weekly")
            assert series is not None
            assert series.settings == SeriesSettings(
                name="weekly",
                game="kuhn",
                closes=datetime(2100, 1, 1, 12, tzinfo=UTC),
                every="week",
                times=3,
                score="mean",
            )
            assert [event.name for event in series.events] == ["weekly-1", "weekly-2", "weekly-3"]
        page = (await visit.browser.get("/series/weekly")).text.replace("\xa0", " ")
        for text in ("weekly-3", "2100-01-15 12:00", "its mean winnings per hand"):
            assert text in page
        listed = (await visit.browser.get("/series")).text.replace("\xa0", " ")
        for text in ('href="/series/weekly"', "every week", "0 of 3", "2100-01-15 12:00"):
            assert text in listed


async def test_organiser_announces_and_withdraws_groups(tmp_path: Path) -> None:
    async with visiting(small_house(), tmp_path) as visit:
        await log_in_organiser(visit, tmp_path)
        status, _ = await send(visit, "/series", **REPEATED | {"kind": "groups", "name": "cup"})
        assert status == 303
        with open_store(tmp_path) as store:
            series = find_series(store, "cup")
            assert series is not None
            assert (series.settings.groups, series.settings.advance) == (3, 9)
            assert series.settings.draw == "chance"
            assert all(event.state is EventState.OPEN for event in series.events)
        status, page = await send(visit, "/series/cup/withdraw", again="cap")
        assert status == 422
        assert "Type cup to withdraw the series." in page
        assert await send(visit, "/series/cup/withdraw", again="cup") == (303, "/series")
        assert (await visit.browser.get("/series/cup")).status_code == 404


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"count": "1"}, "Number of events: "),
        ({"count": ""}, "Number of events: "),
        ({"kind": "groups", "count": "27"}, "Number of groups: "),
        ({"kind": "groups", "advance": "0"}, "Bots of each group in the final: "),
        ({"kind": "year"}, "Every: "),
        ({"name": "a b"}, "Name: must have only the letters"),
        ({"name": "n" * 31}, "Name: "),
        ({"game": "chess"}, "There is no game"),
        ({"closes": "2001-01-01T12:00"}, "The closing time of the event has passed"),
        ({"opens": "2101-01-01T12:00"}, "A series opens before it closes"),
        ({"entries_per_user": "-1"}, "Bots of one user: "),
    ],
)
async def test_invalid_series_is_refused_and_the_form_kept(
    tmp_path: Path, changed: dict[str, str], problem: str
) -> None:
    async with visiting(small_house(), tmp_path) as visit:
        await log_in_organiser(visit, tmp_path)
        form = REPEATED | changed
        status, page = await send(visit, "/series", **form)
        assert status == 422
        assert problem in page
        assert f'value="{form["count"]}"' in page
        assert f'value="{form["closes"]}"' in page
        with open_store(tmp_path) as store:
            assert find_series(store, form["name"]) is None


async def test_only_organisers_change_series(tmp_path: Path) -> None:
    async with visiting(small_house(), tmp_path) as visit:
        with open_store(tmp_path) as store:
            settings = SeriesSettings(
                name="cup", game="kuhn", closes=datetime(2100, 1, 1, tzinfo=UTC), every="day", times=2
            )
            store.write_now(lambda db: add_series(db, "olga", settings, "kuhn.limit.2p"))
        await visit.log_in("ann", new_user(tmp_path, "ann"))
        assert "Announce" not in (await visit.browser.get("/series")).text
        page = (await visit.browser.get("/series/cup")).text
        assert "cup-2" in page
        assert "Withdraw" not in page
        key = await visit.form_key("/account")
        for path in ("/series", "/series/cup/withdraw"):
            answer = await visit.browser.post(path, data=REPEATED | {"again": "cup", "form_key": key})
            assert answer.status_code == 403
            assert "Only organisers change events" in answer.text
        assert (await visit.browser.get("/series/cap")).status_code == 404
