"""Rank of a poker hand of 1 to 10 cards, in pure Python without numpy.

Each card has a key, and the sum of the keys of up to seven cards determines their rank. The low part of the sum is a
sum of rank keys that is different for each set of ranks, and leads to the rank through two tables of `engine.tables`.
The high part is a sum of suit keys that shows whether five cards have one suit. From eight cards on there are too many
sums for a table, so the five ranks that count are searched for.

`engine.batch` returns the same ranks for arrays of hands.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum

# With these keys, a suit sum of 5 to 7 cards with a flush differs from all sums without one and from those of flushes
# in other suits. No four numbers with a smaller maximum have this property. Whole keys then sum to less than 2**30,
# which Python stores in one digit.
_SUIT_KEYS = (0, 1, 25, 32)

# Seven rank keys sum to less than 2**23.
_SUIT_SHIFT = 23

_PLAIN = (1 << _SUIT_SHIFT) - 1
_ACE_LOW = 0b1_0000_0000_1111

# Filled by _load at the first call, which takes 2 ms, and not at import. The keys are filled last, so that in another
# thread a missing table raises IndexError before a wrong rank can be returned.
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
    """Name of a hand, weakest first. A royal flush is the highest straight flush."""

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
    """Return the category of a rank.

    Raises:
        ValueError: no hand has this rank.
    """
    return Category(rank >> 12)


def rank_hand(cards: Sequence[int]) -> int:
    """Return the rank of the best five of 1 to 10 cards, between 1 and 2**16 - 1; a higher rank is a better hand.

    The rank depends on the best five cards alone, so hands of 5 to 10 cards can be compared with each other. Hands of
    fewer cards have no straights, no flushes and fewer kickers.

    For speed, the cards are not checked to be different. The rank of a hand with a repeated card means nothing.

    Args:
        cards: integers 0..51 = rank * 4 + suit, in any order.

    Raises:
        ValueError: the number of cards is not 1 to 10, or a card was noticed to be impossible.
    """
    count = len(cards)
    try:
        # Three tricks for the interpreter. Keys are looked up for two cards at a time, which halves the additions. The
        # suits stay in the index: each suit sum has its own view of the values, shifted by that much. The view of a
        # flush contains zeros only, so that one test finds all flushes.
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
        # With valid cards the tables are not loaded yet, or another thread is loading them.
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
    """Return the sum of the rank keys of the best five cards, flushes aside.

    Args:
        seen: set of the ranks of which there is at least one card, among eight cards or more.
        twice: those of which there are at least two.
        thrice: those of which there are at least three.
        four: those of which there are four.
    """
    # A kicker always exists, because there are at least eight cards.
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
    # Three of a kind, one or two pairs, or nothing; then the highest kickers.
    key = 0
    missing = 5
    if thrice:
        key = 3 * keys[trips]
        missing = 2
        seen = seen & ~(1 << trips)
    else:
        for _ in range(2):
            if twice:
                pair = twice.bit_length() - 1
                key = key + 2 * keys[pair]
                missing = missing - 2
                twice &= ~(1 << pair)
                seen &= ~(1 << pair)
    for _ in range(missing):
        high = seen.bit_length() - 1
        key += keys[high]
        seen &= ~(1 << high)
    return key


def _rank_flush(cards: Sequence[int], suit_sum: int) -> int:
    for suited in _FLUSH_BITS[:4]:
        rank = _FLUSHES[_or_all(suited, cards)]
        if rank:
            return rank
    # Only a repeated card leads here. The caller reports it.
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
    # Memoryviews of 16-bit items. Lists of integers would save an allocation per call, and lose as much because they
    # occupy more of the processor's cache.
    offsets = [memoryview(table) for table in tables.offsets]
    values = [memoryview(table) for table in tables.values]
    _OFFSETS_5[:], _OFFSETS_6[:], _OFFSETS_7[:] = offsets[4:]
    _VIEWS_5[:], _VIEWS_6[:], _VIEWS_7[:] = (
        _views(cards, values[cards - 1], _SUIT_SHIFT - tables.row_bits[cards - 1]) for cards in (5, 6, 7)
    )
    _SMALL[:] = [(0, offsets[0], values[0]), *zip(tables.row_bits, offsets, values, strict=True)]
    _FLUSHES = memoryview(tables.flushes)
    _RANK_KEYS[:] = tables.rank_keys
    # For each suit, the bits of the ranks of its cards, and 0 for other cards. A fifth list has the bits of all cards.
    bits = [1 << (card >> 2) for card in range(52)]
    _FLUSH_BITS[:] = [[bit if card & 3 == suit else 0 for card, bit in enumerate(bits)] for suit in range(4)] + [bits]
    keys = [_RANK_KEYS[card >> 2] + (_SUIT_KEYS[card & 3] << _SUIT_SHIFT) for card in range(52)]
    _CARD_KEYS[:] = keys
    # Equal sums share one object, which halves the memory.
    shared: dict[int, int] = {}
    _PAIR_KEYS[:] = [[shared.setdefault(key + other, key + other) for other in keys] for key in keys]


def _views(cards: int, values: memoryview[int], shift: int) -> list[memoryview[int]]:
    """Return a view of the values for each suit sum, to be indexed by the key without its row bits plus the row offset.

    Args:
        shift: number of bits of such an index below the suit sum.
    """
    max_sum = cards * max(_SUIT_KEYS)
    # A block of zeros, then the values. The view of a suit sum begins before the values by as much as the sum adds to
    # an index. That of a flush begins with the zeros, of which there are enough for any index. Zeros that are never
    # read take no memory.
    num_zeros = ((max_sum + 1) << shift) + len(values)
    block = memoryview(bytearray(2 * (num_zeros + len(values)))).cast("H")
    block[num_zeros:] = values
    views = [block[num_zeros - (suit_sum << shift) :] for suit_sum in range(max_sum + 1)]
    for flush in _flush_sums(cards):
        views[flush] = block
    return views


def _flush_sums(cards: int) -> set[int]:
    sums = {5 * key for key in _SUIT_KEYS}
    for _ in range(cards - 5):
        sums = {total + key for total in sums for key in _SUIT_KEYS}
    return sums
