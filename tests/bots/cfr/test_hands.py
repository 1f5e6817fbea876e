"""Features and buckets of hands compared with slow counts; invariance under names of suits."""

from __future__ import annotations

import numpy as np
import pytest

from bots.cfr.abstraction import NO_BUCKET, ClusteredHands
from bots.cfr.boards import HOLDING_CARDS, HOLDING_COUNT, HOLDING_NUMBERS, canonical_boards, suit_order
from bots.cfr.bot import SHIPPED
from bots.cfr.clustering import assign_clusters, find_clusters
from bots.cfr.features import (
    CLASS_OF,
    CLASSES,
    FEATURES,
    LEVELS,
    RIVER_HOLDINGS,
    canonical_key,
    flop_features,
    rename_holding,
    river_features,
    turn_features,
)
from bots.cfr.strategy_files import read_strategy
from engine import rank_hand

BOARDS = ((51, 20, 3, 8, 33), (0, 4, 8, 12, 16), (1, 2, 3, 50, 49), (10, 22, 35, 47, 6))


def ranks_by_holding(board: tuple[int, ...]) -> dict[int, int]:
    return {
        at: rank_hand((*cards, *board))
        for at, cards in enumerate(map(tuple, HOLDING_CARDS.tolist()))
        if not {*cards} & {*board}
    }


def opponents(ranks: dict[int, int], holding: int) -> list[int]:
    """Return the holdings that an opponent can have."""
    return [other for other in ranks if not {*HOLDING_CARDS[holding]} & {*HOLDING_CARDS[other]}]


def count_twice(ranks: dict[int, int], holding: int, others: list[int]) -> int:
    """Count twice the wins plus the ties."""
    return sum(2 * (ranks[other] < ranks[holding]) + (ranks[other] == ranks[holding]) for other in others)


def test_opponents_are_in_classes_of_about_equal_size() -> None:
    assert np.bincount(CLASS_OF).tolist() == [160, 172, 164, 160, 170, 166, 168, 166]
    aces, seven_deuce = HOLDING_NUMBERS[48, 49], HOLDING_NUMBERS[0, 21]
    assert (CLASS_OF[aces], CLASS_OF[seven_deuce]) == (CLASSES - 1, 0)


@pytest.mark.slow  # numba compiles
def test_features_on_a_river_are_counts_one_by_one() -> None:
    for board in BOARDS:
        order, strengths = np.empty(RIVER_HOLDINGS, np.uint16), np.empty(RIVER_HOLDINGS, np.uint16)
        classes = np.empty((RIVER_HOLDINGS, CLASSES), np.uint8)
        river_features(np.array(board, np.uint8), order, classes, strengths)
        ranks = ranks_by_holding(board)
        assert {*order.tolist()} == {*ranks}
        assert (np.diff([ranks[holding] for holding in order.tolist()]) >= 0).all()
        for at in range(0, RIVER_HOLDINGS, 101):
            holding = int(order[at])
            others = opponents(ranks, holding)
            assert len(others) == 990
            assert strengths[at] == count_twice(ranks, holding, others)
            for kind in range(CLASSES):
                of_class = [other for other in others if CLASS_OF[other] == kind]
                part = count_twice(ranks, holding, of_class) / (2 * len(of_class))
                assert abs(classes[at, kind] - 255 * part) <= 0.5 + 1e-3


@pytest.mark.slow  # numba compiles
def test_features_on_a_turn_are_means_over_all_rivers() -> None:
    board = BOARDS[0][:4]
    features = np.empty((HOLDING_COUNT, FEATURES), np.uint8)
    turn_features(np.array(board, np.uint8), features)
    for hole in ((5, 30), (21, 22), (0, 51), (48, 49)):
        holding, expected = HOLDING_NUMBERS[hole], np.zeros(FEATURES)
        if {*hole} & {*board}:
            assert not features[holding].any()
            continue
        for card in {*range(52)} - {*board, *hole}:
            ranks = ranks_by_holding((*board, card))
            others = opponents(ranks, holding)
            strength = count_twice(ranks, holding, others)
            for kind in range(CLASSES):
                of_class = [other for other in others if CLASS_OF[other] == kind]
                expected[kind] += 255 * count_twice(ranks, holding, of_class) / (2 * len(of_class))
            expected[CLASSES:] += [255 * (9 * strength < 1980 * level) for level in range(1, LEVELS + 1)]
        assert np.abs(features[holding] - expected / 46).max() <= 1


