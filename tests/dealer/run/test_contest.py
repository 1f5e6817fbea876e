"""Contests: scores, stop rules, interruptions and faults, independent of the speed of matches."""

from __future__ import annotations

import asyncio
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dealer.errors import LaunchError
from dealer.match import MatchSetup
from dealer.match.events import ActionPlayed, StrayConnection, VersionDiffers
from dealer.match.faults import FaultPolicy, StrayProblem
from dealer.match.seats import SeatClock
from dealer.run.choices import Score, Seating
from dealer.run.contest import Contest, MatchEvent
from dealer.run.contest_plan import ContestPlan
from dealer.run.dealers import DealerProcesses
from dealer.run.ending import Outcome
from dealer.run.plan import settle
from dealer.run.results import ContestResult
from dealer.run.results.result_sentences import expectation
from dealer.run.results.summary import contest_result, tournament_result
from dealer.run.run import new_run, reopen
from dealer.run.run_settings import validated
from dealer.run.tournament_run import Progress, Tournament, progress_of
from dealer.table.loop import new_event_loop
from engine import Seat
from logs.acpc_log.reader import read_log
from logs.estimation import Verdict, score_bounds
from logs.variance.correction import ChanceCorrection, corrected_bounds
from protocol import find_game
from tests.dealer.helpers import CONNECT, PATIENCE_S, ROOT, contest_plan, write_program
from tests.dealer.results_of import won_by
from tests.programs import fork_dealers


@pytest.fixture(autouse=True)
def _bots_find_our_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))


def _plan(folder: Path, *players: str, hands: int = 200, **settings: Any) -> ContestPlan:
    plan = contest_plan(folder, *players, deals=hands, **settings)
    return replace(plan, run=replace(plan.run, names=tuple("ABCDEF"[: len(players)])))


def _play(plan: ContestPlan, at_a_time: int = 2) -> ContestResult:
    async def main() -> ContestResult:
        async with asyncio.timeout(PATIENCE_S):
            contest = Contest(plan, asyncio.Semaphore(at_a_time))
            await contest.play()
            return contest_result(contest, resume="again")

    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        return runner.run(main())


def test_expectation_names_the_deals_a_narrow_interval_needs(tmp_path: Path) -> None:
    wide = expectation(_plan(tmp_path, "calling", "random", game="nolimit", stop="ci=20"))
    assert wide is not None
    assert "At least 37,000 deals are needed however little the scores vary: a hand can lose 200,000 mbb" in wide
    assert wide.endswith("A wider ci= or smaller stacks need fewer.")
    limit = expectation(_plan(tmp_path, "calling", "random", game="limit", stop="ci=20"))
    assert limit is not None
    assert "however little" not in limit


def _compared(result: ContestResult) -> dict[str, Any]:
    """Return the result without times and folders."""
    data = result.model_dump(exclude={"seconds", "hands_per_second", "folder", "dealer"})
    for player in data["players"]:
        for name in ("thinking_s", "median_us", "p99_us"):
            del player[name]
    return data


def _logs(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.glob("*.log"))}


# ---- scores


@pytest.mark.parametrize(("game", "players"), [("kuhn", ("calling",) * 2), ("limit", ("raising",) * 2)])
def test_equal_players_are_level_in_every_duplicate(tmp_path: Path, game: str, players: tuple[str, str]) -> None:
    result = _play(_plan(tmp_path, *players, game=game, in_process=True))
    assert [won_by(player).raw.mean for player in result.players] == [0.0, 0.0]
    # Rare losses of everything may be missing from 200 draws: -log(0.025) = 3.689 of them are not excluded.
    _, highest = score_bounds(find_game(game)[1])
    assert [won_by(player).raw.half_width for player in result.players] == [None, None]
    assert [won_by(player).raw.guaranteed_half_width for player in result.players] == pytest.approx(
        [highest * 3.689 / 200] * 2, rel=1e-3
    )
    assert result.duplicates == 200
    assert result.hands_counted == 400
    assert result.sentence.startswith("A and B are level")
    assert result.sentence.endswith(", with the same score in all deals.")


