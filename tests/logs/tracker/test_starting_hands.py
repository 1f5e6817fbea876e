"""The 169 classes of hole cards."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, permutations

import pytest

from engine import parse_cards
from logs.tracker.starting_hands import CLASS_OF, CLASSES, name_of


@pytest.mark.parametrize(
    ("cards", "name"),
    [
        ("AcAd", "AA"),
        ("2h2s", "22"),
        ("KhAh", "AKs"),
        ("AhKh", "AKs"),
        ("Kh9c", "K9o"),
        ("2c7d", "72o"),
        ("2d3d", "32s"),
    ],
)
def test_names(cards: str, name: str) -> None:
    assert name_of(parse_cards(cards)) == name


def test_all_hands_are_in_the_classes_as_often_as_they_can_be_dealt() -> None:
    dealt = Counter(name_of(hand) for hand in combinations(range(52), 2))
    assert len(CLASSES) == len(set(CLASSES)) == len(dealt) == 169
    of_kind = {2: 6, "s": 4, "o": 12}
    assert all(count == of_kind[2 if len(name) == 2 else name[2]] for name, count in dealt.items())


def test_the_order_of_the_cards_does_not_matter() -> None:
    assert all(CLASS_OF[one][other] == CLASS_OF[other][one] for one, other in permutations(range(52), 2))


def test_the_square() -> None:
    """Aces first, suited hands right of the diagonal."""
    assert CLASSES[:3] == ("AA", "AKs", "AQs")
    assert CLASSES[13:15] == ("AKo", "KK")
    assert CLASSES[-1] == "22"
    assert [CLASSES[14 * row][0] for row in range(13)] == list("AKQJT98765432")
