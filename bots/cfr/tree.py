"""The betting of a game as arrays, made by the rule book: what the solver walks and the player follows.

Nodes are numbered in preorder, so a node's number is above its parent's and everything below it follows it. A limit
game has all its actions, or fewer raises in a round than its rules allow (`RaiseCaps`): the betting of three players
has millions of nodes, and with two raises in a round after the flop 315,068. Which raises a no-limit game has, a
`Sizes` decides.

Which bets and raises a no-limit tree has: fractions of the pot and all-in, by round and by raise of the round.

They are written as a text. ``0.5,1,all:1,all:all`` is a round in which the first to put chips in bets half the pot, the
pot or everything, the next one raises by the pot or everything, the third one everything, and there is no raise after
that. Rounds follow one another with ``/``; one alone is for all rounds. A fraction is of the pot as it is after a call:
a raise by the pot of 300 into 300 makes the total 300 + 600.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bots.errors import SolvingError
from engine import CALL, FOLD, RAISE, Action, ActionKind, BettingState, Game, betting_start
from engine.betting_rules import raise_to
from engine.game import MAX_ACTIONS_PER_ROUND

DECISION: Final = 0
FOLDED: Final = 1
SHOWDOWN: Final = 2
"""Kinds of nodes."""
MAX_NODES: Final = 500_000
"""A larger tree is refused."""
Sizes: TypeAlias = Callable[[BettingState], Sequence[Action]]
"""The raises that a tree has in a state in which raises are legal, smallest first."""


@dataclass(frozen=True, eq=False)
class BettingTree:
    """All bettings of a game, shape (nodes,) each unless said otherwise.

    Attributes:
        kinds: `DECISION`, `FOLDED` or `SHOWDOWN`.
        players: who acts at a decision; who folded last at an end by a fold; -1 at a showdown.
        parents: the node before; -1 for the first.
        taken: which of the parent's actions leads here.
        depths: how many actions lead here.
        spent: shape (nodes, players), the chips that each has put in.
        folded: the players that have folded, a bit each.
        children: shape (nodes, most actions), what follows each action; -1 where there is none.
        actions: of each node, in the order of the children.
    """

    game: Game
    kinds: NDArray[np.int8]
    players: NDArray[np.int8]
    rounds: NDArray[np.int8]
    parents: NDArray[np.int32]
    taken: NDArray[np.int8]
    depths: NDArray[np.int32]
    spent: NDArray[np.int64]
    folded: NDArray[np.uint16]
    children: NDArray[np.int32]
    actions: tuple[tuple[Action, ...], ...]

    @property
    def decisions(self) -> NDArray[np.intp]:
        return np.flatnonzero(self.kinds == DECISION)

    @cached_property
    def chips(self) -> NDArray[np.float64]:
        """In a game of two, what the loser of each end has put in; 0 at a decision."""
        return np.where(self.kinds == DECISION, 0, self.spent.min(axis=1)).astype(np.float64)

    @cached_property
    def ends(self) -> NDArray[np.int32]:
        """The number after the last node below each."""
        ends = np.arange(1, len(self.kinds) + 1, dtype=np.int32)
        for node in range(len(ends) - 1, 0, -1):
            ends[self.parents[node]] = max(ends[self.parents[node]], ends[node])
        return ends

    def number_of_actions(self) -> NDArray[np.int64]:
        """Number of actions of each node; 0 at an end."""
        counts: NDArray[np.int64] = (self.children >= 0).sum(axis=1)
        return counts


def betting_tree(game: Game, sizes: Sizes | None = None, start: BettingState | None = None) -> BettingTree:
    """The tree of a game with a limit or sizes, from any state; else a `SolvingError`."""
    if not game.is_limit and sizes is None:
        raise SolvingError("the bets of a no-limit game have to be chosen before it can be solved")
    rows: list[tuple[int, int, int, int, int, int, int]] = []
    spent: list[tuple[int, ...]] = []
    # Few lists of actions differ; one object for each spares the garbage collector hundreds of thousands.
    known: dict[tuple[Action, ...], tuple[Action, ...]] = {}
    actions: list[tuple[Action, ...]] = []

    def add(state: BettingState, parent: int, taken: int, depth: int) -> None:
        number = len(rows)
        if number >= MAX_NODES:
            raise SolvingError(f"the game is too large to be solved: its betting has more than {MAX_NODES:,} nodes")
        spent.append(state.spent)
        if state.finished:
            kind = SHOWDOWN
            player = -1
            if not state.is_showdown:
                kind = FOLDED
                player = rows[parent][1]
            rows.append((kind, player, state.round, parent, taken, depth, state.folded))
            actions.append(())
            return
        legal = state.legal_actions()
        found: tuple[Action, ...] = (CALL,)
        if legal.can_fold:
            found = (FOLD, CALL)
        if legal.can_raise and sizes is None:
            found += (RAISE,)
        elif legal.can_raise and sizes is not None:
            found += tuple(sizes(state))
        rows.append((DECISION, state.acting_position, state.round, parent, taken, depth, state.folded))
        actions.append(known.setdefault(found, found))
        for at, action in enumerate(found):
            add(state.after(action), number, at, depth + 1)

    add(start or betting_start(game), -1, -1, 0)
    kinds, players, rounds, parents, taken, depths, folded = zip(*rows, strict=True)
    children = np.full((len(rows), max(map(len, actions))), -1, np.int32)
    children[parents[1:], taken[1:]] = np.arange(1, len(rows))
    return BettingTree(
        game=game,
        kinds=np.array(kinds, np.int8),
        players=np.array(players, np.int8),
        rounds=np.array(rounds, np.int8),
        parents=np.array(parents, np.int32),
        taken=np.array(taken, np.int8),
        depths=np.array(depths, np.int32),
        spent=np.array(spent, np.int64),
        folded=np.array(folded, np.uint16),
        children=children,
        actions=tuple(actions),
    )


ALL_IN: Final = "all"
HOLDEM_SIZES: Final = "0.5,1,all:1,all:1,all:all/0.5,1,all:1,all:all/0.5,1,all:1,all:all/0.5,1,all:1,all:all"
"""Where no others are given, in hold'em."""
ROUND_SIZES: Final = "0.5,1,all:1,all:all"
"""Where no others are given, in other games."""
_MOST_SIZES: Final = 12
"""Of one raise."""
_MOST_FRACTION: Final = 1000.0
_NEARLY_ALL: Final = (2, 3)
"""A raise that puts in more than this part of the stack puts in all of it: the rest would follow anyway."""


