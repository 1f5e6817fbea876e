"""Pages of reports: self-contained, with escaped text of bots, and usable in a browser."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from dealer.reports.run_report import report_document
from engine import Seat
from logs.contest_scores import WorstDeals
from logs.document.page import format_page
from logs.record import HandRecord, PlayerComment
from logs.tracker.hand_counts import HandCounts
from tests.browsers import BROWSER, needs_browser
from tests.logs.hands import random_hands
from tests.logs.pages import checked_page
from tests.programs import PATIENCE_S

EVIL = '<script>document.title="evil"</script>"\'&\u202e{{ 7*7 }}\x00\x07\x1b[2J\x85'


def _page(records: Iterable[HandRecord], title: str | None = None) -> str:
    records = list(records)
    worst = WorstDeals()
    for record in records:
        seats = record.seats[1:] + record.seats[:1]
        worst.add([("a.log", record), ("b.log", replace(record, seats=seats))])
    return format_page(report_document(HandCounts().add_all(records), [], title, worst_deals=worst.losses))


@pytest.mark.sampled
@pytest.mark.parametrize("game", ["kuhn", "leduc", "limit", "nolimit", "limit10", "nolimit6"])
def test_page_is_self_contained(game: str) -> None:
    """Three players have a chart of all and one each; two players have a single chart."""
    records = random_hands(game, 10, with_notes=True)
    page = _page(records)
    checker = checked_page(page)
    assert checker.fetched == []
    players = len(records[0].names_by_seat)
    assert checker.counts["figure"] == 1 + (players if players > 2 else 1)
    assert page.count('<details class="hand') == 10
    assert page.count('<details class="hand sheet" open') == 1
    assert checker.counts["script"] == 1


def test_names_and_comments_of_bots_are_escaped_without_control_characters() -> None:
    records = [
        replace(
            record,
            names_by_seat=(EVIL, "Bob"),
            match_name=EVIL,
            comments=(PlayerComment(Seat(0), 0, f"# {EVIL}"),),
        )
        for record in random_hands("limit", 20)
    ]
    page = _page(records, EVIL)
    checker = checked_page(page)
    assert checker.counts["script"] == 1
    assert "<script>document" not in page
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069]", page)
    assert "49" not in re.sub(r"[0-9.,]{3,}", "", page[: page.index("<svg")])


def test_rows_and_tables_have_accessible_names() -> None:
    page = _page(random_hands("limit3", 30))
    tables = page.count("<table")
    assert page.count("<caption>") == tables
    assert page.count("<tr>") == page.count('scope="row') + tables
    groups = 3 * 3
    assert page.count('scope="rowgroup"') == groups + 10, "a group for each bot in three tables, and for each deal"


def test_page_has_no_nan() -> None:
    for count in (1, 100):
        text = re.sub(r"<style>.*?</style>|<script>.*?</script>", "", _page(random_hands("limit", count)), flags=re.S)
        assert not re.search(r"\b(nan|inf|None|null)\b", text)


@needs_browser
def test_browser_shows_the_page_and_replays_a_hand(tmp_path: Path) -> None:
    """The script of the page runs without errors, and a click shows the next step."""
    assert BROWSER is not None
    probe = """
    <script>
    const hand = document.querySelector(".hand"), errors = [];
    window.addEventListener("error", event => errors.push(event.message));
    const click = to => hand.querySelector(`[data-go=${to}]`).click();
    const scenes = [...hand.querySelectorAll(".scene")], steps = [];
    const seen = () => scenes.flatMap((scene, at) => scene.offsetHeight > 0 ? [at] : []).join();
    click("first"); steps.push(seen()); click("on"); click("on"); steps.push(seen());
    click("back"); steps.push(seen()); click("last"); steps.push(seen() === String(scenes.length - 1));
    const plot = document.querySelector("svg").getBoundingClientRect();
    document.body.dataset.probe = JSON.stringify([...steps, errors.length, plot.height > 100,
      document.documentElement.scrollWidth <= innerWidth]);
    </script>
    """
    page = _page(random_hands("limit3", 30, with_notes=True))
    path = tmp_path / "page.html"
    path.write_text(page.replace("</body>", f"{probe}</body>"), "utf-8")
    done = subprocess.run(
        [
            BROWSER,
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--host-resolver-rules=MAP * ~NOTFOUND",
            f"--user-data-dir={tmp_path / 'profile'}",
            "--window-size=1000,800",
            "--dump-dom",
            path.as_uri(),
        ],
        capture_output=True,
        timeout=PATIENCE_S,
        check=True,
    )
    dom = done.stdout.decode("utf-8")
    assert 'data-probe="[&quot;0&quot;,&quot;2&quot;,&quot;1&quot;,true,0,true,true]"' in dom
    assert 'class="scripted"' in dom
