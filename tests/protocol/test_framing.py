from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from protocol.framing import MAX_LINE_BYTES, LineReader


def lines_of(reader: LineReader) -> list[bytes]:
    """Pop all available lines."""
    lines = []
    while (line := reader.pop()) is not None:
        lines.append(line)
    return lines


def naive_lines(data: bytes, most: int) -> list[bytes]:
    """Split a closed stream into lines, byte by byte."""
    lines, line = [], b""
    for value in data:
        line += bytes([value])
        if value == 10 or len(line) == most:
            lines.append(line)
            line = b""
    return lines + [line] * bool(line)


def test_a_line_needs_its_end() -> None:
    reader = LineReader()
    reader.feed(b"MATCH")
    assert reader.pop() is None
    reader.feed(b"STATE\r")
    assert reader.pop() is None
    reader.feed(b"\nrest")
    assert reader.pop() == b"MATCHSTATE\r\n"
    assert reader.pop() is None
    assert reader.buffered_bytes == 4


def test_the_longest_line_is_that_of_the_reference() -> None:
    assert MAX_LINE_BYTES == 4095
    reader = LineReader()
    reader.feed(b"x" * 4094 + b"\n" + b"y" * 4095 + b"\n")
    assert [len(line) for line in lines_of(reader)] == [4095, 4095, 1]


def test_overlong_line_is_cut_before_its_end_arrives() -> None:
    reader = LineReader(max_line_bytes=8)
    reader.feed(b"1234567")
    assert reader.pop() is None
    reader.feed(b"8")
    assert reader.pop() == b"12345678"
    reader.feed(b"\n")
    assert reader.pop() == b"\n"


PIECES = st.lists(st.text("ab\r\n\0", max_size=12).map(str.encode), max_size=12)


@given(PIECES, st.integers(1, 10), st.booleans())
def test_cuts_of_the_stream_change_no_lines(pieces: list[bytes], most: int, pops_between: bool) -> None:
    reader = LineReader(max_line_bytes=most)
    lines = []
    for piece in pieces:
        reader.feed(piece)
        if pops_between:
            lines += lines_of(reader)
    reader.feed_eof()
    lines += lines_of(reader)
    data = b"".join(pieces)
    assert lines == naive_lines(data, most)
    assert b"".join(lines) == data
    assert reader.at_eof
    assert reader.buffered_bytes == 0
