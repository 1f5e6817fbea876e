"""Betting nodes: same rules as the engine, cached replies, bounded memory."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import CALL, FOLD, RAISE, Action, ActionKind, Game, IllegalAction, betting_start, raise_to
from protocol import betting_nodes, find_game
from protocol.actions import format_action, scan_action
from protocol.betting_nodes import first_node
from protocol.match_state import betting_text
from tests.engine.strategies import SEEDS, games, random_play
from tests.protocol.states import ANY_GAME, node_of

LIMIT, NO_LIMIT = find_game("limit")[1], find_game("nolimit")[1]


@given(st.one_of(ANY_GAME, games()), SEEDS)
def test_nodes_agree_with_their_states(game: Game, seed: int) -> None:
    """Check a new node, then the cached one."""
    for _ in range(3):
        node = first_node(game)
        for betting, action in random_play(game, seed):
            assert node.betting == betting
            assert (node.acting_position, node.round) == (betting.acting_position, betting.round)
            assert (node.finished, node.is_showdown) == (betting.finished, betting.is_showdown)
            assert node.text.decode() == betting_text(betting)
            assert node_of(betting).betting == betting
            if action is not None:
                after = node.after_reply(b":" + format_action(action).encode() + b"\r\n")
                assert after is not None
                assert (after.action, after.betting) == (action, node.after(action).betting)
                node = after


TAILS = st.one_of(
    st.sampled_from(
        [
            b":c\r\n",
            b":f\n",
            b":r300\r\n",
            b":r 300\n",
            b":r3e2\n",
            b":r411x\n",
            b":r411_\n",
            b":r411 \n",
            b":r\n",
            b":c\0x\n",
            b":call\n",
            b"c\n",
        ]
    ),
    st.binary(max_size=30),
    st.binary(max_size=8).map(lambda text: b":r" + text + b"\n"),
)


@given(st.sampled_from([LIMIT, NO_LIMIT]), st.lists(TAILS, min_size=1, max_size=6))
def test_only_a_single_line_with_a_legal_action_is_a_reply(game: Game, tails: list[bytes]) -> None:
    for tail in tails:
        after = first_node(game).after_reply(tail)
        if after is not None:
            assert tail.endswith(b"\n")
            assert tail.count(b"\n") == 1
            scanned = scan_action(tail.split(b"\0")[0].decode("latin-1"), 1, game.is_limit)
            assert scanned is not None
            assert scanned[0] == after.action
            assert after.betting == betting_start(game).after(scanned[0])


def test_an_action_need_not_be_in_its_plain_form() -> None:
    node = first_node(LIMIT)
    for action in (Action(ActionKind.RAISE, 40), RAISE, Action(ActionKind.RAISE, 0), Action(ActionKind.CALL, 7)):
        node = node.after(action)
    assert node.after(RAISE).after(Action(ActionKind.FOLD, 3)).text == b"rrrc/rf"


@pytest.mark.parametrize("action", [FOLD, raise_to(5), raise_to(10**6)])
def test_illegal_actions_have_no_node(action: Action) -> None:
    node = first_node(NO_LIMIT).after(CALL)
    assert node.after_if_legal(action) is None
    with pytest.raises(IllegalAction):
        node.after(action)


def test_a_full_memory_is_forgotten_and_grows_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(betting_nodes, "MAX_REMEMBERED", 10)
    first_node.cache_clear()
    first = first_node(NO_LIMIT)
    for size in range(200, 260):
        for _ in range(2):
            after = first.after_reply(b":r%d\r\n" % size)
            assert after is not None
            assert after.betting.max_spent == size
        assert len(first.known) <= 11
