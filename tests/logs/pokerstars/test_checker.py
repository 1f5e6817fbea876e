"""Mutations of good hands, each a plausible writer's mistake, must be refused by the checker."""

from __future__ import annotations

import re
from functools import cache
from itertools import combinations

import pytest

from engine import parse_cards, rank_hand
from logs.pokerstars import format_pokerstars
from tests.logs.pokerstars.checker import WrongHand, check_file
from tests.logs.pokerstars.hand_cases import HAND_CASES
from tests.logs.pokerstars.judging import judge


@cache
def good(name: str) -> str:
    text = format_pokerstars(*HAND_CASES[name])
    check_file(text)
    return text


MUTATIONS = [
    # name of the hand, text to replace (first occurrence), replacement, words of the complaint
    ("limit-heads-up-fold", "returned to Ann", "returned to Bob", "expected Uncalled"),
    ("limit-heads-up-fold", "raises $10 to $20", "raises $15 to $25", "a bet is 1000 cents"),
    ("limit-heads-up-fold", "Bob: folds \n", "Bob: folds\n", "expected"),
    ("limit-heads-up-fold", "(small blind) folded", "folded", "expected Seat"),
    ("limit-heads-up-fold", "Seat #2 is", "Seat #1 is", "the small blind is Ann's"),
    ("limit-heads-up-fold", "2-max Seat #2", "3-max Seat #3", "the button is at an empty seat"),
    ("limit-heads-up-fold", "Seat 2: Bob", "Seat 3: Bob", "no such seat"),
    ("limit-heads-up-fold", "Seat 2: Bob", "Seat 1: Bob", "seats are in order"),
    ("limit-heads-up-fold", "Seat 2: Bob", "Seat 2: ANN", "two players of one name"),
    ("limit-heads-up-fold", "#736130849000:  ", "#736130849000: ", "expected PokerStars"),
    ("limit-heads-up-fold", "($10/$20 USD)", "($5/$10 USD)", "no more than the small bet"),
    ("limit-heads-up-fold", " USD)", ")", "do not agree"),
    ("limit-heads-up-fold", " ET\n", " UTC\n", "expected PokerStars"),
    ("limit-heads-up-fold", "blind $5", "blind $5.00", "expected"),
    ("limit-heads-up-fold", "\n\n\n", "\n\n", "two empty lines"),
    ("limit-heads-up-showdown", "Ann: bets $10\nBob: calls $10\n", "Bob: calls $10\nAnn: bets $10\n", "Ann is due"),
    ("limit-heads-up-showdown", "Bob: checks \nAnn: bets", "Ann: bets", "Bob is due"),
    ("limit-heads-up-showdown", "Ann: bets $10", "Ann: raises $10 to $10", "no bet yet"),
    ("limit-heads-up-showdown", "Bob: calls $20", "Bob: checks ", "2000 cents are to call"),
    ("limit-heads-up-showdown", "*** TURN *** [7h Ad Td] [4s]", "*** TURN *** [7h Ad Tc] [4s]", "expected"),
    ("limit-heads-up-showdown", "(a pair of Kings)", "(a pair of Aces)", "this is a pair of Kings"),
    ("limit-heads-up-showdown", "with a pair of Kings", "with a pair of Aces", "expected Seat"),
    ("limit-heads-up-showdown", "Ann collected $140", "Bob collected $140", r"the winners are \['Ann'\]"),
    ("limit-heads-up-showdown", "Dealt to Ann [Kd Qc]", "Dealt to Ann [Kd Qd]", "other cards"),
    ("limit-heads-up-showdown", "Dealt to Ann", "Dealt to Eve", "is the hero"),
    ("nolimit-heads-up-all-in", "bets $173 and is all-in", "bets $173", "all-in is who"),
    ("nolimit-heads-up-all-in", "raises $18 to $24", "raises $5 to $11", "a raise is to 1200 cents at least"),
    ("nolimit-heads-up-all-in", "($0.50/$1.00 USD)", "($0.50/$1 USD)", "has cents"),
    ("nolimit-heads-up-all-in", "($0.50/$1.00 USD)", "($1.00/$2.00 USD)", "not those of the header"),
    ("nolimit-three-side-pot", "Main pot $1500. Side pot $3000.", "Main pot $3000. Side pot $1500.", "expected Total"),
    ("nolimit-three-side-pot", "from side pot", "from main pot", "nobody collects the side pot"),
    ("nolimit-four-two-side-pots-raked", "side pot-2", "side pot", "nobody collects the side pot-2"),
    ("nolimit-four-two-side-pots-raked", "$641.69 from", "$641.70 from", "expected Total"),
    ("limit-six-odd-cents", "Dan collected €1.16", "Dan collected $1.16", "another symbol"),
    ("nolimit-six-kickers", " - Ace+King kicker", " - King kicker", "this is a pair of Eights"),
    ("limit-play-money", " (Play Money)", "", "play money has no symbol"),
    ("limit-play-money", "a Royal Flush", "a straight flush, Ten to Ace", "this is a Royal Flush"),
]


