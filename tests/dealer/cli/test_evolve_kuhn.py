"""``arena evolve kuhn``: runs, resume and refusals."""

from __future__ import annotations

import contextlib
import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from logs.whole_file import FileLock
from tests.dealer.cli.conftest import Arena
from tests.dealer.helpers import ARENA, PATIENCE_S, program_env

EXACT = ("--fitness", "exact", "--population", "101", "--generations")
"""Options of a quick run without compiled kernels."""


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ["--opponent", "nobody"],
            "--opponent nobody: no such model or file of genes; the models are shy,",
        ),
        (["--opponent", "mixed", "--model", "me"], "--model me: no such model or file of genes"),
        (["--game", "poker"], "--game: 'poker' is not one of 'classic', 'breadth', 'depth', 'both'"),
        (["--tens-as-twos"], "a bet of 10 is answered as one of 2 in the game breadth only, not in classic"),
        (["--elite", "1010"], "an elite of 1010 leaves no room for children in a population of 1010"),
    ],
)
def test_refusal_is_one_sentence(arena_here: Arena, tmp_path: Path, arguments: list[str], sentence: str) -> None:
    completed = arena_here("evolve", "kuhn", str(tmp_path / "runs"), *arguments)
    assert (completed.code, completed.out) == (2, "")
    assert completed.err.startswith(f"arena: {sentence}")
    assert completed.err.count("\n") == 1


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("0 0.5 1\n0 0.5\n", "a strategy for the game classic has 6 genes, 2 rows of 3, not 5"),
        ("0 0.5 1 0 0.5 1.5", "the gene C K is 1.5: a gene is a probability, 0 to 1"),
        ("0 0.5 1\n0 nan 1", "the gene C Q is nan: a gene is a probability, 0 to 1"),
        ("0 0.5 1\n0 half 1", "line 2: 'half' is not a number; a gene is a probability, 0 to 1"),
        ("", "a strategy for the game classic has 6 genes, 2 rows of 3, not 0"),
    ],
)
def test_wrong_file_of_genes_is_refused(arena_here: Arena, tmp_path: Path, text: str, sentence: str) -> None:
    path = tmp_path / "my.genes"
    path.write_text(text)
    completed = arena_here("evolve", "kuhn", str(tmp_path / "runs"), "--opponent", str(path))
    assert (completed.code, completed.out, completed.err) == (2, "", f"arena: {path}: {sentence}\n")


def test_run_against_a_file_leaves_the_fittest(arena_here: Arena, tmp_path: Path) -> None:
    (tmp_path / "mine.genes").write_text("# J Q K\n0 .5 1 # B\n0, .5, 1\n")
    runs = tmp_path / "runs"
    completed = arena_here(
        "evolve", "kuhn", str(runs), "--opponent", str(tmp_path / "mine.genes"), "--out", "f.html", *EXACT, "4"
    )
    assert completed.code == 0
    assert "No strategy wins more than +0.0833 chips per hand from this opponent in this seat.\n" in completed.out
    assert "C " in completed.out
    again = arena_here("evolve", "kuhn", str(runs), "--opponent", str(tmp_path / "mine.genes"), "--json", *EXACT, "4")
    (result,) = json.loads(again.out)["results"]
    assert len(result["mean"]) == 5
    assert result["record_value"] == pytest.approx(result["record"])
    assert "<svg" in (tmp_path / "f.html").read_text()
    again = arena_here("evolve", "kuhn", str(tmp_path / "next"), "--opponent", str(runs / "fittest.genes"), *EXACT, "1")
    assert again.code == 0


@pytest.mark.sampled
@pytest.mark.parametrize("opponent", ["rational", "coevolution", "mixed", "hall-of-fame"])
def test_stopped_run_is_resumed(arena_here: Arena, tmp_path: Path, opponent: str) -> None:
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    command = ("--opponent", opponent, "--hall", "3", *EXACT)
    expected = arena_here("evolve", "kuhn", str(whole), *command, "6", "--json")
    for generations in ("2", "3", "6"):
        resumed = arena_here("evolve", "kuhn", str(parts), *command, generations, "--json")
    assert json.loads(resumed.out) == json.loads(expected.out)
    completed = arena_here("evolve", "kuhn", str(parts), *command, "6", "--selection", "rank")
    assert (completed.code, completed.out) == (2, "")
    assert (
        "seed-1.checkpoint: it was made with selection tournament, not selection rank: take another folder"
        in completed.err
    )
    completed = arena_here("evolve", "kuhn", str(parts), *command, "5")
    assert "it has 6 generations, more than the 5 asked for: take another folder" in completed.err


def test_repeated_runs_have_a_mean_and_a_spread(arena_here: Arena, tmp_path: Path) -> None:
    completed = arena_here("evolve", "kuhn", str(tmp_path), "--repeat", "3", "--seed", "5", *EXACT, "2")
    assert completed.code == 0
    table = completed.out[completed.out.index("  seed") :].splitlines()
    assert [line.split()[0] for line in table[2:7]] == ["5", "6", "7", "mean", "spread"]
    assert sorted(path.name for path in tmp_path.glob("seed-*")) == [f"seed-{seed}.checkpoint" for seed in (5, 6, 7)]


@pytest.mark.slow  # processes are started, numba compiles
class TestLong:
    def test_processes_breed_the_same_genes(self, arena_here: Arena, tmp_path: Path) -> None:
        for folder, workers in (("one", "1"), ("two", "2")):
            completed = arena_here(
                *("evolve", "kuhn", str(tmp_path / folder), "--repeat", "3", "--generations", "5"),
                "--population",
                "101",
                "--workers",
                workers,
            )
            assert completed.code == 0
        for seed in (1, 2, 3):
            checkpoint = (tmp_path / "one" / f"seed-{seed}.checkpoint").read_bytes()
            assert checkpoint == (tmp_path / "two" / f"seed-{seed}.checkpoint").read_bytes()

    @pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT")
    def test_ctrl_c_leaves_a_checkpoint(self, tmp_path: Path) -> None:
        command = ["evolve", "kuhn", "runs", "--opponent", "coevolution", "--generations", "1000000"]
        with subprocess.Popen(
            [*ARENA, *command], cwd=tmp_path, env=program_env(), stderr=subprocess.PIPE, text=True
        ) as process:
            assert process.stderr is not None
            assert "generation" in process.stderr.readline(), "printed after some seconds"
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=PATIENCE_S)
        assert process.returncode == 130
        way_on = f"arena: interrupted; runs holds every finished generation; resume: arena {' '.join(command)}"
        assert err.splitlines()[-1] == way_on
        assert (tmp_path / "runs" / "seed-1.checkpoint").stat().st_size > 1000


@pytest.mark.parametrize(
    "command", ["evolve kuhn", pytest.param("evolve kuhn --repeat 2 --workers 2", marks=pytest.mark.slow)]
)
def test_locked_run_is_refused(arena_here: Arena, tmp_path: Path, command: str) -> None:
    with contextlib.closing(FileLock(tmp_path / "seed-1.lock")):
        completed = arena_here(*command.split(), str(tmp_path))
    assert (completed.code, completed.sentence) == (2, f"{tmp_path / 'seed-1'}: another process works on this run")
