"""Rake schedules."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from logs.formats.money import Rake, split_by_weight


@pytest.mark.parametrize(
    ("rake", "pot_chips", "saw_flop", "taken"),
    [
        (Rake(5), 100, True, 5),
        (Rake(5), 100, False, 0),
        (Rake(5, no_flop_no_drop=False), 100, False, 5),
        (Rake(5, cap=3), 100, True, 3),
        (Rake("2.5", step=1), 119, True, 2),
        (Rake("2.5", step=1), 120, True, 3),
        (Rake("0.1"), 1, True, 0.001),
    ],
)
def test_rake_follows_its_schedule(rake: Rake, pot_chips: int, saw_flop: bool, taken: float) -> None:
    assert rake(pot_chips, saw_flop) == taken


@given(st.integers(0, 10**9), st.decimals(0, 100, places=3), st.decimals(0, 10, places=2), st.booleans())
def test_never_more_than_the_pot(pot_chips: int, per_cent: Decimal, step: Decimal, saw_flop: bool) -> None:
    taken = Rake(per_cent, step)(pot_chips, saw_flop)
    assert 0 <= taken <= pot_chips
    if step and saw_flop:
        assert 0 <= Fraction(per_cent) * pot_chips / 100 - Fraction(str(taken)) < Fraction(step) + Fraction(1, 10**6)


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"per_cent": -1}, "the per_cent of a rake is 0 to 100, not -1"),
        ({"per_cent": 101}, "the per_cent of a rake is 0 to 100, not 101"),
        ({"per_cent": "nan"}, "the per_cent of a rake is 0 to 100, not nan"),
        ({"per_cent": 5, "step": -0.25}, "the step of a rake is 0 or more, not -0.25"),
        ({"per_cent": 5, "cap": "-3"}, "the cap of a rake is 0 or more, not -3"),
    ],
)
def test_impossible_rake_is_refused(fields: dict[str, float | str], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        Rake(**fields)  # type: ignore[arg-type]


def test_a_rake_is_a_value() -> None:
    assert Rake(5, "0.25", 3) == Rake("5", 0.25, "3.00") == Rake(5, "0.125", "1.50").in_chips("0.5")
    assert len({Rake(5), Rake("5.0"), Rake(4)}) == 2


@given(st.lists(st.integers(0, 50), min_size=1, max_size=9).filter(any), st.data())
def test_no_pot_is_raked_of_more_than_it_holds(pots: list[int], data: st.DataObject) -> None:
    rake = data.draw(st.integers(0, sum(pots)))
    parts = split_by_weight(rake, pots)
    assert sum(parts) == rake
    assert all(0 <= part <= pot for part, pot in zip(parts, pots, strict=True))
