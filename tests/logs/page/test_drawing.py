"""Pictures as SVG: what a page needs of them, whatever they show."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from typing import Any

import pytest

from logs.page.drawing import MARK, drawn, plain_number, thinned


def _paint(axes: Any) -> None:
    axes.plot([0, 1], [1, 2], color=MARK)


def test_a_picture_is_one_element_with_a_label_in_the_pages_colours() -> None:
    svg = drawn(_paint, 'of "A" & <B>')
    root = ET.fromstring(svg)
    assert root.attrib["aria-label"] == 'of "A" & <B>'
    assert "width" not in root.attrib
    assert MARK not in svg
    assert "currentColor" in svg
    assert drawn(_paint, 'of "A" & <B>') == svg


@pytest.mark.parametrize("count", [0, 1, 2, 399, 400, 401, 800, 1999])
def test_thinned_points_keep_both_ends(count: int) -> None:
    points = list(range(count))
    kept = thinned(points)
    assert len(kept) <= 401
    assert kept == sorted(set(kept))
    assert (kept[:1], kept[-1:]) == (points[:1], points[-1:])


def test_numbers_beside_an_axis() -> None:
    assert [plain_number(value) for value in (0.0, 0.25, -9.5, 12345.6)] == ["0", "0.25", "-9.5", "12,346"]
