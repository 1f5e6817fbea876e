"""A result as a value: a command, a page or a study builds it once, and every medium shows it.

    rate = Estimate(12.5, 3.0)
    table = Table("Winnings", (Column("player"), Column("won", "+,.1f", unit="mbb/g")), (("mfs", rate), ("rh", -rate)))
    document = Document("mfs against rh", ("mfs wins.",), (Fact("seed", 1),), (Section("Winnings", (table,)),))

Figures are numbers or `Estimate`s, never text; the column, axis or fact they belong to has their format. The renderers
are beside this module: `terminal`, `page` (HTML, with `chart` for SVG) and `plain` (JSON, Markdown, CSV).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias

from engine.text import shown
from logs.estimation import Estimate
from logs.record import HandRecord

ABSENT: Final = "-"
"""Shown in place of a figure that does not exist."""


@dataclass(frozen=True, slots=True)
class Link:
    """A value with the address of what is behind it, which only pages show.

    Attributes:
        label: for screen readers, where the value alone says too little.
    """

    value: Value
    path: str
    label: str = ""


Value: TypeAlias = str | int | float | Estimate | Link | None
"""What a cell or a fact contains: a name or sentence, a number, a mean with its interval, or nothing."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table.

    Attributes:
        format: of its figures: a format specification, or a name of `text_of`; empty for words. A ``+`` marks winnings,
            which pages colour.
        unit: of its figures.
        meaning: a sentence that explains it.
        rank: how dispensable it is: where there is too little room, columns of the highest rank are left out first;
            those of rank 0 never are.
    """

    title: str
    format: str = ""
    unit: str = ""
    meaning: str = ""
    rank: int = 0

    @property
    def heading(self) -> str:
        return f"{self.title} {self.unit}".strip()


@dataclass(frozen=True, slots=True)
class Table:
    """Rows and columns.

    Attributes:
        note: a sentence below it.
        meanings: a sentence for each row, where rows need it more than columns; may be empty.
        is_open: whether pages show its rows without a click.
        is_grouped: whether rows with the same first cell belong together.
    """

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Value, ...], ...]
    note: str = ""
    meanings: tuple[str, ...] = ()
    is_open: bool = True
    is_grouped: bool = False

    @property
    def texts(self) -> list[list[str]]:
        """The texts of all cells."""
        return [
            [text_of(value, column.format) for value, column in zip(row, self.columns, strict=True)]
            for row in self.rows
        ]

    def without_empty(self) -> Table:
        """The table without the columns in which no row has a value."""
        kept = [at for at in range(len(self.columns)) if any(row[at] not in (None, "") for row in self.rows)]
        columns = tuple(self.columns[at] for at in kept)
        rows = tuple(tuple(row[at] for at in kept) for row in self.rows)
        return replace(self, columns=columns, rows=rows)


@dataclass(frozen=True, slots=True)
class Axis:
    title: str
    unit: str = ""
    is_log: bool = False

    @property
    def heading(self) -> str:
        return f"{self.title}, {self.unit}" if self.unit else self.title


@dataclass(frozen=True, slots=True)
class Series:
    """A line of a chart.

    Attributes:
        half_widths: of the interval at each point; None where there is none; empty without any.
        is_dashed: for what was printed, expected or computed another way.
    """

    name: str
    xs: tuple[float, ...]
    ys: tuple[float, ...]
    half_widths: tuple[float | None, ...] = ()
    is_dashed: bool = False
    has_dots: bool = False

    def __post_init__(self) -> None:
        if len(self.xs) != len(self.ys) or len(self.half_widths) not in (0, len(self.xs)):
            raise ValueError(f"{self.name!r} has {len(self.xs)} places and not as many heights or intervals")


@dataclass(frozen=True, slots=True)
class Chart:
    """Lines over an axis of numbers.

    Attributes:
        marks: places on the x axis with a name, such as the end of a phase.
    """

    title: str
    x: Axis
    y: Axis
    series: tuple[Series, ...]
    note: str = ""
    marks: tuple[tuple[float, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Bars:
    """Named figures with their intervals, one below the other."""

    title: str
    axis: Axis
    bars: tuple[tuple[str, Estimate], ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Replay:
    """A finished hand, shown step by step."""

    title: str
    record: HandRecord


Part: TypeAlias = str | Table | Chart | Bars | Replay
"""A sentence, or something drawn."""


@dataclass(frozen=True, slots=True)
class Section:
    title: str
    parts: tuple[Part, ...]
    is_open: bool = True


@dataclass(frozen=True, slots=True)
class Fact:
    """A name and a value, such as a setting or a count; `format` as of a `Column`."""

    name: str
    value: Value
    format: str = ","
    unit: str = ""

    @property
    def text(self) -> str:
        return f"{text_of(self.value, self.format)} {self.unit}".strip()


@dataclass(frozen=True, slots=True)
class Document:
    """A result.

    Attributes:
        sentences: what was found, the most important first.
        notes: remarks about the output; a terminal prints them to standard error.
        data: the value that the document presents, if it has a type of its own, which JSON contains in its place.
    """

    title: str
    sentences: tuple[str, ...] = ()
    facts: tuple[Fact, ...] = ()
    sections: tuple[Section, ...] = ()
    notes: tuple[str, ...] = ()
    data: Any = None


def text_of(value: Value, spec: str = ",") -> str:
    """A value as text.

    Args:
        spec: a format specification, or ``time`` (seconds), ``chips`` (signed, at most two decimals) or ``digits``
            (three digits, never an exponent).
    """
    match value:
        case None:
            return ABSENT if spec else ""
        case str():
            return shown(value)
        case Link():
            return text_of(value.value, spec)
        case Estimate():
            mean = figure(value.mean, spec)
            return mean if value.half_width is None else f"{mean} ± {figure(value.half_width, spec.replace('+', ''))}"
        case _:
            return figure(value, spec)


_TIMES: Final = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"))


def figure(value: float, spec: str) -> str:
    """A number as text, as `text_of` has it. Rounding leaves no negative zero."""
    if spec == "time":
        factor, unit = next((one for one in _TIMES if abs(value) >= one[0]), _TIMES[-1])
        return f"{three_digits(value / factor)} {unit}"
    if spec == "digits":
        return three_digits(value)
    if spec == "chips":
        return f"{round(value, 6):+z,.2f}".removesuffix(".00")
    if isinstance(value, int):
        return f"{value:{spec}}"
    decimals = re.search(r"\.(\d+)[f%]$", spec)
    if decimals is not None:
        # Two sides of one sum can differ in the last bit, which must not print 388 for one and -389 for the other.
        value = round(value, int(decimals[1]) + 5)
    return f"{value:{spec.replace('+', '+z', 1) if '+' in spec else 'z' + spec}}"


def three_digits(number: float) -> str:
    """A number of 0 or more with at least three digits and never an exponent: ``0.0421``, ``6,250``."""
    if number >= 100:
        return f"{number:,.0f}"
    return f"{max(number, 1e-4) if number else 0:.3g}"
