"""The betting of one hand: who acts, what is allowed, what follows. No cards.

A state is a point (`engine.betting_rules`, which has the rules) with the actions that led there.

A `BettingState` never changes; `after(action)` gives the state that follows. The states of a game form a tree that
all hands of all matches walk again and again, so each state remembers the states after it: a walked path costs one
dictionary look-up per action. The memory is bounded: when a game's tree has grown to `MAX_REMEMBERED` states it is
forgotten and grows again. No result depends on it: states are equal by their game and their actions, and states in use
stay valid.

`betting_steps` describes a betting as card rooms do, action by action: the sizes of the ACPC are totals for the hand,
and a `Step` adds what follows from the rules.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import chain
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
"""States one game's tree may hold: some 30 MB."""
_OPEN_FOLD = Action(ActionKind.FOLD, 1)
"""A fold where a check is possible, for the rules."""
RoundActions: TypeAlias = tuple[tuple[Position, Action], ...]


class _Tree:
    """What the states of one game share: the game, and which states remember others."""

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
    """One point of a hand's betting, as every player at the table sees it. Treat as frozen.

    Attributes:
        round: the betting round, 0-based.
        acting_position: whose turn it is; -1 when the hand is over.
        spent: chips each position has put in during this hand.
        max_spent: the total that a caller has to reach.
        folded: bit p is set when position p has folded.
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
        """Only `betting_start` and `after` make states."""
        self._tree = tree
        self._point = point
        # A third of all states end the hand and have none: the tree is the larger part of a dealer's memory.
        self._children: dict[Action, BettingState] | None = None
        self._parent: BettingState | None = None
        self._action: Action | None = None
        self._run: tuple[tuple[Action, ...], bytes, int] | None = None
        """What `after_many` played from the parent, in place of an action: the actions, their positions, and of each
        whether a raise was legal in its place, as a bit."""
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
        """The actions so far, round by round, each with the position that acted.

        Rounds that were skipped because everyone was all-in are empty.
        """
        if self._rounds is not None:
            return self._rounds
        rounds: list[RoundActions] = [()] * (self.round + 1)
        state = self
        is_kept = True
        while (parent := state._parent) is not None:
            played: RoundActions = ()
            if state._action is not None:
                played = ((parent.acting_position, state._action),)
            elif state._run is not None:
                actions, positions, _ = state._run
                played = tuple(zip(cast("Sequence[Position]", positions), actions, strict=True))
                is_kept = False
            rounds[parent.round] = played + rounds[parent.round]
            state = parent
        found = tuple(rounds)
        if is_kept:
            # Only where hands share the state; else it would cost more memory than all the rest.
            self._rounds = found
        return found

    def raise_chances(self, round_: int) -> list[bool]:
        """For each action of a round, whether its player might have raised there."""
        chances: list[bool] = []
        state = self
        while (parent := state._parent) is not None:
            if parent.round == round_:
                if state._run is None:
                    chances.append(parent.raise_refusal() is None)
                else:
                    actions, _, mask = state._run
                    chances += [bool(mask >> i & 1) for i in reversed(range(len(actions)))]
            state = parent
        chances.reverse()
        return chances

    @property
    def pot(self) -> int:
        """Chips put in by all players, blinds included."""
        return sum(self.spent)

    @property
    def spent_before_round(self) -> tuple[int, ...]:
        """Chips each position had put in before the present round began; blinds belong to the first round."""
        state = self
        while (parent := state._parent) is not None and parent.round == self.round:
            state = parent
        if self.round:
            return state.spent
        return (0,) * len(self.spent)

    @property
    def round_starts(self) -> list[BettingState]:
        """A state for each round so far, with the chips put in and the folds as they were when its cards came."""
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
        """Positions that have not folded, in order."""
        folded = self.folded
        return tuple([p for p in POSITIONS[: len(self.spent)] if not folded >> p & 1])

    @property
    def is_showdown(self) -> bool:
        """Whether the hand is over with at least two players in the pot: their cards decide."""
        return self.finished and self.folded.bit_count() + 1 < self.game.num_players

    @property
    def to_call(self) -> int:
        """Chips the acting player must add to stay in, at most the chips left; 0 when the hand is over."""
        if self.finished:
            return 0
        position = self.acting_position
        return max(0, min(self.max_spent, self.game.stacks[position]) - self.spent[position])

    def is_able(self, position: int) -> bool:
        """Whether the position can still act in this hand: not folded, and chips left."""
        return bool(self._point.able >> position & 1)

    def legal_actions(self) -> LegalActions:
        """What the acting player may do.

        Raises:
            IllegalAction: the hand is over (`Rule.HAND_OVER`).
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
        """The rule that forbids the acting player any raise, or None when a raise is legal."""
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
        """Do nothing if the action is legal.

        Raises:
            IllegalAction: it is not; its `rule` names the rule.
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
            raise self._refused(action)

    def _refused(self, action: Action) -> IllegalAction:
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
        """The state that follows the acting player's action; a meaningless size is dropped.

        Raises:
            IllegalAction: the rules reject the action.
            TypeError: the size of a raise is not a whole number.
        """
        children = self._children
        child = None if children is None else children.get(action)
        if child is None:
            is_sized = action.kind == ActionKind.RAISE and not self.game.is_limit
            plain = Action(ActionKind(action.kind), index(action.hand_total) if is_sized else 0)
            if plain != action:
                return self.after(plain)
            child = self._play((plain,))
            if child is None:
                raise self._refused(plain)
            child._action, child._run = plain, None
            self._remember(plain, child)
        return child

    def after_played(self, action: Action) -> BettingState:
        """The state that follows an action of a hand that was played elsewhere.

        That is `after`, which also takes a fold where a check was possible: card rooms do.

        Raises:
            IllegalAction: the rules reject the action.
        """
        if action != FOLD or self._can_fold() or self.finished:
            return self.after(action)
        child = self._play((_OPEN_FOLD,))
        assert child is not None
        child._action, child._run = FOLD, None
        return child

    def after_if_legal(self, action: Action) -> BettingState | None:
        """The state that follows an action, or None if the rules reject it."""
        children = self._children
        child = None if children is None else children.get(action)
        if child is not None:
            return child
        try:
            return self.after(action)
        except IllegalAction:
            return None

    def after_many(self, actions: Sequence[Action]) -> BettingState | None:
        """The state that follows several actions of one round, or None if the rules reject one of them.

        For readers: the states between are not made and nothing is remembered, so betting that hardly ever
        recurs (six players, any size of raise) costs a fraction of what `after` takes for it, and no memory.

        Args:
            actions: as they are written, with a size where it means something and only there.
        """
        if actions:
            return self._play(actions)
        return self

    def _play(self, actions: Sequence[Action]) -> BettingState | None:
        point = self._point
        after = self._tree.after
        round_ = self.round
        positions = bytearray()
        chances = 0
        for number, (kind, size) in enumerate(actions):
            if point.round != round_ or point.position < 0:
                return None
            positions.append(point.position)
            if point.may_raise:
                chances |= 1 << number
            following = after(point, kind, size)
            if following is None:
                return None
            point = following
        end = BettingState(self._tree, point)
        end._parent, end._run = self, (tuple(actions), bytes(positions), chances)
        return end

    def _remember(self, action: Action, child: BettingState) -> None:
        # Threads may share a tree: one that forgets meanwhile costs another at most what it has just remembered.
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
        """Whether both are the same actions of the same game, wherever they were built."""
        if self is other:
            return True
        if not isinstance(other, BettingState):
            return NotImplemented
        return (
            self.spent == other.spent
            and self.folded == other.folded
            and self.rounds == other.rounds
            and self.game == other.game
        )

    def __hash__(self) -> int:
        """Computed when it is first asked for: states are keys on hot paths, but most never are."""
        if self._hash is None:
            self._hash = hash((self.game, self.rounds))
        return self._hash

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the actions, which the receiver replays: the tree around a state is too much to send."""
        return _play_anew, (self.game, [action for actions in self.rounds for _, action in actions])

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
    """The state in which every hand of the game starts; see `first_point`."""
    return BettingState(_Tree(game), first_point(game))


