"""Files of a match: log, transactions, faults and comments."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dealer.match.events import FaultSeen
from dealer.match.faults import QUOTED_BYTES, Fault, FaultKind, Remedy
from dealer.match.writers import (
    HandTransactionWriter,
    LogWriter,
    TransactionWriter,
    format_fault,
    parse_fault,
    read_faults,
)
from dealer.run.match_files import MatchFiles, RecordPlan
from engine import CALL, RAISE, Seat, raise_to
from logs.acpc_log.reader import read_log
from logs.whole_file import LineFile
from tests.dealer.helpers import Board, game, make_setup, random_policy

FAULTS = st.builds(
    Fault,
    st.integers(0, 9).map(Seat),
    st.sampled_from(FaultKind),
    st.integers(-1, 2**40),
    st.binary(max_size=QUOTED_BYTES),
    st.sampled_from([remedy for remedy in Remedy if remedy is not Remedy.PLAYED]),
    st.none(),
) | st.builds(
    Fault,
    st.integers(0, 9).map(Seat),
    st.just(FaultKind.ILLEGAL_ACTION),
    st.integers(0, 2**40),
    st.binary(max_size=QUOTED_BYTES),
    st.just(Remedy.PLAYED),
    st.sampled_from([CALL, RAISE, raise_to(400)]),
)


@given(FAULTS)
def test_fault_is_one_line_and_survives_a_round_trip(fault: Fault) -> None:
    line = format_fault(fault)
    assert line.count("\n") == 1
    assert line.endswith("\n")
    assert line.isascii()
    assert parse_fault(line, 10) == fault


def test_long_line_of_a_fault_is_cut() -> None:
    fault = Fault(Seat(0), FaultKind.FLOOD, 1, b"x" * 10_000, Remedy.IGNORED)
    assert parse_fault(format_fault(fault), 1).line == b"x" * QUOTED_BYTES


NO_REMEDY = '{"seat": 0, "kind": "flood", "hand_number": 1, "line": "", "remedy": "played x"}'


@pytest.mark.parametrize(
    "line",
    [
        NO_REMEDY,
        NO_REMEDY.replace("played x", "shot"),
        NO_REMEDY.replace("played x", "ignored").replace('"seat": 0', '"seat": 2'),
        NO_REMEDY.replace("played x", "ignored").replace('"hand_number": 1', '"hand_number": Infinity'),
        "",
        "[]",
        "{}",
        "null",
        '{"kind": "no such"}',
        "{'kind': 1}",
        '{"kind": "flood"}',
    ],
)
def test_invalid_fault_line_is_refused(line: str) -> None:
    with pytest.raises(ValueError):
        parse_fault(line, 2)


def test_resumed_match_appends_its_faults(tmp_path: Path) -> None:
    first = Fault(Seat(0), FaultKind.STALE_REPLY, 1, b"\xff\r\n", Remedy.IGNORED)
    second = Fault(Seat(1), FaultKind.CRASH, 2, b"", Remedy.FORFEITED)
    plan = RecordPlan(tmp_path, "kuhn")
    for number, fault in enumerate((first, second)):
        files = MatchFiles(make_setup(game("kuhn"), 1), plan, is_resumed=bool(number))
        assert (tmp_path / "test.faults").exists() is bool(number)
        files.notice(FaultSeen(fault))
        files.close()
    with (tmp_path / "test.faults").open("a") as file:
        file.write("what?\n")
    assert read_faults(tmp_path / "test.faults", 2) == [first, second]
    assert read_faults(tmp_path / "test.faults", 2, max_bytes=140) == [second]
    assert read_faults(tmp_path / "nothing.faults", 2) == []


def test_logs_contain_all_hands_and_actions(tmp_path: Path) -> None:
    watchers = [
        LogWriter(LineFile(tmp_path / "m.log"), ("A", "B")),
        TransactionWriter(LineFile(tmp_path / "m.tlog")),
        HandTransactionWriter(LineFile(tmp_path / "hands.tlog")),
    ]
    board = Board(make_setup(game("leduc"), 20), watchers=watchers).connect_all()
    board.play([random_policy(seat) for seat in range(2)])
    assert (tmp_path / "m.log").read_text() == "".join(board.log)
    assert (tmp_path / "hands.tlog").read_text() == (tmp_path / "m.tlog").read_text()
    lines = (tmp_path / "m.tlog").read_text().splitlines()
    assert len(lines) == len(board.recorder.actions)
    assert [int(line.split()[1]) for line in lines] == [hand for _, hand, _, _ in board.recorder.actions]


def test_comments_are_kept_and_read_with_the_log(tmp_path: Path) -> None:
    setup = make_setup(game("leduc"), 2)
    files = MatchFiles(setup, RecordPlan(tmp_path, "leduc"))
    board = Board(setup, watchers=files.watchers).connect_all()
    board.play([random_policy(seat) for seat in range(2)], hands=1)
    board.send(board.acting_seat, b"# \xc3\xbc\xff now then\r\n")
    board.play([random_policy(seat) for seat in range(2)])
    files.close()
    first, second = read_log(tmp_path / "test.log", times=True)
    assert [first.comments, second.comments] == [record.comments for record in board.recorder.records]
    assert first.comments == ()
    assert [comment.text for comment in second.comments] == ["# ü\ufffd now then"]
