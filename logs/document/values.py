"""Results as values. A command, page or study builds a document once, and renderers show it in every medium.

    rate = Estimate(12.5, 3.0)
    table = Table.of("Winnings", ("player", Column("won", "+,.1f", "mbb/g")), (("mfs", rate), ("rh", -rate)))
    document = Document("mfs against rh", ("mfs wins.",), (Fact("seed", 1),), (Section("Winnings", (table,)),))

Figures are numbers or `Estimate`s, never text. The column, axis or fact that contains them has their format.
"""

from __future__ import annotations

import enum
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache
from typing import Any, Final, TypeAlias

from engine import STARTING_HANDS
from engine.text import duration, shown
from logs.estimation import Estimate
from logs.estimation.mean import chips_text
from logs.record import HandRecord

ABSENT: Final = "-"
"""Shown in place of a figure that does not exist."""


class Tone(enum.Enum):
    """Judgement of a value, shown as a colour."""

    GOOD = enum.auto()
    DOUBTFUL = enum.auto()
    BAD = enum.auto()
    FAINT = enum.auto()


@dataclass(frozen=True, slots=True)
class Link:
    """A value with an address, which only pages show.

    Attributes:
        label: text for screen readers, if the value alone says too little.
    """

    value: Value
    path: str
    label: str = ""


@dataclass(frozen=True, slots=True)
class Toned:
    value: Value
    tone: Tone | None


@dataclass(frozen=True, slots=True)
class Marked:
    """A line with a mark below one of its characters.

    Attributes:
        column: index of the character; the length of the line if something is missing at its end.
        label: text beside the mark.
    """

    value: str
    column: int
    label: str


Shares: TypeAlias = Mapping[str, float]
"""Probabilities of a player's actions, the likeliest first."""
Value: TypeAlias = "str | int | float | Estimate | Shares | Link | Toned | Marked | tuple[Value, ...] | None"
"""Content of a cell or a fact."""


class Format(enum.Enum):
    """Kinds of values that no format specification of Python expresses.

    Attributes:
        NAME: a few words on one line, shortened only if nothing else helps.
        TEXT: sentences, wrapped between words.
        CODE: symbols or a command, never shortened or wrapped.
        CARDS: cards in the form of `Game.shown_cards`, with blanks between; pages draw them.
        TIME: seconds, in s, ms or µs.
        DURATION: whole seconds.
        DATE: seconds since 1970, in UTC.
        CHIPS: signed, with at most two decimals.
        DIGITS: three digits, never an exponent.
    """

    NAME = enum.auto()
    TEXT = enum.auto()
    CODE = enum.auto()
    CARDS = enum.auto()
    TIME = enum.auto()
    DURATION = enum.auto()
    DATE = enum.auto()
    CHIPS = enum.auto()
    DIGITS = enum.auto()


NAME: Final = Format.NAME
TEXT: Final = Format.TEXT
CODE: Final = Format.CODE
CARDS: Final = Format.CARDS
TIME: Final = Format.TIME
DURATION: Final = Format.DURATION
DATE: Final = Format.DATE
CHIPS: Final = Format.CHIPS
DIGITS: Final = Format.DIGITS

WORDS: Final = (NAME, TEXT, CODE, CARDS)

Spec: TypeAlias = Format | str
"""A kind of value, or the format specification of a number."""


