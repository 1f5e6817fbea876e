"""Actions and the rules of betting, those of the ACPC reference dealer.

The rules are a function from one `BettingPoint` to the next, without cards and without memory. `protocol.betting_nodes`
follows them for the dealer, and `engine.betting.BettingState` adds the actions that led to a point.

Sizes of no-limit raises are totals of the player for the whole hand (``hand_total``), not for the round and not on top
of the bet. In limit games the game fixes the size, and ``hand_total`` is 0.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple, TypeAlias

from engine.game import MAX_ACTIONS_PER_ROUND, Game


class ActionKind(enum.IntEnum):
    """Kind of an action. A call includes the check, a raise the bet."""

    FOLD = 0
    CALL = 1
    RAISE = 2


class Move(enum.IntEnum):
    """Kind of an action as card rooms name it. The first raise of a round is a bet, unless blinds were posted in it."""

    FOLD = 0
    CHECK = 1
    CALL = 2
    BET = 3
    RAISE = 4


class Action(NamedTuple):
    """One action.

    Attributes:
        hand_total: chips of the player for the hand after a no-limit raise; 0 for any other action.
    """

    kind: ActionKind
    hand_total: int = 0


FOLD = Action(ActionKind.FOLD)
CALL = Action(ActionKind.CALL)
RAISE = Action(ActionKind.RAISE)
"""Raise of a limit game."""


def raise_to(hand_total: int) -> Action:
    """Return the no-limit raise to a total for the hand, in chips."""
    return Action(ActionKind.RAISE, hand_total)


class LegalActions(NamedTuple):
    """Actions that the rules allow the acting player. A call or check is always allowed.

    Attributes:
        raise_min: smallest hand total of a raise, in chips; 0 if no raise is allowed.
        raise_max: largest one. In limit games it equals `raise_min`, the total that a raise makes.
    """

    can_fold: bool
    can_raise: bool
    raise_min: int = 0
    raise_max: int = 0


# Plain integers: comparing members of the enum takes longer, and `after` runs for every action.
_FOLD = int(ActionKind.FOLD)
_CALL = int(ActionKind.CALL)


class BettingPoint(NamedTuple):
    """One point of a hand's betting, with all that the rules need to continue.

    Attributes:
        position: position of the player to act, -1 if the hand is over.
        round: 0-based betting round.
        may_raise: a raise of some size is legal.
        spent: chips put in during this hand, by position.
        max_spent: total that a caller has to reach, in chips.
        folded: positions that have folded, as a set of bits.
        min_raise_to: smallest total of a raise, in chips, unless the stack is smaller.
        able: positions that can still act, as a set of bits: not folded, and chips left.
        called: number of able players who have made or called the last raise of this round.
        raises: number of raises in this round.
        actions: number of actions in this round.
    """

    position: int
    round: int
    may_raise: bool
    spent: tuple[int, ...]
    max_spent: int
    folded: int
    min_raise_to: int
    able: int
    called: int
    raises: int
    actions: int


BettingRules: TypeAlias = Callable[[BettingPoint, int, int], BettingPoint | None]
"""Function from a point, the kind and the size of an action to the next point; None if the action is illegal.

The size of a fold is 0. Size 1 makes a fold legal even where a check is possible, as in card rooms.
"""


@lru_cache(maxsize=64)
def betting_rules(game: Game) -> BettingRules:
    """Return the rules of a game, with its numbers bound as local variables for speed."""
    is_limit = game.is_limit
    stacks = game.stacks
    players = game.num_players
    last_round = game.num_rounds - 1
    max_raises = game.max_raises
    raise_sizes = game.raise_sizes
    first_players = game.first_players
    # Raises stop early enough for every player to answer the last one.
    max_actions = MAX_ACTIONS_PER_ROUND - players
    all_but_one = players - 1
    big_blind = game.big_blind
    # BettingPoint(...) would cost three times as much.
    make = tuple.__new__

    def after(point: BettingPoint, kind: int, size: int) -> BettingPoint | None:
        position, round_, may_raise, spent, max_spent, folded, min_raise_to, able, called, raises, actions = point
        if position < 0:
            return None
        stack = stacks[position]
        old = spent[position]
        total = old
        if kind == _CALL:
            total = max_spent if max_spent < stack else stack
            # A player who is all-in is no longer able, so it does not count as a caller.
            called += total < stack
        elif kind == _FOLD:
            # The reference rejects a fold where there is nothing to call.
            if old in (max_spent, stack) and not size:
                return None
            folded |= 1 << position
        elif not may_raise:
            return None
        else:
            if is_limit:
                # The raise ends at the raiser's stack, and can lower the bet if that is smaller. So does the reference.
                total = min(max_spent + raise_sizes[round_], stack)
            elif (min_raise_to if min_raise_to < stack else stack) <= size <= stack:
                total = size
            else:
                return None
            # The next raise must be at least as large as this one. A short all-in does not lower the minimum.
            if min_raise_to < 2 * total - max_spent:
                min_raise_to = 2 * total - max_spent
            max_spent = total
            raises += 1
            called = 1 if total < stack else 0
        if total != old:
            spent = (*spent[:position], total, *spent[position + 1 :])
        if kind == _FOLD or total >= stack:
            able &= ~(1 << position)
        actions += 1
        able_count = able.bit_count()
        is_contested = folded.bit_count() < all_but_one
        if called < able_count and is_contested:
            # The bet has not been answered by everyone: find the next able player.
            position += 1
            # The bit after the last player is never set, so the search continues at 0.
            while not able >> position & 1:
                position = position + 1 if position < players else 0
        elif able_count > 1 and is_contested and round_ < last_round:
            # The next round begins. Its smallest bet is a big blind.
            round_ += 1
            called = raises = actions = 0
            min_raise_to = max_spent + big_blind
            position = _first_able(able, first_players[round_], players)
        else:
            # The hand is over. If the players are all-in, the whole board is dealt.
            if able_count <= 1 and is_contested:
                round_ = last_round
            position = -1
        may_raise = (
            position >= 0
            and able_count > 1
            and raises < max_raises[round_]
            and actions <= max_actions
            and (is_limit or max_spent < stacks[position])
        )
        return make(
            BettingPoint,
            (position, round_, may_raise, spent, max_spent, folded, min_raise_to, able, called, raises, actions),
        )

    return after


def _first_able(able: int, start: int, num_players: int) -> int:
    """Return the first able position from `start` on, or -1."""
    for offset in range(num_players):
        position = (start + offset) % num_players
        if able >> position & 1:
            return position
    return -1


@lru_cache(maxsize=64)
def first_point(game: Game) -> BettingPoint:
    """Return the point in which every hand of the game starts, after the blinds."""
    able = 0
    for position in range(game.num_players):
        if game.blinds[position] < game.stacks[position]:
            able |= 1 << position
    # If the blinds put every player all-in, the hand is over at once. The reference would never end it.
    position = _first_able(able, game.first_players[0], game.num_players)
    round_ = 0 if able else game.num_rounds - 1
    max_blind = max(game.blinds)
    may_raise = (
        position >= 0
        and game.max_raises[0] > 0
        and able.bit_count() > 1
        and (game.is_limit or max_blind < game.stacks[position])
    )
    return BettingPoint(
        position=position,
        round=round_,
        may_raise=may_raise,
        spent=game.blinds,
        max_spent=max_blind,
        folded=0,
        min_raise_to=max(1, 2 * max_blind),
        able=able,
        called=0,
        raises=0,
        actions=0,
    )
