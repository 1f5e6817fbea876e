"""Measurements of `bench`: each runs and prints complete rows."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import replace
from typing import Any

import pytest

from bench.__main__ import main


@pytest.fixture
def rows_of(capsys: pytest.CaptureFixture[str]) -> Any:
    """Function from the words of a command to its rows."""

    def run(*words: str) -> list[dict[str, Any]]:
        main([*words, "--json"])
        out, err = capsys.readouterr()
        assert err == ""
        return json.loads(out)

    return run


@pytest.mark.slow  # eight programs start
def test_start_up_times_are_measured(rows_of: Any) -> None:
    rows = rows_of("startup", "--rounds", "1")
    bare, *others = rows
    assert bare["who"] == "bare interpreter"
    assert bare["note"] == ""
    programs = {row["who"].partition(",")[0] for row in others}
    assert programs == {
        *("interpreter with asyncio", "acpc-dealer"),
        *("arena --help", "arena --version", "arena bots", "arena bot", "bot of a match"),
    }
    assert all(row["rate_median"] > 0 and row["unit"] == "ms" for row in rows)
    for row in others:
        assert row["note"] == f"{row['rate_median'] / bare['rate_median']:.1f} times the bare interpreter"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("evaluator --repeats 0", "evaluator: at least one repeat is needed, not 0"),
        ("match --rounds 0", "match: at least one round of one match of more than 100 hands is needed"),
        ("server --game limit3", "server: --game limit3: the game must have two players, not 3"),
        ("server --bots 7", "server: --bots 7: two bots play a match, so their number must be even"),
        ("match --reference nowhere", "match: nowhere lacks the reference's programs, dealer and example_player"),
        ("replies --game limit3", "replies: at least one hand of a game of two players is needed, not 50 of limit3"),
        ("match --checkout nowhere", "match: nowhere is not the folder of a checkout"),
        ("dealers --checkout nowhere", "dealers: nowhere is not the folder of a checkout"),
        ("replies --checkout nowhere", "replies: nowhere is not the folder of a checkout"),
    ],
)
def test_refusal_is_one_sentence(words: str, sentence: str) -> None:
    with pytest.raises(SystemExit) as raised:
        main(words.split())
    assert raised.value.code == sentence


@pytest.mark.skipif(sys.platform != "linux", reason="programs are held to one core on Linux only")
def test_missing_core_is_refused() -> None:
    with pytest.raises(SystemExit, match=r"^match: --core 99999 is none of those that may be used here: \[\d"):
        main(["match", "--core", "99999"])


def test_rows_are_printed_as_a_table(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bench.equity.compile_kernels", lambda: None)
    main(["equity", "--repeats", "1", "--trials", "100"])
    assert "drawn, preflop" in capsys.readouterr().out


def test_formats_are_measured(rows_of: Any) -> None:
    rows = rows_of("export", "--repeats", "1", "--hands", "5")
    assert len(rows) == 32
    assert all(row["rate_median"] > 0 for row in rows if row["who"] == "acpc-arena")
    assert all(row["ratio"] for row in rows if row["who"].startswith("pokerkit ") and "PHH" in row["group"])


@pytest.mark.slow  # numba compiles
def test_self_play_is_measured(rows_of: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bench.selfplay.PYTHON_HANDS", 60)
    rows = rows_of("selfplay", "--repeats", "1", "--individuals", "8")
    assert len(rows) == 5
    assert all(row["rate_median"] > 0 for row in rows)
    assert [row["ratio"] is None for row in rows] == [True, False, True, False, False]
    assert rows[-1]["who"].startswith("pokerkit ")


@pytest.mark.slow  # numba compiles
def test_environments_are_measured(rows_of: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bench.environments.WARM_HANDS", 10)
    rows = rows_of("environments", "--repeats", "1", "--hands", "20")
    assert {row["group"] for row in rows} == {"environments, one table", "environments, batches"}
    assert all(row["rate_median"] > 0 or row["note"] == "not installed" for row in rows)


@pytest.mark.slow
# eval7 calls functions of pyparsing by their old names.
@pytest.mark.filterwarnings("ignore:.* deprecated - use:DeprecationWarning")
def test_evaluators_are_measured(rows_of: Any) -> None:
    rows = rows_of("evaluator", "--repeats", "1")
    assert {row["group"] for row in rows} == {"evaluator, one call", "evaluator, batch"}
    assert all(row["rate_median"] > 0 or row["note"] == "not installed" for row in rows)


def test_pokerkit_pays_the_same_values() -> None:
    pytest.importorskip("pokerkit")
    from bench import selfplay

    run, who = selfplay.pokerkit_play(list(selfplay.chart_hands(12)))
    assert run is not None
    assert who.startswith("pokerkit ")
    changed = [replace(record, values=record.values[::-1]) for record in selfplay.chart_hands(12)]
    with pytest.raises(RuntimeError, match=r"pokerkit pays .* in hand \d+, not "):
        selfplay.pokerkit_play(changed)


def test_chances_are_measured(rows_of: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    # Without compilation the kernels draw the same cards.
    monkeypatch.setattr("bench.equity.compile_kernels", lambda: None)
    rows = rows_of("equity", "--repeats", "1", "--trials", "1000")
    jobs = ["drawn, preflop", "drawn, flop", "drawn, turn", "drawn, river", "counted, flop"]
    assert [row["group"] for row in rows] == [job for job in jobs for _ in range(2)]
    for ours, theirs in zip(rows[::2], rows[1::2], strict=True):
        assert ours["who"] == "acpc-arena"
        assert ours["ratio"] is None
        assert ours["rate_median"] > 0
        assert theirs["who"].startswith("eval7")
        assert theirs["note"] == "not installed" or theirs["ratio"] > 0


@pytest.mark.slow  # 12 programs start
def test_whole_matches_are_measured(rows_of: Any) -> None:
    words = ["--rounds", "1", "--hands", "101", "--games", "kuhn", "--waits", "2", "--play", "kuhn"]
    if sys.platform == "linux":
        cores = os.sched_getaffinity(0)
        rows = rows_of("match", *words, "--core", str(max(cores)))
        assert os.sched_getaffinity(0) == cores
    else:
        rows = rows_of("match", *words)
    assert [row["group"].partition(",")[0] for row in rows] == [
        *("dealer", "Python players") * 2,
        *("arena play",) * 2,
        "line to a player that is not to act",
    ]
    assert {row["who"] for row in rows} == {"this checkout"}
    assert all(row["rate_median"] > 0 for row in rows if row["unit"] == "ms")


@pytest.mark.slow  # nine programs start
def test_replies_in_one_call_and_in_two_are_measured(rows_of: Any) -> None:
    rows = rows_of("replies", "--hands", "2", "--game", "kuhn")
    kinds = ("reply in one call", "reply in two calls, state and action", "comment, then reply")
    assert [row["group"] for row in rows] == [
        f"{dealer}, {kind}" for kind in kinds for dealer in ("acpc-dealer", "arena play")
    ]
    assert {(row["who"], row["unit"]) for row in rows} == {("this checkout", "ms")}
    assert all(row["rate_median"] > 0 for row in rows)


@pytest.mark.slow
def test_viewers_of_a_match_are_measured(rows_of: Any) -> None:
    alone, watched = rows_of("viewers", "--viewers", "30", "--seconds", "0.5", "--rounds", "1", "--game", "kuhn")
    assert (alone["who"], watched["who"]) == ("nobody watches", "30 viewers")
    assert " 0 events/s" in alone["note"]
    assert " 0 events/s" not in watched["note"]
    assert watched["ratio"] == pytest.approx(alone["rate_median"] / watched["rate_median"])


@pytest.mark.slow
def test_server_with_joined_bots_and_its_pages_is_measured(rows_of: Any) -> None:
    options = ("--bots", "4", "--seconds", "0.5", "--rounds", "1", "--calls", "2", "--runs", "50", "--game", "kuhn")
    rows = rows_of("server", *options)
    groups = {row["group"] for row in rows if row["unit"] == "ms"}
    assert groups == {"4 bots play", "50 matches played, nobody plays"}
    paths = [row["who"] for row in rows if row["group"] == "4 bots play"]
    assert paths[-2:] == ["an event's way to a listener", "an action's way to a watching page"]
    assert "GET /standings/kuhn.limit.2p" in paths
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


@pytest.mark.slow
def test_server_with_a_long_queue_is_measured(rows_of: Any) -> None:
    rows = rows_of("web", "--calls", "2", "--hands", "300", "--jobs", "5")
    assert {row["who"] for row in rows} == {"at rest", "while matches are played"}
    assert all(0 < row["rate_low"] <= row["rate_median"] <= row["rate_high"] for row in rows)
