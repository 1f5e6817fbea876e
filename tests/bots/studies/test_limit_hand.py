"""Compiled hand loop compared with the rules: random limit games, random policies, equal chips."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bots.studies.limit_hand import limit_hand, limit_rules
from engine import CALL, FOLD, RAISE, BettingType, Game, betting_start, nearest_legal, rank_hand
from engine.dealing import deals
from engine.game import DEFAULT_STACK
from engine.hand import showdown_values
from engine.kernels.betting import holdem_ranks
from engine.kernels.draw import draw_cards, mixed
from engine.kernels.jit import njit
from engine.splitmix import MASK_64
from engine.splitmix import mixed as mixed_here
from protocol import find_game
from tests.engine.strategies import SEEDS

ACTIONS = (FOLD, CALL, RAISE)


@njit
def anything(context, position, round_, raises, actions, to_call, pot, in_pot):
    """Draw an action from all that a policy is given; the context is a seed and the frequency of folds."""
    word = context[0]
    for fact in (position, round_, raises, actions, to_call, pot, in_pot):
        word = mixed(word + np.uint64(fact))
    draw = int(word % np.uint64(100))
    return 0 if draw < context[1] else 1 + draw % 2


def anything_here(seed: int, fold: int, facts: tuple[int, ...]) -> int:
    """Python twin of `anything`."""
    word = seed
    for fact in facts:
        word = mixed_here(word + fact & MASK_64)
    draw = word % 100
    return 0 if draw < fold else 1 + draw % 2


PLAY = limit_hand(anything)


@st.composite
def limit_games(draw: st.DrawFn) -> Game:
    players, rounds = draw(st.integers(2, 10)), draw(st.integers(1, 4))

    def per_round(values: st.SearchStrategy[int]) -> tuple[int, ...]:
        return tuple(draw(values) for _ in range(rounds))

    return Game(
        betting=BettingType.LIMIT,
        num_players=players,
        num_rounds=rounds,
        stacks=(DEFAULT_STACK,) * players,
        blinds=tuple(draw(st.integers(0, 10)) for _ in range(players)),
        raise_sizes=per_round(st.integers(0, 20)),
        first_players=per_round(st.integers(0, players - 1)),
        max_raises=per_round(st.sampled_from([0, 1, 2, 4, 255])),
        num_suits=4,
        num_ranks=13,
        num_hole_cards=2,
        num_board_cards=(0, 3, 1, 1)[:rounds],
    )


@pytest.mark.slow  # numba compiles
@settings(max_examples=100)
@given(limit_games(), SEEDS, st.sampled_from([0, 5, 30]), st.data())
def test_compiled_loop_plays_by_the_rules(game: Game, seed: int, fold: int, data: st.DataObject) -> None:
    ranks = data.draw(st.lists(st.integers(0, 4), min_size=game.num_players, max_size=game.num_players))
    values = np.empty(game.num_players)
    in_pot = PLAY(limit_rules(game), (np.uint64(seed), fold), np.array(ranks), values)

    betting = betting_start(game)
    while not betting.finished:
        position, actions = betting.acting_position, betting.rounds[-1]
        raises = sum(action == RAISE for _, action in actions)
        facts = (position, betting.round, raises, len(actions), betting.max_spent - betting.spent[position])
        kind = anything_here(seed, fold, (*facts, betting.pot, sum(1 << p for p in betting.in_pot)))
        betting = betting.after(nearest_legal(ACTIONS[kind], betting))
    assert in_pot == sum(1 << p for p in betting.in_pot)
    shown_ranks = [None if betting.folded >> p & 1 else rank for p, rank in enumerate(ranks)]
    assert values.tolist() == pytest.approx(showdown_values(betting.spent, shown_ranks), abs=1e-9)


@pytest.mark.slow  # numba compiles
def test_hands_of_ten_players_are_zero_sum() -> None:
    game = find_game("limit10")[1]
    rules, ranks, values = limit_rules(game), np.empty(10, np.int64), np.empty(10)
    for seed, deal in zip(range(60), deals(game, 5), strict=False):
        cards = np.array([*(card for hole in deal.hole_cards for card in hole), *deal.board], np.uint8)
        holdem_ranks(cards, ranks)
        assert ranks.tolist() == [rank_hand(hole + deal.board) for hole in deal.hole_cards]
        in_pot = PLAY(rules, (np.uint64(seed), 20), ranks, values)
        assert values.sum() == pytest.approx(0, abs=1e-9)
        assert all(value <= 0 for position, value in enumerate(values) if not in_pot >> position & 1)


def test_no_limit_games_and_short_stacks_are_refused() -> None:
    with pytest.raises(ValueError, match="limit games only"):
        limit_rules(find_game("nolimit")[1])
    game = find_game("limit")[1]
    # Two rounds of three and four raises of 10, two of four of 20, on top of the big blind.
    assert limit_rules(game._replace(stacks=(241, 241)))
    with pytest.raises(ValueError, match="does not support all-ins: up to 240 chips"):
        limit_rules(game._replace(stacks=(240, 241)))


def test_cards_are_drawn_from_the_whole_deck() -> None:
    deck, counter = np.arange(52, dtype=np.uint8), np.uint64(9)
    seen = set()
    for _ in range(50):
        counter = np.uint64(draw_cards(deck, 7, counter))
        assert sorted(deck.tolist()) == list(range(52))
        seen.update(deck[:7].tolist())
    assert seen == set(range(52))
    assert mixed(np.uint64(12345)) == mixed_here(12345)
