"""Conversion of hand files through the Python function."""

from __future__ import annotations

from pathlib import Path

import pytest

from logs import format_state_line
from logs.conversion import convert
from logs.errors import LogError, LogProblem
from logs.export import FORMATS
from logs.formats.export_format import ExportOptions, ExportWarning
from logs.formats.money import Rake
from logs.hand_source import find
from protocol import find_game
from tests.logs.hands import random_hands


def _log(folder: Path, name: str, game: str = "holdem.limit.2p.reverse_blinds", seed: int = 1) -> Path:
    records = random_hands(find_game(game)[1], 4, seed)
    path = folder / name
    path.write_text(f"# name/game/hands/seed m {game} 4 {seed}\n" + "".join(map(format_state_line, records)), "utf-8")
    return path


def test_each_problem_is_reported_once(tmp_path: Path) -> None:
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
        "PHH has no field for rake, so its files are written without it",
        str(tmp_path / "one.log"),
        str(tmp_path / "two.log"),
    ]


def test_unreadable_file_is_an_error_when_strict_or_alone(tmp_path: Path) -> None:
    (tmp_path / "three.log").write_text("# name/game/hands/seed m chess 4 1\nSTATE:0\n")
    with pytest.raises(LogError):
        convert(find([tmp_path]), (FORMATS["phh"],))
    _log(tmp_path, "one.log")
    with pytest.raises(LogError):
        convert(find([tmp_path], strict=True), (FORMATS["phh"],))


def test_hands_keep_their_currency(tmp_path: Path) -> None:
    genuine = Path(__file__).parent / "pokerstars" / "genuine" / "heads-up-limit.txt"
    text = genuine.read_text("utf-8")
    euros = text.replace("$", "€").replace("#27", "#28")
    path = tmp_path / "hands.txt"
    path.write_text(f"{text}\n\n{euros}\n\n", "utf-8")
    warnings: list[ExportWarning] = []
    formats = tuple(FORMATS.values())
    convert(find([path]), formats, folder=tmp_path / "kept", on_warning=warnings.append)
    assert warnings == []
    first_lines = [path.read_text("utf-8").split("\r\n")[0] for path in sorted((tmp_path / "kept").glob("HH*"))]
    assert [line[line.index("(") : line.index(")") + 1] for line in first_lines] == ["($2/$4 USD)", "(€2/€4 EUR)"]
    phh = (tmp_path / "kept" / "Io III.phhs").read_text("utf-8")
    assert [line for line in phh.splitlines() if "currency" in line] == ['currency = "USD"', 'currency = "EUR"']
    ohh = (tmp_path / "kept" / "Io III.OHH").read_text("utf-8")
    assert [ohh.count(f'"currency":"{code}"') for code in ("USD", "EUR")] == [1, 1]
    options = ExportOptions(currency="GBP", keeps_currency=False)
    convert(find([path]), formats[:1], options, folder=tmp_path / "other", on_warning=warnings.append)
    assert [warning.problem for warning in warnings] == [
        f"amounts in {code} are written as GBP and not converted; leave the currency out to keep it"
        for code in ("EUR", "USD")
    ]


def test_unsupported_currency_is_reported(tmp_path: Path) -> None:
    genuine = Path(__file__).parent / "pokerstars" / "genuine" / "heads-up-limit.txt"
    path = tmp_path / "hands.txt"
    path.write_text(genuine.read_text("utf-8").replace("$2/$4)", "$2/$4 CAD)"), "utf-8")
    warnings: list[ExportWarning] = []
    convert(find([path]), (FORMATS["pokerstars"],), folder=tmp_path / "out", on_warning=warnings.append)
    assert [warning.problem for warning in warnings] == [
        "1 hand cannot be written as PokerStars hand history: hand 27000000001 is played for CAD, and a PokerStars "
        "hand history is in USD, EUR, GBP or play money"
    ]


def test_each_file_written_is_reported_once(tmp_path: Path) -> None:
    genuine = (Path(__file__).parent / "pokerstars" / "genuine" / "six-max.txt").read_text("utf-8")
    for number in range(3):
        (tmp_path / f"{number}.txt").write_text(genuine.replace("Hand #20", f"Hand #3{number}"), "utf-8")
    written: list[tuple[str, int]] = []
    convert(
        find([tmp_path]),
        (FORMATS["phh"], FORMATS["ohh"]),
        folder=tmp_path / "out",
        on_written=lambda path, hands: written.append((path.name, hands)),
    )
    assert written == [("Aludra II.phhs", 3), ("Aludra II.OHH", 3)]
