"""Map a hand of no-limit hold'em with three or six players to nodes of a merged tree (`bots.cfr.merged_tree`).

Before the flop a table has calls and sizes that the tree lacks. The line of the tree is therefore built from the levels
of the bet at the table, that is, its raises. A raise that is nearer to a call than to a raise of the tree replaces the
one before, and an open limp is the smallest raise. Players whose call the tree lacks fold in it. Only the player in
turn and those who raise must be in the line; if they cannot be, the betting is off the tree.

After the flop the subtree depends on the flop alone: it is that of the entry whose pot, players and raiser are nearest.
It has at most three players, those who are likeliest to matter (`_kept_positions`). Bets are read as in a game of two.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

import numpy as np

from bots.cfr.lookup.translation import (
    NO_BET,
    OFF_TREE,
    Decide,
    Reading,
    TreePosition,
    read_total,
    reading_of,
    shape,
    table_totals,
    weigh_own_action,
)
from bots.cfr.merged_tree import MAX_FLOP_PLAYERS, RERAISES, type_of_flop
from bots.cfr.strategy_files import StrategyFile
from engine import CALL, FOLD, Action, ActionKind, BettingState, Game, Position
from engine.hand import decisions

_RAISER_DISTANCE: Final = 1.0
_BLIND_DISTANCE: Final = 0.3
_RAISE_DISTANCE: Final = 0.1
"""Distance of two flops of different raisers, or per blind and per raise, in logarithms of stack to pot."""


def merged_positions(
    strategy: StrategyFile, betting: BettingState, holdings: int, decide: Decide
) -> tuple[list[TreePosition], list[Reading]]:
    """Return the positions of a betting in a merged tree, and the readings of raises.

    Args:
        betting: at a decision of the player.
        holdings: number of holdings, 1 or 1326.
        decide: called for the player's earlier decisions if there are several paths.
    """
    if betting.round:
        return _positions_after_flop(strategy, betting, holdings, decide)
    start = TreePosition(0, 0, np.ones(holdings), tree=strategy.starts[0])
    # All raises and callers of the table where the tree has them, else fewer.
    for merges in (True, False):
        for keeps_callers in (True, False):
            line = _Line(strategy, betting, merges=merges, keeps_callers=keeps_callers)
            paths = line.follow(_Path(start))
            if paths:
                return _weigh_own_actions(paths, decide), line.read
    return [replace(start, node=OFF_TREE, is_exact=False)], []


# ---- before the flop


@dataclass
class _Level:
    """Level of the bet before the flop.

    Attributes:
        position: position of the raiser.
        state: state in which the level begins.
        action: the raise; a call for an open limp.
        callers: positions that called.
    """

    position: Position
    state: BettingState
    action: Action
    callers: set[Position] = field(default_factory=set)

    @property
    def total(self) -> int:
        return self.action.hand_total or self.state.max_spent


class _Path(NamedTuple):
    """Path of a line in the tree.

    Attributes:
        levels: number of levels on the path.
        own: earlier decisions of the player, in the tree and at the table, with its actions.
    """

    place: TreePosition
    levels: int = 0
    own: tuple[tuple[TreePosition, BettingState, Action], ...] = ()


class _Line:
    """Line of the tree for a betting before the flop.

    Args:
        merges: whether raises that are nearer to a call replace the one before.
        keeps_callers: whether players who only called are in the line.

    Attributes:
        read: readings of raises.
    """

    def __init__(self, strategy: StrategyFile, betting: BettingState, *, merges: bool, keeps_callers: bool) -> None:
        self.read: list[Reading] = []
        self._strategy = strategy
        self._betting = betting
        self._player = betting.acting_position
        self._keeps_callers = keeps_callers
        self._own = [(state, action) for state, action in decisions(betting) if state.acting_position == self._player]
        self._limpers: set[Position] = set()
        self._levels: list[_Level] = []
        for state, action in decisions(betting):
            self._add(state, action, merges)

    def _add(self, state: BettingState, action: Action, merges: bool) -> None:
        position = state.acting_position
        if action.kind is ActionKind.FOLD:
            return
        if action.kind is ActionKind.CALL and self._levels:
            self._levels[-1].callers.add(position)
        # A blind that checks or completes. Any other limp is a level, the smallest raise.
        elif action.kind is ActionKind.CALL and (not state.to_call or state.game.blinds[position]):
            self._limpers.add(position)
        elif merges and self._levels and self._is_nearly_call(state, action):
            last = self._levels[-1]
            self._levels[-1] = _Level(position, last.state, action, last.callers | {last.position})
        else:
            self._levels.append(_Level(position, state, action))

    def _is_nearly_call(self, state: BettingState, action: Action) -> bool:
        """Return whether a raise of a bet of another player is nearer to a call than to a raise of the tree.

        The ratio of the totals is compared with the square root of that of the tree's smallest raise.
        """
        last = self._levels[-1]
        stack = state.game.stacks[state.acting_position]
        if last.position == self._player or action.hand_total == stack:
            return False
        ratio = stack / last.total
        if len(self._levels) <= len(RERAISES):
            ratio = min(ratio, RERAISES[len(self._levels) - 1])
        return (action.hand_total / last.total) ** 2 < ratio

    def follow(self, path: _Path) -> list[_Path]:
        """Return the paths to the player's decision, none if the tree does not have the line."""
        while True:
            place, count, own = path
            tree = _tree_of(place)
            # The betting of the line ends before the player's decision.
            if tree.finished or tree.round:
                return []
            position = tree.acting_position
            if position == self._player:
                if count == len(self._levels):
                    is_exact = tree == self._betting
                    return [path._replace(place=replace(place, is_exact=is_exact))]
                # In the line the player is in turn more often than at the table.
                if len(own) == len(self._own):
                    return []
                own = (*own, (place, *self._own[len(own)]))
            if count < len(self._levels) and self._levels[count].position == position:
                paths = []
                for after in self._raises(place, self._levels[count]):
                    paths += self.follow(_Path(after, count + 1, own))
                return paths
            action = CALL if self._is_caller(position, count) else FOLD
            if action == CALL and not shape(self._strategy, place.node).call:
                if self._is_needed(position, count):
                    return []
                action = FOLD
            path = _Path(_after(self._strategy, place, action), count, own)

    def _is_needed(self, position: Position, count: int) -> bool:
        """Return whether a position is in turn at the end, or raises after a number of levels."""
        return position == self._player or any(level.position == position for level in self._levels[count:])

    def _is_caller(self, position: Position, count: int) -> bool:
        if self._is_needed(position, count):
            return True
        if not count:
            return position in self._limpers
        return self._keeps_callers and position in self._levels[count - 1].callers

    def _raises(self, place: TreePosition, level: _Level) -> list[TreePosition]:
        """Return the positions after the raise of a level, none if the tree has no raise."""
        if not shape(self._strategy, place.node).raises:
            return []
        if level.action.kind is ActionKind.CALL:
            return [_raised(self._strategy, place, 0)]
        totals = table_totals(self._strategy, place, level.state)
        total = level.action.hand_total
        if total not in totals:
            self.read.append(reading_of(level.action, totals, level.state))
        chances: dict[int, float] = {}
        for number, chance in read_total(total, totals, level.state):
            # A raise below the smallest one is that one: those that are nearer to a call have been merged.
            chances[max(number, 0)] = chances.get(max(number, 0), 0.0) + chance
        following = []
        for number, chance in chances.items():
            after = _raised(self._strategy, place, number)
            following.append(replace(after, weights=after.weights * chance))
        return following


