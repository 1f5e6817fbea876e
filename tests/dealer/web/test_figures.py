"""Charts and cells of pages."""

from __future__ import annotations

import re

import pytest

from dealer.web.figures import interval_bars, score_chart, ticks
from logs.contest_scores import ScorePoint


@pytest.mark.parametrize(
    ("low", "high", "wanted"),
    [
        (-7.0, 12.0, [-5, 0, 5, 10]),
        (0.0, 2000.0, [0, 500, 1000, 1500, 2000]),
        (-0.03, 0.011, [-0.03, -0.02, -0.01, 0, 0.01]),
        (-1.0, -0.5, [-1.0, -0.9, -0.8, -0.7, -0.6, -0.5]),
    ],
)
def test_ticks_are_round_numbers_within_the_range(low: float, high: float, wanted: list[float]) -> None:
    assert ticks(low, high) == pytest.approx(wanted)


def _points(*blinds: float) -> list[ScorePoint]:
    return [ScorePoint(100 * at, value, 5.0) for at, value in enumerate(blinds, 1)]


def test_one_chart_has_a_line_for_each_player_on_the_same_axes() -> None:
    chart = score_chart({"a<b": _points(10.0, 30.0), "c": _points(-10.0, -30.0)})
    assert "a&lt;b: +30.0 ± 5.0 big blinds over 200 hands; c: -30.0 ± 5.0 big blinds over 200 hands" in chart
    lines = [
        [tuple(map(float, point.split(","))) for point in found.split()]
        for found in re.findall(r'<polyline class="net p\d" points="([^"]+)"', chart)
    ]
    zero = float(re.findall(r'class="zero" [^>]*y1="([\d.]+)"', chart)[0])
    assert [point[0] for point in lines[0]] == [point[0] for point in lines[1]]
    for ours, theirs in zip(*lines, strict=True):
        assert ours[1] + theirs[1] == pytest.approx(2 * zero, abs=0.11)
    assert re.findall(r">(-?\d+)</text>", chart)[:3] == ["-20", "0", "20"]
    assert score_chart({}) == score_chart({"a": []}) == ""


def test_bars_are_on_one_scale_and_a_long_one_does_not_squeeze_the_others() -> None:
    bars = interval_bars([(100.0, 10.0), (-100.0, 10_000.0), (0.0, None)])
    at = [float(re.findall(r'cx="([\d.]+)"', bar)[0]) for bar in bars]
    (zero,) = {re.findall(r'class="zero" x1="([\d.]+)"', bar)[0] for bar in bars}
    assert at[1] < at[2] == float(zero) < at[0]
    assert at[0] - at[1] > 50
    assert ["whisker" in bar for bar in bars] == [True, True, False]
    assert interval_bars([]) == []
    assert len(interval_bars([(0.0, None), (0.0, 0.0)])) == 2
