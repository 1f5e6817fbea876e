"""The compiled betting of one hand equals the rules in every number, payouts included."""

from __future__ import annotations

import random

import numpy as np
import pytest

from engine import Game, deals, rank_hand
from engine.betting_rules import BettingPoint, betting_rules, first_point
from engine.hand import end_values
from protocol import find_game

pytestmark = pytest.mark.slow


def _numbers(point: BettingPoint) -> list[int]:
    return [int(number) for name, number in point._asdict().items() if name != "spent"]


def _action(point: BettingPoint, stack: int, draw: random.Random) -> tuple[int, int]:
    """Return any legal action, often a raise, often with a size at a bound."""
    if point.spent[point.position] not in (point.max_spent, stack) and draw.random() < 0.3:
        return 0, 0
    if not point.may_raise or draw.random() < 0.4:
        return 1, 0
    low = min(point.min_raise_to, stack)
    return 2, draw.choice([low, stack, draw.randint(low, stack), min(stack, 2 * low)])


def _stacks(game: Game, kind: str, draw: random.Random) -> Game:
    blind, players = game.big_blind, game.num_players
    if kind == "round":
        return game._replace(stacks=tuple(draw.choice([blind, 2 * blind, 7 * blind]) for _ in range(players)))
    if kind == "uneven":
        return game._replace(stacks=tuple(draw.randint(blind, 30 * blind) for _ in range(players)))
    return game


@pytest.mark.parametrize("kind", ["deep", "round", "uneven"])
@pytest.mark.parametrize("players", ["", "3", "6", "10"])
@pytest.mark.parametrize("betting", ["limit", "nolimit"])
def test_random_hands(betting: str, players: str, kind: str) -> None:
    from engine.kernels import betting as kernel

    draw = random.Random(f"{betting}{players}{kind}")
    game = _stacks(find_game(betting + players)[1], kind, draw)
    tables, after = kernel.betting_tables(game), betting_rules(game)
    point, spent = np.zeros(kernel.POINT_SIZE, np.int64), np.zeros(game.num_players, np.int64)
    values = np.zeros(game.num_players)
    for _, deal in zip(range(150), deals(game, 7), strict=False):
        kernel.start(tables, point, spent)
        expected = first_point(game)
        assert point.tolist() == _numbers(expected)
        while expected.position >= 0:
            kind_, size = _action(expected, game.stacks[expected.position], draw)
            kernel.act(tables, point, spent, kind_, size)
            following = after(expected, kind_, size)
            assert following is not None
            expected = following
            assert point.tolist() == _numbers(expected)
            assert tuple(spent.tolist()) == expected.spent
        ranks = np.array([rank_hand(hole + deal.board) for hole in deal.hole_cards], np.int64)
        kernel.pay(spent, expected.folded, ranks, values)
        assert tuple(values.tolist()) == end_values(game, expected.round, expected.spent, expected.folded, deal)
