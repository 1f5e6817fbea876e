"""Verdicts on the claims of publications, and figures as the studies store them."""

from __future__ import annotations

from math import inf
from pathlib import Path
from random import Random
from statistics import NormalDist
from typing import Any

import pytest

from bots.studies.claims import Claim, Interval, Verdict, judged, verdict_on
from bots.studies.measured import Measured, read_figures, student_bound, write_figures

REPRODUCED, UNDECIDED, REFUTED = Verdict
Z = NormalDist().inv_cdf(0.975)


def verdict(ours: float, half_width: float, printed: float = 10.0, uncertainty: float = 0.0) -> Verdict:
    around = Interval.around
    return verdict_on(around(ours, half_width), around(printed, uncertainty), around(printed, 0.2 * printed))


@pytest.mark.parametrize(
    ("ours", "half_width", "uncertainty", "expected"),
    [
        (10.0, 0.0, 0.0, REPRODUCED),
        (9.0, 0.9, 1.0, REPRODUCED),
        (9.0, 1.1, 1.0, UNDECIDED),
        (9.0, 0.9, 0.05, REFUTED),
        (14.0, 3.0, 0.5, REFUTED),
        (14.0, 3.0, 2.0, UNDECIDED),
        (10.0, inf, 0.0, UNDECIDED),
    ],
)
def test_verdicts(ours: float, half_width: float, uncertainty: float, expected: Verdict) -> None:
    assert verdict(ours, half_width, uncertainty=uncertainty) is expected


def test_a_measurement_too_wide_to_disagree_reproduces_nothing() -> None:
    """Wins of 1.172 ± 0.344 are no reproduction of 0.827."""
    assert verdict(1.172, 0.344, 0.827, 0.1) is UNDECIDED


@pytest.mark.parametrize(
    ("truth", "ours_error", "printed_error", "expected", "min_share", "max_share"),
    [
        (10.0, 0.4, 0.4, REFUTED, 0.0, 0.05),
        (10.0, 0.4, 0.4, REPRODUCED, 0.9, 1.0),
        (10.0, 3.0, 3.0, REPRODUCED, 0.0, 0.0),
        (12.0, 0.4, 0.0, REPRODUCED, 0.0, 0.025),
        (12.0, 2.0, 2.0, REPRODUCED, 0.0, 0.025),
        (14.0, 0.4, 0.4, REFUTED, 0.95, 1.0),
        (20.0, 5.0, 5.0, REFUTED, 0.05, 0.2),
    ],
)
def test_frequencies_of_verdicts(
    truth: float, ours_error: float, printed_error: float, expected: Verdict, min_share: float, max_share: float
) -> None:
    """The print measures 10 and we measure the truth, both with normal errors of known size."""
    random, runs = Random(11), 4_000
    count = 0
    for _ in range(runs):
        printed, ours = random.gauss(10.0, printed_error), random.gauss(truth, ours_error)
        count += verdict(ours, Z * ours_error, printed, Z * printed_error) is expected
    assert min_share - 0.01 <= count / runs <= max_share + 0.01


def test_the_interval_of_a_printed_figure() -> None:
    """The interval covers its decimals and, with a number of units, the spread of ours."""

    def printed(text: str, uncertainty: float = 0.0, **about: Any) -> str:
        claim = Claim(key="k.1", quantity="q", printed=text, source="p. 1", format=".3f", **about)
        row = judged(claim, Measured(0.5, 0.01, 100), uncertainty)
        return f"{row.printed}: {row.verdict}"

    assert printed("0.5") == "0.5: reproduced"
    assert printed("0.49", within=0.1, within_why="so") == "0.49: reproduced"
    assert printed("0.45") == "0.45: refuted"
    assert printed("0.42") == "0.42: refuted"
    assert printed("0.42", units=1) == "0.42 ± 0.100: undecided"
    assert printed("0.45", uncertainty=0.05) == "0.45 ± 0.050: reproduced"
    assert printed("> 0.4") == "> 0.4: reproduced"
    assert printed("> 0.495") == "> 0.495: undecided"
    assert printed("< 0.4") == "< 0.4: refuted"
    with pytest.raises(ValueError, match="a tolerance has a reason"):
        printed("0.45", within=0.1)


def test_a_sample_without_spread_is_not_exact() -> None:
    claim = Claim(key="k.1", quantity="q", printed="100", source="p. 1")
    assert judged(claim, Measured(100.0, 0.0, 0)).verdict is REPRODUCED
    assert judged(claim, Measured(100.0, 0.0, 50)).verdict is UNDECIDED


def test_means_over_runs_have_the_interval_of_student() -> None:
    figure = Measured.over([1.0, 2.0, 3.0, 4.0, 5.0])
    assert (figure.mean, round(figure.half_width, 2), figure.units) == (3.0, 1.96, 5)
    assert figure.minus(Measured(1.0, 0.0, 9)).half_width == figure.half_width


def test_students_t_is_that_of_printed_tables() -> None:
    table = {1: 12.706205, 2: 4.302653, 3: 3.182446, 4: 2.776445, 9: 2.262157, 24: 2.063899, 99: 1.984217}
    for freedom, bound in table.items():
        assert student_bound(freedom) == pytest.approx(bound, abs=5e-7)


def test_figures_are_read_as_they_are_written(tmp_path: Path) -> None:
    write_figures(tmp_path / "x.csv", {"a, b": Measured(1 / 3, 0.25, 9), "f('c')": Measured(1 / 3)})
    assert read_figures(tmp_path / "x.csv") == {
        "a, b": Measured(0.333333, 0.25, 9),
        "f('c')": Measured(0.333333333333),
    }
