import random
from itertools import combinations
from math import comb

import numpy as np
import pytest

from engine.batch import rank_hands
from engine.evaluator import rank_hand
from engine.kernels import evaluation
from engine.kernels.cards import BITS, KEYS, OFFSETS, RANK_KEYS, ROW_BITS, START, VALUES, rank_sevens

FIVE_CARD_HANDS = [1302540, 1098240, 123552, 54912, 10200, 5108, 3744, 624, 40]
SEVEN_CARD_HANDS = [23294460, 58627800, 31433400, 6461620, 6180020, 4047644, 3473184, 224848, 41584]


def hands_of(cards, count, seed):
    """Return random hands; every third comes from a deck with one whole suit and few other cards."""
    generator = random.Random(seed)
    hands = []
    for number in range(count):
        deck = [card for card in range(52) if number % 3 or card % 4 == number % 4 or card % 11 == 0]
        hands.append(generator.sample(deck, cards))
    return np.array(hands, np.uint8)


def rank_in_python(hands):
    """Rank with the kernel that rank_hands would choose, uncompiled."""
    cards = hands.shape[1]
    ranks = np.zeros(len(hands), np.uint16)
    if cards == 7:
        evaluation.rank_seven.py_func(hands, ranks)
    elif cards == 5:
        evaluation.rank_five.py_func(hands, ranks)
    elif cards < 7:
        tables = OFFSETS[cards - 1], VALUES[cards - 1], ROW_BITS[cards - 1]
        evaluation.rank_few.py_func(hands, *tables, ranks)
    else:
        evaluation.rank_many.py_func(hands, ranks)
    return ranks


QUICK = (5, 7)
"""Numbers of cards whose kernels other quick tests compile, too."""


@pytest.mark.parametrize(
    "cards", QUICK + tuple(pytest.param(n, marks=pytest.mark.slow) for n in (1, 2, 3, 4, 6, 8, 9, 10))
)
def test_ranks_are_those_of_rank_hand(cards):
    hands = hands_of(cards, 200 if cards in QUICK else 3000, seed=cards)
    ranks = rank_hands(hands)
    assert ranks.dtype == np.uint16
    assert ranks.tolist() == [rank_hand(hand) for hand in hands.tolist()]
    if cards == 7:
        assert rank_sevens(hands).tolist() == ranks.tolist()


@pytest.mark.parametrize("cards", [4, 5, 7, 8])
def test_kernels_rank_the_same_in_python(cards, monkeypatch):
    for helper in ("_best_five_key", "_highest", "flush_rank", "five_rank", "plain_seven_rank", "seven_rank"):
        monkeypatch.setattr(evaluation, helper, getattr(evaluation, helper).py_func)
    hands = hands_of(cards, 60, seed=cards)
    assert rank_in_python(hands).tolist() == [rank_hand(hand) for hand in hands.tolist()]


def test_one_hand_by_its_keys():
    for hand in hands_of(7, 300, seed=2):
        key, cards = START + KEYS[hand].sum(), np.bitwise_or.reduce(BITS[hand])
        assert evaluation.seven_rank(key, cards) == rank_hand(hand.tolist())
        five = hand[:5]
        expected = rank_hand(five.tolist())
        flush = evaluation.flush_rank(np.bitwise_or.reduce(BITS[five]))
        assert flush == (expected if len({card & 3 for card in five.tolist()}) == 1 else 0)
        assert evaluation.five_rank(RANK_KEYS[five >> 2].sum()) == expected or flush


@pytest.mark.slow
@pytest.mark.parametrize("cards", [5, 6, 7])
def test_the_general_kernel_agrees_with_the_special_ones(cards):
    hands = hands_of(cards, 300, seed=cards)
    ranks = np.zeros(len(hands), np.uint16)
    n = cards - 1
    evaluation.rank_few(hands, OFFSETS[n], VALUES[n], ROW_BITS[n], ranks)
    assert ranks.tolist() == rank_hands(hands).tolist()


@pytest.mark.slow
@pytest.mark.parametrize("cards", [5, 7])
def test_any_memory_layout_is_ranked(cards):
    hands = hands_of(cards, 100, seed=cards)
    expected = rank_hands(hands).tolist()
    columns = np.ascontiguousarray(hands.T)
    assert rank_hands(columns.T).tolist() == expected
    assert rank_hands(np.repeat(hands, 2, axis=1)[:, ::2]).tolist() == expected
    assert rank_hands(hands[::-1]).tolist() == expected[::-1]
    hands.flags.writeable = False
    assert rank_hands(hands).tolist() == expected


def categories_of_all(cards):
    """Count all hands by category, high card first, in parts by their two lowest cards."""
    counts = np.zeros(9, np.int64)
    upper = np.array(list(combinations(range(50), cards - 2)), np.uint8)
    for a in range(52):
        for b in range(a + 1, 54 - cards):
            few = upper[upper[:, -1] < 51 - b]
            hands = np.empty((len(few), cards), np.uint8)
            hands[:, 0], hands[:, 1] = a, b
            hands[:, 2:] = few + (b + 1)
            counts += np.bincount(rank_hands(hands) >> 12, minlength=9)
    return counts.tolist()


def test_all_five_card_hands():
    assert categories_of_all(5) == FIVE_CARD_HANDS
    assert sum(FIVE_CARD_HANDS) == comb(52, 5)


@pytest.mark.slow
def test_all_seven_card_hands():
    assert categories_of_all(7) == SEVEN_CARD_HANDS
    assert sum(SEVEN_CARD_HANDS) == comb(52, 7)


def test_no_hands_have_no_ranks():
    for cards in QUICK:
        assert rank_hands(np.empty((0, cards), np.uint8)).shape == (0,)


@pytest.mark.parametrize("hands", [[[1, 2]], np.zeros((1, 5), np.int64), np.zeros((1, 5), np.int8)])
def test_wrong_type_is_refused(hands):
    with pytest.raises(TypeError, match="must be a numpy array of uint8, not"):
        rank_hands(hands)


def test_wrong_shape_is_refused():
    with pytest.raises(ValueError, match="must have the shape"):
        rank_hands(np.zeros(7, np.uint8))
    for cards in (0, 11):
        with pytest.raises(ValueError, match=f"a hand has 1 to 10 cards, not {cards}"):
            rank_hands(np.zeros((3, cards), np.uint8))


@pytest.mark.parametrize("cards", QUICK)
def test_other_numbers_are_refused(cards):
    hands = hands_of(cards, 20, seed=0)
    hands[7, cards - 1] = 52
    with pytest.raises(ValueError, match="52 is not a card"):
        rank_hands(hands)
