"""Scores of the deals of a contest.

A deal counts once it has been played in every seating. A player's score of a deal is its mean winnings over the
seatings, in thousandths of a big blind. Each player holds all cards of the deal once, so that the luck of the cards
cancels. It does not cancel if every seating has cards of its own (`ContestPlan.has_own_cards`).
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence

from dealer.run.contest_plan import MatchPlan
from engine import Game


class DealScores:
    """Values of a contest's matches, by deal and player."""

    def __init__(self, game: Game, match_plans: Sequence[MatchPlan], values: Sequence[array[float]]) -> None:
        """View arrays of values as scores.

        Args:
            match_plans: matches slice by slice, with all seatings of a slice together.
            values: net chips by match, each by seat, hand after hand. The arrays may grow.
        """
        self._players = game.num_players
        self._match_plans = tuple(match_plans)
        self._values = values
        self._seatings = 1 + max(match_plan.seating for match_plan in match_plans)
        self._slices = range(len(self._match_plans) // self._seatings)
        # From the chips of all seatings to the mean of a seating, in thousandths of a big blind.
        self._factor = 1000.0 / game.big_blind / self._seatings
        self._taken = [0 for _ in self._slices]

    def hands(self, index: int) -> int:
        """Number of finished hands of a match."""
        return len(self._values[index]) // self._players

    @property
    def hands_played(self) -> int:
        """Number of finished hands of all matches."""
        return sum(map(len, self._values)) // self._players

    @property
    def duplicates(self) -> int:
        """Number of deals played in every seating."""
        return sum(map(self._complete, self._slices))

    def _complete(self, slice_: int) -> int:
        """Return the number of complete deals of a slice, which are its first ones."""
        first = slice_ * self._seatings
        return min(map(len, self._values[first : first + self._seatings])) // self._players

    def _chips(self, slice_: int, hand: int) -> list[float]:
        """Return net chips of a complete deal by player; `hand` counts from the start of the slice."""
        sums = [0.0] * self._players
        first = slice_ * self._seatings
        for index in range(first, first + self._seatings):
            values = self._values[index]
            for seat, player in enumerate(self._match_plans[index].players):
                sums[player] += values[hand * self._players + seat]
        return sums

    def _scores(self, slice_: int, start: int, end: int) -> Iterator[list[float]]:
        for hand in range(start, end):
            yield [self._factor * chips for chips in self._chips(slice_, hand)]

    def in_order(self, start: int = 0, end: int | None = None) -> Iterator[list[float]]:
        """Yield scores of complete deals by player in mbb/g, slice by slice and hand by hand.

        Args:
            start: first hand of every slice.
            end: hand of every slice to stop before; None for all.
        """
        for slice_ in self._slices:
            last = self._complete(slice_)
            if end is not None:
                last = min(end, last)
            yield from self._scores(slice_, start, last)

    def take_new(self) -> Iterator[list[float]]:
        """Yield scores of deals completed since the last call, for display.

        Their order depends on the speed of the matches, so results use `in_order`.
        """
        for slice_ in self._slices:
            start = self._taken[slice_]
            end = self._complete(slice_)
            self._taken[slice_] = end
            yield from self._scores(slice_, start, end)

    def in_rounds(self) -> Iterator[list[float]]:
        """Yield scores of consecutive hands of a match, as many at a time as there are seatings, in mbb/g.

        For contests in which every seating has cards of its own. Such a group of hands has the button in every
        position, like a deal in all seatings, and is complete without the other matches.
        """
        size = self._players * self._seatings
        for match_plan, values in zip(self._match_plans, self._values, strict=True):
            # Without a last group that is not whole.
            for first in range(0, len(values) - size + 1, size):
                scores = [0.0] * self._players
                for seat, player in enumerate(match_plan.players):
                    own_values = values[first + seat : first + size : self._players]
                    scores[player] = self._factor * sum(own_values)
                yield scores

    def chips(self) -> list[float]:
        """Return net chips by player over the hands of complete deals."""
        totals = [0.0] * self._players
        for slice_ in self._slices:
            for hand in range(self._complete(slice_)):
                for player, chips in enumerate(self._chips(slice_, hand)):
                    totals[player] += chips
        return totals
