"""Charts as SVG: axes, grid, zero line, lines with bands, bars with whiskers, squares of starting hands.

The style sheet of the page colours them, apart from the actions of starting hands.

Hovering over a point shows its value; the whole chart has a description for screen readers. Nothing is measured in the
page, so the same chart gives the same bytes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape
from typing import Final, TypeVar

from logs.document.values import Axis, Bars, Chart, HandGrid, Series, text_of
from logs.estimation import Estimate

_WIDTH: Final = 480
_HEIGHT: Final = 260
_RIGHT = 14
_TOP = 14
_BOTTOM = 46
_BAR_HEIGHT: Final = 24
_LETTER: Final = 7.2
"""Width of a letter of the labels, at most."""
_MAX_POINTS: Final = 300
"""More than a screen shows apart."""
_MOST_HINTS: Final = 25
"""Points of a line that show their values: more would cover each other."""
COLOURS: Final = 10
"""Series with a colour of their own."""

_Item = TypeVar("_Item")


class _Scale:
    """Where values of an axis are drawn, between `start` and `end`; values beyond it are drawn at its ends."""

    def __init__(self, values: Iterable[float], axis: Axis, start: float, end: float, margin: float = 0.0) -> None:
        self.axis = axis
        self._start = start
        self._end = end
        known = [value for value in values if not axis.is_log or value > 0] or [1.0]
        self._low, self._high = self._along(min(known)), self._along(max(known))
        spread = self._high - self._low
        self._low -= margin * spread
        self._high += margin * spread or (0.0 if spread else 1.0)
        self._factor = (end - start) / (self._high - self._low)

    def __call__(self, value: float) -> float:
        at = value if not self.axis.is_log else self._low if value <= 0 else math.log10(value)
        if at <= self._low:
            return self._start
        if at >= self._high:
            return self._end
        return self._start + self._factor * (at - self._low)

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
    """An ``<svg>`` element; empty for a chart without points."""
    if isinstance(chart, HandGrid):
        return _square(chart)
    if isinstance(chart, Bars):
        return _bars(chart)
    return _lines(chart)


def thinned(points: Sequence[_Item], most: int = _MAX_POINTS) -> list[_Item]:
    """At most about so many of the points, the first and the last among them."""
    step = -(-len(points) // most) or 1
    return [*points[::step], *(points[-1:] if (len(points) - 1) % step else [])]


def ticks(low: float, high: float, *, is_log: bool = False, most: int = 5) -> list[float]:
    """Round numbers from `low` to `high`: multiples of 1, 2 or 5 times a power of 10, or powers of 10 on a log axis."""
    if is_log:
        first = math.ceil(math.log10(low) - 1e-9)
        last = math.floor(math.log10(high) + 1e-9)
        every = -(-(last - first + 1) // most) or 1
        return [10.0**exponent for exponent in range(first, last + 1, every)]
    rough = (high - low) / most
    power: float = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough)
    return [step * number for number in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]


def _lines(chart: Chart) -> str:
    series = [one for one in chart.series if one.xs]
    if not series:
        return ""
    xs = [x for one in series for x in one.xs]
    ys = [y for one in series for y in one.ys]
    # The band of the first points is wide and without information: it is cut off where the chart ends.
    for one in series:
        half = one.half_widths[-1] if one.half_widths else None
        ys += [one.ys[-1] + sign * (half or 0.0) for sign in (-1, 1)]
    if not chart.y.is_log:
        ys.append(0.0)
    y = _Scale(ys, chart.y, _HEIGHT - _BOTTOM, _TOP, 0.05)
    left = 30 + _LETTER * max((len(f"{at:,.6g}") for at in y.ticks), default=0)
    x = _Scale(xs, chart.x, left, _WIDTH - _RIGHT)
    parts = [*_frame(x, y, _HEIGHT)]
    for at, name in chart.marks:
        parts.append(f'<line class="mark" x1="{x(at):.1f}" x2="{x(at):.1f}" y1="{_TOP}" y2="{_HEIGHT - _BOTTOM}"/>')
        parts.append(f'<text x="{x(at) + 4:.1f}" y="{_TOP + 10}">{escape(name)}</text>')
    # The first line, the most important, is above the others.
    for number, one in reversed([*enumerate(series)]):
        parts += _line(one, number % COLOURS, x, y, chart)
    ends = "; ".join(f"{one.name}: {text_of(_last(one), ',.6g')} at {one.xs[-1]:,.6g}" for one in series)
    return _svg(f"{chart.title}: {chart.y.heading} over {chart.x.heading}. {ends}", _HEIGHT, parts)


def _line(one: Series, number: int, x: _Scale, y: _Scale, chart: Chart) -> list[str]:
    half_widths = one.half_widths or (None,) * len(one.xs)
    points = thinned(list(zip(one.xs, one.ys, half_widths, strict=True)))
    parts = []
    known = [(at, height, half) for at, height, half in points if half is not None]
    if len(known) > 1:
        band = [(at, height + half) for at, height, half in known]
        band += [(at, height - half) for at, height, half in reversed(known)]
        parts.append(f'<polygon class="band p{number}" points="{_path(band, x, y)}"/>')
    style = f"net p{number}{' dashed' if one.is_dashed else ''}"
    path = _path([point[:2] for point in points], x, y)
    parts.append(f'<polyline class="{style}" points="{path}"><title>{escape(one.name)}</title></polyline>')
    for at, height, half in thinned(points, _MOST_HINTS):
        hint = f"{one.name}, {chart.x.title} {at:,.6g}: {text_of(Estimate(height, half), ',.6g')} {chart.y.unit}"
        dot = f"dot p{number}" if one.has_dots else "hint"
        radius = 3.5 if one.has_dots else 8
        parts.append(
            f'<circle class="{dot}" cx="{x(at):.1f}" cy="{y(height):.1f}" r="{radius}">'
            f"<title>{escape(hint.strip())}</title></circle>"
        )
    return parts


def _last(one: Series) -> Estimate:
    return Estimate(one.ys[-1], one.half_widths[-1] if one.half_widths else None)


def _bars(chart: Bars) -> str:
    if not chart.bars:
        return ""
    left = min(_WIDTH // 2, 16 + round(_LETTER * max(len(name) for name, _ in chart.bars)))
    height = _TOP + _BAR_HEIGHT * len(chart.bars) + _BOTTOM
    figures = [one for _, one in chart.bars]
    ends = [end for one in figures for end in (one.mean, one.low, one.high) if end is not None]
    x = _Scale([*ends, *([] if chart.axis.is_log else [0.0])], chart.axis, left, _WIDTH - _RIGHT, 0.03)
    zero = x(x.ends[0] if chart.axis.is_log else 0.0)
    parts = [*_frame(x, None, height)]
    for number, (name, one) in enumerate(chart.bars):
        middle = _TOP + _BAR_HEIGHT * (number + 0.5)
        start, end = sorted((zero, x(one.mean)))
        hint = escape(f"{name}: {text_of(one, ',.6g')} {chart.axis.unit}".strip())
        parts.append(f'<text x="{left - 8}" y="{middle + 4:.1f}" text-anchor="end">{escape(name)}</text>')
        parts.append(
            f'<rect class="bar" x="{start:.1f}" y="{middle - 8:.1f}" width="{max(end - start, 0.5):.1f}" height="16">'
            f"<title>{hint}</title></rect>"
        )
        parts.append(_whisker(one, x, middle))
    words = "; ".join(f"{name}: {text_of(one, ',.6g')}" for name, one in chart.bars)
    return _svg(f"{chart.title}: {chart.axis.heading}. {words}", height, parts)


def _whisker(one: Estimate, x: _Scale, middle: float) -> str:
    if one.low is None or one.high is None:
        return ""
    return f'<line class="whisker" x1="{x(one.low):.1f}" x2="{x(one.high):.1f}" y1="{middle:.1f}" y2="{middle:.1f}"/>'


def interval_svgs(values: Sequence[object], axis: Axis) -> tuple[str, list[str]]:
    """Estimates as points with whiskers, an ``<svg>`` element each, as wide as their place; and the axis above them.

    All are on one scale, with a line at zero. The elements of other values are empty. A whisker that is longer than the
    means are apart is cut off, so that it does not squeeze all others.
    """
    known = [one for one in values if isinstance(one, Estimate)]
    means = [0.0, *(one.mean for one in known)]
    spread = max(means) - min(means) or 1.0
    ends = [one.mean + sign * min(one.half_width or 0.0, spread) for one in known for sign in (-1, 1)]
    x = _Scale([0.0, *ends], axis, 0, 100, 0.04)
    lines = [
        f'<line class="{"grid" if at else "zero"}" x1="{x(at):.2f}%" x2="{x(at):.2f}%" y2="100%"/>' for at in x.ticks
    ]
    names = [f'<text x="{x(at):.2f}%" y="75%" text-anchor="{_anchor(x(at))}">{at:,.6g}</text>' for at in x.ticks]
    found = []
    for one in values:
        parts = list(lines)
        if isinstance(one, Estimate):
            if one.low is not None and one.high is not None:
                parts.append(
                    f'<line class="whisker" x1="{x(one.low):.2f}%" x2="{x(one.high):.2f}%" y1="50%" y2="50%"/>'
                )
            parts.append(f'<circle class="dot" cx="{x(one.mean):.2f}%" cy="50%" r="4"/>')
        found.append(_interval(parts))
    return _interval(names), found


def _anchor(percent: float) -> str:
    """Where a name at this part of the width begins: it must not reach beyond the sides."""
    if percent < 8:
        return "start"
    if percent > 92:
        return "end"
    return "middle"


def _interval(parts: Sequence[str]) -> str:
    return f'<svg class="interval" aria-hidden="true">{"".join(parts)}</svg>'


def _square(grid: HandGrid) -> str:
    """Each hand is a small square, divided between its actions."""
    parts = []
    side = _WIDTH / 13
    for at, row in enumerate(grid.rows):
        for column, (name, hand) in enumerate(row):
            left = column * side
            top = at * side
            parts.append(f"<g><title>{escape(f'{name}: {text_of(hand)}')}</title>")
            for action, share in hand.items():
                colour = "#{:02x}{:02x}{:02x}".format(*grid.colours[action])
                parts.append(
                    f'<rect x="{left:.1f}" y="{top:.1f}" width="{share * side:.1f}" height="{side - 1:.1f}" '
                    f'fill="{colour}"/>'
                )
                left += share * side
            middle = (column + 0.5) * side
            for text, below in ((name, 0.4), (grid.word(hand), 0.75)):
                parts.append(f'<text x="{middle:.1f}" y="{top + below * side:.1f}">{escape(text)}</text>')
            parts.append("</g>")
    return _svg(grid.heading, _WIDTH, parts, "chart hands")


def _frame(x: _Scale, y: _Scale | None, height: int) -> Iterable[str]:
    """Grid, ticks and names of the axes."""
    bottom = height - _BOTTOM
    for at in x.ticks:
        kind = "zero" if not at else "grid"
        anchor = "end" if x(at) > _WIDTH - 3 * _RIGHT else "middle"
        yield f'<line class="{kind}" x1="{x(at):.1f}" x2="{x(at):.1f}" y1="{_TOP}" y2="{bottom}"/>'
        yield f'<text x="{x(at):.1f}" y="{bottom + 18}" text-anchor="{anchor}">{at:,.6g}</text>'
    yield f'<text x="{_WIDTH - _RIGHT}" y="{height - 6}" text-anchor="end">{escape(x.axis.heading)}</text>'
    if y is None:
        return
    left = x(x.ends[0])
    for at in y.ticks:
        kind = "zero" if not at else "grid"
        yield f'<line class="{kind}" x1="{left:.1f}" x2="{_WIDTH - _RIGHT}" y1="{y(at):.1f}" y2="{y(at):.1f}"/>'
        yield f'<text x="{left - 8:.1f}" y="{y(at) + 4:.1f}" text-anchor="end">{at:,.6g}</text>'
    place = f"translate(14 {(_TOP + bottom) / 2:.0f}) rotate(-90)"
    name = escape(y.axis.heading)
    yield f'<text transform="{place}" text-anchor="middle">{name}</text>'


def _path(points: Iterable[tuple[float, float]], x: _Scale, y: _Scale) -> str:
    return " ".join(f"{x(at):.1f},{y(height):.1f}" for at, height in points)


def _svg(label: str, height: int, parts: Sequence[str], kind: str = "chart") -> str:
    words = escape(label, quote=True)
    return f'<svg class="{kind}" role="img" aria-label="{words}" viewBox="0 0 {_WIDTH} {height}">{"".join(parts)}</svg>'
