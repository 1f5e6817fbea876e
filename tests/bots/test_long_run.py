"""Long computations: one process at a time, saved at every end, results kept immediately."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from bots.errors import BotFileError
from bots.long_run import locked_run, result_journal, run_steps, show_within, uninterrupted


def test_completed_steps_are_saved_at_an_interruption() -> None:
    done: list[int] = []
    saved: list[int] = []

    def steps(most: int) -> Iterator[tuple[float, str]]:
        for number in range(most):
            if number == 3:
                raise KeyboardInterrupt
            done.append(number)
            yield number / most, ""

    with pytest.raises(KeyboardInterrupt):
        run_steps(steps(5), lambda: saved.extend(done))
    assert saved == [0, 1, 2]
    run_steps(steps(0), lambda: saved.append(99))
    assert saved == [0, 1, 2], "nothing was done"
    saved.clear()
    run_steps(steps(2), lambda: saved.append(len(done)), save_every_s=0)
    assert saved == [4, 5]


def test_the_parts_of_several_computations() -> None:
    seen: list[float | None] = []
    run_steps(iter([(0.5, ""), (None, "")]), lambda: None, show_within(lambda part, so_far="": seen.append(part), 1, 4))
    assert seen == [0.375, None]


def test_an_interruption_waits() -> None:
    done: list[str] = []

    def work() -> None:
        with uninterrupted():
            signal.raise_signal(signal.SIGINT)
            done.append("all")

    with pytest.raises(KeyboardInterrupt):
        work()
    assert done == ["all"]


def test_a_run_has_one_process_at_a_time(tmp_path: Path) -> None:
    folder = tmp_path / "runs"
    with (
        locked_run(folder, "x"),
        pytest.raises(BotFileError, match="another process works on this run"),
        locked_run(folder, "x"),
    ):
        pass
    with locked_run(folder, "x"), locked_run(folder, "y"):
        pass
    (tmp_path / "file").touch()
    with pytest.raises(BotFileError, match="it is a file; a run needs a folder"), locked_run(tmp_path / "file", "x"):
        pass


def test_results_are_kept_as_they_are_found(tmp_path: Path) -> None:
    path = tmp_path / "new" / "results.jsonl"
    with result_journal(path, {"seed": 1, "names": ("a", "b")}) as kept:
        kept.add([1, 0.1])
        with pytest.raises(BotFileError, match="another process works on this run"), result_journal(path, {}):
            pass
    with path.open("a") as file:
        file.write("[2, 0.")
    with result_journal(path, {"seed": 1, "names": ("a", "b")}) as kept:
        assert kept.rows == [[1, 0.1]]
        kept.add([3, 0.3])
    assert [json.loads(line) for line in path.read_text().splitlines()][1:] == [[1, 0.1], [3, 0.3]]
    with pytest.raises(BotFileError, match="made with seed 1, not seed 2"), result_journal(path, {"seed": 2}):
        pass
