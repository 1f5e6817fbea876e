"""Statistics shown as texts, tables and flat rows: complete, ordered, without NaN."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from types import SimpleNamespace

import pytest

from logs.document import Table, text_of
from logs.pokerstars.names import screen_names
from logs.record import HandRecord
from logs.tracker import COLUMNS, STATISTICS, HandCounts, rows, statistics_of
from logs.tracker.statistics import BotStatistics, Factor, Frequency, Statistics
from logs.tracker.statistics_tables import figure, statistics_tables
from tests.logs.hands import HOLDEM, TOYS, random_hands
from tests.logs.tracker.little_hands import hand


def _tables(records: list[HandRecord]) -> list[Table]:
    tables = statistics_tables(statistics_of(HandCounts().add_all(records)))
    for table in tables:
        assert all(len(row) == len(table.columns) for row in table.rows), table.title
        assert len(table.meanings) == len(table.formats)
        assert not table.meanings or len(table.meanings) == len(table.rows)
        assert not any(re.search(r"\b(nan|inf|None)\b", text) for row in table.texts for text in row), table.title
    return tables


@pytest.mark.parametrize("game", ["limit", "limit3", "kuhn", "leduc"])
@pytest.mark.parametrize("hands", [1, 105])
def test_every_table_has_its_columns(game: str, hands: int) -> None:
    titles = [table.title for table in _tables(random_hands(game, hands))]
    assert titles[0] == "Statistics"
    assert {"By position", "By street"} <= set(titles)
    assert ("Most profitable starting hands" in titles) is game.startswith("limit")


def test_names_that_trackers_shorten_are_listed() -> None:
    names = ("a-bot-with-a-long-name", "Bob")
    table = _tables(random_hands("limit", 30, names=names))[-1]
    assert (table.title, table.rows) == ("Names in trackers", ((names[0], *screen_names(names[:1])),))
    assert "Names in trackers" not in {table.title for table in _tables(random_hands("limit", 30))}


def test_winnings_in_two_units_name_them() -> None:
    heads = [row[0] for row in _tables(random_hands("limit", 30))[0].rows]
    assert {"net chips", "net SD mbb/g", "net non-SD mbb/g"} <= set(heads)
    assert "net" not in heads


def test_names_with_invalid_utf_8_are_shown() -> None:
    records = [replace(record, names_by_seat=("\udcffX", "Bob")) for record in random_hands("limit", 5)]
    table = _tables(records)[0]
    assert any("\ufffdX" in column.heading for column in table.columns)


# ---- rows


ALL_GAMES = HOLDEM + TOYS


def statistics_for(game: str, hands: int) -> Statistics:
    return statistics_of(HandCounts().add_all(random_hands(game, hands, with_notes=True)))


@pytest.mark.sampled
@pytest.mark.parametrize("game", ALL_GAMES)
@pytest.mark.parametrize("hands", [1, 105])
def test_every_row_has_every_column_and_no_number_is_none(game: str, hands: int) -> None:
    statistics = statistics_for(game, hands)
    table_rows = list(rows(statistics))
    players = len(statistics.bots)
    assert [row["name"] for row in table_rows if row["position"] == "all"] == [bot.name for bot in statistics.bots]
    assert len(table_rows) == sum(1 + len(bot.positions) for bot in statistics.bots)
    assert len(table_rows) <= players * (1 + players)
    for row in table_rows:
        assert tuple(row) == COLUMNS
        assert all(math.isfinite(value) for value in row.values() if isinstance(value, float))
        assert isinstance(row["hands"], int)
    assert "nan" not in statistics.model_dump_json().lower()


def test_rows_are_the_figures() -> None:
    statistics = statistics_for("limit", 120)
    bot = statistics.bots[0]
    row, first = list(rows(statistics))[:2]
    assert bot.vpip is not None
    assert bot.aggression_factor is not None
    assert bot.style is not None
    assert (row["name"], row["position"], row["hands"]) == (bot.name, "all", 120)
    assert row["mbb_per_game"] == bot.mbb_per_game.mean
    assert row["mbb_per_game_half_width_95"] == bot.mbb_per_game.half_width
    assert (row["vpip"], row["vpip_times"]) == (bot.vpip.percent, bot.vpip.times)
    assert row["aggression_factor"] == bot.aggression_factor.value
    assert (row["style"], row["comments"]) == (bot.style.name, bot.comments)
    assert row["timing_mean_ms"] == pytest.approx(0.037)
    assert (first["name"], first["position"], first["style"]) == (bot.name, "SB", None)
    assert first["hands"] == bot.positions[0].hands


# ---- texts


def test_figures_have_the_format_of_their_statistic() -> None:
    records = [hand("nolimit", "r300r900c/cc/cc/cc", "AhKh|9c9d/Qh7h2c/2d/3h", number=2 * i) for i in range(150)]
    ann = next(bot for bot in statistics_of(HandCounts().add_all(records)).bots if bot.name == "Ann")
    shown = {one.key: text_of(figure(ann, one.key), one.format) for one in STATISTICS}
    assert {key: text for key, text in shown.items() if text != "-"} == {
        "hands": "150",
        "net_chips": "+135,000",
        "mbb_per_game": "+9,000.0",
        "bb_per_100": "+900.0",
        "adjusted": "+9,000.0",
        "vpip": "100.0%",
        "pfr": "100.0%",
        "three_bet": "100.0%",
        "fold_to_steal": "0.0%",
        "continuation_bet": "0.0%",
        "won_when_saw_flop": "100.0%",
        "went_to_showdown": "100.0%",
        "won_at_showdown": "100.0%",
        "showdown": "+9,000.0",
        "no_showdown": "+0.0",
        "comments": "0",
    }


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Frequency(times=1, chances=3), "33.3%"),
        (Frequency(times=0, chances=0), "-"),
        (Factor(raises=4, calls=3), "1.33"),
        (Factor(raises=4, calls=0), "no calls"),
        (Factor(raises=0, calls=0), "-"),
    ],
)
def test_texts_of_figures(value: Frequency | Factor, text: str) -> None:
    spec = ".1%" if isinstance(value, Frequency) else ",.2f"
    assert text_of(figure(SimpleNamespace(key=value), "key"), spec) == text


# ---- the table of definitions


def test_the_table_of_definitions_is_whole() -> None:
    keys = [statistic.key for statistic in STATISTICS]
    assert len(set(keys)) == len(keys)
    assert set(keys) <= set(BotStatistics.model_fields)
    others = {"name", "deals", "streets", "positions", "starting_hands", "final_hands", "curve"}
    assert set(BotStatistics.model_fields) - set(keys) == others
    for statistic in STATISTICS:
        assert len(statistic.short) <= 16
        assert statistic.definition.endswith(".")
        assert len(statistic.definition) > 30 or statistic.key == "comments"
