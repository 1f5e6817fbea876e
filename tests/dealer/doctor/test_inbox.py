"""Lines out of whatever a bot sends, with every length bounded."""

from __future__ import annotations

import pytest

from dealer.doctor.dialogue import MOST_BYTES, MOST_LINES, Ending, Inbox
from dealer.errors import ConversationError


class Feed:
    """A wire that hands out prepared pieces; None: nothing comes in time."""

    def __init__(self, *pieces: bytes | None) -> None:
        self.pieces = list(pieces)

    def send(self, data: bytes) -> None:
        raise AssertionError

    def receive(self, deadline_s: float) -> bytes | None:
        return self.pieces.pop(0) if self.pieces else None

    def pause(self, seconds: float) -> None:
        raise AssertionError

    def now_s(self) -> float:
        return 0.0


def read(*pieces: bytes | None) -> list[bytes | Ending | None]:
    """Every line to the end, or until nothing comes any more."""
    inbox = Inbox(Feed(*pieces))
    lines: list[bytes | Ending | None] = []
    try:
        while True:
            lines.append(inbox.next_line(1.0))
            if lines[-1] is None:
                return lines
    except ConversationError as over:
        return [*lines, over.ending]


def test_lines_however_they_come() -> None:
    assert read(b"a\r", b"\nb", b"\n", None) == [b"a\r\n", b"b\n", None]


def test_what_is_left_at_the_end_is_a_line() -> None:
    assert read(b"a\nb", b"") == [b"a\n", b"b", Ending.CLOSED]


def test_the_rest_of_a_line_that_is_too_long_is_dropped() -> None:
    assert read(b"x" * 10_000 + b"\nnext\n", b"") == [b"x" * 4095, b"next\n", Ending.CLOSED]
    assert read(b"x" * 4095 + b"\nnext\n", None) == [b"x" * 4095, b"next\n", None]
    assert read(b"x" * 4094 + b"\nnext\n", None) == [b"x" * 4094 + b"\n", b"next\n", None]
    assert read(b"x" * 5000, b"") == [b"x" * 4095, Ending.CLOSED]


def test_floods() -> None:
    assert read(b"a\n" * (MOST_LINES + 5))[MOST_LINES - 1 :] == [b"a\n", Ending.FLOOD]
    pieces = [b"x" * (1 << 16)] * (MOST_BYTES // (1 << 16) + 1)
    assert read(*pieces) == [b"x" * 4095, Ending.FLOOD]


def test_a_new_question_allows_more() -> None:
    inbox = Inbox(Feed(b"a\n" * MOST_LINES, b"b\n"))
    for _ in range(MOST_LINES):
        assert inbox.next_line(1.0) == b"a\n"
    inbox.allow_more()
    assert inbox.next_line(1.0) == b"b\n"


def test_the_rest_of_a_line_without_an_end() -> None:
    inbox = Inbox(Feed(b"a\nbc", None))
    assert inbox.next_line(1.0) == b"a\n"
    assert inbox.next_line(1.0) is None
    assert inbox.take_rest() == b"bc"


def test_there_is_no_rest_of_a_line_that_was_too_long() -> None:
    inbox = Inbox(Feed(b"x" * 5000, None))
    assert inbox.next_line(1.0) == b"x" * 4095
    assert inbox.next_line(1.0) is None
    assert inbox.take_rest() == b""


def test_what_has_come_is_seen_before_it_is_read() -> None:
    inbox = Inbox(Feed(b"a\nbc", None, None, b"d\n"))
    assert inbox.line_from(b"a") == b"a\n"
    assert inbox.line_from(b"b") == b"bc"
    assert inbox.line_from(b"d") == b""
    assert inbox.next_line(1.0) == b"a\n"
    assert inbox.next_line(1.0) == b"bcd\n"
    assert inbox.line_from(b"b") == b"bcd\n"


def test_looking_does_not_collect_without_end() -> None:
    feed = Feed(*[b"x" * (1 << 16)] * 100)
    inbox = Inbox(feed)
    for _ in range(100):
        inbox.line_from(b"y")
    assert len(feed.pieces) == 99


@pytest.mark.parametrize("ending", Ending)
def test_a_break_says_what_it_is(ending: Ending) -> None:
    assert str(ConversationError(ending)) == f"the conversation is over: {ending.value}"
