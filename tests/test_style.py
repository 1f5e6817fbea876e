"""Docstrings follow the rules of wording in CONTRIBUTING.md."""

from __future__ import annotations

from pathlib import Path

from tests.style import PACKAGES, Place, places

ROOT = Path(__file__).resolve().parents[1]
MAX_PLACES = {"question": 0, "relative": 60, "idiom": 20}


def test_few_docstrings_break_a_rule() -> None:
    broken = list(places(ROOT / package for package in PACKAGES))
    for rule, max_places in MAX_PLACES.items():
        breaks = [place for place in broken if place.rule == rule]
        assert len(breaks) <= max_places, "\n".join(map(str, breaks))


def test_places_are_named_by_file_and_line(tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    module.write_text('"""What the log holds."""\n\nLIMIT = 1\n"""Nobody plays on."""\n')
    assert list(places([module])) == [
        Place(module, 1, "question", "What the log holds."),
        Place(module, 1, "relative", "What the"),
        Place(module, 4, "idiom", "Nobody"),
    ]
