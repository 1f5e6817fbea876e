"""``arena leaks``."""

from __future__ import annotations

import html
import json
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from dealer.reports.leak_report import divergence_in_words, leaks_document, sentences_of
from logs.document import Table
from logs.hand_source import find
from logs.leaks import all_leaks_of, deals_in, leaks_of
from tests.dealer.cli.conftest import Arena

PLAY = ("play", "limit", "random", "calling", "-n", "60", "--seed", "3", "--duplicate", "--in-process", "--quiet")


@pytest.fixture
def run(finished_runs: Callable[..., Path]) -> Path:
    return finished_runs(*PLAY)


def test_json_has_the_cells_of_the_library(arena_here: Arena, run: Path) -> None:
    leaks = leaks_of(deals_in(find([run])), "calling")
    result = arena_here("leaks", str(run), "--player", "calling", "--json")
    assert (result.code, result.err) == (0, "")
    data = json.loads(result.out)
    assert (data["player"], data["others"], data["deals"]) == ("calling", ["random"], 60)
    assert [cell["name"] for cell in data["cells"]] == [cell.name for cell in leaks.cells]
    half_widths = [cell.won.half_width for cell in leaks.cells]
    assert [cell["half_width_simultaneous_95"] for cell in data["cells"]] == half_widths
    won = sum(record.values[record.names.index("calling")] for record in find([run]).hands())
    everything = next(cell for cell in data["cells"] if cell["dimension"] == "everything")
    assert everything["chips_per_100_hands"] == pytest.approx(won / 1.2)


def test_table_of_losses_has_no_gains(finished_runs: Callable[..., Path]) -> None:
    run = finished_runs("play", "limit", "raising", "folding", "-n", "60", "--seed", "3", "--in-process", "--quiet")
    for player, has_losses in (("raising", False), ("folding", True)):
        leaks = leaks_of(deals_in(find([run])), player)
        tables = [part for section in leaks_document(leaks).sections for part in section.parts if type(part) is Table]
        losses = [
            row[at]
            for table in tables
            for at, column in enumerate(table.columns)
            for row in table.rows
            if column.title == "largest loss"
        ]
        assert any(losses) == has_losses
        assert not any("+" in str(loss) for loss in losses)


def test_most_expensive_deal_names_the_command_that_shows_it(arena_here: Arena, run: Path) -> None:
    dearest, _ = leaks_of(deals_in(find([run])), "calling", worst=1).worst[0]
    for sources in ([str(run)], [str(path) for path in sorted(run.glob("*.log"))]):
        data = json.loads(arena_here("leaks", *sources, "--player", "calling", "--worst", "1", "--json").out)
        words = shlex.split(data["worst"][0]["command"])
        hands_output = arena_here(*words[1:])
        assert hands_output.code == 0
        assert hands_output.out.count(f", hand {dearest.hand_number}\n") == 2
        assert f"{dearest.chips:+,.10g}" in hands_output.out
        assert f"{dearest.others_chips:+,.10g}" in hands_output.out


def test_comparison_with_a_bot_plays_decisions_out(arena_here: Arena, run: Path) -> None:
    data = json.loads(arena_here("leaks", str(run), "--player", "random", "--compare", "calling", "--json").out)
    assert (data["player"], data["others"], data["deals"], data["worst"]) == ("random", ["calling"], 120, [])
    refusal = arena_here("leaks", str(run), "--compare", "learner")
    assert refusal.code == 2
    assert "learner" in refusal.sentence


def test_comparison_with_an_equilibrium_has_costs(arena_here: Arena, finished_runs: Callable[..., Path]) -> None:
    small = finished_runs("play", "kuhn", "calling", "random", "-n", "80", "--seed", "3", "--in-process", "--quiet")
    result = arena_here("leaks", str(small), "--player", "calling")
    assert (result.code, result.err) == (0, "")
    assert "calling loses most here: " in result.out.replace("\n", " ")
    data = json.loads(arena_here("leaks", str(small), "--player", "calling", "--json").out)
    assert (data["player"], data["hands"], data["deals"]) == ("calling", 160, 80)
    costs = [situation["cost"]["mean"] for situation in data["situations"]]
    assert costs == sorted(costs, reverse=True)
    assert costs[0] > 0


def test_report_of_a_run_has_the_leaks_of_every_player(arena_here: Arena, run: Path, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    assert arena_here("report", str(run), "--out", str(page)).code == 0
    text = html.unescape(page.read_text("utf-8"))
    for leaks in all_leaks_of(deals_in(find([run]))):
        assert sentences_of(leaks)[0] in text
        assert f"Most expensive deals of {leaks.player}" in text
        assert divergence_in_words(leaks.worst[0][0]) in text
    assert leaks == leaks_of(deals_in(find([run])), leaks.player)


def test_report_without_duplicates_has_a_reason_for_no_leaks(
    arena_here: Arena, finished_runs: Callable[..., Path], tmp_path: Path
) -> None:
    page = tmp_path / "report.html"
    single = finished_runs("play", "limit", "random", "calling", "-n", "5", "--no-duplicate", "--in-process", "--quiet")
    assert arena_here("report", str(single), "--out", str(page)).code == 0
    assert "not available: no deal of random was played in every seating" in page.read_text("utf-8")


def test_page_has_the_sentence_of_the_terminal(arena_here: Arena, run: Path, tmp_path: Path) -> None:
    page = tmp_path / "leaks.html"
    result = arena_here("leaks", str(run), "--out", str(page))
    assert result.code == 0
    sentence = result.out.splitlines()[1]
    assert "random" in sentence
    assert sentence in page.read_text("utf-8").replace("&#39;", "'")
    again = arena_here("leaks", str(run), "--out", str(page))
    assert again.code == 2
    assert "--force" in again.sentence


@pytest.mark.parametrize(
    ("play", "words", "sentence"),
    [
        (PLAY, ("--player", "Zoe"), "no player is called 'Zoe'; there are random, calling"),
        (
            ("play", "limit", "raising", "calling", "-n", "5", "--duplicate", "--in-process", "--quiet"),
            (),
            "raising played 5 deals in every seating; leaks need at least 30",
        ),
        (
            ("play", "kuhn3", "random", "calling", "raising", "-n", "20", "--seed", "3", "--in-process", "--quiet"),
            (),
            "leaks are reported in hold'em, and in games with an equilibrium, kuhn, kuhn-depth, leduc: not in this "
            "game",
        ),
    ],
)
def test_runs_without_leaks_are_refused(
    arena_here: Arena, finished_runs: Callable[..., Path], play: tuple[str, ...], words: tuple[str, ...], sentence: str
) -> None:
    result = arena_here("leaks", str(finished_runs(*play)), *words)
    assert (result.code, result.sentence) == (2, sentence)
