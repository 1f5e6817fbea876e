"""The histogram of answers' times against the sorted list of them."""

from __future__ import annotations

import pickle
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dealer.run.tally import ResponseTimes


def _of(times_us: list[int]) -> ResponseTimes:
    histogram = ResponseTimes()
    for time_us in times_us:
        histogram.add(time_us)
    return histogram


def test_without_answers_there_is_no_median() -> None:
    assert ResponseTimes().quantile_us(0.5) is None
    assert ResponseTimes().count == 0


@given(st.lists(st.integers(0, 10**10), min_size=1, max_size=200), st.sampled_from([0.01, 0.5, 0.9, 0.99, 1.0]))
def test_a_quantile_is_that_of_the_sorted_list_within_its_class(times_us: list[int], share: float) -> None:
    ordered = sorted(times_us)
    needed = share * len(ordered)
    exact = next(time_us for place, time_us in enumerate(ordered, 1) if place >= needed - 1e-9)
    found = _of(times_us).quantile_us(share)
    assert found == pytest.approx(exact, rel=0.016, abs=0.5)


def test_short_times_are_exact() -> None:
    histogram = _of(list(range(64)))
    assert [histogram.quantile_us((time_us + 1) / 64) for time_us in range(64)] == list(range(64))


@given(st.lists(st.integers(0, 10**9)), st.lists(st.integers(0, 10**9)))
def test_two_histograms_in_one(some: list[int], others: list[int]) -> None:
    together = _of(some)
    together.include(_of(others))
    expected = _of(some + others)
    assert (together.count, together.total_us) == (expected.count, expected.total_us)
    assert together.quantile_us(0.5) == expected.quantile_us(0.5)


def test_a_clock_set_back_counts_as_no_time() -> None:
    histogram = _of([-5, 10])
    assert (histogram.count, histogram.total_us, histogram.quantile_us(0.5)) == (2, 10, 0.0)


def test_a_histogram_stays_small() -> None:
    draw = random.Random(1)
    histogram = _of([int(10 ** draw.uniform(0, 9)) for _ in range(50_000)])
    assert len(histogram._classes) < 1000


def test_histograms_with_the_same_counts_are_equal() -> None:
    one, other = ResponseTimes(), ResponseTimes()
    one.add(5)
    assert one != other
    other.include(one)
    assert one == other == pickle.loads(pickle.dumps(one))
