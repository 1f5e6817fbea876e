"""Table files of the package; tests of each table compare its numbers."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.duels import DUELS, ROWS
from engine.errors import TableError
from engine.matchups import MATCHUPS, read
from engine.tables import HAND_RANKS, PREFLOP, TableFile, read_preflop


@pytest.mark.parametrize("table", [HAND_RANKS, PREFLOP, MATCHUPS, DUELS], ids=lambda table: Path(table.path).stem)
def test_damaged_files_are_refused(table: TableFile) -> None:
    data = Path(table.path).read_bytes()
    assert table.magic + table.numbers() == data
    flipped = bytearray(data)
    flipped[5000] ^= 1
    for damaged in (b"", data[:50], b"x" + data[1:], data[:-4], data + b"\0" * 4, bytes(flipped)):
        with pytest.raises(TableError, match=f"^the table of {table.what} is damaged or of another version; reinstall"):
            table.numbers(damaged)


def test_readers_check_the_file() -> None:
    for read_table in (read, read_preflop):
        with pytest.raises(TableError):
            read_table(b"")


def test_sizes_of_files() -> None:
    assert Path(HAND_RANKS.path).stat().st_size <= 250_000
    assert Path(DUELS.path).stat().st_size == len(DUELS.magic) + 8 * ROWS
