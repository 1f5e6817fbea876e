"""Crosstables for other programs."""

from __future__ import annotations

import csv

import numpy as np

from dealer.results.crosstable import TableFormat, standings_text
from dealer.results.schema import GameStandings
from dealer.results.tournament import standings_of
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
    assert lines[2].startswith("| a_1 |  | +0 ± 18 | +100 ± ")
    assert lines[6:8] == ["| place | total bankroll | place | instant run-off |", "| ---: | --- | ---: | --- |"]
    assert lines[8].startswith("| 1 | a_1 (")


def test_too_few_deals_have_no_percentage() -> None:
    lines = standings_text(_standings(20), TableFormat.MARKDOWN).splitlines()
    assert lines[2] == "| a_1 |  | +0 | +100 | +50 |"
    assert lines[8] == "| 1 | a_1 | 1 | a_1 |"


def test_latex_escapes_names() -> None:
    text = standings_text(_standings(), TableFormat.LATEX)
    assert text.startswith(
        "\\begin{tabular}{lrrrr}\n & a\\_1 & C & B|2 & mean \\\\\n\\hline\na\\_1 &  & $+0 \\pm 18$ & $+100 \\pm "
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
