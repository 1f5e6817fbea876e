"""The values of a contest, hand by hand, and those that count: complete duplicates.

Every match of a contest adds its hands in order. A deal counts as soon as it has been played in every seating; a
player's score of a deal is the mean of what it won over the seatings, in thousandths of a big blind. All players hold
the same cards, so the luck of the cards cancels; where every seating has cards of its own (`ContestPlan.has_own_cards`)
it does not, and the scores are as independent as ever.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence

from dealer.run.contest_plan import MatchPlan
from engine import Game


class DealScores:
    """All values of one contest, seen by deal and player."""

    def __init__(self, game: Game, match_plans: Sequence[MatchPlan], values: Sequence[array[float]]) -> None:
        """See values as scores; hands that are added to them count from then on.

        Args:
            match_plans: the matches, slice by slice, all seatings of a slice together.
            values: by match, the net chips by seat, hand after hand.
        """
        self._players = game.num_players
        self._match_plans = tuple(match_plans)
        self._values = values
        self._seatings = 1 + max(match_plan.seating for match_plan in match_plans)
        self._slices = range(len(self._match_plans) // self._seatings)
        self._factor = 1000.0 / game.big_blind / self._seatings
        self._taken = [0 for _ in self._slices]

    def hands(self, index: int) -> int:
        """The hands of a match so far."""
        return len(self._values[index]) // self._players

    @property
    def hands_played(self) -> int:
        """The finished hands of all matches."""
        return sum(map(len, self._values)) // self._players

    @property
    def duplicates(self) -> int:
        """The deals played in every seating."""
        return sum(map(self._complete, self._slices))

    def _complete(self, slice_: int) -> int:
        """The number of complete deals of a slice; each match plays them in order."""
        first = slice_ * self._seatings
        return min(map(len, self._values[first : first + self._seatings])) // self._players

    def _chips(self, slice_: int, hand: int) -> list[float]:
        """Net chips of a complete deal by player; `hand` counts from the start of the slice."""
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
        """The scores of the complete deals, by player in mbb/g, slice by slice and hand by hand.

        Args:
            start: the first hand of every slice to give.
            end: the hand of every slice to stop before; None for all.
        """
        for slice_ in self._slices:
            complete = self._complete(slice_)
            yield from self._scores(slice_, start, complete if end is None else min(end, complete))

    def take_new(self) -> Iterator[list[float]]:
        """The scores of the deals that have become complete since the last call, for display.

        Their order depends on the speed of the matches; results are made from `in_order`.
        """
        for slice_ in self._slices:
            start, self._taken[slice_] = self._taken[slice_], self._complete(slice_)
            yield from self._scores(slice_, start, self._taken[slice_])

    def in_rounds(self) -> Iterator[list[float]]:
        """The scores of as many hands in a row of a match as there are seatings, by player in mbb/g, match by match.

        Where every seating has cards of its own, such a round is worth what a deal number in all seatings is: so many
        hands, with the button everywhere alike. But it does not wait for the other matches.
        """
        size = self._players * self._seatings
        for match_plan, values in zip(self._match_plans, self._values, strict=True):
            for first in range(0, len(values) - size + 1, size):
                scores = [0.0] * self._players
                for seat, player in enumerate(match_plan.players):
                    scores[player] = self._factor * sum(values[first + seat : first + size : self._players])
                yield scores

    def chips(self) -> list[float]:
        """Net chips by player over the hands of complete deals."""
        totals = [0.0] * self._players
        for slice_ in self._slices:
            for hand in range(self._complete(slice_)):
                totals = [total + chips for total, chips in zip(totals, self._chips(slice_, hand), strict=True)]
        return totals
