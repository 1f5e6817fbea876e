"""Buckets while playing: one hand, all hands, and what the kernels of the training count are the same."""

from __future__ import annotations

import numpy as np
import pytest

from bots.cfr.abstraction import (
    HOLDING_CARDS,
    HOLDING_COUNT,
    HOLDING_NUMBERS,
    NO_BUCKET,
    canonical_boards,
    card_abstraction,
    suit_order,
)
from bots.cfr.bot import SHIPPED
from bots.cfr.files import StrategyFile, read_strategy
from bots.cfr.lookup import all_buckets, bucket_of
from bots.cfr.strengths import (
    MOST_STANDING,
    NO_STRENGTH,
    all_strengths,
    canonical,
    deal_board,
    flop_sums,
    renamed,
    river_strengths,
)
from engine import rank_hand

BOARDS = ((51, 20, 3, 8, 33), (0, 4, 8, 12, 16), (1, 2, 3, 50, 49), (10, 22, 35, 47, 6))


@pytest.fixture(scope="module")
def strategy() -> StrategyFile:
    """The shipped one."""
    return read_strategy(SHIPPED["limit"])


@pytest.mark.slow  # numba compiles
def test_strengths_on_a_river_are_what_counting_one_by_one_says() -> None:
    for board in BOARDS:
        strengths, standings = np.empty(HOLDING_COUNT, np.uint16), np.zeros(MOST_STANDING + 1, np.int64)
        river_strengths(np.array(board, np.uint8), strengths, standings)
        ranks = {
            at: rank_hand((*cards, *board))
            for at, cards in enumerate(map(tuple, HOLDING_CARDS.tolist()))
            if not {*cards} & {*board}
        }
        assert ((strengths == NO_STRENGTH) == [at not in ranks for at in range(HOLDING_COUNT)]).all()
        for at in list(ranks)[::101]:
            apart = [other for other in ranks if not {*HOLDING_CARDS[at]} & {*HOLDING_CARDS[other]}]
            assert len(apart) == 990
            counted = sum(2 * (ranks[other] < ranks[at]) + (ranks[other] == ranks[at]) for other in apart)
            assert strengths[at] == counted
        found = [
            2 * sum(r < rank for r in ranks.values()) + list(ranks.values()).count(rank) for rank in {*ranks.values()}
        ]
        assert {*np.flatnonzero(standings).tolist()} == {*found}
        assert standings.sum() == len(ranks) == 1081


def test_buckets_of_one_hand_and_of_all_are_the_same_on_a_turn(strategy: StrategyFile) -> None:
    for board in BOARDS:
        buckets = all_buckets(strategy, board[:4])
        for at, cards in enumerate(HOLDING_CARDS.tolist()):
            if {*cards} & {*board[:4]}:
                assert buckets[at] == NO_BUCKET
            elif at % 29 == 3:
                assert bucket_of(strategy, cards, board[:4]) == buckets[at]


def test_buckets_of_a_deal_are_those_of_play(strategy: StrategyFile) -> None:
    for board in BOARDS:
        ones, others = np.empty(1081, np.uint8), np.empty(1081, np.uint8)
        early, parts = np.empty((3, 1081), np.uint8), np.empty(len(strategy.river_cuts) + 2, np.int64)
        rows = [all_buckets(strategy, board[:cards]) for cards in (3, 4)]
        same = np.arange(4, dtype=np.uint8)
        deal_board(
            np.array(board, np.uint8),
            *(rows[0], same, rows[1], same, np.array(strategy.river_cuts)),
            *(ones, others, np.empty(1081, np.uint16), early, parts),
        )
        last = np.repeat(np.arange(len(parts) - 1), np.diff(parts))
        river = all_buckets(strategy, board)
        for at in range(0, 1081, 13):
            hole = (int(ones[at]), int(others[at]))
            told = [bucket_of(strategy, hole, board[:cards]) for cards in (0, 3, 4, 5)]
            assert told == [*early[:, at].tolist(), last[at]]
            assert river[HOLDING_NUMBERS[hole]] == last[at]


def test_the_names_of_suits_make_no_difference(strategy: StrategyFile) -> None:
    suits = (2, 0, 3, 1)
    for board in BOARDS:
        for cards in (3, 4, 5):
            moved = [card & 0xFC | suits[card & 3] for card in board[:cards]]
            for hole in ((5, 30), (9, 11), (44, 45)):
                if not {*hole} & {*board}:
                    other = [card & 0xFC | suits[card & 3] for card in hole]
                    assert bucket_of(strategy, hole, board[:cards]) == bucket_of(strategy, other, moved)


@pytest.mark.slow  # numba compiles
def test_kernels_find_the_same_canonical_boards() -> None:
    for board in BOARDS:
        for cards in (3, 4, 5):
            new_suits = np.empty(4, np.uint8)
            key, order = suit_order(board[:cards])
            assert canonical(np.array(board[:cards], np.uint8), new_suits) == key
            assert tuple(new_suits.tolist()) == order
            at = 700
            moved = sorted(int(card) & 0xFC | order[card & 3] for card in HOLDING_CARDS[at])
            assert HOLDING_CARDS[renamed(np.int64(at), new_suits)].tolist() == moved


@pytest.mark.slow  # numba compiles
def test_a_flop_is_the_sum_of_its_turns() -> None:
    keys = canonical_boards(4).keys
    numbers = np.random.default_rng(2)
    turns = numbers.integers(0, 1000, (len(keys), HOLDING_COUNT)).astype(np.uint32)
    flop = [0, 5, 10]
    sums = np.zeros((1, HOLDING_COUNT), np.int64)
    flop_sums(np.array([flop], np.uint8), keys, turns, sums)
    expected = np.zeros(HOLDING_COUNT, np.int64)
    for card in set(range(52)) - set(flop):
        key, order = suit_order([*flop, card])
        for at, cards in enumerate(HOLDING_CARDS.tolist()):
            moved = sorted(c & 0xFC | order[c & 3] for c in cards)
            expected[at] += turns[np.searchsorted(keys, key), HOLDING_NUMBERS[moved[0], moved[1]]]
    assert np.array_equal(sums[0], expected)


@pytest.mark.slow
def test_the_shipped_buckets_are_those_of_all_hands(strategy: StrategyFile) -> None:
    strengths = all_strengths(2)
    _, flop, turn, river = strategy.buckets
    made = card_abstraction(strengths, flop, turn, river)
    assert np.array_equal(made.turn_cuts, strategy.turn_cuts)
    assert np.array_equal(made.river_cuts, strategy.river_cuts)
    for row, board in enumerate(canonical_boards(3).cards.tolist()):
        assert np.array_equal(all_buckets(strategy, tuple(board)), made.flops[row])
    for row, board in list(enumerate(canonical_boards(4).cards.tolist()))[::331]:
        assert np.array_equal(all_buckets(strategy, tuple(board)), made.turns[row])
    for buckets, counts in ((flop, made.flops), (turn, made.turns)):
        assert {*np.unique(counts).tolist()} == {*range(buckets), NO_BUCKET}
