"""Every class of starting hands against every other: the showdowns won, tied and lost before the flop, exactly.

Counted are all pairs of holdings without a common card, each with all 1,712,304 boards without its cards. The classes
and their order are those of `engine.cards`. The numbers come with the package in `matchups.bin`, which
`tests/engine/generators.py` writes. Everything in it is little-endian:

    8 bytes              magic
    169 * 169 uint32     by class and by class of the opponent: the showdowns won, summed over the pairs of holdings
                         without a common card and all boards that exclude them

Losses are the wins of the opponent, and the other showdowns are tied.

    >>> aces, kings = STARTING_HANDS.index("AA"), STARTING_HANDS.index("KK")
    >>> counts()[aces, kings].tolist(), int(pairs()[aces, kings])
    ([50371344, 285228, 10986372], 36)
"""

from __future__ import annotations

from functools import cache
from itertools import combinations
from os.path import join
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.cards import STARTING_HANDS, starting_hand
from engine.duels import BOARDS
from engine.tables import FOLDER, TableFile, read_only

MATCHUPS: Final = TableFile(
    join(FOLDER, "matchups.bin"),
    b"ACPCMU01",
    "5f207532851f5bed6a33ae08a8ff5402d5ea5fcfe15053e5d3d59e31b60279fc",
    "all matchups before the flop",
)


@cache
def counts() -> NDArray[np.int64]:
    """Showdowns won, tied and lost by the row's class against the column's, shape (169, 169, 3); not to be written to.

    Raises:
        OSError: the table is missing from the installation.
        TableError: the table is damaged.
    """
    return counts_of_wins(read())


def counts_of_wins(wins: NDArray[np.int64]) -> NDArray[np.int64]:
    """Showdowns won, tied and lost, from those won, shape (169, 169): a loss is a win of the other side."""
    return read_only(np.stack([wins, pairs() * BOARDS - wins - wins.T, wins.T], axis=2))


@cache
def pairs() -> NDArray[np.int64]:
    """Pairs of a holding of the row's class and one of the column's without a common card, shape (169, 169)."""
    holds = np.zeros((len(STARTING_HANDS), 52), np.int64)
    for cards in combinations(range(52), 2):
        holds[starting_hand(cards), cards] += 1
    sizes = holds.sum(axis=1) // 2
    # A holding shares two cards only with itself, and is then taken away twice.
    return read_only(np.outer(sizes, sizes) - holds @ holds.T + np.diag(sizes))


@cache
def equities() -> NDArray[np.float64]:
    """The row's share of the pot against the column, 0 to 1, a tie counted half, shape (169, 169).

    Raises:
        OSError: the table is missing from the installation.
        TableError: the table is damaged.
    """
    won, tied, _ = np.moveaxis(counts(), 2, 0)
    return read_only((won + tied / 2) / (pairs() * BOARDS))


def read(data: bytes | None = None) -> NDArray[np.int64]:
    """The showdowns won, shape (169, 169); errors are those of `TableFile.numbers`."""
    return np.frombuffer(MATCHUPS.numbers(data), "<u4").reshape(len(STARTING_HANDS), -1).astype(np.int64)
