"""Curves as SVG."""

from __future__ import annotations

import xml.etree.ElementTree as ET

from logs.report.page import LEGEND, winnings_plot
from logs.tracker.statistics import CurvePoint


def _points(count: int, *, adjusted: bool = True) -> list[CurvePoint]:
    return [
        CurvePoint(
            hands=10 * i,
            net=3.0 * i,
            showdown=5.0 * i,
            no_showdown=-2.0 * i,
            adjusted=2.5 * i if adjusted else None,
            half_width_95=20.0 if i >= 10 else None,
        )
        for i in range(1, count + 1)
    ]


def test_a_plot_is_one_element_in_the_pages_colours() -> None:
    svg = winnings_plot(_points(50), "Ann")
    root = ET.fromstring(svg)
    assert root.tag.endswith("svg")
    assert root.attrib["aria-label"] == "winnings of Ann over hands"
    assert "width" not in root.attrib
    assert "currentColor" in svg
    assert "#010203" not in svg
    for _, colour in LEGEND:
        assert colour in svg
    assert "fill-opacity: 0.18" in svg


def test_what_is_not_known_is_not_drawn() -> None:
    svg = winnings_plot(_points(5, adjusted=False), "Ann")
    assert dict(LEGEND)["all-in adjusted (dashed)"] not in svg
    assert "fill-opacity: 0.18" not in svg


def test_the_same_curve_is_the_same_text() -> None:
    assert winnings_plot(_points(300), "Ann") == winnings_plot(_points(300), "Ann")


def test_a_long_curve_stays_small_and_ends_where_it_ends() -> None:
    svg = winnings_plot(_points(1000), "Ann")
    assert len(svg) < 120_000
    assert ">10,000<" in svg


def test_a_name_cannot_leave_its_place() -> None:
    svg = winnings_plot(_points(3), '"><script>alert(1)</script>&\\1')
    assert ET.fromstring(svg).attrib["aria-label"] == 'winnings of "><script>alert(1)</script>&\\1 over hands'
