"""Figures as pages show them: rates in cells, and charts as SVG that a style sheet colours."""

from __future__ import annotations

import html
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from engine.text import shown
from logs.contest_scores import ScorePoint
from logs.estimation import Rate
from logs.page.drawing import plain_number, thinned

_WIDTH: Final = 900
_HEIGHT: Final = 320
_LEFT, _RIGHT, _TOP, _BOTTOM = 70, 14, 12, 44
_TICKS: Final = 5
_BAR_WIDTH: Final = 320
_BAR_HEIGHT: Final = 22


@dataclass(frozen=True, slots=True)
class Cell:
    """What the bot of a line won from that of a column.

    Attributes:
        text: in mbb/g with its interval; empty where they have not met.
        heat: ``won2``, ``won1``, ``even``, ``lost1`` or ``lost2``: which way, and how far beyond chance.
        path: the address of what is behind it; empty where there is none, or more than one.
        words: all of it in a sentence.
    """

    text: str
    heat: str = ""
    path: str = ""
    words: str = ""


def cell_of(rate: Rate | None, path: str = "", words: str = "") -> Cell:
    """A rate in a table; `words` say what it is where its own do not."""
    if rate is None:
        return Cell("")
    half = rate.half_width
    if half is None or abs(rate.mbb) <= half:
        heat = "even"
    else:
        heat = ("won" if rate.mbb > 0 else "lost") + ("2" if abs(rate.mbb) > 3 * half else "1")
    return Cell(rate.text().removesuffix(" mbb/g"), heat, path, shown(words or str(rate)))


def ticks(low: float, high: float, most: int = _TICKS) -> list[float]:
    """Round numbers from `low` to `high`, with zero if it is inside: multiples of 1, 2 or 5 times a power of 10."""
    rough = (high - low) / most
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough)
    return [step * number for number in range(math.ceil(low / step), math.floor(high / step) + 1)]


def score_chart(curves: Mapping[str, Sequence[ScorePoint]]) -> str:
    """What each player won over the hands, in big blinds, as an ``<svg>`` element; empty without hands."""
    along = {name: [ScorePoint(0, 0.0, None), *thinned(points)] for name, points in curves.items() if points}
    if not along:
        return ""
    hands = max(points[-1].hands for points in along.values())
    # The band of the first deals is wide and without information: it is cut off where the picture ends.
    reach = [one.blinds for points in along.values() for one in points]
    for points in along.values():
        reach += [points[-1].blinds + sign * (points[-1].half_width or 0.0) for sign in (-1, 1)]
    margin = 0.05 * (max(reach) - min(reach)) or 1.0
    low, high = min(reach) - margin, max(reach) + margin

    def x(at: float) -> float:
        return _LEFT + (_WIDTH - _LEFT - _RIGHT) * at / hands

    def y(blinds: float) -> float:
        return _TOP + (_HEIGHT - _TOP - _BOTTOM) * (high - min(max(blinds, low), high)) / (high - low)

    def path(ends: Sequence[tuple[float, float]]) -> str:
        return " ".join(f"{x(at):.1f},{y(blinds):.1f}" for at, blinds in ends)

    parts = []
    for blinds in ticks(low, high):
        kind = "zero" if not blinds else "grid"
        parts.append(
            f'<line class="{kind}" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y(blinds):.1f}" y2="{y(blinds):.1f}"/>'
        )
        parts.append(f'<text x="{_LEFT - 8}" y="{y(blinds) + 4:.1f}" text-anchor="end">{plain_number(blinds)}</text>')
    for at in ticks(0, hands):
        anchor = "start" if not at else "end" if at == hands else "middle"
        parts.append(f'<text x="{x(at):.1f}" y="{_HEIGHT - 24}" text-anchor="{anchor}">{at:,.0f}</text>')
    parts.append(f'<text x="{(_LEFT + _WIDTH) / 2:.0f}" y="{_HEIGHT - 6}" text-anchor="middle">hands</text>')
    labels = []
    for number, (name, points) in enumerate(along.items()):
        last = points[-1]
        end = f"{last.blinds:+,.1f}" + ("" if last.half_width is None else f" ± {last.half_width:,.1f}")
        labels.append(f"{shown(name)}: {end} big blinds over {last.hands:,} hands")
        words = html.escape(labels[-1])
        known = [(one.hands, one.blinds, one.half_width) for one in points if one.half_width is not None]
        band = [(at, net + half) for at, net, half in known] + [(at, net - half) for at, net, half in reversed(known)]
        if len(known) > 1:
            parts.append(f'<polygon class="band p{number}" points="{path(band)}"/>')
        ends = path([(one.hands, one.blinds) for one in points])
        parts.append(f'<polyline class="net p{number}" points="{ends}"><title>{words}</title></polyline>')
    label = html.escape("; ".join(labels), quote=True)
    return f'<svg class="curve" role="img" aria-label="{label}" viewBox="0 0 {_WIDTH} {_HEIGHT}">{"".join(parts)}</svg>'


def interval_bars(intervals: Sequence[tuple[float, float | None]]) -> list[str]:
    """Means with half widths as points with whiskers, an ``<svg>`` element each, all on one scale with a line at zero.

    A whisker that is longer than the means are apart is cut off, so that it does not squeeze all others.
    """
    if not intervals:
        return []
    means = [0.0, *(mean for mean, _ in intervals)]
    spread = max(means) - min(means) or 1.0
    ends = [mean + sign * min(half or 0.0, spread) for mean, half in intervals for sign in (-1, 1)]
    low, high = min(0.0, *ends), max(0.0, *ends)
    margin = 0.02 * (high - low) or 1.0
    low, high = low - margin, high + margin

    def x(value: float) -> str:
        return f"{_BAR_WIDTH * (min(max(value, low), high) - low) / (high - low):.1f}"

    middle = _BAR_HEIGHT // 2
    found = []
    for mean, half in intervals:
        parts = [f'<line class="zero" x1="{x(0)}" x2="{x(0)}" y1="0" y2="{_BAR_HEIGHT}"/>']
        if half is not None:
            parts.append(
                f'<line class="whisker" x1="{x(mean - half)}" x2="{x(mean + half)}" y1="{middle}" y2="{middle}"/>'
            )
        parts.append(f'<circle class="point" cx="{x(mean)}" cy="{middle}" r="4.5"/>')
        found.append(
            f'<svg class="bar" aria-hidden="true" viewBox="0 0 {_BAR_WIDTH} {_BAR_HEIGHT}">{"".join(parts)}</svg>'
        )
    return found
