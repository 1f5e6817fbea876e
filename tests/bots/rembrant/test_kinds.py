"""Kinds of hands after the flop: examples, and comparison with a slow reader."""

from __future__ import annotations

import random

import pytest

from bots.rembrant.rules import BEATS_STRAIGHTS, BELOW_STRAIGHTS, HandKind, read_kind
from engine import parse_cards
from tests.bots.rembrant import naive
from tests.tables import rows

EXAMPLES = rows("""
    AhKd  Qs9c2h      HIGH_CARD
    AhKd  QsQc2h      HIGH_CARD  # the pair is the board's
    AhKd  7s7c7h      HIGH_CARD  # and so are the trips
    AhKd  QsJs9s5s2s  HIGH_CARD  # a flush that everybody has
    3sKd  QsJs9s5s4s  HIGH_CARD  # our spade is too small to play
    KhJd  Ks9c2h      TOP_PAIR
    AhJd  As9c2h8dTc  TOP_PAIR
    9hJd  Ks9c2h      MIDDLE_PAIR
    TdTc  Ks9c2h      MIDDLE_PAIR  # a pocket pair between the board's ranks
    5hJd  Ks9c5d2h    MIDDLE_PAIR
    2dJd  Ks9c2h      BOTTOM_PAIR
    Ks2d  5s2s6h      BOTTOM_PAIR  # the example of the work
    AdAc  Ks9c2h      OVER_PAIR
    TdTc  9s8c2h      OVER_PAIR
    2d2c  Ks9c5h      UNDER_PAIR
    Kd9d  Ks9c2h      TWO_PAIR_BOTH_HOLE
    Kd9d  Ks9c2h2d    TWO_PAIR_BOTH_HOLE  # of three pairs the best two
    KdJd  Ks9c9h      TWO_PAIR_ONE_HOLE
    Kd8d  KsQcQh8c2s  TWO_PAIR_ONE_HOLE
    TdTc  Ks9c9h      TWO_PAIR_POCKET
    2d2c  Ks9c9h      TWO_PAIR_POCKET
    AdAc  KsKcQhQd2s  TWO_PAIR_POCKET
    AdJc  KsKcQhQd    TWO_PAIR_ON_BOARD
    5d5c  KsKcQhQd2s  TWO_PAIR_ON_BOARD  # our pair does not play
    9dJd  Ks9c9h      TRIPS
    9d9h  Ks9c2h      SET
    JdTd  9s8c7h      STRAIGHT_TOP
    Jd2d  Ts9c8h7d    STRAIGHT_TOP
    AdJd  KsQcTh      STRAIGHT_TOP
    9d2d  8s7c6h5d    STRAIGHT_TOP
    6d5d  9s8c7h      STRAIGHT_BOTTOM
    Ad2d  5s4c3h      STRAIGHT_BOTTOM  # the ace is below the deuce
    AdAc  2s3c4h5dKc  STRAIGHT_BOTTOM
    2d2c  9s8c7h6d5d  STRAIGHT_BOTTOM  # the board's straight, the most careful column
    9d8c  9s8d7h6d5d  STRAIGHT_BOTTOM
    Td6d  9s8c7h      STRAIGHT_BOTH_ENDS
    Ad5d  2s3c4h      STRAIGHT_BOTH_ENDS
    Td2d  Js9c8h7d    STRAIGHT_MIDDLE
    9d8d  Ts7c6h      STRAIGHT_MIDDLE
    As2s  Ks9s5s      NUT_FLUSH
    As2d  Ks9s5s3s    NUT_FLUSH
    Ks2s  As9s5s      NUT_FLUSH  # the ace lies on the board
    Js2d  AsKsQs5s2h  NUT_FLUSH
    Ks2s  Qs9s5s      OTHER_FLUSH
    3s2s  AsKsQs      OTHER_FLUSH
    6s2d  AsKsQs5s3s  OTHER_FLUSH
    KdKc  Ks9c9h      FULL_HOUSE_OR_BETTER
    AdJc  KsKcKhQdQc  FULL_HOUSE_OR_BETTER
    9d9h  Ks9c9s      FULL_HOUSE_OR_BETTER
    8s7s  6s5s4s      FULL_HOUSE_OR_BETTER
    AsKs  QsJsTs      FULL_HOUSE_OR_BETTER
""")


@pytest.mark.parametrize(("hole", "board", "kind"), EXAMPLES)
def test_examples(hole: str, board: str, kind: str) -> None:
    cards = parse_cards(hole)
    assert read_kind(cards, parse_cards(board)) is HandKind[kind]
    assert read_kind(cards[::-1], parse_cards(board)[::-1]) is HandKind[kind]


def test_every_kind_has_an_example() -> None:
    assert {HandKind[kind] for _, _, kind in EXAMPLES} == set(HandKind)


def random_hand(rng: random.Random, cards: int) -> list[int]:
    """Return a random hand; every other one is from a narrow deck, so that rare kinds are frequent."""
    deck = range(52)
    if rng.random() < 0.5:
        suits = rng.choice([(0, 1, 2, 3), (0, 1), (2,)])
        low = rng.choice([0, 2, 5])
        deck = [c for c in deck if c % 4 in suits and low <= c // 4 <= low + 7] or deck
    return rng.sample(deck, cards)


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("board_cards", "hands"),
    [(3, 5000), (4, 3000), (5, 1500), *(pytest.param(cards, 30_000, marks=pytest.mark.slow) for cards in (3, 4, 5))],
)
def test_random_hands_against_the_slow_reader(board_cards: int, hands: int) -> None:
    rng = random.Random(board_cards)
    seen = set()
    for _ in range(hands):
        cards = random_hand(rng, 2 + board_cards)
        hole, board = tuple(cards[:2]), tuple(cards[2:])
        kind = read_kind(hole, board)
        assert kind.name.lower() == naive.kind(naive.texts(hole), naive.texts(board)), (hole, board)
        seen.add(kind)
    assert set(HandKind) - seen == ({HandKind.TWO_PAIR_ON_BOARD} if board_cards == 3 else set())


def test_kinds_above_and_below_straights() -> None:
    straights = {kind for kind in HandKind if kind.name.startswith("STRAIGHT")}
    assert straights | BEATS_STRAIGHTS | BELOW_STRAIGHTS == set(HandKind)
    assert len(straights) + len(BEATS_STRAIGHTS) + len(BELOW_STRAIGHTS) == len(HandKind)
    assert HandKind.SET in BELOW_STRAIGHTS
    assert HandKind.OTHER_FLUSH in BEATS_STRAIGHTS
