"""The tables of `docs/evolved-tables.md` are those of the report on the run of the shipped champion."""

from __future__ import annotations

import json
import re

import pytest

from bots.evolved.chromosome import CHAMPION, read_chromosome
from bots.studies.evolved import FIELDS, StudyMatch, play_matches, results_table
from bots.studies.evolved_play import PLAYED
from bots.studies.report import Verdict
from tests.scripts import script

REMAKE = script("evolved/remake.py")
DATA = json.loads(REMAKE.REPORT.read_text("utf-8"))


def test_the_page_shows_what_was_measured() -> None:
    text = REMAKE.PAGE.read_text("utf-8")
    assert REMAKE.with_tables(text, DATA) == text
    markers = re.findall(r"<!-- (?!end of )(.*) -->", text)
    assert set(markers) <= {*DATA["tables"], "sentences"}


def test_the_champion_is_that_of_the_report() -> None:
    record = json.loads(read_chromosome(CHAMPION).record)
    name = dict(DATA["facts"])["runs"]
    assert record["commands"] == REMAKE.commands(name)
    assert record["chosen"]["among"] == list(REMAKE.RUNS)
    assert REMAKE.SETTINGS.seed not in (record["chosen"]["seed"], record["settings"]["seed"])
    means = {row[0]: float(row[-1].replace(",", "")) for row in DATA["tables"]["Runs side by side"]["rows"]}
    assert set(means) == set(REMAKE.RUNS)


@pytest.mark.parametrize("what", ["Won", "Times", "Dollars"])
def test_verdicts_follow_from_the_figures(what: str) -> None:
    """By the rule of today, which calls a figure reproduced only if the deals could have shown another one."""
    apart = (1 + 100 * REMAKE.SETTINGS.deals / PLAYED["player"]) ** 0.5
    for quantity, *cells, verdict, _ in DATA["tables"][f"{what}, by the hand at the end"]["rows"]:
        printed, ours, half = (float(cell.strip("± ").replace(",", "")) for cell in cells)
        assert Verdict.within(printed, ours, half * apart or None).value == verdict, quantity


@pytest.mark.slow  # thousands of hands at a table of ten
@pytest.mark.parametrize("field", FIELDS)
def test_the_champion_beats_the_fields(field: str) -> None:
    """On deals that decided neither its training nor its choice, and with the figures of the page."""
    rows = DATA["tables"]["Against the built-in bots"]["rows"]
    (row,) = [row for row in rows if row[:2] == [field, "10"]]
    match = StudyMatch(field, "limit10", int(row[2].replace(",", "")))
    (result,) = play_matches(CHAMPION, "", [match], REMAKE.SETTINGS.seed, None)
    assert results_table([result]).rows == (tuple(row),)
    assert result.rate.low is not None
    assert result.rate.low > 0
