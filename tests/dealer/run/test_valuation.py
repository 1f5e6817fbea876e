"""AIVAT during play: the same figures as by `arena luck`, at any time of arrival of the values."""

from __future__ import annotations

import asyncio
import threading
from array import array
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest

from bots.cfr.value_terms import ValuedHands, value_terms
from bots.errors import PolicyError
from bots.evaluation.hypothetical_hands import ActionTerms
from bots.hand_values import value_aside, value_hands, values_refusal
from bots.sdk.registry import make_bot
from dealer.errors import ConfigError
from dealer.match.events import ActionPlayed
from dealer.reports.gate_report import GateScore, judge
from dealer.reports.result_documents import result_document
from dealer.run import corrected
from dealer.run.choices import Score
from dealer.run.contest import Contest, MatchEvent
from dealer.run.contest_plan import ContestPlan
from dealer.run.dealers import DealerProcesses
from dealer.run.plan import settle
from dealer.run.results import ContestResult
from dealer.run.results.summary import contest_result
from dealer.run.run import new_run
from dealer.run.run_settings import validated
from dealer.table.loop import new_event_loop
from engine import Game
from logs.document.plain import markdown
from logs.estimation import score_bounds
from logs.estimation.mean import largest_loss
from logs.hand_source import find
from logs.record import HandRecord
from logs.variance.estimates import Estimator, WinRateEstimate
from logs.variance.reduction import Reduction, reduce_hands
from protocol import find_game
from tests.dealer.helpers import PATIENCE_S, contest_plan
from tests.dealer.results_of import won_by
from tests.programs import fork_dealers


class Aside:
    """Workers in this process, whose values arrive after the times of `pauses_s` in turn."""

    def __init__(self, pauses_s: Sequence[float] = (0.0,)) -> None:
        self._pauses_s = pauses_s
        self._tasks = 0

    def submit(self, function: Callable[..., Any], task: Any, records: Sequence[HandRecord]) -> Future[array[float]]:
        assert function is value_aside
        future: Future[array[float]] = Future()
        try:
            values = value_hands(task, records)
        except PolicyError as error:
            future.set_exception(error)
            return future
        pause_s = self._pauses_s[self._tasks % len(self._pauses_s)]
        self._tasks += 1
        threading.Timer(pause_s, future.set_result, [values]).start()
        return future

    def end(self, *, at_once: bool) -> None:
        pass


@pytest.fixture(autouse=True)
def aside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corrected, "local_workers", lambda count: Aside())


def plan_of(folder: Path, *players: str, game: str = "kuhn", deals: int = 120, **settings: Any) -> ContestPlan:
    settings = {"score": Score.AIVAT, "in_process": True} | settings
    return contest_plan(folder, *players, game=game, deals=deals, **settings)


def play(plan: ContestPlan, **options: Any) -> ContestResult:
    async def main() -> ContestResult:
        async with asyncio.timeout(PATIENCE_S):
            contest = Contest(plan, asyncio.Semaphore(2), **options)
            await contest.play()
            return contest_result(contest, resume="again")

    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        return runner.run(main())


def compared(result: ContestResult) -> dict[str, Any]:
    """Return the result without times and folders."""
    data = result.model_dump(exclude={"seconds", "hands_per_second", "folder", "dealer"})
    for player in data["players"]:
        for name in ("thinking_s", "median_us", "p99_us"):
            del player[name]
    return data


def estimate_of_luck(folder: Path, known: dict[str, str]) -> WinRateEstimate:
    """Return the first player's estimate by all known policies, as `arena luck` computes it."""

    def corrections(game: Game) -> ActionTerms:
        policies = {name: make_bot(text) for name, text in known.items()}
        terms = value_terms(game, policies)
        assert terms is not None
        return ActionTerms(game, policies, valued=ValuedHands(terms))

    reduction = Reduction(corrections)
    reduce_hands(find([folder]), reduction)
    (game,) = reduction.estimates().games
    for estimate in game.players[0].estimates:
        if estimate.estimator is Estimator.AIVAT and estimate.known == [*known] and not estimate.is_fitted:
            return estimate
    raise AssertionError("luck has the estimate")


