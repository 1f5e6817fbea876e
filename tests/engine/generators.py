"""Generator of the files in `engine/tables`: `python -m tests.engine.generators NAME` rewrites one of them.

No step is random, so the output is always the same to the byte. If the printed checksum changes, update the one next to
the file's path. The names:

*hand_ranks*, the hand evaluators' tables, a few seconds in three steps:

1. Keys. Each rank gets the smallest key, larger than the one before, for which no two different selections of at most
   seven cards of equal number (at most four of a rank) have the same sum. A sum then identifies the ranks of a hand.
2. Values. Every selection of 1 to 7 ranks is named by its category and the ranks that decide within it, most important
   first; sorting these names and counting within each category gives the hand ranks. A hand with no card for a kicker
   sorts below every hand that has one.
3. Packing. For each number of cards the values are spread over rows by the low bits of the sum, and the rows, fullest
   first, are each slid to the first place where they overlap nothing. (Aho, Sethi, Ullman, "Compilers", 1986, section
   3.9, on parser tables; Tarjan and Yao, "Storing a sparse table", CACM 22, 1979, for why fullest first.)

*duels*, all duels before the flop: every two holdings that differ by more than the names of suits are counted once,
on all boards, by `engine.kernels.showdowns`: 47,008 pairs, a minute.

*matchups*, all matchups before the flop: `engine.kernels.matchups` counts the boards in as many threads as there are
processors.

*preflop*, the chances before the flop: the numbers against one opponent are sums of the counts of `engine.matchups`,
those against more sampled, with the class of hole cards as seed (`engine.equity.sampled_equity`); about two minutes.

"""

from __future__ import annotations

import hashlib
import sys
from array import array
from collections.abc import Callable, Iterator
from itertools import combinations, starmap
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine import matchups, tables
from engine.cards import cards_of
from engine.duels import BOARDS, DUELS, ROW, ROWS, duel_row
from engine.equity import Equity, compile_kernels, equity_of_counts, sampled_equity
from engine.kernels.matchups import boards_from, count_wins
from engine.kernels.showdowns import count_rank_patterns
from engine.tables import HAND_RANKS, PREFLOP, RankTables, TableFile

# ---- hand ranks

RANKS = 13
CATEGORY_SHIFT = 12
"""Bits to shift a hand rank right to get its category."""

HASHED_CARDS = 7
"""Maximum number of cards that the hash covers."""

ROW_BITS = (10, 11, 11, 11, 12, 12, 13)
"""Row bits for 1 to 7 cards, near the smallest file: fewer leave wide gaps in the rows, more add offsets."""

KEY_LIMIT = 2_000_000
"""Upper bound of the search for keys."""

HIGH_CARD, PAIR, TWO_PAIR, TRIPS, STRAIGHT, FLUSH, FULL_HOUSE, QUADS, STRAIGHT_FLUSH = range(9)

Name = tuple[int, tuple[int, ...]]
"""A category, and the ranks that decide within it, most important first."""


def find_rank_keys() -> list[int]:
    """Return the 13 rank keys of step 1."""
    sums: dict[int, NDArray[np.int64]] = {n: np.zeros(int(n == 0), np.int64) for n in range(HASHED_CARDS + 1)}
    keys: list[int] = []
    for rank in range(RANKS):
        key = _smallest_key(sums, keys[-1] + 1) if rank else 0
        keys.append(key)
        sums = {
            n: np.concatenate([sums[n - copies] + copies * key for copies in range(min(4, n) + 1)])
            for n in range(HASHED_CARDS + 1)
        }
        if any(len(np.unique(of_n)) != len(of_n) for of_n in sums.values()):
            raise AssertionError(f"two hands share a sum with the key {key}")
    return keys


