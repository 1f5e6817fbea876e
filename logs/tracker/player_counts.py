"""The counters of one player: by position, by cards, of its answers, and of its winnings along the way.

All of them can be added up (`merge`), and nothing is divided here.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from operator import add
from typing import Final, NamedTuple

from engine import Category, Game
from engine.starting_hands import STARTING_HANDS
from logs.estimation import Moments
from logs.tracker.hand_facts import WIDTH
from logs.tracker.positions import is_holdem

__all__ = ["MOST_POINTS", "AnswerCounts", "CardCounts", "PlayerCounts", "PlayerCurve", "PositionCounts", "Sums"]

MOST_POINTS: Final = 1000


class Sums(NamedTuple):
    """Winnings over some hands, in big blinds, so that hands of different stakes can be added up.

    Attributes:
        hands: how many.
        net: over all of them.
        squares: the sum of the squares of each hand's winnings.
        showdown: winnings of hands with a showdown the player was in.
        adjusted: as `net`, with all-in hands at their expectation.
        adjusted_squares: as `squares`, with all-in hands at their expectation.
    """

    hands: int = 0
    net: float = 0.0
    squares: float = 0.0
    showdown: float = 0.0
    adjusted: float = 0.0
    adjusted_squares: float = 0.0

    def plus(self, other: Sums) -> Sums:
        """The sums after these hands and then others."""
        return Sums(*map(add, self, other))

    @property
    def half_width(self) -> float | None:
        """Half the 95 % interval of `net`, in big blinds; None with too few hands."""
        half_width = Moments(self.hands, self.net, self.squares).half_width_95
        return None if half_width is None else half_width * self.hands


@dataclass(slots=True)
class CardCounts:
    """How often a player held some kind of hand, and how it fared with it.

    Attributes:
        hands: how often.
        won: how often it won part of the pot.
        net: chips won or lost.
    """

    hands: int = 0
    won: int = 0
    net: float = 0.0

    def add(self, value: float, has_won: bool) -> None:
        """Count one hand."""
        self.hands += 1
        self.won += has_won
        self.net += value

    def merge(self, other: CardCounts) -> None:
        """Count in what another has counted."""
        self.hands += other.hands
        self.won += other.won
        self.net += other.net


@dataclass(slots=True)
class PositionCounts:
    """One player in one position of one game.

    Attributes:
        hands: dealt in.
        net: chips.
        squares: the sum of the squares of each hand's chips.
        luck: chips that all-in hands brought beyond their expectation.
        luck_squares: the sum of the squares of what each hand brought, less that of their expectations.
        adjusted_hands: hands counted at their expectation.
        showdown_net: chips from hands with a showdown the player was in.
        showdowns_won: showdowns in which it won part of the pot.
        flops_won: those of them that came after a flop.
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
    row: list[int] = field(default_factory=lambda: [0] * WIDTH)

    def merge(self, other: PositionCounts) -> None:
        """Count in what another has counted."""
        row = [one + more for one, more in zip(self.row, other.row, strict=True)]
        for name in [of_counter.name for of_counter in fields(self) if of_counter.name != "row"]:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.row = row

    def sums(self, blind: int) -> Sums:
        """The winnings in big blinds.

        Args:
            blind: the big blind, in chips.
        """
        net, squares = self.net / blind, self.squares / blind / blind
        luck, luck_squares = self.luck / blind, self.luck_squares / blind / blind
        return Sums(self.hands, net, squares, self.showdown_net / blind, net - luck, squares - luck_squares)


class PlayerCounts:
    """One player in one game.

    Attributes:
        positions: by position.
        starting_hands: by class of hole cards; empty outside hold'em.
        final_hands: by category, at showdowns.
        river_hands: by category, wherever the player saw the river.
    """

    __slots__ = ("final_hands", "positions", "river_hands", "starting_hands")

    def __init__(self, game: Game) -> None:
        holdem = is_holdem(game)
        self.positions = [PositionCounts() for _ in range(game.num_players)]
        self.starting_hands = [CardCounts() for _ in STARTING_HANDS] if holdem else []
        self.final_hands = [CardCounts() for _ in Category] if holdem else []
        self.river_hands = [CardCounts() for _ in Category] if holdem else []

    def merge(self, other: PlayerCounts) -> None:
        """Count in what another has counted."""
        for name in PlayerCounts.__slots__:
            for one, more in zip(getattr(self, name), getattr(other, name), strict=True):
                one.merge(more)


@dataclass(slots=True)
class AnswerCounts:
    """How long a player's answers took, and how much it said.

    Attributes:
        actions: with a known time.
        used_us: their time in all.
        longest_us: the longest one's.
        comments: comment lines sent.
    """

    actions: int = 0
    used_us: int = 0
    longest_us: int = 0
    comments: int = 0

    def merge(self, other: AnswerCounts) -> None:
        """Count in what another has counted."""
        self.actions += other.actions
        self.used_us += other.used_us
        self.longest_us = max(self.longest_us, other.longest_us)
        self.comments += other.comments


class PlayerCurve:
    """How a player's winnings grow over its hands of all games, in memory that does not grow with them.

    The curve keeps the sums after each hand, then after every second, fourth, ... hand: when it has more than
    `MOST_POINTS` points, every other one goes and the step doubles.

    Attributes:
        name: the player.
        points: the sums along the way, in order.
        step: how many hands apart the points are, except where two curves meet.
        due: in how many hands the next point is due.
    """

    __slots__ = ("due", "name", "points", "step")

    def __init__(self, name: str) -> None:
        self.name = name
        self.points: list[Sums] = []
        self.step = 1
        self.due = 1

    def add(self, sums: Sums) -> None:
        """Append the sums after some more hands; without any more nothing is appended."""
        if not self.points or self.points[-1].hands != sums.hands:
            self.points.append(sums)
        self._thin(sums.hands)

    def merge(self, before: Sums, other: PlayerCurve, hands: int) -> None:
        """Append the curve of the hands that followed.

        Args:
            before: the sums after all hands of this curve.
            other: the other curve, which starts from zero.
            hands: of both curves.
        """
        if before.hands and (not self.points or self.points[-1].hands < before.hands):
            self.points.append(before)
        self.points += [before.plus(sums) for sums in other.points]
        self.step = max(self.step, other.step)
        self._thin(hands)

    def _thin(self, hands: int) -> None:
        while len(self.points) > MOST_POINTS:
            self.points = self.points[1::2]
            self.step *= 2
        self.due = self.step - hands % self.step
