"""Monte Carlo simulation of limit hold'em: options, model of the opponent, and expected values of actions.

`simulate` returns the average result of an action over many trials. All trials of a batch have the same betting,
because the opponent has the same aggression in all of them and we always call. So the betting is played once per batch,
and only the cards are drawn for each trial (`bots.lp_mc.drawn_showdowns`). numba is loaded with the first showdown, or
by `load`.
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
    """Options of the simulation and of the choice of an action.

    Raises:
        ValueError: a value is out of range.
    """

    trials: Annotated[int, "number of showdowns drawn for each decision", Interval(1, 10_000_000)] = 10_000
    batches: Annotated[
        int,
        "number of batches of these showdowns; in each batch the opponent has one random aggression, from 0, "
        "always the first of fold, call and raise, to 1, always the last",
        Interval(1),
    ] = 1
    threshold: Annotated[
        float,
        "difference of the values of call and raise, as a share of the pot, below which the hand's aggression "
        "decides between them; both must be positive",
        Interval(0, 1),
    ] = 0.05
    aggression: Annotated[
        float,
        "0 to 1: the probability that it decides for the raise; drawn once at the start of each hand",
        Interval(0, 1),
    ] = 0.5
    prior: Annotated[
        float,
        "number of actions of each legal kind with which each cell of the opponent model begins",
        Interval(0, 1_000_000),
    ] = 1.0
    weakest: Annotated[
        Literal["all", "round", "none"],
        "folds from which the share of weak hands that the opponent no longer holds is estimated: all, those of "
        "all rounds; round, answers to a bet in the current round; none, no hands are left out",
    ] = "all"
    sunk: Annotated[
        Literal["lost", "whole"],
        "treatment of chips that the bot has put in before: lost counts them in no value, so that a fold is worth "
        "0; whole counts them in the values of call and raise, but a fold is still worth 0",
    ] = "lost"

    def __post_init__(self) -> None:
        check_options(self)
        if self.batches > self.trials:
            raise ValueError(f"batches must be 1 to the number of trials, {self.trials:,}, not {self.batches:,}")


_ACTIONS: Final = (FOLD, CALL, RAISE)
AggressionCuts: TypeAlias = tuple[float, float]
"""Minimum aggression, from 0 up to 1, with which an opponent calls, and with which it raises."""


class OpponentModel:
    """Counts of the opponent's actions.

    Args:
        rounds: number of rounds of the game.
        first_round: first round whose actions are counted.
        prior: number of actions of each legal kind that is added to each cell.

    Attributes:
        counts: folds, calls and raises, by round and by whether the opponent owed a bet.
    """

    def __init__(self, rounds: int, *, first_round: int, prior: float) -> None:
        self._first_round = first_round
        self._prior = prior
        self.counts = [[[0, 0, 0], [0, 0, 0]] for _ in range(rounds)]
        self._hand: tuple[int, int] | None = None
        self._seen = 0

    def observe(self, betting: BettingState, us: int, hand_number: int) -> None:
        """Count the new actions of a hand.

        Args:
            us: our position. A hand with another number or position is a new hand.
        """
        if self._hand != (hand_number, us):
            self._hand = (hand_number, us)
            self._seen = 0
        rounds = betting.rounds
        number = 0
        for round_ in range(self._first_round, len(rounds)):
            raises = 0
            for index, (position, action) in enumerate(rounds[round_]):
                number += 1
                if position != us and number > self._seen:
                    # The first to act owes a blind before the flop, and nothing after it.
                    owes = raises > 0 or (round_ == 0 and index == 0)
                    self.counts[round_][owes][_ACTIONS.index(action)] += 1
                raises += action == RAISE
        self._seen = number

    def end_hand(self) -> None:
        """End the hand, because the next one can have the same number."""
        self._hand = None

    def chances(self, round_: int, owes: bool) -> AggressionCuts:
        """Return the opponent's cuts in a round, for a decision with or without a bet to call.

        Without a bet to call it never folds. Without counts and prior it always calls.
        """
        prior = self._prior
        fold, call, raise_ = self.counts[round_][owes]
        kinds = 2 + owes
        total = fold + call + raise_ + prior * kinds
        if not total:
            return 0.0, 1.0
        folds = fold + prior * owes
        return folds / total, (folds + call + prior) / total

    def all_chances(self) -> Sequence[Sequence[AggressionCuts]]:
        """Return the cuts by round, without and with a bet to call."""
        chances = []
        for round_ in range(len(self.counts)):
            chances.append([self.chances(round_, False), self.chances(round_, True)])
        return chances

    def fold_share(self, which: str, round_: int) -> float:
        """Return the share of folds among the opponent's actions; 0 without any actions.

        Args:
            which: the actions to count, see `SimulationOptions.weakest`.
        """
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
    """Expected values in chips, where a fold has the value 0.

    Attributes:
        call: value of a call or check.
        raise_: value of a raise; None if it is illegal.
        hands: number of hands simulated for the opponent, without the weakest ones.
        all_hands: number of hands that the opponent can have.
    """

    call: float
    raise_: float | None
    hands: int
    all_hands: int


def load() -> None:
    """Load or compile everything that a simulation needs."""
    for board in _BOARDS:
        _draw((50, 51), board, 0.0, [1], 0)
    # A garbage collection would otherwise visit all objects of numba, in the middle of a decision.
    gc.collect()
    gc.freeze()


def batch_sizes(options: SimulationOptions) -> list[int]:
    """Return the number of trials of each batch. The numbers differ by one at most."""
    ends = [options.trials * number // options.batches for number in range(options.batches + 1)]
    return [end - start for start, end in pairwise(ends)]


def simulate(view: View, model: OpponentModel, options: SimulationOptions, start: int) -> Values:
    """Estimate the values of the actions at our turn.

    Args:
        start: state of the random numbers, 64 bits. Equal states give equal values.
    """
    chances = model.all_chances()
    numbers = mixed(start)
    aggressions = []
    for batch in range(1, options.batches + 1):
        aggressions.append(uniform(mixed(numbers + batch * STEP & MASK_64)))
    sizes = batch_sizes(options)
    left_out = model.fold_share(options.weakest, view.round)
    # Call and raise have the same showdowns, so that chance does not decide between them.
    shares, hands, all_hands = _draw(view.hole_cards, view.board, left_out, sizes, mixed(numbers))
    spent = 0
    if options.sunk == "whole":
        spent = view.hand_committed[view.position]

    def value(action: Action) -> float:
        total: float = 0
        batches = _lines(view, action, chances, aggressions)
        # Sums the chips that the cards do not decide, and our share of the pots of the showdowns.
        for (sure, pot), size, share in zip(batches, sizes, shares, strict=True):
            total += size * sure + pot * share / 2
        return total / options.trials - spent

    raise_ = None
    if view.can_raise:
        raise_ = value(RAISE)
    return Values(value(CALL), raise_, hands, all_hands)


def _lines(
    view: View, action: Action, chances: Sequence[Sequence[AggressionCuts]], aggressions: Sequence[float]
) -> list[tuple[int, int]]:
    """Return the result of `play_out` for each aggression."""
    cells = itertools.chain.from_iterable(chances)
    cuts = sorted(set(itertools.chain.from_iterable(cells)))
    # Aggressions between the same two cuts lead to the same actions.
    by_interval: dict[int, tuple[int, int]] = {}
    lines = []
    for aggression in aggressions:
        interval = bisect_right(cuts, aggression)
        if interval not in by_interval:
            by_interval[interval] = play_out(view.betting, action, chances, aggression)
        lines.append(by_interval[interval])
    return lines


def _draw(
    hole: tuple[int, ...], board: tuple[int, ...], left_out: float, sizes: Sequence[int], start: int
) -> tuple[list[int], int, int]:
    """Draw batches of showdowns.

    Args:
        left_out: share of the opponent's hands to leave out, from the weakest.

    Returns:
        Twice our share of the pots of each batch, the number of hands drawn from, and the number of all hands.
    """
    import numpy as np

    from bots.lp_mc.drawn_showdowns import count_shares, holdings_by_strength

    holdings = holdings_by_strength(hole, board)
    simulated = holdings.without_weakest(left_out)
    shares = np.zeros(len(sizes), np.int64)
    hole_cards = np.array(hole, np.uint8)
    board_cards = np.array(board, np.uint8)
    count_shares(hole_cards, board_cards, *simulated, np.array(sizes, np.int64), np.uint64(start), shares)
    return shares.tolist(), len(simulated.low), len(holdings.low)


def play_out(
    betting: BettingState, action: Action, chances: Sequence[Sequence[AggressionCuts]], aggression: float
) -> tuple[int, int]:
    """Play the betting of a hand of two players to its end. We take a legal action now and call from then on.

    Returns:
        The chips that we win or lose from now on whatever the cards are, and the pot of the showdown, 0 without one.
    """
    us = betting.acting_position
    them = 1 - us
    before = betting.spent[us]
    state = betting.after(action)
    while not state.finished:
        choice = CALL
        if state.acting_position == them:
            choice = _ACTIONS[bisect_right(chances[state.round][state.to_call > 0], aggression)]
        # The opponent calls in place of an illegal raise or fold.
        state = state.after_if_legal(choice) or state.after(CALL)
    ours = state.spent[us]
    theirs = state.spent[them]
    if state.folded:
        return theirs + before, 0
    at_stake = min(ours, theirs)
    return before - at_stake, 2 * at_stake
