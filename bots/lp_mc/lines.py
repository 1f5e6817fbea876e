"""How a simulated hand is bet to its end: we call everything, the opponent does what its aggression says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from bots.lp_mc.model import Chances
from engine import CALL, FOLD, RAISE, Action, ActionKind, BettingState

__all__ = ["Line", "play_out"]


class Line(NamedTuple):
    """What we get in the end, in chips: ``sure + pot * our share of a showdown``.

    Attributes:
        sure: what the cards do not decide, less what we still put in.
        pot: what a showdown decides; 0 where the opponent folds.
    """

    sure: int
    pot: int


def play_out(betting: BettingState, action: Action, chances: Sequence[Sequence[Chances]], aggression: float) -> Line:
    """Bet a hand of two players to its end.

    Args:
        betting: it is our turn.
        action: what we do now, a legal action; afterwards we call.
        chances: of the opponent, by round and whether it owes a bet.
        aggression: of the opponent, from 0 up to 1.
    """
    us = betting.acting_position
    them = 1 - us
    before = betting.spent[us]
    state = betting.after(action)
    while not state.finished:
        choice = CALL
        if state.acting_position == them:
            owes = state.to_call > 0
            kind = chances[state.round][owes].choose(aggression)
            if kind is ActionKind.RAISE and state.after_if_legal(RAISE) is not None:
                choice = RAISE
            elif kind is ActionKind.FOLD and owes:
                choice = FOLD
        state = state.after(choice)
    ours, theirs = state.spent[us], state.spent[them]
    if state.folded:
        return Line(theirs + before, 0)
    at_stake = min(ours, theirs)
    return Line(before - at_stake, 2 * at_stake)
