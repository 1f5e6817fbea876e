"""Tables of `research/tables/benchmarks.md`, compared with the measurements."""

from __future__ import annotations

import pytest

from tests.scripts import script

pytestmark = pytest.mark.slow

REMAKE = script("research/variance/remake.py")


def test_page_has_the_measured_figures() -> None:
    text = REMAKE.PAGE.read_text("utf-8")
    assert REMAKE.with_tables(text, REMAKE.stored()) == text


def test_every_figure_was_measured() -> None:
    factors, ranges, speed = REMAKE.stored()
    assert {(row.game, row.players) for row in factors} == {
        (game, " ".join(names)) for _, game, *names in REMAKE.MATCHES
    }
    assert len(speed) == 3
    assert [row.estimator for row in ranges][-1] == "AIVAT over ranges, 1 known"


def factor(players: str, estimator: str, game: str = "limit") -> float:
    (match,) = [
        row for row in REMAKE.stored().factors if (row.game, row.players, row.estimator) == (game, players, estimator)
    ]
    return float(match.factor)


def test_claims_of_the_page_hold() -> None:
    assert factor("mfs mfs?k=4", "chance-corrected, fitted") >= 3
    assert factor("raising random", "all") >= 100
    assert factor("random random", "all") >= 100
    for row in REMAKE.stored().factors:
        if row.estimator == "chance-corrected" and row.game == "limit" and row.factor:
            assert float(row.factor) >= 1.6
