"""``arena stats`` and ``arena report``, as people use them."""

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
from dealer.cli.shell.sources import counted
from dealer.run.results import ContestResult
from logs.hand_source import find
from logs.tracker.statistics import Statistics
from logs.variance.estimates import Estimates
from tests.dealer.cli.conftest import Arena

PLAY = ("play", "limit", "random", "raising", "-n", "150", "--seed", "3", "--in-process", "--quiet")


@pytest.fixture
def run(finished_runs: Callable[..., Path], tmp_path: Path) -> Path:
    """A finished run of 300 hands."""
    return shutil.copytree(finished_runs(*PLAY), tmp_path / "run")


def test_the_tables(arena_here: Arena, run: Path) -> None:
    ran = arena_here("stats", "run", "--full")
    assert ran.code == 0
    for words in ("VPIP", "W$WSF", "By position", "By street", "Most profitable starting hands", "Hands at the end"):
        assert words in ran.out
    assert not re.search(r"\b(nan|None)\b", ran.out)
    screen = arena_here("stats", "run")
    assert ran.out.startswith(screen.out)
    assert len(screen.out.splitlines()) < 40
    assert "By street" not in screen.out


def test_the_number_of_workers_changes_no_figure(arena_here: Arena, run: Path) -> None:
    assert arena_here("stats", str(run), "--workers", "2", "--json").out == arena_here("stats", str(run), "--json").out
    assert arena_here("stats", str(run), "--workers", "0").code == 2


def test_the_sums_are_those_of_the_result(arena_here: Arena, run: Path) -> None:
    statistics = Statistics.model_validate_json(arena_here("stats", "run", "--json", "--times").out)
    result = json.loads((run / "result.json").read_text("utf-8"))
    of_result = {player["name"]: player for player in result["players"]}
    assert statistics.hands == result["hands_played"] == 300
    for bot in statistics.bots:
        assert bot.net_chips == of_result[bot.name]["chips"]
        assert bot.mbb_per_game.mean == pytest.approx(of_result[bot.name]["won"]["raw"]["mean"])
        assert bot.timing is not None
        assert bot.timing.actions == of_result[bot.name]["actions"]


def test_rows_for_a_spreadsheet(arena_here: Arena, run: Path) -> None:
    rows = list(csv.DictReader(io.StringIO(arena_here("stats", "run", "--csv").out)))
    assert [(row["name"], row["position"]) for row in rows] == [
        (name, position) for name in ("raising", "random") for position in ("all", "SB", "BB")
    ]
    assert sum(float(row["net_chips"]) for row in rows if row["position"] == "all") == 0


def test_a_game_that_is_not_holdem(arena: Arena, arena_here: Arena) -> None:
    assert arena("play", "kuhn", "random", "calling", "-n", "60", "--in-process", "--out", "small").code == 0
    ran = arena_here("stats", "small")
    assert ran.code == 0
    assert "W$SD" in ran.out
    assert "VPIP" not in ran.out


def test_few_hands_have_no_interval_and_no_style(arena: Arena, arena_here: Arena) -> None:
    assert arena("play", "limit", "random", "calling", "-n", "3", "--in-process", "--out", "few").code == 0
    ran = arena_here("stats", "few")
    assert ran.code == 0
    assert "too few deals" in ran.err
    assert re.search("style +-", ran.out)
    assert not re.search(r"\b(nan|None)\b", ran.out)


def test_json_and_csv_at_once_are_refused(arena_here: Arena, run: Path) -> None:
    assert arena_here("stats", "run", "--json", "--csv").sentence == "--json and --csv contradict each other; give one"


@pytest.mark.parametrize("command", ["stats", "report"])
def test_what_cannot_be_read(arena_here: Arena, tmp_path: Path, command: str) -> None:
    assert arena_here(command, "nothing").sentence == "nothing: there is no such file or folder"
    (tmp_path / "empty").mkdir()
    assert arena_here(command, "empty").sentence == (
        "empty: there is no ACPC log, PHH file or PokerStars hand history in this folder"
    )
    (tmp_path / "letter.log").write_text("Dear Ann,\n" * 50)
    ran = arena_here(command, "letter.log")
    assert ran.code == 2
    assert "not an ACPC log: its first" in ran.err.splitlines()[-1] + ran.err
    assert "Traceback" not in ran.err


