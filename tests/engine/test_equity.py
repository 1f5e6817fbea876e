"""Chances to win, compared with slow twins and known values, with numpy and compiled."""

from __future__ import annotations

import itertools
import os
import random
import subprocess
import sys

import numpy as np
import pytest

from engine import equity as equities
from engine import parse_cards, rank_hand
from engine.equity import Equity, compile_kernels, equity, exact_equity, preflop_equity, sampled_equity
from engine.kernels import draw, showdowns

MASK = (1 << 64) - 1


def unseen_of(*known):
    return [card for card in range(52) if card not in known]


def naive_exact(hole, board):
    """Count showdowns lost, won and tied against one opponent."""
    counts = [0, 0, 0]
    for rest in itertools.combinations(unseen_of(*hole, *board), 5 - len(board)):
        table = (*board, *rest)
        own_rank = rank_hand((*hole, *table))
        for other in itertools.combinations(unseen_of(*hole, *table), 2):
            theirs = rank_hand((*other, *table))
            counts[0 if own_rank < theirs else 1 if own_rank > theirs else 2] += 1
    return counts


def naive_words(start):
    """Return the words of SplitMix64 as published."""
    while True:
        start = (start + 0x9E3779B97F4A7C15) & MASK
        word = ((start ^ (start >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        word = ((word ^ (word >> 27)) * 0x94D049BB133111EB) & MASK
        yield word ^ (word >> 31)


def naive_sampled(hole, board, opponents, trials, start):
    """Showdowns by number of winners, sampled in the order that `engine.kernels.showdowns.count_sampled` documents."""
    counts = [0] * (opponents + 2)
    words = naive_words(start)
    needed = 5 - len(board) + 2 * opponents
    for _ in range(trials):
        halves = [half for word in itertools.islice(words, (needed + 1) // 2) for half in divmod(word, 1 << 32)]
        deck = unseen_of(*hole, *board)
        drawn = []
        for half in halves[:needed]:
            at = half * len(deck) >> 32
            drawn.append(deck[at])
            deck[at] = deck[0]
            deck.pop(0)
        table = (*board, *drawn[: 5 - len(board)])
        opponents_cards = drawn[5 - len(board) :]
        own_rank = rank_hand((*hole, *table))
        theirs = [rank_hand((*opponents_cards[i : i + 2], *table)) for i in range(0, 2 * opponents, 2)]
        counts[0 if max(theirs) > own_rank else 1 + theirs.count(own_rank)] += 1
    return counts


def arrays_of(hole, board):
    return [np.array(tuple(cards), np.uint8) for cards in (hole, board, unseen_of(*hole, *board))]


def count_exact(counter, hole, board):
    counts = np.zeros(3, np.int64)
    counter(*arrays_of(hole, board), counts)
    return counts.tolist()


def count_sampled(counter, hole, board, opponents, trials, start):
    counts = np.zeros(opponents + 2, np.int64)
    counter(*arrays_of(hole, board), opponents, trials, start, counts)
    return counts.tolist()


def situations(board_cards, count, seed):
    """Random hands and boards; every other one has few suits and ranks, so that flushes and straights occur."""
    generator = random.Random(seed)
    for number in range(count):
        deck = range(52) if number % 2 else [card for card in range(52) if card % 4 < 2 and card >> 2 < 8]
        cards = generator.sample(deck, 2 + board_cards)
        yield tuple(cards[:2]), tuple(cards[2:])


@pytest.mark.parametrize(("board_cards", "count"), [(5, 10), (4, 1)])
def test_exact_equals_counting(board_cards, count):
    for hole, board in situations(board_cards, count, seed=board_cards):
        expected = naive_exact(hole, board)
        assert count_exact(showdowns.count_against_one, hole, board) == expected
        lost, won, tied = expected
        total = lost + won + tied
        assert exact_equity(hole, board) == Equity(won / total, tied / total, (won + tied / 2) / total)
        assert total == {5: 990, 4: 46 * 990}[board_cards]


@pytest.mark.slow
def test_exact_on_the_flop_equals_counting():
    for hole, board in situations(3, 4, seed=4):
        assert count_exact(showdowns.count_against_one, hole, board) == naive_exact(hole, board)


@pytest.mark.parametrize("board_cards", [0, 3, 5])
@pytest.mark.parametrize("opponents", [1, 2, 9])
def test_sampled_draws_as_documented(board_cards, opponents):
    for number, (hole, board) in enumerate(situations(board_cards, 2, seed=opponents)):
        start = (MASK - 3, 12345)[number]
        expected = naive_sampled(hole, board, opponents, 60, start)
        assert sum(expected) == 60
        assert count_sampled(showdowns.count_sampled, hole, board, opponents, 60, start) == expected


@pytest.mark.slow
@pytest.mark.parametrize("board_cards", [0, 3, 4, 5])
@pytest.mark.parametrize("opponents", [1, 2, 3, 8, 9])
def test_the_compiled_kernel_draws_as_documented(board_cards, opponents):
    for number, (hole, board) in enumerate(situations(board_cards, 6, seed=opponents)):
        start, trials = (MASK - 3, 12345)[number % 2], (1, 1023, 1024, 1025, 5000, 60)[number]
        expected = count_sampled(showdowns.count_sampled, hole, board, opponents, trials, start)
        assert count_sampled(draw.count_sampled, hole, board, opponents, trials, np.uint64(start)) == expected


def test_blocks_of_trials_are_one_row():
    """A block has 1,024 trials."""
    hole, board = next(situations(3, 1, seed=9))
    numbers = count_sampled(showdowns.count_sampled, hole, board, 2, 1025, 7)
    assert numbers == naive_sampled(hole, board, 2, 1025, 7)


def test_the_kernel_does_the_same_in_python():
    hole, board = next(situations(4, 1, seed=1))
    with np.errstate(over="ignore"):  # numpy warns when a scalar overflows
        sampled = count_sampled(draw.count_sampled.py_func, hole, board, 3, 40, np.uint64(5))
    assert sampled == naive_sampled(hole, board, 3, 40, 5)


@pytest.mark.parametrize("board_cards", [3, 4, 5])
def test_exact_counts_any_set_of_unseen_cards(board_cards):
    """Compare every card of small decks, in which some cards of a suit are neither seen nor left."""
    for hole, board in situations(board_cards, 5, seed=board_cards):
        few = random.Random(board_cards).sample(unseen_of(*hole, *board), 9)
        counts = np.zeros(3, np.int64)
        showdowns.count_against_one(*arrays_of(hole, board)[:2], np.array(few, np.uint8), counts)
        naive = [0, 0, 0]
        for cards in itertools.permutations(few, 7 - board_cards):
            rest, other = cards[:-2], cards[-2:]
            if list(rest) == sorted(rest) and other[0] < other[1]:
                own_rank, other_rank = rank_hand((*hole, *board, *rest)), rank_hand((*other, *board, *rest))
                naive[0 if own_rank < other_rank else 1 if own_rank > other_rank else 2] += 1
        assert counts.tolist() == naive


SAMPLES = 40_000


@pytest.mark.parametrize("board_cards", [0, 3, 4, 5])
def test_sampled_is_near_exact(board_cards):
    """Errors are within five standard errors for each of several seeds, the default included."""
    for seed, (hole, board) in enumerate(situations(board_cards, 2, seed=50 + board_cards)):
        exact = exact_equity(hole, board)
        sampled = sampled_equity(hole, board, trials=SAMPLES, seed=seed)
        assert sampled != exact
        for chance, estimate in zip(exact, sampled, strict=True):
            error = (chance * (1 - chance) / SAMPLES) ** 0.5
            assert abs(estimate - chance) <= 5 * error + 1e-12, (hole, board, seed)


def test_known_values():
    assert exact_equity(parse_cards("AsAh")).equity == pytest.approx(0.852037, abs=5e-7)
    assert preflop_equity(parse_cards("AsAh")) == exact_equity(parse_cards("AcAd")) == equity(parse_cards("AhAc"))
    # A royal flush on the board: all players tie.
    royal = parse_cards("AsKsQsJsTs")
    assert exact_equity(parse_cards("2c2d"), royal) == Equity(0.0, 1.0, 0.5)
    for opponents in range(2, 10):
        shared = equity(parse_cards("2c2d"), royal, opponents, trials=300)
        assert shared == pytest.approx(Equity(0.0, 1.0, 1 / (opponents + 1)), rel=1e-12)
    # The nuts; then a straight flush on the board that only the king of spades beats.
    assert equity(parse_cards("AsKs"), parse_cards("QsJsTs2c"), 9) == Equity(1.0, 0.0, 1.0)
    assert exact_equity(parse_cards("2c3d"), parse_cards("QsJsTs9s8s")) == Equity(0.0, 946 / 990, 473 / 990)


def test_a_tie_of_two_among_three_counts_half():
    counts = [10, 4, 6, 3]
    assert equities.equity_of_counts(counts) == Equity(4 / 23, 9 / 23, (4 + 3 + 1) / 23)


def test_seed_determines_the_sample():
    hole, board = parse_cards("QhJh"), parse_cards("Th9c2d")
    assert sampled_equity(hole, board, 3, trials=500, seed=4) == sampled_equity(hole, board, 3, trials=500, seed=4)
    assert sampled_equity(hole, board, 3, seed=2**64 + 4) == sampled_equity(hole, board, 3, seed=4)
    seeds = (0, 1, 2, -1, 2**63)
    assert len({sampled_equity(hole, board, 3, trials=9973, seed=seed) for seed in seeds}) == len(seeds)
    assert equity(hole, board, 3) == sampled_equity(hole, board, 3, trials=equities.DEFAULT_TRIALS, seed=0)
    assert sampled_equity(hole, board, 3, trials=1000, seed=4)[:2] == (0.425, 0.021), "on every machine"


@pytest.mark.parametrize("cards", [list, bytes])
def test_any_sequence_of_cards_is_accepted(cards):
    hole, board = parse_cards("QhJh"), parse_cards("Th9c2d")
    assert exact_equity(cards(hole), cards(board)) == exact_equity(hole, board)
    assert sampled_equity(cards(hole[::-1]), cards(board), 2) == sampled_equity(hole, board, 2)
    assert preflop_equity(cards(hole[::-1]), 2) == preflop_equity(hole, 2)


@pytest.mark.slow
def test_compiled_kernels_give_the_same(monkeypatch):
    monkeypatch.setattr(equities, "_is_compiled", False)
    questions = [(hole, board) for cards in (0, 3, 4, 5) for hole, board in situations(cards, 2, seed=cards)]
    before = [(exact_equity(*ask), sampled_equity(*ask, 5, trials=200, seed=3)) for ask in questions]
    compile_kernels()
    assert equities._is_compiled
    monkeypatch.delattr(showdowns, "count_sampled")
    assert [(exact_equity(*ask), sampled_equity(*ask, 5, trials=200, seed=3)) for ask in questions] == before


@pytest.mark.parametrize(
    ("hole", "board", "opponents", "trials", "sentence"),
    [
        ((1,), (), 1, 1, "two hole cards are needed, not 1"),
        ((1, 2), (3, 4), 1, 1, "a board has no card, or three, four or five, not 2"),
        ((1, 1), (), 1, 1, r"these are not 2 different cards 0..51: \[1, 1\]"),
        ((1, 52), (), 1, 1, "these are not 2 different cards"),
        ((1, 2), (), 0, 1, "opponents must be 1 to 9, not 0"),
        ((1, 2), (), 10, 1, "opponents must be 1 to 9, not 10"),
        ((1, 2), (), 1, 0, "trials must be 1 or more, not 0"),
    ],
)
def test_impossible_arguments_are_refused(hole, board, opponents, trials, sentence):
    for ask in (equity, sampled_equity):
        with pytest.raises(ValueError, match=sentence):
            ask(hole, board, opponents, trials=trials)
    if "trials" not in sentence and "opponents" not in sentence:
        with pytest.raises(ValueError, match=sentence):
            exact_equity(hole, board)
    if not board and "trials" not in sentence:
        with pytest.raises(ValueError, match=sentence):
            preflop_equity(hole, opponents)


def test_numpy_and_numba_are_loaded_on_demand():
    code = (
        "import sys; from engine import evaluator; from engine.equity import compile_kernels, equity, preflop_equity\n"
        "assert not evaluator._PAIR_KEYS; evaluator.rank_hand(range(7)); assert evaluator._PAIR_KEYS\n"
        "preflop_equity((51, 50), 9); equity((51, 50))\n"
        "print(sorted({'numpy', 'numba'} & sys.modules.keys()))\n"
        "equity((51, 50), (0, 1, 2), 1); equity((51, 50), (0, 1, 2), 2)\n"
        "print(sorted({'numpy', 'numba'} & sys.modules.keys()))\n"
        "compile_kernels(); equity((51, 50), (0, 1, 2), 1)\n"
        "print('numba' in sys.modules)\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False)
    assert (done.stdout, done.stderr) == ("[]\n['numpy']\nFalse\n", "")
