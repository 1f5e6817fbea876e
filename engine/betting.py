"""Betting of one hand as an immutable state, without cards.

A `BettingState` is a point of `engine.betting_rules` together with the actions that led to it. `BettingState.after`
returns the state after an action. Each state remembers the states that follow, so a sequence of actions that was played
before costs one dictionary look-up per action.

`betting_steps` lists the actions of a hand with the amounts that card rooms state.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import chain, islice
from operator import index
from typing import NamedTuple, TypeAlias, cast

from engine.betting_rules import (
    CALL,
    FOLD,
    RAISE,
    Action,
    ActionKind,
    BettingPoint,
    LegalActions,
    Move,
    betting_rules,
    first_point,
    raise_to,
)
from engine.errors import IllegalAction, Rule
from engine.game import MAX_ACTIONS_PER_ROUND, POSITIONS, Game, Position

MAX_REMEMBERED = 1 << 15
"""Number of states remembered for one game, about 30 MB. The next one makes the game forget them all."""

# Size 1 makes the rules accept a fold where a check is possible.
_OPEN_FOLD = Action(ActionKind.FOLD, 1)

RoundActions: TypeAlias = tuple[tuple[Position, Action], ...]


class _Tree:
    """Rules of a game and its remembered states."""

    __slots__ = ("after", "game", "parents", "remembered")

    def __init__(self, game: Game) -> None:
        self.game = game
        self.after = betting_rules(game)
        self.remembered = 0
        self.parents: list[BettingState] = []

    def forget(self) -> None:
        for parent in self.parents:
            parent._children = None
        self.parents.clear()
        self.remembered = 0


class BettingState:
    """One point of a hand's betting and the actions before it. Treat as frozen.

    States are equal if their games and actions are, wherever they were created.

    Attributes:
        round: 0-based betting round.
        acting_position: position of the player to act, -1 if the hand is over.
        finished: the hand is over.
        spent: chips put in during this hand, by position.
        max_spent: total that a caller has to reach, in chips.
        folded: positions that have folded, as a set of bits.
    """

    __slots__ = (
        "_action",
        "_children",
        "_hash",
        "_legal",
        "_parent",
        "_point",
        "_rounds",
        "_run",
        "_tree",
        "acting_position",
        "finished",
        "folded",
        "max_spent",
        "round",
        "spent",
    )

    def __init__(self, tree: _Tree, point: BettingPoint) -> None:
        """Create a state without a parent. For use by `betting_start` and `after`."""
        self._tree = tree
        self._point = point
        # No dictionary before there is a child: a third of all states end the hand, and the states are the larger part
        # of a dealer's memory.
        self._children: dict[Action, BettingState] | None = None
        self._parent: BettingState | None = None
        # A state has been reached from its parent by one action or, in `after_many`, by several: the actions, their
        # positions, and a bit for each that is set if a raise was legal there.
        self._action: Action | None = None
        self._run: tuple[tuple[Action, ...], bytes, int] | None = None
        self._rounds: tuple[RoundActions, ...] | None = None
        self._legal: LegalActions | None = None
        self._hash: int | None = None
        self.acting_position = Position(point.position)
        self.round = point.round
        self.spent = point.spent
        self.max_spent = point.max_spent
        self.folded = point.folded
        self.finished = point.position < 0

    @property
    def game(self) -> Game:
        return self._tree.game

    @property
    def rounds(self) -> tuple[RoundActions, ...]:
        """Actions of each round, with their positions.

        Rounds without betting, because the players were all-in, are empty.
        """
        if self._rounds is not None:
            return self._rounds
        rounds: list[RoundActions] = [()] * (self.round + 1)
        state = self
        is_shared = True
        while (parent := state._parent) is not None:
            played: RoundActions = ()
            if state._action is not None:
                played = ((parent.acting_position, state._action),)
            elif state._run is not None:
                actions, positions, _ = state._run
                played = tuple(zip(cast("Sequence[Position]", positions), actions, strict=True))
                is_shared = False
            rounds[parent.round] = played + rounds[parent.round]
            state = parent
        all_rounds = tuple(rounds)
        if is_shared:
            # Remembered only in states that many hands share. In the states of `after_many`, which belong to one hand,
            # it would cost more memory than everything else.
            self._rounds = all_rounds
        return all_rounds

    def raise_chances(self, round_: int) -> list[bool]:
        """Return, for each action of a round, whether a raise was legal in its place."""
        chances: list[bool] = []
        state = self
        while (parent := state._parent) is not None:
            if parent.round == round_:
                if state._run is None:
                    chances.append(parent.raise_refusal() is None)
                else:
                    # Collected from the end, so the bits of a run are read from the last one.
                    actions, _, could_raise = state._run
                    chances += [bool(could_raise >> i & 1) for i in reversed(range(len(actions)))]
            state = parent
        chances.reverse()
        return chances

    @property
    def pot(self) -> int:
        """Chips put in by all players, with the blinds."""
        return sum(self.spent)

    @property
    def spent_before_round(self) -> tuple[int, ...]:
        """Chips put in before the current round, by position. The blinds belong to the first round."""
        state = self
        while (parent := state._parent) is not None and parent.round == self.round:
            state = parent
        if self.round:
            return state.spent
        return (0,) * len(self.spent)

    @property
    def round_starts(self) -> list[BettingState]:
        """State at the beginning of each round so far. Rounds without betting begin with the state before them."""
        starts: list[BettingState] = [self] * (self.round + 1)
        state = self
        while (parent := state._parent) is not None:
            if parent.round < state.round:
                starts[parent.round + 1 : state.round + 1] = [state] * (state.round - parent.round)
            state = parent
        starts[0] = state
        return starts

    @property
    def in_pot(self) -> tuple[Position, ...]:
        """Positions that have not folded, ascending."""
        folded = self.folded
        return tuple([p for p in POSITIONS[: len(self.spent)] if not folded >> p & 1])

    @property
    def is_showdown(self) -> bool:
        """The hand is over, and at least two players have not folded."""
        return self.finished and self.folded.bit_count() + 1 < self.game.num_players

    @property
    def to_call(self) -> int:
        """Chips that a call adds, at most those the player has left; 0 if the hand is over."""
        if self.finished:
            return 0
        position = self.acting_position
        return max(0, min(self.max_spent, self.game.stacks[position]) - self.spent[position])

    def is_able(self, position: int) -> bool:
        """Return whether the position has not folded and has chips left."""
        return bool(self._point.able >> position & 1)

    def legal_actions(self) -> LegalActions:
        """Return the actions that are legal for the acting player.

        Raises:
            IllegalAction: the hand is over.
        """
        if self._legal is None:
            if self.finished:
                raise IllegalAction(Rule.HAND_OVER)
            if self.raise_refusal() is not None:
                self._legal = LegalActions(self._can_fold(), False)
            else:
                low, high = self._raise_bounds()
                self._legal = LegalActions(self._can_fold(), True, low, high)
        return self._legal

    def raise_refusal(self) -> Rule | None:
        """Return the rule that forbids any raise, or None if a raise is legal."""
        if self.finished:
            return Rule.HAND_OVER
        game = self.game
        point = self._point
        if point.may_raise:
            return None
        if point.raises >= game.max_raises[self.round]:
            return Rule.RAISE_CAP
        if point.actions + game.num_players > MAX_ACTIONS_PER_ROUND:
            return Rule.ACTION_LIMIT
        if point.able.bit_count() <= 1:
            return Rule.NOBODY_TO_RAISE
        return Rule.STACK_TOO_SMALL

    def check(self, action: Action) -> None:
        """Check that an action is legal.

        Raises:
            IllegalAction: the rules reject the action.
        """
        legal = self.legal_actions()
        if action.kind == ActionKind.FOLD:
            is_legal = legal.can_fold
        elif action.kind == ActionKind.RAISE:
            is_legal = legal.can_raise and (
                self.game.is_limit or legal.raise_min <= action.hand_total <= legal.raise_max
            )
        else:
            is_legal = True
        if not is_legal:
            raise self._refusal(action)

    def _refusal(self, action: Action) -> IllegalAction:
        if self.finished:
            return IllegalAction(Rule.HAND_OVER)
        if action.kind == ActionKind.FOLD:
            return IllegalAction(Rule.NOTHING_TO_FOLD_TO)
        rule = self.raise_refusal()
        if rule is not None:
            return IllegalAction(rule)
        low, high = self._raise_bounds()
        if action.hand_total < low:
            return IllegalAction(Rule.BELOW_MINIMUM, f"{action.hand_total}, at least {low}")
        return IllegalAction(Rule.ABOVE_MAXIMUM, f"{action.hand_total}, at most {high}")

    def after(self, action: Action) -> BettingState:
        """Return the state after an action. A size that means nothing is ignored.

        Raises:
            IllegalAction: the rules reject the action.
            TypeError: the size of a raise is not a whole number.
        """
        children = self._children
        child = None if children is None else children.get(action)
        if child is not None:
            return child
        # Remember the action in one form, so that calls with any size lead to the same state.
        hand_total = 0
        if action.kind == ActionKind.RAISE and not self.game.is_limit:
            hand_total = index(action.hand_total)
        plain = Action(ActionKind(action.kind), hand_total)
        if plain != action:
            return self.after(plain)
        child = self._play_one(plain, plain)
        if child is None:
            raise self._refusal(plain)
        self._remember(plain, child)
        return child

    def after_played(self, action: Action) -> BettingState:
        """Return the state after an action of a card room, where a player may fold even if a check is possible.

        Raises:
            IllegalAction: the rules reject the action.
        """
        if action != FOLD or self._can_fold() or self.finished:
            return self.after(action)
        child = self._play_one(_OPEN_FOLD, FOLD)
        assert child is not None
        return child

    def after_if_legal(self, action: Action) -> BettingState | None:
        """Return the state after an action, or None if the rules reject it."""
        children = self._children
        child = None if children is None else children.get(action)
        if child is not None:
            return child
        try:
            return self.after(action)
        except IllegalAction:
            return None

    def after_many(self, actions: Sequence[Action]) -> BettingState | None:
        """Return the state after several actions of one round, or None if the rules reject one of them.

        For readers of logs. No state between is created and none is remembered, so betting that hardly recurs (six
        players, raises of any size) costs a fraction of the time of `after` and no memory.

        Args:
            actions: must have the size 0 wherever a size means nothing.
        """
        if actions:
            return self._play(actions)
        return self

    def _play_one(self, action: Action, recorded: Action) -> BettingState | None:
        child = self._play((action,))
        if child is not None:
            child._action = recorded
            child._run = None
        return child

    def _play(self, actions: Sequence[Action]) -> BettingState | None:
        point = self._point
        after = self._tree.after
        round_ = self.round
        positions = bytearray()
        could_raise = 0
        for number, (kind, size) in enumerate(actions):
            if point.round != round_ or point.position < 0:
                return None
            positions.append(point.position)
            if point.may_raise:
                could_raise |= 1 << number
            next_point = after(point, kind, size)
            if next_point is None:
                return None
            point = next_point
        end = BettingState(self._tree, point)
        end._parent = self
        end._run = (tuple(actions), bytes(positions), could_raise)
        return end

    def _remember(self, action: Action, child: BettingState) -> None:
        # Threads share the tree without a lock. When one forgets, another loses at most the state of this call.
        tree = self._tree
        if tree.remembered >= MAX_REMEMBERED:
            tree.forget()
        if not MAX_REMEMBERED:
            return
        children = self._children
        if children is None:
            children = self._children = {}
            tree.parents.append(self)
        tree.remembered += 1
        children[action] = child

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, BettingState):
            return NotImplemented
        # The cheap comparisons first.
        return (
            self.spent == other.spent
            and self.folded == other.folded
            and self.rounds == other.rounds
            and self.game == other.game
        )

    def __hash__(self) -> int:
        # Computed on first use: states are keys in hot paths, but most are never hashed.
        if self._hash is None:
            self._hash = hash((self.game, self.rounds))
        return self._hash

    def __reduce__(self) -> tuple[object, ...]:
        # Pickle the actions, which the receiver replays. The tree that a state is part of would be too large.
        return _replay, (self.game, [action for actions in self.rounds for _, action in actions])

    def _can_fold(self) -> bool:
        position = self.acting_position
        spent = self.spent[position]
        return spent != self.max_spent and spent != self.game.stacks[position]

    def _raise_bounds(self) -> tuple[int, int]:
        game = self.game
        stack = game.stacks[self.acting_position]
        if game.is_limit:
            total = min(self.max_spent + game.raise_sizes[self.round], stack)
            return total, total
        return min(self._point.min_raise_to, stack), stack


@lru_cache(maxsize=64)
def betting_start(game: Game) -> BettingState:
    """Return the state in which every hand of the game starts, after the blinds."""
    return BettingState(_Tree(game), first_point(game))


def _replay(game: Game, actions: Sequence[Action]) -> BettingState:
    betting = betting_start(game)
    for action in actions:
        betting = betting.after_played(action)
    return betting


def nearest_legal(action: Action, betting: BettingState) -> Action:
    """Correct an illegal action as the reference dealer does, and return a legal one unchanged.

    - A fold without a bet to fold to becomes a check.
    - A raise that is not allowed becomes a call or check.
    - A raise outside the bounds becomes the nearest bound. A raise without a size becomes the smallest one, and in a
      limit game any raise is the one that the game fixes.

    Raises:
        IllegalAction: the hand is over.
    """
    legal = betting.legal_actions()
    if action.kind == ActionKind.FOLD:
        if legal.can_fold:
            return FOLD
        return CALL
    if action.kind == ActionKind.CALL or not legal.can_raise:
        return CALL
    if betting.game.is_limit:
        return RAISE
    return raise_to(max(legal.raise_min, min(legal.raise_max, action.hand_total)))


_FOLD = int(ActionKind.FOLD)
_CALL = int(ActionKind.CALL)
_MOVES = tuple(Move)


class Step(NamedTuple):
    """One action of a hand with the amounts that card rooms and trackers state, all in chips.

    Attributes:
        betting: the whole betting that the action is part of.
        number: 0-based number of the action in the hand.
        round: 0-based betting round.
        action: the action, with the total for the hand as its size.
        added: chips put in by this action.
        street_total: chips of the player in this round after the action, with the blinds.
        to_call: chips that a call would have added; 0 if a check was possible.
        raised_by: increase of the bet; 0 for other actions, and 0 or less for a limit raise by a stack that does not
            exceed the bet.
        is_all_in: the action put in the player's last chips.
    """

    betting: BettingState
    number: int
    round: int
    position: Position
    action: Action
    move: Move
    added: int
    street_total: int
    to_call: int
    raised_by: int
    is_all_in: bool

    @property
    def before(self) -> BettingState:
        """State in which the player chose the action."""
        state = betting_start(self.betting.game)
        actions = chain.from_iterable(self.betting.rounds)
        for _, action in islice(actions, self.number):
            state = state.after_played(action)
        return state


def betting_steps(betting: BettingState) -> list[Step]:
    """Return the actions of a hand with their amounts, in order."""
    # The amounts follow from the actions alone. Replaying states would take several times as long, and statistics do
    # this for every hand.
    game = betting.game
    stacks = game.stacks
    is_limit = game.is_limit
    spent = list(game.blinds)
    before_round = [0] * len(spent)
    highest = max(spent)
    is_bet = highest > 0
    # Local names are faster than members of the enum.
    fold, check, call, bet, raise_ = _MOVES
    make = tuple.__new__
    steps: list[Step] = []
    for round_, actions in enumerate(betting.rounds):
        if round_:
            before_round = spent.copy()
            is_bet = False
        for position, action in actions:
            kind, hand_total = action
            stack = stacks[position]
            old = spent[position]
            owed = highest if highest < stack else stack
            to_call = owed - old if owed > old else 0
            raised_by = 0
            if kind == _CALL:
                total = owed
                move = call if to_call else check
            elif kind == _FOLD:
                total = old
                move = fold
            else:
                if is_limit:
                    total = min(highest + game.raise_sizes[round_], stack)
                else:
                    total = hand_total
                raised_by = total - highest
                highest = total
                move = raise_ if is_bet else bet
                is_bet = True
            spent[position] = total
            step: Step = make(
                Step,
                (
                    betting,
                    len(steps),
                    round_,
                    position,
                    action,
                    move,
                    total - old,
                    total - before_round[position],
                    to_call,
                    raised_by,
                    stack == total > old,
                ),
            )
            steps.append(step)
    return steps
