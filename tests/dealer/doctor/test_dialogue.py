"""Segments and pauses of the dealer's lines, and limits of the bot's bytes."""

from __future__ import annotations

import pytest

from dealer.doctor.dialogue import MAX_LINES_PER_QUESTION, Dialogue
from dealer.doctor.findings import Examination
from dealer.doctor.judge import Kind, Severity
from dealer.match import LineReceived, LineSent
from engine import Seat
from tests.dealer.doctor.local_host import LocalHost, LocalVisit, examine_host
from tests.dealer.doctor.peers import OneReadOneLine, Peer
from tests.dealer.helpers import game

RULES = game("limit")


class Listener(Peer):
    """Bot that checks or calls and records silences, in seconds."""

    def __init__(self, rules: object) -> None:
        super().__init__(RULES)
        self.silences: list[float] = []

    def on_silence(self, seconds: float) -> None:
        self.silences.append(seconds)

    def action(self, text: bytes, betting: object) -> bytes:
        return b"c"


def visit(name: str, *, wait_s: float = 2.0) -> tuple[LocalVisit, Examination]:
    host = LocalHost(Listener, RULES)
    examination = examine_host(host, RULES, name, wait_s=wait_s)
    assert list(examination.findings) == []
    return host.visits[0], examination


def test_plain_lines_are_separate_segments() -> None:
    sent = visit("bets")[0].sent
    assert all(segment.count(b"\n") == 1 and segment.endswith(b"\r\n") for segment in sent)


def test_joined_lines_end_with_a_question() -> None:
    sent = visit("joined")[0].sent
    assert all(segment.endswith(b"\r\n") for segment in sent)
    assert sent[0].count(b"\n") == 2
    # The last state of the first hand is joined to the first of the second.
    assert any(b"MATCHSTATE:0:0:" in segment and b"MATCHSTATE:1:1:" in segment for segment in sent)
    assert b"".join(sent) == b"".join(visit("bets")[0].sent)


def test_straddled_lines_are_segments_of_seven_bytes() -> None:
    sent = visit("straddled")[0].sent
    assert {len(segment) for segment in sent if not segment.endswith(b"\n")} == {7}
    assert b"".join(sent) == b"".join(visit("bets")[0].sent)


def test_bytewise_questions_pause_before_the_lf() -> None:
    local, _ = visit("bytewise")
    assert b"\n" in local.sent
    assert {1} < {len(segment) for segment in local.sent}
    lines = b"".join(local.sent).splitlines(keepends=True)
    assert all(line.endswith(b"\r\n") for line in lines)
    assert isinstance(local.bot, Listener)
    assert local.bot.silences.count(max(local.bot.silences)) == local.sent.count(b"\n") == 8


def test_long_wait_occurs_twice() -> None:
    local, _ = visit("long-wait", wait_s=17.0)
    assert isinstance(local.bot, Listener)
    assert local.bot.silences.count(17.0) == 2
    assert sum(not segment.endswith(b"\n") for segment in local.sent) == 1


def test_every_answer_is_counted() -> None:
    _, examination = visit("bets")
    (row,) = examination.rows
    assert row.hands == 2
    assert row.answers == 12


def test_bot_that_reads_one_line_per_segment_fails_at_joined_lines() -> None:
    names = ("check-down", "bets", "raises", "mixed", "joined")
    host = LocalHost(OneReadOneLine, RULES)
    examination = examine_host(host, RULES, *names)
    (group,) = examination.findings
    assert group.kind is Kind.SILENT
    assert group.situations == ("joined",)
    assert "collect bytes until LF" in group.advice


