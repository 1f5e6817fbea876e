"""Two holdings against each other before the flop, exactly: the boards won, tied and lost by one that is known against
one that is known.

The numbers come with the package (`engine.tables.duels`), and `engine.generators.duels` makes them again. Nothing heavy
is imported to look one up: it takes two microseconds after a millisecond for the file.

    >>> from engine import parse_cards
    >>> duel(parse_cards("AcAd"), parse_cards("KcKh"))
    (1399204, 7923, 305177)
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import comb
from typing import TYPE_CHECKING, Final

from engine.tables import duels as table

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["BOARDS", "duel", "duel_counts"]

BOARDS: Final = comb(48, 5)
"""Boards beside two holdings: 1,712,304."""

_data = b""


def duel(hole: Sequence[int], other: Sequence[int]) -> tuple[int, int, int]:
    """On how many boards a holding wins, ties and loses against another one.

    Args:
        hole: two cards.
        other: two more; all four are different.

    Raises:
        OSError: the table is missing from the installation.
        TableError: the table is damaged.
    """
    global _data
    if not _data:
        _data = table.load()
    row = table.duel_row(*hole, *other)
    won, tied = table.ROW.unpack_from(_data, table.HEADER_BYTES + table.ROW.size * max(row, -1 - row))
    lost = BOARDS - won - tied
    return (won, tied, lost) if row >= 0 else (lost, tied, won)


@cache
def duel_counts() -> NDArray[np.uint32]:
    """The boards won by the first holding and those tied, shape (rows, 2), for kernels; not to be written to.

    Raises:
        OSError: the table is missing from the installation.
        TableError: the table is damaged.
    """
    import numpy as np

    return np.frombuffer(table.load(), "<u4", offset=table.HEADER_BYTES).reshape(table.ROWS, 2)
