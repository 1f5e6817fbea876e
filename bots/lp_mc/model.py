"""What is known of the opponent: how often it folded, called and raised, by round and by whether it owed a bet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from bots.lp_mc.options import ALL_FOLDS, NO_FOLDS
from engine import ActionKind, BettingState

__all__ = ["Chances", "OpponentModel"]

_KINDS: Final = (ActionKind.FOLD, ActionKind.CALL, ActionKind.RAISE)


class Chances(NamedTuple):
    """How an opponent chooses by its aggression, a number from 0 up to 1.

    Attributes:
        call_from: the least aggression with which it does not fold.
        raise_from: the least with which it raises.
    """

    call_from: float
    raise_from: float

    def choose(self, aggression: float) -> ActionKind:
        """What it does."""
        if aggression < self.call_from:
            return ActionKind.FOLD
        return ActionKind.CALL if aggression < self.raise_from else ActionKind.RAISE


class OpponentModel:
    """Counts the opponent's actions.

    Rounds before the first one that is modelled are not looked at.
    """

    def __init__(self, rounds: int, *, first_round: int, prior: float) -> None:
        """Know nothing.

        Args:
            rounds: of the game.
            first_round: the first that is modelled.
            prior: how many actions of each legal kind each cell begins with.
        """
        self._first_round = first_round
        self._prior = prior
        self._counts = [[[0, 0, 0], [0, 0, 0]] for _ in range(rounds)]
        self._hand: tuple[int, int] | None = None
        self._seen = 0

    def counts(self, round_: int, owes: bool) -> tuple[int, int, int]:
        """How often it folded, called and raised in a round when it owed a bet, or owed nothing."""
        fold, call, raise_ = self._counts[round_][owes]
        return fold, call, raise_

    def observe(self, betting: BettingState, us: int, hand_number: int) -> None:
        """Count the actions of a hand that have not been counted yet.

        Args:
            betting: the hand so far.
            us: our position.
            hand_number: of the hand; a new one, or another position, begins anew.
        """
        if self._hand != (hand_number, us):
            self._hand, self._seen = (hand_number, us), 0
        rounds = betting.rounds
        number = 0
        for round_ in range(self._first_round, len(rounds)):
            raises = 0
            for at, (position, action) in enumerate(rounds[round_]):
                number += 1
                if position != us and number > self._seen:
                    # The first to act owes a blind before the flop, and nothing after it.
                    owes = raises > 0 or (round_ == 0 and at == 0)
                    self._counts[round_][owes][_KINDS.index(action.kind)] += 1
                raises += action.kind is ActionKind.RAISE
        self._seen = number

    def end_hand(self) -> None:
        """The hand is over; the next may have the same number."""
        self._hand = None

    def chances(self, round_: int, owes: bool) -> Chances:
        """How it will choose. One that owes nothing does not fold; one of which nothing is known and assumed calls."""
        prior = self._prior
        fold, call, raise_ = self._counts[round_][owes]
        kinds = 2 + owes
        total = fold + call + raise_ + prior * kinds
        if not total:
            return Chances(0.0, 1.0)
        folds = fold + prior * owes
        return Chances(folds / total, (folds + call + prior) / total)

    def all_chances(self) -> Sequence[Sequence[Chances]]:
        """By round, the chances when it owes nothing and when it owes a bet."""
        return [[self.chances(round_, owes) for owes in (False, True)] for round_ in range(len(self._counts))]

    def fold_share(self, which: str, round_: int) -> float:
        """How often it folded, 0 to 1; 0 where nothing has been seen. See `SimulationOptions.weakest`."""
        if which == NO_FOLDS:
            return 0.0
        cells = [cell for cells in self._counts for cell in cells] if which == ALL_FOLDS else [self._counts[round_][1]]
        actions = sum(map(sum, cells))
        return sum(cell[0] for cell in cells) / actions if actions else 0.0
