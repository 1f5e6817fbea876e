"""``arena solve preflop``: output, files and refusals."""

from __future__ import annotations

import json
import re
import signal
import sys
from dataclasses import replace
from pathlib import Path

import highspy
import pytest

from tests.dealer.cli.conftest import Arena
from tests.dealer.helpers import ARENA, PATIENCE_S, program_env
from tests.programs import start

SMALL = ("--cap", "2", "--blinds", "5/10", "--bet", "10")
"""Options of a game that is solved quickly."""


def test_value_equals_that_of_the_written_program_and_of_regret_matching(arena_here: Arena, tmp_path: Path) -> None:
    mps = tmp_path / "game.mps"
    result = arena_here("solve", "preflop", *SMALL, "--mps", str(mps))
    assert result.code == 0
    (value,) = map(float, re.findall(r"^The small blind wins (\S+) chips per hand\.$", result.out, re.MULTILINE))
    assert "blinds 5/10, bet 10, cap 2, algorithm lp, exploitability 0 chips per hand" in result.out
    assert len(re.findall(r"^[AKQJT2-9] (\S+ *){13}$", result.out, re.MULTILINE)) == 39
    solver = highspy.Highs()
    solver.silent()
    solver.readModel(str(mps))
    solver.run()
    assert solver.getInfo().objective_function_value == pytest.approx(value, abs=1e-9)
    for algorithm, until in (("cfr+", 1e-2), ("cfr", 1e-1)):
        words = (*SMALL, "--algorithm", algorithm, "--until", str(until), "--json")
        solution = json.loads(arena_here("solve", "preflop", *words).out)
        assert solution["algorithm"] == algorithm
        assert solution["exploitability"] <= until
        assert solution["value"] == pytest.approx(value, abs=2 * until)


@pytest.mark.slow
def test_published_game_has_the_published_counts(arena_here: Arena, tmp_path: Path) -> None:
    """The output has the published counts, and the published winnings next to our value."""
    result = arena_here("solve", "preflop", "--as-published", "--out", "page.html")
    assert result.code == 0
    assert "small blind: 89 f, 66 rc, 13 rr, 1 mixed\n" in result.out
    assert re.search(r"^  small blind +K3o   f 0.6411, rc 0.3589$", result.out, re.MULTILINE)
    assert "big blind after a raise: 139 c, 29 rc, 1 mixed\n" in result.out
    assert re.search(r"^  big blind after a raise +KJo   c 0.7426, rc 0.2574$", result.out, re.MULTILINE)
    assert (tmp_path / "page.html").read_text("utf-8").count('class="chart hands"') == 3
    assert re.search(r"calling +-0\.0493 +-0\.0505 +\+0\.0580", result.out)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--cap", "0"], "the cap must be 1 to 12 bets, not 0"),
        (["--blinds", "one"], "--blinds: must be two numbers of chips, the small blind first, such as 1/2"),
        (["--blinds", "\u00b2/3"], "--blinds: must be two numbers of chips, the small blind first, such as 1/2"),
        (["--mps", "."], "cannot write .: it is a folder"),
        (["--until", "0"], "--until: must be at least 1e-09, not 0"),
        (
            ["--as-published", "--algorithm", "cfr+"],
            "--as-published reproduces a mistake in a linear program; leave out --algorithm cfr+",
        ),
    ],
)
def test_refusal_is_one_sentence(arena_here: Arena, arguments: list[str], sentence: str) -> None:
    result = arena_here("solve", "preflop", *arguments)
    assert result.code == 2
    assert result.sentence == sentence


def test_damaged_table_is_refused(arena_here: Arena, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from engine import matchups

    (tmp_path / "matchups.bin").write_bytes(b"ACPCMU01")
    monkeypatch.setattr(matchups, "MATCHUPS", replace(matchups.MATCHUPS, path=str(tmp_path / "matchups.bin")))
    matchups.counts.cache_clear()
    result = arena_here("solve", "preflop", *SMALL)
    assert result.code == 2
    assert result.sentence == "the table of all matchups before the flop is damaged or of another version; reinstall it"


def test_missing_optimum_is_an_error(arena_here: Arena, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(highspy.Highs, "getModelStatus", lambda _: highspy.HighsModelStatus.kTimeLimit)
    result = arena_here("solve", "preflop", "--cap", "1")
    assert (result.code, result.out) == (1, "")
    assert result.err.endswith("arena: HiGHS found no optimum: time limit reached\n")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT for one process")
def test_ctrl_c_ends_the_solver(tmp_path: Path) -> None:
    # HiGHS needs a minute for this game.
    mps = tmp_path / "game.mps"
    program = start([*ARENA, "solve", "preflop", "--cap", "12", "--mps", str(mps)], cwd=tmp_path, env=program_env())
    while not mps.exists() or not mps.stat().st_size:
        assert program.poll() is None
    program.send_signal(signal.SIGINT)
    out, err = program.communicate(timeout=PATIENCE_S)
    assert (program.wait(), out) == (130, b"")
    assert re.sub(rb"solving the linear program: .* so far\n", b"", err) == b""
