"""``arena solve preflop``: what it prints, what it writes, and what it says of bad input."""

from __future__ import annotations

import json
import re
import signal
import sys
from dataclasses import replace
from io import StringIO
from pathlib import Path

import highspy
import pytest
from rich.console import Console

from bots.lp_mc.preflop import Chart, is_pure
from dealer.cli.solve_preflop import chart_view, write_charts
from engine import STARTING_HANDS
from tests.dealer.cli.conftest import Arena
from tests.dealer.helpers import ARENA, PATIENCE_S, program_env
from tests.programs import start

HANDS = len(STARTING_HANDS)
SMALL = ("--cap", "2", "--blinds", "5/10", "--bet", "10")
"""A game that is solved in a moment."""


def example() -> Chart:
    lines = [{"rc": 1.0}] * HANDS
    lines[STARTING_HANDS.index("AA")] = {"crc": 0.75, "rr": 0.25}
    lines[STARTING_HANDS.index("72o")] = {"f": 1.0}
    lines[STARTING_HANDS.index("72s")] = {"k": 1.0}
    return Chart("small blind", tuple(lines))


def drawn(width: int, color_system: str | None = None) -> str:
    coloured = color_system is not None
    console = Console(
        file=StringIO(), width=width, color_system=color_system, force_terminal=coloured, legacy_windows=False
    )
    console.print(chart_view(example(), console))
    assert isinstance(console.file, StringIO)
    return console.file.getvalue()


# ---- charts


def test_a_chart_is_a_square_of_words() -> None:
    head, ranks, *rows = drawn(80).splitlines()
    assert head == "small blind: 166 rc, 1 f, 1 k, 1 mixed"
    assert ranks.split() == list("AKQJT98765432")
    assert rows[0].split() == ["A", "crc*", *["rc"] * 12]
    assert rows[7].split() == ["7", *["rc"] * 12, "k"]
    assert rows[12].split() == ["2", *["rc"] * 7, "f", *["rc"] * 5]
    assert "\x1b" not in drawn(80)


def test_a_narrow_window_has_the_first_letters() -> None:
    rows = drawn(40).splitlines()
    assert max(map(len, rows)) <= 40
    assert rows[-13].startswith("A c*r ")


@pytest.mark.parametrize("color_system", ["truecolor", "256", "standard"])
def test_actions_differ_in_colour(color_system: str) -> None:
    row = drawn(80, color_system).splitlines()[-1]
    grounds = re.findall(r"\x1b\[([\d;]+)m(?:rc|f) *", row)
    assert len(set(grounds)) == 2


@pytest.mark.parametrize(
    ("ending", "magic"),
    [
        ("png", b"\x89PNG"),
        pytest.param("svg", b"<?xml", marks=pytest.mark.slow),
        pytest.param("pdf", b"%PDF", marks=pytest.mark.slow),
    ],
)
def test_a_picture_in_every_format(tmp_path: Path, ending: str, magic: bytes) -> None:
    def picture() -> bytes:
        path = tmp_path / f"charts.{ending}"
        write_charts(path, [example()], "a title")
        return path.read_bytes()

    data = picture()
    assert data.startswith(magic)
    if ending == "svg":
        assert data == picture()
        assert b"a title" in data


def test_a_mixture_is_not_pure() -> None:
    assert not is_pure(example().lines[STARTING_HANDS.index("AA")])
    assert is_pure({"rc": 1 - 1e-12})


# ---- the command


def test_what_it_prints_and_writes(arena_here: Arena, tmp_path: Path) -> None:
    mps = tmp_path / "game.mps"
    ran = arena_here("solve", "preflop", *SMALL, "--mps", str(mps))
    assert ran.code == 0
    assert ran.out.startswith("Before the flop, blinds 5/10, bets of 10, at most 2: ")
    (value,) = re.findall(r"^Value for the small blind: (\S+) chips per hand\.$", ran.out, re.MULTILINE)
    assert "Exploitability by exact best responses: below 1e-12 chips per hand." in ran.out
    assert len(re.findall(r"^[AKQJT2-9] (\S+ *){13}$", ran.out, re.MULTILINE)) == 39
    solver = highspy.Highs()
    solver.silent()
    solver.readModel(str(mps))
    solver.run()
    assert solver.getInfo().objective_function_value == pytest.approx(float(value), abs=1e-9)


