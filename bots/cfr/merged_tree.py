"""Trees of no-limit hold'em for three and six players, in which flops of one type share the betting after them.

With several players the betting before the flop decides little about the betting after it except the pot, who is in it
and who raised last. Before the flop nothing is merged (`preflop_raises`, `can_call`). Each node at which a flop is
dealt is an entry into the subtree of its `FlopType`, which has the rounds after the flop.

The entry with the largest stacks in relation to the pot, one without dead money if there is one, is the model of the
subtree. From another entry, chips put in after the flop are scaled by the ratio of the pots, up to the stack of the
entry. Payoffs are therefore those of the entry's own pot and stacks, with bets of the same fractions of its pot.
Players have equal stacks, so there are no side pots.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from bots.cfr.tree import CONTINUED, NEARLY_ALL, BettingTree, betting_tree, raises_in_round, read_sizes
from bots.errors import SolvingError
from engine import Action, ActionKind, BettingState, Game, betting_start
from engine.betting_rules import raise_to

PLAYER_COUNTS: Final = (3, 6)
"""Numbers of players for which there are trees."""
MAX_FLOP_PLAYERS: Final = 3
"""A call by a further player is not in the tree."""
OPEN: Final = 2.5
"""First raise before the flop, in big blinds."""
RERAISES: Final = (3.5, 2.3)
"""Later raises before the flop, as multiples of the raise before. A further one is all-in."""
SIZES: Final = {2: "0.33,0.75,all:1,all:all", 3: "0.66,all:all"}
"""Bets and raises of each round after the flop, by the number of players who see it (see `bots.cfr.tree`)."""


class FlopType(NamedTuple):
    """Properties that entries of one subtree share.

    Attributes:
        players: number of players who see the flop.
        raises: number of raises before the flop.
        blinds: number of players among them who posted a blind.
        raiser: place of the last raiser in the order of acting after the flop, -1 without a raise.
    """

    players: int
    raises: int
    blinds: int
    raiser: int


class FlopEntry(NamedTuple):
    """Node of the tree before the flop at which a flop is dealt.

    Attributes:
        node: number of the node.
        subtree: index of the subtree.
        positions: positions of the players who see the flop, in the order of acting after it.
        pot: chips in the pot.
        matched: chips that each of these players has put in.
        stack: chips that each of them has left.
        flop_type: by which subtrees are shared by default.
    """

    node: int
    subtree: int
    positions: tuple[int, ...]
    pot: int
    matched: int
    stack: int
    flop_type: FlopType


@dataclass(frozen=True, eq=False)
class MergedTree:
    """Betting before the flop, and the subtrees after it.

    Attributes:
        preflop: the first round, with nodes `CONTINUED` where a flop is dealt.
        subtrees: betting after the flop by type, in the positions and chips of the entry in `models`.
        models: entry of each subtree with the largest stacks in relation to the pot.
        entries: all nodes at which a flop is dealt.
    """

    game: Game
    preflop: BettingTree
    subtrees: tuple[BettingTree, ...]
    models: tuple[FlopEntry, ...]
    entries: tuple[FlopEntry, ...]

    @property
    def parts(self) -> tuple[BettingTree, ...]:
        return (self.preflop, *self.subtrees)


def preflop_raises(state: BettingState) -> Sequence[Action]:
    """Return the raises that the tree has before the flop (`Sizes`): one of `OPEN` and `RERAISES`, and all-in."""
    all_in = raise_to(state.legal_actions().raise_max)
    raises = raises_in_round(state)
    if raises > len(RERAISES):
        return [all_in]
    exact = OPEN * state.game.big_blind
    if raises:
        exact = RERAISES[raises - 1] * state.max_spent
    part, whole = NEARLY_ALL
    if exact * whole > all_in.hand_total * part:
        return [all_in]
    return [raise_to(max(int(exact + 0.5), state.legal_actions().raise_min)), all_in]


def can_call(state: BettingState) -> bool:
    """Return whether the tree has a call: at most three players see a flop, and only a blind limps."""
    if not state.to_call:
        return True
    if not raises_in_round(state):
        return state.game.blinds[state.acting_position] > 0
    has_matched = [state.spent[position] == state.max_spent for position in state.in_pot]
    return sum(has_matched) < MAX_FLOP_PLAYERS


def merged_tree(game: Game, merge: Callable[[FlopEntry, FlopType], Hashable] | None = None) -> MergedTree:
    """Enumerate the betting of a game of no-limit hold'em.

    Args:
        merge: returns equal values for entries that share a subtree; the `FlopType` by default.

    Raises:
        SolvingError: the game has another number of players, or players with different stacks.
    """
    if game.num_players not in PLAYER_COUNTS:
        raise SolvingError(
            f"no-limit hold'em is trained for with two, three or six players, not {game.num_players}: take another game"
        )
    if len(set(game.stacks)) > 1:
        raise SolvingError(
            "no-limit hold'em of more than two players is trained for with equal stacks: make those of the game equal"
        )
    preflop = betting_tree(game, preflop_raises, can_call=can_call, rounds=1)
    subtrees: dict[Hashable, int] = {}
    entries = []
    models: list[FlopEntry] = []
    for node in np.flatnonzero(preflop.kinds == CONTINUED).tolist():
        entry = _entry(preflop, node)
        key: Hashable = entry.flop_type
        if merge is not None:
            key = merge(entry, entry.flop_type)
        subtree = subtrees.setdefault(key, len(subtrees))
        entry = entry._replace(subtree=subtree)
        entries.append(entry)
        if subtree == len(models):
            models.append(entry)
        # Stack divided by pot, compared in integers.
        elif entry.stack * models[subtree].pot > models[subtree].stack * entry.pot:
            models[subtree] = entry
    trees = []
    for model in models:
        sizes = read_sizes(SIZES[len(model.positions)], game.num_rounds)
        trees.append(betting_tree(game, sizes, _state_at(preflop, model.node)))
    return MergedTree(game, preflop, tuple(trees), tuple(models), tuple(entries))


def first_rows(tree: BettingTree | MergedTree) -> list[int]:
    """Return the number of the first node of each part of a tree, where nodes of all parts are numbered together."""
    sizes = [len(part.kinds) for part in tree.parts]
    return [sum(sizes[:number]) for number in range(len(sizes))]


def _entry(preflop: BettingTree, node: int) -> FlopEntry:
    game = preflop.game
    spent = preflop.spent[node].tolist()
    folded = int(preflop.folded[node])
    first = game.first_players[1]
    order = [(first + number) % game.num_players for number in range(game.num_players)]
    positions = tuple([position for position in order if not folded >> position & 1])
    raisers = [position for position, action in _path(preflop, node) if action.kind is ActionKind.RAISE]
    flop_type = type_of_flop(game, positions, raisers)
    return FlopEntry(
        node=node,
        subtree=-1,
        positions=positions,
        pot=sum(spent),
        matched=max(spent),
        stack=game.stacks[0] - max(spent),
        flop_type=flop_type,
    )


def type_of_flop(game: Game, positions: Sequence[int], raisers: Sequence[int]) -> FlopType:
    """Return the type of a flop.

    Args:
        positions: positions of the players who see it, in the order of acting after it.
        raisers: position of each raise before the flop.
    """
    raiser = -1
    if raisers and raisers[-1] in positions:
        raiser = positions.index(raisers[-1])
    blinds = sum(game.blinds[position] > 0 for position in positions)
    return FlopType(len(positions), len(raisers), blinds, raiser)


def _path(preflop: BettingTree, node: int) -> list[tuple[int, Action]]:
    """Return the positions and actions that lead to a node."""
    path = []
    while (parent := int(preflop.parents[node])) >= 0:
        path.append((int(preflop.players[parent]), preflop.actions[parent][preflop.taken[node]]))
        node = parent
    path.reverse()
    return path


def _state_at(preflop: BettingTree, node: int) -> BettingState:
    state = betting_start(preflop.game)
    for _, action in _path(preflop, node):
        state = state.after(action)
    return state
