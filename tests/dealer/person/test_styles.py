"""Cards in characters and colours, and what a console can show of them."""

from __future__ import annotations

import io
from collections.abc import Sequence

import pytest
from rich.console import Console

from dealer.person.styles import Styles, styles_of

CARDS = ("2c", "Td", "Kh", "As")


def printed(styles: Styles, **console: object) -> str:
    """What a console writes of a line of cards."""
    file = io.StringIO()
    Console(file=file, width=80, **console).print(styles.cards(CARDS))  # type: ignore[arg-type]
    return file.getvalue()


def codes(*colours: str) -> str:
    """The line in these colours."""
    cards: Sequence[str] = ("2♣", "T♦", "K♥", "A♠")
    return " ".join(f"\x1b[{code}m{card}\x1b[0m" for code, card in zip(colours, cards, strict=True)) + "\n"


@pytest.mark.parametrize(
    ("styles", "colours"),
    [
        (Styles(80), ("1", "1;91", "1;91", "1")),
        (Styles(80, has_four_colours=True), ("1;32", "1;94", "1;91", "1")),
    ],
)
def test_suits_have_two_colours_or_four(styles: Styles, colours: tuple[str, ...]) -> None:
    assert printed(styles, force_terminal=True, color_system="standard", no_color=False) == codes(*colours)


def test_without_colours_the_suits_say_the_same() -> None:
    assert printed(Styles(80)) == "2♣ T♦ K♥ A♠\n"
    assert printed(Styles(80, is_ascii=True)) == "2c Td Kh As\n"


def test_sentences_have_their_cards_in_colour() -> None:
    line = Styles(80).coloured("You show A♠ T♦, a pair")
    assert line.plain == "You show A♠ T♦, a pair"
    assert [(span.start, span.end, span.style) for span in line.spans] == [
        (12, 14, "bold bright_red"),
        (9, 11, "bold"),
    ]
    assert Styles(80, is_ascii=True).coloured("+5 ± 1 é").plain == "+5 +/- 1 ?"


def test_boxes() -> None:
    assert [line.plain for line in Styles(80).boxes(CARDS[:2])] == ["┌──┐┌──┐", "│2♣││T♦│", "└──┘└──┘"]
    assert Styles(80).boxes(("K",))[1].plain == "│K │"
    assert [line.plain for line in Styles(80, is_ascii=True).boxes(CARDS[2:3])] == ["+--+", "|Kh|", "+--+"]


@pytest.mark.parametrize(
    ("encoding", "is_ascii"), [("utf-8", False), ("ascii", True), ("latin-1", True), ("cp1252", True), ("cp437", True)]
)
def test_the_encoding_decides_what_can_be_drawn(encoding: str, is_ascii: bool) -> None:
    console = Console(file=io.TextIOWrapper(io.BytesIO(), encoding=encoding), width=50)
    assert styles_of(console) == Styles(80, is_ascii)


@pytest.mark.parametrize(("width", "drawn"), [(5, 30), (40, 40), (100, 100), (300, 120)])
def test_the_window_decides_how_wide_it_is(width: int, drawn: int) -> None:
    console = Console(file=io.StringIO(), force_terminal=True, width=width)
    assert styles_of(console, has_four_colours=True).width == drawn
    assert styles_of(console, has_four_colours=True).has_four_colours


def test_texts_are_cut_to_fit() -> None:
    assert [Styles(80).cut("abcdef", width) for width in (6, 5, 1, 0)] == ["abcdef", "abcd…", "…", "…"]
    assert Styles(80, is_ascii=True).cut("abcdef", 3) == "ab~"
