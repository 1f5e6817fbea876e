"""Table of all matchups before the flop: correct, complete, reproducible."""

from __future__ import annotations

import itertools
import math
import random
from pathlib import Path

import numpy as np
import pytest

from engine import parse_cards, rank_hand
from engine.cards import STARTING_HANDS, cards_of, starting_hand
from engine.duels import BOARDS
from engine.equity import preflop_equity, showdown_odds
from engine.kernels import matchups as kernels
from engine.kernels.cards import RANK_KEYS
from engine.kernels.matchups import Boards, boards_from, count_wins
from engine.matchups import MATCHUPS, counts, counts_of_wins, equities, pairs

CLASSES = len(STARTING_HANDS)
HOLDINGS: list[list[tuple[int, ...]]] = [[] for _ in range(CLASSES)]
"""Numbers by class."""
for _hole in itertools.combinations(range(52), 2):
    HOLDINGS[starting_hand(_hole)].append(_hole)


def number(name):
    return STARTING_HANDS.index(name)


# ---- the numbers


def test_every_showdown_is_counted_once():
    assert counts().shape == (CLASSES, CLASSES, 3)
    assert counts().sum() == 1326 * 1225 * 1_712_304
    assert math.comb(48, 5) == BOARDS == 1_712_304
    assert (counts() >= 0).all()


def test_wins_of_a_class_are_losses_of_the_other():
    won, tied, lost = np.moveaxis(counts(), 2, 0)
    assert (won == lost.T).all()
    assert (tied == tied.T).all()
    assert equities() + equities().T == pytest.approx(np.ones((CLASSES, CLASSES)), abs=1e-12)
    assert np.diag(equities()) == pytest.approx(np.full(CLASSES, 0.5), abs=1e-12)


def test_known_values():
    """Values published in many places."""
    won, tied, _ = counts()[number("AA"), number("KK")] / (36 * BOARDS)
    assert (won, tied) == pytest.approx((0.817147, 0.004627), abs=5e-7)
    assert equities()[number("AKs"), number("QQ")] == pytest.approx(0.460485, abs=5e-7)
    won, tied, _ = counts()[number("AA")].sum(axis=0) / (6 * 1225 * BOARDS)
    assert won + tied / 2 == pytest.approx(0.852037, abs=5e-7)


def test_against_any_hand_they_are_the_table_of_chances():
    for of_class, (won, tied, lost) in enumerate(counts().sum(axis=1).tolist()):
        chance, whole = preflop_equity(cards_of(of_class)), won + tied + lost
        assert chance == (won / whole, tied / whole, (won + tied / 2) / whole)


def counted_one_by_one(one, other):
    """Count showdowns won, tied and lost, for every pair of holdings on every board."""
    whole = np.zeros(3, np.int64)
    for pair in itertools.product(HOLDINGS[one], HOLDINGS[other]):
        if len({*pair[0], *pair[1]}) == 4:
            odds = showdown_odds(pair)
            whole += (odds.wins[0], odds.ties[0], odds.wins[1])
    return whole.tolist()


@pytest.mark.parametrize(
    ("one", "other"), [("AKs", "AKo"), ("22", "AKs"), ("JTs", "JTs"), ("77", "77"), ("87s", "98s")]
)
def test_pairs_of_holdings_one_by_one(one, other):
    assert counts()[number(one), number(other)].tolist() == counted_one_by_one(number(one), number(other))


@pytest.mark.slow
def test_many_pairs_of_holdings_one_by_one():
    chance = random.Random(2)
    for _ in range(100):
        first, second = chance.choices(range(CLASSES), k=2)
        assert counts()[first, second].tolist() == counted_one_by_one(first, second), (first, second)


def test_numbers_are_read_only():
    for shared in (counts(), pairs(), equities()):
        with pytest.raises(ValueError, match="read-only"):
            shared[0, 0] = 0


# ---- the enumeration


def test_the_ways_to_name_suits():
    """Each board of a small deck represents a set of boards; together they are all boards."""
    ranks, total = 3, 0
    for cards in itertools.combinations(range(4 * ranks), 5):
        suits = np.zeros(4, np.int64)
        for card in cards:
            suits[card & 3] |= 1 << (card >> 2)
        ways = kernels.ways_to_name.py_func(suits)
        if ways:
            renamed = set()
            for names in itertools.permutations(range(4)):
                renamed.add(frozenset(card - card % 4 + names[card % 4] for card in cards))
            assert ways == len(renamed)
        total += ways
    assert total == math.comb(4 * ranks, 5)


def naive_wins(boards):
    """Count the showdowns won by class on some boards, comparing every two holdings."""
    wins = np.zeros((CLASSES, CLASSES), np.int64)
    for board, times in zip(boards.cards.tolist(), boards.times.tolist(), strict=True):
        holes = list(itertools.combinations([card for card in range(52) if card not in board], 2))
        ranks = np.array([rank_hand((*hole, *board)) for hole in holes], np.int64)
        cards = np.array([1 << one | 1 << other for one, other in holes])
        classes = np.array([starting_hand(hole) for hole in holes])
        for winner, rank, own in zip(classes, ranks, cards, strict=True):
            np.add.at(wins[winner], classes[(cards & own == 0) & (ranks < rank)], times)
    return wins


def boards_of(*texts):
    cards = np.array([sorted(parse_cards(text)) for text in texts], np.uint8)
    return Boards(cards, np.arange(1, len(texts) + 1, dtype=np.int32), RANK_KEYS[cards >> 2].sum(axis=1))


BOARDS_OF_EACH_KIND = ("2c5c9cJcKc", "2c3c4c5cTd", "9h9c8h7h7d")
"""Boards with a flush, four to a straight flush, and a flush against full houses."""


@pytest.mark.slow
def test_kernel_equals_the_naive_count(monkeypatch):
    """Run the kernel uncompiled."""
    monkeypatch.setattr(kernels, "count_weaker", kernels.count_weaker.py_func)
    boards = boards_of(*BOARDS_OF_EACH_KIND)
    assert (count_wins(boards, threads=1) == naive_wins(boards)).all()


@pytest.mark.slow
def test_compiled_kernel_equals_the_naive_count():
    boards = boards_from(40)
    assert len(boards.times) < boards.times.sum() == math.comb(12, 5)
    assert (count_wins(boards) == naive_wins(boards)).all()


@pytest.mark.slow
def test_generating_the_table_gives_the_packaged_file():
    boards = boards_from()
    assert (len(boards.times), boards.times.sum()) == (134_459, math.comb(52, 5))
    progress = []
    wins = count_wins(boards, progress=progress.append)
    assert MATCHUPS.magic + wins.astype("<u4").tobytes() == Path(MATCHUPS.path).read_bytes()
    assert (counts_of_wins(wins) == counts()).all()
    assert progress == sorted(progress)
    assert progress[-1] == 1
