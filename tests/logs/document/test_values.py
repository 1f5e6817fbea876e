from __future__ import annotations

import pytest

from logs.document import (
    ABSENT,
    CHIPS,
    DATE,
    DIGITS,
    DURATION,
    NAME,
    TIME,
    Column,
    Fact,
    Link,
    Series,
    Spec,
    Table,
    Value,
    text_of,
)
from logs.estimation import Estimate, Rate


@pytest.mark.parametrize(
    ("value", "spec", "text"),
    [
        (None, ",", ABSENT),
        (None, NAME, ""),
        ("a\x1bb", NAME, "a\ufffdb"),
        (1234.5, "+,.1f", "+1,234.5"),
        (-0.04, "+,.1f", "+0.0"),
        (0.5, ".0%", "50%"),
        (Estimate(12.34, 5.67), "+,.1f", "+12.3 ± 5.7"),
        (Rate(-5.0, 1.0, player="A", opponent="B"), "+,.0f", "-5 ± 1"),
        (Link(Link(7, "/x"), "/y"), ",", "7"),
        (0.00019, TIME, "190 µs"),
        (12.3456, TIME, "12.3 s"),
        (-1234.5, CHIPS, "-1,234.50"),
        (1e-5, DIGITS, "0.0001"),
        (1.25e-11, "+.12f", "+0.000000000013"),
        (4830.4, DURATION, "1 h 20 min"),
        (1_700_000_000.0, DATE, "2023-11-14 22:13"),
        ((Link(1, "/1"), Estimate(1.5, 2.0), "a"), "+,.0f", "+1, +2 ± 2, a"),
    ],
)
def test_values_have_the_format_of_their_column(value: Value, spec: Spec, text: str) -> None:
    assert text_of(value, spec) == text


def test_both_sides_of_a_sum_are_rounded_alike() -> None:
    half = 388.5
    assert text_of(half + 1e-13, "+,.0f").lstrip("+") == text_of(-half, "+,.0f").lstrip("-")


def test_a_heading_and_a_fact_end_in_their_unit() -> None:
    assert Column("won", "+", "mbb/g").heading == "won mbb/g"
    assert Fact("training", 20_000, unit="hands").text == "20,000 hands"


def test_columns_without_values_are_left_out() -> None:
    table = Table("T", (Column("a"), Column("b", ","), Column("c")), (("x", None, ""), ("y", 1, "")))
    assert [column.title for column in table.without_empty().columns] == ["a", "b"]
    assert table.without_empty().texts == [["x", ABSENT], ["y", "1"]]


def test_a_series_needs_as_many_heights_as_places() -> None:
    with pytest.raises(ValueError, match="2 x values"):
        Series("a", (1, 2), (1,))
    with pytest.raises(ValueError, match="2 x values"):
        Series("a", (1, 2), (1, 2), (0.5,))
