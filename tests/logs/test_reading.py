"""Hands from files and folders."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from logs import HandRecord, format_transaction
from logs.errors import DamagedLogError, LogError, LogProblem
from logs.formats import ExportFormat, ExportOptions
from logs.phh import PHH, format_phhs
from logs.pokerstars import POKERSTARS, format_pokerstars_file
from logs.reading import HandFile, find_hand_files, read_hands
from protocol import find_game
from tests.logs.hands import log_lines, random_hands

LOG = None


def write_log(path: Path, hands: list[HandRecord], game: str = "kuhn.limit.2p") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(log_lines(hands, game)))
    return path


def write_phh(path: Path, hands: list[HandRecord], **options: float) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(format_phhs(hands, ExportOptions(**options))))
    return path


def found(*paths: Path) -> list[tuple[str, ExportFormat | None]]:
    return [(Path(file.path).name, file.format) for file in find_hand_files(paths)]


def test_files_are_told_apart_by_their_names(tmp_path: Path) -> None:
    for name in ("a.log", "b.phh", "c.PHHS", "d.txt", "e"):
        (tmp_path / name).write_text("anything")
    assert found(*(tmp_path / name for name in ("e", "d.txt", "c.PHHS", "b.phh", "a.log"))) == [
        ("e", LOG), ("d.txt", LOG), ("c.PHHS", PHH), ("b.phh", PHH), ("a.log", LOG),
    ]  # fmt: skip
    assert find_hand_files([str(tmp_path / "e")]) == [HandFile(str(tmp_path / "e"), LOG)]


def test_a_folder_is_searched_for_logs(tmp_path: Path) -> None:
    hands = random_hands("kuhn", 3)
    for name in ("match.10.log", "match.2.log", "sub/b/match.log", "sub/a/match.LOG"):
        write_log(tmp_path / name, hands)
    write_phh(tmp_path / "match.phhs", random_hands("limit", 3))
    (tmp_path / "match.tlog").write_text("c 0 1.000001 1.000002\n")
    (tmp_path / "bot.log").write_text("2026-01-01 INFO started\n")
    (tmp_path / "result.json").write_text("{}")
    (tmp_path / "empty.log").write_text("")
    (tmp_path / "begun.log").write_text("# name/game")
    (tmp_path / "foreign.log").write_text("; remark\nSTATE:0:cc:As|Ks:1|-1:A|B\n")
    assert found(tmp_path) == [
        (name, LOG)
        for name in (
            "begun.log",
            "empty.log",
            "foreign.log",
            "match.2.log",
            "match.10.log",
            "match.LOG",
            "match.log",
        )
    ]


def test_a_folder_without_logs_is_searched_for_phh(tmp_path: Path) -> None:
    for name in ("10.phh", "9.phh", "sub/1.phhs"):
        write_phh(tmp_path / name, random_hands("limit", 1))
    (tmp_path / "bot.log").write_text("started\n")
    assert found(tmp_path) == [("9.phh", PHH), ("10.phh", PHH), ("1.phhs", PHH)]


def write_pokerstars(path: Path, hands: list[HandRecord]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(format_pokerstars_file(hands)), newline="")
    return path


def test_pokerstars_histories_are_known_by_their_first_lines(tmp_path: Path) -> None:
    hands = random_hands("limit", 2)
    text = write_pokerstars(tmp_path / "HH1.txt", hands).read_text()
    (tmp_path / "bom.txt").write_text("\ufeff" + text.replace("Hand", "Game"), "utf-8")
    (tmp_path / "history.hh").write_text(text)
    (tmp_path / "mail.txt").write_text("Transcript for your last 2 hands\n\n" + text)
    (tmp_path / "notes.txt").write_text("They play PokerStars Hand #1 badly\n")
    (tmp_path / "HH2.txt.gz").write_bytes(gzip.compress(text.encode()))
    names = ("HH1.txt", "HH2.txt.gz", "bom.txt", "history.hh", "mail.txt")
    assert found(*(tmp_path / name for name in names)) == [(name, POKERSTARS) for name in names]
    assert found(tmp_path / "notes.txt") == [("notes.txt", LOG)]
    # In a folder only files with the usual ending are looked into.
    assert sorted(found(tmp_path)) == [(name, POKERSTARS) for name in names if name != "history.hh"]
    assert [len(list(read_hands([tmp_path / name], strict=True))) for name in names] == [2] * 5


def test_copies_of_hands_in_other_formats_are_not_counted_again(tmp_path: Path) -> None:
    hands = random_hands("limit", 2)
    write_pokerstars(tmp_path / "pokerstars" / "1.txt", hands)
    assert found(tmp_path) == [("1.txt", POKERSTARS)]
    write_phh(tmp_path / "phh" / "1.phhs", hands)
    assert found(tmp_path) == [("1.phhs", PHH)]
    write_log(tmp_path / "1.log", hands)
    assert found(tmp_path) == [("1.log", LOG)]


def test_folders_and_files_come_in_the_order_given(tmp_path: Path) -> None:
    for name in ("b/1.log", "a/1.log", "c.log"):
        write_log(tmp_path / name, random_hands("kuhn", 1))
    files = find_hand_files([tmp_path / "c.log", tmp_path / "b", tmp_path / "a"])
    assert [Path(file.path).relative_to(tmp_path).as_posix() for file in files] == ["c.log", "b/1.log", "a/1.log"]


def test_where_there_is_nothing(tmp_path: Path) -> None:
    with pytest.raises(LogError, match="there is no ACPC log, PHH file or PokerStars hand history in this folder"):
        find_hand_files([tmp_path])
    with pytest.raises(LogError, match="x: there is no such file or folder"):
        find_hand_files([tmp_path / "x"])
    with pytest.raises(LogError, match="there is no such file or folder"):
        list(read_hands([tmp_path / "x"]))


def test_hands_of_several_files_come_one_after_the_other(tmp_path: Path) -> None:
    kuhn, limit, leduc = random_hands("kuhn", 4), random_hands("limit", 3), random_hands("leduc", 2)
    write_log(tmp_path / "run" / "1.log", kuhn)
    write_log(tmp_path / "run" / "2.log", leduc, "leduc.limit.2p")
    write_phh(tmp_path / "x.phhs", limit)
    hands = list(read_hands([tmp_path / "run", tmp_path / "x.phhs"], strict=True))
    assert [hand.values for hand in hands] == [hand.values for hand in kuhn + leduc + limit]


def test_options_reach_the_readers(tmp_path: Path) -> None:
    kuhn = random_hands("kuhn", 3, with_notes=True)
    write_log(tmp_path / "1.log", kuhn, "unknown.game")
    (tmp_path / "1.tlog").write_text(
        "".join(
            format_transaction(action, hand.hand_number, *times)
            for hand in kuhn
            for (_, action), times in zip(hand.betting.rounds[0], hand.times, strict=True)
        )
    )
    (tmp_path / "1.err").write_text("TO 1 at 1.000001 MATCHSTATE:0:0::As|\nFROM 1 at 1.000002 # hm\n")
    hands = list(
        read_hands(
            [tmp_path / "1.log"], game=find_game("kuhn")[1], strict=True, times=True, transcript=tmp_path / "1.err"
        )
    )
    assert [hand.times for hand in hands] == [hand.times for hand in kuhn]
    assert [comment.text for comment in hands[0].comments] == ["# hm"]
    limit = random_hands("limit", 3)
    write_phh(tmp_path / "2.phhs", limit, chip_value=0.01)
    for hand, other in zip(read_hands([tmp_path / "2.phhs"], strict=True, chip_value=0.01), limit, strict=True):
        assert hand.values == other.values


def test_a_file_that_is_none_is_a_problem_among_others(tmp_path: Path) -> None:
    hands = random_hands("kuhn", 3)
    bad, good = tmp_path / "bad.txt", write_log(tmp_path / "good.log", hands)
    bad.write_text("hello\n")
    heard: list[LogProblem] = []
    back = list(read_hands([bad, good], on_problem=heard.append))
    assert len(back) == 3
    assert [str(problem) for problem in heard] == [
        f"{bad}, line 1, byte 1: the line does not belong in a log (skipped)",
        f"{bad}, line 1: not an ACPC log: it contains neither a header nor a hand (skipped)",
    ]
    # Nobody hears of problems, it is the only file, or nothing may be wrong: then it is an error.
    with pytest.raises(LogError, match="not an ACPC log"):
        list(read_hands([bad, good]))
    with pytest.raises(LogError, match="not an ACPC log"):
        list(read_hands([bad], on_problem=heard.append))
    with pytest.raises(DamagedLogError, match="the line does not belong in a log"):
        list(read_hands([bad, good], on_problem=heard.append, strict=True))


def test_problems_of_all_files_are_told(tmp_path: Path) -> None:
    for name in ("1.log", "2.log"):
        path = write_log(tmp_path / name, random_hands("kuhn", 5))
        path.write_text(path.read_text().replace("STATE:3:", "STATE:x:"))
    heard: list[LogProblem] = []
    assert len(list(read_hands([tmp_path], on_problem=heard.append))) == 8
    assert [Path(problem.path).name for problem in heard] == ["1.log", "2.log"]


def test_a_hand_survives_every_format(tmp_path: Path) -> None:
    written = random_hands("nolimit3", 20)
    write_log(tmp_path / "a" / "1.log", written, "holdem.nolimit.3p")
    first = list(read_hands([tmp_path / "a"], strict=True))
    write_phh(tmp_path / "b" / "1.phhs", first)
    second = list(read_hands([tmp_path / "b"], strict=True))
    write_log(tmp_path / "c" / "1.log", second, "holdem.nolimit.3p")
    third = list(read_hands([tmp_path / "c"], strict=True))
    assert (tmp_path / "a" / "1.log").read_text() == (tmp_path / "c" / "1.log").read_text()
    assert all(one == other for one, other in zip(first, third, strict=True))
