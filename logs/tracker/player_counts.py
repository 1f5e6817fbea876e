"""The counters of one player: by position, by cards, of its answers, and of its winnings along the way.

All of them can be added up (`merge`), and nothing is divided here.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from operator import add
from typing import Any, Final, NamedTuple

from engine import Category, Game
from engine.cards import STARTING_HANDS
from engine.holdem import has_usual_blinds
from logs.estimation import Moments
from logs.tracker.hand_facts import WIDTH

MOST_POINTS: Final = 1000


class Pairs(NamedTuple):
    """Sums over the pairs of hands that were dealt the same cards, in big blinds: the winnings of both hands, and their
    products.

    `repeats` counts hands that were not the first of their deal.
    """

    repeats: int = 0
    number: int = 0
    total: float = 0.0
    products: float = 0.0

    def plus(self, other: Pairs) -> Pairs:
        return Pairs(*map(add, self, other))

    def with_hand(self, hands: int, net: float, value: float) -> Pairs:
        """The sums with a hand that brought `value`, after `hands` of the same deal that brought `net`."""
        repeats, number, total, products = self
        return Pairs(repeats + 1, number + hands, total + net + hands * value, products + net * value)


class DealMoments(NamedTuple):
    """The winnings of hands in big blinds, with an interval whose units are deals.

    Hands that share their cards, one per seating, are not independent of each other: together they are one unit.
    """

    hands: Moments = Moments()
    pairs: Pairs = Pairs()

    def plus(self, other: DealMoments) -> DealMoments:
        """The winnings of these hands and of hands of other deals."""
        return DealMoments(self.hands.plus(other.hands), self.pairs.plus(other.pairs))

    @property
    def deals(self) -> int:
        """How many deals the hands are of."""
        return self.hands.hands - self.pairs.repeats

    @property
    def by_deal(self) -> Moments:
        """Numbers, one per deal, whose mean is the mean over hands, and their spread what is known of its error.

        The mean over hands is a ratio of two sums over deals, winnings and hands; these are the linearised scores of
        such a ratio (Cochran 1977, "Sampling Techniques", chapter 6). Where all deals have the same number of hands
        they are the means of the deals.
        """
        (count, net, squares), (_, pairs, pair_net, products), deals = *self, self.deals
        if not count:
            return Moments()
        mean, size = net / count, count / deals
        spread = squares + 2 * products - 2 * mean * (net + pair_net) + mean * mean * (count + 2 * pairs)
        return Moments(deals, deals * mean, deals * mean * mean + max(0.0, spread) / size**2)


class Sums(NamedTuple):
    """Winnings over some hands, in big blinds, so that hands of different stakes can be added up.

    `adjusted` has all-in hands at their expectation; `showdown` is the net of hands with a showdown the player was in.
    """

    all: DealMoments = DealMoments()
    adjusted: DealMoments = DealMoments()
    showdown: float = 0.0

    @property
    def hands(self) -> int:
        return self.all.hands.hands

    @property
    def net(self) -> float:
        return self.all.hands.total

    def plus(self, other: Sums) -> Sums:
        """The sums after these hands and then others."""
        return Sums(self.all.plus(other.all), self.adjusted.plus(other.adjusted), self.showdown + other.showdown)


NO_PAIRS: Final = Pairs(), Pairs()


def added_pairs(one: tuple[Pairs, Pairs], other: tuple[Pairs, Pairs]) -> tuple[Pairs, Pairs]:
    return one[0].plus(other[0]), one[1].plus(other[1])


def _merge_fields(counts: Any, other: Any) -> None:
    for counter in fields(counts):
        setattr(counts, counter.name, getattr(counts, counter.name) + getattr(other, counter.name))


@dataclass(slots=True)
class CardCounts:
    """How often a player held some kind of hand, how often it won part of the pot with it, and the net chips."""

    hands: int = 0
    won: int = 0
    net: float = 0.0

    def add(self, value: float, has_won: bool) -> None:
        self.hands += 1
        self.won += has_won
        self.net += value

    def merge(self, other: CardCounts) -> None:
        _merge_fields(self, other)


@dataclass(slots=True)
class PositionCounts:
    """One player in one position of one game; amounts are in chips.

    Attributes:
        squares: the sum of the squares of each hand's chips.
        luck: chips that all-in hands brought beyond their expectation.
        luck_squares: the sum of the squares of what each hand brought, less that of their expectations.
        adjusted_hands: hands counted at their expectation.
        showdowns_won: showdowns in which it won part of the pot; `flops_won`: those of them that came after a flop.
        pairs: of hands of one deal, in big blinds: their winnings, and these with all-in hands at their expectation.
        row: what follows from the betting; see `logs.tracker.hand_facts.Place`.
    """

    hands: int = 0
    net: float = 0.0
    squares: float = 0.0
    luck: float = 0.0
    luck_squares: float = 0.0
    adjusted_hands: int = 0
    showdown_net: float = 0.0
    showdowns_won: int = 0
    flops_won: int = 0
    pairs: tuple[Pairs, Pairs] = NO_PAIRS
    row: list[int] = field(default_factory=lambda: [0] * WIDTH)

    def merge(self, other: PositionCounts) -> None:
        row = [one + more for one, more in zip(self.row, other.row, strict=True)]
        pairs = added_pairs(self.pairs, other.pairs)
        _merge_fields(self, other)
        self.row, self.pairs = row, pairs


def winnings(parts: Iterable[tuple[int, PositionCounts]], pairs: tuple[Pairs, Pairs]) -> Sums:
    """The winnings over positions of games, each with its big blind in chips; `pairs` are of all these hands."""
    hands, net, squares, expected, expected_squares, showdown = 0, 0.0, 0.0, 0.0, 0.0, 0.0
    for blind, seat in parts:
        area = blind * blind
        hands += seat.hands
        net += seat.net / blind
        squares += seat.squares / area
        expected += (seat.net - seat.luck) / blind
        expected_squares += (seat.squares - seat.luck_squares) / area
        showdown += seat.showdown_net / blind
    adjusted = Moments(hands, expected, expected_squares)
    return Sums(DealMoments(Moments(hands, net, squares), pairs[0]), DealMoments(adjusted, pairs[1]), showdown)


class PlayerCounts:
    """One player in one game: by position, by class of hole cards (empty outside hold'em), and by category of the final
    hand at showdowns and on the river.
    """

    __slots__ = ("final_hands", "positions", "river_hands", "starting_hands")

    def __init__(self, game: Game) -> None:
        holdem = has_usual_blinds(game)
        self.positions = [PositionCounts() for _ in range(game.num_players)]
        self.starting_hands = [CardCounts() for _ in STARTING_HANDS] if holdem else []
        self.final_hands = [CardCounts() for _ in Category] if holdem else []
        self.river_hands = [CardCounts() for _ in Category] if holdem else []

    def merge(self, other: PlayerCounts) -> None:
        for name in PlayerCounts.__slots__:
            for one, more in zip(getattr(self, name), getattr(other, name), strict=True):
                one.merge(more)


@dataclass(slots=True)
class AnswerCounts:
    """The times of a player's answers, in all and the longest, and its number of comments; `actions` are those with a
    known time.
    """

    actions: int = 0
    used_us: int = 0
    longest_us: int = 0
    comments: int = 0

    def merge(self, other: AnswerCounts) -> None:
        longest_us = max(self.longest_us, other.longest_us)
        _merge_fields(self, other)
        self.longest_us = longest_us


class PlayerCurve:
    """How a player's winnings grow over its hands of all games, in memory that does not grow with them.

    The curve keeps the sums after each hand, then after every second, fourth, ... hand: when it has more than
    `MOST_POINTS` points, every other one goes and the step doubles.

    Attributes:
        name: the player.
        points: the sums along the way, in order.
        step: how many hands apart the points are, except where two curves meet.
        due: in how many hands the next point is due.
        pairs: of all its hands of one deal, whatever their positions; see `PositionCounts.pairs`.
    """

    __slots__ = ("due", "name", "pairs", "points", "step")

    def __init__(self, name: str) -> None:
        self.name = name
        self.points: list[Sums] = []
        self.step = 1
        self.due = 1
        self.pairs = NO_PAIRS

    def add(self, sums: Sums) -> None:
        """Append the sums after some more hands; without any more nothing is appended."""
        if not self.points or self.points[-1].hands != sums.hands:
            self.points.append(sums)
        self._thin(sums.hands)

    def merge(self, before: Sums, other: PlayerCurve, hands: int) -> None:
        """Append the curve of hands that followed, which starts from zero; `before` are the sums after all hands of
        this curve, `hands` counts both.
        """
        if before.hands and (not self.points or self.points[-1].hands < before.hands):
            self.points.append(before)
        self.points += [before.plus(sums) for sums in other.points]
        self.pairs = added_pairs(self.pairs, other.pairs)
        self.step = max(self.step, other.step)
        self._thin(hands)

    def _thin(self, hands: int) -> None:
        while len(self.points) > MOST_POINTS:
            self.points = self.points[1::2]
            self.step *= 2
        self.due = self.step - hands % self.step
