"""The compiled chances are those of `bots.chance.Chance`, to the last bit."""

from __future__ import annotations

import random

import numpy as np
import pytest

from engine.equity import equity, preflop_equity

pytestmark = pytest.mark.slow


def test_seeds_and_chances_are_those_of_the_bots() -> None:
    from bots.kernels.chances import chance_percent, chance_seed, preflop_percent, seed_text

    draw = random.Random(5)
    for number in range(150):
        cards = draw.sample(range(52), 5 + number % 3)
        hole, board = tuple(cards[:2]), tuple(cards[2:])
        opponents = draw.randint(1, 9)
        hand = draw.choice([0, 9, 10, 12345, 9_999_999_999])
        seed = draw.choice([0, 5, -3, draw.getrandbits(64)])
        arrays = np.array(hole, np.uint8), np.array(board, np.uint8)
        wanted = random.Random(f"{seed}:{(hand, hole, board, opponents)}").getrandbits(64)
        assert int(chance_seed(seed_text(seed), hand, *arrays, opponents)) == wanted
        percent = 100 * equity(hole, board, opponents, trials=50, seed=wanted).equity
        assert chance_percent(seed_text(seed), hand, *arrays, opponents, 50) == percent
        assert preflop_percent(*hole, opponents) == 100 * preflop_equity(hole, opponents).equity


def test_a_seed_that_does_not_fit_is_refused() -> None:
    from bots.kernels.chances import seed_text

    with pytest.raises(ValueError, match="too long"):
        seed_text(10**70)
