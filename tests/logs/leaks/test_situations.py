"""Classes of cards, boards, bets and pot odds."""

from __future__ import annotations

import random

import pytest

from engine import rank_hand
from engine.cards import parse_cards
from engine.evaluator import Category, category
from logs.leaks.divergences import bets_class, board_class, hand_class, price_class, starting_class


@pytest.mark.parametrize(
    ("cards", "group"),
    [
        ("TcTd", "pair, tens or better"),
        ("9c9d", "pair below tens"),
        ("AcTd", "two cards of ten or better"),
        ("Ac9c", "ace and a card below ten"),
        ("Kc9c", "other suited cards"),
        ("Kc9d", "other offsuit cards"),
    ],
)
def test_starting_hands_are_grouped(cards: str, group: str) -> None:
    assert starting_class(parse_cards(cards)) == group
    assert hand_class(parse_cards(cards), ()) == group


@pytest.mark.parametrize(
    ("hole", "board", "made"),
    [
        ("AcKd", "As7h2c", "top pair or an overpair"),
        ("7cKd", "As7h2c", "lower pair"),
        ("AcKd", "7s7h2c", "no pair"),
        ("AcKd", "As7h7c", "top pair or an overpair"),
        ("Ac7d", "As7h2c", "two pair or better"),
        ("7cKd", "7s7h2c", "two pair or better"),
        ("AcKd", "7s7h7c2d3h", "no pair"),
        ("AcKd", "7c2c3c", "draw"),
        ("9cTd", "8s7h2c", "draw"),
        ("9cTd", "8s6h2c", "no pair"),
        ("2cKd", "8s7h6c5d", "no pair"),
        ("AcKc", "7c2c3d9hTs", "no pair"),
        ("7hKc", "Ac7c2c", "draw"),
    ],
)
def test_made_hands_are_grouped(hole: str, board: str, made: str) -> None:
    assert hand_class(parse_cards(hole), parse_cards(board)) == made


def test_a_draw_comes_in_by_the_next_card_in_at_least_two_ways() -> None:
    """The slow twin deals every next card."""
    chance = random.Random(5)
    seen = 0
    for _ in range(250):
        cards = chance.sample(range(52), chance.choice((5, 6)))
        hole, board = cards[:2], cards[2:]
        kind = hand_class(hole, board)
        if kind not in ("draw", "no pair", "lower pair"):
            continue
        ways: dict[Category, set[int]] = {Category.STRAIGHT: set(), Category.FLUSH: set()}
        for card in set(range(52)) - set(cards):
            now = category(rank_hand([*cards, card]))
            without = category(rank_hand([*board, card])) if len(board) == 4 else Category.HIGH_CARD
            # A draw uses the hole cards: the board alone must make less.
            if now in ways and without < now:
                ways[now].add(card >> 2)
        seen += kind == "draw"
        assert (kind == "draw") is (len(ways[Category.STRAIGHT]) >= 2 or bool(ways[Category.FLUSH])), (hole, board)
    assert seen > 12


@pytest.mark.parametrize(
    ("board", "texture"),
    [
        ("", "no board yet"),
        ("7s7h2c", "paired board"),
        ("7s7h2s9s", "paired board"),
        ("7s8s2s", "three of a suit or more"),
        ("7s8s2c", "two of a suit"),
        ("7s8h2c", "no two of a suit"),
    ],
)
def test_boards_are_grouped_by_texture(board: str, texture: str) -> None:
    assert board_class(parse_cards(board)) == texture


def test_bets_and_prices() -> None:
    assert [bets_class(0, raises, 0) for raises in (0, 1, 2, 3)] == [
        "before any raise",
        "facing a raise",
        *["facing a reraise"] * 2,
    ]
    assert [bets_class(2, raises, 0) for raises in (0, 1, 2)] == ["first to act", "facing a bet", "facing a raise"]
    assert (bets_class(3, 0, 1), bets_class(3, 1, 1)) == ("checked to", "facing a bet")
    assert price_class(0, 10) == "nothing to call"
    assert price_class(1, 5) == "a call below a fifth of the pot"
    assert price_class(1, 4) == price_class(10, 21) == "a call of a fifth to a third"
    assert price_class(10, 20) == "a call of a third or more"
