"""Plans of contests from settings."""

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


def plan_contests(folder: Path, **settings: Any) -> tuple[ContestPlan, ...]:
    return planned_contests(settle(validated({"seed": 77} | settings)), folder)


def test_default_settings_plan_two_bots_in_both_seatings(tmp_path: Path) -> None:
    (contest,) = plan_contests(tmp_path)
    assert contest.names == ("raising", "random")
    assert contest.run.deals == 3000
    assert contest.run.seed == 77
    assert contest.run.seating is Seating.ROTATIONS
    assert [match_plan.players for match_plan in contest.match_plans] == [(0, 1), (1, 0)]
    assert contest.record.folder == tmp_path


def test_tcp_player_plays_one_seating_by_default(tmp_path: Path) -> None:
    assert plan_contests(tmp_path, bots=["tcp", "calling"])[0].run.seating is Seating.SINGLE
    (contest,) = plan_contests(tmp_path, bots=["tcp", "calling"], seating="rotations")
    assert contest.run.seating is Seating.ROTATIONS


def test_key_is_written_and_read_back_as_its_digits(tmp_path: Path) -> None:
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
    (contest,) = plan_contests(tmp_path, seed=KEY, **settings)
    assert contest.has_own_cards is has_own_cards
    seeds = [contest.seed_of(match_plan) for match_plan in contest.match_plans]
    assert len(set(seeds)) == (len(seeds) if has_own_cards else 1)
    # A public seed cannot hide cards, and must keep dealing the same hands.
    (public,) = plan_contests(tmp_path, seed=7, **settings)
    assert {public.seed_of(match_plan) for match_plan in public.match_plans} == {7}


def test_slices_of_a_seating_have_the_cards_of_one_match(tmp_path: Path) -> None:
    command = f"{sys.executable} bot.py"
    (contest,) = plan_contests(tmp_path, seed=KEY, bots=[command, "calling"], workers=4, deals=100)
    assert [match_plan.name for match_plan in contest.match_plans] == [
        "match.1.a",
        "match.1.b",
        "match.2.a",
        "match.2.b",
    ]
    seeds = [contest.seed_of(match_plan) for match_plan in contest.match_plans]
    assert seeds[:2] == seeds[2:]
    assert seeds[0] != seeds[1]


def test_seeds_of_bots_are_derived_from_the_key(tmp_path: Path) -> None:
    (contest,) = plan_contests(tmp_path, seed=KEY)
    seeds = set()
    for match_plan in contest.match_plans:
        for player in match_plan.players:
            seed = contest.bot_seed(match_plan, player)
            assert seed == KEY.number(match_plan.seating, player)
            assert 0 <= seed < 2**32
            seeds.add(seed)
    assert len(seeds) == 4


def test_more_seats_than_the_system_can_serve_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # A process on Windows can wait for 512 sockets only.
    monkeypatch.setattr("dealer.run.plan.MAX_SEATS", 240)
    plan_contests(tmp_path / "one", workers=120)
    plan_contests(tmp_path / "two", workers=1, in_process=True)
    with pytest.raises(ConfigError, match="workers: 242 bots at a time are more than the 240 that this system can"):
        plan_contests(tmp_path / "three", workers=121)


def test_more_workers_than_seatings_cut_the_hands(tmp_path: Path) -> None:
    (contest,) = plan_contests(tmp_path, workers=5, deals=100)
    assert contest.slices == 3
    assert len(contest.match_plans) == 6
    assert plan_contests(tmp_path, command="tournament", bots=["calling", "random"], workers=5)[0].slices == 1


def test_stop_rule_sets_the_number_of_deals(tmp_path: Path) -> None:
    assert plan_contests(tmp_path, stop="500")[0].run.deals == 500
    (contest,) = plan_contests(tmp_path, stop="ci=20")
    assert contest.run.deals == 1_000_000
    assert contest.run.stop == IntervalWidth(20.0)
    assert plan_contests(tmp_path, stop="ci=20", deals=700)[0].run.deals == 700


