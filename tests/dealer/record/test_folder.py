"""The folder of a run: nothing overwritten, one process at a time, files whole or not there."""

from __future__ import annotations

import os
import re
import stat
import sys
from pathlib import Path

import pytest

from dealer.errors import FolderBusyError, FolderTakenError, LaunchError
from dealer.record.folder import RunLock, new_folder, write_whole
from logs.line_file import sync_to_disk


def test_a_new_folder_lies_below_runs_and_is_named_after_the_players(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    first = new_folder(None, ("Ann", "b/o b"))
    second = new_folder(None, ("Ann", "b/o b"))
    assert first.is_dir()
    assert second.is_dir()
    assert first != second
    assert re.fullmatch(r"runs.\d{8}-\d{6}-Ann-vs-b_o_b(-\d+)?", str(second))


def test_a_folder_asked_for_may_be_new_or_empty_only(tmp_path: Path) -> None:
    asked = tmp_path / "deep" / "folder"
    assert new_folder(asked, ()) == asked
    assert new_folder(asked, ()) == asked
    (asked / "x").touch()
    with pytest.raises(FolderTakenError, match="is not empty") as raised:
        new_folder(asked, ())
    assert (raised.value.folder, raised.value.holds_run) == (asked, False)
    (asked / "run.toml").touch()
    with pytest.raises(FolderTakenError) as raised:
        new_folder(asked, ())
    assert raised.value.holds_run


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(LaunchError, match="cannot make the folder"):
        new_folder(tmp_path / "file" / "folder", ())


def test_a_file_that_somebody_reads_is_replaced_once_it_may_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on Windows, where a file that is open cannot be replaced."""
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
    monkeypatch.setattr("dealer.record.folder.IS_WINDOWS", True)
    monkeypatch.setattr("dealer.record.folder.PAUSES_S", (0.0,) * 3)
    write_whole(path, "new")
    assert (path.read_text(), len(tries)) == ("new", 3)
    assert os.listdir(tmp_path) == ["result.json"]


def test_the_file_and_then_its_folder_are_on_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[bool] = []
    monkeypatch.setattr(
        "dealer.record.folder.sync_to_disk", lambda fd: synced.append(stat.S_ISDIR(os.fstat(fd).st_mode))
    )
    write_whole(tmp_path / "x", "text")
    assert synced == ([False] if os.name == "nt" else [False, True])


def test_a_drive_is_told_to_write_what_it_holds(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """As on macOS, whose fsync leaves that to the drive."""
    fcntl = pytest.importorskip("fcntl")
    told: list[int] = []
    monkeypatch.setattr("sys.platform", "darwin")
    monkeypatch.setattr(fcntl, "F_FULLFSYNC", 51, raising=False)
    monkeypatch.setattr(fcntl, "fcntl", lambda fd, command: told.append(command))
    with (tmp_path / "x").open("w") as file:
        sync_to_disk(file.fileno())
        assert told == [51]

        def refuse(fd: int, command: int) -> None:
            raise OSError(25, "not supported here")

        monkeypatch.setattr(fcntl, "fcntl", refuse)
        sync_to_disk(file.fileno())


def test_a_run_is_locked_until_it_is_released(tmp_path: Path) -> None:
    lock = RunLock(tmp_path)
    with pytest.raises(FolderBusyError, match="still going on in another process"):
        RunLock(tmp_path)
    lock.close()
    RunLock(tmp_path).close()


def test_a_lock_needs_a_folder(tmp_path: Path) -> None:
    with pytest.raises(LaunchError, match="cannot write to"):
        RunLock(tmp_path / "gone")


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    write_whole(path, "one\n")
    write_whole(path, "two ± 3\n")
    assert path.read_bytes() == "two ± 3\n".encode()
    assert os.listdir(tmp_path) == ["result.json"]


@pytest.mark.skipif(sys.platform == "win32", reason="a folder cannot be replaced by a file there either way")
def test_a_file_that_cannot_be_written_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "result.json").mkdir()
    with pytest.raises(OSError):
        write_whole(tmp_path / "result.json", "text")
    assert os.listdir(tmp_path) == ["result.json"]
