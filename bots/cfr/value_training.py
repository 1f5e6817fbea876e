"""Compute the values of a strategy of hold'em for two, as means over drawn boards.

On each board the whole tree is walked with all holdings of both players (`bots.cfr.tree_walk`). The checkpoint holds
the sums so far. A computation that was interrupted resumes from it and yields the same values after the same number of
boards.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bots.artifact import FileKind, as_arrays, read_artifact, write_artifact
from bots.cfr.endgame_walk import holdings_on
from bots.cfr.expectation import load_tree
from bots.cfr.strategy_files import StrategyFile
from bots.cfr.strategy_values import StrategyValues, first_places, strategy_checksum, write_values
from bots.cfr.tree import DECISION, BettingTree
from bots.cfr.tree_walk import Records, walk_values, walked_tree
from bots.errors import SolvingError
from bots.long_run import ShowProgress, Words, locked_run, require_same_settings, run_steps, show_nothing, uninterrupted
from engine.text import count_of
from logs.document import Document, Fact
from protocol.game_definition import short_name

_KIND: Final = FileKind("a computation of values that acpc-arena has begun", 1, "take another folder, or delete it")
_CHECKPOINT: Final = "values.checkpoint"
VALUES: Final = "cfr.values"
TREMBLE: Final = 0.001
"""Part of the opponent's choices that are drawn evenly, so that every decision is reached."""
_RIVER: Final = 3
_SHOWN: Final = (0, 3, 4, 5)


class ValueSettings(NamedTuple):
    """Settings of a computation. Computations with equal settings have equal values after the same number of boards."""

    game: str
    strategy: StrategyFile
    seed: int

    @property
    def data(self) -> dict[str, Any]:
        """Settings as JSON, with a checksum of the strategy."""
        return {"game": self.game, "strategy": strategy_checksum(self.strategy), "seed": self.seed}


def value_settings(game: str, strategy: StrategyFile, seed: int) -> ValueSettings:
    """Check the settings of a computation.

    Raises:
        SolvingError: the strategy is not for hold'em for two.
    """
    if strategy.cards is None or strategy.game.num_players != 2:
        raise SolvingError("values are computed for strategies of hold'em for two; small games need no file")
    return ValueSettings(game, strategy, seed)


def recorded_nodes(tree: BettingTree) -> NDArray[np.int32]:
    """Return the decisions that have values: all before the river, and the first one of each river."""
    # Within the betting of a river, `bots.cfr.value_terms` takes values from its solution, so only the start needs one.
    is_first = np.append([False], tree.rounds[1:] != tree.rounds[tree.parents[1:]])
    is_recorded = (tree.kinds == DECISION) & ((tree.rounds < _RIVER) | is_first)
    return np.flatnonzero(is_recorded).astype(np.int32)


class ValueSums:
    """Sums of values over boards.

    Attributes:
        boards: number of boards so far.
    """

    def __init__(self, settings: ValueSettings) -> None:
        self.settings = settings
        self.boards = 0
        self._tree = load_tree(settings.strategy)
        self._played = walked_tree(settings.strategy, self._tree)
        self._nodes = recorded_nodes(self._tree)
        places = np.full(len(self._tree.kinds), -1, np.int64)
        places[self._nodes] = first_places(settings.strategy, self._nodes)
        counts = np.array(settings.strategy.buckets)[self._tree.rounds[self._nodes]]
        self._owners = np.repeat(self._nodes, counts)
        # By player.
        self._records = []
        for _ in range(2):
            sums = np.zeros((2, len(self._owners)))
            self._records.append(Records(places, sums[0], sums[1]))

    def add_board(self) -> None:
        """Walk the next board, which follows from its number and the seed."""
        strategy = self.settings.strategy
        chance = np.random.Generator(np.random.PCG64([self.settings.seed, self.boards]))
        board = tuple(chance.permutation(52)[:5].tolist())
        numbers, holdings = holdings_on(board)
        buckets = np.array([strategy.buckets_on(board[:shown])[numbers] for shown in _SHOWN])
        for player, records in enumerate(self._records):
            walk_values(self._played, holdings, buckets, player, np.float32(TREMBLE), records)
        self.boards += 1

    def values(self) -> StrategyValues:
        pots = self._tree.spent.sum(axis=1)[self._owners]
        returns = np.empty((2, len(pots)), np.float32)
        for player, records in enumerate(self._records):
            is_seen = records.weights > 0
            # A bucket that no board had gets its rank as its share of the pot, as outside the tree.
            ranks = np.arange(len(pots)) - records.places[self._owners]
            rounds = self._tree.rounds[self._owners]
            sizes = np.array(self.settings.strategy.buckets)[rounds]
            means = np.divide(records.values, records.weights, out=np.zeros(len(pots)), where=is_seen)
            # Values count from the beginning of the hand. With the chips put in so far, they are the part of the pot.
            returns[player] = np.where(
                is_seen, (means + self._tree.spent[self._owners, player]) / pots, (ranks + 0.5) / sizes
            )
        return StrategyValues(self.settings.strategy, self._nodes, returns)

    def resume(self, path: Path) -> None:
        """Continue from a checkpoint.

        Raises:
            BotFileError: it has other settings, or is damaged.
        """
        checkpoint = read_artifact(path, _KIND)
        with checkpoint.parsing():
            require_same_settings(path, self.settings.data, checkpoint.header["settings"])
            arrays = checkpoint.arrays()
            for player, records in enumerate(self._records):
                records.values[:], records.weights[:] = arrays["sums"][player]
            self.boards = checkpoint.header["boards"]

    def save(self, path: Path) -> None:
        sums = np.array([[records.values, records.weights] for records in self._records])
        layout, contents = as_arrays({"sums": sums})
        header = {**layout, "boards": self.boards, "settings": self.settings.data}
        write_artifact(path, _KIND, header, contents)


def compute_values(
    settings: ValueSettings, boards: int, folder: Path, *, show: ShowProgress = show_nothing
) -> ValueSums:
    """Compute values over a number of boards, or resume the computation of a folder, and write its file of values.

    Raises:
        BotFileError: the folder holds a computation of other settings, is in use, or cannot be written.
    """
    path = folder / _CHECKPOINT
    with locked_run(folder, "values"):
        sums = ValueSums(settings)
        if path.exists():
            sums.resume(path)

        def steps() -> Iterator[tuple[float, Words]]:
            while sums.boards < boards:
                # A board changes the sums of both players and their number, which belong together in a checkpoint.
                with uninterrupted():
                    sums.add_board()
                yield sums.boards / boards, f"{count_of(sums.boards, 'board')}"

        run_steps(steps(), lambda: sums.save(path), show, save_every_s=120.0)
        write_values(folder / VALUES, sums.values(), {**settings.data, "boards": sums.boards})
    return sums


def values_document(sums: ValueSums, folder: Path) -> Document:
    """Describe the result of a computation of values."""
    settings = sums.settings
    values = sums.values()
    return Document(
        f"Values of a strategy in {short_name(settings.game)}",
        (
            f"{len(values.nodes):,} decisions have values, means over {count_of(sums.boards, 'board')}.",
            f"They are in {folder / VALUES}.",
        ),
        (Fact("game", short_name(settings.game)), Fact("strategy", settings.strategy.path)),
    )
