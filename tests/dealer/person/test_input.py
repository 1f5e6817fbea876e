"""Lines of input, from a terminal or a pipe."""

from __future__ import annotations

import io
import sys

import pytest

from dealer.person.terminal_table import Entries


def entries(data: bytes) -> list[str]:
    """Read all lines of an input."""
    reader = Entries(io.TextIOWrapper(io.BytesIO(data), encoding="utf-8"))
    assert not reader.is_terminal
    lines = []
    while (line := reader.next()) is not None:
        lines.append(line)
    assert reader.next() is None
    return lines


def test_lines_end_in_any_way() -> None:
    assert entries(b"c\nr 300\r\n\nq") == ["c", "r 300", "", "q"]
    assert entries(b"") == []


def test_invalid_bytes_are_replaced() -> None:
    assert entries(b"\xff\xfe\nc\n") == ["\ufffd\ufffd", "c"]


def test_long_line_is_cut() -> None:
    assert entries(b"x" * 100_000 + b"\nc\n") == ["x" * 1000, "c"]


def test_closed_input_has_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    assert Entries().next() is None


def test_terminal_with_an_error_has_ended() -> None:
    class Gone(io.StringIO):
        def readline(self, size: int | None = -1, /) -> str:
            raise OSError(5, "Input/output error")

    assert Entries(Gone()).next() is None
