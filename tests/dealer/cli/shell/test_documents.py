"""Documents in a terminal, as pages, JSON and CSV."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from rich.console import Console

from dealer.cli.shell.documents import show_document
from logs.document import Axis, Chart, Column, Document, Fact, Section, Series, Table
from logs.estimation import Estimate
from tests.dealer.cli.conftest import window

DOCUMENT = Document(
    "A title",
    ("It wins.",),
    (Fact("seed", 7),),
    (
        Section(
            "Play",
            (
                "How it plays.",
                Chart("Winnings", Axis("hands"), Axis("dollars"), (Series("won", (0.0, 1.0), (2.0, -3.0)),)),
                Table(
                    "Style",
                    (Column(""), Column("ours", ".2f"), Column("because")),
                    (("VPIP", Estimate(21.5, 0.3), "few hands"), ("genes", 32, "")),
                    "Of one run.",
                ),
            ),
        ),
    ),
)


@pytest.mark.parametrize("width", [40, 80, 120])
def test_words_and_tables_fit_the_window(width: int) -> None:
    terminal, out = window(width)
    show_document(terminal, DOCUMENT)
    text = out.getvalue()
    assert all(len(line.rstrip()) <= width for line in text.splitlines())
    for words in ("A title", "It wins.", "seed 7", "How it plays.", "21.50 ± 0.30", "few hands", "Of one run."):
        assert words in text
    assert "Winnings" not in text, "charts are for the page"


def test_page_is_written(tmp_path: Path) -> None:
    terminal, out = window(400, is_terminal=False)
    show_document(terminal, DOCUMENT, tmp_path / "page.html")
    assert "<svg" in (tmp_path / "page.html").read_text("utf-8")
    assert "page.html" in out.getvalue()


def test_json_has_numbers() -> None:
    terminal, out = window(400, is_terminal=False)
    show_document(terminal, DOCUMENT, as_json=True)
    assert json.loads(out.getvalue())["facts"] == {"seed": 7}


def test_extension_of_the_file_selects_its_format(tmp_path: Path) -> None:
    terminal, _ = window(400, is_terminal=False)
    for name in ("found.json", "found.md"):
        show_document(terminal, DOCUMENT, tmp_path / name)
    assert json.loads((tmp_path / "found.json").read_text("utf-8"))["title"] == "A title"
    assert (tmp_path / "found.md").read_text("utf-8").startswith("# A title\n\nIt wins.\n")


def test_cards_have_suits_and_colours_on_a_terminal() -> None:
    terminal, out = window(60)
    terminal.out = Console(file=out, force_terminal=True, width=60, highlight=False, color_system="standard")
    show_document(terminal, Document("", sections=(Section("", (Table("", (Column("player"),), (("Ah Kd",),)),)),)))
    assert "A♥" in out.getvalue()
    assert "\x1b[" in out.getvalue()
