"""Canonical boards and hands: counts, and invariance under names of suits."""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bots.cfr.boards import HOLDING_CARDS, HOLDING_COUNT, canonical_boards, distinct_holdings, suit_order
from engine.cards import STARTING_HANDS, starting_hand
from tests.bots.cfr.drawn import flop_starts

BOARDS = st.lists(st.integers(0, 51), min_size=3, max_size=5, unique=True)


def hands_on(cards: int) -> int:
    """Count the hands with a board of this number of cards, up to the names of suits."""
    return sum(int(distinct_holdings(board).max()) + 1 for board in canonical_boards(cards).cards.tolist())


@pytest.mark.parametrize(("cards", "count"), [(3, 1755), (4, 16_432), pytest.param(5, 134_459, marks=pytest.mark.slow)])
def test_canonical_boards_represent_all(cards: int, count: int) -> None:
    boards = canonical_boards(cards)
    assert len(boards.keys) == count
    assert boards.times.sum() == comb(52, cards)
    assert (np.diff(boards.keys) > 0).all()
    for row in range(0, count, 251):
        assert suit_order(boards.cards[row].tolist()) == (boards.keys[row], (0, 1, 2, 3))


def test_every_flop_occurs_as_often_as_it_is_counted() -> None:
    boards = canonical_boards(3)
    rows = np.searchsorted(boards.keys, [suit_order(board)[0] for board in combinations(range(52), 3)])
    assert (np.bincount(rows) == boards.times).all()


def test_number_of_flop_hands_is_known() -> None:
    assert len({starting_hand(cards) for cards in HOLDING_CARDS.tolist()}) == len(STARTING_HANDS) == 169
    assert flop_starts()[-1] == 1_286_792


@pytest.mark.slow
@pytest.mark.parametrize(("cards", "count"), [(4, 13_960_050), (5, 123_156_254)])
def test_number_of_later_hands_is_known(cards: int, count: int) -> None:
    assert hands_on(cards) == count


@given(board=BOARDS, suits=st.permutations(range(4)))
def test_names_of_suits_make_no_difference(board: list[int], suits: list[int]) -> None:
    renamed = [card & 0xFC | suits[card & 3] for card in board]
    key, order = suit_order(board)
    assert suit_order(renamed)[0] == key
    canonical = [card & 0xFC | order[card & 3] for card in board]
    assert suit_order(canonical) == (key, (0, 1, 2, 3))


@given(board=BOARDS)
def test_hands_are_numbered_without_gaps(board: list[int]) -> None:
    _, order = suit_order(board)
    canonical = [card & 0xFC | order[card & 3] for card in board]
    numbers = distinct_holdings(canonical)
    is_live = np.array([not {*cards} & {*canonical} for cards in HOLDING_CARDS.tolist()])
    assert ((numbers >= 0) == is_live).all()
    assert {*numbers[is_live].tolist()} == {*range(int(numbers.max()) + 1)}
    assert len(numbers) == HOLDING_COUNT
