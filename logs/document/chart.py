"""Draw charts as SVG: lines with bands, bars with whiskers, and squares of starting hands.

Colours are those of the page's style sheet, except for the actions of starting hands. Points show their values as
hints, and each chart has a description for screen readers. Text is not measured, so equal charts are equal bytes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import Final, TypeAlias, TypeVar

from logs.document.values import Axis, Bars, Chart, HandGrid, Series, text_of
from logs.estimation import Estimate

_WIDTH: Final = 480
_HEIGHT: Final = 260
_RIGHT: Final = 14
_TOP: Final = 14
_BOTTOM: Final = 46
_BAR_HEIGHT: Final = 24
_MAX_LETTER_WIDTH: Final = 7.2
_MAX_POINTS: Final = 300
"""Points of a line; more cannot be told apart on a screen."""
_MAX_HINTS: Final = 25
"""Points of a line that show their values; more would cover each other."""
_COLOURS: Final = 10
"""Number of colours of series in the style sheet."""

_Item = TypeVar("_Item")
_Point: TypeAlias = tuple[float, float, float | None]
"""Place on both axes, and half width of the interval."""


class _Scale:
    """Map from the values of an axis to coordinates between `start` and `end`, where values beyond them are drawn."""

    def __init__(self, values: Iterable[float], axis: Axis, start: float, end: float, margin: float = 0.0) -> None:
        self.axis = axis
        self._start = start
        self._end = end
        drawable = [value for value in values if not axis.is_log or value > 0] or [1.0]
        self._low = self._along(min(drawable))
        self._high = self._along(max(drawable))
        spread = self._high - self._low
        self._low -= margin * spread
        self._high += margin * spread
        if not spread:
            self._high += 1.0
        self._factor = (end - start) / (self._high - self._low)

    def __call__(self, value: float) -> float:
        if self.axis.is_log and value <= 0:
            return self._start
        along = self._along(value)
        if along <= self._low:
            return self._start
        if along >= self._high:
            return self._end
        return self._start + self._factor * (along - self._low)

    @property
    def ends(self) -> tuple[float, float]:
        if self.axis.is_log:
            return (10.0**self._low, 10.0**self._high)
        return (self._low, self._high)

    @property
    def ticks(self) -> list[float]:
        return ticks(*self.ends, is_log=self.axis.is_log)

    def _along(self, value: float) -> float:
        if self.axis.is_log:
            return math.log10(value)
        return float(value)


def chart_svg(chart: Chart | Bars | HandGrid) -> str:
    """Return an ``<svg>`` element; empty for a chart without points."""
    if isinstance(chart, HandGrid):
        return _square(chart)
    if isinstance(chart, Bars):
        return _bars(chart)
    return _lines(chart)


def thinned(points: Sequence[_Item], max_points: int = _MAX_POINTS) -> list[_Item]:
    """Return about `max_points` of the points at regular distances, with the first and the last."""
    step = math.ceil(len(points) / max_points) or 1
    kept = list(points[::step])
    if (len(points) - 1) % step:
        kept += points[-1:]
    return kept


def ticks(low: float, high: float, *, is_log: bool = False, max_ticks: int = 5) -> list[float]:
    """Return round numbers from `low` to `high`, about `max_ticks` of them.

    They are multiples of 1, 2 or 5 times a power of 10, or powers of 10 on a log axis.
    """
    if is_log:
        first = math.ceil(math.log10(low) - 1e-9)
        last = math.floor(math.log10(high) + 1e-9)
        exponent_step = math.ceil((last - first + 1) / max_ticks) or 1
        return [10.0**exponent for exponent in range(first, last + 1, exponent_step)]
    min_step = (high - low) / max_ticks
    power: float = 10.0 ** math.floor(math.log10(min_step))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= min_step)
    return [step * number for number in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]


def _lines(chart: Chart) -> str:
    all_series = [series for series in chart.series if series.xs]
    if not all_series:
        return ""
    xs: list[float] = []
    ys: list[float] = []
    for series in all_series:
        xs += series.xs
        ys += series.ys
        # Only the last interval counts: the band of the first points is wide and without information, so it is cut off
        # at the edge of the chart.
        last = _last_value(series)
        half_width = last.half_width or 0.0
        ys += (last.mean - half_width, last.mean + half_width)
    if not chart.y.is_log:
        ys.append(0.0)
    y = _Scale(ys, chart.y, _HEIGHT - _BOTTOM, _TOP, 0.05)
    max_letters = max((len(f"{tick:,.6g}") for tick in y.ticks), default=0)
    x = _Scale(xs, chart.x, 30 + _MAX_LETTER_WIDTH * max_letters, _WIDTH - _RIGHT)
    parts = [*_frame(x, y, _HEIGHT)]
    for place, name in chart.marks:
        parts.append(
            f'<line class="mark" x1="{x(place):.1f}" x2="{x(place):.1f}" y1="{_TOP}" y2="{_HEIGHT - _BOTTOM}"/>'
        )
        parts.append(f'<text x="{x(place) + 4:.1f}" y="{_TOP + 10}">{escape(name)}</text>')
    # The first line is the most important, so it is drawn last, above the others.
    for number, series in reversed([*enumerate(all_series)]):
        parts += _line(series, number % _COLOURS, x, y, chart)
    ends: list[str] = []
    for series in all_series:
        ends.append(f"{series.name}: {text_of(_last_value(series), ',.6g')} at {series.xs[-1]:,.6g}")
    return _svg(f"{chart.title}: {chart.y.heading} over {chart.x.heading}. {'; '.join(ends)}", _HEIGHT, parts)


def _line(series: Series, number: int, x: _Scale, y: _Scale, chart: Chart) -> list[str]:
    half_widths = series.half_widths or (None,) * len(series.xs)
    points = thinned(list(zip(series.xs, series.ys, half_widths, strict=True)))
    parts = _band(points, number, x, y)
    style = f"net p{number}"
    if series.is_dashed:
        style += " dashed"
    path = _path([(place, height) for place, height, _ in points], x, y)
    parts.append(f'<polyline class="{style}" points="{path}"><title>{escape(series.name)}</title></polyline>')
    # Points without dots are invisible circles, large enough to be hovered over.
    dot_style = f"dot p{number}" if series.has_dots else "hint"
    radius = 3.5 if series.has_dots else 8
    for place, height, half_width in thinned(points, _MAX_HINTS):
        value = text_of(Estimate(height, half_width), ",.6g")
        hint = f"{series.name}, {chart.x.title} {place:,.6g}: {value} {chart.y.unit}"
        parts.append(
            f'<circle class="{dot_style}" cx="{x(place):.1f}" cy="{y(height):.1f}" r="{radius}">'
            f"<title>{escape(hint.strip())}</title></circle>"
        )
    return parts


def _band(points: Sequence[_Point], number: int, x: _Scale, y: _Scale) -> list[str]:
    """Return the polygon of the intervals, if at least two points have one."""
    upper: list[tuple[float, float]] = []
    lower: list[tuple[float, float]] = []
    for place, height, half_width in points:
        if half_width is not None:
            upper.append((place, height + half_width))
            lower.append((place, height - half_width))
    if len(upper) < 2:
        return []
    outline = _path([*upper, *reversed(lower)], x, y)
    return [f'<polygon class="band p{number}" points="{outline}"/>']


def _last_value(series: Series) -> Estimate:
    half_width = None
    if series.half_widths:
        half_width = series.half_widths[-1]
    return Estimate(series.ys[-1], half_width)


def _bars(chart: Bars) -> str:
    if not chart.bars:
        return ""
    max_letters = max(len(name) for name, _ in chart.bars)
    left = min(_WIDTH // 2, 16 + round(_MAX_LETTER_WIDTH * max_letters))
    height = _TOP + _BAR_HEIGHT * len(chart.bars) + _BOTTOM
    ends: list[float] = []
    for _, estimate in chart.bars:
        ends.append(estimate.mean)
        if estimate.low is not None and estimate.high is not None:
            ends += (estimate.low, estimate.high)
    if not chart.axis.is_log:
        ends.append(0.0)
    x = _Scale(ends, chart.axis, left, _WIDTH - _RIGHT, 0.03)
    zero = x(x.ends[0] if chart.axis.is_log else 0.0)
    parts = [*_frame(x, None, height)]
    values: list[str] = []
    for number, (name, estimate) in enumerate(chart.bars):
        middle = _TOP + _BAR_HEIGHT * (number + 0.5)
        start, end = sorted((zero, x(estimate.mean)))
        value = f"{name}: {text_of(estimate, ',.6g')}"
        values.append(value)
        hint = escape(f"{value} {chart.axis.unit}".strip())
        parts.append(f'<text x="{left - 8}" y="{middle + 4:.1f}" text-anchor="end">{escape(name)}</text>')
        parts.append(
            f'<rect class="bar" x="{start:.1f}" y="{middle - 8:.1f}" width="{max(end - start, 0.5):.1f}" height="16">'
            f"<title>{hint}</title></rect>"
        )
        parts.append(_whisker(estimate, x, middle))
    return _svg(f"{chart.title}: {chart.axis.heading}. {'; '.join(values)}", height, parts)


def _whisker(estimate: Estimate, x: _Scale, middle: float) -> str:
    if estimate.low is None or estimate.high is None:
        return ""
    start = x(estimate.low)
    end = x(estimate.high)
    return f'<line class="whisker" x1="{start:.1f}" x2="{end:.1f}" y1="{middle:.1f}" y2="{middle:.1f}"/>'


def interval_svgs(values: Sequence[object], axis: Axis) -> tuple[str, list[str]]:
    """Return the axis above a column of estimates, and each estimate as a point with whiskers.

    All are ``<svg>`` elements of the width of their place, on one scale with a line at zero. Elements of other values
    are empty.
    """
    estimates = [value for value in values if isinstance(value, Estimate)]
    means = [0.0, *(estimate.mean for estimate in estimates)]
    spread = max(means) - min(means) or 1.0
    ends = [0.0]
    for estimate in estimates:
        # A whisker longer than the means are apart is cut off, so that it does not squeeze all others.
        half_width = min(estimate.half_width or 0.0, spread)
        ends += (estimate.mean - half_width, estimate.mean + half_width)
    x = _Scale(ends, axis, 0, 100, 0.04)
    lines: list[str] = []
    names: list[str] = []
    for tick in x.ticks:
        style = "grid" if tick else "zero"
        lines.append(f'<line class="{style}" x1="{x(tick):.2f}%" x2="{x(tick):.2f}%" y2="100%"/>')
        names.append(f'<text x="{x(tick):.2f}%" y="75%" text-anchor="{_anchor(x(tick))}">{tick:,.6g}</text>')
    drawings: list[str] = []
    for value in values:
        parts = list(lines)
        if isinstance(value, Estimate):
            if value.low is not None and value.high is not None:
                start = x(value.low)
                end = x(value.high)
                parts.append(f'<line class="whisker" x1="{start:.2f}%" x2="{end:.2f}%" y1="50%" y2="50%"/>')
            parts.append(f'<circle class="dot" cx="{x(value.mean):.2f}%" cy="50%" r="4"/>')
        drawings.append(_interval(parts))
    return _interval(names), drawings


def _anchor(percent: float) -> str:
    """Return the anchor of a text at this part of the width, so that it does not reach beyond the sides."""
    if percent < 8:
        return "start"
    if percent > 92:
        return "end"
    return "middle"


def _interval(parts: Sequence[str]) -> str:
    return f'<svg class="interval" aria-hidden="true">{"".join(parts)}</svg>'


def _square(grid: HandGrid) -> str:
    """Draw each hand as a small square, divided among its actions."""
    parts: list[str] = []
    side = _WIDTH / 13
    for row_number, row in enumerate(grid.rows):
        top = row_number * side
        for column_number, (name, hand) in enumerate(row):
            left = column_number * side
            parts.append(f"<g><title>{escape(f'{name}: {text_of(hand)}')}</title>")
            for action, share in hand.items():
                colour = "#{:02x}{:02x}{:02x}".format(*grid.colours[action])
                parts.append(
                    f'<rect x="{left:.1f}" y="{top:.1f}" width="{share * side:.1f}" height="{side - 1:.1f}" '
                    f'fill="{colour}"/>'
                )
                left += share * side
            middle = (column_number + 0.5) * side
            for text, below in ((name, 0.4), (grid.word(hand), 0.75)):
                parts.append(f'<text x="{middle:.1f}" y="{top + below * side:.1f}">{escape(text)}</text>')
            parts.append("</g>")
    return _svg(grid.heading, _WIDTH, parts, "chart hands")


def _frame(x: _Scale, y: _Scale | None, height: int) -> Iterator[str]:
    """Yield grid, ticks and names of the axes."""
    bottom = height - _BOTTOM
    for tick in x.ticks:
        style = "grid" if tick else "zero"
        # A figure at the right edge must not reach beyond it.
        anchor = "end" if x(tick) > _WIDTH - 3 * _RIGHT else "middle"
        yield f'<line class="{style}" x1="{x(tick):.1f}" x2="{x(tick):.1f}" y1="{_TOP}" y2="{bottom}"/>'
        yield f'<text x="{x(tick):.1f}" y="{bottom + 18}" text-anchor="{anchor}">{tick:,.6g}</text>'
    yield f'<text x="{_WIDTH - _RIGHT}" y="{height - 6}" text-anchor="end">{escape(x.axis.heading)}</text>'
    if y is None:
        return
    left = x(x.ends[0])
    for tick in y.ticks:
        style = "grid" if tick else "zero"
        yield f'<line class="{style}" x1="{left:.1f}" x2="{_WIDTH - _RIGHT}" y1="{y(tick):.1f}" y2="{y(tick):.1f}"/>'
        yield f'<text x="{left - 8:.1f}" y="{y(tick) + 4:.1f}" text-anchor="end">{tick:,.6g}</text>'
    place = f"translate(14 {(_TOP + bottom) / 2:.0f}) rotate(-90)"
    name = escape(y.axis.heading)
    yield f'<text transform="{place}" text-anchor="middle">{name}</text>'


def _path(points: Iterable[tuple[float, float]], x: _Scale, y: _Scale) -> str:
    return " ".join(f"{x(place):.1f},{y(height):.1f}" for place, height in points)


def _svg(label: str, height: int, parts: Sequence[str], kind: str = "chart") -> str:
    words = escape(label, quote=True)
    return f'<svg class="{kind}" role="img" aria-label="{words}" viewBox="0 0 {_WIDTH} {height}">{"".join(parts)}</svg>'
