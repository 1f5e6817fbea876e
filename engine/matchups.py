"""Exact results of every starting hand against every other before the flop, from a shipped table.

The results are sums over all pairs of holdings without a common card and all 1,712,304 boards without their cards.
Starting hands are numbered as in `engine.cards`.

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
    """Return the showdowns won, tied and lost by the row against the column, shape (169, 169, 3), read-only.

    Raises:
        OSError: the table is missing from the installation.
        TableError: the table is damaged.
    """
    return counts_of_wins(read())


def counts_of_wins(wins: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the showdowns won, tied and lost, given those won, shape (169, 169)."""
    # Losses are the wins of the other side, and all other showdowns are tied.
    return read_only(np.stack([wins, pairs() * BOARDS - wins - wins.T, wins.T], axis=2))


@cache
def pairs() -> NDArray[np.int64]:
    """Return the number of pairs of a holding of the row and one of the column without a common card, (169, 169)."""
    # By starting hand and card, the number of holdings with this card.
    holds = np.zeros((len(STARTING_HANDS), 52), np.int64)
    for cards in combinations(range(52), 2):
        holds[starting_hand(cards), cards] += 1
    sizes = holds.sum(axis=1) // 2
    # Subtract the pairs that share a card, once for each shared card. A holding shares two only with itself.
    return read_only(np.outer(sizes, sizes) - holds @ holds.T + np.diag(sizes))


@cache
def equities() -> NDArray[np.float64]:
    """Return the expected share of the pot of the row against the column, 0 to 1, shape (169, 169), read-only.

    Raises:
        OSError: the table is missing from the installation.
        TableError: the table is damaged.
    """
    won, tied, _ = np.moveaxis(counts(), 2, 0)
    return read_only((won + tied / 2) / (pairs() * BOARDS))


def read(data: bytes | None = None) -> NDArray[np.int64]:
    """Read the showdowns won by the row against the column, shape (169, 169), from the file or from `data`.

    Raises:
        OSError: the file is missing from the installation.
        TableError: the bytes are not those of this version.
    """
    return np.frombuffer(MATCHUPS.numbers(data), "<u4").reshape(len(STARTING_HANDS), -1).astype(np.int64)