@pytest.mark.parametrize(("seating", "seatings"), [(Seating.ROTATIONS, 3), (Seating.PERMUTATIONS, 6)])
def test_every_player_holds_the_cards_of_every_seat(tmp_path: Path, seating: Seating, seatings: int) -> None:
    plan = _plan(
        tmp_path, "calling", "folding", "raising", game="kuhn.limit.3p", seating=seating, in_process=True, hands=30
    )
    result = _play(plan)
    assert len({tuple(match.seats) for match in result.matches}) == result.seatings == seatings
    assert sum(player.chips for player in result.players) == pytest.approx(0)
    cards: dict[str, set[tuple[int, str]]] = {}
    for log in _logs(tmp_path).values():
        for line in log.decode().splitlines()[4:-1]:
            _, number, _, deal, _, names = line.split(":")
            hole_cards = deal.split("/")[0].split("|")
            for name, card in zip(names.split("|"), hole_cards, strict=True):
                cards.setdefault(name, set()).add((int(number), card))
    assert cards["A"] == cards["B"] == cards["C"]
    assert len(cards["A"]) == 90


def test_slices_are_parts_of_the_same_hands(tmp_path: Path) -> None:
    whole = _play(_plan(tmp_path / "whole", "random", "raising", in_process=True))
    sliced = _play(_plan(tmp_path / "sliced", "random", "raising", in_process=True, slices=3))
    hands = [
        sorted(line for name, log in _logs(tmp_path / run).items() for line in log.splitlines()[4:-1])
        for run in ("whole", "sliced")
    ]
    assert hands[0] == hands[1]
    assert [player.chips for player in whole.players] == [player.chips for player in sliced.players]
    assert [won_by(player).raw.mean for player in whole.players] == pytest.approx(
        [won_by(player).raw.mean for player in sliced.players]
    )


def test_contest_over_tcp_is_the_same_as_in_process(tmp_path: Path) -> None:
    options: dict[str, Any] = {"game": "leduc", "hands": 60}
    over_tcp = _play(_plan(tmp_path / "tcp", "random", "raising", in_process=False, **options))
    in_process = _play(_plan(tmp_path / "in process", "random", "raising", in_process=True, **options))
    assert _compared(over_tcp) == _compared(in_process)
    assert _logs(tmp_path / "tcp") == _logs(tmp_path / "in process")


# ---- stops


@pytest.mark.parametrize("stop", ["better:0,300", "better:900,1900", "ci=300"])
def test_number_of_simultaneous_matches_changes_nothing(tmp_path: Path, stop: str) -> None:
    options: dict[str, Any] = {"hands": 30_000, "stop": stop, "slices": 2, "in_process": True}
    one_at_a_time = _play(_plan(tmp_path / "1", "random", "raising", **options), at_a_time=1)
    four_at_a_time = _play(_plan(tmp_path / "4", "random", "raising", **options), at_a_time=4)
    assert one_at_a_time.outcome == "stopped"
    assert one_at_a_time.hands_played < 60_000
    assert _compared(one_at_a_time) == _compared(four_at_a_time)
    assert _logs(tmp_path / "1") == _logs(tmp_path / "4")


def test_contest_over_tcp_stops_at_the_same_hand(tmp_path: Path) -> None:
    options: dict[str, Any] = {"stop": "better:0,400", "hands": 900}
    over_tcp = _play(_plan(tmp_path / "tcp", "random", "folding", in_process=False, **options))
    in_process = _play(_plan(tmp_path / "in process", "random", "folding", in_process=True, **options))
    assert over_tcp.outcome == "stopped"
    assert _compared(over_tcp) == _compared(in_process)


def test_stopped_contest_has_its_scores_written(tmp_path: Path) -> None:
    result = _play(_plan(tmp_path, "random", "folding", stop="better:0,100", in_process=True, hands=30_000))
    assert result.outcome == "stopped"
    assert result.verdict is Verdict.BETTER
    assert result.resume is None
    assert result.interval == "any time"
    for log in _logs(tmp_path).values():
        assert log.splitlines()[-1].startswith(b"SCORE:")


