"""The Monte Carlo simulation: options, the model of the opponent, and from a state to expected values of actions.

A trial gives the opponent a hand, deals the rest of the board and plays to the end; the average over the trials is the
value of an action. Since in one batch of trials the opponent is equally aggressive throughout, and we always call, the
betting goes the same way in all of them: it is played once, and what is drawn thousands of times is cards alone
(`bots.lp_mc.drawn_showdowns`). That is why a decision of 10,000 trials takes well below a millisecond.

The cards are the same for the call and for the raise, so that chance does not decide between the two.

numba is loaded when the first showdown is drawn, or by `load`.
"""

from __future__ import annotations

import gc
import itertools
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Final, Literal, NamedTuple, TypeAlias

from bots.sdk.bot import uniform
from bots.sdk.options import Interval, check_options
from bots.sdk.view import View
from engine import CALL, FOLD, RAISE, Action, BettingState
from engine.splitmix import MASK_64, STEP, mixed


@dataclass(frozen=True, slots=True)
class SimulationOptions:
    """How to simulate and how to choose; a value out of range is a `ValueError`."""

    trials: Annotated[int, "how many showdowns are drawn for each decision", Interval(1, 10_000_000)] = 10_000
    batches: Annotated[
        int,
        "into how many batches they are divided: in each the opponent is as aggressive as one number says that is "
        "drawn for it, from 0, where it takes the first of fold, call and raise, to 1, the last",
        Interval(1),
    ] = 1
    threshold: Annotated[
        float,
        "how near the values of call and raise must be, as a share of the pot, for the hand's aggression to decide "
        "between them; both must be positive",
        Interval(0, 1),
    ] = 0.05
    aggression: Annotated[
        float,
        "0 to 1: the probability that it decides for the raise; drawn once at the start of each hand",
        Interval(0, 1),
    ] = 0.5
    prior: Annotated[
        float,
        "how many actions of each legal kind the model of the opponent begins with, in each of its cells",
        Interval(0, 1_000_000),
    ] = 1.0
    weakest: Annotated[
        Literal["all", "round", "none"],
        "which folds say what share of the opponent's hands is left out from the weak end: all, among its actions in "
        "all rounds; round, among its answers to a bet in the present one; none, nothing is left out",
    ] = "all"
    sunk: Annotated[
        Literal["lost", "whole"],
        "the chips we have put in before: lost, whatever we do, so that a fold is worth 0; whole, the values of call "
        "and raise are those of the whole hand, and a fold is worth 0 all the same",
    ] = "lost"

    def __post_init__(self) -> None:
        check_options(self)
        if self.batches > self.trials:
            raise ValueError(f"batches must be 1 to the number of trials, {self.trials:,}, not {self.batches:,}")


_ACTIONS: Final = (FOLD, CALL, RAISE)
AggressionCuts: TypeAlias = tuple[float, float]
"""How an opponent chooses: the least aggression, from 0 up to 1, with which it calls, and raises."""


class OpponentModel:
    """Counts the opponent's actions, from the first round that is modelled on.

    `counts` says by round how often it folded, called and raised, when it owed nothing and when it owed a bet.
    """

    def __init__(self, rounds: int, *, first_round: int, prior: float) -> None:
        """Each cell begins with so many actions of each legal kind (`prior`)."""
        self._first_round = first_round
        self._prior = prior
        self.counts = [[[0, 0, 0], [0, 0, 0]] for _ in range(rounds)]
        self._hand: tuple[int, int] | None = None
        self._seen = 0

    def observe(self, betting: BettingState, us: int, hand_number: int) -> None:
        """Count the actions of a hand that have not been counted yet; a new number or position begins a new hand."""
        if self._hand != (hand_number, us):
            self._hand = (hand_number, us)
            self._seen = 0
        rounds = betting.rounds
        number = 0
        for round_ in range(self._first_round, len(rounds)):
            raises = 0
            for at, (position, action) in enumerate(rounds[round_]):
                number += 1
                if position != us and number > self._seen:
                    # The first to act owes a blind before the flop, and nothing after it.
                    owes = raises > 0 or (round_ == 0 and at == 0)
                    self.counts[round_][owes][_ACTIONS.index(action)] += 1
                raises += action == RAISE
        self._seen = number

    def end_hand(self) -> None:
        """The hand is over; the next may have the same number."""
        self._hand = None

    def chances(self, round_: int, owes: bool) -> AggressionCuts:
        """How it will choose. One that owes nothing does not fold; one of which nothing is known and assumed calls."""
        prior = self._prior
        fold, call, raise_ = self.counts[round_][owes]
        kinds = 2 + owes
        total = fold + call + raise_ + prior * kinds
        if not total:
            return 0.0, 1.0
        folds = fold + prior * owes
        return folds / total, (folds + call + prior) / total

    def all_chances(self) -> Sequence[Sequence[AggressionCuts]]:
        """By round, the chances when it owes nothing and when it owes a bet."""
        chances = []
        for round_ in range(len(self.counts)):
            chances.append([self.chances(round_, False), self.chances(round_, True)])
        return chances

    def fold_share(self, which: str, round_: int) -> float:
        """How often it folded, 0 to 1; 0 where nothing has been seen. See `SimulationOptions.weakest`."""
        if which == "none":
            return 0.0
        cells = [self.counts[round_][1]]
        if which == "all":
            cells = list(itertools.chain.from_iterable(self.counts))
        actions = sum(map(sum, cells))
        if not actions:
            return 0.0
        return sum(cell[0] for cell in cells) / actions


