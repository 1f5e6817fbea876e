"""The printed tables, compared with a second transcription (work.json)."""

from __future__ import annotations

import json
from collections import Counter
from itertools import product
from pathlib import Path

import pytest

from bots.rembrant.rules import (
    GROUPS,
    POSTFLOP_RULES,
    POSTFLOP_TABLES,
    PREFLOP_RULES,
    PREFLOP_TABLES,
    STREETS,
    HandKind,
    Opponent,
    TableMove,
    TableRule,
    expand_hands,
    parse_cell,
)
from engine.cards import STARTING_HANDS

WORK = json.loads(Path(__file__).with_name("work.json").read_text(encoding="utf-8"))
GROUP_OF = {hand: int(group) for group, hands in WORK["groups"].items() for hand in hands}

LINES = {
    Opponent.NONE: "other",
    Opponent.CHECK_OR_CALL: "check",
    Opponent.RAISE: "raise",
    Opponent.RE_RAISE: "reraise",
    Opponent.ALL_IN: "allin",
}


def plain(rule: TableRule) -> object:
    """Return a cell as work.json writes it."""
    if rule.limit is not None:
        return ["call", rule.limit, "fold"]
    return rule.text.replace("-", "")


def test_cells_before_the_flop_are_those_of_the_work() -> None:
    seen = Counter()
    for hand, opponent in product(STARTING_HANDS, Opponent):
        group = GROUP_OF[hand]
        line = "other" if opponent is Opponent.CHECK_OR_CALL else LINES[opponent]
        expected = WORK["preflop"][str(group)][line]
        rule = PREFLOP_RULES[hand, opponent]
        assert plain(rule) == (expected[hand] if isinstance(expected, dict) else expected)
        assert rule.table == group + 1
        assert GROUPS[hand] == group
        seen[group] += 1
    assert sum(seen.values()) == 169 * 5


def test_combinations_of_each_group() -> None:
    sizes = Counter(dict.fromkeys(range(1, 10), 0))
    for hand in STARTING_HANDS:
        sizes[GROUPS[hand]] += 6 if len(hand) == 2 else 4 if hand[2] == "s" else 12
    assert [sizes[group] for group in range(1, 10)] == [12, 28, 30, 50, 24, 66, 64, 208, 844]
    assert sum(sizes.values()) == 1326


def test_cells_after_the_flop_are_those_of_the_work() -> None:
    for kind, street, opponent in product(HandKind, STREETS, Opponent):
        lines = WORK["postflop"][kind.name.lower()]
        expected = lines.get(street, lines)[LINES[opponent]]
        assert plain(POSTFLOP_RULES[kind, street, opponent]) == expected


def test_tables_are_numbered_as_in_the_work() -> None:
    numbers = {"high card": 11, "pair": 12, "two pair": 13, "trips": 14, "straight": 15, "flush": 16}
    for kind in HandKind:
        group = kind.value.split(",")[0]
        assert POSTFLOP_RULES[kind, "turn", Opponent.RAISE].table == numbers.get(group, 17)
    assert sorted([*PREFLOP_TABLES, *POSTFLOP_TABLES]) == list(range(2, 18))


def test_expanding_hands() -> None:
    assert expand_hands("AA A4s-A2s KQo") == ["AA", "A4s", "A3s", "A2s", "KQo"]
    assert expand_hands("32s") == ["32s"]


@pytest.mark.parametrize("text", ["AX", "A2s-A4s", "A4s-A2o", "22-44"])
def test_invalid_hands_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="names no hands"):
        expand_hands(text)


def test_cells() -> None:
    assert parse_cell(9, "fold") == (9, "fold", TableMove.FOLD, TableMove.FOLD, None)
    assert parse_cell(9, "call/re-raise") == (9, "call/re-raise", TableMove.CALL, TableMove.RE_RAISE, None)
    assert parse_cell(9, "re-raise/call")[2:] == (TableMove.CALL, TableMove.RE_RAISE, None), (
        "printed the other way round"
    )
    assert parse_cell(9, "call/fold")[2:] == (TableMove.FOLD, TableMove.CALL, None)
    assert parse_cell(9, "call <= 40") == (9, "call <= 40", TableMove.FOLD, TableMove.CALL, 40)
    assert [parse_cell(9, text).has_slash for text in ("fold", "call/fold", "call <= 5")] == [False, True, False]
    assert [move.word for move in TableMove] == ["fold", "check", "call", "raise", "re-raise", "all-in"]


@pytest.mark.parametrize("text", ["", "bet", "call/", "fold/call/raise", "call/fold <= 40"])
def test_invalid_cells_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a cell"):
        parse_cell(9, text)


@pytest.mark.parametrize(
    ("limit", "big_blind", "chips"),
    [(40, 2, 40), (40, 100, 2000), (5, 1, 2)],
)
def test_limits_scale_with_the_big_blind(limit: int, big_blind: int, chips: int) -> None:
    assert parse_cell(9, f"call <= {limit}").limit_chips(big_blind) == chips
    assert parse_cell(9, "call").limit_chips(big_blind) is None