def test_regret_matching_says_the_same(arena_here: Arena) -> None:
    found = {}
    for algorithm, until in (("lp", 0), ("cfr+", 1e-3), ("cfr", 1e-2)):
        ran = arena_here("solve", "preflop", *SMALL, "--algorithm", algorithm, "--until", f"{until or 1}", "--json")
        assert ran.code == 0
        found[algorithm] = json.loads(ran.out)
        assert found[algorithm]["algorithm"] == algorithm
        assert algorithm == "lp" or found[algorithm]["exploitability"] <= until
    assert found["cfr"]["value"] == pytest.approx(found["lp"]["value"], abs=2e-2)
    assert found["cfr+"]["value"] == pytest.approx(found["lp"]["value"], abs=2e-3)
    assert found["lp"]["strategies"]["r"]["AA"][0] == 0


@pytest.mark.slow
def test_as_published(arena_here: Arena, tmp_path: Path) -> None:
    """The counts that the work printed, and what it won beside what we say it should have."""
    chart = tmp_path / "charts.svg"
    ran = arena_here("solve", "preflop", "--as-published", "--chart", str(chart))
    assert ran.code == 0
    assert "small blind: 89 f, 66 rc, 13 rr, 1 mixed\n" in ran.out
    assert "K3o: f 0.6411, rc 0.3589\n" in ran.out
    assert "big blind after a raise: 139 c, 29 rc, 1 mixed\n" in ran.out
    assert "KJo: c 0.7426, rc 0.2574\n" in ran.out
    assert chart.read_bytes().startswith(b"<?xml")
    assert re.search(r"calling +-0\.0493 +-0\.0505 +\+0\.0580", ran.out)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--cap", "0"], "the cap must be 1 to 12 bets, not 0"),
        (["--cap", "50"], "the cap must be 1 to 12 bets, not 50"),
        (["--bet", "0"], "the bet must be 1 to 1,000,000 chips, not 0"),
        (["--blinds", "0/0"], "the blinds must be two numbers of chips, the small one first, not 0/0"),
        (["--blinds", "one"], "--blinds: give two numbers of chips, the small blind first, such as 1/2"),
        (["--blinds", "\u00b2/3"], "--blinds: give two numbers of chips, the small blind first, such as 1/2"),
        (["--chart", "a.gif"], "--chart a.gif: the name must end in .png, .svg or .pdf"),
        (["--chart", "missing/a.png"], "cannot write missing/a.png: No such file or directory"),
        (["--mps", "."], "cannot write .: it is a folder"),
        (["--until", "0"], "--until: must be at least 1e-09, not 0"),
        (
            ["--as-published", "--algorithm", "cfr+"],
            "--as-published is a mistake in a linear program: give it without --algorithm cfr+",
        ),
    ],
)
def test_bad_input_is_told_in_a_sentence(arena_here: Arena, arguments: list[str], sentence: str) -> None:
    ran = arena_here("solve", "preflop", *arguments)
    assert ran.code == 2
    assert ran.sentence == sentence


def test_a_damaged_table_is_told_in_a_sentence(
    arena_here: Arena, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from engine import matchups

    (tmp_path / "matchups.bin").write_bytes(b"ACPCMU01")
    monkeypatch.setattr(matchups, "MATCHUPS", replace(matchups.MATCHUPS, name=str(tmp_path / "matchups.bin")))
    matchups.counts.cache_clear()
    ran = arena_here("solve", "preflop", *SMALL)
    assert ran.code == 2
    assert ran.sentence == "the table of all matchups before the flop is damaged or of another version; reinstall it"


def test_a_solver_without_a_solution_is_a_failed_run(arena_here: Arena, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(highspy.Highs, "getModelStatus", lambda _: highspy.HighsModelStatus.kTimeLimit)
    ran = arena_here("solve", "preflop", "--cap", "1")
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.endswith("arena: HiGHS found no optimum: time limit reached\n")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT for one process")
def test_ctrl_c_ends_it(tmp_path: Path) -> None:
    """While HiGHS works on a game that takes it a minute."""
    mps = tmp_path / "game.mps"
    program = start([*ARENA, "solve", "preflop", "--cap", "12", "--mps", str(mps)], cwd=tmp_path, env=program_env())
    while not mps.exists() or not mps.stat().st_size:
        assert program.poll() is None
    program.send_signal(signal.SIGINT)
    out, err = program.communicate(timeout=PATIENCE_S)
    assert (program.wait(), out) == (130, b"")
    assert re.sub(rb"solving the linear program: .* so far\n", b"", err) == b""
