"""The tables of `docs/cfr-tables.md` are those of the measurements."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bots.sdk.registry import builtin_names, make_bot
from protocol import find_game
from tests.scripts import script

REMAKE = script("cfr/remake.py")
SAMPLING = script("cfr/sampling.py")
RAISING = script("cfr/raising.py")
ANSWER = script("cfr/answer.py")
RIVERS = script("cfr/rivers.py")


def test_the_table_is_that_of_the_results() -> None:
    page = REMAKE.PAGE.read_text("utf-8")
    rows = REMAKE.rows_of_csv()
    assert {row.opponent: row.deals for row in rows} == REMAKE.DEALS
    assert REMAKE.with_table(page, rows) == page


def test_the_table_of_no_limit_is_that_of_the_results() -> None:
    page = REMAKE.PAGE.read_text("utf-8")
    rows = REMAKE.rows_of_csv(REMAKE.NO_LIMIT_CSV)
    assert {row.opponent: row.deals for row in rows} == REMAKE.NO_LIMIT_DEALS
    assert REMAKE.with_no_limit_table(page, rows) == page


def test_the_training_is_that_of_the_shipped_strategy() -> None:
    page = REMAKE.PAGE.read_text("utf-8")
    assert REMAKE.with_training(page) == page


def test_every_built_in_bot_that_can_is_met() -> None:
    for name, deals in (("limit", REMAKE.DEALS), ("nolimit", REMAKE.NO_LIMIT_DEALS)):
        game = find_game(name)[1]
        able = {other for other in builtin_names() if make_bot(other).refusal(game) is None}
        # One does what another does, one is made against a bot that is named, one is this bot.
        assert {*deals} == able - {"constant", "lbr", "cfr"}


def test_a_match_can_be_played_again(tmp_path: Path) -> None:
    row = REMAKE.played(tmp_path, "calling", 20)
    assert (row.opponent, row.deals) == ("calling", 20)
    assert REMAKE.played(tmp_path, "calling", 20) == row


def test_the_table_of_ten_minutes_is_that_of_the_results() -> None:
    page = REMAKE.PAGE.read_text("utf-8")
    rows = REMAKE.rows_of_csv(REMAKE.OWN_CSV)
    assert {row.opponent: row.deals for row in rows} == REMAKE.OWN_DEALS
    assert REMAKE.with_own_table(page, rows) == page
    assert f"{REMAKE.OWN_ITERATIONS:,} iterations" in page


def test_both_ways_to_learn_are_shown_as_they_were_measured() -> None:
    page = SAMPLING.PAGE.read_text("utf-8")
    rows = SAMPLING.read_rows(SAMPLING.CSV, SAMPLING.Row)
    assert [row.design for row in rows] == [design for design in SAMPLING.DESIGNS for _ in SAMPLING.MARKS]
    assert SAMPLING.with_table(page, rows) == page


def test_what_is_won_from_raising_is_shown_as_it_was_counted() -> None:
    page = RAISING.PAGE.read_text("utf-8")
    rows = RAISING.read_rows(RAISING.CSV, RAISING.Row)
    assert [row.strategy for row in rows] == [*map(str, RAISING.ITERATIONS), "shipped"]
    assert RAISING.with_table(page, rows) == page


def test_rivers_are_shown_as_they_were_measured() -> None:
    page = RIVERS.PAGE.read_text("utf-8")
    costs, worth = RIVERS.read_rows(RIVERS.COSTS, RIVERS.Cost), RIVERS.read_rows(RIVERS.WORTH, RIVERS.Worth)
    ranges = RIVERS.read_rows(RIVERS.RANGES, RIVERS.Guess)
    assert [(row.game, row.iterations) for row in costs] == [
        (game, count) for game in RIVERS.SHIPPED_FOR for count in RIVERS.ITERATIONS
    ]
    assert RIVERS.with_tables(page, costs, worth, ranges) == page
    for turn in RIVERS.read_rows(RIVERS.TURNS, RIVERS.Turn):
        for figure in (f"{round(turn.nodes, -2):,.0f}", f"{turn.seconds:g}", f"{turn.megabytes:.0f}"):
            assert figure in page


def test_a_river_can_be_measured_again() -> None:
    (came,) = RIVERS.rivers_of("limit", 1)
    assert (came.betting.round, len(came.board)) == (3, 5)


def test_the_charts_show_what_was_measured() -> None:
    def points(picture: str) -> list[str]:
        return re.findall(r'<use xlink:href="#[^"]*" x="([^"]*)" y="([^"]*)"', picture)

    rows = REMAKE.training_rows(REMAKE.OWN_TRAINING)
    assert rows[-1][0] == REMAKE.OWN_ITERATIONS
    no_limit = REMAKE.no_limit_training()
    for path, picture in (REMAKE.charts(rows) | REMAKE.charts(no_limit, REMAKE.NO_LIMIT_CHART)).items():
        assert len(points(picture)) > min(len(rows), len(no_limit))
        assert points(path.read_text("utf-8")) == points(picture)


def test_answers_to_the_shipped_strategies_are_shown_as_they_were_measured() -> None:
    page = ANSWER.PAGE.read_text("utf-8")
    rows = ANSWER.read_rows(ANSWER.CSV, ANSWER.Row)
    assert [(row.game, row.boards) for row in rows] == [
        (game, boards) for game in ANSWER.SHIPPED_FOR for boards in ANSWER.BOARDS
    ]
    assert ANSWER.with_table(page, rows) == page


@pytest.mark.slow  # counts all showdowns and trains
def test_a_strategy_from_nothing_reaches_what_is_recorded(tmp_path: Path) -> None:
    (recorded,) = REMAKE.rows_of_csv(REMAKE.MILESTONE_CSV)
    assert REMAKE.milestone(tmp_path, 2).mean == pytest.approx(recorded.mean, abs=30)
