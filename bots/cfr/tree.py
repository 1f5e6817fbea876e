"""The betting of a game as arrays, and the bets that a no-limit tree has.

`betting_tree` numbers the nodes in preorder, so all descendants of a node follow it. A limit tree has all raises of the
rules, or fewer with `RaiseCaps`. Two raises per round after the flop leave 315,068 of the millions of nodes of limit
hold'em for three. A no-limit tree has the raises of `BetSizes`.

Sizes are fractions of the pot after a call, or ``all``. In ``0.5,1,all:1,all:all`` commas separate the sizes of one
raise and colons the successive raises of a round. The first bet is half the pot, the pot or all-in, the second raise is
the pot or all-in, the third all-in. Slashes separate rounds; a single one applies to all of them.
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
CONTINUED: Final = 3
"""Kinds of nodes."""
MAX_NODES: Final = 500_000
Sizes: TypeAlias = Callable[[BettingState], Sequence[Action]]
"""Returns the raises of a tree in a state in which raises are legal, smallest first."""


@dataclass(frozen=True, eq=False)
class BettingTree:
    """All betting sequences of a game. Arrays have the shape (nodes,) unless stated otherwise.

    Attributes:
        kinds: `DECISION`, `FOLDED`, `SHOWDOWN`, or `CONTINUED` where the tree stops before a later round.
        players: position in turn at a decision, position of the last fold at `FOLDED`, otherwise -1.
        rounds: round of each node, from 0.
        parents: preceding node, -1 for the first.
        taken: index of the action, among those of the parent, that leads to the node.
        depths: number of actions from the first node.
        spent: chips that each position has put in, shape (nodes, players).
        folded: mask of the positions that have folded.
        children: node after each action, -1 beyond the last one, shape (nodes, max(actions)).
        actions: actions of each node, in the order of the children.
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

    @property
    def parts(self) -> tuple[BettingTree, ...]:
        """Trees that make up the tree, only itself; a `MergedTree` has several."""
        return (self,)

    @cached_property
    def chips(self) -> NDArray[np.float64]:
        """Chips that the loser of each end has put in, if two players are in the pot; 0 at a decision.

        Half of the chips of players who folded before are added: then the winner wins what the loser loses, and each
        wins this half besides.
        """
        is_out = (int(self.folded[0]) >> np.arange(self.spent.shape[1])) & 1 > 0
        called = self.spent[:, ~is_out].min(axis=1)
        dead = self.spent[:, is_out].sum(axis=1)
        return np.where(self.kinds == DECISION, 0.0, called + dead / 2)

    @cached_property
    def ends(self) -> NDArray[np.int32]:
        """Number after the last descendant of each node."""
        ends = np.arange(1, len(self.kinds) + 1, dtype=np.int32)
        # In reverse preorder, a node is complete before it is passed on to its parent.
        for node in range(len(ends) - 1, 0, -1):
            parent = self.parents[node]
            ends[parent] = max(ends[parent], ends[node])
        return ends

    def number_of_actions(self) -> NDArray[np.int64]:
        """Return the number of actions of each node, 0 at an end."""
        counts: NDArray[np.int64] = (self.children >= 0).sum(axis=1)
        return counts


