"""Actions drawn by probability, never one with probability 0."""

from __future__ import annotations

import pytest

from bots.sdk.bot import choose_action, uniform
from engine import CALL, FOLD, RAISE


def test_the_number_decides() -> None:
    policy = {FOLD: 0.25, CALL: 0.0, RAISE: 0.75}
    assert [choose_action(policy, number) for number in (0, 0.2499, 0.25, 0.999)] == [FOLD, FOLD, RAISE, RAISE]


def test_actions_without_probability_are_never_drawn() -> None:
    """The probabilities can sum to slightly less than 1."""
    assert choose_action({FOLD: 0.1, CALL: 0.9 - 1e-12, RAISE: 0.0}, 1 - 1e-15) == CALL
    with pytest.raises(ValueError, match="no action has any probability"):
        choose_action({FOLD: 0.0}, 0.5)


def test_numbers_are_below_one() -> None:
    assert (uniform(0), uniform((1 << 64) - 1) < 1) == (0, True)
