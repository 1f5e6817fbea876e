"""``arena train cfr``: training and refusals."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.dealer.cli.conftest import Arena


def test_small_game_is_trained(arena_here: Arena, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    arguments = ("train", "cfr", str(folder), "--game", "kuhn", "--losses", "0", "--iterations")
    result = arena_here(*arguments, "70")
    assert result.code == 0, result.err
    assert "kuhn needs about" in result.err
    assert "game kuhn, decisions of the betting 4, information sets 12" in result.out
    assert "exploitability" in result.out
    assert f"It plays as cfr?strategy={folder / 'cfr.strategy'}" in result.out.replace("\n", "")
    other = arena_here(*arguments, "70", "--seed", "2")
    assert other.code == 2
    assert "it was made with seed 1, not seed 2: take another folder, or the same settings" in other.err.replace(
        "\n", " "
    )


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--game", "kuhn3"], "games of more than two players are trained for in hold'em only"),
        ([], "--game is missing; name the game to train for, such as --game limit"),
        (["--game", "limit", "--buckets", "0"], "1 to 10,000 buckets on the flop, not 0"),
        (["--game", "limit", "--workers", "2"], "set their number with --copies"),
        (["--hours", "1", "--minutes", "60"], "--hours and --minutes contradict each other; leave one out"),
    ],
)
def test_refusal_is_one_sentence(arena_here: Arena, tmp_path: Path, arguments: list[str], sentence: str) -> None:
    result = arena_here("train", "cfr", str(tmp_path / "run"), *arguments)
    assert result.code == 2
    assert sentence in result.err.replace("\n", " ")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("command", ["train cfr leduc", "evolve learner leduc"])
def test_game_in_place_of_the_folder_is_refused(arena_here: Arena, tmp_path: Path, command: str) -> None:
    result = arena_here(*command.split())
    assert result.code == 2
    assert result.err == (
        "arena: leduc is a game, but the first argument is the folder of the run; write: FOLDER --game leduc\n"
    )
    assert not list(tmp_path.iterdir())
