"""Mapping of sizes: the axioms of Ganzfried & Sandholm (2013), and the values of their table."""

from __future__ import annotations

from math import inf

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from bots.cfr.lookup import NO_BET, lower_chance, readings

SIZES = st.floats(0.0, 50.0)


@given(one=SIZES, other=SIZES, part=st.floats(0.0, 1.0), next_part=st.floats(0.0, 1.0))
def test_the_axioms(one: float, other: float, part: float, next_part: float) -> None:
    lower, upper = sorted((one, other))
    assume(upper - lower > 1e-3)
    # Boundary: a size of the tree maps to itself.
    assert lower_chance(lower, lower, upper) == pytest.approx(1)
    assert lower_chance(upper, lower, upper) == pytest.approx(0)
    # Monotone: a larger size is read as the lower one less often; and it is a probability.
    first, second = sorted((lower + part * (upper - lower), lower + next_part * (upper - lower)))
    assert -1e-9 <= lower_chance(second, lower, upper) <= lower_chance(first, lower, upper) + 1e-9 <= 1 + 2e-9
    # Continuous: small changes of any size change little.
    moved = min(first + 1e-7, upper)
    assert lower_chance(moved, lower, upper) == pytest.approx(lower_chance(first, lower, upper), abs=1e-3)


@given(lower=st.floats(0.0, 5.0), width=st.floats(0.01, 5.0), part=st.floats(0.01, 0.99))
def test_translation_keeps_a_bettor_indifferent(lower: float, width: float, part: float) -> None:
    """Called as in the one-street game, 1 / (1 + size), the mixture of A and B is called as often as the size."""
    upper = lower + width
    size = lower + part * width
    chance = lower_chance(size, lower, upper)
    assert chance / (1 + lower) + (1 - chance) / (1 + upper) == pytest.approx(1 / (1 + size))


def test_halfway_sizes_of_the_paper() -> None:
    """Between A and B the probability is one half at x = (A + B + 2AB) / (A + B + 2)."""
    for lower, upper in ((0.01, 1.0), (0.1, 1.0), (0.25, 1.0), (0.5, 1.0), (0.5, 2.0), (1.0, 20.0)):
        halfway = (lower + upper + 2 * lower * upper) / (lower + upper + 2)
        assert lower_chance(halfway, lower, upper) == pytest.approx(0.5)
    assert lower_chance(0.75, 0.5, 1.0) == pytest.approx(0.428571, abs=1e-6)
    assert lower_chance(0.5, 0.0, 1.0) == pytest.approx(1 / 3)
    assert lower_chance(3.0, 1.0, inf) == pytest.approx(0.5)


def test_readings_are_the_sizes_beside() -> None:
    known = [0.5, 1.0, 8.0]
    assert readings(0.5, known) == [(0, 1.0)]
    assert readings(8.0, known) == [(2, 1.0)]
    assert readings(9.0, known) == [(2, 1.0)]
    assert readings(0.75, known) == [(0, pytest.approx(3 / 7)), (1, pytest.approx(4 / 7))]
    assert readings(0.25, known) == [(NO_BET, pytest.approx(0.4)), (0, pytest.approx(0.6))]
    assert readings(0.25, []) == [(NO_BET, 1.0)]
    for size in (0.01, 0.3, 0.8, 2.0, 7.9, 40.0):
        assert sum(chance for _, chance in readings(size, known)) == pytest.approx(1)
