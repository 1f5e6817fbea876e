"""``arena evolve``: evolution of trainers and of a player, resume, clusters and refusals."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bots.evolution.evolution import State, load_checkpoint
from bots.evolved.chromosome import read_chromosome
from bots.evolved.runs import run_names
from logs.whole_file import FileLock
from tests.clusters import local_cluster
from tests.dealer.cli.conftest import Arena
from tests.dealer.helpers import ARENA, PATIENCE_S, program_env

SMALL = ("--deals", "4", "--population", "6", "--trials", "20", "--generations")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--variance", "0"], "variance must be more than 0 and at most 1, not 0.0"),
        (
            ["--scheduler", "tcp://127.0.0.1:1", "--workers", "2"],
            "--workers counts processes of this machine and does not go with --scheduler; leave one out",
        ),
        (["--scheduler", ""], "a cluster has an address, that of its scheduler, such as tcp://192.168.0.5:8786"),
        (["--odds", "good"], "--odds: 'good' is not one of 'reward', 'price'"),
    ],
)
def test_refusal_is_one_sentence(arena_here: Arena, tmp_path: Path, arguments: list[str], sentence: str) -> None:
    result = arena_here("evolve", "trainers", str(tmp_path / "runs"), *arguments)
    assert (result.code, result.out) == (2, "")
    assert result.err == f"arena: {sentence}\n"


def test_missing_cluster_is_refused(arena_here: Arena, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # A run that did not start has no command to resume it.
    monkeypatch.setitem(sys.modules, "distributed", None)
    result = arena_here("evolve", "trainers", str(tmp_path / "runs"), "--scheduler", "tcp://127.0.0.1:1")
    assert result.code == 2
    assert result.err == "arena: a cluster needs dask.distributed: pip install distributed\n"
    assert not (tmp_path / "runs").exists()


def test_file_in_place_of_a_folder_is_refused(arena_here: Arena, tmp_path: Path) -> None:
    (tmp_path / "runs").write_text("no folder")
    result = arena_here("evolve", "trainers", str(tmp_path / "runs"))
    assert result.code == 2
    assert result.err == f"arena: {tmp_path / 'runs'}: it is a file; a run needs a folder\n"
    result = arena_here("evolve", "trainers", str(tmp_path / "runs" / "below"))
    assert result.code == 2
    assert result.err == f"arena: {tmp_path / 'runs' / 'below'}: the folder cannot be written: Not a directory\n"


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="root may write anywhere")
def test_read_only_folder_is_refused(arena_here: Arena, tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir(0o500)
    result = arena_here("evolve", "trainers", str(tmp_path / "runs"))
    assert result.code == 2
    assert result.err == f"arena: {tmp_path / 'runs'}: the folder cannot be written: Permission denied\n"


def test_locked_run_is_refused(arena_here: Arena, tmp_path: Path) -> None:
    with contextlib.closing(FileLock(tmp_path / "trainer-1.lock")):
        result = arena_here("evolve", "trainers", str(tmp_path))
    assert result.code == 2
    assert result.err == f"arena: {tmp_path / 'trainer-1'}: another process works on this run\n"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('{"check_deals": 200}\n[1]\n', "it holds other things than these results, or is damaged"),
        (
            '{"check_deals": 7}\n',
            "it was made with check_deals 7, not check_deals 200: take another folder, or the same settings to resume",
        ),
    ],
)
def test_checks_of_another_run_are_refused(arena_here: Arena, tmp_path: Path, text: str, sentence: str) -> None:
    (tmp_path / "trainer-1.checks.jsonl").write_text(text)
    result = arena_here("evolve", "trainers", str(tmp_path))
    assert result.code == 2
    assert result.err == f"arena: {tmp_path / 'trainer-1.checks.jsonl'}: {sentence}\n"


def test_player_needs_trainers(arena_here: Arena, tmp_path: Path) -> None:
    result = arena_here("evolve", "player", str(tmp_path / "runs"))
    assert result.code == 2
    assert "trainer-1.chromosome: the file does not exist; a player needs 9 trainers" in result.err


def test_damaged_checkpoint_is_refused(arena_here: Arena, tmp_path: Path) -> None:
    (tmp_path / "trainer-1.checkpoint").write_bytes(b"PK\x03\x04 half")
    result = arena_here("evolve", "trainers", str(tmp_path))
    assert result.code == 2
    assert "trainer-1.checkpoint: it does not begin with a line that identifies it as a checkpoint" in result.err


def check_equal(path: Path, other_path: Path) -> State:
    """Check that two checkpoints have the same state, and return it."""
    state, _ = load_checkpoint(path)
    other, _ = load_checkpoint(other_path)
    assert state.history == other.history
    assert (state.population == other.population).all()
    assert (state.champions == other.champions).all()
    return state


@pytest.mark.slow  # numba compiles
class TestRuns:
    def test_trainers_and_a_player_are_evolved(self, arena_here: Arena, tmp_path: Path) -> None:
        result = arena_here("evolve", "trainers", str(tmp_path), *SMALL, "2")
        assert result.code == 0
        assert result.out.count("all generations were bred") == 9
        assert "9 chromosomes in " in result.out
        page = tmp_path / "player.json"
        result = arena_here("evolve", "player", str(tmp_path), *SMALL, "2", "--hands", "--out", str(page))
        assert result.code == 0
        assert "The hands of the last generation are in" in result.out
        (hands,) = (tmp_path / "hands").iterdir()
        assert hands.read_text("utf-8").count("PokerStars Hand #") == 400
        assert "Winnings in the last generation" in page.read_text("utf-8")
        player = read_chromosome(str(tmp_path / "player.chromosome"))
        assert '"generations": 2' in player.record
        assert '"trainers": [' in player.record
        bot = f"evolved?chromosome={tmp_path / 'player.chromosome'}"
        result = arena_here(
            "play", "limit", bot, "calling", "-n", "4", "--in-process", "--out", str(tmp_path / "match")
        )
        assert result.code == 0

    def test_stopped_run_is_resumed(self, arena_here: Arena, tmp_path: Path) -> None:
        whole, parts = tmp_path / "whole", tmp_path / "parts"
        assert arena_here("evolve", "trainers", str(whole), "--count", "1", *SMALL, "5").code == 0
        for generations in ("2", "3", "5"):
            assert arena_here("evolve", "trainers", str(parts), "--count", "1", *SMALL, generations).code == 0
        check_equal(whole / "trainer-1.checkpoint", parts / "trainer-1.checkpoint")
        genes = [read_chromosome(str(folder / "trainer-1.chromosome")).thresholds for folder in (whole, parts)]
        assert genes[0] == genes[1]
        result = arena_here("evolve", "trainers", str(parts), "--count", "1", *SMALL, "6", "--seed", "9")
        assert result.code == 2
        assert (
            "trainer-1.checkpoint: it was made with seed 1, not seed 9: take another folder, or the same" in result.err
        )

    def test_processes_breed_the_same_player(self, arena_here: Arena, tmp_path: Path) -> None:
        for folder, workers in (("one", "1"), ("two", "2")):
            result = arena_here(
                "evolve", "trainers", str(tmp_path / folder), "--count", "1", *SMALL, "2", "--workers", workers
            )
            assert result.code == 0
        check_equal(tmp_path / "one" / "trainer-1.checkpoint", tmp_path / "two" / "trainer-1.checkpoint")

    def test_checks_change_no_result(self, arena_here: Arena, tmp_path: Path) -> None:
        for folder, every in (("without", "0"), ("with", "1"), ("parts", "1")):
            for command in ("trainers", "player"):
                for generations in ("1", "3") if folder == "parts" else ("3",):
                    small = (*SMALL, generations, "--check-every", every, "--check-deals", "3")
                    assert arena_here("evolve", command, str(tmp_path / folder), *small).code == 0
        for name in (*run_names(9), "player"):
            state = check_equal(tmp_path / "without" / f"{name}.checkpoint", tmp_path / "with" / f"{name}.checkpoint")
            genes = [read_chromosome(str(tmp_path / folder / f"{name}.chromosome")) for folder in ("without", "with")]
            assert genes[0] == genes[1]
            file = f"{name}.checks.jsonl"
            assert not (tmp_path / "without" / file).exists()
            settings, *checks = map(json.loads, (tmp_path / "with" / file).read_text().splitlines())
            assert settings == {"check_deals": 3}
            assert [check["generation"] for check in checks] == list(range(4))
            assert [check["renewals"] for check in checks] == [entry.renewals for entry in state.history]
            assert (tmp_path / "with" / file).read_bytes() == (tmp_path / "parts" / file).read_bytes()

    def test_finished_run_stays_unchanged(self, arena_here: Arena, tmp_path: Path) -> None:
        command = ("evolve", "trainers", str(tmp_path), "--count", "1", *SMALL, "2")
        assert arena_here(*command).code == 0
        files = {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in tmp_path.iterdir()}
        assert set(files) == {"trainer-1.checkpoint", "trainer-1.checks.jsonl", "trainer-1.chromosome"}
        assert arena_here(*command).code == 0
        assert files == {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in tmp_path.iterdir()}

    def test_full_disk_keeps_a_checkpoint(
        self, arena_here: Arena, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        assert arena_here("evolve", "trainers", str(tmp_path), "--count", "1", *SMALL, "2").code == 0

        def fail(*_: object, **__: object) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr("logs.whole_file.write_whole", fail)
        result = arena_here("evolve", "trainers", str(tmp_path), "--count", "1", *SMALL, "3")
        assert result.code == 2
        assert result.err.endswith("trainer-1.checkpoint: it cannot be written: No space left on device\n")
        monkeypatch.undo()
        assert load_checkpoint(tmp_path / "trainer-1.checkpoint")[0].history[-1].number == 2

    @pytest.mark.skipif(sys.platform == "win32", reason="sends SIGKILL")
    def test_cluster_with_a_lost_worker_has_the_same_result(self, arena_here: Arena, tmp_path: Path) -> None:
        longer = ("--deals", "4", "--population", "20", "--trials", "20", "--generations", "40")
        assert arena_here("evolve", "trainers", str(tmp_path / "here"), "--count", "1", *longer).code == 0
        with local_cluster(tmp_path) as cluster:
            command = ["evolve", "trainers", "there", "--count", "1", *longer, "--scheduler", cluster.address]
            with subprocess.Popen(
                [*ARENA, *command], cwd=tmp_path, env=program_env(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
            ) as process:
                until_s = time.monotonic() + 5 * PATIENCE_S
                while process.poll() is None and not (tmp_path / "there" / "trainer-1.checks.jsonl").exists():
                    assert time.monotonic() < until_s
                    time.sleep(0.01)
                cluster.kill_worker(0)
                _, err = process.communicate(timeout=5 * PATIENCE_S)
            assert process.returncode == 0, err
        check_equal(tmp_path / "here" / "trainer-1.checkpoint", tmp_path / "there" / "trainer-1.checkpoint")

    @pytest.mark.skipif(sys.platform == "win32", reason="sends SIGKILL")
    def test_lost_cluster_leaves_a_checkpoint(self, tmp_path: Path) -> None:
        with local_cluster(tmp_path) as cluster:
            command = ["evolve", "trainers", "runs", "--count", "1", *SMALL, "100000", "--scheduler", cluster.address]
            with subprocess.Popen(
                [*ARENA, *command],
                cwd=tmp_path,
                env=program_env(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
            ) as process:
                assert process.stderr is not None
                assert "generation" in process.stderr.readline()
                cluster.kill()
                _, err = process.communicate(timeout=PATIENCE_S)
            assert process.returncode == 1
            assert err.splitlines()[-1] == (
                f"arena: the cluster at {cluster.address}: the connection was lost; runs holds every finished "
                f"generation; resume: arena {' '.join(command)}"
            )
            assert load_checkpoint(tmp_path / "runs" / "trainer-1.checkpoint")[0].history

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
            f"arena: interrupted; runs holds every finished generation; resume: arena {' '.join(command)}"
        )
        state, _ = load_checkpoint(tmp_path / "runs" / "trainer-1.checkpoint")
        assert state.history
