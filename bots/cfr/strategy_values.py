"""Expected winnings of a strategy of hold'em for two against itself, by decision and bucket.

A value is the mean, over the opponent's holdings and the cards to come, of the chips that come back to a player, as a
part of the pot at the decision. So it also serves a pot of another size. Decisions of the river other than its first
have no values: what is left of the betting there can be walked exactly.

A file has a byte for each value, with a scale for each decision and player. `bots.cfr.value_training` makes it.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from bots.artifact import FileKind, as_arrays, read_artifact, write_artifact
from bots.cfr.lookup import OFF_TREE, Chances, TreePosition, tree_positions
from bots.cfr.strategy_files import StrategyFile
from bots.errors import BotFileError
from engine import Action, BettingState, Position

_KIND: Final = FileKind("values of a strategy of acpc-arena", 1, "`arena train values` writes such files")
_STEPS: Final = 255
_Floats = NDArray[np.float64]


def strategy_checksum(strategy: StrategyFile) -> str:
    """Return the checksum by which files name a strategy."""
    return f"{zlib.crc32(strategy.probabilities.tobytes()):08x}"


class StrategyValues:
    """Values of the recorded decisions of a strategy.

    Args:
        nodes: numbers of the recorded decisions, ascending, shape (recorded,).
        returns: by player, the part of the pot that comes back, by decision and bucket, flat, shape (2, entries).
    """

    def __init__(self, strategy: StrategyFile, nodes: NDArray[np.int32], returns: NDArray[np.float32]) -> None:
        self.strategy = strategy
        self.nodes = nodes
        self.returns = returns
        self._places = np.full(len(strategy.nodes), -1, np.int64)
        self._places[nodes] = first_places(strategy, nodes)

    def winnings(self, betting: BettingState, player: Position, buckets: NDArray[np.integer[Any]]) -> _Floats:
        """Return the chips that a player wins in the hand, by bucket of its holding in the present round.

        Raises outside the tree are read as in play. Where the tree has no such decision, a bucket's rank stands for
        its share of the pot.

        Args:
            betting: at a decision of either player.
            buckets: shape (holdings,).
        """
        positions, _ = tree_positions(self.strategy, betting, 1, _any_action)
        # Sums over the readings of the betting, by their probability.
        returns = np.zeros(len(buckets))
        weights = 0.0
        for position in positions:
            weight = float(position.weights[0])
            first = -1
            if position.node != OFF_TREE:
                first = int(self._places[position.node])
            if first >= 0:
                returns += weight * self.returns[player, first + buckets.astype(np.int64)]
            else:
                returns += weight * (buckets + 0.5) / self.strategy.buckets[betting.round]
            weights += weight
        winnings: _Floats = betting.pot * returns / weights - betting.spent[player]
        return winnings


class _AnyAction(Mapping[Action, Chances]):
    """Probability 1 for every action: a reading counts whatever the player's own choices were."""

    def __getitem__(self, action: Action) -> Chances:
        return np.ones(1)

    def __iter__(self) -> Any:
        return iter(())

    def __len__(self) -> int:
        return 0


def _any_action(position: TreePosition, state: BettingState) -> Mapping[Action, Chances]:
    return _AnyAction()


def first_places(strategy: StrategyFile, nodes: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return the index of the first value of each recorded decision, shape (recorded,)."""
    sizes = np.array(strategy.buckets)[strategy.rounds[nodes]]
    places: NDArray[np.int64] = sizes.cumsum() - sizes
    return places


def write_values(path: Path, values: StrategyValues, record: Mapping[str, Any]) -> None:
    """Write a file of values.

    Args:
        record: settings and progress of the computation.
    """
    places = first_places(values.strategy, values.nodes)
    lows = np.minimum.reduceat(values.returns, places, axis=1)
    scales = (np.maximum.reduceat(values.returns, places, axis=1) - lows) / _STEPS
    counts = np.diff(np.append(places, values.returns.shape[1]))
    # Equal values have the scale 0, and the level 0 whatever divides their differences.
    steps = np.where(scales > 0, scales, 1)
    levels = np.rint((values.returns - np.repeat(lows, counts, axis=1)) / np.repeat(steps, counts, axis=1))
    layout, contents = as_arrays(
        {
            "nodes": values.nodes.astype("<i4"),
            "lows": lows.astype("<f4"),
            "scales": scales.astype("<f4"),
            "levels": levels.astype(np.uint8),
        },
        is_compressed=True,
    )
    header = {**layout, "strategy": strategy_checksum(values.strategy), "computation": dict(record)}
    write_artifact(path, _KIND, header, contents)


def read_values(path: str | os.PathLike[str], strategy: StrategyFile) -> StrategyValues:
    """Read the values of a strategy.

    Raises:
        BotFileError: the file has no values, has those of another strategy, or is damaged.
    """
    artifact = read_artifact(path, _KIND)
    arrays = artifact.arrays()
    with artifact.parsing():
        if artifact.header["strategy"] != strategy_checksum(strategy):
            raise BotFileError(os.fspath(path), "it has the values of another strategy: compute them again")
        nodes = arrays["nodes"]
        counts = np.array(strategy.buckets)[strategy.rounds[nodes]]
        lows = np.repeat(arrays["lows"], counts, axis=1)
        returns = lows + np.repeat(arrays["scales"], counts, axis=1) * arrays["levels"]
    return StrategyValues(strategy, nodes, returns)
