from __future__ import annotations

from engine import CALL, FOLD, RAISE, Action, ActionKind, LegalActions, raise_to


def test_fold_call_and_the_limit_raise_have_no_size() -> None:
    assert Action(ActionKind.FOLD) == FOLD
    assert Action(ActionKind.CALL, 0) == CALL
    assert raise_to(0) == RAISE
    assert FOLD.hand_total == CALL.hand_total == RAISE.hand_total == 0


def test_actions_are_equal_by_kind_and_size() -> None:
    assert raise_to(300) == Action(ActionKind.RAISE, 300)
    assert raise_to(300) != raise_to(301)
    assert len({FOLD, CALL, RAISE, raise_to(300), raise_to(300)}) == 4


def test_without_a_raise_there_are_no_bounds() -> None:
    assert LegalActions(True, False) == (True, False, 0, 0)
