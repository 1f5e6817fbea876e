"""The twelve playing styles: every cell of the table, and both sides of each threshold."""

from __future__ import annotations

import pytest

from logs.estimation.mean import MIN_UNITS
from logs.tracker.definitions import classify
from tests.tables import rows


@pytest.mark.parametrize(
    ("vpip", "pfr", "raises", "name"),
    rows("""
    # VPIP, PFR, AF as raises to ten calls
    60  2   5   fish
    30  2   5   telephone
    60  20  5   dice
    60  20  40  maniac
    15  2   5   mouse
    60  2   40  elephant
    30  20  5   bomb
    15  2   40  rock
    30  2   40  sad
    30  20  40  cheerful
    15  10  5   dangerous
    15  10  40  shark
    """),
)
def test_every_cell_of_the_table(vpip: str, pfr: str, raises: str, name: str) -> None:
    assert classify(1000, float(vpip), float(pfr), int(raises), 10)[0] == name


@pytest.mark.parametrize(
    ("vpip", "pfr", "raises", "calls", "name", "where"),
    rows("""
    24.99  7     20   10   shark      VPIP just below 25
    25     7     20   10   cheerful   VPIP 25
    40.01  7     20   10   maniac     VPIP just above 40
    20     6.99  20   10   rock       PFR just below 7
    20     7     199  100  dangerous  AF just below 2
    20     7     200  100  shark      AF 2
    20     7     1    0    shark      raises and no calls
    """),
)
def test_both_sides_of_each_threshold(vpip: str, pfr: str, raises: str, calls: str, name: str, where: str) -> None:
    assert classify(1000, float(vpip), float(pfr), int(raises), int(calls))[0] == name, where


@pytest.mark.parametrize(
    ("vpip", "pfr", "raises", "calls", "explanation"),
    [
        (
            61.234,
            3.21,
            0,
            3,
            "VPIP 61.23 % > 40 %: loose; PFR 3.21 % < 7 %: passive before the flop; AF 0 < 2: passive after it: fish",
        ),
        (
            25,
            7,
            4,
            0,
            "VPIP 25 % between 25 % and 40 %: semi-loose; PFR 7 % >= 7 %: aggressive before the flop; never calls, 4 "
            "bets and raises: aggressive after it: cheerful",
        ),
    ],
)
def test_reason_is_stated(vpip: float, pfr: float, raises: int, calls: int, explanation: str) -> None:
    assert classify(1000, vpip, pfr, raises, calls)[1] == explanation


@pytest.mark.parametrize(
    ("hands", "vpip", "pfr", "raises", "calls", "explanation"),
    [
        (MIN_UNITS - 1, 20, 10, 10, 10, "too few hands: 99 of 100"),
        (MIN_UNITS, None, None, 10, 10, "never had to decide before the flop"),
        (MIN_UNITS, 20, None, 10, 10, "could never raise before the flop"),
        (MIN_UNITS, 20, 10, 0, 0, "never bet, raised or called after the flop"),
    ],
)
def test_too_few_hands_have_no_style(
    hands: int, vpip: float | None, pfr: float | None, raises: int, calls: int, explanation: str
) -> None:
    assert classify(hands, vpip, pfr, raises, calls) == (None, explanation)
