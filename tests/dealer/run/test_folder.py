"""Folders of runs: names, locks, and refusal of folders in use."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dealer.errors import FolderBusyError, FolderTakenError, LaunchError
from dealer.run.folder import clear_unfinished, lock_run, new_folder


def test_new_folder_is_in_runs_and_named_after_the_players(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    first = new_folder(None, ("Ann", "b/o b"))
    second = new_folder(None, ("Ann", "b/o b"))
    assert first.is_dir()
    assert second.is_dir()
    assert first != second
    assert re.fullmatch(r"runs.\d{8}-\d{6}-Ann-vs-b_o_b(-\d+)?", str(second))


def test_folder_with_files_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "folder"
    assert new_folder(folder, ()) == folder
    assert new_folder(folder, ()) == folder
    (folder / "x").touch()
    with pytest.raises(FolderTakenError, match="is not empty") as raised:
        new_folder(folder, ())
    assert raised.value.folder == folder
    assert not raised.value.holds_run
    (folder / "run.toml").touch()
    with pytest.raises(FolderTakenError) as raised:
        new_folder(folder, ())
    assert raised.value.holds_run


@pytest.mark.parametrize(
    ("names", "is_unused"),
    [
        (["run.toml.new"], True),
        (["run.lock"], True),
        (["run.lock", "my.game", "run.toml.new"], True),
        (["my.game"], False),
        (["run.lock", "match.log"], False),
        (["run.lock", "run.toml"], False),
    ],
)
def test_folder_of_a_run_that_was_not_written_counts_as_empty(
    tmp_path: Path, names: list[str], is_unused: bool
) -> None:
    for name in names:
        (tmp_path / name).touch()
    if is_unused:
        assert new_folder(tmp_path, ()) == tmp_path
    else:
        with pytest.raises(FolderTakenError):
            new_folder(tmp_path, ())


def test_unfinished_files_are_removed(tmp_path: Path) -> None:
    finished = ["run.toml", "result.json", "match.a.log", "notes.new", "ideas.txt.new"]
    for name in (*finished, "run.toml.new", "result.json.new", "match.a.log.new", "match.a.faults.new", "x.memory.new"):
        (tmp_path / name).touch()
    lock = lock_run(tmp_path)
    clear_unfinished(tmp_path)
    assert (tmp_path / "run.toml.new").exists()
    lock.close()
    clear_unfinished(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(finished)


def test_folder_that_cannot_be_created_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(LaunchError, match="cannot make the folder"):
        new_folder(tmp_path / "file" / "folder", ())


def test_run_is_locked_until_the_lock_is_closed(tmp_path: Path) -> None:
    lock = lock_run(tmp_path)
    with pytest.raises(FolderBusyError, match="still running in another process"):
        lock_run(tmp_path)
    lock.close()
    lock_run(tmp_path).close()


def test_lock_needs_a_folder(tmp_path: Path) -> None:
    with pytest.raises(LaunchError, match="cannot write to"):
        lock_run(tmp_path / "gone")
