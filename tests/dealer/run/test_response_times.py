"""Histogram of response times, compared with a sorted list."""

from __future__ import annotations

import pickle
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dealer.run.tally import ResponseTimes


def _histogram(times_us: list[int]) -> ResponseTimes:
    histogram = ResponseTimes()
    for time_us in times_us:
        histogram.add(time_us)
    return histogram


def test_without_answers_there_is_no_median() -> None:
    assert ResponseTimes().quantile_us(0.5) is None
    assert ResponseTimes().count == 0


@given(st.lists(st.integers(0, 10**10), min_size=1, max_size=200), st.sampled_from([0.01, 0.5, 0.9, 0.99, 1.0]))
def test_quantile_equals_that_of_the_sorted_list_within_a_class(times_us: list[int], share: float) -> None:
    ordered = sorted(times_us)
    needed = share * len(ordered)
    exact = next(time_us for rank, time_us in enumerate(ordered, 1) if rank >= needed - 1e-9)
    assert _histogram(times_us).quantile_us(share) == pytest.approx(exact, rel=0.016, abs=0.5)


def test_short_times_are_exact() -> None:
    histogram = _histogram(list(range(64)))
    assert [histogram.quantile_us((time_us + 1) / 64) for time_us in range(64)] == list(range(64))


@given(st.lists(st.integers(0, 10**9)), st.lists(st.integers(0, 10**9)))
def test_merged_histogram_equals_that_of_all_times(times_us: list[int], other_times_us: list[int]) -> None:
    merged = _histogram(times_us)
    merged.include(_histogram(other_times_us))
    expected = _histogram(times_us + other_times_us)
    assert merged.count == expected.count
    assert merged.total_us == expected.total_us
    assert merged.quantile_us(0.5) == expected.quantile_us(0.5)


def test_negative_time_counts_as_zero() -> None:
    histogram = _histogram([-5, 10])
    assert histogram.count == 2
    assert histogram.total_us == 10
    assert histogram.quantile_us(0.5) == 0.0


def test_histogram_stays_small() -> None:
    draw = random.Random(1)
    histogram = _histogram([int(10 ** draw.uniform(0, 9)) for _ in range(50_000)])
    assert len(histogram._classes) < 1000


def test_histograms_with_the_same_counts_are_equal() -> None:
    first = ResponseTimes()
    second = ResponseTimes()
    first.add(5)
    assert first != second
    second.include(first)
    assert first == second == pickle.loads(pickle.dumps(first))
