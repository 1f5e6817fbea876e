"""A score over the hands as a drawing, made here without any library: a line, and its 95 % interval as a band."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Final

from logs.contest_scores import ScorePoint
from logs.page.drawing import plain_number, thinned
from logs.text import shown

__all__ = ["score_curve"]

_WIDTH: Final = 640
_HEIGHT: Final = 240
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 12, 12, 36


def score_curve(points: Sequence[ScorePoint], player: str) -> str:
    """What a player won over the hands, in big blinds, as an ``<svg>`` element; empty without hands."""
    if not points:
        return ""
    # The band of the first deals is wide and says nothing: it is cut off where the picture ends.
    along = [ScorePoint(0, 0.0, None), *thinned(points)]
    last = along[-1]
    reach = [one.blinds for one in along] + (
        [last.blinds - last.half_width, last.blinds + last.half_width] if last.half_width else []
    )
    low, high = min(reach), max(reach)
    margin = 0.05 * (high - low) or 1.0
    low, high = low - margin, high + margin

    def x(hands: float) -> float:
        return _LEFT + (_WIDTH - _LEFT - _RIGHT) * hands / last.hands

    def y(blinds: float) -> float:
        return _TOP + (_HEIGHT - _TOP - _BOTTOM) * (high - min(max(blinds, low), high)) / (high - low)

    def path(ends: Sequence[tuple[float, float]]) -> str:
        return " ".join(f"{x(hands):.1f},{y(blinds):.1f}" for hands, blinds in ends)

    known = [(one.hands, one.blinds, one.half_width) for one in along if one.half_width is not None]
    band = [(at, net + half) for at, net, half in known] + [(at, net - half) for at, net, half in reversed(known)]
    parts = [f'<polygon class="band" points="{path(band)}"/>'] if len(known) > 1 else []
    parts.append(f'<line class="zero" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y(0):.1f}" y2="{y(0):.1f}"/>')
    parts.append(f'<polyline class="net" points="{path([(one.hands, one.blinds) for one in along])}"/>')
    for blinds in {0.0, last.blinds}:
        words = plain_number(blinds)
        parts.append(f'<text x="{_LEFT - 8}" y="{y(blinds) + 4:.1f}" text-anchor="end">{words}</text>')
    for part in (0.5, 1.0):
        at = last.hands * part
        anchor = "end" if part == 1 else "middle"
        parts.append(f'<text x="{x(at):.1f}" y="{_HEIGHT - 14}" text-anchor="{anchor}">{at:,.0f} hands</text>')
    end = f"{last.blinds:+,.1f}" + ("" if last.half_width is None else f" ± {last.half_width:,.1f}")
    label = html.escape(f"{shown(player)}: {end} big blinds over {last.hands:,} hands", quote=True)
    return f'<svg class="curve" role="img" aria-label="{label}" viewBox="0 0 {_WIDTH} {_HEIGHT}">{"".join(parts)}</svg>'
