"""``arena luck``: estimates, JSON and refusals."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from dealer.run.results import ContestResult
from logs.variance.estimates import Estimates
from tests.dealer.cli.conftest import Arena


@pytest.fixture
def small(finished_runs: Callable[..., Path], tmp_path: Path) -> Path:
    """Finished run of a game with few boards."""
    arguments = (
        "play",
        "kuhn",
        "A=random?seed=5",
        "B=random?seed=9",
        "-n",
        "100",
        "--seed",
        "3",
        "--in-process",
        "--quiet",
    )
    return shutil.copytree(finished_runs(*arguments), tmp_path / "small")


def test_estimators_are_listed_side_by_side(arena_here: Arena, small: Path) -> None:
    command = arena_here("luck", "small")
    assert command.code == 0
    for words in ("raw", "duplicate", "all-in adjusted", "chance-corrected", "worth raw hands"):
        assert words in command.out
    assert "AIVAT" not in command.out
    assert "B: the same with the other sign" in command.err
    known = arena_here("luck", "small", "--known", "A", "--known", "B=random?seed=1")
    for words in ("AIVAT, A known", "AIVAT, B known", "AIVAT, A and B known"):
        assert words in known.out
    over_ranges = arena_here("luck", "small", "--known", "A", "--known", "B", "--ranges")
    for words in ("AIVAT over ranges, A known", "AIVAT over ranges, A and B known"):
        assert words in over_ranges.out


def test_estimates_as_json_are_kept_in_the_result(arena_here: Arena, small: Path) -> None:
    command = arena_here("luck", "small", "--json", "--save", "--known", "A")
    assert command.code == 0
    (game_estimates,) = Estimates.model_validate_json(command.out).games
    assert game_estimates.hands == 200
    assert game_estimates.deals == 100
    result = ContestResult.model_validate_json((small / "result.json").read_text("utf-8"))
    assert result.estimates == game_estimates
    for player, player_result in zip(game_estimates.players, result.players, strict=True):
        by_name = {estimate.name: estimate for estimate in player.estimates}
        assert player_result.won is not None
        assert by_name["duplicate"].mbb_per_game == pytest.approx(player_result.won.raw.mean)
        assert by_name["duplicate"].half_width_95 == pytest.approx(player_result.won.raw.half_width)
        assert by_name["AIVAT, A known"].standard_error < by_name["chance-corrected"].standard_error
        assert all(estimate.warning is None for estimate in player.estimates)
    first, second = (player.estimates for player in game_estimates.players)
    for estimate, opposite in zip(first, second, strict=True):
        assert estimate.mbb_per_game == pytest.approx(-opposite.mbb_per_game, abs=1e-6)


def test_faults_of_a_known_player_are_a_warning(arena_here: Arena, small: Path) -> None:
    path = small / "result.json"
    result = json.loads(path.read_text("utf-8"))
    result["players"][0]["faults"] = {"timeout": 2}
    path.write_text(json.dumps(result), "utf-8")
    command = arena_here("luck", "small", "--known", "A")
    assert "A, AIVAT, A known: A had 2 faults, and the actions played for it do not follow its policy" in command.err


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--ranges"], "--ranges goes with --known; it needs a player whose strategy is known"),
        (["--known", "C=calling"],
         "--known C: there is no such player in these hands, only A, B"),
        (["--known", "C"], "--known C: no result of a run names the bot of C; write --known C=BOT"),
        (["--known", "A", "--known", "A=calling"], "--known A is given twice"),
        (["--known", "A=file:none"], "A: none: No such file or directory"),
        (["--known", "A=mfs"],
         "A: mfs has no policy in this game: the chance to win is counted for hold'em only: limit or no-limit, two "
         "hole cards from a deck of 52, a board of three, one and one, such as in the games nolimit, limit, nolimit3 "
         "and limit10; this game is not one of them"),
    ],
)  # fmt: skip
def test_refusal_is_one_sentence(arena_here: Arena, small: Path, arguments: list[str], sentence: str) -> None:
    command = arena_here("luck", "small", *arguments)
    assert (command.code, command.sentence) == (2, sentence)


def test_policy_of_another_player_is_refused(arena_here: Arena, small: Path) -> None:
    command = arena_here("luck", "small", "--known", "A=calling")
    assert command.code == 2
    assert "to which its policy gives no chance: these hands were played by another policy" in command.sentence


def test_logs_without_a_result_cannot_save_estimates(arena_here: Arena, small: Path) -> None:
    log = next(small.rglob("*.log"))
    command = arena_here("luck", str(log), "--save")
    assert command.sentence == "--save goes with the folder of one run"
    command = arena_here("luck", str(log))
    assert command.code == 0
    assert "duplicate not shown: every deal was played once" in command.err
