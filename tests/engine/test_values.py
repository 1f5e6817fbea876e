"""Values are equal by content: games, betting states, deals and actions."""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given

from engine import CALL, RAISE, BettingState, Deal, Game, IllegalAction, Rule, betting_start, deal_hand, raise_to
from protocol import find_game, shipped_games
from tests.engine.strategies import SEEDS, games, random_end, random_play

ROOT = Path(__file__).resolve().parents[2]

UNPICKLE = """
import pickle, sys
values = pickle.load(sys.stdin.buffer)
again = pickle.loads(pickle.dumps(values))
for value, equal in zip(values, again, strict=True):
    assert value == equal and hash(value) == hash(equal), value
    assert value in {equal} and value in set(values), value
sys.stdout.buffer.write(pickle.dumps((set(values), values)))
"""


def rebuild(state: BettingState, game: Game | None = None) -> BettingState:
    """Return the same betting in a separate tree, one state per round."""
    after: BettingState | None = betting_start.__wrapped__(game or state.game)
    for actions in state.rounds:
        assert after is not None
        after = after.after_many([action for _, action in actions])
    assert after is not None
    return after


def states(name: str, hands: int = 20) -> list[BettingState]:
    """Return every state of some hands."""
    game = find_game(name)[1]
    return [state for seed in range(hands) for state, _ in random_play(game, seed)]


def test_values_are_equal_in_another_process() -> None:
    game_values = [find_game(name)[1] for name in shipped_games()]
    values: list[object] = [*game_values, *states("limit"), *states("nolimit6")]
    values += [deal_hand(game, 7, 3) for game in game_values] + [CALL, raise_to(300)]
    hash(values[0])  # a hash cached before pickling would be sent
    assert len(set(values)) > 300
    result = subprocess.run(
        [sys.executable, "-c", UNPICKLE],
        input=pickle.dumps(values),
        cwd=ROOT,
        env={**os.environ, "PYTHONHASHSEED": "random"},
        capture_output=True,
        check=True,
    )
    distinct, in_order = pickle.loads(result.stdout)
    assert in_order == values
    assert distinct == set(values)
    assert all(value in distinct for value in values)


@given(games(), SEEDS)
def test_bettings_are_equal_by_game_and_actions(game: Game, seed: int) -> None:
    played = [state for state, _ in random_play(game, seed)]
    for state in played:
        other = rebuild(state)
        assert other == state
        assert hash(other) == hash(state)
        assert {state: 1}[other] == 1
    assert len(set(played)) == len(played)
    assert len({*played, *map(rebuild, played)}) == len(played)


@given(games(), SEEDS)
def test_bettings_of_other_games_are_other_bettings(game: Game, seed: int) -> None:
    other = game._replace(num_suits=4 if game.num_suits < 4 else 3, num_ranks=13)
    state = random_end(game, seed)
    same_actions = rebuild(state, other)
    assert same_actions.rounds == state.rounds
    assert same_actions != state
    assert state != state.rounds


def test_copies_are_equal() -> None:
    game = find_game("leduc")[1]
    state, deal = betting_start(game).after(RAISE), deal_hand(game, 1, 1)
    for value in (game, state, deal, state.legal_actions()):
        assert copy.copy(value) == copy.deepcopy(value) == value
    assert Deal(*deal) == deal


def test_errors_keep_their_rule_in_another_process() -> None:
    with pytest.raises(IllegalAction) as refused:
        betting_start(find_game("nolimit")[1]).after(raise_to(1))
    again = pickle.loads(pickle.dumps(refused.value))
    assert (again.rule, str(again)) == (Rule.BELOW_MINIMUM, str(refused.value))
    assert str(again).endswith("(1, at least 200)")
