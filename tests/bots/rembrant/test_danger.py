"""Danger of boards, compared with facts found by trying cards."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable
from functools import cache
from itertools import combinations

import pytest

from bots.rembrant.rules import read_danger
from engine import parse_cards
from tests.bots.rembrant import naive


@cache
def rank_facts(ranks: frozenset[str]) -> tuple[bool, bool, bool]:
    """Return the facts of `naive.board_facts` that do not depend on suits."""
    facts = naive.board_facts([rank + "c" for rank in ranks])
    return facts[1:]


def check(boards: Iterable[tuple[int, ...]]) -> Counter[str]:
    seen: Counter[str] = Counter()
    for board in boards:
        cards = naive.texts(board)
        danger = read_danger(board)
        suited = max(Counter(card[1] for card in cards).values())
        can_straight, is_four, is_row = rank_facts(frozenset(card[0] for card in cards))
        assert (danger.cards, danger.suited) == (len(cards), suited)
        assert danger.is_four_to_flush == (suited + 1 >= 5)
        assert (danger.within_straight >= 3) == can_straight
        assert danger.is_four_to_straight == is_four
        assert (danger.run >= 3) == is_row
        draws = is_row or (suited >= 2 and len(cards) < 5)
        assert danger.invites_draws() == draws
        assert danger.invites_draws(on_river=True) == (is_row or suited >= 2)
        assert danger.is_dry == (not draws and suited < 3 and not can_straight)
        seen[danger.describe()] += 1
    return seen


@pytest.mark.slow
def test_every_flop() -> None:
    seen = check(combinations(range(52), 3))
    assert sum(seen.values()) == 22_100
    assert set(seen) == {
        "dry",
        "straight possible",
        "three in a row",
        "two of a suit",
        "two of a suit, straight possible",
        "two of a suit, three in a row",
        "three of a suit",
        "three of a suit, straight possible",
        "three of a suit, three in a row",
    }
    # 4 suits, 286 sets of three ranks of which 12 are consecutive
    assert seen["three of a suit, three in a row"] == 4 * 12
    assert sum(count for text, count in seen.items() if "three of a suit" in text) == 4 * 286


@pytest.mark.parametrize("cards", [3, 4, 5])
def test_random_boards(cards: int) -> None:
    rng = random.Random(cards)
    seen = check(tuple(rng.sample(range(52), cards)) for _ in range(1000))
    if cards > 3:
        assert any("four to a flush" in text for text in seen)
        assert any("four to a straight" in text for text in seen)
    assert "dry" in seen


@pytest.mark.parametrize(
    ("board", "name"),
    [
        ("Kc8h3d", "dry"),
        ("KcKhKd", "dry"),
        ("Kc8c3d", "two of a suit"),
        ("Kc9hTd", "straight possible"),
        ("QcKhAd", "three in a row"),
        ("Ac2h3d", "three in a row"),
        ("KcAh2d", "dry"),
        ("9c8c7c6c", "four to a flush, four to a straight, three in a row"),
        ("9c8h6d5s", "four to a straight"),
        ("Kc8c3d3hJs", "dry"),
        ("Kc8c3c3hJs", "three of a suit"),
        ("9c8h7d6s5c", "four to a straight, three in a row"),
    ],
)
def test_danger_is_named(board: str, name: str) -> None:
    assert read_danger(parse_cards(board)).describe() == name
