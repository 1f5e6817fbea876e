"""How the scripted opponents play: each policy steers the hand towards one situation, whatever the bot does.

A policy is a function from a `Turn` to a legal action. No policy looks at cards.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from engine import CALL, FOLD, RAISE, Action, ActionKind, BettingState, raise_to

__all__ = [
    "Policy",
    "Turn",
    "bet_once",
    "call",
    "draw",
    "fold",
    "largest_raise",
    "raise_always",
    "short_stack_all_in",
    "shove_in_round",
    "smallest_raise",
]


class Turn(NamedTuple):
    """An opponent's turn: the betting so far, the position of the bot, and random numbers."""

    betting: BettingState
    bot_position: int
    random: random.Random


Policy: TypeAlias = Callable[[Turn], Action]


def smallest_raise(betting: BettingState) -> Action:
    """The smallest raise, or a call if no raise is legal."""
    return _raise_or_call(betting, betting.legal_actions().raise_min)


def largest_raise(betting: BettingState) -> Action:
    """The largest raise, which is all-in in a no-limit game, or a call if no raise is legal."""
    return _raise_or_call(betting, betting.legal_actions().raise_max)


def _raise_or_call(betting: BettingState, size: int) -> Action:
    if not betting.legal_actions().can_raise:
        return CALL
    return RAISE if betting.game.is_limit else raise_to(size)


def call(turn: Turn) -> Action:
    """Check and call: the hand goes through all rounds to the showdown."""
    return CALL


def fold(turn: Turn) -> Action:
    """Fold as soon as that is legal: the hand ends early, perhaps before the bot has acted."""
    return FOLD if turn.betting.legal_actions().can_fold else CALL


def bet_once(turn: Turn) -> Action:
    """Make the first bet of every round, a minimum bet, and call the bets of others."""
    is_first = all(action.kind is not ActionKind.RAISE for _, action in turn.betting.rounds[-1])
    return smallest_raise(turn.betting) if is_first else CALL


def raise_always(turn: Turn) -> Action:
    """Make a minimum raise whenever it is legal: up to the cap, or to the longest chain the protocol carries."""
    return smallest_raise(turn.betting)


def shove_in_round(round_: int) -> Policy:
    """Check and call before this round, 0-based, then make the largest raise."""

    def shove(turn: Turn) -> Action:
        return largest_raise(turn.betting) if turn.betting.round >= round_ else CALL

    return shove


def short_stack_all_in(turn: Turn) -> Action:
    """The opponent with the fewest chips goes all-in; the others call and bet on in later rounds."""
    betting = turn.betting
    stacks = betting.game.stacks
    shortest = min(
        (position for position in range(len(stacks)) if position != turn.bot_position),
        key=lambda position: stacks[position],
    )
    if betting.acting_position == shortest:
        return largest_raise(betting)
    return CALL if betting.is_able(shortest) or betting.round == 0 else bet_once(turn)


def draw(turn: Turn) -> Action:
    """Draw an action, folds seldom, and its size among all legal ones; the bounds are drawn often."""
    legal = turn.betting.legal_actions()
    number = turn.random.random()
    if legal.can_fold and number < 0.08:
        return FOLD
    if not legal.can_raise or number < 0.6:
        return CALL
    if turn.betting.game.is_limit:
        return RAISE
    least, most = legal.raise_min, legal.raise_max
    # Mostly small: sizes drawn uniformly would end most hands in their first round.
    largest = most if number > 0.97 else min(most, least + 3 * turn.betting.pot)
    return raise_to(turn.random.choice((least, turn.random.randint(least, largest), largest)))
