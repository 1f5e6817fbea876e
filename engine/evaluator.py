"""The strength of a poker hand, in pure Python.

`rank_hand` gives the best five of 1 to 10 cards a number; of two hands with the same number of cards, the better one
has the higher number. A process that plays or deals needs a handful of these per hand and must start quickly, so
nothing here imports numpy or numba; for many hands at once see `engine.batch`, which returns the same numbers.

How it works, for up to seven cards: each card has a key, and the sum of the keys determines the rank. Its low part is a
sum of rank keys that no other set of ranks reaches, and leads through two small tables (`engine.tables`) to the hand
rank. Its high part is a sum of suit keys that shows whether five are of one suit. Three choices make this quick in the
interpreter, where each operation counts and each object is a memory access:

- Every sum fits the 30 bits of a one-digit Python int. The suit keys are the smallest that still separate the flushes.
- The keys are looked up two cards at a time, which halves the additions.
- The suits are not masked away. Each suit sum has its own view of the values that starts the right distance before
  them, in a block of zeros; a suit sum that means a flush has a view of the zeros, so finding a 0 means "flush".

The values are two-byte items behind memoryviews: a list of ints would save an allocation, and lose as much by spreading
over more of the processor's cache. They are read at the first call (about 2 ms), not at import: an empty table raises
IndexError inside a `try` that costs nothing otherwise.

Hands of eight to ten cards have too many sums for a table. There the five ranks that count are picked by hand and
looked up as a five-card hand.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum

_SUIT_KEYS = (0, 1, 25, 32)
"""With these, the suit sum of a 5, 6 or 7 card hand that holds a flush is never that of one without, nor that of a
flush in another suit. No four numbers with a smaller maximum do it; the tests check every combination."""

_SUIT_SHIFT = 23
"""Seven rank keys sum to less than 2**23."""

_PLAIN = (1 << _SUIT_SHIFT) - 1
_ACE_LOW = 0b1_0000_0000_1111

# Filled by _load, the key tables last: where one of them is filled, everything is.
_PAIR_KEYS: list[list[int]] = []
_CARD_KEYS: list[int] = []
_RANK_KEYS: list[int] = []
_FLUSH_BITS: list[list[int]] = []
_FLUSHES: memoryview[int] = memoryview(b"")
_SMALL: list[tuple[int, memoryview[int], memoryview[int]]] = []
_VIEWS_5: list[memoryview[int]] = []
_VIEWS_6: list[memoryview[int]] = []
_VIEWS_7: list[memoryview[int]] = []
_OFFSETS_5: list[int] = []
_OFFSETS_6: list[int] = []
_OFFSETS_7: list[int] = []


class Category(IntEnum):
    """What a hand is called, weakest first. A royal flush is the highest straight flush."""

    HIGH_CARD = 0
    PAIR = 1
    TWO_PAIR = 2
    THREE_OF_A_KIND = 3
    STRAIGHT = 4
    FLUSH = 5
    FULL_HOUSE = 6
    FOUR_OF_A_KIND = 7
    STRAIGHT_FLUSH = 8


def category(rank: int) -> Category:
    """Return the category of a hand rank.

    Raises:
        ValueError: no hand has this rank.
    """
    return Category(rank >> 12)


def rank_hand(cards: Sequence[int]) -> int:
    """Return the rank of the best five of 1 to 10 cards: a higher number is a better hand, an equal one a tie.

    The cards are ints 0..51 = rank * 4 + suit, in any order. The number is above 0 and below 2**16. With fewer than
    five cards there are no straights and no flushes. The number depends on the best five cards alone, so it may be
    compared between hands of 5 to 10 cards too; a hand of fewer cards has no kickers where cards are missing.

    For speed the cards are not checked: it is up to the caller that they are all different and none is negative.
    Otherwise the result is meaningless, or an error.

    Raises:
        ValueError: not 1 to 10 cards, or a card found to be impossible.
    """
    count = len(cards)
    try:
        if count == 7:
            a, b, c, d, e, f, g = cards
            key = _PAIR_KEYS[a][b] + _PAIR_KEYS[c][d] + _PAIR_KEYS[e][f] + _CARD_KEYS[g]
            return _VIEWS_7[key >> 23][(key >> 13) + _OFFSETS_7[key & 8191]] or _rank_flush(cards, key >> 23)
        if count == 5:
            a, b, c, d, e = cards
            key = _PAIR_KEYS[a][b] + _PAIR_KEYS[c][d] + _CARD_KEYS[e]
            return _VIEWS_5[key >> 23][(key >> 12) + _OFFSETS_5[key & 4095]] or _rank_flush(cards, key >> 23)
        if count == 6:
            a, b, c, d, e, f = cards
            key = _PAIR_KEYS[a][b] + _PAIR_KEYS[c][d] + _PAIR_KEYS[e][f]
            return _VIEWS_6[key >> 23][(key >> 12) + _OFFSETS_6[key & 4095]] or _rank_flush(cards, key >> 23)
        if not 1 <= count <= 10:
            raise ValueError(f"a hand has 1 to 10 cards, not {count}")
        if count < 5:
            return _rank_few(cards)
        return _rank_many(cards)
    except IndexError:
        # With good cards this can only be the first call (perhaps while another thread is making the first call too).
        if len(set(cards)) < count or min(cards) < 0 or max(cards) > 51:
            raise ValueError(f"these are not {count} different cards 0..51: {list(cards)}") from None
    _load()
    return rank_hand(cards)


def _rank_few(cards: Sequence[int]) -> int:
    key = sum([_CARD_KEYS[card] for card in cards]) & _PLAIN
    bits, offsets, values = _SMALL[len(cards)]
    return values[(key >> bits) + offsets[key & ((1 << bits) - 1)]]


def _rank_many(cards: Sequence[int]) -> int:
    seen = twice = thrice = four = 0
    bits_of_rank = _FLUSH_BITS[4]
    for card in cards:
        bit = bits_of_rank[card]
        four |= thrice & bit
        thrice |= twice & bit
        twice |= seen & bit
        seen |= bit
    key = _best_five_key(seen, twice, thrice, four)
    bits, offsets, values = _SMALL[5]
    rank = values[(key >> bits) + offsets[key & ((1 << bits) - 1)]]
    return max(rank, *(_FLUSHES[_or_all(suited, cards)] for suited in _FLUSH_BITS[:4]))


def _best_five_key(seen: int, twice: int, thrice: int, four: int) -> int:
    # The masks hold the ranks of which there are at least one, two, three, four cards; of at least eight cards in all,
    # so that some kicker is always left.
    keys = _RANK_KEYS
    if four:
        quads = four.bit_length() - 1
        return 4 * keys[quads] + keys[(seen & ~(1 << quads)).bit_length() - 1]
    if thrice:
        trips = thrice.bit_length() - 1
        pairs = twice & ~(1 << trips)
        if pairs:
            return 3 * keys[trips] + 2 * keys[pairs.bit_length() - 1]
    for top in range(12, 3, -1):
        run = 0b11111 << (top - 4)
        if seen & run == run:
            return sum(keys[top - 4 : top + 1])
    if seen & _ACE_LOW == _ACE_LOW:
        return sum(keys[:4]) + keys[12]
    key = 0
    wanted = 5
    if thrice:
        key = 3 * keys[trips]
        wanted = 2
        seen = seen & ~(1 << trips)
    else:
        for _ in range(2):
            if twice:
                pair = twice.bit_length() - 1
                key = key + 2 * keys[pair]
                wanted = wanted - 2
                twice &= ~(1 << pair)
                seen &= ~(1 << pair)
    for _ in range(wanted):
        high = seen.bit_length() - 1
        key += keys[high]
        seen &= ~(1 << high)
    return key


def _rank_flush(cards: Sequence[int], suit_sum: int) -> int:
    for suited in _FLUSH_BITS[:4]:
        rank = _FLUSHES[_or_all(suited, cards)]
        if rank:
            return rank
    # Some card was given twice.
    raise IndexError(f"suit sum {suit_sum} without a flush")


def _or_all(bits: list[int], cards: Sequence[int]) -> int:
    mask = 0
    for card in cards:
        mask |= bits[card]
    return mask


def _load() -> None:
    global _FLUSHES
    from engine.tables import load_tables

    tables = load_tables()
    offsets = [memoryview(of_n) for of_n in tables.offsets]
    values = [memoryview(of_n) for of_n in tables.values]
    _OFFSETS_5[:], _OFFSETS_6[:], _OFFSETS_7[:] = offsets[4:]
    _VIEWS_5[:], _VIEWS_6[:], _VIEWS_7[:] = (
        _views(cards, values[cards - 1], _SUIT_SHIFT - tables.row_bits[cards - 1]) for cards in (5, 6, 7)
    )
    _SMALL[:] = [(0, offsets[0], values[0]), *zip(tables.row_bits, offsets, values, strict=True)]
    _FLUSHES = memoryview(tables.flushes)
    _RANK_KEYS[:] = tables.rank_keys
    # The bits of each suit's cards (the other suits' are 0), and as a fifth list the bits of all.
    _FLUSH_BITS[:] = [[1 << (card >> 2) if suit in (4, card & 3) else 0 for card in range(52)] for suit in range(5)]
    keys = [_RANK_KEYS[card >> 2] + (_SUIT_KEYS[card & 3] << _SUIT_SHIFT) for card in range(52)]
    _CARD_KEYS[:] = keys
    one_object: dict[int, int] = {}  # equal sums share an int: less than half the memory
    _PAIR_KEYS[:] = [[one_object.setdefault(key + other, key + other) for other in keys] for key in keys]


def _views(cards: int, values: memoryview[int], shift: int) -> list[memoryview[int]]:
    """Return, for every suit sum of `cards` cards, where `sum >> row bits` (suits included) plus the row offset leads.

    The suit sum s moves that index by s << shift. For a hand without a flush the view therefore begins that many items
    before the values; for a flush it begins at the zeros, of which there are enough for any index. The zeros are
    allocated but hardly touched, so the system gives them no memory.
    """
    most = cards * max(_SUIT_KEYS)
    zeros = ((most + 1) << shift) + len(values)
    block = memoryview(bytearray(2 * (zeros + len(values)))).cast("H")
    block[zeros:] = values
    views = [block[zeros - (suit_sum << shift) :] for suit_sum in range(most + 1)]
    for flush in _flush_sums(cards):
        views[flush] = block
    return views


def _flush_sums(cards: int) -> set[int]:
    sums = {5 * key for key in _SUIT_KEYS}
    for _ in range(cards - 5):
        sums = {total + key for total in sums for key in _SUIT_KEYS}
    return sums
