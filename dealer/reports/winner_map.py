"""Map of the winners in a tournament, as an SVG: an arrow from each winner to the bot that it beats.

An arrow has the winnings in mbb/g. It is dashed if their interval contains 0. A game whose arrows run in a circle is
intransitive among these bots.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from math import cos, hypot, pi, sin
from typing import Final

from dealer.run.results import GameStandings
from logs.estimation import Rate
from protocol.game_definition import short_name

_SIZE: Final = 480
_RADIUS: Final = 170
_GAP: Final = 30
"""Pixels between a bot's place and the ends of its arrows."""
_LABEL_PLACE: Final = 0.36
"""Share of an arrow before its label, which keeps labels of crossing arrows apart."""
_STYLE: Final = (
    "text{font:14px sans-serif;text-anchor:middle;dominant-baseline:middle;fill:#222}"
    ".rate{font-size:12px;paint-order:stroke;stroke:#fff;stroke-width:4px}"
    "line{stroke:#456;stroke-width:1.6;marker-end:url(#tip)}.open{stroke-dasharray:5 4}"
)
_TIP: Final = (
    '<marker id="tip" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="8" markerHeight="8" orient="auto">'
    '<path d="M0 0L10 5L0 10z" fill="#456"/></marker>'
)


def winner_map(standings: Sequence[GameStandings]) -> str:
    """Draw the maps of all games, one below the other."""
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_SIZE} {_SIZE * len(standings)}">',
        f"<style>{_STYLE}</style><defs>{_TIP}</defs>",
        f'<rect width="{_SIZE}" height="{_SIZE * len(standings)}" fill="#fff"/>',
    ]
    for number, game in enumerate(standings):
        lines.append(f'<g transform="translate(0 {_SIZE * number})">')
        lines.append(f'<text x="{_SIZE / 2:.0f}" y="18">{escape(short_name(game.game))}, mbb/g</text>')
        lines += _game_lines(game)
        lines.append("</g>")
    return "\n".join([*lines, "</svg>"])


def _game_lines(game: GameStandings) -> list[str]:
    places = _places(game.bots)
    lines = []
    for cell in game.crosstable:
        # Each pair has two cells; the winner's is drawn, and of equals the first one's.
        is_first = game.bots.index(cell.player) < game.bots.index(cell.opponent)
        if cell.rate.mean > 0 or (cell.rate.mean == 0 and is_first):
            lines += _arrow(cell.rate, places)
    for name, (x, y) in places.items():
        lines.append(f'<text x="{x:.0f}" y="{y:.0f}">{escape(name)}</text>')
    return lines


def _places(bots: Sequence[str]) -> Mapping[str, tuple[float, float]]:
    places = {}
    for number, name in enumerate(bots):
        angle = 2 * pi * number / len(bots) - pi / 2
        places[name] = (_SIZE / 2 + _RADIUS * cos(angle), _SIZE / 2 + 20 + _RADIUS * sin(angle))
    return places


def _arrow(rate: Rate, places: Mapping[str, tuple[float, float]]) -> list[str]:
    (x1, y1), (x2, y2) = places[rate.player], places[rate.opponent]
    length = hypot(x2 - x1, y2 - y1)
    dx, dy = (x2 - x1) / length, (y2 - y1) / length
    is_open = rate.half_width is None or rate.half_width >= rate.mean
    kind = ' class="open"' if is_open else ""
    ends = (x1 + _GAP * dx, y1 + _GAP * dy, x2 - _GAP * dx, y2 - _GAP * dy)
    line = '<line{} x1="{:.0f}" y1="{:.0f}" x2="{:.0f}" y2="{:.0f}"/>'.format(kind, *ends)
    x, y = x1 + _LABEL_PLACE * (x2 - x1), y1 + _LABEL_PLACE * (y2 - y1)
    return [line, f'<text class="rate" x="{x:.0f}" y="{y:.0f}">{rate.mean:,.0f}</text>']