@pytest.mark.parametrize(("size", "count"), [(16, 12), (1 << 16, 0)])
def test_reply_in_two_pieces_is_a_note(size: int, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.dealer.doctor.local_host.MAX_READ_BYTES", size)
    findings = list(examine_host(LocalHost(Listener, RULES), RULES, "bets").findings)
    assert sum(finding.count for finding in findings) == count
    assert len(findings) <= 1
    for finding in findings:
        assert finding.kind is Kind.TWO_PIECES
        assert finding.severity is Severity.NOTE
        assert finding.byte == size + 1


def test_pieces_of_a_long_line_are_no_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    """A line longer than one read may have been sent in one call."""

    class Long(Listener):
        def reply(self, text: bytes, action: bytes, betting: object) -> bytes:
            return text + b":c" + b" " * 1000 + b"\r\n"

    monkeypatch.setattr("tests.dealer.doctor.local_host.MAX_READ_BYTES", 448)
    examination = examine_host(LocalHost(Long, RULES), RULES, "bets")
    assert [finding.kind for finding in examination.findings] == [Kind.ACTION_TAIL]


def test_every_line_is_an_event() -> None:
    events: list[object] = []
    host = LocalHost(Listener, RULES)
    examine_host(host, RULES, "folds", on_event=events.append)
    received = [event.line for event in events if isinstance(event, LineReceived)]
    sent = [event.line for event in events if isinstance(event, LineSent)]
    first_line = next(event for event in events if isinstance(event, LineSent | LineReceived))
    assert isinstance(first_line, LineReceived)
    assert received[0] == b"VERSION:2.0.0\r\n"
    assert sent == host.visits[0].sent
    replies = received[1:]
    assert replies
    assert set(replies) <= {line[:-2] + b":c\r\n" for line in sent}


@pytest.mark.parametrize(("size", "findings"), [(4094, 0), (4095, 1), (12_000, 1)])
def test_rest_of_a_long_line_is_dropped(size: int, findings: int) -> None:
    """A dealer reads the rest as further lines; the doctor reports the line once."""

    class Long(Peer):
        def reply(self, text: bytes, action: bytes, betting: object) -> bytes:
            return b"#" + b"x" * (size - 1) + b"\n" + text + b":c\r\n"

    examination = examine_host(LocalHost(Long, RULES), RULES, "folds")
    assert [(finding.kind, finding.count) for finding in examination.findings] == [(Kind.LINE_TOO_LONG, 4)] * findings


@pytest.mark.parametrize(("lines", "kinds"), [(MAX_LINES_PER_QUESTION - 1, []), (MAX_LINES_PER_QUESTION, [Kind.FLOOD])])
def test_lines_are_counted_for_each_question(lines: int, kinds: list[Kind]) -> None:
    class Talks(Peer):
        def reply(self, text: bytes, action: bytes, betting: object) -> bytes:
            return b"#\r\n" * lines + text + b":c\r\n"

    examination = examine_host(LocalHost(Talks, RULES), RULES, "bets")
    assert [finding.kind for finding in examination.findings] == kinds


def test_flood_takes_no_memory_during_a_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    buffered: list[int] = []
    receive = Dialogue.receive

    def receive_and_measure(match: Dialogue, seat: Seat, data: bytes) -> bool:
        has_unread = receive(match, seat, data)
        buffered.append(match._reader.buffered_bytes)
        return has_unread

    class Floods(Peer):
        def on_silence(self, seconds: float) -> bytes:  # type: ignore[override]
            return b"x" * (1 << 23) if seconds else b""

    monkeypatch.setattr(Dialogue, "receive", receive_and_measure)
    examination = examine_host(LocalHost(Floods, RULES), RULES, "long-wait")
    assert Kind.FLOOD in [finding.kind for finding in examination.findings]
    assert 1 << 20 < max(buffered) < 5 << 20


def test_unfinished_line_is_judged_at_the_timeout() -> None:
    class Open(Peer):
        def reply(self, text: bytes, action: bytes, betting: object) -> bytes:
            return text + b":c"

    examination = examine_host(LocalHost(Open, RULES), RULES, "bets")
    (finding,) = examination.findings
    assert finding.kind is Kind.LINE_UNFINISHED
    assert finding.line.endswith(":c")
