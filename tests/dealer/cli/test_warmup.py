"""``arena warmup``: compiled kernels, their folder, and output."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from bots.sdk.registry import builtin_names, make_bot
from dealer.cli.warmup import _jobs
from dealer.run.folder import lock_run
from engine.kernels import disk
from tests.dealer.cli.conftest import Arena
from tests.dealer.helpers import PATIENCE_S, program_env
from tests.scripts import script

ONE_JOB = """
import dealer.cli.warmup
import numpy as np
import os

os.cpu_count = lambda: 1

def compile_it():
    from engine.kernels.draw import mixed
    mixed(np.uint64(1))

dealer.cli.warmup._jobs = lambda: [("a mixture", compile_it), ("the same again", compile_it)]
from dealer.cli import main
main()
"""


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Folder for caches, which does not exist yet."""
    monkeypatch.setenv(disk.FOLDER_VARIABLE, str(tmp_path / "caches"))
    monkeypatch.delenv(disk.SHARED_VARIABLE)
    disk.cache_folder.cache_clear()
    yield tmp_path / "caches"
    disk.cache_folder.cache_clear()


@pytest.mark.slow
def test_compiled_code_is_listed_with_its_folder(root: Path, tmp_path: Path, arena_here: Arena) -> None:
    result = subprocess.run(
        [sys.executable, "-P", "-c", ONE_JOB, "warmup"],
        cwd=tmp_path,
        env=program_env(**{disk.FOLDER_VARIABLE: str(root)}),
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert (result.returncode, result.stderr) == (0, "")
    lines = [line.split() for line in result.stdout.splitlines()]
    assert [words[:-1] for words in lines if words[:1] in (["a"], ["the"])] == [
        ["a", "mixture", "1"],
        ["the", "same", "again", "0"],
    ]
    assert lines[1][:3] == ["1", "function", "compiled"]
    assert lines[1][-3:] == ["kept", "in", str(disk.cache_folder())]
    again = arena_here("warmup")
    assert (again.code, again.out) == (0, f"Compiled code\nEverything is compiled already, in {disk.cache_folder()}\n")
    assert arena_here("warmup", "--clear").out == f"Compiled code\n1 folder of compiled code removed from {root}\n"
    assert list(root.iterdir()) == []


EVERYTHING = """
import importlib, pathlib, pkgutil, sys
import bots, engine
from dealer.cli.warmup import _jobs
from engine.kernels.jit import kernels_written_to
from numba.core.registry import CPUDispatcher

with kernels_written_to(pathlib.Path(sys.argv[1])) as names:
    for _, job in _jobs():
        job()
for package in (engine, bots):
    for found in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        if found.name.startswith("bots.studies."):
            # No command needs them.
            continue
        for kernel in vars(importlib.import_module(found.name)).values():
            if isinstance(kernel, CPUDispatcher) and kernel.py_func.__closure__ is None:
                name = f"{kernel.py_func.__module__}.{kernel.py_func.__qualname__}"
                # The code of an inner kernel is part of its callers.
                is_inner = "no_cpython_wrapper" in kernel.targetoptions
                if "<locals>" not in name and name not in names and not is_inner:
                    print("left out:", name)
print(len(set(names)), "kernels")
"""


@pytest.mark.slow
def test_every_kernel_is_compiled(tmp_path: Path) -> None:
    result = subprocess.run(
        [sys.executable, "-P", "-c", EVERYTHING, str(tmp_path)],
        env=program_env(),
        capture_output=True,
        text=True,
        timeout=20 * PATIENCE_S,
        check=False,
    )
    assert (result.returncode, result.stderr) == (0, "")
    assert "left out" not in result.stdout
    assert int(result.stdout.split()[0]) > 50


def test_bot_prepares_for_a_game_that_it_plays(monkeypatch: pytest.MonkeyPatch) -> None:
    prepared = {}
    for name in builtin_names():
        bot = make_bot(name, 0)
        monkeypatch.setattr(type(bot), "prepare", lambda bot, game, name=name: prepared.update({name: (bot, game)}))
        monkeypatch.setattr(type(bot), "prepare_for_many_hands", lambda _: None)
    bots = dict(job for job in _jobs() if job[0].startswith("the bot "))
    for job in bots.values():
        job()
    assert {f"the bot {name}" for name in prepared} == set(bots)
    assert {"cfr", "equilibrium", "mfs"} <= set(prepared)
    assert all(bot.refusal(game) is None for bot, game in prepared.values())


def test_clear_without_compiled_code_prints_a_sentence(root: Path, arena_here: Arena) -> None:
    result = arena_here("warmup", "--clear")
    assert (result.code, result.out) == (0, f"Compiled code\n0 folders of compiled code removed from {root}\n")
    assert not root.exists()


def test_each_state_is_json_with_its_schema(root: Path, arena_here: Arena, monkeypatch: pytest.MonkeyPatch) -> None:
    schema = Draft202012Validator(script("docs/reference.py").schemas()["warmup"])
    monkeypatch.setattr("dealer.cli.warmup._jobs", lambda: [("nothing", lambda: None)])
    states = []
    for words in (("warmup",), ("warmup",), ("warmup", "--clear")):
        output = json.loads(arena_here(*words, "--json").out)
        schema.validate(output)
        states.append((output["state"], [part["name"] for part in output["compiled"]], output["removed_folders"]))
    assert states == [("compiled", ["nothing"], 0), ("ready", [], 0), ("removed", [], 1)]


def test_file_in_place_of_the_folder_is_refused(root: Path, arena_here: Arena) -> None:
    root.write_text("a file")
    result = arena_here("warmup")
    assert result.code == 2
    assert str(root) in result.sentence


def test_waiting_process_compiles_nothing(root: Path, arena_here: Arena, monkeypatch: pytest.MonkeyPatch) -> None:
    root.mkdir()
    other = lock_run(root)

    def fill_meanwhile(_: float) -> None:
        disk.publish(disk.start_filling())
        other.close()

    monkeypatch.setattr("time.sleep", fill_meanwhile)
    result = arena_here("warmup")
    assert (result.code, result.out) == (
        0,
        f"Compiled code\nAnother process has compiled everything, in {disk.cache_folder()}\n",
    )
