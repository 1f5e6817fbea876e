"""Clean logs read as columns give the counts of single hands; unclean ones are read by hand."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from logs import HandRecord
from logs.errors import LogProblem, UncleanLogError
from logs.hand_source import find
from logs.tracker import count_hands, many_files, statistics_of
from logs.tracker.clean_logs import clean_columns
from logs.tracker.hand_counts import Sum
from protocol import find_game
from tests.logs.hands import NAMES, log_lines, random_hands

MATCHES = {"limit": 150, "nolimit": 100, "limit3": 100, "nolimit6": 30, "limit10": 20}


def write(folder: Path, matches: list[list[HandRecord]], game: str) -> list[Path]:
    folder.mkdir(exist_ok=True)
    paths = []
    for letter, records in zip("abcdefghij", matches, strict=False):
        paths.append(folder / f"match.{letter}.log")
        paths[-1].write_text("".join(log_lines(records, f"{find_game(game)[0]}.game")), newline="")
    return paths


def rotations(game: str, hands: int) -> list[list[HandRecord]]:
    players = find_game(game)[1].num_players
    names = NAMES[:players]
    return [random_hands(game, hands, 7, names=(*names[turn:], *names[:turn])) for turn in range(min(players, 3))]


def close(first: Any, second: Any) -> bool:
    """Compare numbers up to rounding; hands of equal strength may come in any order."""
    if isinstance(first, dict):
        return first.keys() == second.keys() and all(close(value, second[key]) for key, value in first.items())
    if isinstance(first, list | tuple):
        if first and isinstance(first[0], dict) and "hand" in first[0]:
            first, second = (sorted(rows, key=lambda row: str(row["hand"])) for rows in (first, second))
        return len(first) == len(second) and all(map(close, first, second))
    # `pytest.approx` is too slow for hundreds of thousands of numbers.
    return math.isclose(first, second, abs_tol=1e-4) if isinstance(first, float) else bool(first == second)


def count_files(paths: list[Path], at_once: bool, monkeypatch: pytest.MonkeyPatch) -> tuple[Any, Any, list[LogProblem]]:
    """Return the statistics, with curves, the biggest pots, and the problems."""
    problems: list[LogProblem] = []
    with monkeypatch.context() as patch:
        if not at_once:
            patch.setattr(many_files, "_may_be_clean", lambda group: False)
        counts = count_hands(find(paths, on_problem=problems.append))
    return statistics_of(counts).model_dump(), counts.big_pots, problems


@pytest.mark.sampled
@pytest.mark.parametrize("game", MATCHES)
@pytest.mark.parametrize("hands_at_a_time", [64, 1 << 13])
def test_the_counts_are_those_of_single_hands(
    game: str, hands_at_a_time: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("logs.tracker.clean_logs._BATCH_HANDS", hands_at_a_time)
    paths = write(tmp_path / "run", rotations(game, MATCHES[game]), game)
    statistics, pots, problems = count_files(paths, True, monkeypatch)
    expected, expected_pots, _ = count_files(paths, False, monkeypatch)
    assert close(statistics, expected)
    assert pots == expected_pots
    assert problems == []
    # The reader of single hands was not used.
    *_, (_, net) = clean_columns([str(path) for path in paths], (), None)
    won = {bot["name"]: bot["net_chips"] for bot in statistics["bots"]}
    assert {name: sum(of[name] for of in net) for name in won} == pytest.approx(won)


def test_bound_of_remembered_bettings_changes_no_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("logs.tracker.clean_logs._BATCH_HANDS", 50)
    monkeypatch.setattr("logs.tracker.clean_logs._MAX_WAYS", 20)
    paths = write(tmp_path / "run", rotations("limit", 60), "limit")
    assert close(count_files(paths, True, monkeypatch)[0], count_files(paths, False, monkeypatch)[0])


@pytest.mark.slow
@pytest.mark.parametrize("game", ["limit", "nolimit3"])
@pytest.mark.parametrize("trial", [0, 1])
def test_damage_is_counted_and_reported_as_hand_by_hand(
    game: str, trial: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Change any byte of a log, remove, double or move a line, or cut off the end."""
    chance = random.Random(f"{game} {trial}")
    paths = write(tmp_path / "run", rotations(game, 24), game)
    for _ in range(6):
        path = chance.choice(paths)
        whole = path.read_text()
        lines = whole.splitlines(keepends=True)
        at = chance.randrange(len(lines))
        match chance.randrange(6):
            case 0:
                del lines[at]
            case 1:
                lines.insert(at, lines[at])
            case 2:
                lines.insert(chance.randrange(len(lines)), lines.pop(at))
            case 3:
                lines[-1] = lines[-1][: chance.randrange(len(lines[-1]))]
            case _:
                column = chance.randrange(len(lines[at]) - 1)
                changed = chance.choice("0159|:/cfrAKhs\t\u00e9 -.")
                lines[at] = lines[at][:column] + changed + lines[at][column + 1 :]
        path.write_text("".join(lines), newline="")
        statistics, pots, problems = count_files(paths, True, monkeypatch)
        expected, expected_pots, expected_problems = count_files(paths, False, monkeypatch)
        assert close(statistics, expected)
        assert (pots, problems) == (expected_pots, expected_problems)
        path.write_text(whole, newline="")