def _weigh_own_actions(paths: Sequence[_Path], decide: Decide) -> list[TreePosition]:
    """Multiply the weights of several paths by the probabilities of the player's own actions on them."""
    places = [path.place for path in paths]
    if len(paths) == 1:
        return places
    weights = []
    for place, _, own in paths:
        weight = place.weights
        for earlier, state, action in own:
            weight = weight * decide(earlier, state).get(action, 0.0)
        weights.append(weight)
    is_possible = np.sum(weights, axis=0) > 0
    weighed = []
    for place, weight in zip(places, weights, strict=True):
        # Actions that the strategy takes on no path say nothing about the readings.
        weighed.append(replace(place, weights=np.where(is_possible, weight, place.weights)))
    return weighed


# ---- after the flop


def _positions_after_flop(
    strategy: StrategyFile, betting: BettingState, holdings: int, decide: Decide
) -> tuple[list[TreePosition], list[Reading]]:
    kept = _kept_positions(betting)
    start = _flop_position(strategy, betting, kept, holdings)
    tree_positions = _in_order(strategy.game, _tree_of(start).in_pot)
    roles = dict(zip(kept, tree_positions, strict=True))
    places = [start]
    read: list[Reading] = []
    for state, action in decisions(betting):
        if not state.round or state.acting_position not in roles:
            continue
        places = [_fold_absent(strategy, place, state, roles) for place in places]
        if state.acting_position == betting.acting_position and len(places) > 1:
            chances = [decide(_at_decision(place, state, roles), state).get(action) for place in places]
            places = weigh_own_action(places, chances)
        likeliest = max(places, key=lambda place: place.weights.sum())
        if action.kind is ActionKind.RAISE and _is_in_turn(likeliest, state, roles):
            totals = table_totals(strategy, likeliest, state)
            if action.hand_total not in totals:
                read.append(reading_of(action, totals, state))
        following = []
        for place in places:
            following += _step(strategy, place, state, action, roles)
        # A path that the table contradicts is dropped, unless it is the last one.
        places = [place for place in following if place.node != OFF_TREE] or following[:1]
    final = []
    for place in places:
        final.append(_at_decision(_fold_absent(strategy, place, betting, roles), betting, roles))
    return [place for place in final if place.owes_call or place.node != OFF_TREE] or final[:1], read


