"""Notes on publications: their length, and their figures, compared with the tables."""

from __future__ import annotations

import re

import pytest

from tests.dealer.helpers import ROOT

pytestmark = pytest.mark.slow

MAX_WORDS = 700
NOTES = ("cfr", "evolved", "kuhn", "learner", "lp-mc", "rembrant")
_NUMBER = r"\d(?:[\d,]*\d)?(?:\.\d+)?"
_FIGURE = re.compile(rf"[+-]?{_NUMBER} ± {_NUMBER}|[+-]?\d[\d,]*\.\d+")


def _text(name: str) -> str:
    return (ROOT / "docs" / f"{name}.md").read_text("utf-8")


def _tables(name: str) -> str:
    return (ROOT / "research" / "tables" / f"{name}.md").read_text("utf-8")


@pytest.mark.parametrize("name", NOTES)
def test_note_is_short(name: str) -> None:
    prose = re.sub(r"```.*?```|<!--.*?-->|^    .*?$", "", _text(name), flags=re.DOTALL | re.MULTILINE)
    assert sum(bool(re.search(r"\w", word)) for word in prose.split()) <= MAX_WORDS
    assert f"appendix/{name}.md" in prose


@pytest.mark.parametrize("name", NOTES)
def test_every_figure_of_a_note_is_in_its_tables(name: str) -> None:
    """The tables are those of the note's own page, or of the page on the strength of all bots."""
    tables = "\n".join(map(_tables, {name, "strength"})).replace(" | ± ", " ± ")
    table_figures = {*_FIGURE.findall(tables), *re.findall(r"[+-]?\d[\d,]*(?:\.\d+)?", tables)}
    note_figures = set(_FIGURE.findall(re.sub(r"\]\(\S+\)", "", _text(name))))
    assert not {figure for figure in note_figures if figure not in table_figures and f"+{figure}" not in table_figures}
