"""Betting trees as arrays: counted, and compared with the rules."""

from __future__ import annotations

import numpy as np
import pytest

from bots.cfr import tree as tree_module
from bots.cfr.tree import DECISION, FOLDED, SHOWDOWN, betting_tree, default_caps, read_caps
from bots.errors import SolvingError
from engine import ActionKind, BettingState, betting_start
from protocol import find_game


def test_tree_of_limit_hold_em_has_the_known_size() -> None:
    tree = betting_tree(find_game("limit")[1])
    assert len(tree.kinds) == 16_584
    decisions = np.bincount(tree.rounds[tree.decisions])
    assert decisions.tolist() == [8, 70, 630, 5670]
    assert (tree.kinds == FOLDED).sum() == (tree.kinds == SHOWDOWN).sum() == 5103


@pytest.mark.parametrize(("name", "nodes", "decisions"), [("kuhn", 9, 4), ("leduc", 85, 36)])
def test_trees_of_small_games(name: str, nodes: int, decisions: int) -> None:
    tree = betting_tree(find_game(name)[1])
    assert (len(tree.kinds), len(tree.decisions)) == (nodes, decisions)


@pytest.mark.slow  # some seconds
def test_tree_of_three_players_has_the_known_size() -> None:
    game = find_game("limit3")[1]
    tree = betting_tree(game, read_caps(default_caps(game), 4))
    assert len(tree.kinds) == 315_068
    assert np.bincount(tree.rounds[tree.decisions]).tolist() == [90, 1_116, 11_982, 123_930]


@pytest.mark.parametrize(
    ("name", "caps"), [("limit", "2/1/3/0"), ("leduc", ""), ("kuhn.limit.3p", ""), ("limit3", "1/1/1/1")]
)
def test_nodes_follow_the_rules(name: str, caps: str) -> None:
    game = find_game(name)[1]
    of_rounds = [int(cap) for cap in caps.split("/")] if caps else game.max_raises
    tree = betting_tree(game, read_caps(caps, 4) if caps else None)
    waiting: list[tuple[int, BettingState]] = [(0, betting_start(tree.game))]
    seen = 0
    while waiting:
        node, state = waiting.pop()
        seen += 1
        assert tree.rounds[node] == state.round
        if tree.kinds[node] == DECISION:
            assert tree.players[node] == state.acting_position
            legal = state.legal_actions()
            raises = sum(action.kind is ActionKind.RAISE for _, action in state.rounds[-1])
            can_raise = legal.can_raise and raises < of_rounds[state.round]
            assert len(tree.actions[node]) == 1 + legal.can_fold + can_raise
            for action, child in zip(tree.actions[node], tree.children[node].tolist(), strict=False):
                assert tree.parents[child] == node < child
                waiting.append((child, state.after(action)))
        else:
            assert state.finished
            assert tree.chips[node] == min(state.spent)
            assert tree.spent[node].tolist() == list(state.spent)
            assert tree.folded[node] == state.folded
            assert tree.kinds[node] == (SHOWDOWN if state.is_showdown else FOLDED)
            if not state.is_showdown:
                assert tree.players[node] == tree.players[tree.parents[node]]
    assert seen == len(tree.kinds)


@pytest.mark.parametrize("text", ["", "2/2", "2/2/2/x", "-1", "64", "2/2/2/2/2"])
def test_invalid_caps_are_refused(text: str) -> None:
    with pytest.raises(SolvingError, match=r"raises of a limit game are a number for all rounds, or 4 such as 4/3/2/1"):
        read_caps(text, 4)


def test_other_games_are_refused() -> None:
    with pytest.raises(SolvingError, match="no-limit"):
        betting_tree(find_game("nolimit")[1])


def test_large_tree_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree_module, "MAX_NODES", 1000)
    with pytest.raises(SolvingError, match=r"its betting has more than 1,000 nodes"):
        betting_tree(find_game("limit")[1])
