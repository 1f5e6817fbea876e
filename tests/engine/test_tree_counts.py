"""Every betting sequence of small games, compared with the textbook rules in `naive.py`.

Both walks must agree on the text of every sequence, the player to act, and every player's chips.

"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from engine import CALL, FOLD, RAISE, Action, BettingState, Game, betting_start, raise_to
from protocol import find_game
from tests.engine.naive import all_tables
from tests.engine.strategies import action_texts, toy_game

NO_LIMIT_2P = toy_game((14, 17), (2, 1), rounds=2, first_players=(1, 0))
NO_LIMIT_3P = toy_game((5, 9, 7), (1, 2, 0), rounds=2, first_players=(2, 0))
NO_LIMIT_4P_ALL_IN_BLIND = toy_game((1, 2, 5, 4), (1, 2, 0, 0), first_players=(2,))
LIMIT_3P = toy_game(
    (1000, 1000, 1000), (5, 10, 0), rounds=2, raise_sizes=(10, 10), first_players=(2, 0), max_raises=(3, 4)
)
LIMIT_3P_SHORT = toy_game(
    (25, 31, 60), (5, 10, 0), rounds=2, raise_sizes=(10, 20), first_players=(2, 0), max_raises=(3, 3)
)


def shipped(name: str) -> Game:
    return find_game(name)[1]


def children(state: BettingState) -> Iterator[BettingState]:
    legal = state.legal_actions()
    actions: list[Action] = [FOLD] * legal.can_fold + [CALL]
    if legal.can_raise and state.game.is_limit:
        actions.append(RAISE)
    elif legal.can_raise:
        actions += map(raise_to, range(legal.raise_min, legal.raise_max + 1))
    return map(state.after, actions)


def all_states(game: Game) -> Iterator[BettingState]:
    stack = [betting_start(game)]
    while stack:
        state = stack.pop()
        yield state
        if not state.finished:
            stack.extend(children(state))


COUNTS = {
    "kuhn.limit.2p": (shipped("kuhn.limit.2p"), 4, 5),
    "kuhn.limit.3p": (shipped("kuhn.limit.3p"), 12, 13),
    "leduc.limit.2p": (shipped("leduc.limit.2p"), 36, 49),
    "holdem.limit.2p": (shipped("holdem.limit.2p.reverse_blinds"), 6378, 10206),
    "no-limit 2p, every size": (NO_LIMIT_2P, 3162, 5878),
    "no-limit 3p, every size": (NO_LIMIT_3P, 682, 1012),
    "no-limit 4p, two all-in from their blinds": (NO_LIMIT_4P_ALL_IN_BLIND, 6, 10),
    "limit 3p, two rounds": (LIMIT_3P, 4502, 6582),
    "limit 3p, short stacks": (LIMIT_3P_SHORT, 318, 428),
}
"""Decision points and ends of each game."""


@pytest.mark.sampled
@pytest.mark.parametrize(("game", "decisions", "ends"), COUNTS.values(), ids=COUNTS)
def test_every_betting_sequence(game: Game, decisions: int, ends: int) -> None:
    states_by_text = {
        action_texts(state): (state.finished, state.acting_position, state.round, state.spent)
        for state in all_states(game)
    }
    expected = {
        table.text: (table.is_over, -1 if table.is_over else table.waiting[0], table.round, table.spent)
        for table in all_tables(game)
    }
    assert states_by_text == expected
    assert sum(not finished for finished, *_ in states_by_text.values()) == decisions
    assert sum(finished for finished, *_ in states_by_text.values()) == ends
