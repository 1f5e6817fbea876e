"""The tables of `docs/lp-mc-tables.md` are those of the matches that were played."""

from __future__ import annotations

import pytest

from bots.studies.lp_mc import PRINTED_FULL, STRATEGIES
from tests.scripts import script

REMAKE = script("lp-mc/remake.py")


def test_the_page_shows_what_was_played() -> None:
    text = REMAKE.PAGE.read_text("utf-8")
    assert REMAKE.with_tables(text, REMAKE.stored()) == text


def test_everything_was_played() -> None:
    rows = REMAKE.stored()
    games = [("preflop", REMAKE.PREFLOP_HANDS), *(("full", hands) for hands in REMAKE.FULL_HANDS)]
    expected = {(game, s, o, hands) for game, hands in games for s in STRATEGIES for o in REMAKE.OPPONENTS}
    expected |= {("ablation", a, o, REMAKE.ABLATION_HANDS) for a in REMAKE.ABLATION for o in REMAKE.OPPONENTS}
    assert {(row.game, row.strategy, row.opponent, row.hands) for row in rows} == expected
    assert len(rows) == len(expected)


def test_the_equilibrium_beats_every_simple_bot() -> None:
    for row in REMAKE.stored():
        if row.strategy == "equilibrium":
            assert row.mean - row.half_width > 0


def test_one_reading_of_the_thesis_explains_its_winnings_from_the_raising_bot() -> None:
    rows = {row.strategy: row for row in REMAKE.stored() if (row.game, row.opponent) == ("ablation", "RaiseBot")}
    printed = PRINTED_FULL["raising"]
    assert abs(rows["sunk=whole"].mean - printed) < rows["sunk=whole"].half_width
    assert all(rows[name].mean - rows[name].half_width > printed for name in rows if "sunk" not in name)


@pytest.mark.slow  # numba compiles
def test_a_match_of_the_ablation_can_be_repeated() -> None:
    """The first hands of the longest match are those of the table of 4,000 hands."""
    (row,) = REMAKE.play_ablation("", "CallBot", 4_000)
    (stored,) = (one for one in REMAKE.stored() if one[1:4] == ("published", "CallBot", 4_000))
    assert round(row.mean, 6) == stored.mean
