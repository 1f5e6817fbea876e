"""Particulars and grids of starting hands as lines; see `tests.dealer.cli.test_tables` for tables."""

from __future__ import annotations

import re
from io import StringIO

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rich.console import Console

from engine import STARTING_HANDS
from logs.document import CODE, TEXT, Fact, HandGrid, Marked, Particulars
from logs.document.terminal import grid_lines, particulars_lines

_INDENT = 13
"""Width of the column of names in particulars."""


def marked_lines(text: str, at: int, width: int = 73, before: str = "") -> list[str]:
    """Return the lines of a conversation of two without their names, and the mark."""
    facts = (Fact("sent", before, CODE), Fact("answer", Marked(text, at, f"byte {at + 1}"), CODE))
    return [line.plain[_INDENT:] for line in particulars_lines(Particulars("", facts), width)]


def test_mark_is_below_its_character() -> None:
    assert marked_lines(r"0:AhKs|:x\r\n", 8, before="0:AhKs|") == ["0:AhKs|", r"0:AhKs|:x\r\n", "        ^ byte 9"]


def test_missing_character_is_marked_behind_the_line() -> None:
    assert marked_lines("abc", 3)[1:] == ["abc", "   ^ byte 4"]
    assert marked_lines("", 0)[1:] == ["", "^ byte 1"]


def test_long_lines_are_cut_around_the_mark() -> None:
    line = "".join(f"{number:04} " for number in range(800))
    state, answer, mark = marked_lines(line, 3000, before=line)
    assert state == answer
    assert len(answer) <= 60
    assert (answer[:3], answer[-3:]) == ("...", "...")
    assert answer[mark.index("^") :].startswith("0600")
    assert marked_lines(line, 3000, before="short")[0] == "short"


def test_label_precedes_a_mark_near_the_right_edge() -> None:
    _, line, mark = marked_lines("x" * 59 + "y", 59)
    assert mark.endswith("byte 60 ^")
    assert line[mark.index("^")] == "y"


@example("a" * 27, 27, 40)
@given(st.text("abc", max_size=300), st.integers(0, 300), st.integers(40, 120))
def test_the_marked_character_is_always_shown(text: str, at: int, width: int) -> None:
    at = min(at, len(text))
    text = f"{text[:at]}X{text[at + 1 :]}" if at < len(text) else text
    _, line, mark = marked_lines(text, at, width)
    assert max(len(line), len(mark)) <= min(width, 100) - _INDENT
    if at < len(text):
        assert line[mark.index("^")] == "X"


def test_words_are_wrapped_behind_the_names_and_never_wider_than_the_window() -> None:
    part = Particulars("", (Fact("to do", "a few words " * 9 + "x" * 200, TEXT), Fact("output", ("one", "two"), TEXT)))
    first, *more = [line.plain for line in particulars_lines(part, 60)]
    assert first.startswith("       to do a few words")
    assert max(map(len, (first, *more))) <= 60
    assert [line.strip() for line in more[-2:]] == ["output one", "two"]


def shown_hands() -> HandGrid:
    hands = [{"rc": 1.0}] * len(STARTING_HANDS)
    hands[STARTING_HANDS.index("AA")] = {"crc": 0.75, "rr": 0.25}
    hands[STARTING_HANDS.index("72o")] = {"f": 1.0}
    hands[STARTING_HANDS.index("72s")] = {"k": 1.0}
    return HandGrid("small blind", tuple(hands), ("f", "k", "crc", "rc", "rr"))


def draw_grid(width: int, colours: str | None = None) -> list[str]:
    console = Console(file=StringIO(), width=width, color_system=colours, force_terminal=True, legacy_windows=False)  # type: ignore[arg-type]
    for line in grid_lines(shown_hands(), width, colours):
        console.print(line, soft_wrap=True)
    assert isinstance(console.file, StringIO)
    return console.file.getvalue().splitlines()


def test_a_grid_is_a_square_of_words() -> None:
    ranks, *rows = draw_grid(80)
    assert ranks.split() == list("AKQJT98765432")
    assert rows[0].split() == ["A", "crc*", *["rc"] * 12]
    assert rows[7].split() == ["7", *["rc"] * 12, "k"]
    assert rows[12].split() == ["2", *["rc"] * 7, "f", *["rc"] * 5]
    assert "\x1b" not in "".join(rows)


@pytest.mark.parametrize("colours", ["truecolor", "256", "standard"])
def test_actions_differ_in_colour(colours: str) -> None:
    rows = draw_grid(80, colours)
    grounds = {word: code for code, word in re.findall(r"\x1b\[([\d;]+)m(rc|f|k) *", rows[8] + rows[-1])}
    assert len(set(grounds.values())) == 3


def test_the_heading_of_a_grid_counts_what_is_always_done() -> None:
    assert shown_hands().heading == "small blind: 166 rc, 1 f, 1 k, 1 mixed"
    assert shown_hands().mixed == {"AA": {"crc": 0.75, "rr": 0.25}}