def _kept_positions(betting: BettingState) -> list[Position]:
    """Return the positions that are in the tree after the flop, in the order of acting.

    If more than three players see the flop, these are the player in turn, and of the others those who have not folded
    before those who have, then the latest to raise.
    """
    start = betting.round_starts[1]
    last_raises: dict[Position, int] = {}
    for number, (state, action) in enumerate(decisions(betting)):
        if action.kind is ActionKind.RAISE:
            last_raises[state.acting_position] = number

    def rank(position: Position) -> tuple[bool, bool, int]:
        is_folded = bool(betting.folded >> position & 1)
        return position != betting.acting_position, is_folded, -last_raises.get(position, -1)

    order = _in_order(betting.game, start.in_pot)
    return _in_order(betting.game, sorted(order, key=rank)[:MAX_FLOP_PLAYERS])


def _in_order(game: Game, positions: Sequence[Position]) -> list[Position]:
    """Sort positions by the order of acting after the flop."""
    return sorted(positions, key=lambda position: (position - game.first_players[1]) % game.num_players)


def _flop_position(
    strategy: StrategyFile, betting: BettingState, kept: Sequence[Position], holdings: int
) -> TreePosition:
    """Return the first position after a flop, in the subtree of the nearest entry."""
    assert strategy.entries is not None
    start = betting.round_starts[1]
    raisers = [position for position, action in betting.rounds[0] if action.kind is ActionKind.RAISE]
    flop_type = type_of_flop(betting.game, kept, raisers)
    types = strategy.entries.types
    pots, stacks = strategy.entries.chips.T
    stack = betting.game.stacks[kept[0]] - start.max_spent
    depth = np.log(stack / start.pot)
    distances = np.abs(np.log(stacks / pots) - depth)
    distances += _RAISE_DISTANCE * np.abs(types[:, 1] - flop_type.raises)
    distances += _BLIND_DISTANCE * np.abs(types[:, 2] - flop_type.blinds)
    distances += _RAISER_DISTANCE * (types[:, 3] != flop_type.raiser)
    distances[types[:, 0] != flop_type.players] = np.inf
    nearest = int(distances.argmin())
    root = int(strategy.entries.roots[nearest])
    # Logarithms of equal ratios may differ by rounding.
    is_exact = len(kept) == len(start.in_pot) and distances[nearest] < 1e-9
    return TreePosition(root, 0, np.ones(holdings), is_exact=bool(is_exact), tree=strategy.starts[root])


