import os
import random
import subprocess
import sys
from collections import Counter
from itertools import combinations, pairwise
from pathlib import Path

import pytest
import treys
from hypothesis import given
from hypothesis import strategies as st

from engine.cards import CARD_TEXTS, parse_cards
from engine.evaluator import Category, category, rank_hand
from engine.tables import HAND_RANKS, load_tables
from tests.engine.generators import hand_rank_numbers, hand_rank_tables


def naive_five(cards):
    """Strength of 1 to 5 cards as a tuple: category, then ranks by weight. Slow and obvious."""
    ranks = [card // 4 for card in cards]
    count = Counter(ranks)
    by_weight = tuple(sorted(count, key=lambda rank: (count[rank], rank), reverse=True))
    shape = sorted(count.values(), reverse=True)
    if len(cards) == 5 and len(count) == 5:
        flush = len({card % 4 for card in cards}) == 1
        if sorted(ranks) == [0, 1, 2, 3, 12]:
            return (Category.STRAIGHT_FLUSH if flush else Category.STRAIGHT, (3,))
        if max(ranks) - min(ranks) == 4:
            return (Category.STRAIGHT_FLUSH if flush else Category.STRAIGHT, (max(ranks),))
        if flush:
            return (Category.FLUSH, by_weight)
    if shape[0] == 4:
        return (Category.FOUR_OF_A_KIND, by_weight)
    if shape[:2] == [3, 2]:
        return (Category.FULL_HOUSE, by_weight)
    if shape[0] == 3:
        return (Category.THREE_OF_A_KIND, by_weight)
    if shape[:2] == [2, 2]:
        return (Category.TWO_PAIR, by_weight)
    return (Category.PAIR if shape[0] == 2 else Category.HIGH_CARD, by_weight)


def naive(cards):
    """Strength of the best five of 1 to 10 cards."""
    return max(naive_five(five) for five in combinations(cards, min(5, len(cards))))


def random_hands(cards, count, seed):
    generator = random.Random(seed)
    return [generator.sample(range(52), cards) for _ in range(count)]


def suited_hands(cards, count, seed):
    """Hands with many flushes and straights, drawn from neighbouring ranks of two suits and a few other cards."""
    generator = random.Random(seed)
    hands = []
    for _ in range(count):
        suit = generator.randrange(4)
        deck = [card for card in range(52) if card % 4 == suit or generator.random() < 0.15]
        hands.append(generator.sample(deck, cards) if len(deck) >= cards else generator.sample(range(52), cards))
    return hands


def assert_same_order(strengths, ranks):
    """Check that ranks order all pairs of hands as strengths do, ties included."""
    pairs = sorted(set(zip(strengths, ranks, strict=True)))
    for (weaker, low), (stronger, high) in pairwise(pairs):
        assert weaker < stronger, f"{weaker} has the ranks {low} and {high}"
        assert low < high, f"{weaker} ranks {low}, {stronger} ranks {high}"


@pytest.mark.parametrize("cards", range(1, 11))
@pytest.mark.parametrize("count", [15, pytest.param(200, marks=pytest.mark.slow)])
def test_random_hands_are_ordered_as_by_the_naive_ranker(cards, count):
    hands = random_hands(cards, 3 * count, seed=cards) + suited_hands(cards, count, seed=100 + cards)
    strengths = [naive(hand) for hand in hands]
    ranks = [rank_hand(hand) for hand in hands]
    assert_same_order(strengths, ranks)
    assert [category(rank) for rank in ranks] == [strength[0] for strength in strengths]


def test_ranks_of_different_card_counts_are_on_one_scale():
    hands = [hand for cards in range(1, 11) for hand in random_hands(cards, 12, seed=cards)]
    assert_same_order([naive(hand) for hand in hands], [rank_hand(hand) for hand in hands])


@pytest.mark.parametrize("cards", [1, 2, pytest.param(3, marks=pytest.mark.slow)])
def test_all_hands_of_a_few_cards_are_ordered(cards):
    hands = list(combinations(range(52), cards))
    assert_same_order([naive(hand) for hand in hands], [rank_hand(hand) for hand in hands])


@pytest.mark.parametrize("cards", [5, 6, 7])
def test_order_agrees_with_treys(cards):
    hands = random_hands(cards, 300, seed=cards) + suited_hands(cards, 100, seed=cards)
    theirs = treys.Evaluator()
    numbers = [treys.Card.new(text) for text in CARD_TEXTS]
    strengths = [-theirs.evaluate([numbers[card] for card in hand], []) for hand in hands]
    assert_same_order(strengths, [rank_hand(hand) for hand in hands])


def test_the_better_of_two_flushes_counts_whichever_suit_it_is():
    hearts, spades = "9h8h6h5h3h", "KsJs7s4s2s"
    assert rank_hand(parse_cards(hearts + spades)) == rank_hand(parse_cards(spades))
    assert rank_hand(parse_cards(spades + hearts)) == rank_hand(parse_cards(spades))


@given(st.lists(st.integers(0, 51), min_size=1, max_size=10, unique=True).flatmap(st.permutations))
def test_order_of_the_cards_and_kind_of_sequence_do_not_matter(cards):
    rank = rank_hand(cards)
    assert 0 < rank < 1 << 16
    assert rank == rank_hand(tuple(sorted(cards))) == rank_hand(bytes(cards))


@given(st.lists(st.integers(0, 51), min_size=5, max_size=10, unique=True), st.permutations(range(4)))
def test_suits_are_equal(cards, suits):
    assert rank_hand(cards) == rank_hand([card - card % 4 + suits[card % 4] for card in cards])


@pytest.mark.parametrize("count", [0, 11])
def test_wrong_number_of_cards(count):
    with pytest.raises(ValueError, match=f"a hand has 1 to 10 cards, not {count}"):
        rank_hand(range(count))


@pytest.mark.parametrize("count", [1, 7, 10])
def test_a_number_that_is_no_card(count):
    with pytest.raises(ValueError, match=r"different cards 0\.\.51"):
        rank_hand([*range(count - 1), 52])


def test_two_threads_may_make_the_first_call_at_once():
    code = (
        "import sys; from concurrent.futures import ThreadPoolExecutor as Pool; from threading import Barrier\n"
        "from engine.evaluator import rank_hand\n"
        "sys.setswitchinterval(1e-5); together = Barrier(8)\n"
        "def rank(cards): together.wait(); return rank_hand(range(cards))\n"
        "with Pool(8) as pool: first = list(pool.map(rank, range(2, 10)))\n"
        "assert first == [rank_hand(range(cards)) for cards in range(2, 10)]"
    )
    subprocess.run(
        [sys.executable, "-c", code], check=True, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    )


def test_no_hand_has_this_rank():
    with pytest.raises(ValueError):
        category(9 << 12)


def test_the_file_holds_the_tables():
    assert HAND_RANKS.magic + hand_rank_numbers(load_tables()) == Path(HAND_RANKS.path).read_bytes()


@pytest.mark.slow
def test_generating_the_tables_gives_the_packaged_file():
    assert HAND_RANKS.magic + hand_rank_numbers(hand_rank_tables()) == Path(HAND_RANKS.path).read_bytes()
