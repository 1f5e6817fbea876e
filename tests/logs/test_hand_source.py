"""Hands read from files and folders."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import pytest

from logs import HandRecord, format_transaction
from logs.errors import DamagedLogError, LogError, LogProblem, ProblemKind
from logs.formats.export_format import ExportFormat, ExportOptions
from logs.hand_index import open_hands
from logs.hand_source import HandFile, find
from logs.phh import PHH, format_phhs
from logs.pokerstars import POKERSTARS, format_pokerstars_file
from logs.tracker.many_files import count_hands
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


def formats_in(*paths: Path) -> list[tuple[str, ExportFormat | None]]:
    return [(Path(file.path).name, file.format) for file in find(paths).files]


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
    assert formats_in(tmp_path) == [
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
    ] + [("match.phhs", PHH)]


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
    assert formats_in(*(tmp_path / name for name in names)) == [(name, POKERSTARS) for name in names]
    assert formats_in(tmp_path / "notes.txt") == [("notes.txt", LOG)]
    # In a folder, only files with the usual suffix are examined.
    assert sorted(formats_in(tmp_path)) == [(name, POKERSTARS) for name in names if name != "history.hh"]
    assert [len(list(find([tmp_path / name], strict=True).hands())) for name in names] == [2] * 5


def test_copies_of_hands_in_other_formats_are_not_counted_again(tmp_path: Path) -> None:
    hands = random_hands("limit", 2)
    history = write_pokerstars(tmp_path / "pokerstars" / "1.txt", hands)
    assert formats_in(tmp_path) == [("1.txt", POKERSTARS)]
    phh = write_phh(tmp_path / "phh" / "1.phhs", hands)
    assert read_strictly(tmp_path) == (2, [f"{history}: it was exported from {phh} (each counts once)"])
    write_log(tmp_path / "1.log", hands, "holdem.limit.2p.reverse_blinds")
    # A run's own exports are not read as additional hands.
    assert formats_in(tmp_path) == [("1.log", LOG)]
    elsewhere = phh.rename(tmp_path / "renamed.phhs")
    assert read_strictly(tmp_path) == (
        2,
        [f"{elsewhere}: it was exported from {tmp_path / '1.log'} (each counts once)"],
    )


def read_strictly(*paths: Path) -> tuple[int, list[str]]:
    """Return the number of hands read strictly, and the problems."""
    problems: list[LogProblem] = []
    return len(list(find(paths, strict=True, on_problem=problems.append).hands())), [*map(str, problems)]


def test_folders_and_files_come_in_the_order_given(tmp_path: Path) -> None:
    for name in ("b/1.log", "a/1.log", "c.log"):
        write_log(tmp_path / name, random_hands("kuhn", 1))
    files = find([tmp_path / "c.log", tmp_path / "b", tmp_path / "a"]).files
    assert [Path(file.path).relative_to(tmp_path).as_posix() for file in files] == ["c.log", "b/1.log", "a/1.log"]


def test_missing_files_and_empty_folders_are_refused(tmp_path: Path) -> None:
    with pytest.raises(LogError, match="there is no ACPC log, PHH file or PokerStars hand history in this folder"):
        find([tmp_path])
    with pytest.raises(LogError, match="x: there is no such file or folder"):
        find([tmp_path / "x"])
    with pytest.raises(LogError, match="there is no such file or folder"):
        list(find([tmp_path / "x"]).hands())


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
        find(
            [tmp_path / "1.log"], game=find_game("kuhn")[1], strict=True, times=True, transcript=tmp_path / "1.err"
        ).hands()
    )
    assert [hand.times for hand in hands] == [hand.times for hand in kuhn]
    assert [comment.text for comment in hands[0].comments] == ["# hm"]
    limit = random_hands("limit", 3)
    write_phh(tmp_path / "2.phhs", limit, chip_value=0.01)
    for hand, other in zip(find([tmp_path / "2.phhs"], strict=True, chip_value=0.01).hands(), limit, strict=True):
        assert hand.values == other.values


def test_unreadable_file_is_reported_among_others_and_refused_alone(tmp_path: Path) -> None:
    hands = random_hands("kuhn", 3)
    bad, good = tmp_path / "bad.txt", write_log(tmp_path / "good.log", hands)
    bad.write_text("hello\n")
    problems: list[LogProblem] = []
    back = list(find([bad, good], on_problem=problems.append).hands())
    assert len(back) == 3
    assert [str(problem) for problem in problems] == [
        f"{bad}, line 1: not recognised: it is neither an ACPC log nor a hand history that is read (skipped)"
    ]
    # Without a problem handler, as the only file, or when reading strictly, it is an error.
    with pytest.raises(LogError, match="not recognised"):
        list(find([bad, good]).hands())
    with pytest.raises(LogError, match="not recognised"):
        list(find([bad], on_problem=problems.append).hands())
    with pytest.raises(LogError, match="not recognised"):
        list(find([bad, good], on_problem=problems.append, strict=True).hands())


# ---- unusual files

SIX_MAX = (Path(__file__).parent / "pokerstars" / "genuine" / "six-max.txt").read_text("utf-8")


@pytest.mark.parametrize(
    "encode",
    [
        lambda text: "".join(f" {line}" for line in text.splitlines(keepends=True)).encode(),
        lambda text: text.encode("utf-16"),
        lambda text: b"\xfe\xff" + text.encode("utf-16-be"),
        lambda text: text.replace("\n", "\r\n").encode("utf-16-le"),
        lambda text: text.encode("utf-8-sig"),
    ],
    ids=["archive", "utf-16", "utf-16-be", "utf-16-le", "mark"],
)
@pytest.mark.parametrize("name", ["hands.txt"])
def test_pokerstars_texts_with_other_encodings_and_line_ends_are_read(
    tmp_path: Path, encode: Callable[[str], bytes], name: str
) -> None:
    (tmp_path / name).write_bytes(encode(SIX_MAX))
    (hand,) = find([tmp_path / name], strict=True).hands()
    assert hand.names_by_seat == ("river:rat 77", "Old Tom (ret.)", "€lena$", "b0b")
    assert hand.values == (-50.0, -4000.0, 13950.0, -9900.0)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_a_log_with_a_byte_order_mark_keeps_its_header(tmp_path: Path, encoding: str) -> None:
    hands = random_hands("kuhn", 3)
    log = write_log(tmp_path / "m.log", hands)
    log.write_text(log.read_text(), encoding)
    assert [hand.hand_number for hand in find([log], strict=True).hands()] == [0, 1, 2]
    with open_hands(*find([log]).files) as access:
        assert [match.count for match in access.matches] == [3]
    assert count_hands(find([log]), processes=2).hands == 3


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (SIX_MAX.upper().encode(), "it looks like a PokerStars hand history that another program converted"),
        (
            b"***** Hand History for Game 1 *****\n",
            "it looks like a hand history of PartyPoker: PokerKit converts it to",
        ),
        (b'{"ohh":{"spec_version":"1.4.7"}}\n', "it looks like Open Hand History, which can be written but not read"),
        (b"variant = 'NT'\nantes = [0, 0]\n", "it looks like PHH: give its name the ending .phh"),
        (b"<?xml version='1.0'?>\n<session>\n", "it is XML or HTML"),
        (bytes(range(256)) * 20, "it is not text"),
        (b"Dear Ann,\n" * 50, "not recognised: it is neither an ACPC log nor"),
        (b"Dear Ann,", "not recognised: it is neither an ACPC log nor"),
        (b"", "the file is empty"),
    ],
)
def test_a_file_of_another_kind_is_refused_in_one_sentence(tmp_path: Path, content: bytes, sentence: str) -> None:
    path = tmp_path / "x.txt"
    path.write_bytes(content)
    problems: list[LogProblem] = []
    with pytest.raises(LogError) as raised:
        list(find([path], on_problem=problems.append).hands())
    assert str(raised.value).startswith(f"{path}: {sentence}")
    assert problems == []


def test_folder_without_hands_names_a_foreign_text(tmp_path: Path) -> None:
    (tmp_path / "hh.txt").write_text(SIX_MAX.upper())
    with pytest.raises(LogError, match=r"in this folder; of hh\.txt: it looks like a PokerStars hand history"):
        find([tmp_path])


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes with names")
def test_only_regular_files_are_read(tmp_path: Path) -> None:
    (tmp_path / "hh.txt").write_text(SIX_MAX)
    for name in ("a.log", "a.log.gz", "b.phh", "c.txt"):
        os.mkfifo(tmp_path / name)
        with pytest.raises(LogError, match=f"{name}: this is not a regular file"):
            find([tmp_path / name])
    assert formats_in(tmp_path) == [("hh.txt", POKERSTARS)]
    log = write_log(tmp_path / "m.log", random_hands("kuhn", 1))
    with pytest.raises(LogError, match="this is not a regular file"):
        list(find([log], transcript=tmp_path / "a.log").hands())


@pytest.mark.parametrize("ending", ["", ".gz"])
@pytest.mark.parametrize("name", ["m.log", "m.phhs", "m.txt"])
def test_a_line_that_does_not_end_ends_the_reading(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, ending: str
) -> None:
    monkeypatch.setattr("logs.files._MAX_LINE_CHARACTERS", 3_000_000)
    text = "".join(log_lines(random_hands("kuhn", 3), "kuhn.limit.2p")[:-1])
    text = {
        "m.log": text,
        "m.phhs": "".join(format_phhs(random_hands("limit", 3))),
        "m.txt": "".join(SIX_MAX.replace("Hand #", f"Hand #{i}") for i in (1, 2, 3)),
    }[name]
    path = tmp_path / f"{name}{ending}"
    for before, hands in ((text, 3), ("", 0)):
        content = before.encode() + b"x" * 6_000_000
        path.write_bytes(gzip.compress(content, 1) if ending else content)
        problems: list[LogProblem] = []
        if hands:
            assert len(list(find([path], on_problem=problems.append).hands())) == hands
            (problem,) = problems
            assert problem.problem == "a line does not end within 3,000,000 characters"
            assert problem.kind is ProblemKind.CUT
            with pytest.raises(DamagedLogError):
                list(find([path], strict=True).hands())
        elif name != "m.txt":
            with pytest.raises(LogError, match="a line does not end within 3,000,000 characters"):
                list(find([path], on_problem=problems.append).hands())


def test_log_without_a_final_line_end_is_indexed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("logs.hand_index._MAX_SKIPPED_BYTES", 100_000)
    lines = log_lines(random_hands("kuhn", 3), "kuhn.limit.2p")[:-1]
    path = tmp_path / "m.log"
    path.write_text("".join([*lines[:-1], "x" * 50_000 + "\n", lines[-1], "x" * 500_000]))
    with open_hands(HandFile(str(path))) as access:
        access.refresh()
        assert access.matches[0].page(0, 9) == [0, 1, 2]


@pytest.mark.parametrize("name", ["m.log.gz", "m.phhs.gz", "m.txt.gz"])
def test_truncated_file_is_read_up_to_the_cut(tmp_path: Path, name: str) -> None:
    hands = random_hands("limit", 150)
    texts = {
        "m.log.gz": "".join(log_lines(hands, "holdem.limit.2p.reverse_blinds")),
        "m.phhs.gz": "".join(format_phhs(hands)),
        "m.txt.gz": "".join(format_pokerstars_file(hands)),
    }
    data = gzip.compress(texts[name].encode())
    (tmp_path / name).write_bytes(data[: len(data) // 2])
    problems: list[LogProblem] = []
    back = list(find([tmp_path / name], on_problem=problems.append).hands())
    assert 35 < len(back) < 150
    assert [hand.betting.rounds for hand in back] == [hand.betting.rounds for hand in hands[: len(back)]]
    (cut,) = [problem for problem in problems if problem.kind is ProblemKind.CUT]
    assert cut.problem.startswith("it cannot be uncompressed to its end: ")
    # The second problem is the truncated hand.
    assert len(problems) <= 2
    with pytest.raises(DamagedLogError, match="it cannot be uncompressed to its end"):
        list(find([tmp_path / name], strict=True).hands())


# ---- money

CENTS = """[1]
variant = 'NT'
antes = [0, 0, 0]
blinds_or_straddles = [0.25, 0.50, 0.00]
min_bet = 0.50
starting_stacks = [
  1655.83,
  50.0, 102.15,
]
actions = ['d dh p1 ????', 'd dh p2 ????', 'd dh p3 ????', 'p3 cbr 1.75', 'p1 f', 'p2 cc', 'd db 2c7dKh', 'p2 f']
hand = 1001
players = ['Ann', 'Bob', 'Cyd']
finishing_stacks = [1655.58, 48.25, 104.15]
"""


def test_chip_value_follows_from_the_amounts(tmp_path: Path) -> None:
    whole = CENTS.replace("0.25, 0.50", "1, 2").replace("0.50", "2").replace("1655.83", "1655").replace("102.15", "100")
    whole = whole.replace("cbr 1.75", "cbr 6").replace("finishing_stacks = [1655.58, 48.25, 104.15]", "_x = 0.123")
    for name, text, value in (
        ("cents", CENTS, "0.01"),
        ("whole", whole, "1"),
        ("tenths", whole.replace("cbr 6", "cbr 6.5"), "0.01"),
        ("mills", CENTS.replace("cbr 1.75", "cbr 1.755"), "0.001"),
        ("parts", CENTS.replace("cbr 1.75", "cbr 1.7555555"), "0.000001"),
    ):
        path = tmp_path / f"{name}.phh"
        path.write_text(text)
        (file,) = find([path]).files
        assert file.chip_value == Decimal(value), name
    (hand,) = find([tmp_path / "cents.phh"], strict=True).hands()
    assert hand.game.stacks == (165583, 5000, 10215)
    assert hand.values == (-25.0, -175.0, 200.0)
    assert "".join(format_phhs([hand], ExportOptions(chip_value="0.01"))).count("1655.83") == 1


def test_files_read_together_share_a_chip_value(tmp_path: Path) -> None:
    whole = CENTS.replace(".83", "").replace(".15", "").replace("0.25, 0.50", "1, 2").replace("0.50", "2")
    (tmp_path / "1.phh").write_text(CENTS)
    (tmp_path / "2.phh").write_text(whole.replace("1.75", "6").partition("finishing")[0])
    assert [hand.values for hand in find([tmp_path], strict=True).hands()] == [(-25, -175, 200), (-100, -600, 700)]
    assert count_hands(find([tmp_path])).hands == 2
    assert [hand.values[2] for hand in find([tmp_path], strict=True, chip_value=0.001).hands()] == [2000, 7000]
    problems: list[LogProblem] = []
    assert len(list(find([tmp_path], on_problem=problems.append, chip_value=1).hands())) == 1
    assert [problem.problem for problem in problems] == [
        "starting_stacks holds 1655.83, which is not a whole number of chips of 1: give a smaller chip value"
    ]
