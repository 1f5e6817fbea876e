"""The lines a dealer makes of prepared pieces, against states written one by one."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from engine import Game, deal_hand
from protocol.betting_nodes import node_of
from protocol.hand_lines import HandLines
from tests.engine.strategies import SEEDS, games, random_play
from tests.protocol.states import ANY_GAME, view


@settings(max_examples=150)
@given(st.one_of(ANY_GAME, games()), SEEDS, st.sampled_from([0, 7, 2**32 - 1]))
def test_every_line_of_a_hand_for_every_position(game: Game, seed: int, hand_number: int) -> None:
    deal = deal_hand(game, seed, 0)
    lines = HandLines(game, deal, hand_number)
    for betting, _ in random_play(game, seed):
        for position in range(game.num_players):
            expected = view(betting, deal, position, hand_number).format().encode() + b"\r\n"
            assert lines.line(position, node_of(betting)) == expected
