"""Lines built from prepared pieces, compared with states formatted one by one."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engine import Game, Seat, deal_hand
from engine.hand import hand_values
from logs import HandRecord, format_state_line
from logs.acpc_log.writer import state_line_ending
from protocol.betting_nodes import HandLines
from tests.engine.strategies import SEEDS, games, random_play
from tests.protocol.states import ANY_GAME, node_of, view


@given(st.one_of(ANY_GAME, games()), SEEDS, st.sampled_from([0, 7, 2**32 - 1]))
def test_every_line_of_a_hand_for_every_position(game: Game, seed: int, hand_number: int) -> None:
    deal = deal_hand(game, seed, 0)
    lines = HandLines(game, deal, hand_number)
    for betting, _ in random_play(game, seed):
        for position in range(game.num_players):
            expected = view(betting, deal, position, hand_number).format().encode() + b"\r\n"
            assert lines.line(position, node_of(betting)) == expected


@given(st.one_of(ANY_GAME, games()), SEEDS, st.sampled_from([0, 7, 2**32 - 1]))
def test_the_line_in_the_log_is_that_of_the_record(game: Game, seed: int, hand_number: int) -> None:
    deal = deal_hand(game, seed, 0)
    names = tuple(f"p\udcff{position}" for position in range(game.num_players))
    *_, (betting, _) = random_play(game, seed)
    values = tuple(hand_values(betting, deal))
    seats = tuple(Seat(position) for position in range(game.num_players))
    record = HandRecord(game, "m", hand_number, names, seats, deal, betting, values)
    line = HandLines(game, deal, hand_number).state_line(node_of(betting), state_line_ending(values, names))
    assert line == format_state_line(record).encode("utf-8", "surrogateescape")
