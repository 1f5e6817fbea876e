"""The page: all of it inside, nothing that a bot wrote can do anything, and a real browser opens it."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from engine import Seat
from logs.document import TEXT, Column, Table
from logs.record import HandRecord, PlayerComment
from logs.report import format_report, report_data
from logs.report.page import winnings_plot
from logs.tracker.hand_counts import HandCounts
from logs.tracker.statistics import statistics_of
from tests.browsers import BROWSER, needs_browser
from tests.logs.hands import random_hands
from tests.logs.pages import checked_page

EVIL = '<script>document.title="evil"</script>"\'&\u202e{{ 7*7 }}'


def _page(records: Iterable[HandRecord], **options: object) -> str:
    counts = HandCounts().add_all(records)
    return format_report(report_data("Ann · Bob", statistics_of(counts), counts.big_pots(), **options))  # type: ignore[arg-type]


@cache
def _plot_of_nothing() -> str:
    return winnings_plot([], "everybody")


@pytest.mark.parametrize("game", ["kuhn", "leduc", "limit", "nolimit", "nolimit6", "limit10"])
def test_a_page_is_whole_and_fetches_nothing(game: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The plots of limit hold'em are drawn; at the other tables one is drawn for all players."""
    if game != "limit":
        monkeypatch.setattr("logs.report.page.winnings_plot", lambda points, name: _plot_of_nothing())
    records = random_hands(game, 60, with_notes=True)
    checker = checked_page(_page(records))
    assert checker.fetched == []
    assert checker.counts["svg"] == len(records[0].names_by_seat)
    assert _page(records).count('<details class="hand') == 10
    assert checker.counts["script"] == 1


def test_what_bots_wrote_is_only_text() -> None:
    records = [
        replace(
            record,
            names_by_seat=(EVIL, "Bob"),
            match_name=EVIL,
            comments=(PlayerComment(Seat(0), 0, f"# {EVIL}"),),
        )
        for record in random_hands("limit", 120)
    ]
    table = Table.of("Faults", (Column("bot", ",", meaning=EVIL), "first fault"), ((EVIL, EVIL),), note=EVIL)
    page = _page(records, sentences=[EVIL], facts=[("seed", EVIL)], more_tables=[table])
    checker = checked_page(page)
    assert checker.counts["script"] == 1
    assert "<script>document" not in page
    assert "49" not in re.sub(r"[0-9.,]{3,}", "", page[: page.index("<svg")])


def test_what_bots_wrote_has_no_control_characters() -> None:
    evil = "A\x00\x07\x1b[2J\x85\u202eb"
    records = [
        replace(
            record, names_by_seat=(evil, "Bob"), match_name=evil, comments=(PlayerComment(Seat(0), 0, f"# {evil}"),)
        )
        for record in random_hands("limit", 10)
    ]
    page = _page(records, sentences=[evil], facts=[("seed", evil)])
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069]", page)


def test_rows_and_tables_have_names_for_those_who_do_not_see_them() -> None:
    page = _page(random_hands("limit3", 120))
    tables = page.count("<table")
    assert page.count("<caption>") == tables
    assert page.count("<tr>") == page.count('scope="row') + tables
    assert page.count('scope="rowgroup"') == 3 * 3, "of positions, streets and final hands, a group for each bot"


def test_figures_are_never_not_a_number() -> None:
    for count in (1, 2, 99, 100):
        text = re.sub(r"<style>.*?</style>|<script>.*?</script>", "", _page(random_hands("limit", count)), flags=re.S)
        assert not re.search(r"\b(nan|inf|None|null)\b", text)


def test_sentences_facts_and_tables_are_there() -> None:
    table = Table.of("Faults and thinking times", ("bot", Column("faults", TEXT)), (("Ann", "2 stale reply"),))
    page = _page(random_hands("limit", 120), sentences=["Ann beats Bob."], facts=[("seed", "7")], more_tables=[table])
    for text in ("Ann beats Bob.", "2 stale reply", "Most profitable starting hands", "By street", "Biggest pots"):
        assert text in page


@needs_browser
def test_a_browser_shows_it_and_replays_a_hand(tmp_path: Path) -> None:
    """The page's own script runs, a click goes a step on, and nothing breaks on the way."""
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
    page = _page(random_hands("limit3", 200, with_notes=True))
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
        timeout=120,
        check=True,
    )
    dom = done.stdout.decode("utf-8")
    assert 'data-probe="[&quot;0&quot;,&quot;2&quot;,&quot;1&quot;,true,0,true,true]"' in dom
    assert 'class="scripted"' in dom
