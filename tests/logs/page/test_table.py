"""Tables as values."""

from __future__ import annotations

from logs.page.table import TableView


def test_words_and_figures_are_told_apart() -> None:
    table = TableView(
        "t", (("", ""), ("a", ""), ("b", ""), ("c", "")), (("x", "dice", "1.5 %", "AKs"), ("y", "", "-", "T2"))
    )
    assert [table.is_words(column) for column in range(4)] == [True, True, False, False]
