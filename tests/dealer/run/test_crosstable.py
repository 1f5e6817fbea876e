"""Crosstables for other programs."""

from __future__ import annotations

import csv

import numpy as np
import pytest

from dealer.run.crosstable import TableFormat, crosstable, standings_text
from dealer.run.results import GameStandings
from dealer.run.summary import standings_of
from logs.estimation import RankedContest


def _standings(deals: int = 200) -> GameStandings:
    """A wins 100 from B with an error of 10; C is level with A and won 50 from B."""
    won = np.where(np.arange(deals) % 2, 100 + 70.0, 100 - 70.0)
    pairs = {(0, 1): won, (0, 2): 0 * won, (2, 1): won / 2}
    contests = [RankedContest(players, np.column_stack([one, -one])) for players, one in pairs.items()]
    return standings_of("limit", contests, ["a_1", "B|2", "C"], (-1000.0, 1000.0), seatings=2)


def test_markdown() -> None:
    text = standings_text(_standings(), TableFormat.MARKDOWN)
    lines = text.splitlines()
    assert lines[:2] == ["| | a_1 | C | B\\|2 | mean |".replace("| |", "|  |"), "| --- | ---: | ---: | ---: | ---: |"]
    assert lines[2].startswith("| a_1 |  | +0 ± 18 (0) | +100 ± ")
    assert lines[6:8] == ["| place | total bankroll | place | instant run-off |", "| ---: | --- | ---: | --- |"]
    assert lines[8].startswith("| 1 | a_1 (")


def test_too_few_deals_have_no_percentage() -> None:
    lines = standings_text(_standings(20), TableFormat.MARKDOWN).splitlines()
    assert lines[2] == "| a_1 |  | +0 (0) | +100 (16) | +50 (8) |"
    assert lines[8] == "| 1 | a_1 | 1 | a_1 |"


def test_a_bot_without_a_finished_contest_stays_in_the_table() -> None:
    """With what it has won so far, if there is any; but with a place only then."""
    unfinished = _standings().model_copy(update={"unfinished": ["C", "D"]})
    lines = standings_text(unfinished, TableFormat.MARKDOWN).splitlines()
    assert lines[0] == "|  | a_1 | C | B\\|2 | D | mean |"
    assert lines[3].startswith("| C (unfinished) | +0 ± 18 (0) |  | +50 ± ")
    assert lines[5] == "| D (unfinished) |  |  |  |  |  |"
    assert [line.count("D") for line in lines[7:]] == [0] * 5
    assert "D" not in standings_text(unfinished, TableFormat.CSV)


def test_latex_escapes_names() -> None:
    text = standings_text(_standings(), TableFormat.LATEX)
    assert text.startswith(
        "\\begin{tabular}{lrrrr}\n & a\\_1 & C & B|2 & mean \\\\\n\\hline\na\\_1 &  & $+0 \\pm 18 (0)$ & $+100 \\pm "
    )
    assert "B|2 & $-100 \\pm " in text
    assert text.count("\\end{tabular}") == 2


def test_csv_has_plain_numbers() -> None:
    rows = list(csv.DictReader(standings_text(_standings(), TableFormat.CSV).splitlines()))
    assert [(row["player"], row["opponent"]) for row in rows if not row["opponent"]] == [
        ("a_1", ""),
        ("C", ""),
        ("B|2", ""),
    ]
    (cell,) = [row for row in rows if (row["player"], row["opponent"]) == ("B|2", "a_1")]
    assert (cell["game"], float(cell["mbb_per_game"]), cell["hands"]) == ("limit", -100.0, "400")
    assert 9.7 < float(cell["half_width_95"]) < 25
    assert float(cell["standard_error"]) == pytest.approx(70 / 199**0.5, abs=1e-3)
    assert cell["corrected_mbb_per_game"] == ""


def test_figures_without_luck_are_shown_where_all_contests_have_them() -> None:
    contests = [RankedContest((0, 1), np.tile([[100.0, -100.0], [-60.0, 60.0]], (100, 1)))]
    corrected = [RankedContest((0, 1), np.tile([[30.0, -30.0], [10.0, -10.0]], (100, 1)))]
    standings = standings_of("limit", contests, ["A", "B"], (-1000.0, 1000.0), corrected=corrected)
    assert (standings.mbb_per_game["A"], standings.corrected_mbb_per_game["A"]) == (20.0, 20.0)
    assert standings.corrected_standard_error["A"] == pytest.approx(10 / 199**0.5)
    assert standings.total_bankroll[0].player == "A"
    table = crosstable(standings)
    ((_, _, cell, _), _) = table.rows
    assert cell == "+20 ± 19 (1)"
    assert "without the luck of the cards" in table.title
    (row,) = [
        row
        for row in csv.DictReader(standings_text(standings, TableFormat.CSV).splitlines())
        if (row["player"], row["opponent"]) == ("A", "B")
    ]
    assert (float(row["standard_error"]), float(row["corrected_standard_error"])) == pytest.approx(
        (80 / 199**0.5, 10 / 199**0.5), abs=1e-3
    )
