"""``arena equity``: arguments, output and refusals."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from engine import matchups as table
from engine import parse_cards
from engine.equity import ANY_HOLDING, chances
from engine.matchups import counts
from tests.dealer.cli.conftest import Arena
from tests.dealer.helpers import ROOT

FLOP = """\
Chances at the showdown
1,070,190 showdowns, enumerated.
board 2h 7d Tc

  player      win     tie   equity
  ────────────────────────────────
  Ah Kd   53.540%  1.077%  54.078%
  random  45.384%  1.077%  45.922%
"""


@pytest.mark.parametrize(
    "words",
    ["AhKd 2h7dTc --players 2", "AhKd 2h7dTc", "2h7dTc AhKd ??", "AhKd random --board 2h7dTc", "AhKd --board 2h7dTc"],
)
def test_one_player_plays_against_random_cards(arena_here: Arena, words: str) -> None:
    result = arena_here("equity", *words.split())
    assert (result.code, result.out, result.err) == (0, FLOP, "")


GUIDE = (ROOT / "docs" / "equity-calculator.md").read_text("utf-8")


def test_guide_has_the_output_of_the_command(arena_here: Arena) -> None:
    blocks = re.findall(r"```text\n(.*?)```", GUIDE, re.DOTALL)
    for players, block in zip(("2", "3"), blocks, strict=True):
        assert arena_here("equity", "AhKd", "2h7dTc", "--players", players).out == block


def test_python_example_of_the_guide_has_its_output(capsys: pytest.CaptureFixture[str]) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL)
    exec(compile(example, "equities.md", "exec"), {})
    assert capsys.readouterr().out.startswith("0.54077")
    assert f"{counts().sum():,} showdowns" in GUIDE


def test_equity_of_two_players_is_printed_as_json(arena_here: Arena) -> None:
    report = json.loads(arena_here("equity", "AhKd", "QsQc", "--board", "2h7dTc", "--json").out)
    expected = chances([[parse_cards("AhKd")], [parse_cards("QsQc")]], parse_cards("2h7dTc"))
    assert {name: value for name, value in report.items() if name != "players"} == {
        "schema_version": 1,
        "board": ["2h", "7d", "Tc"],
        "showdowns": 990,
        "is_exact": True,
        "seed": None,
    }
    assert report["players"][0] == {
        "holding": "Ah Kd",
        "holdings": 1,
        "win": expected.players[0].win,
        "tie": 0,
        "equity": expected.players[0].equity,
        "half_width_95": None,
        "standard_error": None,
    }


@pytest.mark.parametrize(("word", "holdings"), [("AKs", 4), ("KAs", 4), ("AKo", 12), ("AK", 16), ("QQ", 6)])
def test_classes_of_holdings_have_their_equities(arena_here: Arena, word: str, holdings: int) -> None:
    # Against 2c3c a holding has 44 rivers on the turn.
    result = arena_here("equity", word, "2c3c", "--board", "4h5h8s9s", "--json")
    report = json.loads(result.out)
    assert (report["players"][0]["holding"], report["players"][0]["holdings"]) == (word.replace("KA", "AK"), holdings)
    assert report["showdowns"] == 44 * holdings


def test_drawn_chances_name_their_seed_and_interval(arena_here: Arena) -> None:
    result = arena_here("equity", "AhKd", "2h7dTc", "--players", "3", "--trials", "2000", "--seed", "7")
    assert "2,000 showdowns, drawn with seed 7. ± is half the 95 % interval." in result.out
    expected = chances([[parse_cards("AhKd")], ANY_HOLDING, ANY_HOLDING], parse_cards("2h7dTc"), trials=2000, seed=7)
    us = expected.players[0]
    (line,) = re.findall(r"^  Ah Kd .*", result.out, re.MULTILINE)
    assert line.split()[-3:] == [f"{us.equity:.3%}", "±", f"{1.959964 * expected.standard_errors[0]:.3%}"]


CLASSES = "write a class of starting hands as AKs, AKo, AK or AA, and any hand as random"
NO_RUN = "is not a run of cards: write each as a rank of 23456789TJQKA and a suit of cdhs, such as AhTd"
REFUSED = [
    ("AhKd Ah2d", "Ah is named twice"),
    ("AhXd", f"'Xd' in 'AhXd' is not a card: write a rank of 23456789TJQKA and a suit of cdhs; {CLASSES}"),
    ("Ah", "'Ah' is one card; a player holds two, and a board has three to five"),
    ("AAs", "'AAs': a pair is neither suited nor offsuit; write AA"),
    ("AhKd --players 30", "a showdown has 2 to 10 players, not 30"),
    ("AhKd QsQc 2c2d --players 2", "--players 2: 3 players are named"),
    ("AhKd 2h3h4h5h6h7h", "a board has at most 5 cards, not 6"),
    ("AhKd --board 2", f"--board: '2' {NO_RUN}"),
    ("10hKd", f"'10hKd' {NO_RUN}; {CLASSES}"),
    ("AhKd --dead 2x", "--dead: '2x' in '2x' is not a card: write a rank of 23456789TJQKA and a suit of cdhs"),
    ("AhKd 2h7dTc --board 2c3c4c", "'2h7dTc': the board is given twice"),
    ("2h7dTc", "no player has cards; name those of at least one player, such as AhKd"),
]


@pytest.mark.parametrize(("words", "sentence"), REFUSED)
def test_refusal_is_one_sentence(arena_here: Arena, words: str, sentence: str) -> None:
    result = arena_here("equity", *words.split())
    assert result.code == 2
    assert result.sentence == sentence


def test_damaged_table_is_refused(
    arena_here: Arena, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    damaged = tmp_path_factory.mktemp("tables") / "matchups.bin"
    damaged.write_bytes(b"ACPCMU01")
    monkeypatch.setattr(table, "MATCHUPS", replace(table.MATCHUPS, path=str(damaged)))
    counts.cache_clear()
    try:
        for words, problem in (
            ("AKs QQ", "the table of all matchups before the flop is damaged or of another version; reinstall it"),
            ("AhKd", "the table of all matchups before the flop is damaged or of another version; reinstall it"),
        ):
            result = arena_here("equity", *words.split())
            assert (result.code, result.sentence) == (2, problem)
        damaged.unlink()
        result = arena_here("equity", "AKs", "QQ")
        assert (result.code, result.sentence) == (2, f"'{damaged}': No such file or directory")
    finally:
        counts.cache_clear()


def test_ctrl_c_ends_the_command(arena_here: Arena, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("dealer.cli.equity.chances", interrupted)
    assert arena_here("equity", "AhKd", "--players", "10") == (130, "", "")
