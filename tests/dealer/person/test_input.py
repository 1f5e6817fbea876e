"""Lines that a person types, or that come from a pipe."""

from __future__ import annotations

import io
import sys

import pytest

from dealer.person.terminal_table import Entries


def entries(data: bytes) -> list[str]:
    """All lines of an input."""
    found = Entries(io.TextIOWrapper(io.BytesIO(data), encoding="utf-8"))
    assert not found.is_terminal
    lines = []
    while (line := found.next()) is not None:
        lines.append(line)
    assert found.next() is None
    return lines


def test_lines_end_in_any_way() -> None:
    assert entries(b"c\nr 300\r\n\nq") == ["c", "r 300", "", "q"]
    assert entries(b"") == []


def test_bytes_that_are_no_text_are_no_failure() -> None:
    assert entries(b"\xff\xfe\nc\n") == ["\ufffd\ufffd", "c"]


def test_a_line_without_end_takes_no_memory() -> None:
    assert entries(b"x" * 100_000 + b"\nc\n") == ["x" * 1000, "c"]


def test_a_closed_input_has_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    assert Entries().next() is None


def test_a_terminal_that_is_gone_has_ended() -> None:
    class Gone(io.StringIO):
        def readline(self, size: int | None = -1, /) -> str:
            raise OSError(5, "Input/output error")

    assert Entries(Gone()).next() is None
