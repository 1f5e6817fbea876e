"""Coverage of intervals and numbers of deals in the appendix, compared with simulations and measurements."""

from __future__ import annotations

import math

import pytest

from logs.estimation import interval_half_width, score_bounds
from protocol import find_game
from tests.dealer.helpers import ROOT
from tests.scripts import script

pytestmark = pytest.mark.slow

SIMULATION = script("research/results/intervals.py")
DEALS = script("research/results/deals.py")


def test_page_has_the_simulated_figures() -> None:
    text = SIMULATION.PAGE.read_text("utf-8")
    assert SIMULATION.with_table(text, SIMULATION.stored()) == text


def test_every_scenario_was_simulated() -> None:
    kinds = {(row.scenario, row.game, row.score) for row in SIMULATION.stored()}
    expected = {(scenario.name, scenario.game, score) for scenario in SIMULATION.SCENARIOS for score in scenario.scores}
    assert kinds == expected


def test_guaranteed_interval_covers_the_truth_in_every_scenario() -> None:
    assert all(float(row.guaranteed) >= 0.95 for row in SIMULATION.stored() if int(row.deals) >= 100)


def test_usual_interval_is_narrow_and_has_the_documented_coverage() -> None:
    """The exception is a scenario that no interval from scores alone can cover."""
    (failing,) = [scenario.name for scenario in SIMULATION.SCENARIOS if scenario.loses_stacks]
    rows = [row for row in SIMULATION.stored() if row.scenario != failing]
    words = " ".join((ROOT / "docs" / "confidence.md").read_text("utf-8").split())
    many = [float(row.interval) for row in rows if int(row.deals) >= 300]
    assert f"{100 * min(many):.1f} to {100 * max(many):.1f} % of the samples of 300 deals" in words
    few = [float(row.interval) for row in rows if int(row.deals) == 100]
    assert f"{100 * min(few):.1f} to {100 * max(few):.1f} % of those of 100" in words
    assert min(many) >= 0.94
    assert all(float(row.width) <= 1.25 for row in rows if int(row.deals) >= 300)


def test_page_has_the_numbers_of_deals_for_intervals() -> None:
    text = DEALS.PAGE.read_text("utf-8")
    assert DEALS.with_table(text, DEALS.stored()) == text
    assert [row[:3] for row in DEALS.stored()] == list(DEALS.MATCHES)


def test_interval_needs_the_deals_in_the_table() -> None:
    """An interval of the number of scores in a cell is as narrow as the column's heading states."""
    for row in DEALS.stored():
        for width in DEALS.WIDTHS_MBB:
            deals = DEALS.deals_for(row.game, row.sd, width)
            error = row.sd / math.sqrt(deals)
            lowest, highest = score_bounds(find_game(row.game)[1])
            half_width = interval_half_width(error, max(-lowest, highest) / deals)
            assert half_width == pytest.approx(width, rel=0.01) or (half_width < width and deals == 1000)
