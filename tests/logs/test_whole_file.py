"""Atomic replacement of files, and locks between processes."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from logs.whole_file import FileLock, write_whole


def test_replacement_is_retried_while_the_file_is_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On Windows, an open file cannot be replaced."""
    path = tmp_path / "result.json"
    path.write_text("old")
    replace, tries = Path.replace, []

    def refuse_twice(self: Path, target: Path) -> Path:
        tries.append(target)
        if len(tries) <= 2:
            raise PermissionError(13, "Access is denied")
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", refuse_twice)
    with pytest.raises(PermissionError):
        write_whole(path, "new")
    assert path.read_text() == "old"
    tries.clear()
    monkeypatch.setattr("logs.whole_file.IS_WINDOWS", True)
    monkeypatch.setattr("logs.whole_file.PAUSES_S", (0.0,) * 3)
    write_whole(path, "new")
    assert (path.read_text(), len(tries)) == ("new", 3)
    assert os.listdir(tmp_path) == ["result.json"]


def test_the_file_and_then_its_folder_are_on_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[bool] = []
    monkeypatch.setattr("logs.whole_file.sync_to_disk", lambda fd: synced.append(stat.S_ISDIR(os.fstat(fd).st_mode)))
    write_whole(tmp_path / "x", "text")
    assert synced == ([False] if os.name == "nt" else [False, True])
    synced.clear()
    write_whole(tmp_path / "x", "another", is_synced=False)
    assert synced == []
    assert (tmp_path / "x").read_text() == "another"


@pytest.mark.skipif(sys.platform == "win32", reason="a folder cannot be replaced by a file there either way")
def test_a_file_that_cannot_be_written_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "result.json").mkdir()
    with pytest.raises(OSError):
        write_whole(tmp_path / "result.json", "text")
    assert os.listdir(tmp_path) == ["result.json"]


def test_a_lock_has_one_holder_and_leaves_no_file(tmp_path: Path) -> None:
    path = tmp_path / "x.lock"
    lock = FileLock(path)
    with pytest.raises(BlockingIOError):
        FileLock(path)
    lock.close()
    lock.close()
    assert os.listdir(tmp_path) == []
    FileLock(path).close()


def test_a_lock_ends_with_its_process(tmp_path: Path) -> None:
    path = tmp_path / "x.lock"
    take = "import os, sys; from logs.whole_file import FileLock; from pathlib import Path; "
    take += "lock = FileLock(Path(sys.argv[1])); os._exit(7)"
    assert subprocess.run([sys.executable, "-c", take, path], check=False).returncode == 7
    assert path.exists()
    FileLock(path).close()


@pytest.mark.skipif(sys.platform == "win32", reason="a file that is open cannot be removed there")
def test_a_lock_whose_file_was_removed_meanwhile_is_taken_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between opening and locking, the previous holder can remove the file."""
    path = tmp_path / "x.lock"
    opened = Path.open
    removed: list[Path] = []

    def open_and_lose(self: Path, mode: str) -> object:
        file = opened(self, mode)
        if not removed:
            removed.append(self)
            self.unlink()
        return file

    monkeypatch.setattr(Path, "open", open_and_lose)
    lock = FileLock(path)
    with pytest.raises(BlockingIOError):
        FileLock(path)
    lock.close()
