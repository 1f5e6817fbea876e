"""Bounds of the result of a hand: never exceeded, and reached."""

from __future__ import annotations

import random
from itertools import islice

import pytest
from hypothesis import given

from engine import (
    CALL,
    RAISE,
    Game,
    Hand,
    deal_hand,
    deals,
    hand_values,
)
from logs.estimation import LargestLoss, largest_loss, largest_loss_mbb, largest_value, score_bounds
from protocol import find_game, shipped_games
from tests.engine.strategies import SEEDS, games, random_play, toy_game
from tests.logs.estimation.populations import calling, careless, largest_raising, play, raising

ROUNDING_CHIPS = 1e-6


@pytest.mark.parametrize("name", shipped_games())
def test_bounds_are_reached_if_all_players_raise(name: str) -> None:
    game = find_game(name)[1]
    chance = random.Random(1)
    values = [
        value
        for deal in islice(deals(game, 3), 40)
        for value in play(game, [largest_raising] * game.num_players, deal, chance)
    ]
    assert min(values) == -largest_loss(game)
    assert max(values) == largest_value(game)


@pytest.mark.sampled
@pytest.mark.parametrize("name", shipped_games())
def test_random_hands_stay_within(name: str) -> None:
    game = find_game(name)[1]
    chance = random.Random(2)
    lowest, highest = score_bounds(game)
    for deal in islice(deals(game, 4), 100):
        players = [chance.choice([calling, careless, raising, largest_raising]) for _ in range(game.num_players)]
        for value in play(game, players, deal, chance):
            assert -largest_loss(game) <= value <= largest_value(game) + ROUNDING_CHIPS
            assert lowest <= value * 1000 / game.big_blind <= highest + ROUNDING_CHIPS


@given(games(), SEEDS)
def test_any_game_stays_within(game: Game, seed: int) -> None:
    *_, (end, _) = random_play(game, seed)
    values = hand_values(end, deal_hand(game, seed, 0))
    assert min(values) >= -largest_loss(game) - ROUNDING_CHIPS
    assert max(values) <= largest_value(game) + ROUNDING_CHIPS


def test_a_round_has_fewer_raises_than_actions() -> None:
    game = toy_game((10_000,) * 3, (1, 2, 0), raise_sizes=(10,), first_players=(2,))
    hand = Hand(game, deal_hand(game, 1, 0))
    while not hand.finished:
        hand.apply(RAISE if hand.legal_actions().can_raise else CALL)
    assert max(hand.betting.spent) == largest_loss(game) == 2 + 62 * 10


def test_a_hand_can_cost_a_stack_only_without_limits() -> None:
    assert largest_loss_mbb(find_game("nolimit")[1]) == LargestLoss(200_000.0, is_stack=True)
    assert largest_loss_mbb(find_game("limit")[1]) == LargestLoss(24_000.0, is_stack=False)