def test_rule_that_is_never_met_ends_with_the_hands(tmp_path: Path) -> None:
    result = _play(_plan(tmp_path, "random", "raising", stop="ci=0.5", in_process=True, hands=150))
    assert result.outcome == "finished"
    assert result.duplicates == 150
    assert result.verdict is None


# ---- interruptions


def _play_and_interrupt(plan: ContestPlan, hands: int) -> ContestResult:
    """Play a contest and interrupt it after this number of hands."""

    async def main() -> ContestResult:
        contest = Contest(plan, asyncio.Semaphore(2))
        playing = asyncio.create_task(contest.play())
        while contest.scores.hands_played < hands:
            assert not playing.done()
            await asyncio.sleep(0)
        playing.cancel()
        ending = await playing
        assert ending.outcome == "interrupted"
        return contest_result(contest, resume="again")

    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        return runner.run(main())


@pytest.mark.parametrize(
    ("in_process", "hands"), [(False, 60), pytest.param(False, 1000, marks=pytest.mark.slow), (True, 300)]
)
def test_contest_interrupted_repeatedly_has_the_same_result(tmp_path: Path, in_process: bool, hands: int) -> None:
    options: dict[str, Any] = {"stop": "better:0,2", "hands": hands, "in_process": in_process}
    expected = _compared(_play(_plan(tmp_path / "whole", "random", "random", **options)))
    plan = _plan(tmp_path / "broken", "random", "random", **options)
    for hands_played in (1, hands // 2, hands - 7):
        result = _play_and_interrupt(plan, hands_played)
        assert result.resume == "again"
        assert result.hands_counted == 2 * result.duplicates <= result.hands_played
    assert _compared(_play(plan)) == expected
    assert _logs(tmp_path / "broken") == _logs(tmp_path / "whole")


@pytest.mark.parametrize("stop", [pytest.param("12", marks=pytest.mark.slow), "better:0,2"])
def test_contest_held_during_a_hand_deals_no_hand_twice(tmp_path: Path, stop: str) -> None:
    plan = _plan(tmp_path, "random", "random", stop=stop, hands=12)
    hands_by_session: list[set[tuple[str, int]]] = []

    async def play(hold_at: int) -> str:
        hands: set[tuple[str, int]] = set()
        hands_by_session.append(hands)

        def watch(event: MatchEvent) -> None:
            if isinstance(event.event, ActionPlayed):
                hands.add((event.match, event.event.hand_number))
                if event.event.hand_number == hold_at:
                    assert contest.hold()

        contest = Contest(plan, asyncio.Semaphore(2), watch)
        return (await contest.play()).outcome

    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        for hold_at in (0, 7, 8):
            assert runner.run(play(hold_at)) == "interrupted"
        assert runner.run(play(-1)) == "finished"
    all_hands = [hand for hands in hands_by_session for hand in hands]
    assert sorted(all_hands) == [(match, hand) for match in ("match.a", "match.b") for hand in range(12)]


def test_held_tournament_begins_no_further_contest(tmp_path: Path) -> None:
    settings = {"command": "tournament", "games": ["kuhn", "leduc"], "bots": ["calling", "random"], "workers": 1}
    run = new_run(validated(settings | {"deals": 10}), tmp_path / "run")

    def watch(event: MatchEvent) -> None:
        if isinstance(event.event, ActionPlayed) and event.event.hand_number == 7:
            run.interrupt_after_hand()

    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        result = runner.run(run.play(watch=watch))
        assert [contest.outcome for contest in result.contests] == [Outcome.INTERRUPTED] * 2
        assert [contest.hands_played for contest in result.contests] == [8, 0]
        resumed = runner.run(reopen(tmp_path / "run").play())
    assert [contest.hands_played for contest in resumed.contests] == [20, 20]


# ---- scores without the luck of the cards


@pytest.mark.parametrize("stop", ["ci=100", "better:0,900"])
def test_stop_rule_on_corrected_scores_stops_sooner(tmp_path: Path, stop: str) -> None:
    """It stops at the same hand after interruptions."""
    players = ("calling", "random")
    options: dict[str, Any] = {"in_process": True, "game": "leduc", "stop": stop, "hands": 30_000}
    raw = _play(_plan(tmp_path / "raw", *players, **options))
    options["score"] = Score.CORRECTED
    result = _play(_plan(tmp_path / "whole", *players, **options))
    assert result.score == "corrected"
    assert result.outcome == raw.outcome == "stopped"
    corrected = won_by(result.players[0]).corrected
    assert corrected is not None
    if stop.startswith("ci"):
        assert result.duplicates < raw.duplicates
        raw_half_width = won_by(result.players[0]).raw.guaranteed_half_width
        assert corrected.guaranteed_half_width <= 100 < raw_half_width  # type: ignore[operator]
    assert "ithout the luck of the cards" in result.sentence
    log_a, log_b = sorted((tmp_path / "whole").glob("*.log"))
    game = find_game("leduc")[1]
    correction = ChanceCorrection(game)
    records_a, records_b = list(read_log(log_a)), list(read_log(log_b))
    values_a, values_b = correction.values(records_a), correction.values(records_b)
    total = 0.0
    for record, values in zip(records_a, values_a, strict=True):
        total += values[record.seats.index(0)]
    for record, values in zip(records_b, values_b, strict=True):
        total += values[record.seats.index(1)]
    num_hands = len(records_a) + len(records_b)
    assert corrected.mean == pytest.approx(1000 * total / num_hands / game.big_blind)
    plan = _plan(tmp_path / "broken", *players, **options)
    for hands_played in (1, result.hands_played // 2):
        _play_and_interrupt(plan, hands_played)
    assert _compared(_play(plan)) == _compared(result)


def test_result_is_corrected_by_default(tmp_path: Path) -> None:
    """The chips remain the score; the corrected scores have a fitted weight of the correction."""
    players = ("calling", "random")
    options: dict[str, Any] = {"in_process": True, "game": "leduc", "hands": 150}
    raw = _play(_plan(tmp_path / "raw", *players, **options))
    both = _play(_plan(tmp_path / "both", *players, score=Score.BOTH, **options))
    first, second = (won_by(player).corrected for player in both.players)
    assert raw.score == both.score == Score.RAW
    assert won_by(raw.players[0]).corrected is None
    assert won_by(raw.players[0]).raw == won_by(both.players[0]).raw
    assert first is not None
    assert second is not None
    assert first.error < won_by(both.players[0]).raw.error  # type: ignore[operator]
    assert first.mean == pytest.approx(-second.mean)
    leader = max(both.players, key=lambda player: player.chips)
    assert f"Without the luck of the cards: {both.corrected_rate(leader.name)} (95 %)." in both.sentence


@pytest.mark.parametrize(
    ("game", "options"),
    [("leduc", {"hands": 79}), ("leduc", {"stop": "better:0,9"}), ("kuhn", {})],
    ids=["too few deals", "a sequential test", "nothing to correct"],
)
def test_too_few_deals_and_sequential_tests_are_not_corrected_by_default(
    tmp_path: Path, game: str, options: dict[str, Any]
) -> None:
    plan = _plan(tmp_path, "calling", "random", in_process=True, game=game, score=Score.BOTH, **options)
    result = _play(plan)
    assert won_by(result.players[0]).corrected is None
    assert result.corrected_rate() is None
    assert "luck of the cards" not in result.sentence


def test_correction_needs_its_logs(tmp_path: Path) -> None:
    options = {"in_process": True, "game": "leduc", "hands": 100}
    plan = _plan(tmp_path, "calling", "random", score=Score.BOTH, **options)

    async def main() -> ContestResult:
        async with asyncio.timeout(PATIENCE_S):
            contest = Contest(plan, asyncio.Semaphore(2))
            await contest.play()
            next(tmp_path.glob("*.log")).unlink()
            return contest_result(contest, resume="again")

    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        result = runner.run(main())
    assert won_by(result.players[0]).corrected is None


def test_bounds_of_corrected_scores_enter_sequential_tests_only(tmp_path: Path) -> None:
    kuhn = find_game("kuhn")[1]
    assert _plan(tmp_path, "random", "random", stop="ci=20", score=Score.CORRECTED).bounds == score_bounds(kuhn)
    sequential = _plan(tmp_path, "random", "random", stop="better:0,9", score=Score.CORRECTED)
    assert sequential.bounds == corrected_bounds(kuhn)


# ---- bots that fail

DIES_IN_HAND_5 = (
    CONNECT
    + """
hello()
for line in f:
    _, position, hand, betting, cards = line.split(b':')
    if hand == b'5': os._exit(9)
    if {b'': b'0', b'c': b'1', b'r': b'1', b'cr': b'0'}.get(betting) == position: call(line)
"""
)


def _dying(folder: Path) -> str:
    return "Bob=" + write_program(folder, "bob.py", DIES_IN_HAND_5)


def test_contest_ends_with_a_failing_bot(tmp_path: Path) -> None:
    result = _play(_plan(tmp_path / "run", "random", _dying(tmp_path), on_fault=FaultPolicy.END, hands=10), at_a_time=1)
    assert result.outcome == "failed"
    assert result.reason.startswith("B closed the connection in hand 5. Its process ended with exit code 9.")
    assert result.players[1].faults == {"crash": 1}
    assert result.players[1].exit_code == 9
    assert result.players[0].faults == {}


@pytest.mark.parametrize("policy", [FaultPolicy.FORFEIT, FaultPolicy.RESTART])
def test_contest_continues_after_a_failure_of_a_bot(tmp_path: Path, policy: FaultPolicy) -> None:
    players = ("raising", _dying(tmp_path))
    result = _play(_plan(tmp_path / "run", *players, on_fault=policy, hands=10, seating=Seating.SINGLE))
    assert result.outcome == "finished"
    assert result.duplicates == 10
    bob = result.players[1]
    assert bob.faults == {"crash": 1 if policy is FaultPolicy.FORFEIT else 4}
    assert bob.restarts == (0 if policy is FaultPolicy.FORFEIT else 3)
    assert bob.first_fault is not None
    assert bob.first_fault.startswith("crash in hand 5")
    assert sum(player.chips for player in result.players) == 0


def test_failing_bot_ends_no_other_contest(tmp_path: Path) -> None:
    bob = _dying(tmp_path)
    options: dict[str, Any] = {"hands": 10, "seating": Seating.SINGLE}
    plans = [
        _plan(tmp_path / "1", "random", bob, **options),
        _plan(tmp_path / "2", "random", "calling", **options),
        _plan(tmp_path / "3", bob, "calling", **options),
        _plan(tmp_path / "4", "random", "calling", host="192.0.2.1", **options),
    ]
    (tmp_path / "alone").mkdir()
    alone = _compared(_play(replace(plans[1], record=replace(plans[1].record, folder=tmp_path / "alone"))))
    workers = asyncio.Semaphore(3)
    tournament = Tournament([Contest(plan, workers) for plan in plans], 3)

    async def main() -> None:
        async with asyncio.timeout(PATIENCE_S):
            await tournament.play()

    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        runner.run(main())
    endings = [contest.ending.outcome for contest in tournament.contests if contest.ending is not None]
    assert endings == ["failed", "finished", "failed", "failed"]
    assert _compared(contest_result(tournament.contests[1], resume=None)) == alone
    last = tournament.contests[3].ending
    assert last is not None
    assert isinstance(last.error, LaunchError)
    assert last.sentence.startswith("cannot listen on 192.0.2.1")


# ---- waits


def test_interrupted_run_names_the_awaited_player(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dealer.run.contest.LONG_WAIT_S", 0.0)
    never = "Never=" + write_program(tmp_path, "never.py", CONNECT + "hello()\nf.read()")
    plan = _plan(tmp_path / "out", never, "calling", seating=Seating.SINGLE)
    tournament = Tournament([Contest(plan, asyncio.Semaphore(1))], 1)

    async def main() -> Progress:
        playing = asyncio.create_task(tournament.play())
        async with asyncio.timeout(PATIENCE_S):
            while not any(wait.hand_number == 0 and wait.player == "A" for wait in tournament.contests[0].waits):
                await asyncio.sleep(0.01)
        progress = progress_of(tournament)
        playing.cancel()
        await playing
        return progress

    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        progress = runner.run(main())
    assert [(wait.player, wait.hand_number) for wait in progress.waits] == [("A", 0)]
    reason = tournament_result(tournament, tmp_path, resume=None).reason
    assert reason.startswith("it was interrupted while waiting for A for ")
    assert reason.endswith(" s (hand 0).")
    assert tournament.contests[0].waits == []


# ---- settings of one bot


def test_bot_has_its_own_clock_folder_and_variables(tmp_path: Path) -> None:
    """The bot never answers, and the match ends by the bot's own time limit."""
    (tmp_path / "own").mkdir()
    silent = write_program(
        tmp_path, "silent.py", CONNECT + "open('was-here', 'w').write(os.environ['MODE'])\nhello()\nf.read()"
    )
    own = {"bot": f"Silent={silent}", "directory": "own", "environment": {"MODE": "old"}, "t_response_s": 0.2}
    config = validated({"games": ["kuhn"], "bots": [own, "calling"], "directory": str(tmp_path), "t_response_s": 500.0})
    plan = _plan(tmp_path / "run", "calling", "calling")
    result = _play(replace(plan, run=replace(plan.run, players=settle(config).players)))
    assert result.players[0].faults == {"timeout": result.players[0].faults["timeout"]}
    assert "0.2 s" in result.reason
    assert (tmp_path / "own" / "was-here").read_text() == "old"


def test_bots_in_process_have_their_own_clocks(tmp_path: Path) -> None:
    own = {"bot": "calling", "t_response_s": 0.001, "t_hand_s": 5.0}
    config = validated({"games": ["kuhn"], "bots": [own, "random"], "in_process": True})
    setup = MatchSetup(
        find_game("kuhn")[1],
        "m",
        1,
        1,
        ("A", "B"),
        own_limits=tuple(player.limits for player in settle(config).players),
    )
    assert SeatClock(setup, Seat(0)).limits.response_us == 1000
    assert SeatClock(setup, Seat(1)).limits == setup.limits


def test_stray_connections_are_noted_by_the_name_of_the_seat(tmp_path: Path) -> None:
    plan = _plan(tmp_path / "out", "calling", "raising")
    tournament = Tournament([Contest(plan, asyncio.Semaphore(1))], 1)
    (contest,) = tournament.contests
    assert progress_of(tournament).notes == ()
    contest.prepare()
    contest.tallies[0].notice(StrayConnection(Seat(0), "10.0.0.9", StrayProblem.SILENT, b""))
    contest.tallies[1].notice(VersionDiffers(Seat(0)))
    assert progress_of(tournament).notes == (
        "a connection from 10.0.0.9 to A's port was closed: it sent nothing",
        "B uses another version of the protocol than 2.0.0; play continues.",
    )


async def test_pickled_contest_has_the_same_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fork_dealers(monkeypatch)
    async with asyncio.timeout(PATIENCE_S):
        dealers = DealerProcesses(1, has_affinity=False)
        for score in (Score.BOTH, Score.CORRECTED):
            plan = _plan(
                tmp_path / score, "calling", "random", game="leduc", hands=100, score=score, seating=Seating.SINGLE
            )
            contest = Contest(plan, asyncio.Semaphore(2), lambda event: None, dealers=dealers)
            await contest.play()
            copy = pickle.loads(pickle.dumps(contest))
            assert contest_result(copy, resume="again") == contest_result(contest, resume="again")
        await dealers.close()
