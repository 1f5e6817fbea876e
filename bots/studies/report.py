"""The values of a study's report, and its page: figures compared with the printed ones, with verdicts.

    report = Report("The agent", ("It wins.",), (("seed", "1"),), (Section("Winnings", (), (table, chart)),))
    page = format_report(report)

All values are frozen and equal by content. The page is one HTML file that fetches nothing.
"""

from __future__ import annotations

import enum
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, TypeAlias

from logs.document import ABSENT, NAME, TEXT, Column, Table
from logs.page.drawing import MARK, TONES, drawn, plain_number, thinned
from logs.page.templates import page_template

if TYPE_CHECKING:
    from jinja2 import Template


@cache
def printed_figures(name: str) -> dict[str, Any]:
    """The printed figures of a publication, from the file ``NAME_printed.json``."""
    found: dict[str, Any] = json.loads(files("bots.studies").joinpath(f"{name}_printed.json").read_text("utf-8"))
    return found


def with_blocks(page: str, blocks: Mapping[str, str]) -> str:
    """The text of a page with these blocks between their markers, ``<!-- NAME -->`` and ``<!-- end of NAME -->``."""
    for name, block in blocks.items():
        begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
        before, rest = page.split(begin)
        page = f"{before}{begin}{block}{end}{rest.split(end)[1]}"
    return page


def markdown_table(columns: Iterable[str], rows: Iterable[Iterable[str]], *, align: str = "---") -> str:
    """A table of a page; all columns but the first are aligned as given."""
    heads = tuple(columns)
    lines = (heads, ("---", *[align] * (len(heads) - 1)), *rows)
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


class Verdict(enum.Enum):
    """The verdict on a printed figure; its value is its text."""

    REPRODUCED = "reproduced"
    LUCKY = "reproduced only as a lucky maximum"
    NOT_REPRODUCED = "not reproduced"
    REFUTED = "refuted"
    UNDECIDED = "undecided"
    NOT_PRINTED = "not printed"

    @classmethod
    def within(cls, printed: float, ours: float, room: float | None) -> Verdict:
        """The verdict on a figure by a test that can fail either way.

        A figure is reproduced only if the measurement excludes 0 and twice as much. `room` is how far two measurements
        are apart by chance, 0 for exact figures; None, where it is not known, leaves the figure undecided.
        """
        if room is None:
            return cls.UNDECIDED
        if abs(printed - ours) > room:
            return cls.NOT_REPRODUCED
        return cls.REPRODUCED if not room or min(abs(ours), abs(2 * printed - ours)) > room else cls.UNDECIDED


def student_point(freedom: int, tail: float = 0.025) -> float:
    """The point that Student's t exceeds with probability `tail`, to three digits from 4 degrees of freedom on.

    The expansion of Abramowitz and Stegun, 26.7.5.
    """
    z = NormalDist().inv_cdf(1 - tail)
    return (
        z
        + (z**3 + z) / (4 * freedom)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * freedom**3)
        + (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / (92160 * freedom**4)
    )


@dataclass(frozen=True, slots=True)
class Claim:
    """A figure of ours compared with the printed one.

    Attributes:
        quantity: what is measured, with its unit.
        interval: how far it can be trusted, such as ``± 0.3`` or ``0.1 to 0.5``; empty for exact figures.
        printed: empty where the publication prints none.
        why: of the verdict; required unless it is reproduced.

    Raises:
        ValueError: a verdict without a printed figure, a printed figure without verdict, or a reason is missing.
    """

    quantity: str
    ours: str
    interval: str = ""
    printed: str = ""
    verdict: Verdict = Verdict.NOT_PRINTED
    why: str = ""

    def __post_init__(self) -> None:
        if bool(self.printed) is (self.verdict is Verdict.NOT_PRINTED):
            raise ValueError(f"{self.quantity}: a printed figure has a verdict, and nothing else has")
        needs_reason = self.verdict in (Verdict.NOT_REPRODUCED, Verdict.REFUTED, Verdict.UNDECIDED)
        if needs_reason and not self.why:
            raise ValueError(f"{self.quantity}: the reason why it is {self.verdict.value} is missing")

    @classmethod
    def measured(
        cls,
        quantity: str,
        printed: tuple[float, str],
        ours: tuple[float, str],
        room: float | None,
        interval: str,
        reasons: Mapping[Verdict, str],
    ) -> Claim:
        """A claim that `Verdict.within` decides, about two figures and their texts; `reasons` by verdict."""
        verdict = Verdict.within(printed[0], ours[0], room)
        return cls(quantity, ours[1], interval, printed[1], verdict, reasons.get(verdict, ""))

    @classmethod
    def plain(cls, quantity: str, printed: str, ours: str, is_same: bool, why: str, interval: str = "") -> Claim:
        """A claim that a yes or no decides; `why` is the reason of a no."""
        verdict = Verdict.REPRODUCED if is_same else Verdict.NOT_REPRODUCED
        text = "" if is_same else why
        return cls(quantity, ours, interval, printed, verdict, text)


