"""Logs read in parts have the same hands and the same problems as whole logs."""

from __future__ import annotations

from pathlib import Path

import pytest

from logs import HandRecord
from logs.acpc_log.parts import cut_log, cut_logs, only_score
from logs.acpc_log.reader import read_log
from logs.errors import LogProblem
from tests.logs.hands import log_lines, random_hands


def read_in_parts(path: Path, parts: int) -> tuple[list[HandRecord], list[LogProblem]]:
    problems: list[LogProblem] = []
    records = [r for part in cut_log(path, parts) for r in read_log(path, on_problem=problems.append, part=part)]
    return records, problems


def write(path: Path, lines: list[str]) -> Path:
    path.write_text("".join(lines), encoding="utf-8", errors="surrogateescape", newline="")
    return path


LINES = log_lines(random_hands("limit", 60), "holdem.limit.2p.reverse_blinds.game")
SIX = log_lines(random_hands("nolimit6", 60), "holdem.nolimit.6p.game")


@pytest.mark.parametrize("lines", [LINES, SIX], ids=["two players", "six players"])
@pytest.mark.parametrize("parts", [1, 3, 200])
def test_the_parts_give_the_hands_of_the_whole(tmp_path: Path, lines: list[str], parts: int) -> None:
    path = write(tmp_path / "match.log", lines)
    records, problems = read_in_parts(path, parts)
    assert problems == []
    whole = list(read_log(path))
    assert len(records) == len(whole) == 60
    assert all(one == other for one, other in zip(records, whole, strict=True))


@pytest.mark.parametrize("parts", [1, 2, 5, 1000])
def test_the_parts_are_the_file(tmp_path: Path, parts: int) -> None:
    path = write(tmp_path / "match.log", LINES)
    data = path.read_bytes()
    cuts = cut_log(path, parts)
    assert b"".join(data[part.start : part.end] for part in cuts) == data
    assert len(cuts) <= parts
    for part in cuts:
        assert part.start == 0 or data[part.start - 1 : part.start] == b"\n"
        assert part.lines_before == data[: part.start].count(b"\n")
        assert part.header == (LINES[0] if part.start else "")


def test_a_gap_at_a_cut_is_noticed(tmp_path: Path) -> None:
    path = write(tmp_path / "match.log", LINES)
    (first, second) = cut_log(path, 2)
    data = path.read_bytes()
    cut = first.lines_before + data[: second.start].count(b"\n")
    path = write(tmp_path / "gap.log", LINES[:cut] + LINES[cut + 1 :])
    # Cut at the same place: the first part is the same.
    part = cut_log(path, 2)[1]._replace(
        start=second.start, lines_before=second.lines_before, next_hand=second.next_hand
    )
    problems: list[LogProblem] = []
    list(read_log(path, on_problem=problems.append, part=part))
    number = second.next_hand
    assert [problem.problem for problem in problems] == [f"hand {number} is missing before this one"]
    assert problems[0].line_number == second.lines_before + 1


def test_a_part_knows_the_match_of_the_header_before_it(tmp_path: Path) -> None:
    other = ["# name/game/hands/seed other kuhn.limit.2p.game 80 1\n", *log_lines(random_hands("kuhn", 80))[4:]]
    path = write(tmp_path / "two.log", LINES + other)
    for parts in (2, 3, 9):
        records, problems = read_in_parts(path, parts)
        assert problems == []
        assert [record.match_name for record in records] == ["match"] * 60 + ["other"] * 80
        assert {record.game.num_rounds for record in records[60:]} == {1}


# ---- the score


@pytest.mark.parametrize(
    "lines",
    [LINES[:-1], LINES + LINES[-1:], LINES + LINES, [*LINES[:-1], "SCORE:one|two:Ann|Bob\n"]],
    ids=["none", "two", "two matches", "damaged"],
)
def test_no_score_that_can_be_checked(tmp_path: Path, lines: list[str]) -> None:
    assert only_score(write(tmp_path / "match.log", lines)) is None


@pytest.mark.parametrize("parts", [2, 3, 7])
def test_logs_of_the_same_cards_are_cut_at_the_same_hands(tmp_path: Path, parts: int) -> None:
    """Logs of different length, with a share of the hands, and with missing hands."""
    names = ("limit", "nolimit6")
    paths = [write(tmp_path / f"{name}.log", log_lines(random_hands(name, 60), "none.game")) for name in names]
    late = random_hands("limit", 30, first_hand=25)
    paths.append(write(tmp_path / "late.log", log_lines(late[:10] + late[20:], "none.game")))
    cuts = cut_logs(paths, parts)
    assert {len(of_log) for of_log in cuts} == {parts}
    hands: list[set[int]] = [set() for _ in range(parts)]
    for path, of_log in zip(paths, cuts, strict=True):
        data = path.read_bytes()
        assert b"".join(data[part.start : part.end] for part in of_log) == data
        for part, numbers in zip(of_log, hands, strict=True):
            assert part.lines_before == data[: part.start].count(b"\n")
            lines = data[part.start : part.end].split(b"\n")
            numbers.update(int(line.split(b":")[1]) for line in lines if line.startswith(b"STATE:"))
    assert sorted(number for numbers in hands for number in numbers) == list(range(60))
