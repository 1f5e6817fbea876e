"""Compiled hands, compared with `bots.self_play` in the chips of every hand."""

from __future__ import annotations

import random
from itertools import islice

import numpy as np
import pytest

from bots import self_play
from bots.sdk.registry import make_bot
from engine import deals
from protocol import find_game

pytestmark = pytest.mark.slow

_SEED = 77
_DEALS = 20
_FIRST = 3
_BOTS = (
    "calling",
    "folding",
    "raising",
    "constant?decision=4",
    "constant?action=raise,size=0.7",
    "constant?action=raise,size=allin",
    "constant?action=fold",
    "random?seed=5",
    "random?seed=9,decisions=20/50/15/10/5",
    "random?fold=0,raise=0.3,call=0.1",
    "mfs?k=1,trials=20",
    "mfs?k=2,trials=20",
    "mfs?k=4,trials=30",
    "rh?k=8",
    "rh?k=2",
    "rh?k=64",
)


@pytest.mark.parametrize("number", range(16))
def test_hands_of_the_simple_players(number: int) -> None:
    from bots.learner.kernel import NO_CHANCE, KnownCells, as_players, play_deals, simple_seat
    from engine.kernels.betting import betting_tables

    draw = random.Random(number)
    kind = ("limit", "nolimit")[number % 2] + ("", "3", "6", "10")[number // 2 % 4]
    game = find_game(kind)[1]
    if number >= 8:
        game = game._replace(stacks=tuple(draw.randint(1, 30) * game.big_blind for _ in range(game.num_players)))
    players = game.num_players
    specs = [draw.choice(_BOTS) for _ in range(players)]
    names = [str(seat) for seat in range(players)]
    bots = [make_bot(spec, _SEED) for spec in specs]

    table = as_players([seat for bot in bots if (seat := simple_seat(bot)) is not None])
    cards = [[*sum(deal.hole_cards, ()), *deal.board] for deal in islice(deals(game, 4, _FIRST), _DEALS)]
    nothing = KnownCells(
        np.full(1, -1, np.int32), np.zeros(1, np.int64), np.zeros((1, 5, 4), np.int64), np.zeros(1, np.int64)
    )
    chances = np.full((_DEALS, len(table.chance_trials), players, 3, 9), NO_CHANCE)
    values = np.zeros((_DEALS, players, players))
    for _ in range(2):  # the second time with cached chances
        assert (
            play_deals(
                betting_tables(game), table, nothing, np.array(cards, np.uint8), _FIRST, players, chances, values
            )
            == _DEALS
        )
        records = self_play(game, bots, deals=_DEALS, seed=4, names=names, first_hand=_FIRST)
        for at, record in enumerate(records):
            deal, turn = divmod(at, players)
            won = {record.name_at(position): value for position, value in enumerate(record.values)}
            assert values[deal, turn].tolist() == [won[name] for name in names], (specs, at)