def test_tournament_has_a_folder_per_contest(tmp_path: Path) -> None:
    plan = plan_contests(
        tmp_path, command="tournament", games=["kuhn", "kuhn3"], bots=["a=calling", "b=random", "c=folding"]
    )
    assert [contest.names for contest in plan] == [("a", "b"), ("a", "c"), ("b", "c"), ("a", "b", "c")]
    assert [contest.entrants for contest in plan] == [(0, 1), (0, 2), (1, 2), (0, 1, 2)]
    assert [contest.record.folder.name for contest in plan] == [
        "1-kuhn.limit.2p-a-vs-b",
        "2-kuhn.limit.2p-a-vs-c",
        "3-kuhn.limit.2p-b-vs-c",
        "4-kuhn.limit.3p-a-vs-b-vs-c",
    ]
    gauntlet = plan_contests(
        tmp_path, command="tournament", format="gauntlet", games=["kuhn"], bots=["a=calling", "b=random", "c=folding"]
    )
    assert [contest.names for contest in gauntlet] == [("a", "b"), ("a", "c")]


def test_repeatable_settings_are_complete_and_plan_the_same_run(tmp_path: Path) -> None:
    settings = validated({"bots": ["calling", "calling"], "stop": "300"})
    settled = settle(settings)
    complete = repeatable(settings, settled)
    assert complete.deals == 300
    assert complete.seed == settled.seed
    assert complete.seating == "rotations"
    assert complete.workers == settled.workers
    assert complete.directory == str(Path.cwd())
    assert repeatable(complete, settle(complete)) == complete
    (first,) = planned_contests(settle(complete), tmp_path)
    (second,) = planned_contests(settle(complete), tmp_path)
    assert first == second
    assert first.match_plans == planned_contests(settled, tmp_path)[0].match_plans


def test_plan_is_a_value(tmp_path: Path) -> None:
    plan = plan_contests(tmp_path, bots=["calling", "random"], stop="ci=20")
    assert plan == plan_contests(tmp_path, bots=["calling", "random"], stop="ci=20")
    assert pickle.loads(pickle.dumps(plan)) == plan
    assert len({plan, pickle.loads(pickle.dumps(plan))}) == 1


def test_custom_game_is_copied_to_the_folder_of_the_run(tmp_path: Path) -> None:
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
        plan_contests(tmp_path, **settings)
    assert words in str(error.value)


def test_too_many_seatings_are_refused_before_they_are_made(tmp_path: Path) -> None:
    ten = {"games": ["holdem.limit.10p"], "bots": ["calling"] * 10}
    with pytest.raises(ConfigError, match="3,628,800 orders"):
        plan_contests(tmp_path, seating="permutations", **ten)
    six = {"games": ["holdem.nolimit.6p"], "bots": ["calling"] * 6}
    with pytest.raises(ConfigError, match="keeps all 720 seatings at the table at once"):
        plan_contests(tmp_path, seating="permutations", stop="ci=100", **six)


def test_result_is_corrected_by_default_if_that_is_cheap(tmp_path: Path) -> None:
    bots = ["calling", "random"]
    (leduc,) = plan_contests(tmp_path, bots=bots, game="leduc")
    assert leduc.corrects_by_default(MAX_CORRECTED_HANDS // 2)
    assert not leduc.corrects_by_default(MAX_CORRECTED_HANDS // 2 + 1)
    for score in ("corrected", "raw"):
        (contest,) = plan_contests(tmp_path, bots=bots, game="leduc", score=score)
        assert not contest.corrects_by_default(1000)
    (limit,) = plan_contests(tmp_path, bots=bots)
    assert limit.corrects_by_default(MAX_CORRECTED_HANDS // 2), "compiled kernels must make no difference"
    assert [limit.corrects_by_default(2 * deals) for deals in (79, 80)] == [False, True]
    assert MIN_CORRECTED_DEALS == 2 * MIN_DEALS_PER_FOLD
    (three,) = plan_contests(tmp_path, game="limit3", bots=["calling", "random", "calling"])
    assert three.corrects_by_default(MAX_CORRECTED_HANDS // 3)
    assert not three.corrects_by_default(MAX_CORRECTED_HANDS // 2)
