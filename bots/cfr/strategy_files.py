"""Strategy files of ``cfr``, in the format of `bots.artifact`, which are mapped into memory.

The header has the game, the numbers of buckets and a record of the training. Probabilities are stored by node, action
and bucket, without those of the last action of each node. In hold'em they are bytes, in 255ths, and in small games
float32.

The file of a `MergedTree` has its parts one after the other, the subtrees after the betting before the flop, and the
entries into the subtrees.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from bots.artifact import FileKind, as_arrays, read_artifact, write_artifact
from bots.cfr.abstraction import ClusteredHands
from bots.cfr.merged_tree import MergedTree, first_rows
from bots.cfr.tree import BettingTree
from bots.errors import BotFileError
from engine import CALL, FOLD, Action, ActionKind, BettingState, Game, betting_start
from engine.betting_rules import raise_to
from protocol import format_game_definition, parse_game_definition

_KIND: Final = FileKind(
    "a strategy of acpc-arena's regret minimisation",
    2,
    "`arena train cfr` writes such files",
)
WHOLE: Final = 255
"""Byte of probability 1."""

# A node is a byte: bit 0 for a fold, bit 1 for a call, and the number of raises from bit 2.
_FOLD = 1
_CALL = 2
_RAISE = 4

_Bytes = NDArray[np.uint8]


@dataclass(frozen=True, eq=False)
class Entries:
    """Entries of a `MergedTree`, at which a flop is dealt. Arrays have the shape (entries,) unless stated otherwise.

    Attributes:
        nodes: node of each entry before the flop.
        roots: first node of its subtree.
        types: fields of its `FlopType`, shape (entries, 4).
        chips: chips in the pot, and those that each player has left, shape (entries, 2).
        models: index of the model of each subtree, shape (subtrees,).
    """

    nodes: NDArray[np.int32]
    roots: NDArray[np.int32]
    types: NDArray[np.int32]
    chips: NDArray[np.int32]
    models: NDArray[np.int32]

    @classmethod
    def of(cls, tree: MergedTree) -> Self:
        roots = first_rows(tree)[1:]
        return cls(
            nodes=np.array([entry.node for entry in tree.entries], "<i4"),
            roots=np.array([roots[entry.subtree] for entry in tree.entries], "<i4"),
            types=np.array([entry.flop_type for entry in tree.entries], "<i4"),
            chips=np.array([(entry.pot, entry.stack) for entry in tree.entries], "<i4"),
            models=np.array([tree.entries.index(model) for model in tree.models], "<i4"),
        )

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Restore the entries from the arrays of a file.

        Raises:
            KeyError: an array is missing.
        """
        return cls(**{field.name: arrays[f"entry_{field.name}"] for field in fields(cls)})

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays of a strategy file by name, the inverse of `from_arrays`."""
        return {f"entry_{field.name}": getattr(self, field.name) for field in fields(self)}


@dataclass(frozen=True, eq=False)
class StrategyFile:
    """Strategy of a file.

    Attributes:
        buckets: number of buckets by round.
        cards: buckets of hold'em, None in other games.
        record: settings and progress of the training, as JSON.
        nodes: actions of each node of the betting tree in preorder, shape (nodes,). A fold counts 1, a call 2 and each
            raise 4; an end has 0. The parts of a `MergedTree` follow one another.
        rounds: round of each node, likewise.
        totals: hand total of the raise that leads to each node, 0 for other nodes, likewise. Empty in limit games.
        probabilities: probabilities of all nodes, see the head of the module.
        entries: entries into the subtrees of a `MergedTree`, None for other trees.
    """

    path: str
    game: Game
    buckets: tuple[int, ...]
    cards: ClusteredHands | None
    record: Mapping[str, Any]
    nodes: _Bytes
    rounds: _Bytes
    totals: NDArray[np.int32]
    probabilities: _Bytes | NDArray[np.float32]
    entries: Entries | None = None

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """Number of actions of each node, shape (nodes,)."""
        return (self.nodes & _FOLD) + (self.nodes >> 1 & 1) + (self.nodes // _RAISE).astype(np.int64)

    @cached_property
    def offsets(self) -> NDArray[np.int64]:
        """Index of the first probability of each node, and the total, shape (nodes + 1,)."""
        sizes = np.maximum(self.counts - 1, 0) * np.array(self.buckets)[self.rounds]
        return np.concatenate(([0], sizes.cumsum()))

    @cached_property
    def ends(self) -> NDArray[np.int64]:
        """Number after the last descendant of each node, shape (nodes,)."""
        # The number of children still to come after each node. The descendants of a node end where this number first
        # is one less than before the node. A search in the sorted pairs (children to come, node) finds that place.
        pending = 1 + (self.counts - 1).cumsum()
        size = len(pending)
        numbers = np.arange(size)
        pairs = np.sort(pending * size + numbers)
        before = np.concatenate(([1], pending[:-1]))
        ends: NDArray[np.int64] = pairs[np.searchsorted(pairs, (before - 1) * size + numbers)]
        return ends % size + 1

    def children_of(self, node: int) -> list[int]:
        children: list[int] = []
        child = node + 1
        for _ in range(int(self.counts[node])):
            children.append(child)
            child = int(self.ends[child])
        return children

    @cached_property
    def starts(self) -> dict[int, BettingState]:
        """State at the first node of each part, in a subtree that of its model."""
        starts = {0: betting_start(self.game)}
        if self.entries is not None:
            for model in self.entries.models.tolist():
                starts[int(self.entries.roots[model])] = self._state_at(int(self.entries.nodes[model]))
        return starts

    def _state_at(self, node: int) -> BettingState:
        """Return the state at a node of the first part."""
        state = betting_start(self.game)
        ancestor = 0
        while ancestor != node:
            for action, child in zip(self.actions_of(ancestor), self.children_of(ancestor), strict=True):
                if child <= node < self.ends[child]:
                    state = state.after(action)
                    ancestor = child
                    break
        return state

    def actions_of(self, node: int) -> tuple[Action, ...]:
        """Return the actions of a node of a no-limit tree, in the order of the children."""
        kinds = int(self.nodes[node])
        actions: tuple[Action, ...] = ()
        if kinds & _FOLD:
            actions += (FOLD,)
        if kinds & _CALL:
            actions += (CALL,)
        totals = self.totals[self.children_of(node)].tolist()
        return actions + tuple([raise_to(total) for total in totals if total])

    def chances(self, node: int) -> NDArray[np.float64]:
        """Return the probabilities at a decision, shape (actions, buckets)."""
        buckets = self.buckets[self.rounds[node]]
        stored = self.probabilities[self.offsets[node] : self.offsets[node + 1]]
        known = stored.reshape(-1, buckets).astype(np.float64)
        # Stored as float32, the probabilities can sum to more than 1 by rounding.
        last = np.maximum(self._whole - known.sum(axis=0), 0)
        chances: NDArray[np.float64] = np.vstack([known, last])
        chances /= chances.sum(axis=0)
        return chances

    def buckets_on(self, board: Sequence[int]) -> NDArray[np.uint16]:
        """Return the bucket of every holding, shape (1326,), `NO_BUCKET` if it shares a card with the board."""
        assert self.cards is not None
        return self.cards.on(tuple(board))

    def chances_of(self, node: int, bucket: int) -> list[float]:
        """Return the probabilities of one bucket at a decision, without converting those of the others."""
        start = int(self.offsets[node])
        end = int(self.offsets[node + 1])
        known = self.probabilities[start + bucket : end : self.buckets[self.rounds[node]]].tolist()
        chances = (*known, max(self._whole - sum(known), 0))
        return [chance / sum(chances) for chance in chances]

    @property
    def _whole(self) -> int:
        return WHOLE if self.probabilities.dtype == np.uint8 else 1


def quantise(chances: NDArray[np.float64]) -> _Bytes:
    """Round probabilities, shape (actions, buckets), to 255ths that sum to 255 in each bucket.

    Probabilities are rounded down, then those with the largest remainders are rounded up.
    """
    exact = chances * WHOLE
    low = np.floor(exact)
    missing = WHOLE - low.sum(axis=0)
    # argsort of an argsort: the rank of each action by its remainder, 0 for the largest.
    order = (low - exact).argsort(axis=0, kind="stable")
    remainder_ranks = order.argsort(axis=0, kind="stable")
    rounded: _Bytes = (low + (remainder_ranks < missing)).astype(np.uint8)
    return rounded


def write_strategy(
    path: Path,
    tree: BettingTree | MergedTree,
    buckets: tuple[int, ...],
    abstraction: ClusteredHands | None,
    strategy: NDArray[np.float64],
    record: Mapping[str, Any],
) -> None:
    """Write a strategy file.

    Args:
        abstraction: buckets of hold'em, None for other games.
        strategy: probabilities by node, action and bucket, flat.
        record: settings and progress of the training.
    """
    probabilities = []
    place = 0
    for part in tree.parts:
        for node in part.decisions.tolist():
            action_count = len(part.actions[node])
            bucket_count = buckets[part.rounds[node]]
            size = action_count * bucket_count
            chances = strategy[place : place + size].reshape(action_count, bucket_count)
            stored = chances.astype("<f4") if abstraction is None else quantise(chances)
            probabilities.append(stored[:-1].ravel())
            place += size
    arrays: dict[str, NDArray[Any]] = {
        "nodes": np.array([_node_byte(actions) for part in tree.parts for actions in part.actions], np.uint8),
        "rounds": np.concatenate([part.rounds for part in tree.parts]).astype(np.uint8),
        "probabilities": np.concatenate(probabilities),
    }
    if not tree.game.is_limit:
        arrays["totals"] = np.concatenate([_totals(part) for part in tree.parts])
    if isinstance(tree, MergedTree):
        arrays |= Entries.of(tree).arrays()
    if abstraction is not None:
        arrays |= abstraction.arrays()
    layout, contents = as_arrays(arrays)
    header = {
        **layout,
        "game": format_game_definition(tree.game),
        "buckets": buckets,
        "training": dict(record),
    }
    write_artifact(path, _KIND, header, contents)


def _totals(tree: BettingTree) -> NDArray[np.int32]:
    """Return `StrategyFile.totals` of a tree."""
    totals = [0]
    for parent, index in zip(tree.parents[1:], tree.taken[1:], strict=True):
        totals.append(tree.actions[parent][index].hand_total)
    return np.array(totals, "<i4")


def _node_byte(actions: tuple[Action, ...]) -> int:
    kinds = [action.kind for action in actions]
    byte = _RAISE * kinds.count(ActionKind.RAISE)
    if ActionKind.FOLD in kinds:
        byte += _FOLD
    if ActionKind.CALL in kinds:
        byte += _CALL
    return byte


def read_strategy(path: str) -> StrategyFile:
    """Map a strategy file into memory.

    Raises:
        BotFileError: the file is no strategy, has another version, or is damaged.
    """
    artifact = read_artifact(path, _KIND, is_mapped=True)
    header = artifact.header
    arrays = artifact.arrays()
    with artifact.parsing():
        game = parse_game_definition(header["game"])
        buckets = tuple(header["buckets"])
        # Files of an earlier abstraction, of the same version.
        if "turn_cuts" in arrays:
            raise BotFileError(path, "its buckets are by strength alone, which is no longer played; train it again")
        return StrategyFile(
            path=path,
            game=game,
            buckets=buckets,
            cards=ClusteredHands.from_arrays(buckets, arrays) if "flops" in arrays else None,
            record=header["training"],
            nodes=arrays["nodes"],
            rounds=arrays["rounds"],
            totals=np.zeros(0, np.int32) if game.is_limit else arrays["totals"],
            probabilities=arrays["probabilities"],
            entries=Entries.from_arrays(arrays) if "entry_nodes" in arrays else None,
        )
