"""The buckets of hold'em: which hands a strategy does not distinguish.

Before the flop there are the 169 starting hands, which lose nothing. The hands of a later round are clustered by their
features (`bots.cfr.features`) with k-means, one cluster a bucket (Johanson, Burch, Valenzano & Bowling 2013,
"Evaluating state-space abstractions in extensive-form games"); the clusters are found on a sample of drawn hands.
Buckets of earlier rounds are forgotten. All numbers are whole, so the buckets are the same everywhere.

A strategy file holds the buckets of all flops and the centres of the clusters on turn and river. A training looks all
hands up in tables, which take two minutes of one core and 400 MB.
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
"""Of a holding that shares a card with the board."""
_STARTING_HANDS: Final = np.array([starting_hand(cards) for cards in HOLDING_CARDS.tolist()], np.uint16)
_SAMPLE: Final = 400_000
"""Hands on which the clusters of a round are found."""
_RIVER_SAMPLE: Final = (4_000, 100)
"""Boards, and holdings on each."""
_SEED: Final = 1
_KIND: Final = FileKind("the buckets of a training of cfr", 1, "delete it, and it is computed again")
_PARTS: Final = 256
"""Into which the boards are divided among threads."""


class FlopBuckets(NamedTuple):
    """The buckets of all hands on the flop.

    Attributes:
        keys: of the canonical flops, ascending.
        starts: where the hands of each begin.
        hands: the bucket of each hand, in the order of `distinct_holdings`.
    """

    keys: NDArray[np.int64]
    starts: NDArray[np.int64]
    hands: _Buckets

    def on(self, board: Sequence[int]) -> _Buckets:
        key, suits = suit_order(board)
        row = int(np.searchsorted(self.keys, key))
        numbers = distinct_holdings([card & 0xFC | suits[card & 3] for card in board])[rename_holdings(suits)]
        hands = self.hands[self.starts[row] : self.starts[row + 1]].astype(np.uint16)
        return np.where(numbers >= 0, hands[numbers], np.uint16(NO_BUCKET))


@dataclass(frozen=True, eq=False)
class ClusteredHands:
    """Buckets by clusters of features.

    Attributes:
        buckets: how many each round has: 169, flop, turn, river.
        turn_centres: shape (buckets, features).
        river_centres: likewise.
    """

    buckets: tuple[int, ...]
    flops: FlopBuckets
    turn_centres: Vectors
    river_centres: Vectors

    @classmethod
    def from_arrays(cls, buckets: tuple[int, ...], arrays: Mapping[str, NDArray[Any]]) -> Self:
        """From the arrays of a file, as `arrays` has them; a `KeyError` where one is missing."""
        flops = FlopBuckets(arrays["flop_keys"], arrays["flop_starts"], arrays["flops"])
        return cls(buckets, flops, arrays["turn_centres"], arrays["river_centres"])

    def arrays(self) -> dict[str, NDArray[Any]]:
        return {
            "flop_keys": self.flops.keys.astype("<i8"),
            "flop_starts": self.flops.starts.astype("<i8"),
            "flops": self.flops.hands.astype("<u2"),
            "turn_centres": self.turn_centres,
            "river_centres": self.river_centres,
        }

    @lru_cache(maxsize=64)  # noqa: B019  there are few abstractions, and they live as long as the process
    def on(self, board: tuple[int, ...]) -> _Buckets:
        """The bucket of every holding, shape (1326,); `NO_BUCKET` where it shares a card with the board."""
        if board:
            return self.compute_buckets(np.array(sorted(board), np.uint8))
        return _STARTING_HANDS

    def compute_buckets(self, board: NDArray[np.uint8]) -> _Buckets:
        """`on` a board of ascending cards that is asked for once."""
        if len(board) == 3:
            return self.flops.on(board.tolist())
        return self._on_turn(board) if len(board) == 4 else self._on_river(board)

    def _on_turn(self, board: NDArray[np.uint8]) -> _Buckets:
        features = np.empty((HOLDING_COUNT, FEATURES), np.uint8)
        turn_features(board, features)
        return _of_holdings(board, features, self.turn_centres)

    def _on_river(self, board: NDArray[np.uint8]) -> _Buckets:
        order = np.empty(RIVER_HOLDINGS, np.uint16)
        classes = np.empty((RIVER_HOLDINGS, CLASSES), np.uint8)
        river_features(board, order, classes, np.empty(RIVER_HOLDINGS, np.uint16))
        found = np.full(HOLDING_COUNT, NO_BUCKET, np.uint16)
        found[order] = assign_clusters(classes, self.river_centres)
        return found


class CardTables(NamedTuple):
    """The buckets of all holdings on all canonical boards, shape (boards, 1326) each, with the keys of the boards."""

    flop_keys: NDArray[np.int64]
    turn_keys: NDArray[np.int64]
    river_keys: NDArray[np.int64]
    flops: _Buckets
    turns: _Buckets
    rivers: _Buckets


def _of_holdings(board: NDArray[np.uint8], features: Vectors, centres: Vectors) -> _Buckets:
    is_live = are_free(board.tolist())
    found = np.full(HOLDING_COUNT, NO_BUCKET, np.uint16)
    found[is_live] = assign_clusters(features[is_live], centres)
    return found


def max_table_bytes() -> int:
    """The most memory that `cluster_hands` needs."""
    return HOLDING_COUNT * (16_432 * FEATURES + 2 * (1_755 + 16_432 + 134_459))


class _Boards:
    """Computes something for all boards, by threads, and shows the part of all work that is done."""

    def __init__(self, threads: int, progress: Callable[[float], None] | None) -> None:
        self._threads = threads
        self._progress = progress
        self._done = 0.0

    def __call__(self, boards: CanonicalBoards, part: float, compute: Callable[[int], object]) -> None:
        """Compute a part of all work, for each board by its number."""
        edges = [len(boards.keys) * number // _PARTS for number in range(_PARTS + 1)]

        def compute_all(first: int, last: int) -> None:
            for number in range(first, last):
                if is_stopped.is_set():
                    return
                compute(number)

        is_stopped = threading.Event()
        pool = ThreadPoolExecutor(self._threads)
        try:
            for _ in as_completed([pool.submit(compute_all, *pair) for pair in pairwise(edges)]):
                self._done += part / _PARTS
                if self._progress is not None:
                    self._progress(min(self._done, 1.0))
        finally:
            is_stopped.set()
            pool.shutdown(cancel_futures=True)

    def table(
        self, boards: CanonicalBoards, part: float, compute: Callable[[int, NDArray[np.uint8]], _Buckets]
    ) -> _Buckets:
        """The buckets on all boards, each computed of its number and its cards."""
        table = np.empty((len(boards.keys), HOLDING_COUNT), np.uint16)

        def fill(number: int) -> None:
            table[number] = compute(number, boards.cards[number])

        self(boards, part, fill)
        return table


def tabulate_hands(
    hands: ClusteredHands, threads: int = 1, progress: Callable[[float], None] | None = None
) -> CardTables:
    """The buckets of all hands; `progress` as of `cluster_hands`."""
    over = _Boards(threads, progress)
    all_boards = [canonical_boards(cards) for cards in (3, 4, 5)]

    def table(boards: CanonicalBoards, part: float) -> _Buckets:
        return over.table(boards, part, lambda _, board: hands.compute_buckets(board))

    flops = table(all_boards[0], 0.01)
    turns = table(all_boards[1], 0.44)
    rivers = table(all_boards[2], 0.55)
    return CardTables(all_boards[0].keys, all_boards[1].keys, all_boards[2].keys, flops, turns, rivers)


def cluster_hands(
    flop: int, turn: int, river: int, threads: int = 1, progress: Callable[[float], None] | None = None
) -> tuple[ClusteredHands, CardTables]:
    """Cluster all hands of hold'em into at most so many buckets by round.

    `progress` is called now and then with the part that is done, 0 to 1.
    """
    on_flop, on_turn, on_river = map(canonical_boards, (3, 4, 5))
    over = _Boards(threads, progress)
    turns = np.zeros((len(on_turn.keys), HOLDING_COUNT, FEATURES), np.uint8)
    over(on_turn, 0.4, lambda number: turn_features(on_turn.cards[number], turns[number]))
    flops = np.zeros((len(on_flop.keys), HOLDING_COUNT, FEATURES), np.uint8)
    over(on_flop, 0.05, lambda number: flop_features(on_flop.cards[number], on_turn.keys, turns, flops[number]))
    chance = np.random.Generator(np.random.PCG64(_SEED))
    flop_centres = _by_strength(find_clusters(_sample(on_flop, flops, chance), flop, _SEED))
    turn_centres = _by_strength(find_clusters(_sample(on_turn, turns, chance), turn, _SEED))
    river_centres = _by_strength(find_clusters(_river_sample(chance), river, _SEED))
    of_flops = over.table(on_flop, 0.01, lambda number, board: _of_holdings(board, flops[number], flop_centres))
    of_turns = over.table(on_turn, 0.09, lambda number, board: _of_holdings(board, turns[number], turn_centres))
    found = ClusteredHands(
        (169, len(flop_centres), len(turn_centres), len(river_centres)),
        _by_hand(on_flop, of_flops),
        turn_centres,
        river_centres,
    )
    of_rivers = over.table(on_river, 0.45, lambda _, board: found.compute_buckets(board))
    return found, CardTables(on_flop.keys, on_turn.keys, on_river.keys, of_flops, of_turns, of_rivers)


def load_hands(
    path: Path | None, asked: tuple[int, int, int], threads: int, progress: Callable[[float], None]
) -> tuple[ClusteredHands, CardTables]:
    """The buckets of all hands of `cluster_hands`, 400 MB, mapped from a file where they have been computed before.

    Raises:
        BotFileError: the file is damaged or has other buckets.
    """
    if path is not None and path.exists():
        return _read_hands(path, asked)
    hands, tables = cluster_hands(*asked, threads, progress)
    if path is not None:
        of_arrays, contents = as_arrays(
            {**hands.arrays(), "flop_table": tables.flops, "turn_table": tables.turns, "river_table": tables.rivers}
        )
        write_artifact(path, _KIND, {**of_arrays, "asked": asked, "buckets": hands.buckets}, contents)
    return hands, tables


def _read_hands(path: Path, asked: Sequence[int]) -> tuple[ClusteredHands, CardTables]:
    found = read_artifact(path, _KIND, is_mapped=True)
    arrays = found.arrays()
    with found.parsing():
        if found.header["asked"] != list(asked):
            raise BotFileError(str(path), f"it has {found.header['asked']} buckets, not {list(asked)}: delete it")
        hands = ClusteredHands.from_arrays(tuple(found.header["buckets"]), arrays)
        flops, turns, rivers = (canonical_boards(cards).keys for cards in (3, 4, 5))
        tables = arrays["flop_table"], arrays["turn_table"], arrays["river_table"]
        return hands, CardTables(flops, turns, rivers, *tables)


def _by_strength(centres: Vectors) -> Vectors:
    """Centres in ascending order of what they win against all classes."""
    return centres[np.argsort(centres[:, :CLASSES].sum(axis=1, dtype=np.int64), kind="stable")]


def _by_hand(flops: CanonicalBoards, buckets: _Buckets) -> FlopBuckets:
    hands = []
    starts = [0]
    for board, row in zip(flops.cards.tolist(), buckets, strict=True):
        numbers = distinct_holdings(board)
        of_board = np.zeros(int(numbers.max()) + 1, np.uint16)
        of_board[numbers[numbers >= 0]] = row[numbers >= 0]
        hands.append(of_board)
        starts.append(starts[-1] + len(of_board))
    return FlopBuckets(flops.keys, np.array(starts, np.int64), np.concatenate(hands))


def _sample(boards: CanonicalBoards, features: Vectors, chance: np.random.Generator) -> Vectors:
    """The features of hands drawn as they are dealt."""
    up_to = boards.times.cumsum()
    rows = np.searchsorted(up_to, chance.integers(up_to[-1], size=_SAMPLE), "right")
    holdings = chance.integers(HOLDING_COUNT, size=_SAMPLE)
    cards = HOLDING_CARDS[holdings]
    is_live = ~(cards[:, :, None] == boards.cards[rows][:, None, :]).any(axis=(1, 2))
    found: Vectors = features[rows[is_live], holdings[is_live]]
    return found


def _river_sample(chance: np.random.Generator) -> Vectors:
    boards, holdings = _RIVER_SAMPLE
    order = np.empty(RIVER_HOLDINGS, np.uint16)
    strengths = np.empty(RIVER_HOLDINGS, np.uint16)
    classes = np.empty((RIVER_HOLDINGS, CLASSES), np.uint8)
    found = np.empty((boards, holdings, CLASSES), np.uint8)
    for number in range(boards):
        river_features(chance.permutation(52)[:5].astype(np.uint8), order, classes, strengths)
        found[number] = classes[chance.integers(RIVER_HOLDINGS, size=holdings)]
    return found.reshape(-1, CLASSES)
