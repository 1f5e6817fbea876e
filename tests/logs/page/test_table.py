"""Tables as values."""

from __future__ import annotations

from logs.page.table import Column, ColumnKind, TableView, sheet


def test_the_first_column_holds_names_and_the_others_numbers_unless_they_are_described() -> None:
    text = Column("because", "why", ColumnKind.TEXT, rank=1)
    assert sheet("t", ("", "a", text), [[at, "1", "so"] for at in "xy"], "n") == TableView(
        "t",
        (Column("", kind=ColumnKind.NAME), Column("a", kind=ColumnKind.NUMBER), text),
        (("x", "1", "so"), ("y", "1", "so")),
        "n",
    )


def test_a_table_with_some_of_its_columns() -> None:
    view = sheet("t", ("", "a", "b"), (("x", "1", "2"),))
    assert view.with_columns((0, 2)) == sheet("t", ("", "b"), (("x", "2"),))


def test_columns_without_a_word_or_figure_are_left_out() -> None:
    view = sheet("t", ("", "a", "b", "c"), (("x", "-", "", "1"), ("y", "", "", "-")))
    assert view.without_empty() == sheet("t", ("", "c"), (("x", "1"), ("y", "-")))
    empty = sheet("t", ("", "a"), ())
    assert empty.without_empty() == empty
