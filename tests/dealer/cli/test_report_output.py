"""A report in a terminal, and its page."""

from __future__ import annotations

from pathlib import Path

import pytest

from dealer.cli.report_output import show_report
from tests.bots.studies.test_report import REPORT
from tests.dealer.cli.conftest import window


@pytest.mark.parametrize("width", [40, 80, 120])
def test_words_and_tables_fit_the_window(width: int) -> None:
    terminal, out = window(width)
    show_report(terminal, REPORT)
    text = out.getvalue()
    assert all(len(line.rstrip()) <= width for line in text.splitlines())
    for words in ("A title", "It wins.", "seed 7", "How it plays.", "21.91 %", "not printed", "Of one run.", "More"):
        assert words in text
    assert "Winnings" not in text, "charts are for the page"


def test_the_page_is_written(tmp_path: Path) -> None:
    terminal, out = window(400, is_terminal=False)
    show_report(terminal, REPORT, tmp_path / "page.html")
    assert "<svg" in (tmp_path / "page.html").read_text("utf-8")
    assert "page.html" in out.getvalue()