def is_signed(spec: Spec) -> bool:
    """Return whether a format marks its figures as winnings."""
    return isinstance(spec, str) and spec.startswith("+")


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table.

    Attributes:
        format: one of `WORDS`, or the format of figures, which are aligned to the right and never shortened.
            A ``+`` marks winnings, which are coloured.
        unit: unit of the figures.
        meaning: a sentence that explains the column.
        rank: order of leaving out columns that do not fit, the highest rank first. Columns of rank 0 are left out
            from the right, and only if shorter texts do not help.
        is_drawn: draw the interval of each figure beside it on pages, all on one scale.
        is_brief: show only the mean of each figure on pages, and its interval as a hint.
    """

    title: str
    format: Spec = NAME
    unit: str = ""
    meaning: str = ""
    rank: int = 0
    is_drawn: bool = False
    is_brief: bool = False

    @property
    def heading(self) -> str:
        return shown(f"{self.title} {self.unit}".strip())

    @property
    def is_words(self) -> bool:
        return self.format in WORDS


@dataclass(frozen=True, slots=True)
class Table:
    """Rows and columns.

    Attributes:
        note: a sentence below the table.
        meanings: a sentence for each row, in place of the columns'; may be empty.
        formats: formats of the figures in each row, in place of the columns'; may be empty.
        is_open: show the rows on pages without a click.
        is_grouped: rows with the same first cell belong together.
    """

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Value, ...], ...]
    note: str = ""
    meanings: tuple[str, ...] = ()
    formats: tuple[Spec, ...] = ()
    is_open: bool = True
    is_grouped: bool = False

    @classmethod
    def of(
        cls,
        title: str,
        columns: Iterable[str | Column],
        rows: Iterable[Iterable[Value]],
        note: str = "",
        **more: Any,
    ) -> Table:
        """Make a table. A column given as a title contains names if it is the first, else numbers."""
        table_columns: list[Column] = []
        for column in columns:
            if isinstance(column, Column):
                table_columns.append(column)
            elif not table_columns:
                table_columns.append(Column(column, NAME))
            else:
                table_columns.append(Column(column, ","))
        return cls(title, tuple(table_columns), tuple(map(tuple, rows)), note, **more)

    @property
    def texts(self) -> list[list[str]]:
        """Texts of the cells, by row."""
        texts: list[list[str]] = []
        for number, row in enumerate(self.rows):
            cells = zip(row, self.columns, strict=True)
            texts.append([text_of(value, self.format_of(number, column)) for value, column in cells])
        return texts

    def format_of(self, row: int, column: Column) -> Spec:
        if self.formats and not column.is_words:
            return self.formats[row]
        return column.format

    def with_columns(self, kept: Iterable[int]) -> Table:
        """Return the table with some of its columns."""
        indices = tuple(kept)
        columns = tuple([self.columns[index] for index in indices])
        rows = [tuple([row[index] for index in indices]) for row in self.rows]
        return replace(self, columns=columns, rows=tuple(rows))

    def without_empty(self) -> Table:
        """Return the table without columns of empty cells, unless it has no rows."""
        if not self.rows:
            return self
        kept: list[int] = []
        for index in range(len(self.columns)):
            if any(plain_value(row[index]) not in ("", None, ABSENT) for row in self.rows):
                kept.append(index)
        return self.with_columns(kept)


@dataclass(frozen=True, slots=True)
class Axis:
    title: str
    unit: str = ""
    is_log: bool = False

    @property
    def heading(self) -> str:
        if self.unit:
            return f"{self.title}, {self.unit}"
        return self.title


@dataclass(frozen=True, slots=True)
class Series:
    """A line in a chart.

    Attributes:
        half_widths: half widths of the interval at each point, None for a point without one; may be empty.
        is_dashed: the figures were published, expected or computed another way.
    """

    name: str
    xs: tuple[float, ...]
    ys: tuple[float, ...]
    half_widths: tuple[float | None, ...] = ()
    is_dashed: bool = False
    has_dots: bool = False

    def __post_init__(self) -> None:
        if len(self.xs) != len(self.ys) or len(self.half_widths) not in (0, len(self.xs)):
            raise ValueError(f"{self.name!r} has {len(self.xs)} x values and another number of y values or intervals")


@dataclass(frozen=True, slots=True)
class Chart:
    """Lines over an axis of numbers.

    Attributes:
        marks: named places on the x axis, such as the end of a phase.
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
    is_open: bool = False


@dataclass(frozen=True, slots=True)
class Fact:
    """A name and a value, such as a setting or a count.

    Attributes:
        format: as in a `Column`.
    """

    name: str
    value: Value
    format: Spec = ","
    unit: str = ""

    @property
    def text(self) -> str:
        return f"{text_of(self.value, self.format)} {self.unit}".strip()


@dataclass(frozen=True, slots=True)
class Particulars:
    """Facts in a list. Those of the format `CODE` are lines of a conversation, which are cut at the same place."""

    title: str
    facts: tuple[Fact, ...]
    tone: Tone | None = None


# The colours are also distinct on terminals of sixteen colours.
_FOLD: Final = (176, 176, 184)
_CALL: Final = (100, 190, 110)
_SMALLEST_RAISE: Final = (242, 214, 120)
_LARGEST_RAISE: Final = (222, 92, 72)
_PURE: Final = 1 - 1e-9

Colour: TypeAlias = tuple[int, ...]
"""Red, green and blue, 0 to 255."""


@dataclass(frozen=True, slots=True)
class HandGrid:
    """A player's actions with each starting hand of hold'em, as a square with aces first and suited hands on top.

    Attributes:
        hands: by `engine.STARTING_HANDS`.
        actions: all actions that occur, from the most passive to the most aggressive. Names that begin with ``f`` are
            folds, with ``c`` and ``k`` calls and checks, all others raises.
    """

    title: str
    hands: tuple[Shares, ...]
    actions: tuple[str, ...]
    note: str = ""

    @property
    def rows(self) -> list[list[tuple[str, Shares]]]:
        """Names and actions of the hands, by row of the square."""
        hands = list(zip(STARTING_HANDS, self.hands, strict=True))[::-1]
        return [hands[start : start + 13] for start in range(0, 169, 13)]

    @property
    def mixed(self) -> dict[str, Shares]:
        """Hands with more than one action, by name."""
        mixed: dict[str, Shares] = {}
        for hand, shares in zip(STARTING_HANDS, self.hands, strict=True):
            if max(shares.values()) <= _PURE:
                mixed[hand] = shares
        return mixed

    @property
    def heading(self) -> str:
        """The title, and for each action the number of hands that always take it."""
        counts: Counter[str] = Counter()
        for shares in self.hands:
            if max(shares.values()) <= _PURE:
                counts["mixed"] += 1
            else:
                counts[next(iter(shares))] += 1
        ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        counts_text = ", ".join(f"{count} {action}" for action, count in ordered)
        return f"{self.title}: {counts_text}"

    @property
    def colours(self) -> dict[str, Colour]:
        """Colours of the actions. Larger raises are redder."""
        colours: dict[str, Colour] = {}
        raises: list[str] = []
        for action in self.actions:
            colours[action] = _CALL
            if action[0] == "f":
                colours[action] = _FOLD
            elif action[0] not in "ck":
                raises.append(action)
        for index, action in enumerate(raises):
            part = index / max(1, len(raises) - 1)
            channels = zip(_SMALLEST_RAISE, _LARGEST_RAISE, strict=True)
            colours[action] = tuple([round(low + part * (high - low)) for low, high in channels])
        return colours

    def word(self, hand: Shares) -> str:
        """Return the likeliest action, with a star if it is not the only one."""
        action = next(iter(hand))
        if len(hand) > 1:
            return f"{action}*"
        return action