def _play_anew(game: Game, actions: Sequence[Action]) -> BettingState:
    betting = betting_start(game)
    for action in actions:
        betting = betting.after_played(action)
    return betting


def nearest_legal(action: Action, betting: BettingState) -> Action:
    """The action itself where it is legal, else the legal one nearest in meaning.

    - A fold where there is no bet to fold to becomes a check.
    - A raise where none is allowed becomes a call (or check).
    - A raise of a size outside the bounds moves to the nearest bound. A raise without a size is the smallest one, and
      in a limit game any raise is the one the game fixes.

    The reference dealer corrects actions the same way.

    Raises:
        IllegalAction: the hand is over, nothing is legal.
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
    """One action of a betting, in the words of card rooms and trackers.

    Attributes:
        number: how many actions came before it in the hand.
        round: the betting round, 0-based.
        action: the action, its size a total for the hand.
        added: chips it put in.
        street_total: the player's chips in this round after it, blinds included.
        to_call: chips that a call would have added; 0 where a call is a check.
        raised_by: chips by which it raised the bet; 0 for other actions, 0 or less for the limit raise of a stack that
            does not exceed the bet.
        is_all_in: whether it put in the player's last chips.
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
        """The state in which the action was taken."""
        state = betting_start(self.betting.game)
        for _, action in list(chain.from_iterable(self.betting.rounds))[: self.number]:
            state = state.after_played(action)
        return state


def betting_steps(betting: BettingState) -> list[Step]:
    """The actions of a betting, in order."""
    game = betting.game
    stacks = game.stacks
    is_limit = game.is_limit
    spent = list(game.blinds)
    before_round = [0] * len(spent)
    highest = max(spent)
    is_bet = highest > 0
    fold, check, call, bet, raised = _MOVES
    make = tuple.__new__
    found: list[Step] = []
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
                total = min(highest + game.raise_sizes[round_], stack) if is_limit else hand_total
                raised_by = total - highest
                highest = total
                move = raised if is_bet else bet
                is_bet = True
            spent[position] = total
            added = total - old
            street_total = total - before_round[position]
            facts = betting, len(found), round_, position, action, move, added, street_total, to_call, raised_by
            found.append(make(Step, (*facts, stack == total > old)))
    return found
