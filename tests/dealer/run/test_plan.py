"""From settings to contests."""

from __future__ import annotations

import pickle
import sys
from pathlib import Path
from typing import Any

import pytest

from dealer.errors import ConfigError
from dealer.run.choices import Seating
from dealer.run.contest_plan import MAX_CORRECTED_HANDS, MIN_CORRECTED_DEALS, ContestPlan
from dealer.run.plan import planned_contests, repeatable, settle
from dealer.run.run_settings import read_config, validated
from engine import DealKey
from logs.estimation import IntervalWidth
from logs.variance.cross_fitting import MIN_DEALS_PER_FOLD
from protocol import find_game, format_game_definition

KEY = DealKey(bytes(range(32)))


def planned(folder: Path, **settings: Any) -> tuple[ContestPlan, ...]:
    return planned_contests(settle(validated({"seed": 77} | settings)), folder)


def test_the_bare_command_plays_two_bots_in_both_seatings(tmp_path: Path) -> None:
    plan = planned(tmp_path)
    (contest,) = plan
    assert contest.names == ("raising", "random")
    assert (contest.run.deals, contest.run.seed, contest.run.seating) == (3000, 77, Seating.ROTATIONS)
    assert [match_plan.players for match_plan in contest.match_plans] == [(0, 1), (1, 0)]
    assert contest.record.folder == tmp_path


def test_tcp_player_plays_one_seating_by_default(tmp_path: Path) -> None:
    assert planned(tmp_path, bots=["tcp", "calling"])[0].run.seating is Seating.SINGLE
    asked = planned(tmp_path, bots=["tcp", "calling"], seating="rotations")
    assert asked[0].run.seating is Seating.ROTATIONS


def test_a_key_is_written_and_read_back_as_its_digits(tmp_path: Path) -> None:
    config = validated({"seed": KEY, "bots": ["random", "calling"]})
    path = tmp_path / "run.toml"
    path.write_text(repeatable(config, settle(config)).to_toml())
    assert f'seed = "{KEY.secret.hex()}"' in path.read_text()
    (contest,) = planned_contests(settle(validated(read_config(path))), tmp_path)
    assert contest.run.seed == KEY
    assert pickle.loads(pickle.dumps(contest)) == contest
    for wrong in ("ab" * 31, "ZZ" * 32, -1, 2**32):
        with pytest.raises(ConfigError, match=r"seed: must be (a whole number|at least 0|at most 4,294,967,295)"):
            validated({"seed": wrong})


@pytest.mark.parametrize(
    ("bots", "seating", "has_own_cards"),
    [
        (["random", "calling"], "rotations", False),
        (["A=random?fold=0.1", "calling"], "rotations", False),
        (["tcp", "calling"], "rotations", True),
        (["calling", "tcp"], "permutations", True),
        (["./bot.sh", "calling"], "rotations", True),
        (["bot.py:Bot", "calling"], "rotations", True),
        (["tcp", "calling"], "single", False),
    ],
)
def test_bots_that_could_remember_cards_get_new_deals_per_match(
    tmp_path: Path, bots: list[str], seating: str, *, has_own_cards: bool
) -> None:
    for name in ("bot.sh", "bot.py"):
        (tmp_path / name).write_text("#!/bin/sh\nBot = 1\n")
        (tmp_path / name).chmod(0o755)
    settings = {"bots": bots, "seating": seating, "directory": str(tmp_path)}
    (contest,) = planned(tmp_path, seed=KEY, **settings)
    assert contest.has_own_cards is has_own_cards
    seeds = [contest.seed_of(match_plan) for match_plan in contest.match_plans]
    assert len(set(seeds)) == (len(seeds) if has_own_cards else 1)
    (known,) = planned(tmp_path, seed=7, **settings)
    assert {known.seed_of(match_plan) for match_plan in known.match_plans} == {7}, (
        "a number deals what it has always dealt"
    )


def test_slices_of_a_seating_have_the_cards_of_one_match(tmp_path: Path) -> None:
    command = f"{sys.executable} bot.py"
    (contest,) = planned(tmp_path, seed=KEY, bots=[command, "calling"], workers=4, deals=100)
    assert [match_plan.name for match_plan in contest.match_plans] == [
        "match.1.a",
        "match.1.b",
        "match.2.a",
        "match.2.b",
    ]
    seeds = [contest.seed_of(match_plan) for match_plan in contest.match_plans]
    assert seeds[:2] == seeds[2:]
    assert seeds[0] != seeds[1]