def _changed(old: str, new: str, wanted: Callable[[int], bool]) -> Callable[[list[str]], list[str]]:
    """Return lines with some of them changed, by index."""
    return lambda lines: [line.replace(old, new, 1) if wanted(i) else line for i, line in enumerate(lines)]


def _with_cards(change: Callable[[str], str], line: str) -> str:
    fields = line.split(":")
    return ":".join([*fields[:3], change(fields[3]), *fields[4:]]) if fields[0] == "STATE" else line


FAULTS: dict[str, Callable[[list[str]], list[str]]] = {
    "a card twice": lambda lines: [*lines[:90], _with_cards(lambda cards: cards[:2] * 2 + cards[4:], lines[90])],
    "cards of one that are not known": lambda lines: [
        _with_cards(lambda cards: cards[cards.find("|") :], line) if i % 40 == 7 else line
        for i, line in enumerate(lines)
    ],
    "other values": _changed("|-", "|-1", lambda i: i in (70, 90)),
    "values with decimals": _changed("0:", "0.0:", lambda i: i > 90),
    "hands missing": lambda lines: [*lines[:80], *lines[100:120], *lines[121:]],
    "hands in another order": lambda lines: [*lines[:80], *lines[100:120], *lines[80:100], *lines[120:]],
    "betting that goes on": _changed(":r", ":rc", lambda i: i > 100),
    "another player": _changed("Ann", "Zoe", lambda i: i == 90),
    "line ends of two characters": _changed("\n", "\r\n", bool),
    "a last line without its end": lambda lines: [*lines[:100], lines[100].rstrip()],
    "remarks": lambda lines: [*lines[:70], "# here\n", "\n", *lines[70:]],
    "another match behind the first": lambda lines: [*lines[:-1], *lines[:60]],
    "the time behind the names": _changed("\n", " # 1479132064.35\n", lambda i: i >= 4),
    "a line without end": lambda lines: [*lines[:69], lines[69][1:], *lines[70:90], "x" * (1 << 24) + "y" * (1 << 17)],
}


