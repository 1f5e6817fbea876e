from __future__ import annotations

import pytest

from engine import CALL, parse_cards, raise_to
from protocol import FormatError, MatchState
from protocol.match_state import parse_legacy_state

EXAMPLE = "0:13:b1b2r6r18r30c30/r32r96:Ks2d|/5s2s6h"


def test_the_older_form_gives_todays_state() -> None:
    read, posted = parse_legacy_state(EXAMPLE)
    assert posted == (1, 2)
    assert read == MatchState(
        position=0,
        hand_number=13,
        rounds=((raise_to(6), raise_to(18), raise_to(30), CALL), (raise_to(32), raise_to(96))),
        hole_cards=(parse_cards("Ks2d"), ()),
        board=((), parse_cards("5s2s6h")),
    )
    assert read.format() == "MATCHSTATE:0:13:r6r18r30c/r32r96:Ks2d|/5s2s6h"


@pytest.mark.parametrize(
    ("text", "blinds", "state"),
    [
        ("1:0:b50b100f:|AhKd", (50, 100), "MATCHSTATE:1:0:f:|AhKd"),
        ("1:0:b50b100f50:|AhKd", (50, 100), "MATCHSTATE:1:0:f:|AhKd"),
        ("1:7:b50b100c100c100/:|AhKd/2c3c4c", (50, 100), "MATCHSTATE:1:7:cc/:|AhKd/2c3c4c"),
        ("2:7:b5b10b0c10:||AhKd", (5, 10, 0), "MATCHSTATE:2:7:c:||AhKd"),
        ("0:7::AhKd|", (), "MATCHSTATE:0:7::AhKd|"),
    ],
)
def test_blinds_and_call_amounts_are_dropped(text: str, blinds: tuple[int, ...], state: str) -> None:
    read, posted = parse_legacy_state(text)
    assert posted == blinds
    assert read.format() == state


@pytest.mark.parametrize(
    ("text", "column", "problem"),
    [
        ("", 0, "a state has 4 fields separated by ':', this has 1"),
        ("MATCHSTATE:0:1:c", 11, "a state has 4 fields separated by ':', this has 3"),
        ("x:1:c:|", 0, "'x' is not a number"),
        ("0:²:c:|", 2, "'²' is not a number"),
        ("MATCHSTATE:0:x1:c:|", 13, "'x1' is not a number"),
        ("0:1:b1b2c2/cq:|", 12, "'q' is not an action (b, c, r or f)"),
        ("0:1:b1b2c/b2:|", 10, "blinds come first, each with its amount"),
        ("0:1:bb2:|", 4, "blinds come first, each with its amount"),
    ],
)
def test_wrong_states_are_refused_with_their_column(text: str, column: int, problem: str) -> None:
    with pytest.raises(FormatError) as caught:
        parse_legacy_state(text)
    assert (caught.value.column, caught.value.problem) == (column, problem)


@pytest.mark.parametrize("cards", ["Ks2|", "KsXd|", "|ks2d", "Ks2d|/5s2", "Ks2d|/5s?s"])
def test_other_cards_are_refused(cards: str) -> None:
    with pytest.raises(FormatError, match="not a"):
        parse_legacy_state("0:13:b1b2c2:" + cards)