@dataclass(frozen=True, slots=True)
class Claims:
    """A table of comparisons, with a sentence below it, such as what the intervals cover."""

    title: str
    rows: tuple[Claim, ...]
    note: str = ""

    @property
    def view(self) -> Table:
        """As a table; columns that would be empty are left out."""
        columns = (
            Column("", format=TEXT),
            Column("printed", ",", meaning="the published figure"),
            "ours",
            Column("interval", ",", rank=1),
            Column("verdict", format=NAME),
            Column("because", format=TEXT, rank=2),
        )
        rows = [
            (row.quantity, row.printed or ABSENT, row.ours, row.interval, row.verdict.value, row.why)
            for row in self.rows
        ]
        view = Table.of(self.title, columns, rows, self.note)
        return view.with_columns(at for at in range(len(columns)) if at < 3 or any(row[at] for row in rows))


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A line of a chart, dashed where it was printed, expected or drawn by hand; `low` and `high` bound a band."""

    name: str
    xs: tuple[float, ...]
    ys: tuple[float, ...]
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()
    is_dashed: bool = False
    has_dots: bool = False

    def __post_init__(self) -> None:
        if len(self.xs) != len(self.ys) or len(self.low) != len(self.high) or len(self.low) not in (0, len(self.xs)):
            raise ValueError(f"the line {self.name!r} has {len(self.xs)} places and not as many heights or bands")

    @classmethod
    def of(
        cls, name: str, xs: Iterable[float], ys: Iterable[float], half: Iterable[float] | None = None, **how: bool
    ) -> Line:
        """A line through points of any numbers, with a band of some half width around each."""
        heights = tuple(map(float, ys))
        band = () if half is None else tuple(zip(heights, map(float, half), strict=True))
        low, high = tuple(y - width for y, width in band), tuple(y + width for y, width in band)
        return cls(name=name, xs=tuple(map(float, xs)), ys=heights, low=low, high=high, **how)


@dataclass(frozen=True, slots=True)
class LineChart:
    """Lines over an axis of numbers, which `is_log` shows by their logarithms; up to nine have colours of their own."""

    title: str
    x_label: str
    y_label: str
    lines: tuple[Line, ...]
    note: str = ""
    is_log: bool = False


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar of a chart, and its interval if it has one."""

    name: str
    height: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class BarChart:
    """Bars from the left to the right, one below the other, with their intervals."""

    title: str
    label: str
    bars: tuple[Bar, ...]
    note: str = ""


Part: TypeAlias = Table | Claims | LineChart | BarChart


@dataclass(frozen=True, slots=True)
class Section:
    title: str
    sentences: tuple[str, ...] = ()
    parts: tuple[Part, ...] = ()

    @property
    def tables(self) -> tuple[Table, ...]:
        views = (part.view if isinstance(part, Claims) else part for part in self.parts)
        return tuple(view for view in views if isinstance(view, Table))

    @property
    def charts(self) -> tuple[LineChart | BarChart, ...]:
        return tuple(part for part in self.parts if isinstance(part, LineChart | BarChart))


@dataclass(frozen=True, slots=True)
class Report:
    """A report: findings as sentences, settings as pairs of a name and a value, and sections."""

    title: str
    sentences: tuple[str, ...]
    facts: tuple[tuple[str, str], ...]
    sections: tuple[Section, ...]


def format_report(report: Report) -> str:
    return _template().render(data=report)


@cache
def _template() -> Template:
    return page_template("bots.studies/page.html.jinja", drawing=chart_svg, legend=legend)


_BAR_INCHES = 0.22


def legend(chart: LineChart | BarChart) -> tuple[tuple[str, str], ...]:
    """The name and the colour of each line; nothing for bars, which are labelled themselves."""
    if isinstance(chart, BarChart):
        return ()
    return tuple((line.name, TONES[at % len(TONES)]) for at, line in enumerate(chart.lines))


def chart_svg(chart: LineChart | BarChart) -> str:
    if isinstance(chart, LineChart):
        label = f"{chart.title}: {chart.y_label} over {chart.x_label}"
        return drawn(lambda axes: _lines(axes, chart), label)
    height = 0.7 + _BAR_INCHES * len(chart.bars)
    return drawn(lambda axes: _bars(axes, chart), f"{chart.title}: {chart.label}", height=height)


def _lines(axes: Any, chart: LineChart) -> None:
    heights = [y for line in chart.lines for y in (*line.ys, *line.low, *line.high)]
    if heights and min(heights) < 0 < max(heights):
        axes.axhline(0, color=MARK, linewidth=0.6, alpha=0.5)
    for line, (_, colour) in zip(chart.lines, legend(chart), strict=True):
        if line.low:
            xs, low, high = zip(*thinned(list(zip(line.xs, line.low, line.high, strict=True))), strict=True)
            axes.fill_between(xs, low, high, color=colour, alpha=0.18, linewidth=0)
        if line.xs:
            xs, ys = zip(*thinned(list(zip(line.xs, line.ys, strict=True))), strict=True)
            style, marker = "--" if line.is_dashed else "-", "o" if line.has_dots else None
            axes.plot(xs, ys, color=colour, linewidth=1.4, linestyle=style, marker=marker, markersize=3)
    if chart.is_log:
        axes.set_xscale("log")
        axes.minorticks_off()
    else:
        axes.locator_params(axis="x", nbins=5)
    axes.set_xlabel(chart.x_label)
    axes.set_ylabel(chart.y_label)
    axes.xaxis.set_major_formatter(plain_number)
    axes.yaxis.set_major_formatter(plain_number)
    axes.margins(x=0.01)


def _bars(axes: Any, chart: BarChart) -> None:
    places = range(len(chart.bars))
    axes.barh(places, [bar.height for bar in chart.bars], color=TONES[1], height=0.7)
    for place, bar in zip(places, chart.bars, strict=True):
        if bar.low is not None and bar.high is not None:
            axes.plot([bar.low, bar.high], [place, place], color=MARK, linewidth=1.2, marker="|", markersize=5)
    axes.axvline(0, color=MARK, linewidth=0.6, alpha=0.5)
    axes.set_yticks(list(places), [bar.name for bar in chart.bars])
    axes.invert_yaxis()
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel(chart.label)
    axes.xaxis.set_major_formatter(plain_number)
    axes.locator_params(axis="x", nbins=5)
