"""Cells with a slash in both readings, board by board."""

from __future__ import annotations

import pytest

from bots.rembrant.rules import HandKind, RembrantOptions, chance_of_aggression, parse_cell, read_danger
from engine import parse_cards
from tests.tables import rows

BOARDS = dict(
    rows("""
    DRY            Kc8h3d
    QUIET          KcTh9d  # a straight is possible, but nothing is drawn that the work fears
    SUITED         Kc8c3d
    ROW            8c7h6d
    FOUR_STRAIGHT  9c8h7d5s
    FOUR_FLUSH     Kc8c3c2c
    BOTH           9c8c7c5c
    RIVER          Kc8c3d2hJs
    RIVER_SUITED   Kc8c3c2hJs
    RIVER_ROW      Qc3c2c4sAs
    THREE_FLUSH    Kc8c3c2h
    """)
)


def chance(cell: str, kind: str, board: str, **options: object) -> float:
    rule, danger = parse_cell(12, cell), read_danger(parse_cards(BOARDS[board]))
    return chance_of_aggression(rule, HandKind[kind], danger, RembrantOptions(**options))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("cell", "kind", "board", "deterministic", "probabilistic"),
    rows("""
    # the more aggressive move where draws are to be feared
    call/re-raise  TRIPS                 DRY            0  0.2
    call/re-raise  TRIPS                 QUIET          0  0.5
    call/re-raise  TRIPS                 SUITED         1  0.8
    call/re-raise  TRIPS                 ROW            1  0.8
    call/re-raise  TRIPS                 FOUR_FLUSH     1  -
    call/re-raise  TRIPS                 RIVER          0  -
    call/re-raise  TRIPS                 RIVER_SUITED   0  0.5
    call/all-in    SET                   SUITED         1  -
    re-raise/call  TWO_PAIR_POCKET       SUITED         1  -
    re-raise/call  TWO_PAIR_POCKET       DRY            0  -
    check/raise    TOP_PAIR              DRY            0  -
    check/raise    OVER_PAIR             SUITED         1  -
    # one card from a straight: the weakest move, but not with what beats straights
    call/re-raise  TRIPS                 FOUR_STRAIGHT  0  0.2
    check/raise    STRAIGHT_TOP          FOUR_STRAIGHT  0  -
    call/fold      STRAIGHT_BOTTOM       FOUR_STRAIGHT  0  0.2
    call/fold      TWO_PAIR_POCKET       FOUR_STRAIGHT  0  -
    call/fold      OTHER_FLUSH           BOTH           1  -
    call/re-raise  NUT_FLUSH             BOTH           1  0.8
    call/re-raise  FULL_HOUSE_OR_BETTER  RIVER_ROW      1  -
    call/re-raise  TRIPS                 RIVER_ROW      0  -
    # staying in
    call/fold      TWO_PAIR_ON_BOARD     DRY            1  0.8
    call/fold      TWO_PAIR_ON_BOARD     SUITED         1  0.5
    call/fold      TWO_PAIR_ON_BOARD     FOUR_FLUSH     0  0.2
    call/fold      STRAIGHT_BOTTOM       FOUR_FLUSH     0  -
    call/fold      OTHER_FLUSH           FOUR_FLUSH     1  0.5
    # probing
    check/raise    HIGH_CARD             DRY            1  0.2
    check/raise    UNDER_PAIR            SUITED         1  0.8
    check/raise    MIDDLE_PAIR           THREE_FLUSH    0  -
    check/raise    BOTTOM_PAIR           RIVER          0  -
    """),
)
def test_both_readings(cell: str, kind: str, board: str, deterministic: str, probabilistic: str) -> None:
    assert chance(cell, kind, board) == float(deterministic)
    if probabilistic != "-":
        assert chance(cell, kind, board, reading="probabilistic") == float(probabilistic)


def test_option_river_danger() -> None:
    assert chance("check/raise", "SET", "RIVER") == 0
    assert chance("check/raise", "SET", "RIVER", river_danger=True) == 1
    assert chance("check/raise", "SET", "RIVER", river_danger=True, reading="probabilistic") == 0.8
    assert chance("call/fold", "SET", "RIVER", reading="probabilistic") == 0.8
    assert chance("call/fold", "SET", "RIVER", river_danger=True, reading="probabilistic") == 0.5


def test_chances_are_options() -> None:
    options = {"reading": "probabilistic", "chance": 0.4, "chance_danger": 0.9, "chance_dry": 0.1}
    boards = ("DRY", "QUIET", "SUITED")
    assert [chance("call/all-in", "SET", board, **options) for board in boards] == [0.1, 0.4, 0.9]
    assert [chance("call/fold", "SET", board, **options) for board in boards] == [0.9, 0.4, 0.4]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"reading": "bold"}, "reading must be deterministic or probabilistic, not bold"),
        ({"four_straight": "pay"}, "four_straight must be slash or fold, not pay"),
        ({"complete": 6}, "complete must be 7, 8 or 9, not 6"),
        ({"chance": 1.5}, "chance must be 0 to 1, not 1.5"),
        ({"open_bb": 0.0}, "open_bb must be more than 0 and at most 1,000,000, not 0.0"),
        ({"raise_times": float("nan")}, "raise_times must be more than 0"),
    ],
)
def test_invalid_options_are_refused(options: dict[str, object], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        RembrantOptions(**options)  # type: ignore[arg-type]
