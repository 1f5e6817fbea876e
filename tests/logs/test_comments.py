"""Comment lines of players."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import Seat
from engine.text import clean
from logs.record import PlayerComment
from logs.transaction_log import format_comment, parse_comment

TEXTS = st.binary(max_size=50).map(lambda data: data.decode("utf-8", "surrogateescape"))


@given(st.integers(0, 2**40), st.integers(0, 9), st.integers(0, 99), TEXTS)
def test_a_comment_is_one_line_and_read_as_text(hand_number: int, seat: int, action_index: int, text: str) -> None:
    comment = PlayerComment(Seat(seat), action_index, text)
    line = format_comment(hand_number, comment)
    assert line.encode("utf-8")
    assert line.endswith("\n")
    assert line.count("\n") == 1
    assert parse_comment(line) == (hand_number, comment._replace(text=clean(text)))


def test_utf_8_is_kept_and_other_bytes_are_replaced() -> None:
    line = format_comment(0, PlayerComment(Seat(0), 1, "# für 5 €\udcff"))
    assert '"text": "# für 5 €\ufffd"' in line
    assert parse_comment(line.replace("\ufffd", "\\udcff"))[1].text == "# für 5 €\ufffd"


@pytest.mark.parametrize(
    "line",
    [
        "",
        "[]",
        '{"hand_number": 1, "seat": 0, "action_index": 0}',
        '{"hand_number": 1, "seat": 0, "action_index": 0, "text": 5}',
        '{"hand_number": -1, "seat": 0, "action_index": 0, "text": ""}',
        '{"hand_number": true, "seat": 0, "action_index": 0, "text": ""}',
        "[" * 100_000,
    ],
)
def test_other_lines_are_refused(line: str) -> None:
    with pytest.raises(ValueError):
        parse_comment(line)
