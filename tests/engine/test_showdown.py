"""Side pots compared with a textbook construction in fractions and with logged results."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.hand import showdown_values
from tests.engine.naive import pots
from tests.engine.strategies import SEEDS


def random_players(seed: int) -> list[tuple[int, int | None]]:
    """Return chips put in and hand ranks of two to ten players; None for players who folded."""
    chance = random.Random(seed)
    max_chips = chance.choice([1, 3, 10, 60])
    folded = chance.choice([0.0, 0.2, 0.6])
    hands = [None if chance.random() < folded else chance.randint(1, 5) for _ in range(chance.randint(2, 10))]
    hands[chance.randrange(len(hands))] = chance.randint(1, 5)
    return [(chance.randint(0, max_chips), hand) for hand in hands]


PLAYERS = SEEDS.map(random_players)
"""Random players, each case from one number: drawing twenty costs more than the tests."""


@given(PLAYERS)
def test_values_are_those_of_the_textbook(players: list[tuple[int, int | None]]) -> None:
    spent, ranks = [chips for chips, _ in players], [rank for _, rank in players]
    values = showdown_values(spent, ranks)
    assert all(isinstance(value, float) for value in values)
    assert values == pytest.approx([float(value) for value in pots(spent, ranks)], abs=1e-9)


@given(PLAYERS, st.randoms(use_true_random=False))
def test_positions_are_treated_alike(players: list[tuple[int, int | None]], chance: object) -> None:
    order = list(range(len(players)))
    chance.shuffle(order)  # type: ignore[attr-defined]
    values = showdown_values([chips for chips, _ in players], [rank for _, rank in players])
    turned = showdown_values([players[p][0] for p in order], [players[p][1] for p in order])
    assert turned == [values[p] for p in order]


@pytest.mark.parametrize(
    ("spent", "ranks", "values"),
    [
        pytest.param((100, 100), (2, 1), (100, -100), id="the better hand takes all"),
        pytest.param((10, 10, 10, 10), (5, 5, 5, 1), (10 / 3, 10 / 3, 10 / 3, -10), id="a pot split in three"),
        pytest.param((10, 10, 5), (5, 5, None), (2.5, 2.5, -5), id="no odd chips"),
        pytest.param((300, 100), (1, 2), (-100, 100), id="what was not called comes back to the loser"),
        pytest.param((50, 100, 100), (3, 2, 1), (100, 0, -100), id="main pot to the short stack, side pot to the next"),
        pytest.param((50, 100, 100), (3, 3, 1), (25, 75, -100), id="a tie for the main pot alone"),
        pytest.param((20, 50, 100, 100), (4, 3, 2, 1), (60, 40, 0, -100), id="three pots"),
        pytest.param((30, 50, 50), (None, 1, 2), (-30, -50, 80), id="folded chips go to the winner"),
        pytest.param((60, 20, 20), (None, 2, 1), (-60, 40, -20), id="folded chips above every bet are lost"),
        pytest.param((0, 0), (1, 2), (0, 0), id="nothing in, nothing won"),
    ],
)
def test_examples_are_paid(spent: Sequence[int], ranks: Sequence[int | None], values: Sequence[float]) -> None:
    assert showdown_values(spent, ranks) == list(values)
    assert [float(value) for value in pots(spent, ranks)] == pytest.approx(values)


def test_the_order_of_sums_is_the_references() -> None:
    """Layers are added smallest first, each an integer product divided once: 7*1/3, then 4*1/3, in doubles."""
    spent, ranks = (7, 11, 24, 24), (5, 5, 5, 1)
    first = 0.0 + 7 * 1 / 3
    second = first + 4 * 1 / 2
    third = second + 13 * 1 / 1
    assert showdown_values(spent, ranks) == [first, second, third, -24.0]
