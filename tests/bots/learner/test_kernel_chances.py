"""Compiled chances, compared with `bots.sdk.chance` to the last bit."""

from __future__ import annotations

import random

import numpy as np
import pytest

from bots.sdk.chance import chance_seed as seed_in_python
from engine.equity import equity, preflop_equity
from engine.splitmix import MASK_64, mixed

pytestmark = pytest.mark.slow


def test_seeds_and_chances_are_those_of_the_bots() -> None:
    from bots.learner.kernel import chance_percent, chance_seed, preflop_percent

    draw = random.Random(5)
    for number in range(150):
        cards = draw.sample(range(52), 5 + number % 3)
        hole, board = tuple(cards[:2]), tuple(cards[2:])
        opponents = draw.randint(1, 9)
        hand = draw.choice([0, 9, 12345, 9_999_999_999])
        seed = draw.choice([0, 5, -3, draw.getrandbits(64), 10**70])
        arrays = np.array(hole, np.uint8), np.array(board, np.uint8)
        wanted, ready = seed_in_python(seed, hand, hole, board, opponents), np.uint64(mixed(seed & MASK_64))
        assert int(chance_seed(ready, hand, *arrays, opponents)) == wanted
        percent = 100 * equity(hole, board, opponents, trials=50, seed=wanted).equity
        assert chance_percent(ready, hand, *arrays, opponents, 50) == percent
        assert preflop_percent(*hole, opponents) == 100 * preflop_equity(hole, opponents).equity