@pytest.mark.parametrize(("name", "old", "new", "complaint"), MUTATIONS)
def test_a_mistake_is_found(name: str, old: str, new: str, complaint: str) -> None:
    text = good(name)
    assert old in text
    with pytest.raises(WrongHand, match=complaint):
        check_file(text.replace(old, new, 1))


@pytest.mark.slow
def test_every_line_counts() -> None:
    """A hand without one of its lines, or with two neighbours swapped, is wrong; the hero's cards are optional."""
    for name in HAND_CASES:
        lines = [line for line in good(name).splitlines(keepends=True) if not line.startswith("Dealt to ")]
        check_file("".join(lines))
        for index in range(len(lines) - 2):
            with pytest.raises(WrongHand):
                check_file("".join(lines[:index] + lines[index + 1 :]))
            if index + 3 < len(lines) and lines[index] != lines[index + 1]:
                swapped = [*lines[:index], lines[index + 1], lines[index], *lines[index + 2 :]]
                with pytest.raises(WrongHand):
                    check_file("".join(swapped))


@pytest.mark.slow
def test_every_number_counts() -> None:
    """A hand with any number changed after the blinds is wrong."""
    for name in HAND_CASES:
        text = good(name)
        body = text.index("*** HOLE CARDS ***")
        for number in re.finditer(r"[0-9]+(?![0-9cdhs])", text[body:]):
            at = body + number.end() - 1
            changed = text[:at] + str((int(text[at]) + 1) % 10) + text[at + 1 :]
            with pytest.raises(WrongHand):
                check_file(changed)


def test_numbers_and_times_of_a_file() -> None:
    one = good("limit-heads-up-fold")
    later = one.replace("12:00:00", "12:00:01").replace("849000", "849001")
    assert [hand.number for hand in check_file(one + later)] == [736130849000, 736130849001]
    with pytest.raises(WrongHand, match="times have to grow"):
        check_file(later + one)
    with pytest.raises(WrongHand, match="a hand number comes twice"):
        check_file(one + later.replace("849001", "849000"))
    with pytest.raises(WrongHand, match="line ends of two kinds"):
        check_file(one.replace("\n", "\r\n") + later)
    assert check_file((one + later).replace("\n", "\r\n")) == check_file(one + later)


def test_judged_hands_are_those_of_the_engine() -> None:
    """Both implementations agree on the order of a few hundred hands of seven cards."""
    deck = [rank + suit for rank in "23456789TJQKA" for suit in "cdhs"]
    hands = [[deck[(start * 7 + step * i * 5 + i) % 52] for i in range(7)] for start in range(26) for step in range(9)]
    hands = [hand for hand in hands if len(set(hand)) == 7]
    assert len(hands) > 100
    judged = sorted((rank_hand(parse_cards("".join(hand))), judge(hand)) for hand in hands)
    for (rank, one), (other_rank, other) in combinations(judged, 2):
        assert (rank < other_rank) == (one < other)