_BOARDS: Final = ((), (0, 5, 10), (0, 5, 10, 15), (0, 5, 10, 15, 20))


class Values(NamedTuple):
    """Expected values in chips, a fold being worth 0; and how many hands of all are left to the opponent."""

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
    """The values of the actions at our turn; the same start of the random numbers, 64 bits, gives the same values."""
    chances = model.all_chances()
    numbers = mixed(start)
    aggressions = [uniform(mixed(numbers + batch * STEP & MASK_64)) for batch in range(1, options.batches + 1)]
    actions = [CALL, RAISE] if view.can_raise else [CALL]
    lines = [_lines(view, action, chances, aggressions) for action in actions]
    sizes = batch_sizes(options)
    left_out = model.fold_share(options.weakest, view.round)
    shares, hands, of_hands = _draw(view.hole_cards, view.board, left_out, sizes, mixed(numbers))
    spent = view.hand_committed[view.position] if options.sunk == "whole" else 0
    values = []
    for batches in lines:
        total: float = 0
        for (sure, pot), size, share in zip(batches, sizes, shares, strict=True):
            total += size * sure + pot * share / 2
        values.append(total / options.trials - spent)
    return Values(values[0], values[1] if len(values) > 1 else None, hands, of_hands)


def _lines(
    view: View, action: Action, chances: Sequence[Sequence[AggressionCuts]], aggressions: Sequence[float]
) -> list[tuple[int, int]]:
    cuts = sorted({cut for cells in chances for cell in cells for cut in cell})
    known: dict[int, tuple[int, int]] = {}
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
    import numpy as np

    from bots.lp_mc.drawn_showdowns import count_shares, holdings_by_strength

    holdings = holdings_by_strength(hole, board)
    left = holdings.without_weakest(left_out)
    shares = np.zeros(len(sizes), np.int64)
    ours = np.array(hole, np.uint8)
    known = np.array(board, np.uint8)
    count_shares(ours, known, *left, np.array(sizes, np.int64), np.uint64(start), shares)
    return shares.tolist(), len(left.low), len(holdings.low)


def play_out(
    betting: BettingState, action: Action, chances: Sequence[Sequence[AggressionCuts]], aggression: float
) -> tuple[int, int]:
    """Bet a hand of two players to its end: we take a legal action now, and call from then on.

    Returns:
        what the cards do not decide, less what we still put in, and the pot that a showdown decides, 0 where the
        opponent folds: of it we get our share, in chips.
    """
    us = betting.acting_position
    them = 1 - us
    before = betting.spent[us]
    state = betting.after(action)
    while not state.finished:
        choice = CALL
        if state.acting_position == them:
            choice = _ACTIONS[bisect_right(chances[state.round][state.to_call > 0], aggression)]
        # It calls instead of a raise, or a fold of what it does not owe, that the rules refuse.
        state = state.after_if_legal(choice) or state.after(CALL)
    ours = state.spent[us]
    theirs = state.spent[them]
    if state.folded:
        return theirs + before, 0
    at_stake = min(ours, theirs)
    return before - at_stake, 2 * at_stake
