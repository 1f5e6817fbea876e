"""``arena solve``: the tables that come with the arena, computed anew."""

from __future__ import annotations

import numpy as np
import pytest

from engine.kernels import matchups as kernels
from engine.matchups import counts
from tests.dealer.cli.conftest import Arena


@pytest.fixture
def counting(monkeypatch: pytest.MonkeyPatch) -> np.ndarray:
    """The wins that are counted: nothing is compiled, and what a test changes in them is what the command finds."""
    wins = counts()[:, :, 0].copy()
    monkeypatch.setattr(kernels, "compile_matchups", lambda: None)
    monkeypatch.setattr(kernels, "boards_from", lambda: kernels.Boards(*[np.ones(1, np.int64)] * 3))
    monkeypatch.setattr(kernels, "count_wins", lambda boards, threads, progress: wins)
    return wins


def test_computed_table_equals_the_shipped_one(counting: np.ndarray, arena_here: Arena) -> None:
    ran = arena_here("solve", "equities")
    assert (ran.code, ran.err) == (0, "")
    _, first, second = ran.out.splitlines()
    assert first.startswith("2,781,381,002,400 showdowns on ")
    assert second == "The shipped table has the same numbers."


def test_different_table_exits_with_1(counting: np.ndarray, arena_here: Arena) -> None:
    counting[168, 154] += 1
    ran = arena_here("solve", "equities")
    assert ran.code == 1
    assert ran.err == ("arena: 2 of 28,561 matchups differ from the shipped table, the first of them KK against AA\n")


@pytest.mark.slow
def test_table_is_computed_anew(arena: Arena) -> None:
    ran = arena("solve", "equities")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.endswith("The shipped table has the same numbers.\n")
    assert "2,598,960 boards (134,459 up to the names of suits)" in ran.out


def test_no_threads_are_refused(arena_here: Arena) -> None:
    ran = arena_here("solve", "equities", "--threads", "0")
    assert ran.code == 2
    assert "--threads" in ran.sentence
