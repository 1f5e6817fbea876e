"""Trees with merged flops, compared with the rules of betting."""

from __future__ import annotations

from collections import defaultdict
from functools import cache

import numpy as np
import pytest

from bots.cfr.merged_tree import FlopType, MergedTree, merged_tree
from bots.cfr.sampling import by_node, sampled_tree
from bots.cfr.tree import CONTINUED, DECISION, BettingTree
from bots.errors import SolvingError
from engine import CALL, ActionKind, BettingState, betting_start
from protocol import find_game
from tests.bots.cfr.drawn import BUCKETS

GAME = find_game("nolimit3")[1]._replace(stacks=(6_000,) * 3)


@cache
def three_players() -> MergedTree:
    return merged_tree(GAME)


def preflop_states(tree: BettingTree) -> dict[int, BettingState]:
    """Return the state of each node, by the rules."""
    states = {0: betting_start(tree.game)}
    for node in tree.decisions.tolist():
        for action, child in zip(tree.actions[node], tree.children[node].tolist(), strict=False):
            states[child] = states[node].after(action)
    return states


def test_preflop_tree_has_the_raises_of_its_description() -> None:
    tree = three_players().preflop
    totals = defaultdict(set)
    for node, state in preflop_states(tree).items():
        if tree.kinds[node] == DECISION:
            raises = [action for _, action in state.rounds[0] if action.kind is ActionKind.RAISE]
            size = raises[-1].hand_total if raises else 100
            totals[size] |= {action.hand_total for action in tree.actions[node] if action.kind is ActionKind.RAISE}
            is_limp = not raises and state.to_call > 0
            assert (CALL in tree.actions[node]) == (not is_limp or state.acting_position == 0)
    assert totals == {100: {250, 6_000}, 250: {875, 6_000}, 875: {2_012, 6_000}, 2_012: {6_000}, 6_000: set()}


def test_entries_have_the_players_and_chips_of_their_states() -> None:
    tree = three_players()
    states = preflop_states(tree.preflop)
    assert [entry.node for entry in tree.entries] == np.flatnonzero(tree.preflop.kinds == CONTINUED).tolist()
    types = defaultdict(set)
    for entry in tree.entries:
        state = states[entry.node]
        assert state.round == 1
        assert entry.positions == state.in_pot
        assert entry.positions[0] == state.acting_position
        assert {state.spent[position] for position in entry.positions} == {entry.matched}
        assert (entry.pot, entry.stack) == (state.pot, 6_000 - entry.matched)
        raisers = [position for position, action in state.rounds[0] if action.kind is ActionKind.RAISE]
        raiser = entry.positions.index(raisers[-1]) if raisers else -1
        blinds = len({0, 1} & {*entry.positions})
        types[entry.subtree].add(FlopType(len(entry.positions), len(raisers), blinds, raiser))
        model = tree.models[entry.subtree]
        assert model.stack / model.pot >= entry.stack / entry.pot
    assert all(len(same) == 1 for same in types.values())
    assert len(set.union(*types.values())) == len(types) == len(tree.subtrees) == 17


def test_fourth_player_cannot_call() -> None:
    tree = merged_tree(find_game("nolimit6")[1]._replace(stacks=(900,) * 6))
    assert max(len(entry.positions) for entry in tree.entries) == 3
    states = preflop_states(tree.preflop)
    for node in tree.preflop.decisions.tolist():
        state = states[node]
        if state.to_call and any(action.kind is ActionKind.RAISE for _, action in state.rounds[0]):
            matched = [position for position in state.in_pot if state.spent[position] == state.max_spent]
            assert (CALL in tree.preflop.actions[node]) == (len(matched) < 3)


def test_every_number_belongs_to_one_information_set() -> None:
    arrays = sampled_tree(three_players(), BUCKETS)
    numbers = np.arange(arrays.size)
    views = [view.ravel() for _, view in by_node(three_players(), arrays, BUCKETS, numbers)]
    assert np.array_equal(np.sort(np.concatenate(views)), numbers)


@pytest.mark.parametrize(
    ("name", "stacks", "sentence"),
    [
        ("nolimit10", (20_000,) * 10, "is trained for with two, three or six players, not 10: take another game"),
        ("nolimit3", (500, 900, 2_000), "is trained for with equal stacks: make those of the game equal"),
    ],
)
def test_other_games_are_refused(name: str, stacks: tuple[int, ...], sentence: str) -> None:
    with pytest.raises(SolvingError, match=sentence):
        merged_tree(find_game(name)[1]._replace(stacks=stacks))
