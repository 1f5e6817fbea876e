"""The walk over a betting: each action as card rooms and trackers describe it.

The sizes of the ACPC are totals for the hand. A `Step` adds what follows from the rules: the chips an action put in,
the player's total for the street, whether it was a check or a call, a bet or a raise.
"""

from __future__ import annotations

from itertools import chain
from typing import NamedTuple

from engine.actions import Action, ActionKind, Move
from engine.betting import BettingState, betting_start
from engine.game import Position

__all__ = ["Step", "betting_steps"]

_FOLD, _CALL = int(ActionKind.FOLD), int(ActionKind.CALL)
_MOVES = tuple(Move)


class Step(NamedTuple):
    """One action of a betting, in the words of card rooms and trackers.

    Attributes:
        betting: the betting it belongs to.
        number: how many actions came before it in the hand.
        round: the betting round, 0-based.
        position: the player who acted.
        action: the action, its size a total for the hand.
        move: what the action amounted to.
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
    stacks, is_limit = game.stacks, game.is_limit
    spent = list(game.blinds)
    before_round = [0] * len(spent)
    highest = max(spent)
    is_bet = highest > 0
    fold, check, call, bet, raised = _MOVES
    make = tuple.__new__
    found: list[Step] = []
    for round_, actions in enumerate(betting.rounds):
        if round_:
            before_round, is_bet = spent.copy(), False
        for position, action in actions:
            kind, hand_total = action
            stack, old = stacks[position], spent[position]
            owed = highest if highest < stack else stack
            to_call = owed - old if owed > old else 0
            raised_by = 0
            if kind == _CALL:
                total, move = owed, call if to_call else check
            elif kind == _FOLD:
                total, move = old, fold
            else:
                total = min(highest + game.raise_sizes[round_], stack) if is_limit else hand_total
                raised_by, highest = total - highest, total
                move = raised if is_bet else bet
                is_bet = True
            spent[position] = total
            added, street_total = total - old, total - before_round[position]
            facts = betting, len(found), round_, position, action, move, added, street_total, to_call, raised_by
            found.append(make(Step, (*facts, stack == total > old)))
    return found
