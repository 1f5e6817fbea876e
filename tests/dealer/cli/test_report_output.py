"""A report in a terminal, and its page."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from dealer.cli.console import Terminal
from dealer.cli.report_output import show_report
from tests.bots.studies.test_report import REPORT


@pytest.mark.parametrize("width", [40, 80, 120])
def test_words_and_tables_fit_the_window(width: int) -> None:
    out = io.StringIO()
    terminal = Terminal()
    terminal.out = Console(file=out, width=width, force_terminal=True, color_system=None, soft_wrap=True)
    show_report(terminal, REPORT)
    text = out.getvalue()
    assert all(len(line.rstrip()) <= width for line in text.splitlines())
    for words in ("A title", "It wins.", "seed 7", "How it plays.", "21.91 %", "not printed", "Of one run.", "More"):
        assert words in text
    assert "Winnings" not in text, "charts are for the page"


def test_the_page_is_written(tmp_path: Path) -> None:
    out = io.StringIO()
    terminal = Terminal()
    terminal.out = Console(file=out, width=400)
    show_report(terminal, REPORT, tmp_path / "page.html")
    assert "<svg" in (tmp_path / "page.html").read_text("utf-8")
    assert "page.html" in out.getvalue()