Part: TypeAlias = str | Table | Chart | Bars | Replay | HandGrid | Particulars
"""Part of a section; a string is a sentence."""


@dataclass(frozen=True, slots=True)
class Section:
    title: str
    parts: tuple[Part, ...]
    is_open: bool = True


@dataclass(frozen=True, slots=True)
class Document:
    """A result to be shown.

    Attributes:
        sentences: findings, the most important first.
        notes: remarks about the output, which a terminal prints to standard error.
        data: typed value that the document presents, which JSON contains in place of the document; may be None.
    """

    title: str
    sentences: tuple[str, ...] = ()
    facts: tuple[Fact, ...] = ()
    sections: tuple[Section, ...] = ()
    notes: tuple[str, ...] = ()
    data: Any = None


def plain_value(value: Value) -> str | int | float | Estimate | Shares | tuple[Value, ...] | None:
    """Return a value without its address, tone and mark."""
    while isinstance(value, Link | Toned | Marked):
        value = value.value
    return value


def tone_of(value: Value, spec: Spec) -> Tone | None:
    """Return the tone of a cell, its own or that of winnings beyond chance."""
    while isinstance(value, Link):
        value = value.value
    if isinstance(value, Toned):
        return value.tone
    if not isinstance(value, Estimate) or not is_signed(spec):
        return None
    half_width = value.decisive_half_width
    if half_width is None or abs(value.mean) <= half_width:
        return None
    if value.mean > 0:
        return Tone.GOOD
    return Tone.BAD


def text_of(value: Value, spec: Spec = ",") -> str:
    """Format a value as text."""
    match plain_value(value):
        case None:
            if spec in WORDS:
                return ""
            return ABSENT
        case str(text):
            return shown(text)
        case tuple(values):
            return ", ".join(text_of(item, spec) for item in values)
        case Estimate(mean, half_width):
            text = figure(mean, spec)
            if half_width is None:
                return text
            unsigned = spec
            if isinstance(spec, str):
                unsigned = spec.replace("+", "")
            return f"{text} ± {figure(half_width, unsigned)}"
        case Mapping() as shares:
            return _shares_text(shares)
        case number:
            return figure(number, spec)


def _shares_text(shares: Shares) -> str:
    texts: list[str] = []
    for action, share in shares.items():
        if share > _PURE:
            texts.append(action)
        elif share:
            texts.append(f"{action} {share:.4f}")
    return ", ".join(texts)


def figure(value: float, spec: Spec) -> str:
    """Format a number as text."""
    match spec:
        case Format.TIME:
            return _time_text(value)
        case Format.DURATION:
            return duration(value)
        case Format.DATE:
            return f"{datetime.fromtimestamp(value, UTC):%Y-%m-%d %H:%M}"
        case Format.DIGITS:
            return _three_digits(value)
        case Format.CHIPS:
            return chips_text(value)
        case Format():
            return str(value)
    if isinstance(value, int):
        return f"{value:{spec}}"
    decimals = _decimals(spec)
    if decimals is not None:
        # Two sides of one sum can differ in the last bit, which must not print 388 for one and -389 for the other.
        value = round(value, decimals + 5)
    # The option z, behind the sign, leaves no negative zero.
    if "+" in spec:
        return format(value, spec.replace("+", "+z", 1))
    return format(value, f"z{spec}")


def _time_text(seconds: float) -> str:
    if abs(seconds) >= 1:
        return f"{_three_digits(seconds)} s"
    if abs(seconds) >= 1e-3:
        return f"{_three_digits(seconds / 1e-3)} ms"
    return f"{_three_digits(seconds / 1e-6)} µs"


@cache
def _decimals(spec: str) -> int | None:
    match = re.search(r"\.(\d+)[f%]$", spec)
    if match is None:
        return None
    return int(match[1])


def _three_digits(number: float) -> str:
    """Format a number of 0 or more with at least three digits and no exponent, as ``0.0421`` or ``6,250``."""
    if number >= 100:
        return f"{number:,.0f}"
    if number:
        number = max(number, 1e-4)
    return f"{number:.3g}"
