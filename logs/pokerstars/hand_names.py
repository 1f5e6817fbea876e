"""What a hand is called at the showdown: ``two pair, Kings and Nines``.

A hand that is called the same as the best shown before it says what the difference is: ``- Ace+Queen kicker`` names its
kickers down to the one that wins, ``- lower kicker`` loses. The first shown needs no such ending, nor does the summary.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from engine import Card, Category, category

__all__ = ["HandName", "name_ending", "name_hand"]

_SINGULAR: Final = (
    "Deuce",
    "Three",
    "Four",
    "Five",
    "Six",
    "Seven",
    "Eight",
    "Nine",
    "Ten",
    "Jack",
    "Queen",
    "King",
    "Ace",
)
_PLURAL: Final = tuple("Sixes" if name == "Six" else f"{name}s" for name in _SINGULAR)
_ACE: Final = 12
_FIVE: Final = 3


class HandName(NamedTuple):
    """What a hand is called.

    Attributes:
        text: without its ending.
        kickers: ranks of the cards that the text does not name, highest first; ranks are 0..12.
        is_flush: whether the kickers are of a flush.
    """

    text: str
    kickers: tuple[int, ...]
    is_flush: bool


def name_hand(cards: Sequence[Card], rank: int) -> HandName:
    """What the best five of five to seven cards are called.

    Args:
        cards: the hole cards and the board.
        rank: their rank as `engine.rank_hand` gives it.
    """
    kind = category(rank)
    if kind in (Category.STRAIGHT, Category.STRAIGHT_FLUSH):
        return HandName(_straight(cards, kind), (), False)
    ranks = sorted([card >> 2 for card in cards], reverse=True)
    if kind == Category.FLUSH:
        suits = [card & 3 for card in cards]
        suit = max(suits, key=suits.count)
        first, *rest = sorted([card >> 2 for card in cards if card & 3 == suit], reverse=True)[:5]
        return HandName(f"a flush, {_SINGULAR[first]} high", tuple(rest), True)
    # Of two sets the lower one counts as a pair; of three pairs the lowest is no more than a kicker.
    (_, first), (_, second), *_ = sorted([(ranks.count(of), of) for of in set(ranks)], reverse=True)
    if kind == Category.FOUR_OF_A_KIND:
        return HandName(f"four of a kind, {_PLURAL[first]}", _kickers(ranks, 1, first), False)
    if kind == Category.FULL_HOUSE:
        return HandName(f"a full house, {_PLURAL[first]} full of {_PLURAL[second]}", (), False)
    if kind == Category.THREE_OF_A_KIND:
        return HandName(f"three of a kind, {_PLURAL[first]}", _kickers(ranks, 2, first), False)
    if kind == Category.TWO_PAIR:
        return HandName(f"two pair, {_PLURAL[first]} and {_PLURAL[second]}", _kickers(ranks, 1, first, second), False)
    if kind == Category.PAIR:
        return HandName(f"a pair of {_PLURAL[first]}", _kickers(ranks, 3, first), False)
    return HandName(f"high card {_SINGULAR[first]}", _kickers(ranks, 4, first), False)


def name_ending(name: HandName, rank: int, best: HandName, best_rank: int) -> str:
    """What a hand's name ends in, given the best hand that was shown before it; often nothing."""
    if rank == best_rank or name.text != best.text:
        return ""
    if rank < best_rank:
        return " - lower cards" if name.is_flush else " - lower kicker"
    if name.is_flush:
        return ""
    needed = next(i for i, (own, other) in enumerate(zip(name.kickers, best.kickers, strict=True)) if own != other) + 1
    return f" - {'+'.join(_SINGULAR[of] for of in name.kickers[:needed])} kicker"


def _kickers(ranks: Sequence[int], wanted: int, *named: int) -> tuple[int, ...]:
    """The highest of the other ranks, which are in falling order."""
    return tuple([of for of in dict.fromkeys(ranks) if of not in named][:wanted])


def _straight(cards: Sequence[Card], kind: Category) -> str:
    """What a straight or a straight flush is called: the best run of five ranks, of one suit if it is a flush."""
    suits = range(4) if kind == Category.STRAIGHT_FLUSH else (None,)
    highest = max(_highest_of_run({card >> 2 for card in cards if suit in (None, card & 3)}) for suit in suits)
    if highest == _ACE and kind == Category.STRAIGHT_FLUSH:
        return "a Royal Flush"
    lowest = _ACE if highest == _FIVE else highest - 4
    noun = "a straight flush" if kind == Category.STRAIGHT_FLUSH else "a straight"
    return f"{noun}, {_SINGULAR[lowest]} to {_SINGULAR[highest]}"


def _highest_of_run(ranks: set[int]) -> int:
    """The highest rank of the best five in a row, the ace also below the deuce; -1 if there are none."""
    runs = (top for top in range(_ACE, _FIVE - 1, -1) if all((of % 13) in ranks for of in range(top - 4, top + 1)))
    return next(runs, -1)
