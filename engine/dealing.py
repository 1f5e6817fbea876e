"""The cards of a match, exactly as the reference's generator deals them.

All cards of a match follow from (game, seed): one Mersenne Twister (MT19937, Matsumoto & Nishimura 1998), started by
its single-integer initialiser, gives 32-bit numbers; each card is the number modulo the cards left. Every hand draws
the same number of cards whether they are seen or not, so any single hand can be dealt again without dealing the ones
before it.

Python's `random.Random` is the same generator behind another initialiser, so we set its state instead of seeding it.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from engine.cards import Card
from engine.game import Game

if TYPE_CHECKING:
    import random

__all__ = ["Deal", "deal_hand", "deals", "reference_generator"]

_STATE_WORDS = 624
_HANDS_DRAWN_AT_ONCE = 64


class Deal(NamedTuple):
    """The cards of one hand: hole cards by position, then the whole board, in the order dealt (never sorted)."""

    hole_cards: tuple[tuple[Card, ...], ...]
    board: tuple[Card, ...]


def reference_generator(seed: int) -> random.Random:
    """MT19937 started as the reference starts it; ``getrandbits(32)`` gives its outputs in order.

    The seed counts modulo 2**32.
    """
    import random

    generator = random.Random()
    generator.setstate((3, _first_words(seed & 0xFFFFFFFF), None))
    return generator


@lru_cache(64)
def _first_words(word: int) -> tuple[int, ...]:
    """The state that a seed leads to, and the place in it."""
    words = [word]
    for i in range(1, _STATE_WORDS):
        word = (1812433253 * (word ^ (word >> 30)) + i) & 0xFFFFFFFF
        words.append(word)
    return (*words, _STATE_WORDS)


def deals(game: Game, seed: int, first_hand: int = 0) -> Iterator[Deal]:
    """The hands of an endless match, starting with hand number `first_hand`.

    Reaching a late first hand costs about 20 ms per million hands of hold'em skipped.
    """
    generator = reference_generator(seed)
    to_skip = first_hand * game.cards_per_hand
    while to_skip > 0:
        chunk = min(to_skip, 1 << 16)
        generator.getrandbits(32 * chunk)
        to_skip -= chunk

    deck = list(game.deck)
    cards_per_hand = game.cards_per_hand
    lefts = range(len(deck), len(deck) - cards_per_hand, -1)
    width = game.num_hole_cards
    holes = [slice(i * width, (i + 1) * width) for i in range(game.num_players)]
    board = slice(holes[-1].stop, None)
    while True:
        words = _words(generator, _HANDS_DRAWN_AT_ONCE * cards_per_hand)
        for first in range(0, len(words), cards_per_hand):
            live = deck.copy()
            cards = []
            for word, left in zip(words[first : first + cards_per_hand], lefts, strict=True):
                index = word % left
                cards.append(live[index])
                live[index] = live[left - 1]
            yield Deal(tuple([tuple(cards[hole]) for hole in holes]), tuple(cards[board]))


def _words(generator: random.Random, count: int) -> Sequence[int]:
    """The next outputs of a generator; many at once cost a third of one by one."""
    words = array("I", generator.getrandbits(32 * count).to_bytes(4 * count, "little"))
    if sys.byteorder == "big":
        words.byteswap()
    return words


def deal_hand(game: Game, seed: int, hand_number: int) -> Deal:
    """The cards of one hand of the match with this seed; hands are numbered from 0.

    Raises:
        ValueError: the hand number is negative.
    """
    if hand_number < 0:
        raise ValueError(f"hands are numbered from 0, not {hand_number}")
    return next(deals(game, seed, hand_number))
