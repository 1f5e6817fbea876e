"""Compiled kernels on disk: filled by one process, read by others, invalidated by any change."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from engine import kernels
from engine.kernels import disk

ROOT = Path(__file__).resolve().parents[2]
FILL = """
from engine.kernels import disk
from engine.kernels.draw import mixed
from engine.kernels.jit import kernels_written_to, njit

@njit
def stranger(number):
    return number + 1

import numpy as np
folder = disk.start_filling()
with kernels_written_to(folder) as names:
    mixed(np.uint64(1))
    stranger(1)
disk.publish(folder)
print(*names)
"""
READ = """
import numpy as np
from engine.kernels.draw import mixed
from engine.kernels.jit import kernels_read
print(mixed(np.uint64(1)), kernels_read())
"""
MIXED_1 = 0x5692161D100B05E5


def run_code(code: str, folder: Path, *, errors: str = "", **env: str) -> list[str]:
    """Run code with its kernels in a folder; return the words that it prints."""
    done = subprocess.run(
        [sys.executable, "-P", "-c", code],
        cwd=folder.parent,
        env={
            **os.environ,
            "PYTHONPATH": str(ROOT),
            disk.FOLDER_VARIABLE: str(folder),
            disk.SHARED_VARIABLE: "",
            **env,
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, errors)
    return done.stdout.split()


@pytest.fixture(scope="module")
def filled_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder with one kernel of the package; kernels of other modules are not cached."""
    folder = tmp_path_factory.mktemp("house") / "cache"
    assert run_code(FILL, folder) == ["engine.kernels.draw.mixed"]
    return folder


def test_every_table_of_a_kernel_can_be_kept() -> None:
    """Numba embeds the address of a non-contiguous array in the code, which then cannot be cached."""
    modules = [f"engine.kernels.{path.stem}" for path in Path(kernels.__path__[0]).glob("*.py")]
    for name in (*modules, "bots.evolved.kernel", "bots.lp_mc.drawn_showdowns"):
        tables = vars(importlib.import_module(name))
        for table, value in tables.items():
            if "njit" in tables and isinstance(value, np.ndarray):
                assert value.flags.c_contiguous, f"{name}.{table}"


@pytest.mark.slow
def test_another_process_reads_compiled_kernels(filled_folder: Path) -> None:
    (cache,) = filled_folder.iterdir()
    before = {path: path.stat().st_mtime_ns for path in cache.iterdir()}
    assert run_code(READ, filled_folder) == [str(MIXED_1), "1"]
    assert {path: path.stat().st_mtime_ns for path in cache.iterdir()} == before


@pytest.mark.slow
def test_a_bot_reports_once_that_it_compiles(tmp_path: Path) -> None:
    twice = f"{READ}mixed(np.uint8(1))\n"
    reported = f"bot: {disk.COMPILING}\n"
    assert run_code(twice, tmp_path / "nothing", errors=reported, ARENA_BOT="mark") == [str(MIXED_1), "0"]


@pytest.mark.slow
def test_a_damaged_kernel_is_compiled_anew(filled_folder: Path, tmp_path: Path) -> None:
    (cache,) = filled_folder.iterdir()
    copy = tmp_path / "copy"
    (copy / cache.name).mkdir(parents=True)
    for path in cache.iterdir():
        (copy / cache.name / path.name).write_bytes(path.read_bytes()[:-1] + b"?")
    assert run_code(READ, copy) == [str(MIXED_1), "0"]


@pytest.mark.slow
def test_other_settings_have_another_cache(filled_folder: Path) -> None:
    assert run_code(READ, filled_folder, NUMBA_OPT="1") == [str(MIXED_1), "0"]


