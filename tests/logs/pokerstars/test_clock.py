"""The wall clock of New York."""

from __future__ import annotations

import zoneinfo
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from logs.pokerstars.writer import HandClock, eastern_date


def us(*when: int) -> int:
    return int(datetime(*when, tzinfo=UTC).timestamp()) * 1_000_000  # type: ignore[misc]


@pytest.mark.parametrize(
    ("at_us", "text"),
    [
        (us(2026, 1, 2, 17, 0, 0), "2026/01/02 12:00:00"),
        (us(2026, 1, 2, 5, 0, 0), "2026/01/02 0:00:00"),
        (us(2026, 7, 2, 13, 5, 9), "2026/07/02 9:05:09"),
        # Clocks move forward on March 8, 2026, and back on November 1.
        (us(2026, 3, 8, 7, 0, 0), "2026/03/08 3:00:00"),
        (us(2026, 11, 1, 5, 59, 59), "2026/11/01 1:59:59"),
        (us(2026, 11, 1, 6, 0, 0), "2026/11/01 1:00:00"),
        (us(2000, 1, 1) + 999_999, "1999/12/31 19:00:00"),
        (-1, "1969/12/31 18:59:59"),
    ],
)
def test_a_time_is_that_of_new_york(at_us: int, text: str) -> None:
    assert HandClock().text(at_us) == text
    assert f"{eastern_date(at_us):%Y/%m/%d}" == text.partition(" ")[0]


def test_times_agree_with_the_time_zone_database() -> None:
    new_york = zoneinfo.ZoneInfo("America/New_York")
    at = datetime(1990, 1, 1, tzinfo=UTC)
    while at.year < 2037:
        wanted = at.astimezone(new_york)
        text = HandClock().text(int(at.timestamp()) * 1_000_000)
        assert text == f"{wanted:%Y/%m/%d} {wanted.hour}:{wanted:%M:%S}"
        at += timedelta(hours=89, minutes=59, seconds=59)


@given(st.lists(st.integers(us(2025, 1, 1), us(2027, 1, 1)), min_size=2))
def test_times_always_increase(moments: list[int]) -> None:
    clock = HandClock()
    read = [datetime.strptime(clock.text(at_us), "%Y/%m/%d %H:%M:%S") for at_us in moments]
    assert all(one < other for one, other in pairwise(read))


def test_hands_of_the_same_second_follow_each_other() -> None:
    clock = HandClock()
    assert [clock.text(us(2026, 1, 2, 17, 0, 0))[-8:] for _ in range(3)] == ["12:00:00", "12:00:01", "12:00:02"]
    assert clock.text(us(2026, 1, 2, 17, 0, 1))[-8:] == "12:00:03"
    assert clock.ahead_s == 2
    # Slower hands have their real times again.
    assert clock.text(us(2026, 1, 2, 17, 0, 30))[-8:] == "12:00:30"
    assert clock.ahead_s == 0


@pytest.mark.parametrize("at_us", [10**18, -(10**17), us(9999, 12, 31), us(1, 1, 1)])
def test_times_of_no_calendar(at_us: int) -> None:
    with pytest.raises(ValueError, match=f"an impossible time: {at_us} us"):
        HandClock().text(at_us)
    with pytest.raises(ValueError, match="an impossible time"):
        eastern_date(at_us)
