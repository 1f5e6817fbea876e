"""Hole cards as the preflop tables name them: ``AKs``, ``AKo``, ``77``, and runs such as ``A7s-A2s``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from engine import Card
from engine.cards import RANKS, rank_of, suit_of

__all__ = ["ALL_HANDS", "expand_hands", "name_of_hand"]


def name_of_hand(hole_cards: tuple[Card, ...]) -> str:
    """The name of two hole cards: ranks from high to low, then ``s`` where suited and ``o`` where not."""
    first, second = hole_cards
    low, high = sorted((rank_of(first), rank_of(second)))
    if low == high:
        return RANKS[high] * 2
    return RANKS[high] + RANKS[low] + ("s" if suit_of(first) == suit_of(second) else "o")


def _all_hands() -> Iterator[str]:
    for high in range(len(RANKS)):
        yield RANKS[high] * 2
        for low in range(high):
            yield RANKS[high] + RANKS[low] + "s"
            yield RANKS[high] + RANKS[low] + "o"


ALL_HANDS: Final = frozenset(_all_hands())
"""The 169 hands."""


def expand_hands(text: str) -> list[str]:
    """The hands that a column's head lists: ``AA A7s-A2s`` is AA and six suited aces.

    Raises:
        ValueError: a word names no hand.
    """
    hands: list[str] = []
    for word in text.split():
        first, is_run, last = word.partition("-")
        run = _run(first, last) if is_run else [first]
        if not run or not ALL_HANDS.issuperset(run):
            raise ValueError(f"{word!r} names no hands")
        hands += run
    return hands


def _run(first: str, last: str) -> list[str]:
    """Hands with the same high card and suitedness, from the better second card to the worse."""
    if first[:1] != last[:1] or first[2:] != last[2:]:
        return []
    better, worse = RANKS.find(first[1:2]), RANKS.find(last[1:2])
    return [first[0] + RANKS[rank] + first[2:] for rank in range(better, worse - 1, -1)]
