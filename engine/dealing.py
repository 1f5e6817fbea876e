"""Cards of a match, which follow from the game, the seed and the hand number alone.

An integer seed deals as the reference dealer does, so published seeds can be dealt again. It has 32 bits, and the cards
of one hand are enough to find it by trying all seeds. A `DealKey` has 256 bits, and cards reveal nothing about it or
about other cards.
"""

from __future__ import annotations

import itertools
import struct
import sys
from array import array
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from engine.cards import Card
from engine.game import Game

if TYPE_CHECKING:
    import random

_STATE_WORDS = 624
_HANDS_PER_DRAW = 64


class Deal(NamedTuple):
    """Cards of one hand in the order in which they are dealt, hole cards by position."""

    hole_cards: tuple[tuple[Card, ...], ...]
    board: tuple[Card, ...]


_KEY_BYTES: Final = 32
# Personalisations of BLAKE2b, which make the four uses of a secret independent.
_DEAL = b"acpc-arena deal"
_DERIVE = b"acpc-arena key"
_NUMBER = b"acpc-arena num"
_FINGERPRINT = b"acpc-arena print"


class DealKey:
    """Seed that cannot be found from its cards.

    Its text is ``key:`` and a fingerprint of 32 hexadecimal digits, which commits to the secret without revealing it.
    Logs and results contain this text.

    Attributes:
        secret: 32 random bytes.
    """

    __slots__ = ("secret",)

    def __init__(self, secret: bytes) -> None:
        if len(secret) != _KEY_BYTES:
            raise ValueError(f"a key has {_KEY_BYTES} bytes, not {len(secret)}")
        self.secret: Final = secret

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DealKey) and self.secret == other.secret

    def __hash__(self) -> int:
        return hash(self.secret)

    def __repr__(self) -> str:
        return f"<DealKey {self}>"

    def __str__(self) -> str:
        return f"key:{self._digest(_FINGERPRINT, b'', 16).hex()}"

    @classmethod
    def new(cls) -> DealKey:
        """Create a random key."""
        import secrets

        return cls(secrets.token_bytes(_KEY_BYTES))

    @classmethod
    def from_text(cls, text: str) -> DealKey:
        """Create a key from the 64 hexadecimal digits of its secret.

        Raises:
            ValueError: the text is not 64 hexadecimal digits.
        """
        return cls(bytes.fromhex(text))

    def number(self, *parts: int) -> int:
        """Derive 32 bits for a use other than cards. They reveal nothing about the key or other numbers."""
        message = b"".join(part.to_bytes(8, "little") for part in parts)
        return int.from_bytes(self._digest(_NUMBER, message, 4), "little")

    def _digest(self, use: bytes, message: bytes, size: int) -> bytes:
        import hashlib

        return hashlib.blake2b(message, digest_size=size, key=self.secret, person=use).digest()


Seed: TypeAlias = int | DealKey
"""Seed of all cards of a match: 32 bits for the reference's generator, or a key."""


def logged_seed(seed: Seed) -> int | str:
    """Return the form of a seed for logs and results: an integer unchanged, a key as its fingerprint."""
    if isinstance(seed, DealKey):
        return str(seed)
    return seed


def derived_seed(seed: Seed, index: int) -> Seed:
    """Return the seed with a 0-based index in the sequence that follows from a seed.

    From an integer these are the outputs of the reference's generator. Keys that follow from a key reveal nothing about
    it or about each other.
    """
    if isinstance(seed, DealKey):
        return DealKey(seed._digest(_DERIVE, index.to_bytes(8, "little"), _KEY_BYTES))
    # One call draws all numbers, with the first in the lowest bits.
    return reference_generator(seed).getrandbits(32 * (index + 1)) >> (32 * index)


def reference_generator(seed: int) -> random.Random:
    """Return MT19937 (Matsumoto & Nishimura 1998) seeded like the reference, modulo 2**32.

    ``getrandbits(32)`` returns its outputs in order.
    """
    import random

    # `random.seed` uses the other initialiser of the generator, init_by_array. The reference uses init_genrand, whose
    # state is set here.
    generator = random.Random()
    generator.setstate((3, _first_words(seed & 0xFFFFFFFF), None))
    return generator


