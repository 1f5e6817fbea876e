"""What `docs/results.md` shows of intervals is what was simulated."""

from __future__ import annotations

from tests.scripts import script

SIMULATION = script("results/intervals.py")


def test_the_page_shows_what_was_simulated() -> None:
    text = SIMULATION.PAGE.read_text("utf-8")
    assert SIMULATION.with_table(text, SIMULATION.stored()) == text


def test_the_guaranteed_interval_holds() -> None:
    rows = SIMULATION.stored()
    assert {row.players for row in rows} == {"2", "3", "10"}
    assert all(float(row.guaranteed) >= 0.94 for row in rows if row.guaranteed)
