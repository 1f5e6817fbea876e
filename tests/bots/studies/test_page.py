"""The page of a report: whole, nothing fetched, nothing but text of what others wrote."""

from __future__ import annotations

from dataclasses import replace

from bots.studies.report import Section, format_report
from logs.document import Column, Table
from logs.page.drawing import TONES
from tests.bots.studies.test_report import REPORT
from tests.logs.pages import checked_page

EVIL = '<script>document.title="evil"</script>{{ 7*7 }}'


def test_a_page_is_whole_and_fetches_nothing() -> None:
    page = format_report(REPORT)
    checker = checked_page(page)
    assert checker.fetched == []
    assert (checker.counts["svg"], checker.counts["table"], checker.counts["script"]) == (2, 2, 1)
    for text in ("A title", "It wins.", "seed", "How it plays.", "not printed", "Of one run.", "A note."):
        assert text in page
    assert f'background:{TONES[0]}"></i>won</li>' in page
    assert "default-src 'none'" in page
    assert "prefers-color-scheme: dark" in page


def test_texts_are_only_text() -> None:
    table = Table(EVIL, (Column(EVIL, ",", meaning=EVIL),), ((EVIL,),), EVIL)
    page = format_report(replace(REPORT, title=EVIL, sections=(Section(EVIL, (EVIL,), (table,)),)))
    assert checked_page(page).counts["script"] == 1
    assert "{{ 7*7 }}" in page
