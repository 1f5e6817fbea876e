"""Make the table of all matchups before the flop: `python -m engine.generators.matchups` rewrites its file.

The boards are counted by `engine.kernels.matchups` in as many threads as there are processors. If the checksum that is
printed is a new one, `engine.tables.matchups.MATCHUPS_SHA256` has to follow.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from math import comb
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.kernels.matchups import CLASSES, COLUMNS, LANES, canonical_boards, count_weaker
from engine.tables.matchups import MATCHUPS_PATH, write

__all__ = ["Boards", "boards_from", "compile_kernels", "count_wins"]

_CANONICAL_BOARDS: Final = 134_459
_PARTS: Final = 64
"""The boards are counted in so many parts, after each of which it is said how far the work has come."""


class Boards(NamedTuple):
    """Boards, one of each set that differs by the names of suits, those of the same ranks side by side.

    Attributes:
        cards: ascending, shape (n, 5).
        times: the sizes of the sets.
        keys: the same for boards of the same ranks.
    """

    cards: NDArray[np.uint8]
    times: NDArray[np.int32]
    keys: NDArray[np.uint64]

    def chosen(self, which: slice | NDArray[np.intp]) -> Boards:
        """Some of them, in the order given."""
        return Boards(self.cards[which], self.times[which], self.keys[which])


def boards_from(start: int = 0) -> Boards:
    """All boards of the cards from `start` on, the first card of a rank."""
    most = min(_CANONICAL_BOARDS, comb(52 - start, 5))
    boards = Boards(np.empty((most, 5), np.uint8), np.empty(most, np.int32), np.empty(most, np.uint64))
    found = boards.chosen(slice(canonical_boards(start, *boards)))
    return found.chosen(found.keys.argsort(kind="stable"))


def compile_kernels() -> None:
    """Compile what `count_wins` runs; some seconds."""
    count_wins(boards_from(44).chosen(slice(0, 1)))


def count_wins(
    boards: Boards, *, threads: int | None = None, progress: Callable[[float], None] | None = None
) -> NDArray[np.int64]:
    """The showdowns that each class wins against each, on some boards, shape (169, 169).

    Args:
        boards: what is counted.
        threads: by default as many as there are processors.
        progress: called now and then with the part of the work that is done, 0 to 1.
    """
    size = len(boards.times)
    edges = [size * part // _PARTS for part in range(_PARTS + 1)]
    beaten, sharing = np.zeros((CLASSES, COLUMNS), np.int64), np.zeros((CLASSES, 2, LANES), np.int64)

    def count(part: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        of_part = np.zeros(CLASSES * COLUMNS, np.int32), np.zeros(CLASSES * 2 * LANES, np.int32)
        count_weaker(*boards.chosen(slice(edges[part], edges[part + 1])), *of_part)
        return of_part

    pool = ThreadPoolExecutor(threads or os.cpu_count())
    try:
        for done, future in enumerate(as_completed([pool.submit(count, part) for part in range(_PARTS)]), 1):
            of_part = future.result()
            beaten += of_part[0].reshape(beaten.shape)
            sharing += of_part[1].reshape(sharing.shape)
            if progress is not None:
                progress(done / _PARTS)
    finally:
        pool.shutdown(cancel_futures=True)
    return _without_shared(beaten[:, :CLASSES], sharing)


def _without_shared(beaten: NDArray[np.int64], sharing: NDArray[np.int64]) -> NDArray[np.int64]:
    """The weaker holdings less those that share a card."""
    wins = beaten.copy()
    for winner in range(CLASSES):
        row, column = divmod(winner, 13)
        for side, shared in enumerate((min(row, column), max(row, column))):
            for other in range(13):
                low, high = min(shared, other), max(shared, other)
                wins[winner, 13 * low + high] -= sharing[winner, side, 2 * other]
                wins[winner, 13 * high + low] -= sharing[winner, side, 2 * other + 1]
    return wins


def main() -> None:
    """Write the file and print its size and checksum."""
    data = write(count_wins(boards_from()))
    with open(MATCHUPS_PATH, "wb") as file:
        file.write(data)
    print(f"{MATCHUPS_PATH}: {len(data)} bytes, sha256 {hashlib.sha256(data).hexdigest()}")


if __name__ == "__main__":
    main()
