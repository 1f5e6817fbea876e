"""Tables of numbers shipped with the package, and the readers of two of them.

`load_tables` reads the tables of the hand evaluators, `read_preflop` the equities before the flop. `engine.duels` and
`engine.matchups` read the others. `tests/engine/generators.py` writes all four files. Each begins with a magic of eight
bytes, and all numbers are little-endian.
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
MAX_OPPONENTS = 9
TRIALS = 1_000_000
"""Showdowns drawn for each equity before the flop against two or more opponents."""

_PREFLOP_LAYOUT = struct.Struct(f"<{169 * MAX_OPPONENTS * 3}d")
_HEADER = struct.Struct("<13I7I7I")


@dataclass(frozen=True, slots=True)
class TableFile:
    """File of numbers shipped with the package.

    Attributes:
        magic: bytes at the beginning of the file.
        sha256: checksum of the file that belongs to this version.
        what: noun phrase for messages.
    """

    path: str
    magic: bytes
    sha256: str
    what: str

    def numbers(self, data: bytes | None = None) -> bytes:
        """Return the bytes after the magic, of the file or of `data`.

        Raises:
            OSError: the file is missing from the installation.
            TableError: the bytes are not those of this version.
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
    """Tables of the hand evaluators. Tuples by number of cards begin with one card.

    Each set of ranks has a different sum of rank keys. The rank of a hand with sum s is
    ``values[(s >> b) + offsets[s & (2**b - 1)]]`` with the tables and row bits b of its number of cards.

    Attributes:
        rank_keys: keys of the ranks, deuce first.
        row_bits: number of low bits of a sum that select a row, by number of cards.
        offsets: place of each row in `values`, by number of cards.
        values: ranks of hands, by number of cards. The category is in the top four bits.
        flushes: rank of a flush or straight flush by the set of its ranks, 13 bits; 0 for fewer than five ranks.
    """

    # The values of a row are far apart, and the rows are shifted into each other's gaps (row displacement). Low bits
    # look random, so rows selected by them are short and alike; rows selected by high bits need 1.8 times the space.
    rank_keys: tuple[int, ...]
    row_bits: tuple[int, ...]
    offsets: tuple[array[int], ...]
    values: tuple[array[int], ...]
    flushes: array[int]


def load_tables() -> RankTables:
    """Read the tables of the hand evaluators. Needs neither numpy nor a millisecond.

    Raises:
        OSError: the file is missing from the installation.
        TableError: the file is not that of this version.
    """
    # The header has 13 rank keys and, for 1 to 7 cards, the row bits and the number of values. For each number of cards
    # the offsets and the values follow, then the flushes.
    data = HAND_RANKS.numbers()
    header = _HEADER.unpack_from(data)
    row_bits = header[13:20]
    lengths = header[20:]
    words = array("H", data[_HEADER.size :])
    if sys.byteorder == "big":
        words.byteswap()
    offsets = []
    values = []
    start = 0
    for bits, length in zip(row_bits, lengths, strict=True):
        middle = start + (1 << bits)
        end = middle + length
        offsets.append(words[start:middle])
        values.append(words[middle:end])
        start = end
    return RankTables(header[:13], row_bits, tuple(offsets), tuple(values), words[start:])


@cache
def read_preflop(data: bytes | None = None) -> tuple[float, ...]:
    """Read the equities before the flop: win, tie and equity by starting hand and by 1 to 9 opponents.

    Those of starting hand h against n opponents begin at ``3 * (9 * h + n - 1)``. They are exact for one opponent. For
    more they are sampled, with a standard error of at most 0.0005.

    Raises:
        OSError: the file is missing from the installation.
        TableError: the bytes are not those of this version.
    """
    return _PREFLOP_LAYOUT.unpack(PREFLOP.numbers(data))


def read_only(numbers: Numbers) -> Numbers:
    """Make an array read-only, so that it can be cached and shared, and return it."""
    numbers.setflags(write=False)
    return numbers
