"""What a report is made of: frozen values, equal by content.

A report has sections; a section has sentences, then tables and charts in the order given.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TypeAlias

from logs.page.table import ABSENT, TableView

__all__ = [
    "Bar",
    "BarChart",
    "Comparison",
    "Comparisons",
    "Line",
    "LineChart",
    "Part",
    "Report",
    "Section",
    "Verdict",
]


class Verdict(enum.Enum):
    """What became of a printed figure; its value is how people read it."""

    REPRODUCED = "reproduced"
    LUCKY = "reproduced only as a lucky maximum"
    NOT_REPRODUCED = "not reproduced"
    UNDECIDED = "undecided"
    NOT_PRINTED = "not printed"

    @classmethod
    def within(cls, printed: float, ours: float, room: float | None) -> Verdict:
        """The verdict on a figure by the distance that chance explains.

        Undecided where that distance is not known, or as large as the figure itself: then a figure of 0, or of twice
        as much, could not be told from the printed one either.

        Args:
            printed: the figure of the work.
            ours: the same, as measured here.
            room: how far two measurements lie from each other by chance.
        """
        if room is None:
            return cls.UNDECIDED
        if abs(printed - ours) > room:
            return cls.NOT_REPRODUCED
        return cls.REPRODUCED if room < abs(printed) or not room else cls.UNDECIDED


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A figure of ours beside the printed one.

    Attributes:
        quantity: what is measured, with its unit.
        ours: the figure.
        interval: how far it can be trusted, such as ``± 0.3`` or ``0.1 to 0.5``; empty for exact figures.
        printed: the work's figure; empty where it prints none.
        verdict: on the work's figure.
        why: of the verdict; one that says "not reproduced" or "undecided" has to say it.
    """

    quantity: str
    ours: str
    interval: str = ""
    printed: str = ""
    verdict: Verdict = Verdict.NOT_PRINTED
    why: str = ""

    def __post_init__(self) -> None:
        """Check that a verdict stands on something.

        Raises:
            ValueError: a verdict on nothing, or none on a printed figure, or one without its reason.
        """
        if bool(self.printed) is (self.verdict is Verdict.NOT_PRINTED):
            raise ValueError(f"{self.quantity}: a printed figure has a verdict, and nothing else has")
        if self.verdict in (Verdict.NOT_REPRODUCED, Verdict.UNDECIDED) and not self.why:
            raise ValueError(f"{self.quantity}: it is not said why it is {self.verdict.value}")


@dataclass(frozen=True, slots=True)
class Comparisons:
    """A table of comparisons.

    Attributes:
        title: above it.
        rows: in the order shown.
        note: a sentence below it, such as what the intervals cover.
    """

    title: str
    rows: tuple[Comparison, ...]
    note: str = ""

    @property
    def view(self) -> TableView:
        """As a table; columns that would be empty are left out."""
        heads = (("", ""), ("printed", "the figure of the work"), ("ours", ""), ("interval", ""), ("verdict", ""))
        rows = [
            (row.quantity, row.printed or ABSENT, row.ours, row.interval, row.verdict.value, row.why)
            for row in self.rows
        ]
        kept = [at for at in range(6) if at < 3 or any(row[at] for row in rows)]
        return TableView(
            self.title,
            tuple((*heads, ("because", ""))[at] for at in kept),
            tuple(tuple(row[at] for at in kept) for row in rows),
            self.note,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A line of a chart.

    Attributes:
        name: what it is.
        xs: where its points lie.
        ys: how high, as many as `xs`.
        low: the lower end of the band around each point; empty without a band.
        high: the upper end.
        is_dashed: whether it is dashed, as what was printed, expected or drawn by hand should be.
        has_dots: whether its points are shown.
    """

    name: str
    xs: tuple[float, ...]
    ys: tuple[float, ...]
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()
    is_dashed: bool = False
    has_dots: bool = False

    def __post_init__(self) -> None:
        """Check the lengths.

        Raises:
            ValueError: they do not fit.
        """
        if len(self.xs) != len(self.ys) or len(self.low) != len(self.high) or len(self.low) not in (0, len(self.xs)):
            raise ValueError(f"the line {self.name!r} has {len(self.xs)} places and not as many heights or bands")


@dataclass(frozen=True, slots=True, kw_only=True)
class LineChart:
    """Lines over an axis of numbers.

    Attributes:
        title: above it.
        x_label: what the places are, with the unit.
        y_label: what the heights are, with the unit.
        lines: up to nine have colours of their own.
        note: a sentence below it.
        is_log: whether the places are shown by their logarithms.
    """

    title: str
    x_label: str
    y_label: str
    lines: tuple[Line, ...]
    note: str = ""
    is_log: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """A bar of a chart.

    Attributes:
        name: whose it is.
        height: how long it is.
        low: the lower end of its interval; None without one.
        high: the upper end.
    """

    name: str
    height: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BarChart:
    """Bars from the left to the right, one below the other, with their intervals.

    Attributes:
        title: above it.
        label: what the heights are, with the unit.
        bars: from the top.
        note: a sentence below it.
    """

    title: str
    label: str
    bars: tuple[Bar, ...]
    note: str = ""


Part: TypeAlias = TableView | Comparisons | LineChart | BarChart


@dataclass(frozen=True, slots=True)
class Section:
    """A section of a report.

    Attributes:
        title: above it.
        sentences: what it shows, in words.
        parts: tables and charts.
    """

    title: str
    sentences: tuple[str, ...] = ()
    parts: tuple[Part, ...] = ()

    @property
    def tables(self) -> tuple[TableView, ...]:
        """Its tables, comparisons among them."""
        views = (part.view if isinstance(part, Comparisons) else part for part in self.parts)
        return tuple(view for view in views if isinstance(view, TableView))

    @property
    def charts(self) -> tuple[LineChart | BarChart, ...]:
        """Its charts."""
        return tuple(part for part in self.parts if isinstance(part, LineChart | BarChart))


@dataclass(frozen=True, slots=True)
class Report:
    """A report.

    Attributes:
        title: of the page.
        sentences: what was found, in words; they come first.
        facts: what was played: pairs of a name and a value.
        sections: in the order shown.
    """

    title: str
    sentences: tuple[str, ...]
    facts: tuple[tuple[str, str], ...]
    sections: tuple[Section, ...]
