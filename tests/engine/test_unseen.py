"""Compiled counts of showdowns against unseen cards, compared with numpy."""

from __future__ import annotations

import random

import numpy as np
import pytest

from engine.kernels import showdowns

pytestmark = pytest.mark.slow


def _situations(count: int) -> list[list[int]]:
    """Return cards with boards of every length, a third of them with four or more of one suit."""
    draw = random.Random(7)
    situations = []
    for number in range(count):
        size = 5 + number % 3
        if number % 3:
            cards = draw.sample(range(52), size)
        else:
            suit = draw.randrange(4)
            cards = draw.sample(range(suit, 52, 4), 4 + draw.randrange(2))
            cards += draw.sample([card for card in range(52) if card not in cards], size - len(cards))
            draw.shuffle(cards)
        situations.append(cards)
    quads = [12, 13, 14, 15, 16]
    return [*situations, [0, 1, 2, 3, 4], [0, 8, 1, 2, 3, 40], [*quads, 20, 24], [0, 4, 8, 12, 16, 20, 24]]


@pytest.mark.parametrize("first", range(0, 400, 100))
def test_every_showdown_against_one_and_drawn_ones_against_more(first: int) -> None:
    from engine.kernels.draw import count_against_many, count_against_one

    draw = random.Random(first)
    for cards in _situations(400)[first : first + 104]:
        hole, board = np.array(cards[:2], np.uint8), np.array(cards[2:], np.uint8)
        unseen = np.array([card for card in range(52) if card not in cards], np.uint8)
        wanted, counts = np.zeros(3, np.int64), np.zeros(3, np.int64)
        showdowns.count_against_one(hole, board, unseen, wanted)
        count_against_one(hole, board, counts)
        assert counts.tolist() == wanted.tolist(), cards
        # 1,024 showdowns are processed side by side; test counts around this number.
        opponents, trials, start = draw.randint(1, 9), draw.choice([1, 60, 1024, 1025, 2100]), draw.getrandbits(64)
        wanted, counts = np.zeros(opponents + 2, np.int64), np.zeros(opponents + 2, np.int64)
        showdowns.count_sampled(hole, board, unseen, opponents, trials, start, wanted)
        count_against_many(hole, board, opponents, trials, np.uint64(start), counts)
        assert counts.tolist() == wanted.tolist(), (cards, opponents, trials)
