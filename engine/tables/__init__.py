"""The tables of numbers that come with the package: the checks of all, the layout of two.

`TableFile` refuses a file that is damaged or of another version. `engine.duels` and `engine.matchups` read the tables
that they are about.

**The hand evaluators' numbers.**
`hand_ranks.bin` is written by `tests/engine/generators.py` and read here, without numpy: the pure Python evaluator
and the batch kernels share it. Everything in it is little-endian:

    8 bytes     magic
    13 uint32   rank keys, deuce first: for each n of 1..7 the sums of the keys of any n cards of a deck are distinct
    7 uint32    b(n) for n = 1..7: how many low bits of a sum choose the row
    7 uint32    number of values for n = 1..7 cards
    then for each n = 1..7
      uint16[2**b(n)]   offset of each row
      uint16[values]    hand ranks: that of sum s is values[(s >> b(n)) + offset[s & (2**b(n) - 1)]]
    uint16[8192]        hand rank of the flush (or straight flush) of a 13-bit mask of ranks, 0 if it has fewer than 5

The values of one row lie (s >> b) apart, and the rows are slid into each other's gaps (row displacement), so that the
table is nearly dense although the sums are sparse. Taking the row from the low bits, which look random, keeps the rows
short and alike; rows taken from the high bits pack 1.8 times as large.

A hand rank is a uint16 above 0: the category in the top four bits, below it the order within the category. It depends
on the best five cards alone, not on how many they were picked from.

**The chances of hole cards before the flop.** `preflop_equity.bin` is written by `tests/engine/generators.py` and
read here, without numpy:

    8 bytes               magic
    169 * 9 * 3 doubles   by class of hole cards, by opponents (1 to 9): win, tie and equity of `engine.equity.Equity`

The classes are those of `engine.cards`, in their order. Against one opponent the numbers are exact: all its
hands with all boards. Against more they are sampled, `TRIALS` showdowns each, so that the standard error is at most
0.0005.
"""

from __future__ import annotations

import hashlib
import struct
import sys
from array import array
from dataclasses import dataclass
from functools import cache
from os.path import dirname, join
from typing import TYPE_CHECKING, Any, TypeVar

from engine.errors import TableError

if TYPE_CHECKING:
    import numpy as np

    Numbers = TypeVar("Numbers", bound=np.ndarray[Any, Any])

FOLDER = dirname(__file__)
MOST_OPPONENTS = 9
TRIALS = 1_000_000
"""Showdowns behind each number before the flop against two or more opponents."""

_PREFLOP_LAYOUT = struct.Struct(f"<{169 * MOST_OPPONENTS * 3}d")
_HEADER = struct.Struct("<13I7I7I")


@dataclass(frozen=True, slots=True)
class TableFile:
    """A file of numbers behind a magic, which comes with the package. `what`: a noun phrase for the message."""

    path: str
    magic: bytes
    sha256: str
    what: str

    def numbers(self, data: bytes | None = None) -> bytes:
        """The data after the magic, in the packaged file unless other data are given.

        Raises:
            OSError: the file is missing from the installation.
            TableError: these bytes are not the file that belongs to this version.
        """
        if data is None:
            with open(self.path, "rb") as file:
                data = file.read()
        if hashlib.sha256(data).hexdigest() != self.sha256:
            raise TableError(f"the table of {self.what} is damaged or of another version; reinstall it")
        return data[len(self.magic) :]


HAND_RANKS = TableFile(
    join(FOLDER, "hand_ranks.bin"),
    b"ACPCHR01",
    "2c71b7183b5f6e2aef69bacf88d7cea6331c00ebc58bb02e4c7eb1f40c1bbd1a",
    "hand ranks",
)
PREFLOP = TableFile(
    join(FOLDER, "preflop_equity.bin"),
    b"ACPCPE01",
    "445f733c15a3a32fa0feb96a1369606d8b063372536e3c9242c63d2342c315dc",
    "chances before the flop",
)


@dataclass(frozen=True, slots=True)
class RankTables:
    """The contents of the file. Tuples over the number of cards start at one card; arrays have the type code 'H'."""

    rank_keys: tuple[int, ...]
    row_bits: tuple[int, ...]
    offsets: tuple[array[int], ...]
    values: tuple[array[int], ...]
    flushes: array[int]


def load_tables() -> RankTables:
    """Read the packaged file (about 200 KB, well under a millisecond).

    Raises:
        OSError: the file is missing from the installation.
        TableError: the file is not the one that belongs to this version.
    """
    data = HAND_RANKS.numbers()
    header = _HEADER.unpack_from(data)
    row_bits = header[13:20]
    words = array("H", data[_HEADER.size :])
    if sys.byteorder == "big":
        words.byteswap()
    offsets = []
    values = []
    start = 0
    for bits, length in zip(row_bits, header[20:], strict=True):
        middle = start + (1 << bits)
        end = start + (1 << bits) + length
        offsets.append(words[start:middle])
        values.append(words[middle:end])
        start = end
    return RankTables(header[:13], row_bits, tuple(offsets), tuple(values), words[start:])


@cache
def read_preflop(data: bytes | None = None) -> tuple[float, ...]:
    """The numbers of the file (37 KB, 0.2 ms); those of class c against n opponents begin at ``3 * (9 * c + n - 1)``.

    Errors are those of `TableFile.numbers`.
    """
    return _PREFLOP_LAYOUT.unpack(PREFLOP.numbers(data))


def read_only(numbers: Numbers) -> Numbers:
    """The array itself, which others may keep: it is not to be written to."""
    numbers.setflags(write=False)
    return numbers