@pytest.mark.slow  # numba compiles
def test_features_on_a_flop_are_means_over_all_turns() -> None:
    keys = canonical_boards(4).keys
    turns = np.random.default_rng(2).integers(0, 256, (len(keys), HOLDING_COUNT, FEATURES), np.uint8)
    flop, features = [0, 5, 10], np.empty((HOLDING_COUNT, FEATURES), np.uint8)
    flop_features(np.array(flop, np.uint8), keys, turns, features)
    expected = np.zeros((HOLDING_COUNT, FEATURES))
    for card in set(range(52)) - set(flop):
        key, order = suit_order([*flop, card])
        for at, cards in enumerate(HOLDING_CARDS.tolist()):
            moved = sorted(c & 0xFC | order[c & 3] for c in cards)
            expected[at] += turns[np.searchsorted(keys, key), HOLDING_NUMBERS[moved[0], moved[1]]]
    # A holding has 47 turn cards; here two others have features as well, so sums exceed a byte.
    assert np.array_equal(features, np.floor(expected / 47 + 0.5).astype(np.int64).astype(np.uint8))


@pytest.mark.slow  # numba compiles
def test_kernels_find_the_same_canonical_boards() -> None:
    for board in BOARDS:
        for cards in (3, 4, 5):
            new_suits = np.empty(4, np.uint8)
            key, order = suit_order(board[:cards])
            assert canonical_key(np.array(board[:cards], np.uint8), new_suits) == key
            assert tuple(new_suits.tolist()) == order
            at = 700
            moved = sorted(int(card) & 0xFC | order[card & 3] for card in HOLDING_CARDS[at])
            assert HOLDING_CARDS[rename_holding(np.int64(at), new_suits)].tolist() == moved


def test_the_nearest_centre_is_the_first_of_the_nearest() -> None:
    numbers = np.random.default_rng(3)
    points, centres = numbers.integers(0, 4, (3000, 8), np.uint8), numbers.integers(0, 4, (40, 8), np.uint8)
    apart = ((points[:, None].astype(np.int64) - centres) ** 2).sum(axis=2)
    assert np.array_equal(assign_clusters(points, centres), apart.argmin(axis=1))
    far = assign_clusters(
        np.full((1, 16), 255, np.uint8), np.array([[0] * 16, [255] * 15 + [254], [255] * 16], np.uint8)
    )
    assert far.tolist() == [2]


def test_clusters_are_found_and_follow_from_the_seed() -> None:
    numbers = np.random.default_rng(4)
    middles = np.array([[20, 20], [200, 30], [60, 220], [230, 230]])
    points = np.concatenate([middle + numbers.integers(-9, 10, (500, 2)) for middle in middles]).astype(np.uint8)
    results = find_clusters(points, 4, seed=1)
    assert np.abs(results[np.lexsort(results.T)] - middles[np.lexsort(middles.T)].astype(int)).max() <= 1
    assert np.array_equal(results, find_clusters(points, 4, seed=1))
    assert len(find_clusters(np.zeros((50, 3), np.uint8), 4, seed=1)) == 1


@pytest.fixture(scope="module", params=["limit", "nolimit"])
def hands(request: pytest.FixtureRequest) -> ClusteredHands:
    cards = read_strategy(SHIPPED[request.param]).cards
    assert cards is not None
    return cards


def test_every_holding_that_a_board_leaves_has_a_bucket(hands: ClusteredHands) -> None:
    for board in BOARDS:
        for round_, cards in enumerate((0, 3, 4, 5)):
            results = hands.on(board[:cards])
            is_live = np.array([not {*hole} & {*board[:cards]} for hole in HOLDING_CARDS.tolist()])
            assert ((results == NO_BUCKET) == ~is_live).all()
            assert results[is_live].max() < hands.buckets[round_]


def test_the_names_and_the_order_of_cards_make_no_difference(hands: ClusteredHands) -> None:
    suits = (2, 0, 3, 1)
    for board in BOARDS:
        for cards in (3, 4, 5):
            moved = [card & 0xFC | suits[card & 3] for card in reversed(board[:cards])]
            for hole in ((5, 30), (9, 11), (44, 45)):
                other = [card & 0xFC | suits[card & 3] for card in hole]
                number = HOLDING_NUMBERS[other[0], other[1]]
                assert hands.on(board[:cards])[HOLDING_NUMBERS[hole]] == hands.on(tuple(moved))[number]
