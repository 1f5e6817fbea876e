"""The values of a contest, hand by hand, and those that count: complete duplicates.

Every match of a contest adds its hands in order. A deal counts as soon as it has been played in every seating; a
player's score of a deal is the mean of what it won over the seatings, in thousandths of a big blind. All players hold
the same cards, so the luck of the cards cancels; where every seating has cards of its own (`ContestPlan.has_own_cards`)
it does not, and the scores are as independent as ever.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Sequence

from dealer.run.plan import Slot
from engine import Game
from logs.estimation import RunningMean


class Scores:
    """All values of one contest.

    Attributes:
        live: by player, the mean of the scores in the order in which deals became complete, for display. The order
            depends on the speed of the matches, and with it the last digits; results are made from `in_order`.
    """

    def __init__(self, game: Game, slots: Sequence[Slot], new_mean: Callable[[], RunningMean] = RunningMean) -> None:
        """Start without any hand.

        Args:
            slots: the matches, slice by slice, all seatings of a slice together.
        """
        self._players = game.num_players
        self._mbb_per_chip = 1000.0 / game.big_blind
        self._slots = tuple(slots)
        self._values: list[array[float]] = [array("d") for _ in slots]
        self._seatings = 1 + max(slot.seating for slot in slots)
        self.live = [new_mean() for _ in range(self._players)]

    def restore(self, slot: int, values: array[float]) -> None:
        """Start a match with the values of the hands that an interrupted run had played."""
        before = self._complete(slot // self._seatings)
        self._values[slot] = values
        self._show_live(slot, before)

    def add(self, slot: int, values: Sequence[float]) -> None:
        """Count the next hand of a match.

        Args:
            values: net chips by seat.
        """
        stored = self._values[slot]
        hand = len(stored) // self._players
        stored.extend(values)
        slice_ = slot // self._seatings
        if self._seatings == 1 or self._complete(slice_) > hand:
            for mean, score in zip(self.live, self._scores(slice_, hand), strict=True):
                mean.add(score)

    def _show_live(self, slot: int, before: int) -> None:
        slice_ = slot // self._seatings
        for hand in range(before, self._complete(slice_)):
            for mean, score in zip(self.live, self._scores(slice_, hand), strict=True):
                mean.add(score)

    @property
    def values(self) -> Sequence[array[float]]:
        """By match, the net chips by seat, hand after hand."""
        return self._values

    def hands(self, slot: int) -> int:
        """The hands of a match so far."""
        return len(self._values[slot]) // self._players

    @property
    def hands_played(self) -> int:
        """The finished hands of all matches."""
        return sum(map(len, self._values)) // self._players

    @property
    def duplicates(self) -> int:
        """The deals played in every seating."""
        return sum(self._complete(slice_) for slice_ in range(len(self._slots) // self._seatings))

    def _complete(self, slice_: int) -> int:
        """The number of complete deals of a slice; each match plays them in order."""
        first = slice_ * self._seatings
        return min(map(len, self._values[first : first + self._seatings])) // self._players

    def _scores(self, slice_: int, hand: int) -> list[float]:
        """The scores of a complete deal, by player, in mbb/g; `hand` counts from the start of the slice."""
        players = self._players
        at = hand * players
        sums = [0.0] * players
        first = slice_ * self._seatings
        for slot in range(first, first + self._seatings):
            values = self._values[slot]
            for seat, player in enumerate(self._slots[slot].players):
                sums[player] += values[at + seat]
        factor = self._mbb_per_chip / self._seatings
        return [factor * total for total in sums]

    def in_order(self, start: int = 0, end: int | None = None) -> Iterator[list[float]]:
        """The scores of the complete deals, by player in mbb/g, slice by slice and hand by hand.

        Args:
            start: the first hand of every slice to give.
            end: the hand of every slice to stop before; None for all.
        """
        for slice_ in range(len(self._slots) // self._seatings):
            complete = self._complete(slice_)
            for hand in range(start, complete if end is None else min(end, complete)):
                yield self._scores(slice_, hand)

    def in_rounds(self) -> Iterator[list[float]]:
        """The scores of as many hands in a row of a match as there are seatings, by player in mbb/g, match by match.

        Where every seating has cards of its own, such a round is worth what a deal number in all seatings is: so many
        hands, with the button everywhere alike. But it does not wait for the other matches.
        """
        players, factor = self._players, self._mbb_per_chip / self._seatings
        for slot, values in zip(self._slots, self._values, strict=True):
            size = players * self._seatings
            for first in range(0, len(values) - size + 1, size):
                scores = [0.0] * players
                for seat, player in enumerate(slot.players):
                    scores[player] = factor * sum(values[first + seat : first + size : players])
                yield scores

    def chips(self) -> list[float]:
        """Net chips by player over the hands of complete deals."""
        totals = [0.0] * self._players
        for slice_ in range(len(self._slots) // self._seatings):
            end = self._complete(slice_) * self._players
            for slot in range(slice_ * self._seatings, (slice_ + 1) * self._seatings):
                values = self._values[slot]
                for seat, player in enumerate(self._slots[slot].players):
                    totals[player] += sum(values[seat : end : self._players])
        return totals