@pytest.mark.sampled
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("files", [1, 2])
def test_faults_are_counted_and_reported_as_hand_by_hand(
    fault: str, files: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Test the first file and the last of those with the same cards."""
    monkeypatch.setattr("logs.tracker.clean_logs._BATCH_HANDS", 64)
    paths = write(tmp_path / "run", rotations("limit3", 130)[:files], "limit3")
    whole = paths[0].read_text()
    for path in dict.fromkeys((paths[0], paths[-1])):
        paths[0].write_text(whole, newline="")
        path.write_text("".join(FAULTS[fault](path.read_text().splitlines(keepends=True))), newline="")
        statistics, pots, problems = count_files(paths, True, monkeypatch)
        expected, expected_pots, expected_problems = count_files(paths, False, monkeypatch)
        assert close(statistics, expected)
        assert (pots, problems) == (expected_pots, expected_problems)


def test_all_in_hands_of_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    game = find_game("limit")[1]._replace(stacks=(60, 60))
    path = tmp_path / "match.log"
    path.write_text("".join(log_lines(random_hands(game, 80, fold=0.02))), newline="")
    at_once = count_hands(find([path], game=game))
    monkeypatch.setattr(many_files, "_may_be_clean", lambda group: False)
    one_by_one = count_hands(find([path], game=game))
    assert close(statistics_of(at_once).model_dump(), statistics_of(one_by_one).model_dump())
    assert at_once.players["Ann"].sums[Sum.ADJUSTED_HANDS]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("STATE:5:", "STATE:6:"),  # a hand is missing
        ("STATE:5:", "STATE:05:"),
        ("SCORE:", "SCORE:1"),
        ("Ann|Bob\nSTATE:6:", "Ann|Ann\nSTATE:6:"),
        ("STATE:5:", "# a comment\n# name/game/hands/seed m holdem.limit.2p.reverse_blinds.game 9 9\nSTATE:5:"),
        ("SCORE:", "STATE:"),
        ("STATE:5:", "\0STATE:5:"),
        ("STATE:5:", "# " + "x" * (1 << 14) + "\nSTATE:5:"),
    ],
)
def test_unclean_log_is_refused(old: str, new: str, tmp_path: Path) -> None:
    (path,) = write(tmp_path / "run", [random_hands("limit", 60, names=("Ann", "Bob"))], "limit")
    text = path.read_text()
    assert old in text or old.startswith("Ann")
    path.write_text(text.replace(old, new, 1) if old in text else text.replace("Bob|Ann\nSTATE:6", "Bob|Bob\nSTATE:6"))
    with pytest.raises(UncleanLogError):
        list(clean_columns([str(path)], (), None))


def test_hand_numbers_that_are_too_high(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (record,) = random_hands("limit", 1)
    seats = record.seats, record.seats[::-1]
    records = [replace(record, hand_number=(1 << 32) - 30 + at, seats=seats[at % 2]) for at in range(60)]
    paths = write(tmp_path / "run", [records], "limit")
    with pytest.raises(UncleanLogError):
        list(clean_columns([str(path) for path in paths], (), None))
    statistics, _, problems = count_files(paths, True, monkeypatch)
    assert close(statistics, count_files(paths, False, monkeypatch)[0])
    assert len(problems) >= 30


@pytest.mark.parametrize("processes", [1, 2])
def test_logs_without_hands(processes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "match.log"
    header = "".join(log_lines([], "holdem.limit.2p.reverse_blinds.game", score=False))
    path.write_text(header + "# nothing was played\n" * 1000)
    with pytest.raises(UncleanLogError):
        list(clean_columns([str(path)], (), None))
    monkeypatch.setattr(many_files, "_MIN_BYTES", 0)
    monkeypatch.setattr(many_files, "_MIN_PART_BYTES", 10_000)
    assert not count_hands(find([path]), processes=processes).hands


@pytest.mark.parametrize("game", ["kuhn", "leduc"])
def test_other_games_are_read_hand_by_hand(game: str, tmp_path: Path) -> None:
    paths = write(tmp_path / "run", [random_hands(game, 60)], game)
    with pytest.raises(UncleanLogError):
        list(clean_columns([str(path) for path in paths], (), None))


def test_parts_of_big_logs_in_other_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = write(tmp_path / "run", rotations("limit", 200), "limit")
    expected, expected_pots, _ = count_files(paths, False, monkeypatch)
    monkeypatch.setattr(many_files, "_MIN_BYTES", 0)
    monkeypatch.setattr(many_files, "_MIN_PART_BYTES", 10_000)
    problems: list[LogProblem] = []
    counts = count_hands(find(paths, on_problem=problems.append), processes=2)
    statistics = statistics_of(counts).model_dump()
    for bots in (statistics["bots"], expected["bots"]):
        for bot in bots:
            del bot["curve"]  # points depend on the boundaries of parts
    assert close(statistics, expected)
    assert counts.big_pots == expected_pots
    assert problems == []
