from __future__ import annotations

from xml.etree import ElementTree

import pytest

from logs.document import Axis, Bars, Chart, Series
from logs.document.chart import chart_svg, interval_svgs, thinned, ticks
from logs.estimation import Estimate

HANDS, CHIPS = Axis("hands"), Axis("winnings", "chips")


def _parsed(svg: str) -> ElementTree.Element:
    return ElementTree.fromstring(svg)


def _of_class(svg: str, name: str) -> list[ElementTree.Element]:
    return [element for element in _parsed(svg).iter() if name in element.get("class", "").split()]


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0, 3000, [0, 1000, 2000, 3000]),
        (-190, 220, [-100, 0, 100, 200]),
        (0.1, 0.35, [0.1, 0.15, 0.2, 0.25, 0.3, 0.35]),
    ],
)
def test_ticks_are_round_numbers_with_zero(low: float, high: float, expected: list[float]) -> None:
    assert ticks(low, high) == pytest.approx(expected)


def test_ticks_of_a_log_axis_are_powers_of_ten() -> None:
    assert ticks(3, 12_000, is_log=True) == pytest.approx([10, 100, 1000, 10_000])
    assert len(ticks(1e-12, 1, is_log=True)) <= 6


@pytest.mark.parametrize("count", [1, 401, 999])
def test_thinned_points_keep_both_ends(count: int) -> None:
    points = thinned(list(range(count)))
    assert (points[0], points[-1]) == (0, count - 1)
    assert len(points) <= 401


def test_lines_have_bands_hints_and_a_description() -> None:
    chart = Chart(
        "Winnings",
        HANDS,
        CHIPS,
        (Series("a <b>", (0, 10, 20), (0, 5, -5), (None, 2, 2)), Series("c", (0, 20), (1, 1), is_dashed=True)),
        marks=((10, "half"),),
    )
    svg = chart_svg(chart)
    root = _parsed(svg)
    assert "a <b>: -5 ± 2 at 20" in (root.get("aria-label") or "")
    assert "winnings, chips over hands" in (root.get("aria-label") or "")
    assert len(_of_class(svg, "band")) == 1
    assert len(_of_class(svg, "net")) == 2
    assert len(_of_class(svg, "dashed")) == 1
    assert len(_of_class(svg, "hint")) == 5
    assert len(_of_class(svg, "zero")) >= 1
    assert [element.text for element in root.iter("text")][-1:] != []
    texts = [element.text for element in root.iter("text")]
    assert {"hands", "winnings, chips", "half"} <= set(texts)


def test_higher_values_are_drawn_higher() -> None:
    svg = chart_svg(Chart("W", HANDS, CHIPS, (Series("a", (0, 10), (0, 5), has_dots=True),)))
    low, high = (float(dot.get("cy", "")) for dot in _of_class(svg, "dot"))
    assert low > high


def test_log_axes_leave_out_what_they_cannot_show() -> None:
    chart = Chart("E", Axis("n", is_log=True), Axis("e", is_log=True), (Series("a", (1, 10, 100), (1, 0.1, 0.0)),))
    assert _of_class(chart_svg(chart), "net")


def test_empty_chart_has_no_svg() -> None:
    assert chart_svg(Chart("W", HANDS, CHIPS, ())) == ""
    assert chart_svg(Bars("W", CHIPS, ())) == ""


def test_bars_reach_from_zero_to_their_values_with_whiskers() -> None:
    svg = chart_svg(Bars("By set", CHIPS, (("x", Estimate(300, 40)), ("y", Estimate(-50)), ("z", Estimate(0)))))
    x, y, z = _of_class(svg, "bar")
    zero = float(x.get("x", ""))
    assert float(y.get("x", "")) + float(y.get("width", "")) == pytest.approx(zero, abs=0.2)
    assert float(z.get("width", "")) == 0.5
    assert len(_of_class(svg, "whisker")) == 1


def test_equal_values_and_a_single_point_are_drawn() -> None:
    assert chart_svg(Chart("W", HANDS, CHIPS, (Series("a", (5,), (0,)),)))
    assert chart_svg(Bars("W", CHIPS, (("x", Estimate(0.0)),)))


def test_intervals_are_on_one_scale_and_a_long_one_does_not_squeeze_the_others() -> None:
    axis, svgs = interval_svgs([Estimate(100.0, 10.0), Estimate(-100.0, 10_000.0), Estimate(0.0), None], CHIPS)
    places = [float(_of_class(svg, "dot")[0].get("cx", "").rstrip("%")) for svg in svgs[:3]]
    (zero,) = {_of_class(svg, "zero")[0].get("x1") for svg in svgs[:3]}
    assert places[1] < places[2] == float((zero or "").rstrip("%")) < places[0]
    assert [text.text for text in _parsed(axis).iter("text")] == ["-300", "-200", "-100", "0", "100"]
    assert places[0] - places[1] > 25
    assert [len(_of_class(svg, "whisker")) for svg in svgs] == [1, 1, 0, 0]
    assert interval_svgs([], CHIPS)[1] == []