@pytest.mark.parametrize(
    ("game", "players", "known", "deals"),
    [
        ("kuhn", ("cfr", "random"), {"cfr": "cfr"}, 100),
        ("kuhn", ("random", "New=cfr"), {"New": "cfr"}, 30),
        ("kuhn", ("cfr", "cfr?rivers=1"), {"cfr": "cfr", "cfr_rivers_1": "cfr"}, 30),
        pytest.param("leduc", ("calling", "cfr"), {"cfr": "cfr"}, 100, marks=pytest.mark.slow),
    ],
)
def test_contest_has_the_figures_of_arena_luck(
    tmp_path: Path, game: str, players: tuple[str, ...], known: dict[str, str], deals: int
) -> None:
    result = play(plan_of(tmp_path, *players, game=game, deals=deals))
    first, second = (won_by(player) for player in result.players)
    assert first.aivat is not None
    assert second.aivat is not None
    expected = estimate_of_luck(tmp_path, known)
    assert first.aivat.mean == pytest.approx(expected.mbb_per_game, abs=1e-9)
    assert first.aivat.error == pytest.approx(expected.standard_error, abs=1e-5)
    assert first.aivat.half_width == pytest.approx(expected.half_width_95)
    assert first.aivat.guaranteed_half_width == pytest.approx(expected.guaranteed_half_width)
    assert second.aivat.mean == pytest.approx(-first.aivat.mean)
    assert (result.score, result.known) == ("aivat", [*known])
    assert f"By AIVAT with {' and '.join(known)} known: " in result.sentence


@pytest.mark.parametrize("stop", ["better:-300,300", pytest.param("ci=400", marks=pytest.mark.slow)])
def test_stop_does_not_depend_on_the_time_at_which_values_arrive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stop: str
) -> None:
    options = {"stop": stop, "deals": 3000}
    quick = play(plan_of(tmp_path / "quick", "cfr", "raising", **options))
    monkeypatch.setattr(corrected, "local_workers", lambda count: Aside([0.02, 0.0, 0.05]))
    late = play(plan_of(tmp_path / "late", "cfr", "raising", **options))
    assert compared(late) == compared(quick)
    assert late.outcome == "stopped"
    assert late.duplicates < 3000


def test_resumed_contest_has_the_result_of_a_whole_one(tmp_path: Path) -> None:
    options = {"stop": "better:-300,300", "deals": 3000}
    whole = play(plan_of(tmp_path / "whole", "cfr", "raising", **options))
    plan = plan_of(tmp_path / "broken", "cfr", "raising", **options)

    def watch(event: MatchEvent) -> None:
        if isinstance(event.event, ActionPlayed) and event.event.hand_number == 70:
            contest.hold()

    contest = Contest(plan, asyncio.Semaphore(2), watch)
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        assert runner.run(contest.play()).outcome == "interrupted"
    assert compared(play(plan)) == compared(whole)


