"""The tables of `docs/kuhn-tables.md` are those of the report, and its exact columns are exact."""

from __future__ import annotations

import pytest

from bots.kuhn.games import KuhnGame, Variant, model
from bots.kuhn.runs import best_answer
from bots.studies.kuhn import _hand_calculations
from bots.studies.kuhn_sections import _tests_of_the_fittest
from bots.studies.report import printed_figures, with_blocks
from tests.scripts import script

REMAKE = script("kuhn/remake.py")


def test_the_page_shows_the_report() -> None:
    text = REMAKE.PAGE.read_text("utf-8")
    assert with_blocks(text, REMAKE.blocks(REMAKE.stored())) == text


def test_each_printed_figure_has_one_verdict() -> None:
    tables = REMAKE.stored()["tables"]
    judged = [
        row for table in tables.values() if {"verdict", "interval"} <= {*table["columns"]} for row in table["rows"]
    ]
    judged += tables["sums"]["rows"]
    printed = [row for row in judged if row[1] != "-"]
    assert f"Of {len(printed)} printed figures" in REMAKE.stored()["sentences"][1]
    for name in ("classic", "breadth", "depth", "both"):
        assert len(tables[name]["rows"]) == len(printed_figures("kuhn")["best"][name])


def test_tables_that_need_no_runs_are_those_of_the_report() -> None:
    tables = REMAKE.stored()["tables"]
    for name, section in (("printed strategies", _tests_of_the_fittest()), ("sums", _hand_calculations())):
        (view,) = section.tables
        assert [list(row) for row in view.rows] == tables[name]["rows"]
        assert view.note == tables[name]["note"]


def test_what_was_printed_and_what_is_possible() -> None:
    table = REMAKE.stored()["tables"]
    rows = {row[0]: row for row in table["classic"]["rows"]}
    exact = {row[0]: row for row in table["classic exact"]["rows"]}
    best = printed_figures("kuhn")["best"]["classic"]
    assert len(rows) == len(best)
    for key, printed in best.items():
        name, seat = key.split("-")[0], int(key[-1])
        title = f"{name.capitalize()}, seat {seat}"
        assert float(rows[title][1]) == printed
        possible = best_answer(KuhnGame(), seat - 1, model(name, Variant.CLASSIC)).value
        assert float(exact[title][1]) == pytest.approx(possible, abs=5e-5)
        assert int(exact[title][-1]) == REMAKE.SEEDS


@pytest.mark.slow  # numba compiles
def test_the_page_shows_what_the_command_prints() -> None:
    text = REMAKE.PAGE.read_text("utf-8")
    assert with_blocks(text, {"run": REMAKE.run_output()}) == text
