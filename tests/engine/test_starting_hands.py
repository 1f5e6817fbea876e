"""The 169 classes of hole cards."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import pytest

from engine import parse_cards
from engine.cards import STARTING_HANDS, cards_of, starting_hand, starting_hand_name, starting_hand_table


@pytest.mark.parametrize(
    ("cards", "name"),
    [
        ("AcAd", "AA"),
        ("2h2s", "22"),
        ("AhKh", "AKs"),
        ("2c7d", "72o"),
    ],
)
def test_holdings_are_named(cards: str, name: str) -> None:
    assert starting_hand_name(parse_cards(cards)) == name


def test_all_hands_are_in_the_classes_as_often_as_they_can_be_dealt() -> None:
    dealt = Counter(starting_hand_name(hand) for hand in combinations(range(52), 2))
    assert len(STARTING_HANDS) == len(set(STARTING_HANDS)) == len(dealt) == 169
    of_kind = {2: 6, "s": 4, "o": 12}
    assert all(count == of_kind[2 if len(name) == 2 else name[2]] for name, count in dealt.items())


def test_suited_hands_are_left_of_the_diagonal() -> None:
    """Deuces come first, suited hands left of the diagonal."""
    assert (STARTING_HANDS[0], STARTING_HANDS[168]) == ("22", "AA")
    assert (STARTING_HANDS[13 * 12 + 11], STARTING_HANDS[13 * 11 + 12]) == ("AKs", "AKo")
    assert [STARTING_HANDS[14 * rank] for rank in range(13)] == [2 * rank for rank in "23456789TJQKA"]


def test_numbers_names_and_cards_agree() -> None:
    for number, name in enumerate(STARTING_HANDS):
        assert starting_hand(cards_of(number)) == number
        assert starting_hand_name(cards_of(number)) == name
    assert all(starting_hand_table()[a][b] == starting_hand((b, a)) for a, b in combinations(range(52), 2))
