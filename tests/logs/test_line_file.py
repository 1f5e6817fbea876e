"""Files of whole lines."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from logs.whole_file import LineFile, sync_to_disk

REAL_WRITE = os.write


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "match.log"


class FullDisk:
    """Replacement of `os.write` that writes a few bytes at a time and fails after `room` bytes."""

    def __init__(self, room: int, at_once: int = 10**9) -> None:
        self.room = room
        self.at_once = at_once

    def __call__(self, fd: int, data: bytes) -> int:
        count = min(len(data), self.room, self.at_once)
        if data and not count:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self.room -= count
        return REAL_WRITE(fd, data[:count])


@pytest.fixture
def full_disk(monkeypatch: pytest.MonkeyPatch) -> Iterator[FullDisk]:
    disk = FullDisk(10**9)
    monkeypatch.setattr(os, "write", disk)
    yield disk
    monkeypatch.undo()


def test_a_line_is_on_disk_as_soon_as_it_is_written(path: Path) -> None:
    file = LineFile(path)
    file.write("one\n")
    assert path.read_bytes() == b"one\n"
    file.write("two\nthree\n")
    assert path.read_bytes() == b"one\ntwo\nthree\n"
    file.close()
    assert file.path == str(path)


def test_a_new_file_loses_what_was_there(path: Path) -> None:
    path.write_text("a longer old text\n")
    with LineFile(path) as file:
        assert path.read_bytes() == b""
        file.write("new\n")
    assert path.read_bytes() == b"new\n"


def test_appending_keeps_what_was_there(path: Path) -> None:
    path.write_text("old\n")
    with LineFile(path, append=True) as file:
        file.write("new\n")
    assert path.read_bytes() == b"old\nnew\n"


def test_names_are_written_as_utf_8_and_foreign_bytes_as_they_came(tmp_path: Path) -> None:
    path = tmp_path / "log"
    with LineFile(path) as file:
        file.write("é€\n")
        file.write(b"\xff\n".decode("utf-8", "surrogateescape"))
    assert path.read_bytes() == "é€\n".encode() + b"\xff\n"


def test_a_write_in_pieces_is_completed(path: Path, full_disk: FullDisk) -> None:
    full_disk.at_once = 3
    with LineFile(path) as file:
        file.write("a line of some length\n")
    assert path.read_bytes() == b"a line of some length\n"


@pytest.mark.parametrize("append", [False, True])
@pytest.mark.parametrize(("room", "at_once"), [(0, 1000), (5, 3), (11, 1)])
def test_half_a_line_is_cut_off_again(path: Path, full_disk: FullDisk, append: bool, room: int, at_once: int) -> None:
    full_disk.at_once = at_once
    with LineFile(path, append=append) as file:
        file.write("first\n")
        full_disk.room = room
        with pytest.raises(OSError) as caught:
            file.write("second line\n")
        assert caught.value.errno == errno.ENOSPC
        assert caught.value.filename == str(path)
    assert path.read_bytes() == b"first\n"


def test_after_a_full_disk_an_appended_log_goes_on(path: Path, full_disk: FullDisk) -> None:
    with LineFile(path, append=True) as file:
        file.write("first\n")
        full_disk.room = 4
        with pytest.raises(OSError):
            file.write("second line\n")
        full_disk.room = 1000
        file.write("third\n")
    assert path.read_bytes() == b"first\nthird\n"


def test_drive_cache_is_flushed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """On macOS, fsync alone does not reach the drive."""
    fcntl = pytest.importorskip("fcntl")
    commands: list[int] = []
    monkeypatch.setattr("sys.platform", "darwin")
    monkeypatch.setattr(fcntl, "F_FULLFSYNC", 51, raising=False)
    monkeypatch.setattr(fcntl, "fcntl", lambda fd, command: commands.append(command))
    with (tmp_path / "x").open("w") as file:
        sync_to_disk(file.fileno())
        assert commands == [51]

        def refuse(fd: int, command: int) -> None:
            raise OSError(25, "not supported here")

        monkeypatch.setattr(fcntl, "fcntl", refuse)
        sync_to_disk(file.fileno())
