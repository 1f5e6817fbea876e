"""Make the table of all duels before the flop: `python -m engine.generators.duels` rewrites its file.

Every two holdings that differ by more than the names of suits are counted once, on all boards, by
`engine.kernels.board_counts`: 47,008 pairs, half a minute. If the checksum that is printed is a new one,
`engine.tables.duels.DUELS_SHA256` has to follow.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from itertools import combinations

import numpy as np

from engine.duels import BOARDS
from engine.kernels.board_counts import count_rank_patterns
from engine.tables.duels import DUELS_PATH, ROWS, duel_row, write

__all__ = ["Pair", "count_pair", "pairs_by_row", "rows_of"]

Pair = tuple[tuple[int, int], tuple[int, int]]
"""Two holdings, each with its lower card first."""


def pairs_by_row() -> dict[int, Pair]:
    """Two holdings for each row that any have."""
    found: dict[int, Pair] = {}
    for one in combinations(range(52), 2):
        for other in combinations(range(52), 2):
            if len({*one, *other}) == 4 and (row := duel_row(*one, *other)) >= 0:
                found.setdefault(row, (one, other))
    return found


def form_of(pair: Pair) -> Pair:
    """The same for all pairs of holdings that differ by the names of suits alone."""
    suits = [[0, 0] for _ in range(4)]
    for at, holding in enumerate(pair):
        for card in holding:
            suits[card & 3][at] |= 1 << (card >> 2)
    suits.sort()
    one, other = (
        sorted(4 * rank + suit for suit, ranks in enumerate(suits) for rank in range(13) if ranks[at] >> rank & 1)
        for at in range(2)
    )
    return (one[0], one[1]), (other[0], other[1])


def count_pair(pair: Pair) -> tuple[int, int]:
    """The boards won by the first of two holdings, and those tied."""
    deck = np.array([card for card in range(52) if card not in (*pair[0], *pair[1])], np.uint8)
    counts = np.zeros((1, 2, 2), np.int64)
    count_rank_patterns(np.array(pair, np.uint8), deck, np.ones((1, 2), np.uint8), counts)
    return int(counts[0, 0, 0]), int(counts[0, 0, 1])


def rows_of(count: Callable[[Pair], tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The rows of the table, in their order.

    Args:
        count: the boards won by the first of two holdings, and those tied; asked once for pairs that differ by the
            names of suits alone, or by which of the two is the first.
    """
    pairs = pairs_by_row()
    known: dict[Pair, tuple[int, int]] = {}
    for row in range(ROWS):
        if row not in pairs:
            yield 0, 0
            continue
        form, turned = form_of(pairs[row]), form_of(pairs[row][::-1])
        if form not in known:
            won, tied = known[form] = count(form)
            known[turned] = BOARDS - won - tied, tied
        yield known[form]


def main() -> None:
    """Write the file and print its size and checksum."""
    data = write(rows_of(count_pair))
    with open(DUELS_PATH, "wb") as file:
        file.write(data)
    print(f"{DUELS_PATH}: {len(data)} bytes, sha256 {hashlib.sha256(data).hexdigest()}")


if __name__ == "__main__":
    main()
