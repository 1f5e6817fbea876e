"""``arena bots``, ``arena games``, ``arena bench``: tables and figures."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from bots.sdk.registry import builtin_names
from protocol import find_game, parse_game_definition, shipped_games
from protocol.game_definition import SHORT_NAMES
from tests.dealer.cli.conftest import Arena

GAMES = Path(__file__).resolve().parents[3] / "engine" / "games"


def test_bots_are_listed_with_their_games(arena_here: Arena) -> None:
    result = arena_here("bots")
    assert (result.code, result.err) == (0, "")
    lines = {line.split()[0]: line for line in result.out.splitlines()[3:] if line}
    assert lines.keys() == set(builtin_names())
    assert lines["mfs"].split(maxsplit=2)[:2] == ["mfs", "hold'em"]
    assert lines["lp"].split()[:2] == ["lp", "limit"]
    assert lines["calling"].split()[:2] == ["calling", "all"]
    assert not [line for line in result.out.splitlines() if line != line.rstrip()]


def test_command_in_another_checkout_is_refused(arena: Arena, tmp_path: Path) -> None:
    (tmp_path / "bots").mkdir()
    (tmp_path / "bots" / "baseline.py").touch()
    result = arena("bots")
    assert result.code == 2
    assert result.sentence.startswith("'calling': acpc-arena runs from ")
    assert result.sentence.endswith(
        f", and this folder is another checkout; to use this one: pip install -e {tmp_path}"
    )


def test_bot_is_explained(arena_here: Arena) -> None:
    result = arena_here("bots", "rembrant")
    assert (result.code, result.err) == (0, "")
    for word in ("four_straight", "fold", "it calls no bet", "bet_pot_danger"):
        assert word in result.out
    assert arena_here("bots", "calling").out == "calling\ncalls every bet, never bets.\ngames all\n"
    unknown = arena_here("bots", "shark")
    assert (unknown.code, unknown.out) == (2, "")
    assert unknown.sentence.startswith("'shark': there is no bot 'shark'; there are: ")
    assert arena_here("bots", "rando").sentence == "'rando': there is no bot 'rando'; did you mean 'random'?"


def test_games_are_listed_with_both_names(arena_here: Arena) -> None:
    result = arena_here("games")
    assert (result.code, result.err) == (0, "")
    for name in (*shipped_games(), *SHORT_NAMES):
        assert f" {name} " in result.out.replace("\n", " \n")


def test_games_and_bots_are_printed_as_json(arena_here: Arena) -> None:
    games = json.loads(arena_here("games", "--json").out)["games"]
    assert [game["full_name"] for game in games] == list(shipped_games())
    assert {game["name"] for game in games} == {*SHORT_NAMES}
    (leduc,) = (game for game in games if game["name"] == "leduc")
    assert (leduc["players"], leduc["is_limit"], leduc["blinds"], leduc["raise_sizes"]) == (2, True, [1, 1], [2, 4])
    bots = {bot["name"]: bot for bot in json.loads(arena_here("bots", "--json").out)["bots"]}
    assert bots.keys() == set(builtin_names())
    assert bots["equilibrium"]["games"] == ["kuhn-depth", "kuhn", "leduc"]
    assert [bots["rembrant"]] == json.loads(arena_here("bots", "rembrant", "--json").out)["bots"]
    assert {option["name"] for option in bots["random"]["options"]} >= {"fold", "call", "raise", "seed"}


def test_every_listed_game_is_a_game_of_play(arena_here: Arena) -> None:
    """`arena play` accepts the short names, and names a wrong number of players in its error."""
    for name in SHORT_NAMES:
        result = arena_here("play", name, "calling")
        assert result.code == 2
        assert "players, 1 given: calling" in result.sentence


@pytest.mark.slow  # three dealers and their bots start
def test_bench_measures_hands_and_processor_time_of_the_dealer(arena_here: Arena) -> None:
    options = ("--matches", "1", "--game", "kuhn", "--hands", "20", "--rounds", "1")
    result = arena_here("bench", "dealer", *options, "--json")
    assert (result.code, result.err) == (0, "")
    rows = json.loads(result.out)
    assert [row["who"] for row in rows] == ["ours", "ours, watched", "ours, sent at once"]
    for row in rows:
        assert row["group"] == "dealer, kuhn, 1 match"
        assert row["rate_median"] > 0
        assert 0 <= row["others_share"] <= 1
        assert row["system_us"] is not None
        assert row["user_us"] is not None


UNMEASURABLE = [
    (("dealer", "--reference-dealer", "no/such/dealer"), "'no/such/dealer' is not a program that can be started"),
    (("dealer", "--matches", "1,x"), "--matches: must be whole numbers above 0, separated by commas, not '1,x'"),
    (("dealer", "--matches", "0"), "--matches: must be whole numbers above 0, separated by commas, not '0'"),
    (
        ("bot", "mfs", "--game", "kuhn"),
        "the chance to win is counted for hold'em only: limit or no-limit, two hole cards from a deck of 52, a board "
        "of three, one and one, such as in the games nolimit, limit, nolimit3 and limit10; this game is not one of "
        "them",
    ),
    (("dealer", "--game", "limit3"), "--game limit3: the game must have two players, not 3"),
]


@pytest.mark.parametrize(("arguments", "words"), UNMEASURABLE)
def test_refusal_of_bench_is_one_sentence(arena_here: Arena, arguments: tuple[str, ...], words: str) -> None:
    result = arena_here("bench", *arguments)
    assert result.code == 2
    assert result.sentence == words


def test_bench_measures_decisions_of_a_bot(arena_here: Arena) -> None:
    result = arena_here("bench", "bot", "calling", "--game", "kuhn", "--deals", "5", "--json")
    assert (result.code, result.err) == (0, "")
    *rounds, everything = json.loads(result.out)
    assert [row["who"] for row in rounds] == ["round 0"]
    assert everything["who"] == "all"
    for row in (*rounds, everything):
        assert row["group"] == "decisions of calling"
        assert 0 <= row["rate_low"] <= row["rate_median"] <= row["rate_high"]
        assert " decisions, 99% of them within " in row["note"]


def test_bench_measures_replies_of_a_command(arena_here: Arena, tmp_path: Path) -> None:
    act = "        return view.call()"
    code = f"from bots import Bot, run\n\n\nclass Mine(Bot):\n    def act(self, view):\n{act}\n\n\nrun(Mine())\n"
    (tmp_path / "new.py").write_text(code)
    (tmp_path / "bad.py").write_text(code.replace("view.call", "view.cal"))
    words = ("--game", "leduc", "--deals", "5")
    command = f"'{sys.executable}' new.py"
    result = arena_here("bench", "bot", command, *words, "--json")
    assert (result.code, result.err) == (0, "")
    rows = json.loads(result.out)
    assert [row["who"] for row in rows] == ["round 0", "round 1", "all"]
    for row in rows:
        assert row["group"] == f"replies of {command}, from the question over a local connection"
        assert 0 < row["rate_low"] <= row["rate_median"] <= row["rate_high"]
    failed = arena_here("bench", "bot", f"'{sys.executable}' bad.py", *words)
    assert (failed.code, failed.out) == (2, "")
    assert failed.sentence.startswith(f"{sys.executable}: it ended with exit code 1; its last output was: ")
    assert arena_here("bench", "bot", "tcp").sentence == (
        "'tcp' cannot be measured: name a bot, or a command that starts one"
    )


@pytest.mark.parametrize("name", ["limit", "kuhn-depth", "holdem.nolimit.2p"])
def test_file_of_a_game_is_printed(arena_here: Arena, name: str) -> None:
    full, game = find_game(name)
    result = arena_here("games", name)
    assert result.out == (GAMES / f"{full}.game").read_text("ascii")
    assert parse_game_definition(result.out) == game
    (data,) = json.loads(arena_here("games", name, "--json").out)["games"]
    assert (data["full_name"], data["definition"]) == (full, result.out)


def test_own_game_file_is_printed(arena_here: Arena, tmp_path: Path) -> None:
    text = "# Mine\n" + (GAMES / "kuhn.limit.2p.game").read_text("ascii")
    (tmp_path / "my.game").write_text(text, "ascii")
    assert arena_here("games", "my.game").out == text
    (tmp_path / "my.game").write_text(text + "ante = 1\n", "ascii")
    assert arena_here("games", "my.game").code == 0
    (tmp_path / "my.game").write_text(text.replace("limit\n", "limit\nante = 1\n"), "ascii")
    result = arena_here("games", "my.game")
    assert (result.code, result.out) == (2, "")
    assert "line 4: 'ante = 1' is not played" in result.err
    assert "no such game or file" in arena_here("games", "nothing").err