def test_the_seeds_of_bots_tell_nothing_about_a_key(tmp_path: Path) -> None:
    (contest,) = planned(tmp_path, seed=KEY)
    seeds = [
        contest.bot_seed(match_plan, player) for match_plan in contest.match_plans for player in match_plan.players
    ]
    assert len(set(seeds)) == 4
    assert seeds == [
        KEY.number(match_plan.seating, player) for match_plan in contest.match_plans for player in match_plan.players
    ]
    assert all(0 <= seed < 2**32 for seed in seeds)


def test_no_more_seats_than_the_system_can_serve(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on Windows, where a process can wait for 512 sockets only."""
    monkeypatch.setattr("dealer.run.plan.MAX_SEATS", 240)
    planned(tmp_path / "one", workers=120)
    planned(tmp_path / "two", workers=1, in_process=True)
    with pytest.raises(ConfigError, match="workers: 242 bots at a time are more than the 240 that this system can"):
        planned(tmp_path / "three", workers=121)


def test_more_workers_than_seatings_cut_the_hands(tmp_path: Path) -> None:
    plan = planned(tmp_path, workers=5, deals=100)
    assert plan[0].slices == 3
    assert len(plan[0].match_plans) == 6
    assert planned(tmp_path, command="tournament", bots=["calling", "random"], workers=5)[0].slices == 1


def test_a_stop_rule_sets_the_hands(tmp_path: Path) -> None:
    assert planned(tmp_path, stop="500")[0].run.deals == 500
    contest = planned(tmp_path, stop="ci=20")[0]
    assert (contest.run.deals, contest.run.stop) == (1_000_000, IntervalWidth(20.0))
    assert planned(tmp_path, stop="ci=20", deals=700)[0].run.deals == 700


def test_a_tournament_has_a_folder_per_contest(tmp_path: Path) -> None:
    plan = planned(tmp_path, command="tournament", games=["kuhn", "kuhn3"], bots=["a=calling", "b=random", "c=folding"])
    assert [contest.names for contest in plan] == [("a", "b"), ("a", "c"), ("b", "c"), ("a", "b", "c")]
    assert [contest.entrants for contest in plan] == [(0, 1), (0, 2), (1, 2), (0, 1, 2)]
    assert [contest.record.folder.name for contest in plan] == [
        "1-kuhn.limit.2p-a-vs-b",
        "2-kuhn.limit.2p-a-vs-c",
        "3-kuhn.limit.2p-b-vs-c",
        "4-kuhn.limit.3p-a-vs-b-vs-c",
    ]
    gauntlet = planned(
        tmp_path, command="tournament", format="gauntlet", games=["kuhn"], bots=["a=calling", "b=random", "c=folding"]
    )
    assert [contest.names for contest in gauntlet] == [("a", "b"), ("a", "c")]


def test_settled_settings_leave_nothing_open_and_plan_the_same_run(tmp_path: Path) -> None:
    asked = validated({"bots": ["calling", "calling"], "stop": "300"})
    settled = settle(asked)
    whole = repeatable(asked, settled)
    assert (whole.deals, whole.seed, whole.seating) == (300, settled.seed, "rotations")
    assert (whole.workers, whole.directory) == (settled.workers, str(Path.cwd()))
    assert repeatable(whole, settle(whole)) == whole
    assert planned_contests(settle(whole), tmp_path) == planned_contests(settle(whole), tmp_path)
    assert (
        planned_contests(settle(whole), tmp_path)[0].match_plans == planned_contests(settled, tmp_path)[0].match_plans
    )


def test_a_plan_is_a_value(tmp_path: Path) -> None:
    plan = planned(tmp_path, bots=["calling", "random"], stop="ci=20")
    assert plan == planned(tmp_path, bots=["calling", "random"], stop="ci=20")
    assert pickle.loads(pickle.dumps(plan)) == plan
    assert len({plan, pickle.loads(pickle.dumps(plan))}) == 1


def test_a_game_of_ones_own_is_kept_beside_the_settings(tmp_path: Path) -> None:
    game = tmp_path / "mine.game"
    game.write_text(format_game_definition(find_game("kuhn")[1]))
    settled = settle(validated({"games": [str(game)]}))
    assert [named.name for named in settled.games] == ["mine.game"]
    folder = tmp_path / "run"
    folder.mkdir()
    settled.keep_games(folder)
    assert find_game(str(folder / "mine.game"))[1] == find_game("kuhn")[1]


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"games": ["chess"]}, "no such game or file"),
        ({"bots": ["calling"]}, "limit needs 2 players, 1 given: calling"),
        ({"bots": ["calling", "nobody-at-all"]}, "'nobody-at-all' is neither a built-in bot"),
        ({"bots": ["leduc", "calling"]}, "'leduc' is a game, not a bot: games are named before bots"),
        (
            {"command": "tournament", "games": ["kuhn3"], "bots": ["calling", "random"]},
            "needs at least 3 bots, 2 given",
        ),
        ({"command": "tournament", "bots": ["calling", "tcp"]}, "'tcp' cannot play in one"),
        ({"games": ["leduc"], "bots": ["calling", "mfs"]}, "mfs does not play leduc: the chance to win is"),
        (
            {"games": ["limit", "leduc"], "bots": ["calling", "rembrant?explain=true"], "command": "tournament"},
            "does not play leduc: rembrant plays hold'em only",
        ),
        ({"bots": ["tcp", "calling"], "in_process": True}, "only Python bots play in process, tcp is a tcp player"),
        ({"in_process": True, "on_fault": "restart"}, "on_fault: a bot that plays in process cannot be restarted"),
        (
            {"in_process": True, "workers": 2, "bots": ["learner", "random"], "games": ["limit"]},
            "workers: learner learns, in process with 1 worker only; add learn=false, or leave in_process out",
        ),
        ({"deals": 10, "stop": "20"}, "deals: 10 contradicts the stop rule '20'"),
        ({"ports": [5000], "seating": "rotations"}, "ports can be given for one match only"),
        ({"games": ["kuhn", "leduc"]}, "games: a play has one game; a tournament can have several"),
        ({"games": []}, "games: name at least one game"),
        ({"games": ["kuhn"], "format": "gauntlet"}, "format: 'gauntlet' applies to tournaments"),
        ({"games": ["kuhn"], "export": "pokerstars"}, "export: kuhn: "),
    ],
)
def test_unplayable_settings_are_refused(tmp_path: Path, settings: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError) as error:
        planned(tmp_path, **settings)
    assert words in str(error.value)


def test_too_many_seatings_are_refused_before_they_are_made(tmp_path: Path) -> None:
    ten = {"games": ["holdem.limit.10p"], "bots": ["calling"] * 10}
    with pytest.raises(ConfigError, match="3,628,800 orders"):
        planned(tmp_path, seating="permutations", **ten)
    six = {"games": ["holdem.nolimit.6p"], "bots": ["calling"] * 6}
    with pytest.raises(ConfigError, match="keeps all 720 seatings at the table at once"):
        planned(tmp_path, seating="permutations", stop="ci=100", **six)


def test_a_result_is_corrected_unasked_where_that_is_cheap(tmp_path: Path) -> None:
    leduc, limit, asked, without = (
        planned(tmp_path, bots=["calling", "random"], **settings)[0]
        for settings in (
            {"game": "leduc"},
            {},
            {"game": "leduc", "score": "corrected"},
            {"game": "leduc", "score": "raw"},
        )
    )
    assert leduc.corrects_by_default(MAX_CORRECTED_HANDS // 2)
    assert not leduc.corrects_by_default(MAX_CORRECTED_HANDS // 2 + 1)
    assert not asked.corrects_by_default(1000)
    assert not without.corrects_by_default(1000)
    assert limit.corrects_by_default(MAX_CORRECTED_HANDS // 2), "whether kernels are compiled decides nothing"
    assert [limit.corrects_by_default(2 * deals) for deals in (79, 80)] == [False, True]
    assert MIN_CORRECTED_DEALS == 2 * MIN_DEALS_PER_FOLD
    (three,) = planned(tmp_path, game="limit3", bots=["calling", "random", "calling"])
    assert three.corrects_by_default(MAX_CORRECTED_HANDS // 3)
    assert not three.corrects_by_default(MAX_CORRECTED_HANDS // 2)
