"""Drawn boards that cost little: those of a small game, whose solution is known, and of hold'em with random buckets."""

from __future__ import annotations

import numpy as np

from bots.cfr.abstraction import HOLDING_COUNT, CardAbstraction
from bots.cfr.deals import AllBoards, Deal
from engine.splitmix import mixed
from protocol import find_game


class DrawnLeduc:
    """Boards of Leduc poker, drawn.

    Attributes:
        all: all boards.
        numbers: of the boards that were asked for.
    """

    def __init__(self) -> None:
        self.all = AllBoards(find_game("leduc")[1])
        self.buckets, self.holdings, self.pairs = self.all.buckets, self.all.holdings, self.all.pairs
        self.float_type, self.count = self.all.float_type, 0
        self.numbers: list[int] = []

    def deal(self, stream: int, number: int) -> Deal:
        """The board of a number."""
        self.numbers.append(number)
        return self.all.deal(stream, mixed(stream << 32 | number) % self.all.count)


def random_cards() -> CardAbstraction:
    """Buckets drawn at random before the river."""
    numbers = np.random.default_rng(5)
    return CardAbstraction(
        (169, 7, 5, 6),
        numbers.integers(0, 7, (1755, HOLDING_COUNT)).astype(np.uint8),
        numbers.integers(0, 5, (16_432, HOLDING_COUNT)).astype(np.uint8),
        np.zeros(4, np.int64),
        np.array([200, 700, 701, 1500, 2000]),
    )
