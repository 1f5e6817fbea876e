"""The report on an evolution: its sections from runs of a few generations, and the printed figures it stands on."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bots.errors import EvolutionError
from bots.evolution.evolution import StopRule
from bots.evolved.hand_results import Estimate
from bots.evolved.runs import FinishedRuns, evolve_player, evolve_trainers, read_runs, run_names
from bots.evolved.training import EvolvedSettings
from bots.studies.evolved import EvolvedStudySettings, StudyMatch, evolved_report, opponents, play_matches
from bots.studies.evolved_play import PLAYED, checks_charts, printed_player, printed_style, verdict_on_winnings
from bots.studies.report import LineChart, Verdict, format_report
from bots.workers import local_workers
from engine import Category
from engine.cards import STARTING_HANDS
from tests.logs.pages import checked_page

SMALL = EvolvedSettings(deals=4, population=6, trials=20)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> FinishedRuns:
    folder = tmp_path_factory.mktemp("runs")
    evolve_trainers(folder, SMALL, StopRule(generations=3))
    evolve_player(folder, EvolvedSettings(deals=4, population=6, trials=20, seed=50), StopRule(generations=3))
    return read_runs(folder)


@pytest.mark.slow  # numba compiles
def test_a_report_has_all_sections(runs: FinishedRuns) -> None:
    parts: list[float] = []
    settings = EvolvedStudySettings(deals=120, matches=2, seed=77, gene_deals=30)
    report = evolved_report(runs, settings, [runs], show=parts.append)
    titles = ["Winnings", "Along the runs", "How it plays", "Genes", "Against other bots", "Other runs"]
    assert [section.title for section in report.sections] == titles
    assert parts == sorted(parts)
    assert parts[-1] == 1
    checker = checked_page(format_report(report))
    assert checker.fetched == []
    assert checker.counts["svg"] == sum(len(section.charts) for section in report.sections)
    after, whole = report.sections[0].tables
    assert [row[0] for row in after.rows[:2]] == ["player, deals of the training", "player, other deals"]
    assert (len(after.rows), len(whole.rows)) == (20, 10)
    side = report.sections[-1].tables[0]
    assert side.rows[0] == side.rows[1], "the same runs twice"
    assert evolved_report(runs, settings, [runs]) == report


@pytest.mark.slow  # numba compiles
def test_the_checks_along_the_runs_are_drawn(runs: FinishedRuns) -> None:
    along = evolved_report(runs, EvolvedStudySettings(deals=3, matches=0, seed=77, gene_deals=3)).sections[1]
    drawn = {chart.title: chart for chart in along.charts}
    checks = runs.player.checks
    assert checks is not None
    random = drawn["Checked along the way against random trainers"]
    assert isinstance(random, LineChart)
    assert [line.name for line in random.lines] == [*run_names(9), "player"]
    assert random.lines[-1].xs == tuple(check.generation for check in checks.checks)
    # Two hundred deals are played a hundred times each: 20,000 hands.
    assert random.lines[-1].ys == tuple(pytest.approx(check.random / 20) for check in checks.checks)
    unchecked = replace(runs, player=replace(runs.player, checks=None))
    assert [line.name for line in checks_charts([unchecked.player, *runs.trainers])[0].lines] == run_names(9)
    assert checks_charts([unchecked.player]) == []


@pytest.mark.slow  # numba compiles
def test_few_deals_give_no_intervals_and_no_matches_no_section(runs: FinishedRuns) -> None:
    report = evolved_report(runs, EvolvedStudySettings(deals=3, matches=0, seed=77, gene_deals=3))
    assert [section.title for section in report.sections] == ["Winnings", "Along the runs", "How it plays", "Genes"]
    assert "too few deals for ±" in report.sections[0].tables[0].rows[1]


@pytest.mark.slow  # numba compiles
def test_unseen_deals_are_no_training_deals(runs: FinishedRuns) -> None:
    with pytest.raises(EvolutionError, match="deals of seed 3 were trained on; take another seed"):
        evolved_report(runs, EvolvedStudySettings(deals=3, matches=0, seed=3))


@pytest.mark.slow  # starts processes
def test_matches_do_not_depend_on_who_plays_them(runs: FinishedRuns) -> None:
    path, matches = str(runs.folder / "player.chromosome"), [StudyMatch("calling", "limit", 8)]
    with local_workers(2) as workers:
        assert play_matches(path, "", matches, 5, workers) == play_matches(path, "", matches, 5, None)


def test_the_opponents_are_the_bots_that_play_limit_holdem() -> None:
    found = {(one.bot, one.game) for one in opponents(1)}
    assert {("random", "limit10"), ("calling", "limit10"), ("raising", "limit10"), ("lp-mc", "limit")} <= found
    assert not {("lp-mc", "limit10"), ("evolved", "limit"), ("learner", "limit"), ("lbr", "limit")} & found


@pytest.mark.parametrize(("deals", "matches"), [(0, 1), (1, -1)])
def test_settings_that_cannot_be(deals: int, matches: int) -> None:
    with pytest.raises(EvolutionError, match=r"needs at least 1 unseen deal|cannot have -1 deals"):
        EvolvedStudySettings(deals=deals, matches=matches)


@pytest.mark.parametrize("name", [*run_names(9), "player"])
def test_printed_tables(name: str) -> None:
    player = printed_player(name)
    assert len(player.hands) in (20, 21)
    assert {row.name for row in player.hands} <= set(STARTING_HANDS)
    assert {row.name for row in player.finals} <= {one.name.replace("_", " ").lower() for one in Category}
    assert player.flops < PLAYED["player" if name == "player" else "trainer"] / 5, "about 19 % of the hands"
    assert [row.dollars for row in player.hands] == sorted((row.dollars for row in player.hands), reverse=True)


def test_printed_sums() -> None:
    assert (printed_player("player").flops, round(printed_player("player").dollars, 2)) == (9934, 20758.49)
    assert printed_style()["AF"] == 1.34


@pytest.mark.parametrize(
    ("printed", "trained", "unseen", "verdict"),
    [
        (100.0, 105.0, 95.0, Verdict.REPRODUCED),
        (100.0, 105.0, 20.0, Verdict.LUCKY),
        (20.0, 21.0, 11.0, Verdict.UNDECIDED),
        (100.0, 300.0, 200.0, Verdict.NOT_REPRODUCED),
        (100.0, 50.0, 20.0, Verdict.NOT_REPRODUCED),
    ],
)
def test_verdicts_on_winnings(printed: float, trained: float, unseen: float, verdict: Verdict) -> None:
    found, why = verdict_on_winnings(printed, 500, trained, Estimate(unseen, 7.0), 1000)
    assert found is verdict
    assert why
    assert verdict_on_winnings(printed, 500, trained, Estimate(unseen, None), 50)[0] is Verdict.UNDECIDED


def test_an_estimate_has_two_ends() -> None:
    assert (Estimate(3.0, 1.0).low, Estimate(3.0, 1.0).high, Estimate(3.0, None).low) == (2.0, 4.0, None)