@pytest.mark.slow
def test_processes_share_compiled_kernels(tmp_path: Path) -> None:
    shared = {disk.SHARED_VARIABLE: str(tmp_path / "shared")}
    nowhere = tmp_path / "nothing"
    assert run_code(READ, nowhere, **shared) == [str(MIXED_1), "0"]
    assert run_code(READ, nowhere, **shared) == [str(MIXED_1), "1"]
    assert run_code(READ, nowhere) == [str(MIXED_1), "0"]
    assert not nowhere.exists()
    (kernel,) = (tmp_path / "shared").rglob("*.kernel")
    kernel.write_bytes(b"damaged")
    assert run_code(READ, nowhere, **shared) == [str(MIXED_1), "0"]
    assert run_code(READ, nowhere, **shared) == [str(MIXED_1), "1"]
    assert run_code(READ, nowhere, **{disk.SHARED_VARIABLE: str(kernel)}) == [str(MIXED_1), "0"]


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Empty folder for caches in this process."""
    monkeypatch.setenv(disk.FOLDER_VARIABLE, str(tmp_path / "caches"))
    monkeypatch.delenv(disk.SHARED_VARIABLE)
    disk.cache_folder.cache_clear()
    yield tmp_path / "caches"
    disk.cache_folder.cache_clear()


def test_kernels_are_read_only_once_published(root: Path) -> None:
    folder = disk.start_filling()
    disk.write_kernel(folder, "one", b"code")
    assert disk.read_kernel("one") is None
    assert not disk.is_filled()
    assert disk.publish(folder) == disk.cache_folder()
    assert disk.is_filled()
    assert disk.read_kernel("one") == b"code"
    assert disk.read_kernel("two") is None


def test_the_first_to_publish_stays(root: Path) -> None:
    for contents in (b"first", b"second"):
        folder = disk.start_filling()
        disk.write_kernel(folder, "one", contents)
        disk.publish(folder)
    assert disk.read_kernel("one") == b"first"
    assert disk.filled_folders() == [disk.cache_folder()]


@pytest.mark.parametrize("damage", [b"", b"x", bytes(31), bytes(40)])
def test_damage_is_noticed(root: Path, damage: bytes) -> None:
    folder = disk.start_filling()
    disk.write_kernel(folder, "one", b"code")
    disk.publish(folder)
    (disk.cache_folder() / "one.kernel").write_bytes(damage)
    assert disk.read_kernel("one") is None


def test_leftovers_of_an_attempt_are_removed(root: Path) -> None:
    disk.write_kernel(disk.start_filling(), "one", b"code")
    again = disk.start_filling()
    assert list(again.iterdir()) == []
    (root / "something else").mkdir()
    disk.publish(again)
    assert disk.clear() == 1
    assert [path.name for path in root.iterdir()] == ["something else"]


def test_the_name_of_a_cache_follows_sources_tables_and_settings(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for package in disk.PACKAGES:
        (tmp_path / package / "kernels").mkdir(parents=True)
        (tmp_path / package / "kernels" / "disk.py").write_text("one = 1")
    monkeypatch.setattr(disk, "__file__", str(tmp_path / "engine" / "kernels" / "disk.py"))
    names = set()

    def note() -> None:
        disk.cache_folder.cache_clear()
        names.add(disk.cache_folder().name)

    note()
    note()
    assert len(names) == 1
    (tmp_path / "bots" / "kernels" / "disk.py").write_text("one = 2")
    note()
    (tmp_path / "engine" / "table.bin").write_bytes(b"table")
    note()
    assert len(names) == 3
    (tmp_path / "engine" / "notes.txt").write_text("no kernel is made of it")
    note()
    assert len(names) == 3
    monkeypatch.setenv("NUMBA_OPT", "2")
    note()
    monkeypatch.setenv("NUMBA_CACHE_DIR", "elsewhere")
    note()
    assert len(names) == 4
    monkeypatch.setattr(disk, "__file__", str(tmp_path / "archive.zip" / "engine" / "kernels" / "disk.py"))
    disk.cache_folder.cache_clear()
    assert disk.read_kernel("one") is None
