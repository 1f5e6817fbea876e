"""The cards of a match, which follow from (game, seed, hand number) alone: a seed is an integer or a key.

*An integer* deals exactly as the reference does. One Mersenne Twister (MT19937, Matsumoto & Nishimura 1998), started by
its single-integer initialiser, gives 32-bit numbers; each card is the number modulo the cards left. Every hand draws
the same number of cards whether they are seen or not, so any single hand can be dealt again without dealing the ones
before it. Python's `random.Random` is the same generator behind another initialiser, so we set its state instead of
seeding it. Such a seed is for cards that have to be dealt again from a published number: it has 32 bits, and the cards
of one hand are enough to find it by trying all of them.

*A key* (`DealKey`) has 256 bits, and no number of cards reveals anything about the others. Hand n of a match draws
16-bit little-endian words from BLAKE2b-512 with the secret as its key, ``acpc-arena deal`` as its personalisation, and
as its message n in 8 bytes and the number of the block, 0, 1, ..., in 4 bytes, both little-endian. A card is the next
word modulo the cards left; a word not below the largest multiple of that number within 2**16 is skipped, so that all
cards are equally likely. In both cases the last card of the deck moves into the gap of the one dealt."""

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
_HANDS_DRAWN_AT_ONCE = 64


class Deal(NamedTuple):
    """The cards of one hand: hole cards by position, then the whole board, in the order dealt (never sorted)."""

    hole_cards: tuple[tuple[Card, ...], ...]
    board: tuple[Card, ...]


_KEY_BYTES: Final = 32
_DEAL = b"acpc-arena deal"
_DERIVE = b"acpc-arena key"
_NUMBER = b"acpc-arena num"
_PRINT = b"acpc-arena print"
"""What keeps the four uses of a secret apart."""


class DealKey:
    """A seed that cannot be found from the cards it deals.

    Its text is its fingerprint, ``key:`` and 32 hexadecimal digits, which commits to the secret without revealing it:
    that is what logs and results name. The secret itself is in `secret` alone.

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
        return f"key:{self._digest(_PRINT, b'', 16).hex()}"

    @classmethod
    def new(cls) -> DealKey:
        """A key from the system's source of secrets."""
        import secrets

        return cls(secrets.token_bytes(_KEY_BYTES))

    @classmethod
    def from_text(cls, text: str) -> DealKey:
        """The key of 64 hexadecimal digits.

        Raises:
            ValueError: they are not.
        """
        return cls(bytes.fromhex(text))

    def number(self, *parts: int) -> int:
        """32 bits for another use than cards, which reveal nothing about the key or about other numbers."""
        message = b"".join(part.to_bytes(8, "little") for part in parts)
        return int.from_bytes(self._digest(_NUMBER, message, 4), "little")

    def _digest(self, use: bytes, message: bytes, size: int) -> bytes:
        import hashlib

        return hashlib.blake2b(message, digest_size=size, key=self.secret, person=use).digest()


Seed: TypeAlias = int | DealKey
"""What all cards of a match follow from: 32 bits for the reference's generator, or a key."""


def logged_seed(seed: Seed) -> int | str:
    """What logs and results name: an integer itself, of a key the fingerprint."""
    if isinstance(seed, DealKey):
        return str(seed)
    return seed


def derived_seed(seed: Seed, index: int) -> Seed:
    """The seed at a place, from 0, in the sequence of seeds that a seed begins.

    Of an integer these are the numbers of the reference's generator; of a key, keys which reveal nothing about it or
    about each other.
    """
    if isinstance(seed, DealKey):
        return DealKey(seed._digest(_DERIVE, index.to_bytes(8, "little"), _KEY_BYTES))
    # Many numbers at once come as one, the first in the lowest bits.
    return reference_generator(seed).getrandbits(32 * (index + 1)) >> (32 * index)


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
    words = [word]
    for i in range(1, _STATE_WORDS):
        word = (1812433253 * (word ^ (word >> 30)) + i) & 0xFFFFFFFF
        words.append(word)
    return (*words, _STATE_WORDS)


def deals(game: Game, seed: Seed, first_hand: int = 0) -> Iterator[Deal]:
    """The hands of an endless match, starting with hand number `first_hand`.

    With an integer seed, reaching a late first hand costs about 20 ms per million hands of hold'em skipped.
    """
    width = game.num_hole_cards
    players = game.num_players
    holes = [slice(i * width, (i + 1) * width) for i in range(players)]
    board = slice(players * width, None)
    hands = _secret_hands(game, seed, first_hand) if isinstance(seed, DealKey) else _hands(game, seed, first_hand)
    for cards in hands:
        yield Deal(tuple([tuple(cards[hole]) for hole in holes]), tuple(cards[board]))


def _hands(game: Game, seed: int, first_hand: int) -> Iterator[list[Card]]:
    generator = reference_generator(seed)
    to_skip = first_hand * game.cards_per_hand
    while to_skip > 0:
        chunk = min(to_skip, 1 << 16)
        generator.getrandbits(32 * chunk)
        to_skip -= chunk

    deck = list(game.deck)
    cards_per_hand = game.cards_per_hand
    lefts = range(len(deck), len(deck) - cards_per_hand, -1)
    while True:
        words = _words(generator, _HANDS_DRAWN_AT_ONCE * cards_per_hand)
        for first in range(0, len(words), cards_per_hand):
            live = deck.copy()
            cards = []
            for word, left in zip(words[first : first + cards_per_hand], lefts, strict=True):
                index = word % left
                cards.append(live[index])
                live[index] = live[left - 1]
            yield cards


def _words(generator: random.Random, count: int) -> Sequence[int]:
    # Many at once cost a third of one by one.
    words = array("I", generator.getrandbits(32 * count).to_bytes(4 * count, "little"))
    if sys.byteorder == "big":
        words.byteswap()
    return words


def _secret_hands(game: Game, key: DealKey, first_hand: int) -> Iterator[list[Card]]:
    deck = list(game.deck)
    draws = [(left, 65536 - 65536 % left) for left in range(len(deck), len(deck) - game.cards_per_hand, -1)]
    for number in itertools.count(first_hand):
        words = _secret_words(key, number)
        live = deck.copy()
        cards = []
        for left, end in draws:
            word = next(words)
            while word >= end:
                word = next(words)
            index = word % left
            cards.append(live[index])
            live[index] = live[left - 1]
        yield cards


def _secret_words(key: DealKey, number: int) -> Iterator[int]:
    for block in itertools.count():
        message = number.to_bytes(8, "little") + block.to_bytes(4, "little")
        yield from struct.unpack("<32H", key._digest(_DEAL, message, 64))


def deal_hand(game: Game, seed: Seed, hand_number: int) -> Deal:
    """The cards of one hand of the match with this seed; hands are numbered from 0.

    Raises:
        ValueError: the hand number is negative.
    """
    if hand_number < 0:
        raise ValueError(f"hands are numbered from 0, not {hand_number}")
    return next(deals(game, seed, hand_number))