def test_a_damaged_log_read_strictly(arena_here: Arena, run: Path) -> None:
    log = run / "match.a.log"
    log.write_text(log.read_text("utf-8").replace("STATE:7:", "STATE:7;"), "utf-8")
    assert arena_here("stats", "run").code == 0
    ran = arena_here("stats", "run", "--strict")
    assert ran.code == 1
    assert "match.a.log, line 12" in ran.err.splitlines()[-1]


# ---- report


def test_a_report(arena_here: Arena, run: Path, tmp_path: Path) -> None:
    ran = arena_here("report", "run", "-o", "pages/report.html")
    assert ran.code == 0
    assert Path(ran.out.partition(":")[0]) == Path("pages/report.html")
    page = (tmp_path / "pages" / "report.html").read_text("utf-8")
    sentence = json.loads((run / "result.json").read_text("utf-8"))["sentence"]
    assert sentence in page
    for words in ("Faults and thinking times", "Winnings", "Biggest pots", "raising · random"):
        assert words in page


def test_a_report_is_not_written_over(arena_here: Arena, run: Path, tmp_path: Path) -> None:
    (run / "report.html").write_text("mine")
    assert arena_here("report", "run").sentence == (
        "run/report.html exists already: --force overwrites it, --out takes another name"
    )
    assert (run / "report.html").read_text() == "mine"
    assert arena_here("report", "run", "--force", "--title", "My <match>").code == 0
    assert "<h1>My &lt;match&gt;</h1>" in (run / "report.html").read_text("utf-8")
    assert not (tmp_path / "report.html").exists()
    assert "report.html" not in arena_here("stats", "run", "--strict").err, "the page is not taken for hands"


def test_a_report_of_a_log_alone(arena_here: Arena, run: Path, tmp_path: Path) -> None:
    assert arena_here("report", "run/match.b.log").code == 0
    page = (tmp_path / "report.html").read_text("utf-8")
    assert "Faults and thinking times" not in page
    assert "Winnings" in page


def test_a_report_of_a_tournament(arena: Arena, arena_here: Arena, tmp_path: Path) -> None:
    cup = ("tournament", "kuhn", "random", "calling", "raising", "-n", "40", "--in-process", "--out", "cup")
    assert arena(*cup).code == 0
    assert arena_here("report", "cup").code == 0
    page = (tmp_path / "cup" / "report.html").read_text("utf-8")
    assert page.count("<figure") == 4, "of all, and of each"
    assert "against" in page


def test_a_result_that_is_not_understood_is_left_out(arena_here: Arena, run: Path) -> None:
    (run / "result.json").write_text('{"schema_version": 99}')
    ran = arena_here("report", "run")
    assert ran.code == 0
    assert "it has schema version 99, but this program reads versions 2 and 3: the page uses only the logs" in ran.err


