"""Names of hands compared with the format's table and with the slow twin."""

from __future__ import annotations

import random

import pytest

from engine import CARD_TEXTS, parse_cards, rank_hand
from logs.pokerstars.names import name_ending, name_hand
from tests.logs.pokerstars.judging import ending, judge
from tests.tables import rows

NAMED = rows("""
    Ac 9d 7h 5s 3c 2d Jh  high card Ace
    Kc Kd 7h 5s 3c 2d Jh  a pair of Kings
    Kc Kd 9h 9s 3c 2d Jh  two pair, Kings and Nines
    9c Td Jh Qs Kc 2d 2h  a straight, Nine to King
    Ac 2d 3h 4s 5c 9d 9h  a straight, Ace to Five
    Qc 2c 3c 4c 9c Ad Kh  a flush, Queen high
    7c 7d 7h Js Jc Jd 3h  a full house, Jacks full of Sevens
    7c 7d 7h Js Jc 2d 2h  a full house, Sevens full of Jacks
    9c 9d 9h 9s Jc Jd 3h  four of a kind, Nines
    Ac 2c 3c 4c 5c 6d Jh  a straight flush, Ace to Five
    Tc Jc Qc Kc Ac 9c 8c  a Royal Flush
""")


@pytest.mark.parametrize(("cards", "text"), NAMED)
def test_a_hand_is_named(cards: str, text: str) -> None:
    parsed = parse_cards(cards.replace(" ", ""))
    assert name_hand(parsed, rank_hand(parsed)).text == text
    assert judge(cards.split()).name == text


@pytest.mark.parametrize(
    ("board", "first", "second", "wanted"),
    [
        ("7h 5h 8h Ac 8s", "4c Tc", "Qc Td", " - Ace+Queen kicker"),
        ("7h 5h 8h Ac 8s", "Qc Td", "4c Tc", " - lower kicker"),
        ("7h 5h 8h Ac 8s", "Qc Td", "Qd Tc", ""),
        ("7h 5h 8h 2c 8s", "Kc Td", "Ad 3c", " - Ace kicker"),
        ("Kh 9d 4c 8c 2s", "Ad 3h", "Ac 7h", " - King+Nine+Eight+Seven kicker"),
        ("Ah 9h 4h 8c 2s", "Qh Th", "7h 3h", " - lower cards"),
        ("Kh 9h 4h 8c 2s", "Ah 3h", "Qh 7h", ""),
        ("Kh Kd Kc Ks 2s", "3d 7h", "Td 8h", " - Ten kicker"),
    ],
)
def test_a_kicker_is_named_where_it_decides(board: str, first: str, second: str, wanted: str) -> None:
    cards = [parse_cards((hole + board).replace(" ", "")) for hole in (first, second)]
    rank, other_rank = map(rank_hand, cards)
    one, other = map(name_hand, cards, (rank, other_rank))
    assert name_ending(other, other_rank, one, rank) == wanted
    assert ending(judge((second + " " + board).split()), [judge((first + " " + board).split())]) == wanted


def assert_named(chance: random.Random, hands: int) -> None:
    for _ in range(hands):
        dealt = chance.sample(range(52), 9)
        pair = [dealt[:2] + dealt[4:], dealt[2:]]
        judged = [judge(CARD_TEXTS[card] for card in cards) for cards in pair]
        ranks = [rank_hand(cards) for cards in pair]
        named = [name_hand(tuple(cards), rank) for cards, rank in zip(pair, ranks, strict=True)]
        assert [name.text for name in named] == [hand.name for hand in judged]
        assert name_ending(named[1], ranks[1], named[0], ranks[0]) == ending(judged[1], judged[:1])


def test_names_of_random_hands_equal_those_of_the_slow_twin() -> None:
    assert_named(random.Random(1), 500)


@pytest.mark.slow
def test_names_of_many_hands_equal_those_of_the_slow_twin() -> None:
    assert_named(random.Random(2), 40_000)
