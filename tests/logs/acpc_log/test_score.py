"""Score lines."""

from __future__ import annotations

import pytest

from logs.acpc_log.state_lines import is_same_score, parse_score


@pytest.mark.parametrize(
    ("line", "totals", "names"),
    [
        ("SCORE:440|-440:Ann|Bob\n", (440.0, -440.0), ("Ann", "Bob")),
        ("SCORE:-87160.083333|143027.75|0:a|b|c", (-87160.083333, 143027.75, 0.0), ("a", "b", "c")),
        ("SCORE:1|-1:a:b|c\r\n", (1.0, -1.0), ("a:b", "c")),
    ],
)
def test_scores_are_parsed(line: str, totals: tuple[float, ...], names: tuple[str, ...]) -> None:
    assert parse_score(line) == (totals, names)


@pytest.mark.parametrize("line", ["SCORE:", "SCORE:1|2:Ann", "SCORE:1|x:Ann|Bob", "SCORE:1e5|2:a|b", "SCORE:nan|2:a|b"])
def test_damaged_scores_are_none(line: str) -> None:
    assert parse_score(line) is None


def test_decimals_that_were_not_printed_do_not_matter() -> None:
    assert is_same_score((1 / 3, -1 / 3), (0.333333, -0.333333))
    assert not is_same_score((1.0, -1.0), (1.002, -1.0))
