"""Conversion between chips and money."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from logs.formats.money import Scale, equal_shares, split_by_weight

CHIP_VALUES = st.one_of(
    st.integers(1, 1000),
    st.sampled_from([0.01, 0.05, "0.1", 0.5, 2.5, "0.0001", "0.000001", Decimal("0.125"), "1E+3"]),
)


@pytest.mark.parametrize(
    ("chip_value", "unit", "chips", "amount"),
    [
        (1, "0.01", 300, 300),
        (0.01, "0.01", 333, 3.33),
        ("0.125", "0.001", 1, 0.125),
        (0.000001, "0.000001", 3, 0.000003),
        ("1E+3", "0.01", 7, 7000),
        (0.1, "0.01", 3, 0.3),
    ],
)
def test_amount_is_chips_times_their_value(chip_value: float | str, unit: str, chips: int, amount: float) -> None:
    scale = Scale(chip_value)
    assert scale.unit == Decimal(unit)
    assert scale.amount(chips) == amount
    assert isinstance(scale.amount(chips), int) == (amount == int(amount))


@given(CHIP_VALUES, st.integers(0, 2**31))
def test_amounts_read_back_as_they_are_printed(chip_value: float | str, chips: int) -> None:
    scale = Scale(chip_value)
    assert scale.chips(Decimal(str(scale.amount(chips)))) == chips
    assert scale.number(scale.units(chips)) == scale.amount(chips)


def test_fractions_of_chips_are_refused() -> None:
    assert Scale(1).chips(Decimal("2.5")) is None
    assert Scale("0.5").chips(Decimal("2.5")) == 5
    assert Scale(7).chips(8) is None
    assert Scale(7).chips(-14) == -2


def test_parts_of_chips_are_rounded_to_units() -> None:
    assert Scale(1).rounded_units(Fraction(100, 3)) == 3333
    assert Scale(1).rounded_units(66.666666) == 6667
    assert Scale("0.01").rounded_units(0.4) == 0


@pytest.mark.parametrize("value", [0, -1, "nan", "inf", "-inf", "0.0000001"])
def test_impossible_chip_values_are_refused(value: float | str) -> None:
    with pytest.raises(ValueError, match="the value of a chip"):
        Scale(value)


@given(st.integers(0, 10**9), st.integers(1, 10))
def test_shares_add_up_and_differ_by_a_unit_at_most(units: int, count: int) -> None:
    shares = equal_shares(units, count)
    assert sum(shares) == units
    assert len(shares) == count
    assert shares == sorted(shares, reverse=True)
    assert shares[0] - shares[-1] <= 1


@given(st.integers(0, 10**9), st.lists(st.integers(1, 10**6), min_size=1, max_size=9))
def test_parts_add_up_and_are_in_proportion(units: int, weights: list[int]) -> None:
    parts = split_by_weight(units, weights)
    assert sum(parts) == units
    for part, weight in zip(parts, weights, strict=True):
        assert abs(part - Fraction(units * weight, sum(weights))) <= len(weights)
