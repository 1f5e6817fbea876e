"""``arena bots``, ``arena games``, ``arena bench``: tables and figures."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from bots.registry import builtin_names
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


def test_start_up_times_as_json(arena: Arena) -> None:
    ran = arena("bench", "startup", "--rounds", "1", "--json")
    assert (ran.code, ran.err) == (0, "")
    rows = json.loads(ran.out)
    bare, *others = rows
    assert (bare["who"], bare["note"]) == ("bare interpreter with asyncio", "")
    programs = {row["who"].partition(",")[0] for row in others}
    assert programs == {"acpc-dealer", "arena --help", "arena bot", "bot of a match"}
    assert all(row["rate_median"] > 0 and row["unit"] == "ms" for row in rows)
    for row in others:
        assert row["note"] == f"{row['rate_median'] / bare['rate_median']:.1f} times the bare interpreter"


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
        "of three, one and one, such as in the games nolimit, limit, nolimit3 and limit10; this game is none",
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
    options = ("--bots", "4", "--seconds", "0.5", "--rounds", "1", "--calls", "2", "--finished", "50", "--game", "kuhn")
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
    groups = {row["group"] for row in rows if row["unit"] == "ms"}
    assert groups == {"4 bots play", "50 matches played, nobody plays"}
    paths = [row["who"] for row in rows if row["group"] == "4 bots play"]
    assert paths[-2:] == ["an event's way to a listener", "an action's way to a watching page"]
    assert "GET /standings/kuhn.limit.2p" in paths
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


def test_no_rounds_are_refused(arena_here: Arena) -> None:
    ran = arena_here("bench", "startup", "--rounds", "0")
    assert (ran.code, ran.out) == (2, "")
    assert "--rounds" in ran.err


def test_formats_are_measured(arena_here: Arena) -> None:
    ran = arena_here("bench", "export", "--repeats", "1", "--hands", "20", "--json")
    assert (ran.code, ran.err) == (0, "")
    rows = json.loads(ran.out)
    assert len(rows) == 18
    assert all(row["rate_median"] > 0 for row in rows if row["who"] == "acpc-arena")
    assert all(row["ratio"] for row in rows if row["who"].startswith("pokerkit ") and "PHH" in row["group"])


@pytest.mark.slow  # numba compiles
def test_self_play_is_measured(arena_here: Arena, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dealer.bench.selfplay.PYTHON_HANDS", 60)
    ran = arena_here("bench", "selfplay", "--repeats", "1", "--individuals", "8", "--json")
    assert (ran.code, ran.err) == (0, "")
    rows = json.loads(ran.out)
    assert len(rows) == 5
    assert all(row["rate_median"] > 0 for row in rows)
    assert [row["ratio"] is None for row in rows] == [True, False, True, False, False]
    assert rows[-1]["who"].startswith("pokerkit ")


def test_pokerkit_pays_what_we_pay() -> None:
    pytest.importorskip("pokerkit")
    from dealer.bench import selfplay

    run, who = selfplay.pokerkit_play(list(selfplay.chart_hands(12)))
    assert run is not None
    assert who.startswith("pokerkit ")
    changed = [replace(record, values=record.values[::-1]) for record in selfplay.chart_hands(12)]
    with pytest.raises(RuntimeError, match=r"pokerkit pays .* in hand \d+, not "):
        selfplay.pokerkit_play(changed)


def test_self_play_of_a_player_that_is_not_there(arena_here: Arena) -> None:
    ran = arena_here("bench", "selfplay", "--chromosome", "nobody.chromosome")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == "arena: nobody.chromosome: it cannot be read: No such file or directory\n"


def test_chances_are_measured(arena_here: Arena, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is compiled here; what compiled code draws is the same."""
    monkeypatch.setattr("dealer.bench.equity.compile_kernels", lambda: None)
    ran = arena_here("bench", "equity", "--repeats", "1", "--trials", "1000", "--json")
    assert (ran.code, ran.err) == (0, "")
    rows = json.loads(ran.out)
    jobs = ["drawn, preflop", "drawn, flop", "drawn, turn", "drawn, river", "counted, flop"]
    assert [row["group"] for row in rows] == [job for job in jobs for _ in range(2)]
    for ours, theirs in zip(rows[::2], rows[1::2], strict=True):
        assert (ours["who"], ours["ratio"]) == ("acpc-arena", None)
        assert ours["rate_median"] > 0
        assert theirs["who"].startswith("eval7")
        assert theirs["note"] == "not installed" or theirs["ratio"] > 0
