"""Charts of the 169 starting hands, in colour: on a terminal and as a picture.

Aces come first; suited hands stand above the diagonal. A hand's colour is that of its line of play, and of a mixture in
proportion. The words say the same, for those who see no colours.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from rich.console import Console, Group, RenderableType
from rich.style import Style
from rich.text import Text

from dealer.cli import pictures
from engine.cards import RANKS

if TYPE_CHECKING:
    from bots.lp_mc.preflop import Chart, Lines

_COLOURS: Final = {
    "f": (176, 176, 184),
    "k": (126, 192, 128),
    "c": (126, 192, 128),
    "rf": (242, 214, 120),
    "rc": (240, 164, 92),
    "rr": (222, 92, 72),
    "r": (240, 164, 92),
}
"""By the first letters of a line: what raises more is redder."""
_PLAIN_COLOURS: Final = {
    **{"f": "white", "k": "green", "c": "green"},
    **{"rf": "bright_yellow", "rc": "yellow", "rr": "red", "r": "yellow"},
}
"""The same for terminals of sixteen colours."""
LEGEND: Final = "f fold · k check · c call · r raise; rc raises and calls the next raise; * mixed"


def _number(row: int, column: int) -> int:
    """The starting hand in a row and column, aces first."""
    one, other = 12 - row, 12 - column
    return 13 * max(one, other) + min(one, other) if row < column else 13 * min(one, other) + max(one, other)


def _group(line: str) -> str:
    """The letters of a line that its colour depends on."""
    return line[:2] if line[0] == "r" else line[0]


def _line_colour(line: str) -> tuple[int, int, int]:
    return _COLOURS[_group(line)]


def _colour(lines: Lines) -> tuple[int, int, int]:
    """The mean of the colours of the lines, by their probabilities."""
    red, green, blue = (
        round(sum(chance * _line_colour(line)[part] for line, chance in lines.items())) for part in range(3)
    )
    return red, green, blue


# ---- on a terminal


def chart_view(chart: Chart, console: Console) -> RenderableType:
    """A chart as wide as it needs to be; where the window is too narrow for the lines, their first letters."""
    words = [_word(lines) for lines in chart.lines]
    cell = max(map(len, words)) + 1
    if 2 + 13 * cell > console.width:
        words, cell = [word[0] + ("*" if word.endswith("*") else "") for word in words], 2
    rows = [Text("  " + "".join(rank.ljust(cell) for rank in RANKS[::-1]).rstrip(), style="dim")]
    for row in range(13):
        line = Text(RANKS[12 - row] + " ", style="dim")
        for column in range(13):
            number = _number(row, column)
            line.append(words[number].ljust(cell), style=_style(chart.lines[number], console))
        if not console.color_system:
            line.rstrip()
        rows.append(line)
    return Group(Text(f"{chart.title}: {_counts(chart)}", style="bold"), *rows)


def _style(lines: Lines, console: Console) -> Style:
    """A ground in the colour of the lines; on a terminal of few colours in that of the likeliest."""
    if console.color_system is None:
        return Style(dim=False)
    if console.color_system in ("standard", "windows"):
        return Style(dim=False, color="black", bgcolor=_PLAIN_COLOURS[_group(next(iter(lines)))])
    red, green, blue = _colour(lines)
    return Style(dim=False, color="black", bgcolor=f"rgb({red},{green},{blue})")


def _word(lines: Lines) -> str:
    """The likeliest line, marked if there are others."""
    return next(iter(lines)) + ("*" if len(lines) > 1 else "")


def _counts(chart: Chart) -> str:
    return ", ".join(f"{count} {name}" for name, count in chart.counts().items())


# ---- as a picture


def picture(charts: Sequence[Chart], title: str, format_: str) -> bytes:
    """The charts side by side, as the bytes of a file; the same charts give the same bytes.

    Args:
        charts: what to draw.
        title: above all.
        format_: one of `dealer.cli.pictures.PICTURE_FORMATS`.
    """

    def draw(figure: Any) -> None:
        for place, chart in enumerate(charts, 1):
            _draw(figure.add_subplot(1, len(charts), place), chart)

    return pictures.picture(draw, title, format_, (6 * len(charts), 6.8))


def _draw(axes: Any, chart: Chart) -> None:
    """One chart: each hand a square, divided between its lines."""
    from matplotlib.collections import PolyCollection

    from engine import STARTING_HANDS

    corners, colours = [], []
    for row in range(13):
        for column in range(13):
            number = _number(row, column)
            left = float(column)
            for line, chance in chart.lines[number].items():
                right = left + chance
                corners.append([(left, row), (right, row), (right, row + 1), (left, row + 1)])
                colours.append(tuple(part / 255 for part in _line_colour(line)))
                left = right
            axes.text(column + 0.5, row + 0.36, STARTING_HANDS[number], ha="center", va="center", weight="bold")
            axes.text(column + 0.5, row + 0.72, _word(chart.lines[number]), ha="center", va="center", fontsize=6)
    axes.add_collection(PolyCollection(corners, facecolors=colours, zorder=0))
    axes.set(xlim=(0, 13), ylim=(13, 0), xticks=range(14), yticks=range(14), aspect="equal")
    axes.grid(color="white", linewidth=1)
    axes.tick_params(length=0, labelbottom=False, labelleft=False)
    axes.set_title(f"{chart.title}: {_counts(chart)}", fontsize=9)
