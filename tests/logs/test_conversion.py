"""Files of hands into hand histories, as a function."""

from __future__ import annotations

from pathlib import Path

import pytest

from logs import format_state_line
from logs.conversion import convert
from logs.errors import LogError, LogProblem
from logs.export import FORMATS
from logs.formats import ExportWarning, Rake
from logs.hand_source import find
from protocol import find_game
from tests.logs.hands import random_hands


def _log(folder: Path, name: str, game: str = "holdem.limit.2p.reverse_blinds", seed: int = 1) -> Path:
    records = random_hands(find_game(game)[1], 4, seed)
    path = folder / name
    path.write_text(f"# name/game/hands/seed m {game} 4 {seed}\n" + "".join(map(format_state_line, records)), "utf-8")
    return path


def test_everything_about_it_is_told_once(tmp_path: Path) -> None:
    for seed, name in enumerate(("one.log", "two.log"), 1):
        _log(tmp_path, name, seed=seed)
    (tmp_path / "three.log").write_text("# name/game/hands/seed m chess 4 1\nSTATE:0\n")
    problems: list[LogProblem] = []
    warnings: list[ExportWarning] = []
    written: dict[Path, int] = {}
    count = convert(
        find([tmp_path], on_problem=problems.append),
        (FORMATS["phh"],),
        rake=Rake(5, cap=3),
        folder=tmp_path / "out",
        overwrites=True,
        on_warning=warnings.append,
        on_written=written.__setitem__,
    )
    assert (count, written) == (2, {tmp_path / "out" / "m.phhs": 4})
    assert [problem.path for problem in problems] == [str(tmp_path / "three.log")]
    assert [warning.problem.split(":")[0] for warning in warnings] == [
        "PHH has no field for rake",
        str(tmp_path / "one.log"),
        str(tmp_path / "two.log"),
    ]


def test_strictly_or_alone_a_file_that_cannot_be_read_ends_it(tmp_path: Path) -> None:
    (tmp_path / "three.log").write_text("# name/game/hands/seed m chess 4 1\nSTATE:0\n")
    with pytest.raises(LogError):
        convert(find([tmp_path]), (FORMATS["phh"],))
    _log(tmp_path, "one.log")
    with pytest.raises(LogError):
        convert(find([tmp_path], strict=True), (FORMATS["phh"],))
