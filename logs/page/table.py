"""A table as a value, for pages and terminals alike: everything in it is text."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Final

ABSENT: Final = "-"
"""Shown where a figure makes no sense."""


class ColumnKind(enum.Enum):
    """The kind of text in a column, which decides its alignment and how it may be fitted to a width."""

    NAME = enum.auto()
    """A few words, on one line; shortened where nothing else helps."""
    TEXT = enum.auto()
    """Sentences, wrapped between words."""
    NUMBER = enum.auto()
    """A figure with its unit or interval: aligned to the right and never shortened."""
    CODE = enum.auto()
    """Symbols or a command: never shortened or wrapped."""


class Tone(enum.Enum):
    """How a row is to be taken, for colours."""

    PLAIN = enum.auto()
    GOOD = enum.auto()
    DOUBTFUL = enum.auto()
    BAD = enum.auto()
    FAINT = enum.auto()


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table.

    Attributes:
        title: its head.
        meaning: a sentence that explains it; empty where none is needed.
        rank: how dispensable it is: where there is too little room, the columns of the highest rank are left out, all
            of them; those of rank 0 only if shorter texts do not help, from the right.
        is_toned: whether it shows the tones of the rows.
    """

    title: str
    meaning: str = ""
    kind: ColumnKind = ColumnKind.NUMBER
    rank: int = 0
    is_toned: bool = False

    @property
    def is_right(self) -> bool:
        """Whether it is aligned to the right."""
        return self.kind is ColumnKind.NUMBER


@dataclass(frozen=True, slots=True)
class TableView:
    """A table.

    Attributes:
        title: above it.
        rows: a text for each column.
        note: a sentence below it.
        is_open: whether its rows are shown without a click.
        is_grouped: whether rows with the same first cell belong together.
        meanings: a sentence for each row, where the rows need it more than the columns.
        tones: one for each row, or none.
    """

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""
    is_open: bool = True
    is_grouped: bool = False
    meanings: tuple[str, ...] = ()
    tones: tuple[Tone, ...] = ()

    def with_columns(self, kept: Iterable[int]) -> TableView:
        """The table with some of its columns."""
        at = tuple(kept)
        rows = tuple(tuple(row[column] for column in at) for row in self.rows)
        return replace(self, columns=tuple(self.columns[column] for column in at), rows=rows)

    def without_empty(self) -> TableView:
        """The table without the columns in which no row has a figure or a word, unless it has no rows."""
        is_absent = [{row[at] for row in self.rows} <= {"", ABSENT} for at in range(len(self.columns))]
        return self.with_columns(at for at, absent in enumerate(is_absent) if not absent) if self.rows else self


def sheet(
    title: str, columns: Iterable[str | Column], rows: Iterable[Iterable[str]], note: str = "", **more: Any
) -> TableView:
    """A table; a column that is only a title holds names if it is the first, otherwise numbers."""
    whole = tuple(
        column if isinstance(column, Column) else Column(column, kind=ColumnKind.NUMBER if at else ColumnKind.NAME)
        for at, column in enumerate(columns)
    )
    return TableView(title, whole, tuple(map(tuple, rows)), note, **more)
