"""What a player can do in turn, and the rules of betting: from one point of a hand to the next. No cards, no memory.

The sizes of no-limit raises are ACPC sizes: the total a player will have put in **in this hand** (``hand_total``),
not in the round and not on top of the bet. In limit games the rules fix the size and ``hand_total`` is 0.

RULES. They are those of the ACPC reference server, limit and no-limit, with its peculiarities:

- The size of a raise is a total for the hand. The smallest legal total starts at two big blinds, then grows with every
  raise and every round; a short all-in never lowers it.
- A limit raise ends at the raiser's stack, even where that is below the present bet.
- A round holds at most 64 actions: raises stop early enough for everyone to answer.
- An all-in player neither acts nor closes a round.

This is their only place. A dealer walks from point to point (`protocol.betting_nodes`); whoever looks back at a
hand takes an `engine.betting.BettingState`.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple, TypeAlias

from engine.game import MAX_ACTIONS_PER_ROUND, Game


class ActionKind(enum.IntEnum):
    """The three kinds of action: call includes check, raise includes bet."""

    FOLD = 0
    CALL = 1
    RAISE = 2


class Move(enum.IntEnum):
    """What an action amounts to, in the words of card rooms: a bet is the first raise of a round without blinds."""

    FOLD = 0
    CHECK = 1
    CALL = 2
    BET = 3
    RAISE = 4


class Action(NamedTuple):
    """One action: its kind and, for a no-limit raise, the player's total for the hand in chips."""

    kind: ActionKind
    hand_total: int = 0


FOLD = Action(ActionKind.FOLD)
CALL = Action(ActionKind.CALL)
RAISE = Action(ActionKind.RAISE)
"""The limit raise, whose size the game fixes."""


def raise_to(hand_total: int) -> Action:
    """The no-limit raise to a total for the hand, in chips."""
    return Action(ActionKind.RAISE, hand_total)


class LegalActions(NamedTuple):
    """What the rules allow the acting player; a call (or check) is always allowed.

    ``raise_min`` and ``raise_max`` are hand totals in chips. In no-limit games they bound the size; in limit games
    both are the one total that a raise makes. They are 0 when no raise is allowed.
    """

    can_fold: bool
    can_raise: bool
    raise_min: int = 0
    raise_max: int = 0


_FOLD = int(ActionKind.FOLD)
_CALL = int(ActionKind.CALL)
"""Plain numbers, compared in inner loops."""


class BettingPoint(NamedTuple):
    """The rules at one point of a hand's betting.

    Attributes:
        position: whose turn it is; -1 when the hand is over.
        round: the betting round, 0-based.
        may_raise: whether a raise, of some size, is legal.
        spent: chips each position has put in during this hand.
        max_spent: the total that a caller has to reach.
        folded: bit p is set when position p has folded.
        min_raise_to: the smallest total of a raise, where the stack allows it.
        able: bit p is set when position p can still act: it has not folded and has chips left.
        called: how many able players have called the last raise of this round, or made it.
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
"""The point that follows the acting player's action (its kind and size), or None if the rules reject it.

A fold has size 0; one of size 1 is taken where a check was possible, too, as card rooms do.
"""


@lru_cache(maxsize=64)
def betting_rules(game: Game) -> BettingRules:
    """The rules of a game, as a function."""
    is_limit = game.is_limit
    stacks = game.stacks
    players = game.num_players
    last_round = game.num_rounds - 1
    max_raises = game.max_raises
    raise_sizes = game.raise_sizes
    first_players = game.first_players
    most_actions = MAX_ACTIONS_PER_ROUND - players
    most_folded = players - 1
    big_blind = game.big_blind
    make = tuple.__new__  # BettingPoint(...) costs three times as much.

    def after(point: BettingPoint, kind: int, size: int) -> BettingPoint | None:
        position, round_, may_raise, spent, max_spent, folded, min_raise_to, able, called, raises, actions = point
        if position < 0:
            return None
        stack = stacks[position]
        old = spent[position]
        total = old
        if kind == _CALL:
            total = max_spent if max_spent < stack else stack
            called += total < stack
        elif kind == _FOLD:
            if old in (max_spent, stack) and not size:
                return None
            folded |= 1 << position
        elif not may_raise:
            return None
        else:
            if is_limit:
                total = min(max_spent + raise_sizes[round_], stack)
            elif (min_raise_to if min_raise_to < stack else stack) <= size <= stack:
                total = size
            else:
                return None
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
        is_contested = folded.bit_count() < most_folded
        if called < able_count and is_contested:
            position += 1
            while not able >> position & 1:
                position = position + 1 if position < players else 0
        elif able_count > 1 and is_contested and round_ < last_round:
            round_ += 1
            called = raises = actions = 0
            min_raise_to = max_spent + big_blind
            position = _first_able(able, first_players[round_], players)
        else:
            if able_count <= 1 and is_contested:
                round_ = last_round
            position = -1
        may_raise = (
            position >= 0
            and able_count > 1
            and raises < max_raises[round_]
            and actions <= most_actions
            and (is_limit or max_spent < stacks[position])
        )
        return make(
            BettingPoint,
            (position, round_, may_raise, spent, max_spent, folded, min_raise_to, able, called, raises, actions),
        )

    return after


def _first_able(able: int, start: int, players: int) -> int:
    start %= players
    turned = able >> start | (able & (1 << start) - 1) << players - start
    if not turned:
        return -1
    return (start + (turned & -turned).bit_length() - 1) % players


@lru_cache(maxsize=64)
def first_point(game: Game) -> BettingPoint:
    """Where every hand of the game starts: blinds posted, no player has acted.

    A hand in which the blinds put every player all-in is over at once (the reference never ends it).
    """
    able = sum(1 << p for p in range(game.num_players) if game.blinds[p] < game.stacks[p])
    position = _first_able(able, game.first_players[0], game.num_players)
    highest = max(game.blinds)
    return BettingPoint(
        position=position,
        round=0 if able else game.num_rounds - 1,
        may_raise=position >= 0
        and game.max_raises[0] > 0
        and able.bit_count() > 1
        and (game.is_limit or highest < game.stacks[position]),
        spent=game.blinds,
        max_spent=highest,
        folded=0,
        min_raise_to=max(1, 2 * highest),
        able=able,
        called=0,
        raises=0,
        actions=0,
    )
