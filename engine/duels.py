"""Exact results of two known holdings against each other before the flop, from a shipped table.

Neither numpy nor numba is imported. A look-up takes two microseconds, and the first one a millisecond for the file.

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
"""Number of boards without the cards of two holdings, 1,712,304."""

DUELS: Final = TableFile(
    join(FOLDER, "duels.bin"),
    b"ACPCDU01",
    "42b735faaddc7b7342bf779c7a1b0d24361ac79732ff78ba40cc448c101edaf3",
    "all duels before the flop",
)
ROW: Final = struct.Struct("<II")
"""Row of the table: boards on which the first holding wins, and boards on which both tie."""

# A row is for two of the 91 pairs of ranks and one of the 15 patterns of suits that four cards can have. Only 47,008
# duels differ by more than the names of suits. Some of them have several rows, so that arithmetic alone finds a row.
ROWS: Final = 91 * 92 // 2 * 15
"""Number of rows of the table."""

_data = b""


def duel(hole: Sequence[int], other: Sequence[int]) -> tuple[int, int, int]:
    """Return the numbers of boards on which a holding wins, ties and loses against another one.

    Args:
        hole: two cards.
        other: two other cards.

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
    """Return the table for kernels: boards won by the first holding and boards tied, shape (ROWS, 2), read-only.

    Raises:
        OSError: the table is missing from the installation.
        TableError: the table is damaged.
    """
    import numpy as np

    return np.frombuffer(DUELS.numbers(), "<u4").reshape(ROWS, 2)


def duel_row(one: int, two: int, three: int, four: int) -> int:
    """Return the row of the holding `one`, `two` against the holding `three`, `four`.

    A negative number n means row -1 - n with the holdings exchanged.
    """
    # engine.kernels.ranges compiles this function, so it uses integers only and calls nothing.
    if one < two:
        one, two = two, one
    if three < four:
        three, four = four, three
    # Number of each pair of ranks, by the higher rank and then by the lower one.
    first = (one >> 2) * ((one >> 2) + 1) // 2 + (two >> 2)
    second = (three >> 2) * ((three >> 2) + 1) // 2 + (four >> 2)
    is_exchanged = first > second
    if is_exchanged:
        first, second = second, first
        one, two, three, four = three, four, one, two
    # Number the suits in the order in which they appear: 0 for that of the first card, 1 for the next new one.
    suit_2 = 0 if two & 3 == one & 3 else 1
    if three & 3 == one & 3:
        suit_3 = 0
    elif three & 3 == two & 3:
        suit_3 = 1
    else:
        suit_3 = suit_2 + 1
    if four & 3 == one & 3:
        suit_4 = 0
    elif four & 3 == two & 3:
        suit_4 = 1
    elif four & 3 == three & 3:
        suit_4 = suit_3
    else:
        suit_4 = 1 + (suit_2 if suit_2 > suit_3 else suit_3)
    # Number the 15 patterns. If the first two cards have one suit, patterns 0 to 1 and 2 to 4 follow for the suits of
    # the third card, otherwise 5 to 7, 8 to 10 and 11 to 14.
    if suit_2:
        suits = 5 + 3 * suit_3 + suit_4
    else:
        suits = 2 * suit_3 + suit_4
    row = 15 * (second * (second + 1) // 2 + first) + suits
    if is_exchanged:
        return -1 - row
    return row
