"""Buckets of hold'em: groups of hands that a strategy plays alike.

Before the flop each of the 169 starting hands is a bucket, which is lossless. On a later round the hands are clustered
by their features (`bots.cfr.features`) with k-means, and each cluster is a bucket (Johanson, Burch, Valenzano & Bowling
2013, "Evaluating state-space abstractions in extensive-form games"). A hand does not remember its buckets of earlier
rounds. A strategy file stores the buckets of all flops and the centres for turn and river. Training uses tables of all
hands instead: 400 MB, computed in two minutes on one core.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from bots.artifact import FileKind, as_arrays, read_artifact, write_artifact
from bots.cfr.boards import (
    HOLDING_CARDS,
    HOLDING_COUNT,
    CanonicalBoards,
    canonical_boards,
    distinct_holdings,
    rename_holdings,
    suit_order,
)
from bots.cfr.clustering import Vectors, assign_clusters, find_clusters
from bots.cfr.features import (
    CLASSES,
    FEATURES,
    RIVER_HOLDINGS,
    flop_features,
    river_features,
    turn_features,
)
from bots.errors import BotFileError
from engine.cards import starting_hand
from engine.ranges import are_free

_Buckets = NDArray[np.uint16]
NO_BUCKET: Final = 0xFFFF
"""Bucket of a holding that shares a card with the board."""
_STARTING_HANDS: Final = np.array([starting_hand(cards) for cards in HOLDING_CARDS.tolist()], np.uint16)
_SAMPLE_SIZE: Final = 400_000
"""Number of hands from which the clusters of flop or turn are computed."""
_RIVER_SAMPLE_SHAPE: Final = (4_000, 100)
"""Number of boards and of holdings on each, from which the clusters of the river are computed."""
_SEED: Final = 1
_KIND: Final = FileKind("the buckets of a training of cfr", 1, "delete it, and it is computed again")
_PARTS: Final = 256
"""Number of parts into which the boards are divided among threads, and of steps of the progress."""


class FlopBuckets(NamedTuple):
    """Buckets of all hands on the flop.

    Attributes:
        keys: keys of the canonical flops, ascending, shape (1755,).
        starts: index in `hands` of the first hand of each flop, and the total as last entry, shape (1756,).
        hands: bucket of each hand, flop by flop, in the order of `distinct_holdings`.
    """

    keys: NDArray[np.int64]
    starts: NDArray[np.int64]
    hands: _Buckets

    def on(self, board: Sequence[int]) -> _Buckets:
        """Return the bucket of every holding, shape (1326,)."""
        key, suits = suit_order(board)
        row = int(np.searchsorted(self.keys, key))
        canonical_board = [card & 0xFC | suits[card & 3] for card in board]
        numbers = distinct_holdings(canonical_board)[rename_holdings(suits)]
        hands = self.hands[self.starts[row] : self.starts[row + 1]].astype(np.uint16)
        # The index -1 reads the last hand, which `where` discards.
        return np.where(numbers >= 0, hands[numbers], np.uint16(NO_BUCKET))


@dataclass(frozen=True, eq=False)
class ClusteredHands:
    """Buckets of all hands of hold'em, as a strategy file stores them.

    Attributes:
        buckets: number of buckets per round, the first always 169.
        turn_centres: centres of the clusters, shape (buckets of the turn, 16).
        river_centres: centres of the clusters, shape (buckets of the river, 8).
    """

    buckets: tuple[int, ...]
    flops: FlopBuckets
    turn_centres: Vectors
    river_centres: Vectors

    @classmethod
    def from_arrays(cls, buckets: tuple[int, ...], arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Restore the buckets from the arrays of a file.

        Raises:
            KeyError: an array is missing.
        """
        flops = FlopBuckets(arrays["flop_keys"], arrays["flop_starts"], arrays["flops"])
        return cls(buckets, flops, arrays["turn_centres"], arrays["river_centres"])

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays of a strategy file by name, the inverse of `from_arrays`."""
        # Byte orders are explicit: files are the same on every machine.
        return {
            "flop_keys": self.flops.keys.astype("<i8"),
            "flop_starts": self.flops.starts.astype("<i8"),
            "flops": self.flops.hands.astype("<u2"),
            "turn_centres": self.turn_centres,
            "river_centres": self.river_centres,
        }

    @lru_cache(maxsize=64)  # noqa: B019  there are few abstractions, and they live as long as the process
    def on(self, board: tuple[int, ...]) -> _Buckets:
        """Return the bucket of every holding, shape (1326,), `NO_BUCKET` if it shares a card with the board."""
        if board:
            return self.compute_buckets(np.array(sorted(board), np.uint8))
        return _STARTING_HANDS

    def compute_buckets(self, board: NDArray[np.uint8]) -> _Buckets:
        """Compute `on` for a board of ascending cards, without the cache."""
        if len(board) == 3:
            return self.flops.on(board.tolist())
        if len(board) == 4:
            return self._on_turn(board)
        return self._on_river(board)

    def _on_turn(self, board: NDArray[np.uint8]) -> _Buckets:
        features = np.empty((HOLDING_COUNT, FEATURES), np.uint8)
        turn_features(board, features)
        return _cluster_holdings(board, features, self.turn_centres)

    def _on_river(self, board: NDArray[np.uint8]) -> _Buckets:
        order = np.empty(RIVER_HOLDINGS, np.uint16)
        classes = np.empty((RIVER_HOLDINGS, CLASSES), np.uint8)
        river_features(board, order, classes, np.empty(RIVER_HOLDINGS, np.uint16))
        buckets = np.full(HOLDING_COUNT, NO_BUCKET, np.uint16)
        buckets[order] = assign_clusters(classes, self.river_centres)
        return buckets


class CardTables(NamedTuple):
    """Buckets of all holdings on all canonical boards.

    Attributes:
        flop_keys: keys of the canonical boards, ascending, as those of turn and river.
        flops: shape (boards, 1326), as those of turn and river, `NO_BUCKET` if a holding shares a card with the board.
    """

    flop_keys: NDArray[np.int64]
    turn_keys: NDArray[np.int64]
    river_keys: NDArray[np.int64]
    flops: _Buckets
    turns: _Buckets
    rivers: _Buckets


def _cluster_holdings(board: NDArray[np.uint8], features: Vectors, centres: Vectors) -> _Buckets:
    is_live = are_free(board.tolist())
    buckets = np.full(HOLDING_COUNT, NO_BUCKET, np.uint16)
    buckets[is_live] = assign_clusters(features[is_live], centres)
    return buckets


def max_table_bytes() -> int:
    """Return the peak memory of `cluster_hands`: the features of all turns and the tables of three rounds."""
    return HOLDING_COUNT * (16_432 * FEATURES + 2 * (1_755 + 16_432 + 134_459))


class _BoardPool:
    """Threads that compute something for every board and report the progress of the whole work."""

    def __init__(self, threads: int, progress: Callable[[float], None] | None) -> None:
        self._threads = threads
        self._progress = progress
        self._done = 0.0

    def run(self, boards: CanonicalBoards, part: float, compute: Callable[[int], object]) -> None:
        """Call `compute` with the index of each board; this is `part` of the whole work, 0 to 1."""
        edges = [len(boards.keys) * number // _PARTS for number in range(_PARTS + 1)]

        def compute_all(first: int, last: int) -> None:
            for number in range(first, last):
                if is_stopped.is_set():
                    return
                compute(number)

        # Not a `with`: an interrupt has to stop the threads between two boards.
        is_stopped = threading.Event()
        pool = ThreadPoolExecutor(self._threads)
        try:
            futures = [pool.submit(compute_all, first, last) for first, last in pairwise(edges)]
            for _ in as_completed(futures):
                self._done += part / _PARTS
                if self._progress is not None:
                    self._progress(min(self._done, 1.0))
        finally:
            is_stopped.set()
            pool.shutdown(cancel_futures=True)

    def table(
        self, boards: CanonicalBoards, part: float, compute: Callable[[int, NDArray[np.uint8]], _Buckets]
    ) -> _Buckets:
        """Return the buckets on all boards, shape (boards, 1326), computed from the index and the cards of each."""
        table = np.empty((len(boards.keys), HOLDING_COUNT), np.uint16)

        def fill(number: int) -> None:
            table[number] = compute(number, boards.cards[number])

        self.run(boards, part, fill)
        return table


def tabulate_hands(
    hands: ClusteredHands, threads: int = 1, progress: Callable[[float], None] | None = None
) -> CardTables:
    """Look up the buckets of all hands; `progress` as for `cluster_hands`."""
    pool = _BoardPool(threads, progress)
    flop_boards, turn_boards, river_boards = map(canonical_boards, (3, 4, 5))

    def look_up(_: int, board: NDArray[np.uint8]) -> _Buckets:
        return hands.compute_buckets(board)

    return CardTables(
        flop_keys=flop_boards.keys,
        turn_keys=turn_boards.keys,
        river_keys=river_boards.keys,
        flops=pool.table(flop_boards, 0.01, look_up),
        turns=pool.table(turn_boards, 0.44, look_up),
        rivers=pool.table(river_boards, 0.55, look_up),
    )


def cluster_hands(
    flop: int, turn: int, river: int, threads: int = 1, progress: Callable[[float], None] | None = None
) -> tuple[ClusteredHands, CardTables]:
    """Cluster all hands of hold'em into at most `flop`, `turn` and `river` buckets.

    Args:
        progress: called from time to time with the part of the work that is done, 0 to 1.
    """
    flop_boards, turn_boards, river_boards = map(canonical_boards, (3, 4, 5))
    pool = _BoardPool(threads, progress)
    turns = np.zeros((len(turn_boards.keys), HOLDING_COUNT, FEATURES), np.uint8)
    flops = np.zeros((len(flop_boards.keys), HOLDING_COUNT, FEATURES), np.uint8)

    def compute_turn(number: int) -> None:
        turn_features(turn_boards.cards[number], turns[number])

    def compute_flop(number: int) -> None:
        flop_features(flop_boards.cards[number], turn_boards.keys, turns, flops[number])

    # Features of the flop are means of those of the turn, so the turn comes first.
    pool.run(turn_boards, 0.4, compute_turn)
    pool.run(flop_boards, 0.05, compute_flop)

    # One generator for the three samples, in this order: the buckets depend on it.
    chance = np.random.Generator(np.random.PCG64(_SEED))
    flop_sample = _sample_features(flop_boards, flops, chance)
    flop_centres = _sort_by_strength(find_clusters(flop_sample, flop, _SEED))
    turn_sample = _sample_features(turn_boards, turns, chance)
    turn_centres = _sort_by_strength(find_clusters(turn_sample, turn, _SEED))
    river_centres = _sort_by_strength(find_clusters(_sample_river_features(chance), river, _SEED))

    def cluster_flop(number: int, board: NDArray[np.uint8]) -> _Buckets:
        return _cluster_holdings(board, flops[number], flop_centres)

    def cluster_turn(number: int, board: NDArray[np.uint8]) -> _Buckets:
        return _cluster_holdings(board, turns[number], turn_centres)

    flop_table = pool.table(flop_boards, 0.01, cluster_flop)
    turn_table = pool.table(turn_boards, 0.09, cluster_turn)
    hands = ClusteredHands(
        buckets=(169, len(flop_centres), len(turn_centres), len(river_centres)),
        flops=_flop_buckets(flop_boards, flop_table),
        turn_centres=turn_centres,
        river_centres=river_centres,
    )

    def cluster_river(_: int, board: NDArray[np.uint8]) -> _Buckets:
        return hands.compute_buckets(board)

    river_table = pool.table(river_boards, 0.45, cluster_river)
    return hands, CardTables(flop_boards.keys, turn_boards.keys, river_boards.keys, flop_table, turn_table, river_table)


def load_hands(
    path: Path | None, counts: tuple[int, int, int], threads: int, progress: Callable[[float], None]
) -> tuple[ClusteredHands, CardTables]:
    """Map the buckets of all hands from a file, 400 MB, or compute them and write the file.

    Args:
        path: the file; None to compute the buckets without one.
        counts: numbers of buckets on flop, turn and river.

    Raises:
        BotFileError: the file is damaged or has other numbers of buckets.
    """
    if path is not None and path.exists():
        return _read_hands(path, counts)
    hands, tables = cluster_hands(*counts, threads, progress)
    if path is not None:
        arrays = hands.arrays()
        arrays |= {"flop_table": tables.flops, "turn_table": tables.turns, "river_table": tables.rivers}
        layout, contents = as_arrays(arrays)
        write_artifact(path, _KIND, {**layout, "asked": counts, "buckets": hands.buckets}, contents)
    return hands, tables


def _read_hands(path: Path, counts: Sequence[int]) -> tuple[ClusteredHands, CardTables]:
    artifact = read_artifact(path, _KIND, is_mapped=True)
    arrays = artifact.arrays()
    with artifact.parsing():
        # The requested numbers, not those of `buckets`: clustering may return fewer.
        stored = artifact.header["asked"]
        if stored != list(counts):
            raise BotFileError(str(path), f"it has {stored} buckets, not {list(counts)}: delete it")
        hands = ClusteredHands.from_arrays(tuple(artifact.header["buckets"]), arrays)
        flops, turns, rivers = (canonical_boards(cards).keys for cards in (3, 4, 5))
        tables = arrays["flop_table"], arrays["turn_table"], arrays["river_table"]
        return hands, CardTables(flops, turns, rivers, *tables)


def _sort_by_strength(centres: Vectors) -> Vectors:
    """Sort centres by the sum of their winnings against all classes, the weakest first."""
    return centres[np.argsort(centres[:, :CLASSES].sum(axis=1, dtype=np.int64), kind="stable")]


def _flop_buckets(flops: CanonicalBoards, table: _Buckets) -> FlopBuckets:
    """Keep one bucket per hand of a table of flops, shape (boards, 1326)."""
    hands = []
    starts = [0]
    for board, row in zip(flops.cards.tolist(), table, strict=True):
        numbers = distinct_holdings(board)
        is_live = numbers >= 0
        board_hands = np.zeros(int(numbers.max()) + 1, np.uint16)
        board_hands[numbers[is_live]] = row[is_live]
        hands.append(board_hands)
        starts.append(starts[-1] + len(board_hands))
    return FlopBuckets(flops.keys, np.array(starts, np.int64), np.concatenate(hands))


def _sample_features(boards: CanonicalBoards, features: Vectors, chance: np.random.Generator) -> Vectors:
    """Draw hands with the frequencies of the deal and return their features, shape (hands, 16)."""
    cumulative = boards.times.cumsum()
    rows = np.searchsorted(cumulative, chance.integers(cumulative[-1], size=_SAMPLE_SIZE), "right")
    holdings = chance.integers(HOLDING_COUNT, size=_SAMPLE_SIZE)
    cards = HOLDING_CARDS[holdings]
    # Drop the pairs of board and holding that share a card: what is left is distributed as dealt.
    # Shape (hands, cards of the holding, cards of the board).
    is_same = cards[:, :, None] == boards.cards[rows][:, None, :]
    is_live = ~is_same.any(axis=(1, 2))
    sample: Vectors = features[rows[is_live], holdings[is_live]]
    return sample


def _sample_river_features(chance: np.random.Generator) -> Vectors:
    boards, holdings = _RIVER_SAMPLE_SHAPE
    order = np.empty(RIVER_HOLDINGS, np.uint16)
    strengths = np.empty(RIVER_HOLDINGS, np.uint16)
    classes = np.empty((RIVER_HOLDINGS, CLASSES), np.uint8)
    sample = np.empty((boards, holdings, CLASSES), np.uint8)
    for number in range(boards):
        river_features(chance.permutation(52)[:5].astype(np.uint8), order, classes, strengths)
        sample[number] = classes[chance.integers(RIVER_HOLDINGS, size=holdings)]
    return sample.reshape(-1, CLASSES)
