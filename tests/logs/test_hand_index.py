"""Hands looked up by number, compared with the readers of whole files."""

from __future__ import annotations

import lzma
from pathlib import Path

import pytest

from logs.acpc_log.reader import read_log
from logs.errors import LogError, NoSuchHandError
from logs.hand_index import HandIndex, open_hands
from logs.hand_source import find
from logs.phh import format_phhs
from logs.record import HandRecord
from logs.transaction_log import format_comment, format_transaction
from protocol import find_game
from tests.logs.hands import log_lines, random_hands

NOLIMIT = "holdem.nolimit.2p.reverse_blinds"


def _write(folder: Path, records: list[HandRecord], game: str, name: str = "m1", *, append: bool = False) -> Path:
    path = folder / f"{name}.log"
    mode = "a" if append else "w"
    with (
        path.open(mode) as log,
        path.with_suffix(".tlog").open(mode) as tlog,
        path.with_suffix(".comments").open(mode) as said,
    ):
        log.write("".join(log_lines(records, find_game(game)[0])))
        for record in records:
            actions = [action for taken in record.betting.rounds for _, action in taken]
            for action, times in zip(actions if record.times else (), record.times, strict=True):
                tlog.write(format_transaction(action, record.hand_number, *times))
            for comment in record.comments:
                said.write(format_comment(record.hand_number, comment))
    return path


def _open(path: Path) -> HandIndex:
    (file,) = find([path]).files
    return open_hands(file)


@pytest.mark.sampled
@pytest.mark.parametrize("game", ["kuhn3", "leduc", "limit", "nolimit", "nolimit6"])
@pytest.mark.parametrize("count", [1, 2, 64, 65, 130])
def test_hands_by_number_equal_those_of_the_whole_file(tmp_path: Path, game: str, count: int) -> None:
    path = _write(tmp_path, random_hands(game, count, with_notes=True), game)
    expected = {record.hand_number: record for record in read_log(path, times=True)}
    assert len(expected) == count
    with _open(path) as hands:
        (match,) = hands.matches
        assert match.count == count
        for number in [*expected, *reversed(expected)]:
            assert match.hand(number) == expected[number]
        numbers = list(expected)
        assert match.page(0, 10**6) == numbers
        assert [match.page(at, 50) for at in range(0, count, 50)] == [
            numbers[at : at + 50] for at in range(0, count, 50)
        ]
        for number in (-1, count, count + 1000):
            with pytest.raises(NoSuchHandError):
                match.hand(number)
        near = [(number - 1 if number else None, number + 1 if number < count - 1 else None) for number in numbers]
        assert [match.around(number) for number in numbers] == near
        assert [match.index(number) for number in numbers] == list(range(count))


def test_matches_in_one_log_and_numbers_with_gaps(tmp_path: Path) -> None:
    first, second = random_hands("leduc", 90), random_hands("leduc", 70, seed=2)
    path = _write(tmp_path, first, "leduc")
    _write(tmp_path, second[::3], "leduc", append=True)
    expected = list(read_log(path))
    with _open(path) as hands:
        first_match, second_match = hands.matches
        assert [first_match.hand(number) for number in first_match.page(0, 100)] == expected[:90]
        assert [second_match.hand(number) for number in second_match.page(0, 100)] == expected[90:]
        assert second_match.around(3) == (0, 6)
        assert second_match.around(4) == (3, 6)
        assert [second_match.index(number) for number in second_match.page(0, 100)] == list(range(second_match.count))
        with pytest.raises(NoSuchHandError, match="no hand 4"):
            second_match.hand(4)


def test_a_log_that_grows(tmp_path: Path) -> None:
    records = random_hands("nolimit", 150, with_notes=True)
    text = "".join(log_lines(records, NOLIMIT, score=False))
    path = tmp_path / "m1.log"
    path.write_text("")
    with _open(path) as hands:
        assert not hands.matches
        for end in range(0, len(text), 97):
            path.write_text(text[:end])
            hands.refresh()
        path.write_text(text)
        hands.refresh()
        (match,) = hands.matches
        assert match.count == 150
        assert [match.hand(number) for number in range(150)] == list(read_log(path))
        path.write_text("".join(log_lines(records[:3], NOLIMIT)))
        hands.refresh()
        assert hands.matches[0].count == 3


def test_a_damaged_line_is_refused_by_itself(tmp_path: Path) -> None:
    path = _write(tmp_path, random_hands("leduc", 40), "leduc")
    lines = path.read_text().splitlines(keepends=True)
    at = next(i for i, line in enumerate(lines) if line.startswith("STATE:17:"))
    lines[at] = "STATE:17:zz:\x00:0|0:Ann|Bob\n"
    path.write_text("".join(lines))
    with _open(path) as hands:
        (match,) = hands.matches
        assert match.hand(16).hand_number == 16
        with pytest.raises(LogError, match="the line of hand 17 is damaged"):
            match.hand(17)


def test_damaged_companions_lose_only_times_and_comments(tmp_path: Path) -> None:
    records = random_hands("leduc", 60, with_notes=True)
    path = _write(tmp_path, records, "leduc")
    whole = list(read_log(path, times=True))
    path.with_suffix(".tlog").write_bytes(b"\xff" * 70 + b"\nc " + b"9" * 5000 + b" 1.000000 1.000000\n")
    comments = path.with_suffix(".comments")
    comments.write_text(comments.read_text().replace('"seat"', '"player_seat"', 5))
    with _open(path) as hands:
        hands_read = [hands.matches[0].hand(number) for number in range(60)]
    assert not any(record.times for record in hands_read)
    assert [record.comments for record in hands_read] == [()] * 13 + [record.comments for record in whole[13:]]


@pytest.mark.parametrize("ending", ["log.xz", "phhs"])
def test_other_files_are_skipped(tmp_path: Path, ending: str) -> None:
    records = random_hands("nolimit", 80)
    path = tmp_path / f"m1.{ending}"
    if ending == "phhs":
        path.write_text("".join(format_phhs(records)))
    else:
        with lzma.open(path, "wt") as file:
            file.write("".join(log_lines(records, NOLIMIT)))
    with _open(path) as hands:
        (match,) = hands.matches
        assert match.count == 80
        assert [match.hand(number).values for number in match.page(0, 80)] == [record.values for record in records]
        assert match.around(0) == (None, 1)
        assert match.around(79) == (78, None)
        assert match.index(79) == 79
        with pytest.raises(NoSuchHandError):
            match.hand(80)
