"""What `docs/lp-mc.md` shows of the matches of `lp-mc` is what they gave."""

from __future__ import annotations

from bots.studies.lp_mc import STRATEGIES
from tests.scripts import script

REMAKE = script("lp-mc/remake.py")


def test_the_page_shows_what_was_played() -> None:
    text = REMAKE.PAGE.read_text("utf-8")
    assert REMAKE.with_tables(text, REMAKE.stored()) == text


def test_everything_was_played() -> None:
    rows = REMAKE.stored()
    games = [("preflop", REMAKE.PREFLOP_HANDS), *(("full", hands) for hands in REMAKE.FULL_HANDS)]
    expected = {(game, s, o, hands) for game, hands in games for s in STRATEGIES for o in REMAKE.OPPONENTS}
    assert {(row.game, row.strategy, row.opponent, row.hands) for row in rows} == expected
    assert len(rows) == len(expected)


def test_an_equilibrium_has_lost_to_nobody() -> None:
    for row in REMAKE.stored():
        if row.strategy == "equilibrium":
            assert row.mean - row.half_width > 0
