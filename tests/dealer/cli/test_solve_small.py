"""``arena solve kuhn``, ``leduc``, ``kuhn3`` and ``game``: output, files and refusals."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dealer.cli import solve_small
from dealer.cli.shell.progress import ShowProgress
from protocol import find_game, format_game_definition
from tests.dealer.cli.conftest import Arena

LEDUC = -0.08560642407800047


def solved(arena: Arena, *words: str) -> dict[str, Any]:
    result = arena("solve", *words, "--json")
    assert (result.code, result.err) == (0, "")
    solution: dict[str, Any] = json.loads(result.out)
    return solution


def test_kuhn_is_solved(arena_here: Arena) -> None:
    result = arena_here("solve", "kuhn")
    assert (result.code, result.err) == (0, "")
    assert result.out.startswith(
        "Kuhn poker\nValues by seat: first -0.055555555556, second +0.055555555556 chips per hand.\n"
    )
    assert "players 2, information sets 12, ends 5, algorithm lp\n" in result.out
    assert "Exploitability by exact best responses: below 1e-12 chips per hand.\n" in result.out
    second = result.out.partition("The second player")[2]
    assert re.search(r"B  bet\? +0\.3333 +0\.0000 +1\.0000\n +C  call a bet\? +0\.0000 +0\.3333 +1\.0000", second)
    (a,) = re.findall(r"The numbers above are near those of a = (\S+)\.$", result.out, re.MULTILINE)
    assert 0 <= float(a) <= 1 / 3


@pytest.mark.parametrize(
    ("game", "sets", "ends"), [("classic", 12, 5), ("breadth", 36, 13), ("depth", 24, 9), ("both", 72, 25)]
)
def test_variants_of_kuhn_have_one_value(arena_here: Arena, game: str, sets: int, ends: int) -> None:
    solution = solved(arena_here, "kuhn", "--game", game)
    assert (solution["information_sets"], solution["ends"], solution["algorithm"]) == (sets, ends, "lp")
    assert solution["values"] == pytest.approx([-1 / 18, 1 / 18], abs=1e-12), "larger bets and raises change nothing"
    assert solution["exploitability"] < 1e-12
    assert solution["convergence"] == []
    text = arena_here("solve", "kuhn", "--game", game).out
    assert ("and raise a bet" in text) == (game in ("depth", "both"))
    assert ("bet 10, not 2?" in text) == (game in ("breadth", "both"))


def test_bets_of_10_can_be_treated_as_bets_of_2(arena_here: Arena) -> None:
    solution = solved(arena_here, "kuhn", "--game", "breadth", "--tens-as-twos")
    assert "C10" in solution["strategies"][0]
    assert "C10" not in solution["strategies"][1]
    assert solution["information_sets"] == 33
    result = arena_here("solve", "kuhn", "--tens-as-twos")
    assert (result.code, result.out) == (2, "")
    assert "in the game breadth only, not in classic" in result.sentence


def test_leduc_is_solved(arena_here: Arena, tmp_path: Path) -> None:
    out = tmp_path / "leduc.json"
    result = arena_here("solve", "leduc", "--out", str(out))
    assert result.code == 0
    assert result.out.startswith("Leduc poker\nValues by seat: first -0.085606424078, second +0.085606424078 chips")
    assert "players 2, information sets 288, ends 274, algorithm lp\n" in result.out
    assert "270 more information sets come later" in result.out
    solution = json.loads(out.read_text("utf-8"))
    assert solution["values"][0] == pytest.approx(LEDUC, abs=1e-12)
    assert solution["exploitability"] < 1e-12
    chances = solution["strategies"][1]["cc/Qr"]["K"]
    assert list(chances) == ["f", "c", "r"]
    assert sum(chances.values()) == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize("algorithm", ["cfr", "cfr+"])
def test_regret_matching_converges(arena_here: Arena, algorithm: str) -> None:
    result = arena_here("solve", "kuhn", "--algorithm", algorithm, "--iterations", "100")
    assert result.code == 0
    rows = re.findall(r"^ +([\d,]+) +(\S+) +([+-]\S+)$", result.out, re.MULTILINE)
    assert [row[0] for row in rows] == ["1", "2", "5", "10", "20", "50", "100"]
    assert rows[0][1] == "0.458333"
    known = {"cfr": 0.016451954631831328, "cfr+": 0.0023888082022231333}[algorithm]
    solution = solved(arena_here, "kuhn", "--algorithm", algorithm, "--iterations", "100")
    assert solution["convergence"][-1]["nash_conv"] == pytest.approx(known, rel=1e-9)
    assert float(rows[-1][1]) == pytest.approx(known / 2, rel=1e-4)


def test_kuhn_with_three_players_is_solved(arena_here: Arena) -> None:
    result = arena_here("solve", "kuhn3", "--iterations", "20")
    assert result.code == 0
    assert "Values by seat: first -0.0" in result.out
    assert "With 3 players regret matching promises no equilibrium." in result.out
    assert len(re.findall(r"^ +(?:first|second|third) +\S+ +[JQKA] +[fc] \S+, ", result.out, re.MULTILINE)) == 48


def test_own_game_file_is_solved(arena_here: Arena, tmp_path: Path) -> None:
    text = format_game_definition(find_game("kuhn")[1]).replace("numRanks = 3", "numRanks = 13")
    (tmp_path / "kuhn13.game").write_text(text)
    solution = solved(arena_here, "game", "kuhn13.game")
    assert (solution["information_sets"], solution["exploitability"] < 1e-11) == (52, True)
    assert solution["values"][0] < 0
    assert solved(arena_here, "kuhn13.game") == solution
    # The .game file of the classic game is solved as the command of that name.
    (tmp_path / "kuhn3.game").write_text(format_game_definition(find_game("kuhn")[1]))
    assert solved(arena_here, "kuhn3.game")["values"] == pytest.approx([-1 / 18, 1 / 18])


def test_page_has_the_convergence_and_all_rounds(arena_here: Arena, tmp_path: Path) -> None:
    result = arena_here("solve", "leduc", "--algorithm", "cfr+", "--iterations", "2", "--out", "page.html")
    assert result.code == 0
    page = (tmp_path / "page.html").read_text("utf-8")
    assert page.count("<svg") == 1
    assert "cc/Qr" in page
    assert "cc/Qr" not in result.out


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("no.game",), "no.game: cannot read the game definition"),
        (("leduk",), "no such command 'leduk'; did you mean 'leduc'?"),
        (
            ("kuhn3", "--algorithm", "lp"),
            "a linear program solves games of two players, not of 3; use --algorithm",
        ),
        (("kuhn", "--iterations", "5"), "--iterations is for regret matching; use it with --algorithm cfr+ or cfr"),
        (("kuhn", "--out", "."), ". exists already; overwrite it with --force"),
        (("game", "limit"), "the game is too large to be solved card by card: 1,326 holdings"),
    ],
)
def test_refusal_is_one_sentence(arena_here: Arena, words: tuple[str, ...], sentence: str) -> None:
    result = arena_here("solve", *words)
    assert (result.code, result.out) == (2, "")
    assert sentence in result.sentence


def test_early_interrupt_prints_nothing(arena_here: Arena, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("bots.solving.equilibria.nash_conv", interrupted)
    result = arena_here("solve", "kuhn3")
    assert (result.code, result.out) == (130, "")


def test_interrupt_prints_the_iterations_reached(arena_here: Arena, monkeypatch: pytest.MonkeyPatch) -> None:
    @contextlib.contextmanager
    def interrupted(*_: object) -> Iterator[ShowProgress]:
        def show(part: float | None, so_far: str = "") -> None:
            if part == 0.7:
                raise KeyboardInterrupt

        yield show

    monkeypatch.setattr(solve_small, "showing_progress", interrupted)
    result = arena_here("solve", "kuhn", "--algorithm", "cfr", "--iterations", "10", "--json")
    sentence = "interrupted; the result is that of 7 of 10 iterations, and the same command starts over"
    assert (result.code, result.err) == (130, f"arena: {sentence}\n")
    reached = json.loads(result.out)
    monkeypatch.undo()
    assert reached == solved(arena_here, "kuhn", "--algorithm", "cfr", "--iterations", "7")
    assert [step["iterations"] for step in reached["convergence"]] == [1, 2, 5, 7]
