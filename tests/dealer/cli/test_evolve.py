"""``arena evolve``: trainers and a player from the command line; what is finished is kept, and gone on with."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from bots.evolution import load_checkpoint
from bots.evolved.files import read_chromosome
from tests.dealer.cli.conftest import Arena
from tests.dealer.helpers import ARENA, PATIENCE_S, program_env

SMALL = ("--deals", "4", "--population", "6", "--trials", "20", "--generations")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--variance", "7"], "the variance of a mutation is a part of the range, above 0 and at most 1, not 7"),
        (["--population", "1"], "a population needs at least 2 individuals, not 1"),
        (["--tournament", "0"], "a tournament needs at least 1 participant, not 0"),
        (["--deals", "0"], "deals must be 1 or more, not 0"),
        (["--points", "0"], "at least 1 gene must be exchanged, not 0"),
        (["--odds", "good"], "--odds: 'good' is not one of 'reward', 'price'"),
    ],
)
def test_settings_that_cannot_be(arena_here: Arena, tmp_path: Path, arguments: list[str], sentence: str) -> None:
    ran = arena_here("evolve", "trainers", str(tmp_path / "runs"), *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == f"arena: {sentence}\n"


def test_a_player_needs_trainers(arena_here: Arena, tmp_path: Path) -> None:
    ran = arena_here("evolve", "player", str(tmp_path / "runs"))
    assert ran.code == 2
    assert "trainer-1.chromosome: it is not there; a player needs 9 trainers" in ran.err


def test_a_damaged_checkpoint(arena_here: Arena, tmp_path: Path) -> None:
    (tmp_path / "trainer-1.npz").write_bytes(b"PK\x03\x04 half")
    ran = arena_here("evolve", "trainers", str(tmp_path))
    assert ran.code == 2
    assert "trainer-1.npz: it is not a checkpoint of an evolution, or a damaged one" in ran.err


@pytest.mark.parametrize(
    ("folder", "sentence"),
    [
        ("none", "none: there is no such folder"),
        (".", ".: it holds no runs: arena evolve trainers and arena evolve player make them"),
    ],
)
def test_a_report_needs_runs(arena_here: Arena, tmp_path: Path, folder: str, sentence: str) -> None:
    ran = arena_here("evolve", "report", folder)
    assert (ran.code, ran.out, ran.err) == (2, "", f"arena: {sentence}\n")
    (tmp_path / "page.html").write_text("mine")
    ran = arena_here("evolve", "report", folder, "--out", "page.html")
    assert ran.code == 2
    assert "page.html exists already: --force overwrites it" in ran.err


@pytest.mark.slow  # numba compiles
def test_a_report_is_printed_and_written(arena_here: Arena, tmp_path: Path) -> None:
    for command in ("trainers", "player"):
        assert arena_here("evolve", command, str(tmp_path), *SMALL, "2").code == 0
    page = tmp_path / "page.html"
    ran = arena_here("evolve", "report", str(tmp_path), "--deals", "4", "--matches", "1", "--out", str(page))
    assert ran.code == 0
    assert "Style of play" in ran.out
    assert "Against the built-in bots" in ran.out
    assert "<svg" in page.read_text("utf-8")
    ran = arena_here("evolve", "report", str(tmp_path), "--seed", "1")
    assert ran.code == 2
    assert "deals of seed 1 were trained on; take another seed for the unseen ones" in ran.err


@pytest.mark.slow  # numba compiles
class TestRuns:
    def test_trainers_and_a_player(self, arena_here: Arena, tmp_path: Path) -> None:
        ran = arena_here("evolve", "trainers", str(tmp_path), *SMALL, "2")
        assert ran.code == 0
        assert ran.out.count("all generations were bred") == 9
        assert "9 chromosomes in " in ran.out
        ran = arena_here("evolve", "player", str(tmp_path), *SMALL, "2")
        assert ran.code == 0
        player = read_chromosome(str(tmp_path / "player.chromosome"))
        assert '"generations": 2' in player.record
        assert '"trainers": [' in player.record
        bot = f"bots.evolved.bot:EvolvedBot?chromosome={tmp_path / 'player.chromosome'}"
        ran = arena_here("play", "limit", bot, "calling", "-n", "4", "--in-process", "--out", str(tmp_path / "match"))
        assert ran.code == 0

    def test_it_goes_on_where_it_stopped(self, arena_here: Arena, tmp_path: Path) -> None:
        whole, parts = tmp_path / "whole", tmp_path / "parts"
        assert arena_here("evolve", "trainers", str(whole), "--count", "1", *SMALL, "5").code == 0
        for generations in ("2", "3", "5"):
            assert arena_here("evolve", "trainers", str(parts), "--count", "1", *SMALL, generations).code == 0
        one, other = (load_checkpoint(folder / "trainer-1.npz")[0] for folder in (whole, parts))
        assert one.history == other.history
        assert (one.population == other.population).all()
        genes = [read_chromosome(str(folder / "trainer-1.chromosome")).thresholds for folder in (whole, parts)]
        assert genes[0] == genes[1]
        ran = arena_here("evolve", "trainers", str(parts), "--count", "1", *SMALL, "6", "--seed", "9")
        assert ran.code == 2
        assert "trainer-1.npz: it was made with seed 1, not seed 9: take another folder, or the same" in ran.err

    def test_processes_find_the_same(self, arena_here: Arena, tmp_path: Path) -> None:
        for folder, workers in (("one", "1"), ("two", "2")):
            ran = arena_here(
                "evolve", "trainers", str(tmp_path / folder), "--count", "1", *SMALL, "2", "--workers", workers
            )
            assert ran.code == 0
        one, two = (load_checkpoint(tmp_path / folder / "trainer-1.npz")[0] for folder in ("one", "two"))
        assert one.history == two.history
        assert (one.population == two.population).all()

    @pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT")
    @pytest.mark.parametrize("workers", ["1", "2"])
    def test_ctrl_c_keeps_every_finished_generation(self, tmp_path: Path, workers: str) -> None:
        command = ["evolve", "trainers", "runs", "--count", "1", *SMALL, "100000", "--workers", workers]
        with subprocess.Popen(
            [*ARENA, *command],
            cwd=tmp_path,
            env=program_env(),
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stderr is not None
            assert "generation" in process.stderr.readline(), "printed after some seconds"
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=PATIENCE_S)
        assert process.returncode == 130
        assert err.splitlines()[-1] == (
            "arena: interrupted; runs holds every finished generation: the same command goes on"
        )
        state, _ = load_checkpoint(tmp_path / "runs" / "trainer-1.npz")
        assert state.history