def betting_tree(
    game: Game,
    sizes: Sizes | None = None,
    start: BettingState | None = None,
    *,
    can_call: Callable[[BettingState], bool] | None = None,
    rounds: int | None = None,
) -> BettingTree:
    """Enumerate the betting of a game.

    Args:
        sizes: the raises; None for those of a limit game's rules.
        start: state of the first node; the beginning of a hand by default.
        can_call: returns whether the tree has a call in a state; it has all calls by default.
        rounds: rounds of the tree, all by default. Where a later one begins there is a node `CONTINUED`.

    Raises:
        SolvingError: a no-limit game has no sizes, or the tree has more than `MAX_NODES` nodes.
    """
    if not game.is_limit and sizes is None:
        raise SolvingError("the bets of a no-limit game have to be chosen before it can be solved")
    rows: list[tuple[int, int, int, int, int, int, int]] = []
    spent: list[tuple[int, ...]] = []
    # Few tuples of actions differ. Sharing them spares the garbage collector hundreds of thousands of objects.
    shared: dict[tuple[Action, ...], tuple[Action, ...]] = {}
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
        if rounds is not None and state.round >= rounds:
            rows.append((CONTINUED, -1, state.round, parent, taken, depth, state.folded))
            actions.append(())
            return
        legal = state.legal_actions()
        node_actions: tuple[Action, ...] = ()
        if legal.can_fold:
            node_actions = (FOLD,)
        if can_call is None or can_call(state):
            node_actions += (CALL,)
        if legal.can_raise and sizes is None:
            node_actions += (RAISE,)
        elif legal.can_raise and sizes is not None:
            node_actions += tuple(sizes(state))
        rows.append((DECISION, state.acting_position, state.round, parent, taken, depth, state.folded))
        actions.append(shared.setdefault(node_actions, node_actions))
        for index, action in enumerate(node_actions):
            add(state.after(action), number, index, depth + 1)

    add(start or betting_start(game), -1, -1, 0)
    kinds, players, round_numbers, parents, taken, depths, folded = zip(*rows, strict=True)
    children = np.full((len(rows), max(map(len, actions))), -1, np.int32)
    children[parents[1:], taken[1:]] = np.arange(1, len(rows))
    return BettingTree(
        game=game,
        kinds=np.array(kinds, np.int8),
        players=np.array(players, np.int8),
        rounds=np.array(round_numbers, np.int8),
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
"""Default sizes of hold'em."""
ROUND_SIZES: Final = "0.5,1,all:1,all:all"
"""Default sizes of other games."""
_MAX_SIZES: Final = 12
"""Maximum number of sizes of one raise."""
_MAX_FRACTION: Final = 1000.0
# A raise to more than 2/3 of the stack becomes all-in, because the rest would go in anyway.
NEARLY_ALL: Final = (2, 3)
_CAP_AFTER_FIRST_ROUND: Final = 2
"""Default number of raises per later round, in limit games of more than two players."""


@dataclass(frozen=True, slots=True)
class RaiseCaps:
    """`Sizes` of a limit tree with a maximum number of raises in each round."""

    rounds: tuple[int, ...]

    def __call__(self, state: BettingState) -> Sequence[Action]:
        if raises_in_round(state) >= self.rounds[state.round]:
            return []
        return [RAISE]


def default_caps(game: Game) -> str:
    """Return the default caps of a limit game in the format of `read_caps`, empty for two players."""
    if game.num_players == 2:
        return ""
    caps = [game.max_raises[0]] + [_CAP_AFTER_FIRST_ROUND] * (game.num_rounds - 1)
    return "/".join(map(str, caps))


def read_caps(text: str, rounds: int) -> RaiseCaps:
    """Parse caps: a number for all rounds, or one for each, separated by ``/``.

    Raises:
        SolvingError: the text has another format.
    """
    words = text.split("/")
    is_number = all(word.isascii() and word.isdigit() and int(word) < MAX_ACTIONS_PER_ROUND for word in words)
    if len(words) not in (1, rounds) or not is_number:
        example = "/".join(map(str, range(rounds, 0, -1)))
        raise SolvingError(
            f"raises of a limit game are a number for all rounds, or {rounds} such as {example}, not {text!r}"
        )
    return RaiseCaps(tuple(map(int, words)) * (rounds // len(words)))


def read_raises(game: Game, sizes: str, caps: str) -> Sizes | None:
    """Parse the settings of a training; None means all raises of a limit game's rules."""
    if sizes:
        return read_sizes(sizes, game.num_rounds)
    if caps:
        return read_caps(caps, game.num_rounds)
    return None


def raises_in_round(state: BettingState) -> int:
    """Return the number of raises in the present round."""
    return sum(action.kind is ActionKind.RAISE for _, action in state.rounds[-1])


@dataclass(frozen=True, slots=True)
class BetSizes:
    """`Sizes` of a no-limit tree.

    Attributes:
        rounds: fractions of the pot by round and by raise of the round, ascending, infinite for all-in.
    """

    rounds: tuple[tuple[tuple[float, ...], ...], ...]

    def __call__(self, state: BettingState) -> Sequence[Action]:
        levels = self.rounds[state.round]
        raises = raises_in_round(state)
        if raises >= len(levels):
            return []
        legal = state.legal_actions()
        pot = state.pot + state.to_call
        part, whole = NEARLY_ALL
        # A set, because different fractions can reach the same total, for example all-in.
        totals = set()
        for fraction in levels[raises]:
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
    """Parse sizes in the format described at the head of this module.

    Raises:
        SolvingError: the text has another format.
    """
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
        fractions = sorted({math.inf if word == ALL_IN else float(word) for word in words})
    except ValueError:
        fractions = []
    is_in_range = all(0 < fraction <= _MAX_FRACTION or fraction == math.inf for fraction in fractions)
    if not fractions or len(words) > _MAX_SIZES or not is_in_range:
        raise SolvingError(
            f"the sizes of a raise are 1 to {_MAX_SIZES} fractions of the pot and {ALL_IN!r}, such as 0.5,1,all, "
            f"not {text!r}"
        )
    return tuple(fractions)
