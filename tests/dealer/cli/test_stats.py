"""``arena stats`` and ``arena report``: tables, pages and refusals."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.console import Console

from dealer.cli.shell.console import Terminal
from dealer.cli.shell.sources import read_counts
from logs.hand_source import find
from logs.tracker.statistics import Statistics
from tests.dealer.cli.conftest import Arena

PLAY = ("play", "limit", "random", "raising", "-n", "60", "--seed", "3", "--in-process", "--quiet")


@pytest.fixture
def run(finished_runs: Callable[..., Path], tmp_path: Path) -> Path:
    """Finished run of 120 hands."""
    return shutil.copytree(finished_runs(*PLAY), tmp_path / "run")


def test_full_tables_extend_the_short_ones(arena_here: Arena, run: Path) -> None:
    completed = arena_here("stats", "run", "--full")
    assert completed.code == 0
    for words in ("VPIP", "W$WSF", "By position", "By street", "Most profitable starting hands", "Hands at the end"):
        assert words in completed.out
    assert not re.search(r"\b(nan|None)\b", completed.out)
    screen = arena_here("stats", "run")
    assert completed.out.startswith(screen.out)
    assert len(screen.out.splitlines()) < 40
    assert "By street" not in screen.out


def test_number_of_workers_changes_no_figure(arena_here: Arena, run: Path) -> None:
    assert arena_here("stats", str(run), "--workers", "2", "--json").out == arena_here("stats", str(run), "--json").out
    assert arena_here("stats", str(run), "--workers", "0").code == 2


def test_sums_equal_those_of_the_result(arena_here: Arena, run: Path) -> None:
    statistics = Statistics.model_validate_json(arena_here("stats", "run", "--json", "--times").out)
    result = json.loads((run / "result.json").read_text("utf-8"))
    of_result = {player["name"]: player for player in result["players"]}
    assert statistics.hands == result["hands_played"] == 120
    for bot in statistics.bots:
        assert bot.net_chips == of_result[bot.name]["chips"]
        assert bot.mbb_per_game.mean == pytest.approx(of_result[bot.name]["won"]["raw"]["mean"])
        assert bot.timing is not None
        assert bot.timing.actions == of_result[bot.name]["actions"]


def test_statistics_are_printed_as_rows_for_a_spreadsheet(arena_here: Arena, run: Path) -> None:
    rows = list(csv.DictReader(io.StringIO(arena_here("stats", "run", "--csv").out)))
    assert [(row["name"], row["position"]) for row in rows] == [
        (name, position) for name in ("raising", "random") for position in ("all", "SB", "BB")
    ]
    assert sum(float(row["net_chips"]) for row in rows if row["position"] == "all") == 0


def test_game_other_than_holdem_has_no_preflop_statistics(arena_here: Arena) -> None:
    assert arena_here("play", "kuhn", "random", "calling", "-n", "60", "--in-process", "--out", "small").code == 0
    completed = arena_here("stats", "small")
    assert completed.code == 0
    assert "W$SD" in completed.out
    assert "VPIP" not in completed.out


def test_few_hands_have_no_interval_and_no_style(arena_here: Arena) -> None:
    assert arena_here("play", "limit", "random", "calling", "-n", "3", "--in-process", "--out", "few").code == 0
    completed = arena_here("stats", "few")
    assert completed.code == 0
    assert "too few deals" in completed.err
    assert re.search("style +-", completed.out)
    assert not re.search(r"\b(nan|None)\b", completed.out)


def test_json_and_csv_at_once_are_refused(arena_here: Arena, run: Path) -> None:
    completed = arena_here("stats", "run", "--json", "--csv")
    assert completed.sentence == "--json and --csv contradict each other; leave one out"


@pytest.mark.parametrize("command", ["stats", "report"])
def test_unreadable_files_are_refused(arena_here: Arena, tmp_path: Path, command: str) -> None:
    assert arena_here(command, "nothing").sentence == "nothing: there is no such file or folder"
    (tmp_path / "empty").mkdir()
    assert arena_here(command, "empty").sentence == (
        "empty: there is no ACPC log, PHH file or PokerStars hand history in this folder"
    )
    (tmp_path / "letter.log").write_text("Dear Ann,\n" * 50)
    completed = arena_here(command, "letter.log")
    assert completed.code == 2
    assert "not an ACPC log: its first" in completed.err.splitlines()[-1] + completed.err
    assert "Traceback" not in completed.err


def test_damaged_log_is_refused_when_strict(arena_here: Arena, run: Path) -> None:
    log = run / "match.a.log"
    log.write_text(log.read_text("utf-8").replace("STATE:7:", "STATE:7;"), "utf-8")
    assert arena_here("stats", "run").code == 0
    completed = arena_here("stats", "run", "--strict")
    assert completed.code == 1
    assert "match.a.log, line 12" in completed.err.splitlines()[-1]


# ---- report


def test_report_is_overwritten_only_by_force(arena_here: Arena, run: Path, tmp_path: Path) -> None:
    (run / "report.html").write_text("mine")
    assert arena_here("report", "run").sentence == (
        "run/report.html exists already; overwrite it with --force, or choose another name with --out"
    )
    assert (run / "report.html").read_text() == "mine"
    completed = arena_here("report", "run", "--force", "--title", "My <match>")
    assert (completed.code, Path(completed.out.partition(":")[0])) == (0, Path("run/report.html"))
    page = (run / "report.html").read_text("utf-8")
    sentence = json.loads((run / "result.json").read_text("utf-8"))["sentence"]
    for words in (
        "<h1>My &lt;match&gt;</h1>",
        sentence,
        "Faults and thinking times",
        "Winnings",
        "Biggest pots",
    ):
        assert words in page
    assert not (tmp_path / "report.html").exists()
    assert "report.html" not in arena_here("stats", "run", "--strict").err, "the page is not taken for hands"


def test_report_of_a_tournament_has_a_chart_per_player(arena_here: Arena, tmp_path: Path) -> None:
    cup = ("tournament", "kuhn", "random", "calling", "raising", "-n", "40", "--in-process", "--out", "cup")
    assert arena_here(*cup).code == 0
    assert arena_here("report", "cup").code == 0
    page = (tmp_path / "cup" / "report.html").read_text("utf-8")
    assert page.count("<figure") == 4, "of all, and of each"
    assert "against" in page


def test_result_of_a_later_version_is_left_out(arena_here: Arena, run: Path) -> None:
    (run / "result.json").write_text('{"schema_version": 99}')
    completed = arena_here("report", "run")
    assert completed.code == 0
    assert (
        "it has schema version 99, but this program reads versions 2 to 4; the page uses only the logs" in completed.err
    )
    page = (run / "report.html").read_text("utf-8")
    assert "Faults and thinking times" not in page
    assert "<h1>raising · random</h1>" in page
    assert "Winnings" in page


def test_on_a_terminal_reading_shows_its_progress(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dealer.cli.shell.progress._QUIET_S", -1.0)
    monkeypatch.setattr("logs.tracker.many_files._may_be_clean", lambda source: False)
    monkeypatch.setattr("logs.tracker.columns._BATCH_HANDS", 50)
    terminal, text = Terminal(), io.StringIO()
    terminal.err = Console(file=text, force_terminal=True, width=60)
    assert read_counts(terminal, [run], find).hands == 120
    assert "reading hands: 0 s so far, 50 hands" in text.getvalue()
