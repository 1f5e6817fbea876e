"""Bet and raise sizes of a no-limit tree: parsed, and in chips."""

from __future__ import annotations

import pytest

from bots.cfr.tree import DECISION, HOLDEM_SIZES, ROUND_SIZES, betting_tree, read_sizes
from bots.errors import SolvingError
from engine import ActionKind
from protocol import find_game
from protocol.match_state import betting_after

NO_LIMIT = find_game("nolimit")[1]


@pytest.mark.parametrize(
    ("betting", "totals"),
    [
        ("", [200, 300, 20_000]),
        ("r300", [900, 20_000]),
        ("r300r900r2700", [20_000]),
        ("r300r900r2700r20000", None),
        ("r300c/", [600, 900, 20_000]),
        ("r300c/r600r1800", [20_000]),
        # Half a pot of 16,200 would leave 3,800, and a whole pot exceeds the stack.
        ("r300r900r2700c/r8100c/", [20_000]),
        ("cc/r201", [603, 20_000]),
    ],
)
def test_sizes_are_fractions_of_the_pot_after_a_call(betting: str, totals: list[int] | None) -> None:
    state = betting_after(NO_LIMIT, betting)
    if totals is None:
        assert not state.legal_actions().can_raise
    else:
        assert [action.hand_total for action in read_sizes(HOLDEM_SIZES, 4)(state)] == totals


def test_raises_end_where_the_text_ends() -> None:
    state = betting_after(NO_LIMIT, "r300r900")
    assert read_sizes("1:1", 4)(state) == []
    assert [action.hand_total for action in read_sizes("1:1:0.01", 4)(state)] == [1500]
    assert [action.hand_total for action in read_sizes("1:1:2/1/1/1", 4)(state)] == [4500]


@pytest.mark.slow
def test_sizes_of_the_tree_are_legal_and_ascend() -> None:
    tree = betting_tree(NO_LIMIT, read_sizes(HOLDEM_SIZES, 4))
    assert len(tree.kinds) == 23_778
    assert len(tree.decisions) == 8944
    for node in tree.decisions.tolist():
        totals = [action.hand_total for action in tree.actions[node] if action.kind is ActionKind.RAISE]
        assert totals == sorted({*totals})
        assert tree.kinds[node] == DECISION


@pytest.mark.parametrize("text", ["", "x", "0.5,,1", "0", "nan", "1e9", "1,2:", ",".join("123456789abcd")])
def test_invalid_sizes_are_refused(text: str) -> None:
    with pytest.raises(SolvingError, match="the sizes of a raise are 1 to 12 fractions of the pot and 'all'"):
        read_sizes(text, 4)


def test_sizes_are_for_one_round_or_for_all() -> None:
    with pytest.raises(SolvingError, match=r"for one round, which holds for all, or for all 4, not '1/1'"):
        read_sizes("1/1", 4)
    assert read_sizes(ROUND_SIZES, 4) == read_sizes("/".join([ROUND_SIZES] * 4), 4)
    assert read_sizes("all,1,0.5,1", 1) == read_sizes("0.5,1,all", 1)
