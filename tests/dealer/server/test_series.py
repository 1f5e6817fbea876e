"""Series of events: repeated events with a common table, and groups with a final."""

from __future__ import annotations

import asyncio
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from dealer.errors import RefusedError
from dealer.run.results import read_standings
from dealer.server.db.event_records import EventState
from dealer.server.db.series_records import Series, add_series, find_series, series_names, withdraw_series
from dealer.server.series_results import series_data, series_document, series_rows
from dealer.server.series_settings import SeriesSettings
from dealer.server.service import Service
from tests.dealer.helpers import PATIENCE_S, ROOT
from tests.dealer.server.test_contests import Host, offer, serving
from tests.dealer.server.test_scheduled_events import from_now, house


@pytest.fixture(autouse=True)
def _in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def settings_of(**changes: Any) -> SeriesSettings:
    fields = {"name": "cup", "game": "two", "deals": 5, "opens": from_now(-1000), "closes": from_now(1e6)}
    return SeriesSettings.model_validate(fields | changes)


def announce(service: Service, settings: SeriesSettings) -> None:
    """Add a series with all its events due now."""
    service.store.write_now(lambda db: add_series(db, "ann", settings, settings.game))
    service.store.write_now(lambda db: db.execute("UPDATE scheduled_events SET closes_s = 1, opens_s = 0").rowcount)


def cup(service: Service) -> Series:
    series = find_series(service.store, "cup")
    assert series is not None
    return series


async def wait_for_standings(service: Service, count: int) -> Series:
    async with asyncio.timeout(PATIENCE_S):
        while len([event for event in cup(service).events if event.standings]) < count:
            await asyncio.sleep(0.05)
    return cup(service)


async def test_points_of_repeated_events_add_up() -> None:
    async with serving(house()) as (service, _):
        announce(service, settings_of(every="week", times=2))
        series = await wait_for_standings(service, 2)
        assert [event.name for event in series.events] == ["cup-1", "cup-2"]
        rows = series_rows(series)
        assert {row.bot for row in rows} == {"calling", "raising", "random"}
        for event in series.events:
            places = {rank.player: rank.place for rank in read_standings(event.standings).total_bankroll}
            for row in rows:
                below = [other for other in places if places[other] > places[row.bot]]
                assert row.results[event.name] == len(below)
        assert all(row.total == sum(row.results.values()) for row in rows)
        assert [row.total for row in rows] == sorted((row.total for row in rows), reverse=True)
        document = series_document(series)
        assert "a point for every bot that is placed below it" in str(document.facts)


async def test_best_of_each_group_enter_the_final() -> None:
    async with serving(house()) as (service, ann):
        await service.presence.enter(ann, offer("mine", at_once=4), Host())
        announce(service, settings_of(groups=3, advance=1, draw="chance"))
        series = await wait_for_standings(service, 4)
        first, second, empty = series.groups
        # Four bots fill two of the groups.
        assert sorted((*first.entrants, *second.entrants)) == ["calling", "mine", "raising", "random"]
        assert len(first.entrants) == 2
        assert len(second.entrants) == 2
        assert empty.entrants == ()
        assert series.final is not None
        rows = series_rows(series)
        winners = {row.bot for row in rows if min(row.results.values()) == 1.0}
        assert set(series.final.entrants) <= winners
        # Equal bankrolls share a place.
        assert [row.total for row in rows] in ([1.0, 2.0, None, None], [1.0, 1.0, None, None])
        assert series_data(series)["events"][-1] == {"name": "cup-final", "state": "finished"}


async def test_ratings_spread_over_groups_forwards_and_backwards(monkeypatch: pytest.MonkeyPatch) -> None:
    from dealer.server.queue import series_schedule

    async with serving(house()) as (service, _):
        service.store.write_now(lambda db: add_series(db, "ann", settings_of(groups=2), "two"))

        class Entrant:
            game = "two"

            def __init__(self, name: str) -> None:
                self.name = name

        entrants: Any = [Entrant(name) for name in "edcba"]
        # Without ratings, names decide.
        assert series_schedule.draw_groups(service.store, cup(service), entrants) == [["a", "d", "e"], ["b", "c"]]


async def test_withdrawn_series_frees_its_name() -> None:
    async with serving(house()) as (service, _):
        for _ in range(2):
            service.store.write_now(lambda db: add_series(db, "ann", settings_of(every="day", times=3), "two"))
            assert [event.state for event in cup(service).events] == [EventState.OPEN] + 2 * [EventState.ANNOUNCED]
            with pytest.raises(RefusedError, match="there is a series cup already"):
                service.store.write_now(lambda db: add_series(db, "ann", settings_of(groups=2), "two"))
            service.store.write_now(lambda db: withdraw_series(db, "ann", cup(service)))
            assert series_names(service.store) == ()


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({}, "either every and times, or groups"),
        ({"every": "week"}, "every and times belong together"),
        ({"every": "week", "times": 2, "groups": 2}, "either every and times, or groups"),
        ({"groups": 2, "opens": from_now(1e7)}, "opens before it closes"),
    ],
)
def test_contradictory_settings_are_refused(changes: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValidationError, match=problem):
        settings_of(**changes)


def test_examples_in_the_documentation_are_valid_series() -> None:
    text = (ROOT / "docs" / "competition.md").read_text()
    files = [
        text for text in re.findall("```toml\n(.*?)```", text, re.DOTALL) if "every =" in text or "groups =" in text
    ]
    assert [len(SeriesSettings.model_validate(tomllib.loads(file)).first_events()) for file in files] == [10, 4]