def test_on_a_terminal_reading_shows_its_progress(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dealer.cli.shell.progress._QUIET_S", -1.0)
    monkeypatch.setattr("logs.tracker.many_files._may_be_clean", lambda source: False)
    monkeypatch.setattr("logs.tracker.columns._HANDS", 100)
    terminal, shown = Terminal(), io.StringIO()
    terminal.err = Console(file=shown, force_terminal=True, width=60)
    assert counted(terminal, [run], find).hands == 300
    assert "reading hands: 0 s so far, 100 hands" in shown.getvalue()


@pytest.fixture
def small(finished_runs: Callable[..., Path], tmp_path: Path) -> Path:
    """A finished run of a game whose boards are few."""
    played = (
        "play",
        "kuhn",
        "A=random?seed=5",
        "B=random?seed=9",
        "-n",
        "200",
        "--seed",
        "3",
        "--in-process",
        "--quiet",
    )
    return shutil.copytree(finished_runs(*played), tmp_path / "small")


def test_estimators_side_by_side(arena_here: Arena, small: Path) -> None:
    ran = arena_here("stats", "small", "--variance")
    assert ran.code == 0
    for words in ("raw", "duplicate", "all-in adjusted", "chance-corrected, fitted", "worth raw hands"):
        assert words in ran.out
    assert "AIVAT" not in ran.out
    assert "B: the same with the other sign" in ran.err
    known = arena_here("stats", "small", "--variance", "--policy", "A", "--policy", "B=random?seed=1")
    for words in ("AIVAT, A known", "AIVAT, B known", "AIVAT, A and B known"):
        assert words in known.out
    over_ranges = arena_here("stats", "small", "--variance", "--policy", "A", "--policy", "B", "--ranges")
    for words in ("AIVAT over ranges, A known", "AIVAT over ranges, A and B known"):
        assert words in over_ranges.out


def test_estimates_as_json_are_kept_in_the_result(arena_here: Arena, small: Path) -> None:
    ran = arena_here("stats", "small", "--variance", "--json", "--save", "--policy", "A")
    assert ran.code == 0
    found = Estimates.model_validate_json(ran.out)
    (of_game,) = found.games
    assert (of_game.hands, of_game.deals) == (400, 200)
    result = ContestResult.model_validate_json((small / "result.json").read_text("utf-8"))
    assert result.estimates == of_game
    for player, told in zip(of_game.players, result.players, strict=True):
        by_name = {estimate.name: estimate for estimate in player.estimates}
        assert told.won is not None
        assert by_name["duplicate"].mbb_per_game == pytest.approx(told.won.raw.mean)
        assert by_name["duplicate"].half_width_95 == pytest.approx(told.won.raw.half_width)
        assert by_name["AIVAT, A known"].standard_error < by_name["chance-corrected"].standard_error
        assert all(estimate.warning is None for estimate in player.estimates)
    one, other = (player.estimates for player in of_game.players)
    for mine, theirs in zip(one, other, strict=True):
        assert mine.mbb_per_game == pytest.approx(-theirs.mbb_per_game, abs=1e-6)


def test_players_with_faults_are_doubted(arena_here: Arena, small: Path) -> None:
    path = small / "result.json"
    result = json.loads(path.read_text("utf-8"))
    result["players"][0]["faults"] = {"timeout": 2}
    path.write_text(json.dumps(result), "utf-8")
    ran = arena_here("stats", "small", "--variance", "--policy", "A")
    assert "A, AIVAT, A known: A had 2 faults: actions played for it are not its policy's" in ran.err


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--policy", "A"], "--policy, --ranges and --save go with --variance"),
        (["--variance", "--ranges"], "--ranges goes with --policy: it needs a player whose policy is known"),
        (["--variance", "--csv"],
         "--variance prints a table of its own: it goes with --json, --policy, --save, --game, --chip-value and "
         "--strict"),
        (["--variance", "--policy", "C=calling"],
         "--policy C: there is no such player in these hands, only A, B"),
        (["--variance", "--policy", "C"], "--policy C: no result of a run names the bot of C; give --policy C=POLICY"),
        (["--variance", "--policy", "A", "--policy", "A=calling"], "--policy A is given twice"),
        (["--variance", "--policy", "A=file:none"], "A: none: No such file or directory"),
        (["--variance", "--policy", "A=mfs"],
         "A: mfs has no policy in this game: the chance to win is counted for hold'em only: limit or no-limit, two "
         "hole cards from a deck of 52, a board of three, one and one, such as in the games nolimit, limit, nolimit3 "
         "and limit10; this game is not one of them"),
    ],
)  # fmt: skip
def test_estimates_that_cannot_be(arena_here: Arena, small: Path, arguments: list[str], sentence: str) -> None:
    ran = arena_here("stats", "small", *arguments)
    assert (ran.code, ran.sentence) == (2, sentence)


def test_a_policy_that_did_not_play(arena_here: Arena, small: Path) -> None:
    ran = arena_here("stats", "small", "--variance", "--policy", "A=calling")
    assert ran.code == 2
    assert "to which its policy gives no chance: these hands were played by another policy" in ran.sentence


def test_logs_alone_have_no_result_to_save_in(arena_here: Arena, small: Path) -> None:
    log = next(small.rglob("*.log"))
    ran = arena_here("stats", str(log), "--variance", "--save")
    assert ran.sentence == "--save goes with the folder of one run"
    ran = arena_here("stats", str(log), "--variance")
    assert ran.code == 0
    assert "not shown: duplicate: every deal was played once" in ran.err