def _smallest_key(sums: dict[int, NDArray[np.int64]], start: int) -> int:
    """Return the first key from `start` that makes no two sums of equally many cards the same.

    Sums x of m and y of fewer cards clash when x = y + c * key with c = m - (number in y) copies of the new rank,
    so the keys ruled out are the differences x - y divided by c.
    """
    ruled_out = np.zeros(KEY_LIMIT, np.bool_)
    for more in range(1, HASHED_CARDS + 1):
        for fewer in range(max(0, more - 4), more):
            copies = more - fewer
            longer, shorter = sums[more], sums[fewer]
            loop_shorter = len(shorter) < len(longer)
            for subset in shorter if loop_shorter else longer:
                differences = longer - subset if loop_shorter else subset - shorter
                candidates = differences[(differences > 0) & (differences < copies * KEY_LIMIT)]
                ruled_out[candidates[candidates % copies == 0] // copies] = True
    return start + int(np.argmin(ruled_out[start:]))


def selections(cards: int, ranks: int = RANKS) -> Iterator[tuple[int, ...]]:
    """Yield the number of cards of each rank, deuce first, for all choices of cards, at most four of a rank."""
    if ranks == 0:
        if cards == 0:
            yield ()
        return
    for copies in range(min(4, cards) + 1):
        for lower in selections(cards - copies, ranks - 1):
            yield (*lower, copies)


def straight_top(ranks: set[int]) -> int | None:
    """Return the highest rank of the best straight in these ranks (3, the five, for A-5), or None."""
    for top in range(12, 2, -1):
        if all((top - step) % 13 in ranks for step in range(5)):
            return top
    return None


def name_selection(counts: tuple[int, ...]) -> Name:
    """Return the name of the best five cards of a selection when no flush is possible."""
    held = sorted((rank for rank in range(RANKS) if counts[rank]), key=lambda rank: (-counts[rank], -rank))
    first = held[0]
    rest = sorted(held[1:], reverse=True)
    max_count = counts[first]
    if max_count == 4:
        return QUADS, (first, *rest[:1])
    pairs = [rank for rank in rest if counts[rank] >= 2]
    if max_count == 3 and pairs:
        return FULL_HOUSE, (first, pairs[0])
    top = straight_top(set(held))
    if top is not None:
        return STRAIGHT, (top,)
    if max_count == 3:
        return TRIPS, (first, *rest[:2])
    if max_count == 2 and pairs:
        kickers = [rank for rank in rest if rank != pairs[0]]
        return TWO_PAIR, (first, pairs[0], *kickers[:1])
    if max_count == 2:
        return PAIR, (first, *rest[:3])
    return HIGH_CARD, (first, *rest[:4])


def name_flush(mask: int) -> Name | None:
    """Return the name of the best flush among the suited ranks of a 13-bit mask, or None if there are fewer than 5."""
    ranks = [rank for rank in range(12, -1, -1) if mask >> rank & 1]
    if len(ranks) < 5:
        return None
    top = straight_top(set(ranks))
    return (FLUSH, tuple(ranks[:5])) if top is None else (STRAIGHT_FLUSH, (top,))


def number_names(names: set[Name]) -> dict[Name, int]:
    """Return the hand rank of every name: the category, and the 1-based order of the name within it."""
    numbers: dict[Name, int] = {}
    seen = [0] * 9
    for name in sorted(names):
        seen[name[0]] += 1
        numbers[name] = name[0] << CATEGORY_SHIFT | seen[name[0]]
    return numbers


def pack(value_of_sum: dict[int, int], bits: int) -> tuple[array[int], array[int]]:
    """Return the row offsets and the values of one number of cards, by first fit, fullest row first.

    The occupied places are the bits of one large integer. Shifted right by each column of a row and or-ed together
    they show, as the lowest zero bit, the first place where the row fits.
    """
    rows: dict[int, list[int]] = {}
    for total in sorted(value_of_sum):
        rows.setdefault(total & ((1 << bits) - 1), []).append(total >> bits)
    offsets = array("H", bytes(2 << bits))
    values: dict[int, int] = {}
    occupied = 0
    for row in sorted(rows, key=lambda row: (-len(rows[row]), row)):
        blocked = 0
        for column in rows[row]:
            blocked |= occupied >> column
        offset = (~blocked & (blocked + 1)).bit_length() - 1
        offsets[row] = offset
        for column in rows[row]:
            occupied |= 1 << (column + offset)
            values[column + offset] = value_of_sum[column << bits | row]
    return offsets, array("H", [values.get(place, 0) for place in range(max(values) + 1)])


def hand_rank_tables() -> RankTables:
    """Generate the tables."""
    keys = find_rank_keys()
    hands = {n: list(selections(n)) for n in range(1, HASHED_CARDS + 1)}
    plain = {counts: name_selection(counts) for of_n in hands.values() for counts in of_n}
    flushes = [name_flush(mask) for mask in range(1 << RANKS)]
    numbers = number_names(set(plain.values()) | {name for name in flushes if name is not None})
    packed = []
    for n, bits in zip(range(1, HASHED_CARDS + 1), ROW_BITS, strict=True):
        sums = {
            sum(copies * key for copies, key in zip(counts, keys, strict=True)): numbers[plain[counts]]
            for counts in hands[n]
        }
        packed.append(pack(sums, bits))
    return RankTables(
        rank_keys=tuple(keys),
        row_bits=ROW_BITS,
        offsets=tuple(offsets for offsets, _ in packed),
        values=tuple(values for _, values in packed),
        flushes=array("H", [0 if name is None else numbers[name] for name in flushes]),
    )


def hand_rank_numbers(tables: RankTables) -> bytes:
    """Return the numbers that the file holds, in its order."""
    lengths = [len(values) for values in tables.values]
    parts = [np.array((*tables.rank_keys, *tables.row_bits, *lengths), "<u4")]
    for offsets, values in zip(tables.offsets, tables.values, strict=True):
        parts += (np.array(offsets, "<u2"), np.array(values, "<u2"))
    return b"".join(part.tobytes() for part in [*parts, np.array(tables.flushes, "<u2")])


# ---- duels

Pair = tuple[tuple[int, int], tuple[int, int]]
"""Two holdings, each with its lower card first."""


def pairs_by_row() -> dict[int, Pair]:
    """Return two holdings for each row of the table that has any."""
    pairs: dict[int, Pair] = {}
    for first in combinations(range(52), 2):
        for second in combinations(range(52), 2):
            if len({*first, *second}) == 4 and (row := duel_row(*first, *second)) >= 0:
                pairs.setdefault(row, (first, second))
    return pairs


def form_of(pair: Pair) -> Pair:
    """Return a canonical form, equal for pairs of holdings that differ only by the names of suits."""
    suits = [[0, 0] for _ in range(4)]
    for at, holding in enumerate(pair):
        for card in holding:
            suits[card & 3][at] |= 1 << (card >> 2)
    suits.sort()
    first, second = (
        sorted(4 * rank + suit for suit, ranks in enumerate(suits) for rank in range(13) if ranks[at] >> rank & 1)
        for at in range(2)
    )
    return (first[0], first[1]), (second[0], second[1])


def count_pair(pair: Pair) -> tuple[int, int]:
    """Count the boards won by the first of two holdings, and those tied."""
    deck = np.array([card for card in range(52) if card not in (*pair[0], *pair[1])], np.uint8)
    counts = np.zeros((1, 2, 2), np.int64)
    count_rank_patterns(np.array(pair, np.uint8), deck, [(0, 1)], counts)
    return int(counts[0, 0, 0]), int(counts[0, 0, 1])


def rows_of(count: Callable[[Pair], tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Return the rows of the table, in their order.

    Args:
        count: counts the boards won by the first of two holdings, and those tied; called once for pairs that differ
            only by the names of suits or by their order.

    """
    pairs = pairs_by_row()
    known: dict[Pair, tuple[int, int]] = {}
    for row in range(ROWS):
        if row not in pairs:
            yield 0, 0
            continue
        form, turned = form_of(pairs[row]), form_of(pairs[row][::-1])
        if form not in known:
            won, tied = known[form] = count(form)
            known[turned] = BOARDS - won - tied, tied
        yield known[form]


# ---- chances before the flop


def exact_against_one() -> list[Equity]:
    """Return the exact chances of every class against one opponent."""
    return [equity_of_counts([lost, won, tied]) for won, tied, lost in matchups.counts().sum(axis=1).tolist()]


def sample_against(number: int, opponents: int) -> Equity:
    """Return the sampled chances of a class against two or more opponents."""
    return sampled_equity(cards_of(number), (), opponents, trials=tables.TRIALS, seed=number)


def preflop_chances() -> Iterator[Equity]:
    """Return all entries of the table, in its order."""
    for number, exact in enumerate(exact_against_one()):
        yield exact
        for opponents in range(2, tables.MAX_OPPONENTS + 1):
            yield sample_against(number, opponents)


# ---- the program


def _preflop_numbers() -> bytes:
    compile_kernels()
    return np.array(list(preflop_chances()), "<f8").tobytes()


FILES: Final[dict[str, tuple[TableFile, Callable[[], bytes]]]] = {
    "hand_ranks": (HAND_RANKS, lambda: hand_rank_numbers(hand_rank_tables())),
    "duels": (DUELS, lambda: b"".join(starmap(ROW.pack, rows_of(count_pair)))),
    "matchups": (matchups.MATCHUPS, lambda: count_wins(boards_from()).astype("<u4").tobytes()),
    "preflop": (PREFLOP, _preflop_numbers),
}


def main(name: str, path: str | None = None) -> None:
    """Write a file and print its size and checksum. `path`: destination; by default its place in the package."""
    table, numbers = FILES[name]
    data, path = table.magic + numbers(), path or table.path
    with open(path, "wb") as file:
        file.write(data)
    print(f"{path}: {len(data)} bytes, sha256 {hashlib.sha256(data).hexdigest()}")


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1] not in FILES:
        sys.exit(f"usage: python -m tests.engine.generators {'|'.join(FILES)}")
    main(sys.argv[1])