@lru_cache(64)
def _first_words(word: int) -> tuple[int, ...]:
    words = [word]
    for i in range(1, _STATE_WORDS):
        word = (1812433253 * (word ^ (word >> 30)) + i) & 0xFFFFFFFF
        words.append(word)
    return (*words, _STATE_WORDS)


def deals(game: Game, seed: Seed, first_hand: int = 0) -> Iterator[Deal]:
    """Yield the hands of an endless match, starting with number `first_hand`.

    With an integer seed, skipping a million hands of hold'em takes about 20 ms.
    """
    width = game.num_hole_cards
    players = game.num_players
    holes = [slice(i * width, (i + 1) * width) for i in range(players)]
    board = slice(players * width, None)
    if isinstance(seed, DealKey):
        hands = _key_hands(game, seed, first_hand)
    else:
        hands = _reference_hands(game, seed, first_hand)
    for cards in hands:
        yield Deal(tuple([tuple(cards[hole]) for hole in holes]), tuple(cards[board]))


def _reference_hands(game: Game, seed: int, first_hand: int) -> Iterator[list[Card]]:
    generator = reference_generator(seed)
    # Each hand takes the same number of words, whether its cards are shown or not.
    words_to_skip = first_hand * game.cards_per_hand
    while words_to_skip > 0:
        chunk = min(words_to_skip, 1 << 16)
        generator.getrandbits(32 * chunk)
        words_to_skip -= chunk

    deck = list(game.deck)
    cards_per_hand = game.cards_per_hand
    deck_sizes = range(len(deck), len(deck) - cards_per_hand, -1)
    while True:
        words = _draw_words(generator, _HANDS_PER_DRAW * cards_per_hand)
        for first in range(0, len(words), cards_per_hand):
            live = deck.copy()
            cards = []
            for word, deck_size in zip(words[first : first + cards_per_hand], deck_sizes, strict=True):
                # The modulo slightly prefers low indexes. The last card of the deck takes the place of the dealt one.
                # Both are the reference's.
                index = word % deck_size
                cards.append(live[index])
                live[index] = live[deck_size - 1]
            yield cards


def _draw_words(generator: random.Random, count: int) -> Sequence[int]:
    # Drawing many words in one call takes a third of the time.
    words = array("I", generator.getrandbits(32 * count).to_bytes(4 * count, "little"))
    if sys.byteorder == "big":
        words.byteswap()
    return words


def _key_hands(game: Game, key: DealKey, first_hand: int) -> Iterator[list[Card]]:
    deck = list(game.deck)
    # Words from the largest multiple of the deck size on are skipped, so that all cards are equally likely.
    draws = [(size, 65536 - 65536 % size) for size in range(len(deck), len(deck) - game.cards_per_hand, -1)]
    for number in itertools.count(first_hand):
        words = _key_words(key, number)
        live = deck.copy()
        cards = []
        for deck_size, end in draws:
            word = next(words)
            while word >= end:
                word = next(words)
            index = word % deck_size
            cards.append(live[index])
            live[index] = live[deck_size - 1]
        yield cards


def _key_words(key: DealKey, number: int) -> Iterator[int]:
    """Yield the 16-bit words of a hand: BLAKE2b-512 of the hand number and a block number, both little-endian."""
    for block in itertools.count():
        message = number.to_bytes(8, "little") + block.to_bytes(4, "little")
        yield from struct.unpack("<32H", key._digest(_DEAL, message, 64))


def deal_hand(game: Game, seed: Seed, hand_number: int) -> Deal:
    """Return the cards of the hand with a 0-based number.

    Raises:
        ValueError: the hand number is negative.
    """
    if hand_number < 0:
        raise ValueError(f"hands are numbered from 0, not {hand_number}")
    return next(deals(game, seed, hand_number))
