"""The statistics as tables of texts."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from logs.record import HandRecord
from logs.tracker.counts import HandCounts
from logs.tracker.derive import statistics_of
from logs.tracker.rows import ABSENT
from logs.tracker.tables import TableView, statistics_tables
from tests.logs.hands import random_hands


def _tables(records: list[HandRecord]) -> list[TableView]:
    tables = statistics_tables(statistics_of(HandCounts().add_all(records)))
    for table in tables:
        assert all(len(row) == len(table.columns) for row in table.rows), table.title
        assert not table.meanings or len(table.meanings) == len(table.rows)
        assert not any(re.search(r"\b(nan|inf|None)\b", text) for row in table.rows for text in row), table.title
    return tables


@pytest.mark.parametrize("game", ["limit", "limit3", "kuhn", "leduc"])
@pytest.mark.parametrize("hands", [1, 120])
def test_every_table_has_its_columns(game: str, hands: int) -> None:
    titles = [table.title for table in _tables(random_hands(game, hands))]
    assert titles[0] == "Statistics"
    assert {"By position", "By street"} <= set(titles)
    assert ("Most profitable starting hands" in titles) is game.startswith("limit")


def test_few_bots_stand_side_by_side_with_meanings_and_many_below_each_other() -> None:
    few = _tables(random_hands("limit3", 30))[0]
    assert [head for head, _ in few.columns[1:]] == sorted(
        ["Ann", "Bob", "Cat"], key=[head for head, _ in few.columns].index
    )
    assert len(few.columns) == 4
    assert all(meaning.endswith(".") or meaning for meaning in few.meanings)
    many = _tables(random_hands("limit10", 30))[0]
    assert len(many.rows) == 10
    assert many.meanings == ()
    assert all(meaning for _, meaning in many.columns[1:])


def test_what_a_game_lacks_is_no_column() -> None:
    by_title = {table.title: table for table in _tables(random_hands("kuhn", 200))}
    heads = [head for head, _ in by_title["By position"].columns]
    assert "VPIP" not in heads
    assert "W$SD" in heads
    assert all(any(row[column] != ABSENT for row in by_title["By position"].rows) for column in range(len(heads)))


def test_words_and_figures_are_told_apart() -> None:
    table = TableView(
        "t", (("", ""), ("a", ""), ("b", ""), ("c", "")), (("x", "dice", "1.5 %", "AKs"), ("y", "", "-", "T2"))
    )
    assert [table.is_words(column) for column in range(4)] == [True, True, False, False]


def test_names_that_are_no_utf_8_are_shown_all_the_same() -> None:
    records = [replace(record, names=("\udcffX", "Bob")) for record in random_hands("limit", 5)]
    table = _tables(records)[0]
    assert any("\ufffdX" in head for head, _ in table.columns)
