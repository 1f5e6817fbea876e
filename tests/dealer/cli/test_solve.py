"""``arena solve``: new computations of the shipped tables."""

from __future__ import annotations

import numpy as np
import pytest

from engine.kernels import matchups as kernels
from engine.matchups import counts
from tests.dealer.cli.conftest import Arena


@pytest.fixture
def counting(monkeypatch: pytest.MonkeyPatch) -> np.ndarray:
    """Wins in place of compiled counts; tests change them to simulate a different result."""
    wins = counts()[:, :, 0].copy()
    monkeypatch.setattr(kernels, "compile_matchups", lambda: None)
    monkeypatch.setattr(kernels, "boards_from", lambda: kernels.Boards(*[np.ones(1, np.int64)] * 3))
    monkeypatch.setattr(kernels, "count_wins", lambda boards, threads, progress: wins)
    return wins


def test_computed_table_equals_the_shipped_one(counting: np.ndarray, arena_here: Arena) -> None:
    result = arena_here("solve", "equities")
    assert (result.code, result.err) == (0, "")
    _, first, second = result.out.splitlines()
    assert first.startswith("2,781,381,002,400 showdowns on ")
    assert second == "The shipped table has the same numbers."


def test_different_table_exits_with_1(counting: np.ndarray, arena_here: Arena) -> None:
    counting[168, 154] += 1
    result = arena_here("solve", "equities")
    assert result.code == 1
    assert result.err == (
        "arena: 2 of 28,561 matchups differ from the shipped table, the first of them KK against AA\n"
    )


@pytest.mark.slow
def test_table_is_computed_and_written(arena: Arena) -> None:
    result = arena("solve", "equities")
    assert (result.code, result.err) == (0, "")
    assert result.out.endswith("The shipped table has the same numbers.\n")
    assert "2,598,960 boards (134,459 up to the names of suits)" in result.out


def test_no_threads_are_refused(arena_here: Arena) -> None:
    result = arena_here("solve", "equities", "--threads", "0")
    assert result.code == 2
    assert "--threads" in result.sentence
