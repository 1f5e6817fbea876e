"""The legal action nearest to one that the rules refuse."""

from __future__ import annotations

import pytest
from hypothesis import given

from engine import CALL, FOLD, RAISE, Action, Game, IllegalAction, Rule, betting_start, nearest_legal, raise_to
from protocol import find_game
from tests.engine.strategies import SEEDS, games, random_play
from tests.engine.test_betting import state_after


@pytest.mark.parametrize(
    ("action", "nearest"),
    [
        (CALL, CALL),
        (RAISE, raise_to(200)),
        (raise_to(199), raise_to(200)),
        (raise_to(20000), raise_to(20000)),
        (raise_to(20001), raise_to(20000)),
    ],
)
def test_sizes_are_moved_into_the_bounds(action: Action, nearest: Action) -> None:
    assert nearest_legal(action, betting_start(find_game("nolimit")[1])) == nearest


def test_calls_and_all_ins_replace_illegal_raises() -> None:
    limit, nolimit = find_game("limit")[1], find_game("nolimit")[1]
    assert nearest_legal(RAISE, state_after(limit, "crrr")) == CALL
    assert nearest_legal(FOLD, state_after(limit, "c")) == CALL
    assert nearest_legal(raise_to(12345), state_after(limit, "c")) == RAISE
    assert nearest_legal(raise_to(20000), state_after(nolimit, [raise_to(20000)])) == CALL


def test_after_the_hand() -> None:
    with pytest.raises(IllegalAction) as caught:
        nearest_legal(CALL, state_after(find_game("kuhn")[1], "crc"))
    assert caught.value.rule is Rule.HAND_OVER


@given(games(), SEEDS)
def test_nearest_action_is_legal_and_legal_actions_stay(game: Game, seed: int) -> None:
    for state, action in random_play(game, seed):
        if action is None:
            return
        legal = state.legal_actions()
        assert nearest_legal(action, state) == action
        for wanted in (FOLD, CALL, RAISE, raise_to(legal.raise_min - 1), raise_to(legal.raise_max + 1)):
            nearest = nearest_legal(wanted, state)
            state.check(nearest)
            assert nearest.kind in (wanted.kind, CALL.kind)
