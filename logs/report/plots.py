"""Curves of winnings as SVG for a page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from logs.page.drawing import MARK, TONES, drawn, plain_number, thinned
from logs.tracker.statistics import CurvePoint

__all__ = ["LEGEND", "winnings_plot"]

_TOTAL, _SHOWDOWN, _OTHER, _ADJUSTED = TONES[:4]
"""As in trackers: green for all hands, blue with showdown, red without, yellow all-in adjusted."""

LEGEND = (
    *(("total, with its 95 % interval", _TOTAL), ("with showdown", _SHOWDOWN), ("without showdown", _OTHER)),
    ("all-in adjusted (dashed)", _ADJUSTED),
)
"""What the lines of all plots are, with their colours: a page says it once."""


def winnings_plot(points: Sequence[CurvePoint], name: str, *, width: float = 4.4, height: float = 2.7) -> str:
    """One player's winnings over its hands, with the interval of the total as a band.

    Args:
        points: the winnings along the way, in big blinds.
        name: the player, for the label that screen readers read.
        width: in inches of 72 points.
        height: in inches of 72 points.

    Returns:
        an ``<svg>`` element.
    """

    def paint(axes: Any) -> None:
        start = CurvePoint(hands=0, net=0, showdown=0, no_showdown=0, adjusted=0, half_width_95=None)
        shown = [start, *thinned(points)]
        hands = [point.hands for point in shown]
        band = [(point.hands, point.net, point.half_width_95) for point in shown if point.half_width_95 is not None]
        axes.fill_between(
            [at for at, _, _ in band],
            [net - half for _, net, half in band],
            [net + half for _, net, half in band],
            color=_TOTAL,
            alpha=0.18,
            linewidth=0,
        )
        axes.axhline(0, color=MARK, linewidth=0.6, alpha=0.5)
        axes.plot(hands, [point.showdown for point in shown], color=_SHOWDOWN, linewidth=1)
        axes.plot(hands, [point.no_showdown for point in shown], color=_OTHER, linewidth=1)
        adjusted = [(point.hands, point.adjusted) for point in shown if point.adjusted is not None]
        if len(adjusted) > 1:
            axes.plot(*zip(*adjusted, strict=True), color=_ADJUSTED, linestyle="--", linewidth=1)
        axes.plot(hands, [point.net for point in shown], color=_TOTAL, linewidth=1.8)
        axes.set_xlabel("hands")
        axes.set_ylabel("big blinds")
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
        axes.yaxis.set_major_formatter(plain_number)
        axes.margins(x=0.01)
        axes.locator_params(axis="x", nbins=5)

    return drawn(paint, f"winnings of {name} over hands", width=width, height=height)
