"""Strategies as files (`bots.artifact`), which are mapped into memory.

The first line has the game, the buckets and a record of the training. Of the probabilities of an information set that
of the last action is left out. In hold'em a probability is a byte, in 255ths; in small games, where the file is small
anyway, a float of four bytes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from bots.artifact import FileKind, as_arrays, read_artifact, write_artifact
from bots.cfr.abstraction import ClusteredHands
from bots.cfr.tree import BettingTree
from bots.errors import BotFileError
from engine import ActionKind, Game
from protocol import format_game_definition, parse_game_definition

_KIND: Final = FileKind(
    "a strategy of acpc-arena's regret minimisation",
    2,
    "`arena train cfr` writes such files",
)
WHOLE: Final = 255
"""Probability 1."""

_FOLD = 1
_CALL = 2
_RAISE = 4
"""What a byte of the betting tree is made of: whether there is a fold, whether a call, and how many raises."""

_Bytes = NDArray[np.uint8]


@dataclass(frozen=True, eq=False)
class StrategyFile:
    """A strategy.

    Attributes:
        buckets: by round.
        cards: the buckets of hold'em; None in other games.
        record: of the training, as JSON has it.
        nodes: what can be done at each node of the betting in preorder: 1 for a fold, 2 for a call, 4 for each raise; 0
            at an end.
        totals: of each node of a no-limit game, the hand total of the raise that leads there; 0 where none does. Empty
            in limit games.
        probabilities: see the head of this module.
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

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """How many actions each node has."""
        return (self.nodes & _FOLD) + (self.nodes >> 1 & 1) + (self.nodes // _RAISE).astype(np.int64)

    @cached_property
    def offsets(self) -> NDArray[np.int64]:
        """Where the probabilities of each node begin."""
        sizes = np.maximum(self.counts - 1, 0) * np.array(self.buckets)[self.rounds]
        return np.concatenate(([0], sizes.cumsum()))

    @cached_property
    def ends(self) -> NDArray[np.int64]:
        """The number after the last node below each."""
        # Children that are still to come, after each node; a node ends where there is one less than before it.
        waiting = 1 + (self.counts - 1).cumsum()
        numbers = np.arange(len(waiting))
        in_order = np.sort(waiting * len(waiting) + numbers)
        before = np.concatenate(([1], waiting[:-1]))
        ends: NDArray[np.int64] = in_order[np.searchsorted(in_order, (before - 1) * len(waiting) + numbers)]
        return ends % len(waiting) + 1

    def children_of(self, node: int) -> list[int]:
        found: list[int] = []
        following = node + 1
        for _ in range(int(self.counts[node])):
            found.append(following)
            following = int(self.ends[following])
        return found

    def chances(self, node: int) -> NDArray[np.float64]:
        """The probabilities of a decision, shape (actions, buckets)."""
        buckets = self.buckets[self.rounds[node]]
        known = self.probabilities[self.offsets[node] : self.offsets[node + 1]].reshape(-1, buckets).astype(np.float64)
        chances: NDArray[np.float64] = np.vstack([known, np.maximum(self._whole - known.sum(axis=0), 0)])
        chances /= chances.sum(axis=0)
        return chances

    def buckets_on(self, board: Sequence[int]) -> NDArray[np.uint16]:
        """The bucket of every holding of hold'em, shape (1326,); `NO_BUCKET` where it shares a card with the board."""
        assert self.cards is not None
        return self.cards.on(tuple(board))

    def chances_of(self, node: int, bucket: int) -> list[float]:
        start = int(self.offsets[node])
        end = int(self.offsets[node + 1])
        known = self.probabilities[start + bucket : end : self.buckets[self.rounds[node]]].tolist()
        chances = (*known, max(self._whole - sum(known), 0))
        return [chance / sum(chances) for chance in chances]

    @property
    def _whole(self) -> int:
        return WHOLE if self.probabilities.dtype == np.uint8 else 1


def quantise(chances: NDArray[np.float64]) -> _Bytes:
    """Probabilities, shape (actions, buckets), in 255ths that sum to 255: the largest remainders are rounded up."""
    exact = chances * WHOLE
    low = np.floor(exact)
    missing = WHOLE - low.sum(axis=0)
    places = (low - exact).argsort(axis=0, kind="stable").argsort(axis=0, kind="stable")
    found: _Bytes = (low + (places < missing)).astype(np.uint8)
    return found


def write_strategy(
    path: Path,
    tree: BettingTree,
    buckets: tuple[int, ...],
    abstraction: ClusteredHands | None,
    strategy: NDArray[np.float64],
    record: Mapping[str, Any],
) -> None:
    """Write a file of probabilities by node, action and bucket; only hold'em has an abstraction."""
    parts = []
    place = 0
    for node in tree.decisions.tolist():
        count = len(tree.actions[node])
        of_round = buckets[tree.rounds[node]]
        of_node = strategy[place : place + count * of_round].reshape(count, of_round)
        parts.append((of_node.astype("<f4") if abstraction is None else quantise(of_node))[:-1].ravel())
        place += count * of_round
    arrays: dict[str, NDArray[Any]] = {
        "nodes": np.array([_kinds(actions) for actions in tree.actions], np.uint8),
        "rounds": tree.rounds.astype(np.uint8),
        "probabilities": np.concatenate(parts),
    }
    if not tree.game.is_limit:
        arrays["totals"] = np.array(
            [0]
            + [
                tree.actions[parent][at].hand_total for parent, at in zip(tree.parents[1:], tree.taken[1:], strict=True)
            ],
            "<i4",
        )
    if abstraction is not None:
        arrays |= abstraction.arrays()
    of_arrays, contents = as_arrays(arrays)
    header = {
        **of_arrays,
        "game": format_game_definition(tree.game),
        "buckets": buckets,
        "training": dict(record),
    }
    write_artifact(path, _KIND, header, contents)


def _kinds(actions: tuple[Any, ...]) -> int:
    kinds = [action.kind for action in actions]
    return (
        _FOLD * (ActionKind.FOLD in kinds) + _CALL * (ActionKind.CALL in kinds) + _RAISE * kinds.count(ActionKind.RAISE)
    )


def read_strategy(path: str) -> StrategyFile:
    """Map a file into memory; a `BotFileError` if it is not a strategy, of another version, or damaged."""
    found = read_artifact(path, _KIND, is_mapped=True)
    header = found.header
    arrays = found.arrays()
    with found.parsing():
        game = parse_game_definition(header["game"])
        buckets = tuple(header["buckets"])
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
        )
