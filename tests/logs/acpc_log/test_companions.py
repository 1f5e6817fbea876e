"""Times and comments of hands, from the transaction log and the transcript beside a log."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import pytest

from dealer.match.events import ActionPlayed, Event, FaultSeen, LineReceived, LineSent, MatchEnded, Watcher
from dealer.reference.command import format_event
from engine import Seat
from logs import HandRecord, PlayerComment, Times, format_transaction
from logs.acpc_log import companions
from logs.acpc_log.reader import read_log
from logs.errors import DamagedLogError, LogProblem, ProblemKind
from logs.transaction_log import format_comment, format_time
from tests.dealer.helpers import Board, make_setup, random_policy, speaker
from tests.logs import hands as sample


class Files(Watcher):
    """Writer of the three files of a match."""

    wants = frozenset({LineSent, LineReceived, FaultSeen, ActionPlayed, MatchEnded})

    def __init__(self) -> None:
        self.tlog = ""
        self.line_times: list[list[Times]] = []
        """Per hand: when each question was sent and when its reply was read (Unix time, ns)."""
        self._line_us: dict[tuple[type[Event], Seat], int] = {}
        self.transcript = b"# name/game/hands/seed test kuhn.limit.2p 1 1\nSTARTED at 1.000001\n"

    def notice(self, event: Event) -> None:
        match event:
            case LineSent() | LineReceived():
                self.transcript += format_event(event, ())
                self._line_us[type(event), event.seat] = event.at_us
            case FaultSeen():
                self.transcript += format_event(event, ())
            case ActionPlayed():
                if event.hand_number == len(self.line_times):
                    self.line_times.append([])
                sent_us, received_us = (self._line_us[kind, event.seat] for kind in (LineSent, LineReceived))
                self.line_times[-1].append(Times(sent_us, received_us))
                self.tlog += format_transaction(event.action, event.hand_number, event.sent_us, event.received_us)
            case MatchEnded(cause=None):
                self.transcript += b"FINISHED at " + format_time(event.asked_us).encode() + b"\nSCORE:...\n"
            case MatchEnded():
                self.transcript += format_event(event, ())


def play_match(folder: Path, hands: int = 20) -> tuple[list[HandRecord], Files]:
    """Play a match of three players who comment, and who reply wrongly and out of turn."""
    files = Files()
    board = Board(make_setup(sample.random_hands("limit3", 1)[0].game, hands), watchers=[files])
    numbers = itertools.count()
    plain = speaker(random_policy())

    def talker(question: object) -> bytes | None:
        said = plain(question)  # type: ignore[arg-type]
        assert said is not None
        number = next(numbers)
        return {
            0: b"# thinking\xff:|\r\n" + said,
            1: b"; once\r\n# twice \r\nnonsense\r\n" + said,
            2: b"MATCHSTATE:0:99::AsKs||:c\r\n" + said,
            3: said.replace(b"\r\n", b" and more\r\n"),
            4: said[: said.rindex(b":")] + b":x\r\n",
        }.get(number % 7, said)

    board.connect_all().play_raw([talker] * 3)
    (folder / "x.log").write_text(
        "".join([*sample.log_lines(board.recorder.records[:1], "holdem.limit.3p", score=False)[:4], *board.log])
    )
    (folder / "x.tlog").write_text(files.tlog)
    (folder / "x.err").write_bytes(files.transcript)
    assert len(board.recorder.records) == hands
    assert sum(len(record.comments) for record in board.recorder.records) > 10
    return board.recorder.records, files


def test_a_match_comes_back_with_times_and_comments(tmp_path: Path) -> None:
    records, _ = play_match(tmp_path)
    hands = list(read_log(tmp_path / "x.log", strict=True, times=True, transcript=tmp_path / "x.err"))
    assert [hand.times for hand in hands] == [record.times for record in records]
    assert [hand.comments for hand in hands] == [record.comments for record in records]
    assert all(hand.times for hand in hands)


def test_the_transcript_alone_has_the_times_of_its_lines(tmp_path: Path) -> None:
    records, files = play_match(tmp_path)
    (tmp_path / "x.tlog").unlink()
    hands = list(read_log(tmp_path / "x.log", strict=True, times=True, transcript=tmp_path / "x.err"))
    assert [hand.comments for hand in hands] == [record.comments for record in records]
    assert [list(hand.times) for hand in hands] == files.line_times


def test_companions_are_read_only_on_request(tmp_path: Path) -> None:
    play_match(tmp_path)
    assert all(hand.times == () and hand.comments == () for hand in read_log(tmp_path / "x.log", strict=True))
    hands = list(read_log(tmp_path / "x.log", strict=True, times=True))
    assert all(hand.times and not hand.comments for hand in hands)


def test_a_log_without_a_transaction_log_has_no_times(tmp_path: Path) -> None:
    play_match(tmp_path)
    (tmp_path / "x.tlog").unlink()
    assert all(hand.times == () for hand in read_log(tmp_path / "x.log", strict=True, times=True))


@pytest.mark.sampled
@pytest.mark.parametrize("name", sample.recorded_cases())
def test_the_recorded_matches(name: str, tmp_path: Path) -> None:
    """The recorded matches include wild ones; their times are put where they were masked."""
    count = itertools.count(1_000_000_000_000_000)
    for ending in ("log", "tlog", "err"):
        text = sample.recorded_file(name, ending)
        if ending != "log":
            text = re.sub(r"(?<=at )T|(?<= )T\b", lambda _: format_time(next(count)), text)
        (tmp_path / f"x.{ending}").write_bytes(text.encode("utf-8", "surrogateescape"))
    problems: list[LogProblem] = []
    hands = list(
        read_log(
            tmp_path / "x.log",
            game=sample.recorded_game(name),
            times=True,
            transcript=tmp_path / "x.err",
            on_problem=problems.append,
        )
    )
    assert problems == []
    for hand in hands:
        assert len(hand.times) == sum(map(len, hand.betting.rounds))
        assert list(hand.times) == sorted(hand.times)
    times = [hand.times for hand in hands]
    (tmp_path / "x.tlog").unlink()
    hands = list(
        read_log(
            tmp_path / "x.log",
            game=sample.recorded_game(name),
            transcript=tmp_path / "x.err",
            on_problem=problems.append,
        )
    )
    assert problems == []
    is_quiet = "TO 1 at" not in sample.recorded_file(name, "err")
    assert [len(hand.times) for hand in hands] == [0 if is_quiet else len(of_hand) for of_hand in times]


# ---- companions that do not match their log


def write_log(folder: Path, hands: int = 6) -> tuple[list[HandRecord], list[str]]:
    """Write a log; return its hands and the lines of its transaction log."""
    records = sample.random_hands("kuhn", hands, with_notes=True)
    (folder / "x.log").write_text("".join(sample.log_lines(records, "kuhn.limit.2p")))
    lines = [
        format_transaction(action, record.hand_number, *times)
        for record in records
        for (_, action), times in zip(
            [pair for of_round in record.betting.rounds for pair in of_round], record.times, strict=True
        )
    ]
    return records, lines


def read(folder: Path, tlog: str) -> tuple[list[HandRecord], list[str]]:
    (folder / "x.tlog").write_bytes(tlog.encode("utf-8", "surrogateescape"))
    problems: list[LogProblem] = []
    hands = list(read_log(folder / "x.log", times=True, on_problem=problems.append))
    assert all(problem.path == str(folder / "x.tlog") for problem in problems)
    return hands, [f"{problem.line_number}: {problem.problem} ({problem.kind.name})" for problem in problems]


def test_transactions_of_an_unfinished_hand_are_ignored(tmp_path: Path) -> None:
    records, lines = write_log(tmp_path)
    hands, problems = read(tmp_path, "".join(lines) + "r 6 1795227485.694648 1795227485.694758\nc 6 17")
    assert problems == [f"{len(lines) + 2}: 'c 6 17' is not a transaction (HALF_WRITTEN)"]
    assert [hand.times for hand in hands] == [record.times for record in records]


def test_other_actions_leave_the_hand_without_times(tmp_path: Path) -> None:
    records, lines = write_log(tmp_path)
    changed = {"c": "f", "f": "c", "r": "c"}[lines[0][0]] + lines[0][1:]
    hands, problems = read(tmp_path, changed + "".join(lines[1:]))
    assert problems == ["1: hand 0 has different actions here and in the log, so it stays without times (NOTED)"]
    assert [hand.times for hand in hands] == [(), *[record.times for record in records[1:]]]


def test_missing_transactions_leave_the_hand_without_times(tmp_path: Path) -> None:
    records, lines = write_log(tmp_path)
    of_hand_0 = len(records[0].times)
    hands, problems = read(tmp_path, "".join(lines[of_hand_0:]))
    assert problems == []
    assert [hand.times for hand in hands] == [(), *[record.times for record in records[1:]]]
    hands, problems = read(tmp_path, "".join(lines[:-1]))
    assert len(problems) == (len(records[-1].times) > 1)
    assert [hand.times for hand in hands] == [*[record.times for record in records[:-1]], ()]
    assert read(tmp_path, "")[1] == []


def test_damaged_transactions_are_reported(tmp_path: Path) -> None:
    records, lines = write_log(tmp_path)
    hands, problems = read(tmp_path, "x" + lines[0] + "".join(lines[1:]) + "\udcff" * 50_000 + "\n")
    assert problems[0].startswith("1: 'x")
    assert problems[0].endswith("is not a transaction (SKIPPED)")
    assert len(problems) == 3 - (len(records[0].times) == 1)
    assert [hand.times for hand in hands] == [(), *[record.times for record in records[1:]]]
    with pytest.raises(DamagedLogError, match=r"x\.tlog, line 1: 'x.* is not a transaction"):
        list(read_log(tmp_path / "x.log", times=True, strict=True))


def test_times_resume_after_missing_hands(tmp_path: Path) -> None:
    records, lines = write_log(tmp_path, 9)
    log = sample.log_lines(records, "kuhn.limit.2p")
    (tmp_path / "x.log").write_text("".join(log[:6] + log[9:]))
    (tmp_path / "x.tlog").write_text("".join(lines))
    problems: list[LogProblem] = []
    hands = list(read_log(tmp_path / "x.log", times=True, on_problem=problems.append))
    assert [hand.times for hand in hands] == [record.times for record in records[:2] + records[5:]]
    assert [problem.kind for problem in problems] == [ProblemKind.NOTED]


TRANSCRIPT = """\
# name/game/hands/seed m kuhn.limit.2p 2 1
STARTED at 10.000000
TO 1 at 10.000001 MATCHSTATE:0:0::As|
TO 2 at 10.000002 MATCHSTATE:1:0::|Ks
FROM 1 at 10.000003 # hello
FROM 1 at 10.000004 MATCHSTATE:0:0::As|:q
WARNING: invalid action, changed to call
TO 1 at 10.000005 MATCHSTATE:0:0:c:As|
TO 2 at 10.000006 MATCHSTATE:1:0:c:|Ks
FROM 2 at 10.000007 ; well
FROM 2 at 10.000008 MATCHSTATE:1:0:|Ks:c
WARNING: bad state format in response
FROM 2 at 10.000009 MATCHSTATE:1:0::|Ks:c
WARNING: ignoring un-requested response
FROM 2 at 10.000010 MATCHSTATE:1:0:c:|Ks:c
TO 1 at 10.000011 MATCHSTATE:0:0:cc:As|Ks
TO 2 at 10.000012 MATCHSTATE:1:0:cc:As|Ks
Seconds cumulatively spent in match for seat 0: 0
TO 2 at 10.000014 MATCHSTATE:0:1::Ks|
TO 1 at 10.000013 MATCHSTATE:1:1::|Qs
FROM 2 at 10.000015 MATCHSTATE:0:1::Ks|:c
TO 2 at 10.000016 MATCHSTATE:0:1:c:Ks|
TO 1 at 10.000017 MATCHSTATE:1:1:c:|Qs
FROM 1 at 10.000018 MATCHSTATE:1:1:c:|Qs:c
"""


def test_a_transcript_line_by_line(tmp_path: Path) -> None:
    (tmp_path / "x.log").write_text(
        "# name/game/hands/seed m kuhn.limit.2p 2 1\nSTATE:0:cc:As|Ks:1|-1:A|B\nSTATE:1:cc:Ks|Qs:1|-1:B|A\n"
    )
    path = tmp_path / "x.err"
    path.write_text(TRANSCRIPT)
    first, second = read_log(tmp_path / "x.log", strict=True, transcript=path)
    assert first.times == (Times(10_000001, 10_000004), Times(10_000006, 10_000010))
    assert first.comments == (PlayerComment(Seat(0), 0, "# hello"), PlayerComment(Seat(1), 1, "; well"))
    assert second.times == (Times(10_000014, 10_000015), Times(10_000017, 10_000018))
    assert second.comments == ()


@pytest.mark.sampled
@pytest.mark.parametrize("size", range(0, len(TRANSCRIPT), 7))
def test_a_transcript_cut_off_anywhere(tmp_path: Path, size: int) -> None:
    (tmp_path / "x.log").write_text(
        "# name/game/hands/seed m kuhn.limit.2p 2 1\nSTATE:0:cc:As|Ks:1|-1:A|B\nSTATE:1:cc:Ks|Qs:1|-1:B|A\n"
    )
    path = tmp_path / "x.err"
    path.write_text(TRANSCRIPT[:size])
    problems: list[LogProblem] = []
    hands = list(read_log(tmp_path / "x.log", transcript=path, on_problem=problems.append))
    assert len(hands) == 2
    assert all(len(hand.times) in (0, 2) for hand in hands)
    # The changed board cards differ from those the seed deals.
    assert {problem.kind for problem in problems} <= {ProblemKind.NOTED, ProblemKind.UNCHECKED}


@pytest.mark.parametrize("name", ["limit3", "nolimit3"])
def test_blocks_of_any_size_and_foreign_lines_change_no_times(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hands = sample.random_hands(name, 30)
    log = tmp_path / "x.log"
    log.write_text("".join(sample.log_lines(hands, f"holdem.{name.removesuffix('3')}.3p", score=False)))
    times = itertools.count(1_700_000_000_000_000, 7)
    lines = [
        format_transaction(action, hand.hand_number, next(times), next(times))
        for hand in hands
        for actions in hand.betting.rounds
        for _, action in actions
    ]
    (tmp_path / "x.tlog").write_text("".join(lines))
    whole = list(read_log(log, times=True))
    assert all(len(hand.times) == sum(map(len, hand.betting.rounds)) for hand in whole)
    for size in (1, 100, 1000):
        monkeypatch.setattr(companions, "_BLOCK_CHARACTERS", size)
        assert list(read_log(log, times=True)) == whole
    monkeypatch.setattr(companions, "_MAX_LINE_CHARACTERS", 60)
    foreign = ["nonsense\n", "x" * 500 + "\n"]
    (tmp_path / "x.tlog").write_text("".join(lines[:5] + foreign + lines[5:]))
    problems: list[LogProblem] = []
    assert list(read_log(log, times=True, on_problem=problems.append)) == whole
    assert [problem.line_number for problem in problems] == [6, 7]


def test_comments_of_a_seat_that_is_not_at_the_table_are_left_out(tmp_path: Path) -> None:
    records, _ = play_match(tmp_path)
    (tmp_path / "x.comments").write_text(
        "".join(format_comment(0, PlayerComment(Seat(seat), 0, f"# {seat}")) for seat in (0, 3, 9))
    )
    first = next(read_log(tmp_path / "x.log", strict=True, times=True))
    assert first.comments == (PlayerComment(Seat(0), 0, "# 0"),)
    assert len(records) > 1
