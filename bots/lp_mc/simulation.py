"""The Monte Carlo simulation: from a state to the expected values of its actions.

A trial gives the opponent a hand, deals the rest of the board and plays to the end; the average over the trials is the
value of an action. Since in one batch of trials the opponent is equally aggressive throughout, and we always call, the
betting goes the same way in all of them: it is played once, and what is drawn thousands of times is cards alone
(`bots.lp_mc.showdowns`). That is why a decision of 10,000 trials takes well below a millisecond.

The cards are the same for the call and for the raise, so that chance does not decide between the two.

numba is loaded when the first showdown is drawn, or by `load`.
"""

from __future__ import annotations

import gc
from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from bots.lp_mc.model import Chances, OpponentModel
from bots.lp_mc.options import WHOLE_HAND, SimulationOptions
from bots.sdk.bot import uniform
from bots.sdk.view import View
from engine import CALL, FOLD, RAISE, Action, ActionKind, BettingState
from engine.splitmix import MASK_64, STEP, mixed

__all__ = ["Line", "Values", "batch_sizes", "load", "play_out", "simulate"]

_BOARDS: Final = ((), (0, 5, 10), (0, 5, 10, 15), (0, 5, 10, 15, 20))


class Values(NamedTuple):
    """Expected values in chips; a fold is worth 0.

    Attributes:
        call: of a call or check.
        raise_: of a bet or raise; None where none is legal.
        hands: how many hands the opponent was left with.
        of_hands: how many it could hold.
    """

    call: float
    raise_: float | None
    hands: int
    of_hands: int


def load() -> None:
    """Load, or compile, all that a simulation needs: afterwards the first is as fast as any.

    What has been loaded is taken out of the garbage collector's sight: it would walk all of numba in the middle of some
    decision.
    """
    for board in _BOARDS:
        _draw((50, 51), board, 0.0, [1], 0)
    gc.collect()
    gc.freeze()


def batch_sizes(options: SimulationOptions) -> list[int]:
    """How many trials each batch has; they differ by one at most."""
    ends = [options.trials * number // options.batches for number in range(options.batches + 1)]
    return [end - start for start, end in pairwise(ends)]


def simulate(view: View, model: OpponentModel, options: SimulationOptions, start: int) -> Values:
    """The values of the actions in a state.

    Args:
        view: the state; it is our turn.
        model: of the opponent.
        options: how to simulate.
        start: of the random numbers, 64 bits: the same start, the same values.
    """
    chances = model.all_chances()
    numbers = mixed(start)
    aggressions = [uniform(mixed(numbers + batch * STEP & MASK_64)) for batch in range(1, options.batches + 1)]
    actions = [CALL, RAISE] if view.can_raise else [CALL]
    lines = [_lines(view, action, chances, aggressions) for action in actions]
    sizes = batch_sizes(options)
    left_out = model.fold_share(options.weakest, view.round)
    shares, hands, of_hands = _draw(view.hole_cards, view.board, left_out, sizes, mixed(numbers))
    spent = view.hand_committed[view.position] if options.sunk == WHOLE_HAND else 0
    values = [
        sum(size * line.sure + line.pot * share / 2 for line, size, share in zip(of, sizes, shares, strict=True))
        / options.trials
        - spent
        for of in lines
    ]
    return Values(values[0], values[1] if len(values) > 1 else None, hands, of_hands)


def _lines(
    view: View, action: Action, chances: Sequence[Sequence[Chances]], aggressions: Sequence[float]
) -> list[Line]:
    """How the betting ends in each batch: equally for all aggressions between two thresholds of the opponent's."""
    cuts = sorted({cut for cells in chances for cell in cells for cut in cell})
    known: dict[int, Line] = {}
    lines = []
    for aggression in aggressions:
        at = bisect_right(cuts, aggression)
        if at not in known:
            known[at] = play_out(view.betting, action, chances, aggression)
        lines.append(known[at])
    return lines


def _draw(
    hole: tuple[int, ...], board: tuple[int, ...], left_out: float, sizes: Sequence[int], start: int
) -> tuple[list[int], int, int]:
    """Twice our share of the showdowns of each batch, and how many hands the opponent was left with, of how many."""
    import numpy as np

    from bots.lp_mc.showdowns import count_shares, holdings_by_strength

    holdings = holdings_by_strength(hole, board)
    left = holdings.without_weakest(left_out)
    shares = np.zeros(len(sizes), np.int64)
    ours, known = np.array(hole, np.uint8), np.array(board, np.uint8)
    count_shares(ours, known, *left, np.array(sizes, np.int64), np.uint64(start), shares)
    return shares.tolist(), len(left.low), len(holdings.low)


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
