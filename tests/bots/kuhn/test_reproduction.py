"""Results with the work's parameters and fixed seeds, within the spread over many seeds."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from statistics import fmean

import pytest

from bots.kuhn.games import KuhnGame
from bots.kuhn.runs import KuhnResult, exploitability_of
from bots.studies.measure_kuhn import run, settings_of

pytestmark = pytest.mark.slow  # numba compiles, and runs take seconds


@cache
def result(name: str, seed: int) -> KuhnResult:
    settings, generations = settings_of(name)
    outcome = run(replace(settings, seed=seed), generations)
    return outcome


def signs(genes: tuple[float, ...]) -> str:
    """Return 0 and 1 where a gene has converged, ``~`` elsewhere."""
    return "".join("0" if gene < 0.05 else "1" if gene > 0.95 else "~" for gene in genes)


def agree(outcome: str, expected: str) -> bool:
    """Return whether every expected 0 and 1 is reached, or nearly so."""
    return all(
        sign == wanted for sign, wanted in zip(outcome, expected.replace(" ", ""), strict=True) if wanted in "01"
    )


@pytest.mark.parametrize(
    ("name", "mean", "best", "genes"),
    [
        ("classic-shy-1", 0.1654, 0.3265, "10~ ~~~"),
        ("classic-safe-1", 0.1639, 0.3257, "10~ ~0~"),
        ("classic-safe-2", 0.3309, 0.4583, "1~~ 00~"),
        ("classic-rational-1", 0.0753, 0.2298, "00~ 00~"),
        ("classic-rational-2", 0.1589, 0.3234, "1~1 001"),
        ("classic-bluffer-1", 0.0990, 0.3061, "000 011"),
        ("classic-bluffer-2", 0.1443, 0.3554, "~~~ 011"),
        ("classic-folder-1", 0.9991, 1.0, "11~ ~~~"),
        ("classic-caller-1", 0.3265, 0.5595, "0~~ 0~1"),
    ],
)
@pytest.mark.parametrize("seed", [1, 2])
def test_against_a_model(name: str, mean: float, best: float, genes: str, seed: int) -> None:
    outcome = result(name, seed)
    # Four standard deviations of the means against Caller over 50 seeds.
    assert outcome.mean[-1] == pytest.approx(mean, abs=0.009)
    assert outcome.record == pytest.approx(best, abs=0.05)
    assert outcome.record_value is not None
    assert outcome.record_value < outcome.record or name == "classic-folder-1"
    # A few mutants keep a mean gene from exactly 0 or 1.
    rounded = tuple(0.0 if gene < 0.08 else 1.0 if gene > 0.92 else gene for gene in outcome.genes)
    assert agree(signs(rounded), genes)


def test_the_larger_games() -> None:
    assert result("breadth-rational-1", 1).record < 0.5
    assert result("breadth-rational-1-tens-as-twos", 1).record == pytest.approx(1.2532, abs=0.14)
    assert result("breadth-bluffer-1", 1).record == pytest.approx(2.0649, abs=0.15)
    assert result("depth-bluffer-1", 1).record == pytest.approx(0.4808, abs=0.063)


def test_selections() -> None:
    assert result("classic-rational-1", 1).mean[100] > 0.07
    assert result("classic-rational-1-rank", 1).mean[100] > 0.07
    assert -0.03 <= result("classic-rational-1-roulette", 1).mean[500] <= 0.05


def test_co_evolution() -> None:
    outcome = result("coevolution-classic", 1)
    assert fmean(outcome.mean[200:]) == pytest.approx(-1 / 18, abs=0.004)
    assert [-mean for mean in outcome.rivals_mean] == pytest.approx(outcome.mean)
    assert exploitability_of(KuhnGame(), 0, outcome.average) < 0.03
    assert exploitability_of(KuhnGame(), 1, outcome.rival_average) < 0.03


def test_the_mixed_approach() -> None:
    outcome = result("mixed-classic", 1)
    assert fmean(outcome.mean[200:]) == pytest.approx(-1 / 72, abs=0.006)
    assert outcome.average == pytest.approx((0, 0, 0, 0, 1 / 3, 1), abs=0.1)
