"""``arena bots``, ``arena games``, ``arena bench``: tables and figures."""

from __future__ import annotations

import json

import pytest

from bots.sdk.registry import builtin_names
from protocol import shipped_games
from protocol.game_definition import SHORT_NAMES
from tests.dealer.cli.conftest import Arena


def test_bots_are_listed_with_their_options(arena: Arena) -> None:
    ran = arena("bots", COLUMNS="160")
    assert (ran.code, ran.err) == (0, "")
    for name in builtin_names():
        assert f" {name} " in ran.out
    assert "fold=0.06 (number)" in ran.out


def test_one_bot_is_explained(arena: Arena) -> None:
    ran = arena("bots", "rembrant", COLUMNS="80")
    assert (ran.code, ran.err) == (0, "")
    for word in ("four_straight", "fold", "no bet is paid", "bet_pot_danger"):
        assert word in ran.out
    assert arena("bots", "calling").out == "calling: calls every bet and never makes one (built in)\n"
    unknown = arena("bots", "shark")
    assert (unknown.code, unknown.out) == (2, "")
    assert unknown.sentence.startswith("'shark': there is no bot 'shark'; there are: calling,")


def test_games_are_listed_with_both_names(arena: Arena) -> None:
    ran = arena("games", COLUMNS="160")
    assert (ran.code, ran.err) == (0, "")
    for name in (*shipped_games(), *SHORT_NAMES):
        assert f" {name} " in ran.out


def test_every_listed_game_can_be_played(arena_here: Arena) -> None:
    """The short names of the table are those that `play` takes; the number of players is told where it is wrong."""
    for name in SHORT_NAMES:
        ran = arena_here("play", name, "calling")
        assert ran.code == 2
        assert "players, 1 given: calling" in ran.sentence


def test_hands_and_processor_time_of_the_dealer(arena_here: Arena) -> None:
    options = ("--matches", "1", "--game", "kuhn", "--hands", "20", "--rounds", "1")
    ran = arena_here("bench", "dealer", *options, "--json")
    assert (ran.code, ran.err) == (0, "")
    rows = json.loads(ran.out)
    assert [row["who"] for row in rows] == ["ours, sent at once", "ours, watched", "ours, coalesced 5 ms"]
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
        "of three, one and one, such as in the games nolimit, limit, nolimit3 and limit10; not for this game",
    ),
    (("dealer", "--game", "limit3"), "--game limit3: a game of two players is measured, not one of 3"),
    (("server", "--game", "limit3"), "--game limit3: a game of two players is measured, not one of 3"),
    (("server", "--bots", "7"), "--bots 7: two bots play a match, so their number must be even"),
]


@pytest.mark.parametrize(("arguments", "words"), UNMEASURABLE)
def test_what_cannot_be_measured_is_one_sentence(arena_here: Arena, arguments: tuple[str, ...], words: str) -> None:
    ran = arena_here("bench", *arguments)
    assert ran.code == 2
    assert ran.sentence == words


@pytest.mark.slow
def test_a_server_with_joined_bots(arena_here: Arena) -> None:
    options = ("--bots", "4", "--seconds", "0.5", "--rounds", "1", "--game", "kuhn")
    ran = arena_here("bench", "server", *options, "--json")
    assert ran.code == 0
    rows = json.loads(ran.out)
    rates = [row for row in rows if row["unit"] == "hands/s"]
    assert [row["who"] for row in rates] == ["arena serve", "arena play"]
    assert {row["group"] for row in rates} == {"4 bots in 2 matches of kuhn.limit.2p"}
    assert rates[1]["ratio"] == pytest.approx(rates[0]["rate_median"] / rates[1]["rate_median"])
    assert [row["who"].partition(",")[0] for row in rows if row["unit"] == "kB"] == [
        "a bot that waits",
        "a bot that plays",
    ]
    for row in rows:
        assert row["rate_low"] <= row["rate_median"] <= row["rate_high"]


def test_decisions_of_a_bot(arena_here: Arena) -> None:
    ran = arena_here("bench", "bot", "calling", "--game", "kuhn", "--hands", "5", "--json")
    assert (ran.code, ran.err) == (0, "")
    *rounds, everything = json.loads(ran.out)
    assert [row["who"] for row in rounds] == ["round 0"]
    assert everything["who"] == "all"
    for row in (*rounds, everything):
        assert row["group"] == "decisions of calling"
        assert 0 <= row["rate_low"] <= row["rate_median"] <= row["rate_high"]
        assert " decisions, 99% of them within " in row["note"]


@pytest.mark.parametrize("command", ["nonsense", "bench nonsense"])
def test_a_command_that_does_not_exist(arena_here: Arena, command: str) -> None:
    ran = arena_here(*command.split())
    assert (ran.code, ran.out) == (2, "")
    assert "nonsense" in ran.err
    assert "Traceback" not in ran.err