_CAP_AFTER_FLOP: Final = 2
"""Raises in a round of a limit game of more than two players, after the first round, where no others are given."""


@dataclass(frozen=True, slots=True)
class RaiseCaps:
    """The raises of a limit tree, as `betting_tree` asks for them: so many in each round at most."""

    rounds: tuple[int, ...]

    def __call__(self, state: BettingState) -> Sequence[Action]:
        if raises_in_round(state) >= self.rounds[state.round]:
            return []
        return [RAISE]


def default_caps(game: Game) -> str:
    """The caps of a limit game where no others are given, as `read_caps` reads them; none for two players."""
    if game.num_players == 2:
        return ""
    caps = [game.max_raises[0]] + [_CAP_AFTER_FLOP] * (game.num_rounds - 1)
    return "/".join(map(str, caps))


def read_caps(text: str, rounds: int) -> RaiseCaps:
    """The caps of a text: a number for all rounds, or one for each, parted by ``/``; else a `SolvingError`."""
    words = text.split("/")
    is_number = all(word.isascii() and word.isdigit() and int(word) < MAX_ACTIONS_PER_ROUND for word in words)
    if len(words) not in (1, rounds) or not is_number:
        raise SolvingError(
            f"raises of a limit game are a number for all rounds, or {rounds} such as "
            f"{'/'.join(map(str, range(rounds, 0, -1)))}, not {text!r}"
        )
    return RaiseCaps(tuple(map(int, words)) * (rounds // len(words)))


def read_raises(game: Game, sizes: str, caps: str) -> Sizes | None:
    """The raises of a tree by the settings of a training; None for all those of a limit game."""
    if sizes:
        return read_sizes(sizes, game.num_rounds)
    if caps:
        return read_caps(caps, game.num_rounds)
    return None


def raises_in_round(state: BettingState) -> int:
    """Number of raises in the present round."""
    return sum(action.kind is ActionKind.RAISE for _, action in state.rounds[-1])


@dataclass(frozen=True, slots=True)
class BetSizes:
    """The raises of a no-limit tree, as `bots.cfr.tree.betting_tree` asks for them.

    `rounds` has, by round and by raise of the round, the fractions of the pot, ascending; infinite for all-in.
    """

    rounds: tuple[tuple[tuple[float, ...], ...], ...]

    def __call__(self, state: BettingState) -> Sequence[Action]:
        """The raises, smallest first, in a state in which raises are legal."""
        of_round = self.rounds[state.round]
        raises = raises_in_round(state)
        if raises >= len(of_round):
            return []
        legal = state.legal_actions()
        pot = state.pot + state.to_call
        part, whole = _NEARLY_ALL
        totals = set()
        for fraction in of_round[raises]:
            if math.isinf(fraction):
                totals.add(legal.raise_max)
                continue
            exact = state.max_spent + fraction * pot
            if exact * whole > legal.raise_max * part:
                totals.add(legal.raise_max)
            else:
                totals.add(max(int(exact + 0.5), legal.raise_min))
        return [raise_to(total) for total in sorted(totals)]


def read_sizes(text: str, rounds: int) -> BetSizes:
    """The sizes of a text, in the format at the head of this module; a `SolvingError` if it is not in it."""
    parts = text.split("/")
    if len(parts) not in (1, rounds):
        raise SolvingError(f"sizes are given for one round, which holds for all, or for all {rounds}, not {text!r}")
    by_round = []
    for part in parts:
        by_round.append(tuple([_fractions(level) for level in part.split(":")]))
    return BetSizes(tuple(by_round) * (rounds // len(parts)))


def _fractions(text: str) -> tuple[float, ...]:
    words = text.split(",") if text else []
    try:
        found = sorted({math.inf if word == ALL_IN else float(word) for word in words})
    except ValueError:
        found = []
    if not found or len(words) > _MOST_SIZES or not all(0 < one <= _MOST_FRACTION or one == math.inf for one in found):
        raise SolvingError(
            f"the sizes of a raise are 1 to {_MOST_SIZES} fractions of the pot and {ALL_IN!r}, such as 0.5,1,all, "
            f"not {text!r}"
        )
    return tuple(found)