async def test_dealer_processes_have_the_same_values(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fork_dealers(monkeypatch)
    results = []
    async with asyncio.timeout(PATIENCE_S):
        dealers = DealerProcesses(1, has_affinity=False)
        for name, processes in (("here", None), ("there", dealers)):
            plan = plan_of(tmp_path / name, "cfr", "calling", deals=40, in_process=False)
            # The watcher needs only the newest events, the valuation all of them.
            contest = Contest(plan, asyncio.Semaphore(2), lambda _: None, watches_newest=True, dealers=processes)
            await contest.play()
            results.append(compared(contest_result(contest, resume="again")))
        await dealers.close()
    assert results[0] == results[1]
    assert results[0]["players"][0]["won"]["aivat"] is not None


@pytest.mark.slow
def test_values_of_a_process_equal_those_of_this_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    result = play(plan_of(tmp_path, "cfr", "random", deals=80))
    won = won_by(result.players[0])
    assert won.aivat is not None
    assert won.aivat.mean == pytest.approx(estimate_of_luck(tmp_path, {"cfr": "cfr"}).mbb_per_game)


def test_bounds_of_a_sequential_test_contain_all_scores(tmp_path: Path) -> None:
    game = find_game("kuhn")[1]
    sequential = plan_of(tmp_path, "cfr", "random", stop="better:0,9")
    lowest, highest = score_bounds(game)
    correction = 1000 * sequential.max_correction / game.big_blind
    assert sequential.max_correction == largest_loss(game)
    assert sequential.bounds == (lowest - correction, highest + correction)
    assert plan_of(tmp_path, "cfr", "random", stop="ci=20").bounds == score_bounds(game)


# ---- results without --score


def test_short_contest_has_chips_and_aivat_by_default(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, "cfr", "random", score=Score.BOTH)
    result = play(plan, values_hands=True)
    assert result.score == "raw"
    assert won_by(result.players[0]).aivat is not None
    document = result_document(result)
    assert "| AIVAT |" in markdown(document)
    assert not document.notes
    assert not plan_of(tmp_path, "cfr", "random", score=Score.BOTH, deals=79).is_valued_by_default
    assert not plan_of(tmp_path, "calling", "random", score=Score.BOTH).is_valued_by_default


@pytest.mark.parametrize(
    ("game", "bot", "deals"), [("nolimit", "cfr", 250), ("limit", "cfr?seed=3", 300), ("nolimit", "cfr?rivers=9", 0)]
)
def test_number_of_hands_decides_whether_a_result_has_aivat(tmp_path: Path, game: str, bot: str, deals: int) -> None:
    def is_valued(count: int) -> bool:
        plan = plan_of(tmp_path, bot, "calling", game=game, deals=count, score=Score.BOTH, in_process=False)
        return plan.is_valued_by_default

    assert is_valued(max(deals, 80)) is (deals > 0)
    assert not is_valued(deals + 1000)


def test_result_without_aivat_names_the_command(tmp_path: Path) -> None:
    result = play(plan_of(tmp_path, "cfr", "random", score=Score.BOTH))
    assert won_by(result.players[0]).aivat is None
    (note,) = result_document(result).notes
    assert f"arena luck {tmp_path} --known cfr (about " in note
    raw = play(plan_of(tmp_path / "raw", "cfr", "random", score=Score.RAW))
    assert raw.known == []
    assert not result_document(raw).notes


def test_tournament_has_a_table_of_the_pairs_with_a_known_player(tmp_path: Path) -> None:
    settings = {"command": "tournament", "games": ["kuhn"], "bots": ["calling", "cfr", "random"], "deals": 100}
    run = new_run(validated(settings | {"in_process": True, "seed": 4, "workers": 1}), tmp_path / "run")
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        result = runner.run(run.play())
    known = [contest.known for contest in result.contests]
    assert known == [["cfr"], [], ["cfr"]]
    assert [contest.aivat_rate() is not None for contest in result.contests] == [True, False, True]
    (table,) = (
        part
        for section in result_document(result).sections
        for part in section.parts
        if not isinstance(part, str) and part.title.startswith("mbb/g by AIVAT")
    )
    assert [row[:2] for row in table.rows] == [("cfr", "calling"), ("cfr", "random")]


def test_hands_of_another_policy_fail_a_contest_that_needs_values(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(task: Any, records: Sequence[HandRecord]) -> array[float]:
        raise PolicyError("cfr plays r in hand 0, to which its policy gives no chance")

    monkeypatch.setitem(globals(), "value_hands", refuse)
    result = play(plan_of(tmp_path, "cfr", "random", deals=80))
    assert result.outcome == "failed"
    assert "hands cannot be valued: cfr plays r in hand 0" in result.reason
    plan = plan_of(tmp_path / "both", "cfr", "random", deals=80, score=Score.BOTH)
    contest = Contest(plan, asyncio.Semaphore(2), values_hands=True)
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        assert runner.run(contest.play()).outcome == "finished"
    assert contest.warnings == [
        "The result has no win rates by AIVAT: hands cannot be valued: cfr plays r in hand 0, to which its policy "
        "gives no chance."
    ]


@pytest.mark.parametrize("score", [Score.BOTH, Score.AIVAT])
def test_faults_of_a_known_player_are_noted(tmp_path: Path, score: Score) -> None:
    plan = plan_of(tmp_path, "cfr", "random", deals=80, score=score)
    contest = Contest(plan, asyncio.Semaphore(2), values_hands=True)

    async def main() -> None:
        playing = asyncio.create_task(contest.play())
        while not contest.tallies:
            await asyncio.sleep(0)
        contest.tallies[1].faults[1]["timeout"] += 1
        await playing

    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        runner.run(main())
    (warning,) = contest.warnings
    assert warning.endswith("cfr had 1 fault, and the actions played for it do not follow its policy.")
    assert (contest.aivat_scores is None) is (score is Score.BOTH)


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"games": ["kuhn3"], "bots": ["cfr", "random", "calling"]}, "AIVAT during play is for games of two players"),
        ({"games": ["kuhn"], "bots": ["raising", "random"]}, "the bot cfr, but raising meets random; use 'corrected'"),
        ({"games": ["limit"], "bots": ["A=cfr?exploit=0.3", "random"]}, "the bot cfr, but A meets random"),
        (
            {"games": ["kuhn"], "bots": ["cfr", "random", "calling"], "command": "tournament"},
            "the bot cfr, but random meets calling",
        ),
    ],
)
def test_contests_without_values_are_refused(settings: dict[str, Any], problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        settle(validated(settings | {"score": "aivat"}))


def test_game_without_values_is_refused(tmp_path: Path) -> None:
    game = find_game("limit")[1]
    known = contest_plan(tmp_path, "cfr", "random", game="limit").known
    assert values_refusal(game, known) is None
    blinds = tuple(2 * blind for blind in game.blinds)
    refusal = values_refusal(game._replace(blinds=blinds), known)
    assert refusal == "there are no values of a strategy for this game; 'arena train values' computes them"


def test_gate_judges_aivat(tmp_path: Path) -> None:
    result = play(plan_of(tmp_path, "cfr", "random", deals=120))
    rate = result.aivat_rate()
    assert rate is not None
    data = judge(result, "cfr", -5000.0, GateScore.AIVAT).data
    assert data.mbb_per_game == rate.mean
    assert data.half_width_95 == rate.guaranteed_half_width
