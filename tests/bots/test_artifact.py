"""Files of bots and trainings: round trips, and refusals of damaged, foreign and newer ones."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bots.artifact import FileKind, artifact_bytes, as_arrays, read_artifact, write_artifact, write_file
from bots.cfr import strategy_files
from bots.cfr.bot import SHIPPED
from bots.errors import BotFileError
from bots.evolution import evolution as evolution_run
from bots.evolved import chromosome as evolved_files
from bots.learner import memory as learner_files
from engine.errors import quoted

KIND = FileKind("a file of this test", 3, "run the test again")
HEADER = {"game": "kuhn", "numbers": [0.1, 2.5e-300]}


def written(path: Path) -> bytes:
    write_artifact(path, KIND, HEADER, b"contents\nof any kind")
    return path.read_bytes()


def refusal(path: Path, data: bytes, *, is_mapped: bool = False) -> str:
    path.write_bytes(data)
    with pytest.raises(BotFileError) as caught:
        read_artifact(path, KIND, is_mapped=is_mapped)
    sentence = str(caught.value)
    assert sentence.startswith(f"{path}: it ")
    assert sentence.endswith("run the test again")
    assert "\n" not in sentence
    return sentence


@pytest.mark.parametrize("is_mapped", [False, True])
def test_file_is_read_as_it_was_written(tmp_path: Path, is_mapped: bool) -> None:
    written(tmp_path / "x")
    outcome = read_artifact(tmp_path / "x", KIND, is_mapped=is_mapped)
    assert outcome.header == {"what": KIND.what, "version": 3, **HEADER}
    assert outcome.contents == b"contents\nof any kind"
    assert os.listdir(tmp_path) == ["x"]


def test_equal_contents_are_equal_bytes() -> None:
    first, second = artifact_bytes(KIND, {"a": 1, "b": 2}, b"x"), artifact_bytes(KIND, {"b": 2, "a": 1}, b"x")
    assert first == second


@pytest.mark.parametrize("is_mapped", [False, True])
def test_every_cut_is_refused(tmp_path: Path, is_mapped: bool) -> None:
    data = written(tmp_path / "x")
    line = data.index(b"\n")
    for size in range(len(data)):
        sentence = refusal(tmp_path / "y", data[:size], is_mapped=is_mapped)
        assert (
            "does not begin with a line that identifies it as a file of this test" if size < line else "damaged"
        ) in sentence


def test_every_flipped_bit_is_refused(tmp_path: Path) -> None:
    data = bytearray(written(tmp_path / "x"))
    for at in range(len(data)):
        data[at] ^= 1
        refusal(tmp_path / "y", bytes(data))
        data[at] ^= 1
    refusal(tmp_path / "y", bytes(data) + b"\0")


@pytest.mark.parametrize("data", [b"", b"[]\n", b"{}\n", b"PK\x03\x04" * 100, b"[" * 100_000])
def test_foreign_files_are_refused(tmp_path: Path, data: bytes) -> None:
    assert "does not begin with a line that identifies it as a file of this test" in refusal(tmp_path / "x", data)


@pytest.mark.parametrize(
    ("version", "advice"),
    [(4, "update acpc-arena, or run the test again"), (2, "run the test again"), ("4", "run the test again")],
)
def test_files_of_other_versions_are_refused(tmp_path: Path, version: Any, advice: str) -> None:
    data = artifact_bytes(KIND._replace(version=version), HEADER, b"")
    expected = f"it is of version {quoted(version)}; this program reads version 3: {advice}"
    assert refusal(tmp_path / "x", data).endswith(expected)


def test_missing_and_unwritable_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BotFileError, match="x: it cannot be read: No such file or directory"):
        read_artifact(tmp_path / "x", KIND)
    with pytest.raises(BotFileError, match="x: it cannot be written: No such file or directory"):
        write_artifact(tmp_path / "none" / "x", KIND, {}, b"")


def test_a_failed_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = written(tmp_path / "x")

    def refuse(fd: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("logs.whole_file.sync_to_disk", refuse)
    with pytest.raises(BotFileError, match="x: it cannot be written: No space left on device"):
        write_file(tmp_path / "x", "text")
    assert (tmp_path / "x").read_bytes() == before
    assert os.listdir(tmp_path) == ["x"]


@pytest.mark.parametrize("is_compressed", [False, True])
def test_arrays_are_read_as_they_were_written(tmp_path: Path, is_compressed: bool) -> None:
    arrays = {
        "z": np.arange(6, dtype=np.int16).reshape(2, 3).T,
        "a": np.array([0.1, -np.inf]),
        "empty": np.zeros((0, 4), np.uint8),
        "none": None,
        "flags": np.array([True, False]),
        "one": np.array(7, np.int64),
    }
    header, contents = as_arrays(arrays, is_compressed=is_compressed)
    write_artifact(tmp_path / "x", KIND, header, contents)
    outcome = read_artifact(tmp_path / "x", KIND).arrays()
    assert [*outcome] == ["z", "a", "empty", "flags", "one"]
    for name, array in outcome.items():
        expected = arrays[name]
        assert expected is not None
        assert array.dtype == expected.dtype
        assert array.shape == expected.shape
        assert np.array_equal(array, expected)


@pytest.mark.parametrize(
    ("header", "problem"),
    [
        ({}, "'arrays'"),
        ({"arrays": [["a", "<f8", 3]]}, "buffer"),
        ({"arrays": [["a", "<f8", 1]]}, "its arrays have 8 bytes of 16"),
        ({"arrays": [["a", "no", 1]]}, "no"),
        ({"arrays": [["a", "<f8", 2]], "compressed": True}, "while decompressing"),
        ({"arrays": 3}, "not iterable"),
    ],
)
def test_other_contents_than_the_header_states_are_refused(
    tmp_path: Path, header: dict[str, Any], problem: str
) -> None:
    write_artifact(tmp_path / "x", KIND, header, bytes(16))
    with pytest.raises(BotFileError, match=f"x: it is damaged: .*{problem}"):
        read_artifact(tmp_path / "x", KIND).arrays()


KINDS: dict[str, tuple[FileKind, Callable[[str], object]]] = {
    "strategy": (strategy_files._KIND, strategy_files.read_strategy),
    "evolution": (evolution_run._KIND, evolution_run.load_checkpoint),
    "chromosome": (evolved_files._KIND, evolved_files.read_chromosome),
    "memory": (learner_files._KIND, learner_files.read_memory),
}


@pytest.mark.parametrize("name", KINDS)
def test_every_kind_refuses_other_kinds_and_versions(tmp_path: Path, name: str) -> None:
    kind, read = KINDS[name]
    path = tmp_path / "x"
    others = [artifact_bytes(other, {}, b"") for other, _ in KINDS.values() if other is not kind]
    newer = artifact_bytes(kind._replace(version=kind.version + 1), {}, b"")
    cases = [(b"", "does not begin with a line"), (newer, "update acpc-arena"), (newer[:-1], "update acpc-arena")]
    cases += [(data, "does not begin with a line that identifies it as") for data in others]
    cases += [(artifact_bytes(kind, {}, b"")[:-1], "damaged"), (artifact_bytes(kind, {}, b"?"), ": it ")]
    for data, problem in cases:
        path.write_bytes(data)
        with pytest.raises(BotFileError, match=problem) as caught:
            read(str(path))
        assert isinstance(caught.value, BotFileError)
        assert str(caught.value).startswith(f"{path}: it ")
        assert "\n" not in str(caught.value)


def test_strategy_is_mapped(tmp_path: Path) -> None:
    outcome = read_artifact(SHIPPED["limit"], strategy_files._KIND, is_mapped=True)
    assert type(outcome.contents.obj).__name__ == "mmap"


def test_files_of_light_bots_are_read_without_numpy() -> None:
    code = (
        "import sys; from bots.evolved.chromosome import *; from bots.learner.memory import *; "
        "from bots.learner.memory import Constants; from protocol import find_game; read_chromosome(CHAMPION); "
        "assert shipped_memory(find_game('limit')[1], Constants()).cells; print('numpy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False"]
