"""Tables in windows of any width."""

from __future__ import annotations

import io
from collections.abc import Collection

import pytest
from rich.console import Console

from dealer.cli.console import table_view

HEAD = ["player", "mbb/g", "what it does", "faults"]
ROWS = [
    ["raising", "+1,234,567.8", "raises whenever it may and calls otherwise", "12 malformed reply, restarted once"],
    ["a-bot-with-quite-a-long-name", "-1,234,567.8", "plays", "0"],
]


def _lines(width: int, texts: Collection[int] = (2,)) -> list[str]:
    out = io.StringIO()
    console = Console(file=out, width=width, highlight=False)
    console.print(table_view(HEAD, ROWS, width, title="A title", caption="a caption", texts=texts))
    return [line.rstrip() for line in out.getvalue().splitlines()]


@pytest.mark.parametrize("width", [*range(30, 130), 400])
@pytest.mark.parametrize("texts", [(), (2,)])
def test_no_word_or_number_is_broken_and_nothing_is_lost(width: int, texts: Collection[int]) -> None:
    lines = _lines(width, texts)
    assert max(map(len, lines)) <= width
    words = " ".join(lines).split()
    for text in (*HEAD[1:], *(cell for row in ROWS for cell in row), "A title", "a caption"):
        for word in text.split():
            assert word in words


def test_side_by_side_where_there_is_room_and_in_blocks_elsewhere() -> None:
    assert any("raising" in line and "+1,234,567.8" in line for line in _lines(120))
    blocks = _lines(60)
    assert "raising" in blocks
    assert any(line.split() == ["mbb/g", "+1,234,567.8"] for line in blocks)


def test_a_block_that_begins_with_a_number_says_of_what() -> None:
    out = io.StringIO()
    Console(file=out, width=20).print(table_view(["place", "bot"], [["1", "a-bot-with-a-long-name"]], 20))
    assert out.getvalue().splitlines()[0].strip() == "place 1"


def test_markup_is_text() -> None:
    out = io.StringIO()
    Console(file=out, width=40).print(table_view(["[b]x"], [["[red]y"]], 40))
    assert "[b]x" in out.getvalue()
    assert "[red]y" in out.getvalue()
