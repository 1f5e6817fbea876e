"""How the dealer's lines travel, and what becomes of what the bot sends meanwhile."""

from __future__ import annotations

import pytest

from dealer.doctor.dialogue import MAX_LINES_PER_QUESTION, Dialogue
from dealer.doctor.findings import Examination
from dealer.doctor.judge import Kind, Severity
from dealer.match import LineReceived, LineSent
from engine import Seat
from tests.dealer.doctor.local_host import LocalHost, LocalVisit, examined
from tests.dealer.doctor.peers import OneReadOneLine, Peer
from tests.dealer.helpers import game

RULES = game("limit")


class Listener(Peer):
    """Keeps the silences."""

    def __init__(self, rules: object) -> None:
        super().__init__(RULES)
        self.silences: list[float] = []

    def on_silence(self, seconds: float) -> None:
        self.silences.append(seconds)

    def action(self, text: bytes, betting: object) -> bytes:
        return b"c"


def visit(name: str, *, wait_s: float = 2.0) -> tuple[LocalVisit, Examination]:
    host = LocalHost(Listener, RULES)
    examination = examined(host, RULES, name, wait_s=wait_s)
    assert list(examination.findings) == []
    return host.visits[0], examination


def test_plain_lines_are_segments_of_their_own() -> None:
    sent = visit("bets")[0].sent
    assert all(segment.count(b"\n") == 1 and segment.endswith(b"\r\n") for segment in sent)


def test_joined_lines_end_with_a_question() -> None:
    sent = visit("joined")[0].sent
    assert all(segment.endswith(b"\r\n") for segment in sent)
    assert sent[0].count(b"\n") == 2
    # The last state of the first hand, with the first of the second.
    assert any(b"MATCHSTATE:0:0:" in segment and b"MATCHSTATE:1:1:" in segment for segment in sent)
    assert b"".join(sent) == b"".join(visit("bets")[0].sent)


def test_straddled_lines_come_in_sevens() -> None:
    sent = visit("straddled")[0].sent
    assert {len(segment) for segment in sent if not segment.endswith(b"\n")} == {7}
    assert b"".join(sent) == b"".join(visit("bets")[0].sent)


def test_questions_byte_by_byte() -> None:
    local, _ = visit("bytewise")
    assert b"\n" in local.sent
    assert {1} < {len(segment) for segment in local.sent}
    lines = b"".join(local.sent).splitlines(keepends=True)
    assert all(line.endswith(b"\r\n") for line in lines)
    # The LF of a question comes after a longer pause.
    assert isinstance(local.bot, Listener)
    assert local.bot.silences.count(max(local.bot.silences)) == local.sent.count(b"\n") == 8


def test_long_waits_are_two() -> None:
    local, _ = visit("long-wait", wait_s=17.0)
    assert isinstance(local.bot, Listener)
    assert local.bot.silences.count(17.0) == 2
    assert sum(not segment.endswith(b"\n") for segment in local.sent) == 1


def test_every_answer_is_counted() -> None:
    _, examination = visit("bets")
    (row,) = examination.rows
    assert (row.hands, row.answers) == (2, 12)


def test_bot_that_reads_one_line_per_segment_fails_at_joined_lines() -> None:
    names = ("check-down", "bets", "raises", "mixed", "joined")
    host = LocalHost(OneReadOneLine, RULES)
    examination = examined(host, RULES, *names)
    (group,) = examination.findings
    assert (group.kind, group.situations) == (Kind.SILENT, ("joined",))
    assert "collect bytes until LF" in group.advice


@pytest.mark.parametrize(("size", "count"), [(16, 12), (1 << 16, 0)])
def test_replies_in_pieces(size: int, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.dealer.doctor.local_host.MOST_BYTES_AT_ONCE", size)
    examination = examined(LocalHost(Listener, RULES), RULES, "bets")
    assert [(one.kind, one.severity, one.count) for one in examination.findings] == [
        (Kind.TWO_PIECES, Severity.NOTE, count)
    ] * bool(count)
    assert all(one.byte == size + 1 for one in examination.findings)


def test_pieces_of_a_long_line_are_no_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    """They may have been sent in one call: only so many bytes are read at once."""

    class Long(Listener):
        def reply(self, text: bytes, action: bytes, betting: object) -> bytes:
            return text + b":c" + b" " * 1000 + b"\r\n"

    monkeypatch.setattr("tests.dealer.doctor.local_host.MOST_BYTES_AT_ONCE", 448)
    examination = examined(LocalHost(Long, RULES), RULES, "bets")
    assert [one.kind for one in examination.findings] == [Kind.ACTION_TAIL]


def test_every_line_is_an_event() -> None:
    events: list[object] = []
    host = LocalHost(Listener, RULES)
    examined(host, RULES, "folds", on_event=events.append)
    said = [
        (isinstance(event, LineReceived), event.line) for event in events if isinstance(event, LineSent | LineReceived)
    ]
    assert said[0] == (True, b"VERSION:2.0.0\r\n")
    assert [line for is_bots, line in said if not is_bots] == host.visits[0].sent
    assert (True, said[3][1][:-2] + b":c\r\n") in said


@pytest.mark.parametrize(("size", "findings"), [(4094, 0), (4095, 1), (12_000, 1)])
def test_rest_of_a_long_line_is_dropped(size: int, findings: int) -> None:
    """A dealer reads it as lines of their own; the doctor reports the line once."""

    class Long(Peer):
        def reply(self, text: bytes, action: bytes, betting: object) -> bytes:
            return b"#" + b"x" * (size - 1) + b"\n" + text + b":c\r\n"

    examination = examined(LocalHost(Long, RULES), RULES, "folds")
    assert [(finding.kind, finding.count) for finding in examination.findings] == [(Kind.LINE_TOO_LONG, 4)] * findings


@pytest.mark.parametrize(("lines", "kinds"), [(MAX_LINES_PER_QUESTION - 1, []), (MAX_LINES_PER_QUESTION, [Kind.FLOOD])])
def test_lines_are_counted_for_each_question(lines: int, kinds: list[Kind]) -> None:
    class Talks(Peer):
        def reply(self, text: bytes, action: bytes, betting: object) -> bytes:
            return b"#\r\n" * lines + text + b":c\r\n"

    examination = examined(LocalHost(Talks, RULES), RULES, "bets")
    assert [finding.kind for finding in examination.findings] == kinds


def test_flood_takes_no_memory_during_a_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    buffered: list[int] = []
    receive = Dialogue.receive

    def measured(match: Dialogue, seat: Seat, data: bytes) -> bool:
        is_left = receive(match, seat, data)
        buffered.append(match._reader.buffered_bytes)
        return is_left

    class Floods(Peer):
        def on_silence(self, seconds: float) -> bytes:  # type: ignore[override]
            return b"x" * (1 << 23) if seconds else b""

    monkeypatch.setattr(Dialogue, "receive", measured)
    examination = examined(LocalHost(Floods, RULES), RULES, "long-wait")
    assert Kind.FLOOD in [finding.kind for finding in examination.findings]
    assert 1 << 20 < max(buffered) < 5 << 20


def test_unfinished_line_is_judged_at_the_timeout() -> None:
    class Open(Peer):
        def reply(self, text: bytes, action: bytes, betting: object) -> bytes:
            return text + b":c"

    examination = examined(LocalHost(Open, RULES), RULES, "bets")
    (finding,) = examination.findings
    assert (finding.kind, finding.line[-2:]) == (Kind.LINE_UNFINISHED, ":c")
