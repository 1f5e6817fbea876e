"""Docstrings follow the rules of wording in CONTRIBUTING.md."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.style import PACKAGES, Place, places

ROOT = Path(__file__).resolve().parents[1]
MAX_PLACES = {"question": 0, "relative": 60, "idiom": 20}


@pytest.mark.parametrize("rule", MAX_PLACES)
def test_few_docstrings_break_a_rule(rule: str) -> None:
    broken = [place for place in places(ROOT / package for package in PACKAGES) if place.rule == rule]
    assert len(broken) <= MAX_PLACES[rule], "\n".join(map(str, broken))


def test_places_are_named_by_file_and_line(tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    module.write_text('"""What the log holds."""\n\nLIMIT = 1\n"""Nobody plays on."""\n')
    assert list(places([module])) == [
        Place(module, 1, "question", "What the log holds."),
        Place(module, 1, "relative", "What the"),
        Place(module, 4, "idiom", "Nobody"),
    ]
    assert Counter(place.rule for place in places([module])) == {"question": 1, "relative": 1, "idiom": 1}
