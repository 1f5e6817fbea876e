"""Pictures as SVG for a page, in the page's own font and text colour.

matplotlib draws axes and words in a marked colour, which is then replaced by the page's text colour, so that a picture
is readable on light and on dark ground. The same picture gives the same bytes.
"""

from __future__ import annotations

import html
import io
import re
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

MARK: Final = "#010203"
"""Stands for the colour of the page's text."""

TONES: Final = ("#2e9e4f", "#3b7dd8", "#d8493b", "#d39a1c", "#9a5fd0", "#1a9c9c", "#c2568f", "#8a8f98", "#a9714b")
"""Readable on light and dark ground, and distinguished: green, blue, red, yellow, violet, teal, pink, grey, brown."""

_MOST_POINTS: Final = 400
"""More than a screen shows apart."""

T = TypeVar("T")


def drawn(paint: Callable[[Any], None], label: str, *, width: float = 4.4, height: float = 2.7) -> str:
    """A picture with axes.

    Args:
        paint: draws into matplotlib's axes; what it draws in `MARK` has the colour of the page's text.
        label: what the picture shows, for screen readers.
        width: in inches of 72 points.
        height: in inches of 72 points.

    Returns:
        an ``<svg>`` element.
    """
    import matplotlib as mpl
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    style: Any = {
        "svg.fonttype": "none",
        "svg.hashsalt": label,
        "font.family": "sans-serif",
        "font.size": 9,
        "text.color": MARK,
        "axes.edgecolor": MARK,
        "axes.labelcolor": MARK,
        "xtick.color": MARK,
        "ytick.color": MARK,
        "axes.spines.top": False,
        "axes.spines.right": False,
    }
    with mpl.rc_context(style):
        figure = Figure(figsize=(width, height), layout="constrained")
        FigureCanvasSVG(figure)
        figure.patch.set_alpha(0)
        axes = figure.add_subplot()
        axes.patch.set_alpha(0)
        paint(axes)
        file = io.StringIO()
        figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
    return _embedded(file.getvalue(), label)


def plain_number(value: float, _: object = None) -> str:
    """A number at an axis."""
    return f"{value:,.4g}" if abs(value) < 10 else f"{value:,.0f}"


def thinned(points: Sequence[T]) -> list[T]:
    """As many of the points as a screen shows apart, the first and the last among them."""
    step = -(-len(points) // _MOST_POINTS) or 1
    return [*points[::step], *(points[-1:] if (len(points) - 1) % step else [])]


def _embedded(svg: str, label: str) -> str:
    svg = svg[svg.index("<svg") :]
    svg = svg.replace(MARK, "currentColor")
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, count=1, flags=re.DOTALL)
    svg = re.sub(r' (width|height)="[^"]*"', "", svg, count=2)
    return svg.replace("<svg ", f'<svg role="img" aria-label="{html.escape(label, quote=True)}" ', 1)
