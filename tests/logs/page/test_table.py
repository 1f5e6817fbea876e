"""Tables as values."""

from __future__ import annotations

from logs.page.table import TableView


def test_words_and_figures_are_told_apart() -> None:
    table = TableView(
        "t",
        (("", ""), ("a", ""), ("b", ""), ("c", ""), ("d", "")),
        (("x", "dice", "1.5 %", "AKs", "nobody wins more than 0.5"), ("y", "", "-", "T2", "")),
    )
    assert [table.is_words(column) for column in range(5)] == [True, True, False, False, True]
