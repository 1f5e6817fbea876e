"""Slow, obvious twin of the bot's readers, written from the wording of the rules.

A hand is its best five cards, found by trying all fives; of equally good fives the one with the fewest of our own
cards, so "ours" are the cards that the hand needs.

"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cache
from itertools import combinations, combinations_with_replacement
from typing import NamedTuple

from engine.cards import CARD_TEXTS

ORDER = "23456789TJQKA"
WITH_LOW_ACE = "A" + ORDER


def texts(cards: Sequence[int]) -> list[str]:
    return [CARD_TEXTS[card] for card in cards]


def strength(five: Sequence[str]) -> tuple[str, list[int]]:
    """Return the name of five cards and their ranks by multiplicity: comparable by `NAMES.index`, then by the list."""
    counts = Counter(ORDER.index(card[0]) for card in five)
    ranks = sorted(counts, key=lambda rank: (counts[rank], rank), reverse=True)
    shape = sorted(counts.values(), reverse=True)
    straight = next((i for i in range(10) if {c[0] for c in five} == set(WITH_LOW_ACE[i : i + 5])), None)
    is_flush = len({card[1] for card in five}) == 1
    if straight is not None:
        return "straight flush" if is_flush else "straight", [straight]
    if is_flush:
        return "flush", ranks
    return {
        (4, 1): "four",
        (3, 2): "full house",
        (3, 1, 1): "three",
        (2, 2, 1): "two pair",
        (2, 1, 1, 1): "pair",
        (1, 1, 1, 1, 1): "high card",
    }[tuple(shape)], ranks


NAMES = ["high card", "pair", "two pair", "three", "straight", "flush", "full house", "four", "straight flush"]


def best_five(hole: Sequence[str], board: Sequence[str]) -> tuple[str, list[int], list[str]]:
    """Return name and ranks of the best five, and which of them are ours if as few as possible are."""

    def worth(five: Sequence[str]) -> tuple[int, list[int], int]:
        name, ranks = strength(five)
        return NAMES.index(name), ranks, -len(set(five) & set(hole))

    five = max(combinations([*hole, *board], 5), key=worth)
    return *strength(five), [card for card in five if card in hole]


def kind(hole: Sequence[str], board: Sequence[str]) -> str:
    """Return the column of the tables, under its name in work.json."""
    name, ranks, ours = best_five(hole, board)
    our_ranks = [ORDER.index(card[0]) for card in ours]
    on_board = sorted({ORDER.index(card[0]) for card in board})
    if name in ("full house", "four", "straight flush"):
        return "full_house_or_better"
    if name == "flush":
        return "high_card" if not ours else "nut_flush" if is_nut_flush(hole, board) else "other_flush"
    if name == "straight":
        run = WITH_LOW_ACE[ranks[0] : ranks[0] + 5]
        ends = [run[0] in [card[0] for card in ours], run[-1] in [card[0] for card in ours]]
        if ends == [True, True]:
            return "straight_both_ends"
        if ends == [False, True]:
            return "straight_top"
        return "straight_bottom" if ends[0] or not ours else "straight_middle"
    if name == "three":
        return {0: "high_card", 1: "trips", 2: "set"}[our_ranks.count(ranks[0])]
    if name == "two pair":
        counts = sorted(our_ranks.count(rank) for rank in ranks[:2])
        names = {(0, 0): "on_board", (0, 1): "one_hole", (0, 2): "pocket", (1, 1): "both_hole"}
        return f"two_pair_{names[counts[0], counts[1]]}"
    pair = ranks[0]
    if name == "high card" or our_ranks.count(pair) == 0:
        return "high_card"
    if our_ranks.count(pair) == 2:
        return "over_pair" if pair > on_board[-1] else "under_pair" if pair < on_board[0] else "middle_pair"
    return {on_board[0]: "bottom_pair", on_board[-1]: "top_pair"}.get(pair, "middle_pair")


def is_nut_flush(hole: Sequence[str], board: Sequence[str]) -> bool:
    """Return whether no other two cards make a higher flush, straight flushes aside."""
    suit = next(s for s in "cdhs" if sum(card[1] == s for card in [*hole, *board]) >= 5)

    def flush(cards: Sequence[str]) -> list[int]:
        return sorted((ORDER.index(card[0]) for card in cards if card[1] == suit), reverse=True)[:5]

    others = [rank + suit for rank in ORDER if rank + suit not in [*hole, *board]]
    return all(flush([*board, *two]) <= flush([*board, *hole]) for two in combinations([*others, "--"], 2))


class Board(NamedTuple):
    """Facts about a board."""

    most_of_a_suit: int
    is_straight_possible: bool
    is_four_to_straight: bool
    has_three_in_a_row: bool


def board_facts(board: Sequence[str]) -> Board:
    most_of_a_suit = max(Counter(card[1] for card in board).values())
    return Board(most_of_a_suit, *_facts_of_ranks(frozenset(card[0] for card in board)))


@cache
def _facts_of_ranks(ranks: frozenset[str]) -> tuple[bool, bool, bool]:
    """Return whether two cards or one card make a straight, and whether three ranks are consecutive."""
    return (
        any(has_straight(ranks | {a, b}) for a, b in combinations_with_replacement(ORDER, 2)),
        any(has_straight(ranks | {a}) for a in ORDER),
        any(ranks.issuperset(WITH_LOW_ACE[i : i + 3]) for i in range(12)),
    )


def has_straight(ranks: frozenset[str]) -> bool:
    return any(ranks.issuperset(WITH_LOW_ACE[i : i + 5]) for i in range(10))


def takes_aggressive(cell: str, name: str, hole: Sequence[str], board: Sequence[str]) -> bool:
    """Return whether the deterministic reading plays the more aggressive move of a cell."""
    facts = board_facts(board)
    if cell == "check/raise" and name in ("high_card", "middle_pair", "bottom_pair", "under_pair"):
        return len(board) == 3
    beats_straights = name in ("nut_flush", "other_flush", "full_house_or_better")
    if facts.is_four_to_straight and not beats_straights:
        return False
    if "fold" in cell:
        return beats_straights or facts.most_of_a_suit < 4
    return invites_draws(board)


def pays_no_bet(name: str, board: Sequence[str]) -> bool:
    """Return whether the work folds to any bet, as one card makes a straight and the hand is below one."""
    is_below = not any(word in name for word in ("straight", "flush", "full_house"))
    return is_below and board_facts(board).is_four_to_straight


def invites_draws(board: Sequence[str]) -> bool:
    facts = board_facts(board)
    return facts.has_three_in_a_row or (facts.most_of_a_suit >= 2 and len(board) < 5)