def _fold_absent(
    strategy: StrategyFile, place: TreePosition, state: BettingState, roles: Mapping[Position, Position]
) -> TreePosition:
    """Fold for players in turn in the tree who have folded at the table while the tree waited for others."""
    absent = {role for position, role in roles.items() if state.folded >> position & 1}
    while place.node != OFF_TREE and _tree_of(place).acting_position in absent:
        place = _after(strategy, place, FOLD)
    return place


def _is_in_turn(place: TreePosition, state: BettingState, roles: Mapping[Position, Position]) -> bool:
    tree = _tree_of(place)
    if place.node == OFF_TREE or tree.finished:
        return False
    return tree.round == state.round and tree.acting_position == roles[state.acting_position]


def _step(
    strategy: StrategyFile,
    place: TreePosition,
    state: BettingState,
    action: Action,
    roles: Mapping[Position, Position],
) -> list[TreePosition]:
    """Return the positions after an action at the table."""
    if not _is_in_turn(place, state, roles):
        # A raise was read as a call, and others pay it now. A further raise contradicts the path.
        node = OFF_TREE if action.kind is ActionKind.RAISE else place.node
        return [replace(place, node=node, is_exact=False)]
    if action.kind is not ActionKind.RAISE:
        return [_after(strategy, place, action)]
    totals = table_totals(strategy, place, state)
    following = []
    for number, chance in read_total(action.hand_total, totals, state):
        if number == NO_BET:
            after = replace(_after(strategy, place, CALL), is_exact=False)
        else:
            after = _raised(strategy, place, number)
            after = replace(after, is_exact=place.is_exact and totals[number] == action.hand_total)
        following.append(replace(after, weights=place.weights * chance))
    return following


def _at_decision(place: TreePosition, betting: BettingState, roles: Mapping[Position, Position]) -> TreePosition:
    """Return the position of the player in turn, `OFF_TREE` if it is not in turn in the tree."""
    if place.node == OFF_TREE or _is_in_turn(place, betting, roles):
        return place
    tree = _tree_of(place)
    is_ahead = tree.is_showdown or (not tree.finished and tree.round > betting.round)
    return replace(place, node=OFF_TREE, owes_call=is_ahead and betting.to_call > 0, is_exact=False)


# ---- steps in a part of the tree


def _tree_of(place: TreePosition) -> BettingState:
    assert place.tree is not None
    return place.tree


def _after(strategy: StrategyFile, place: TreePosition, action: Action) -> TreePosition:
    """Return the position after a fold or a call; a fold without a bet becomes a call."""
    node = shape(strategy, place.node)
    if action == FOLD and node.fold:
        return replace(place, node=place.node + 1, tree=_tree_of(place).after(FOLD))
    child = strategy.children_of(place.node)[node.fold]
    return replace(place, node=child, tree=_tree_of(place).after(CALL))


def _raised(strategy: StrategyFile, place: TreePosition, number: int) -> TreePosition:
    """Return the position after the raise of this index."""
    node = shape(strategy, place.node)
    index = node.fold + node.call + number
    action = strategy.actions_of(place.node)[index]
    return replace(place, node=strategy.children_of(place.node)[index], tree=_tree_of(place).after(action))
