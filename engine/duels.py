"""Two holdings against each other before the flop, exactly: the boards won, tied and lost by one that is known against
one that is known.

The numbers come with the package in `duels.bin`, which `tests/engine/generators.py` writes. Nothing heavy is imported
to look one up: it takes two microseconds after a millisecond for the file. Everything in it is little-endian:

    8 bytes               magic
    62,790 * 2 uint32     by row of `duel_row`: of all 1,712,304 boards without the four cards, those on which the first
                          holding wins and those on which both win; 0 and 0 for rows that no four cards have

Two holdings are given by their ranks and by which of the four cards are of one suit, whatever suit it is. There are
47,008 such pairs; some have several rows, so that a row is found by arithmetic alone.

    >>> from engine import parse_cards
    >>> duel(parse_cards("AcAd"), parse_cards("KcKh"))
    (1399204, 7923, 305177)
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from functools import cache
from math import comb
from os.path import join
from typing import TYPE_CHECKING, Final

from engine.tables import FOLDER, TableFile

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

BOARDS: Final = comb(48, 5)
"""Boards that exclude two holdings: 1,712,304."""

DUELS: Final = TableFile(
    join(FOLDER, "duels.bin"),
    b"ACPCDU01",
    "42b735faaddc7b7342bf779c7a1b0d24361ac79732ff78ba40cc448c101edaf3",
    "all duels before the flop",
)
ROW: Final = struct.Struct("<II")
"""A row: boards won by the first holding, boards tied."""

ROWS: Final = 91 * 92 // 2 * 15
"""Two of the 91 pairs of ranks, in order, and the 15 ways in which four cards may be of the same suits."""

_data = b""


def duel(hole: Sequence[int], other: Sequence[int]) -> tuple[int, int, int]:
    """On how many boards a holding wins, ties and loses against another one.

    Args:
        other: two more; all four are different.

    Raises:
        OSError: the table is missing from the installation.
        TableError: the table is damaged.
    """
    global _data
    if not _data:
        _data = DUELS.numbers()
    row = duel_row(*hole, *other)
    won, tied = ROW.unpack_from(_data, ROW.size * max(row, -1 - row))
    lost = BOARDS - won - tied
    if row >= 0:
        return (won, tied, lost)
    return (lost, tied, won)


@cache
def duel_counts() -> NDArray[np.uint32]:
    """The boards won by the first holding and those tied, shape (rows, 2), for kernels; not to be written to.

    Raises:
        OSError: the table is missing from the installation.
        TableError: the table is damaged.
    """
    import numpy as np

    return np.frombuffer(DUELS.numbers(), "<u4").reshape(ROWS, 2)


def duel_row(one: int, two: int, three: int, four: int) -> int:
    """The row of a holding, the first two cards, against another one; -1 less the row of the other against the first.

    So a negative number n stands for row -1 - n, with the holdings exchanged. `engine.kernels.ranges` compiles this
    function: it takes and returns whole numbers and calls nothing.

    Args:
        one: a card, 0..51; all four are different.
        two: the other card of the holding.
        three: a card of the other holding.
        four: the last one.
    """
    if one < two:
        one, two = two, one
    if three < four:
        three, four = four, three
    # The pairs of ranks are numbered by the higher rank, then by the lower one.
    first = (one >> 2) * ((one >> 2) + 1) // 2 + (two >> 2)
    second = (three >> 2) * ((three >> 2) + 1) // 2 + (four >> 2)
    is_exchanged = first > second
    if is_exchanged:
        first, second = second, first
        one, two, three, four = three, four, one, two
    # Suits by the order in which they come: that of the first card is 0, the next new one 1...
    two_in = 0 if two & 3 == one & 3 else 1
    if three & 3 == one & 3:
        three_in = 0
    elif three & 3 == two & 3:
        three_in = 1
    else:
        three_in = two_in + 1
    if four & 3 == one & 3:
        four_in = 0
    elif four & 3 == two & 3:
        four_in = 1
    elif four & 3 == three & 3:
        four_in = three_in
    else:
        four_in = 1 + (two_in if two_in > three_in else three_in)
    # With one suit so far there are two, then three ways to go on; with two suits three, three and four.
    suits = four_in + (5 + 3 * three_in if two_in else 2 * three_in)
    row = 15 * (second * (second + 1) // 2 + first) + suits
    if is_exchanged:
        return -1 - row
    return row
