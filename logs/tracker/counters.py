"""The counters of one bot: by position, by starting hand, by final hand, of time, along the way.

All of them can be added (`merge`), and nothing is divided here.
"""

from __future__ import annotations

from engine import Category, Game
from logs.estimation.mean import Moments
from logs.tracker.betting_facts import WIDTH
from logs.tracker.curve import Curve
from logs.tracker.places import is_holdem
from logs.tracker.starting_hands import CLASSES

__all__ = ["BotCounts", "Follower", "PositionCounts", "Timing", "Won"]


class Won:
    """How often something came, and what it brought.

    Attributes:
        hands: how often.
        won: how often part of the pot was won.
        net: chips won or lost.
    """

    __slots__ = ("hands", "net", "won")

    def __init__(self) -> None:
        self.hands = 0
        self.won = 0
        self.net = 0.0

    def add(self, value: float, has_won: bool) -> None:
        """Count one hand."""
        self.hands += 1
        self.won += has_won
        self.net += value

    def merge(self, other: Won) -> None:
        """Count in what another has counted."""
        self.hands += other.hands
        self.won += other.won
        self.net += other.net


class PositionCounts:
    """One bot in one position of one game.

    Attributes:
        hands: dealt in.
        net: chips.
        squares: the sum of the squares of what each hand brought.
        luck: what all-in hands brought beyond their expectation, in chips.
        luck_squares: the sum of the squares of what each hand brought, less that of their expectations.
        adjusted_hands: hands at their expectation.
        showdown_net: chips from hands with a showdown the bot was in.
        showdowns_won: showdowns in which it won part of the pot.
        flops_won: those of them that came after a flop.
        row: what follows from the betting, by the places in `logs.tracker.betting_facts`.
    """

    __slots__ = (
        "adjusted_hands",
        "flops_won",
        "hands",
        "luck",
        "luck_squares",
        "net",
        "row",
        "showdown_net",
        "showdowns_won",
        "squares",
    )

    def __init__(self) -> None:
        self.hands = 0
        self.net = 0.0
        self.squares = 0.0
        self.luck = 0.0
        self.luck_squares = 0.0
        self.adjusted_hands = 0
        self.showdown_net = 0.0
        self.showdowns_won = 0
        self.flops_won = 0
        self.row = [0] * WIDTH

    def merge(self, other: PositionCounts) -> None:
        """Count in what another has counted."""
        for name in PositionCounts.__slots__:
            if name != "row":
                setattr(self, name, getattr(self, name) + getattr(other, name))
        self.row = [one + more for one, more in zip(self.row, other.row, strict=True)]

    @property
    def winnings(self) -> Moments:
        """Chips per hand."""
        return Moments(self.hands, self.net, self.squares)

    @property
    def adjusted(self) -> Moments:
        """Chips per hand, all-in hands at their expectation."""
        return Moments(self.hands, self.net - self.luck, self.squares - self.luck_squares)


class BotCounts:
    """One bot in one game.

    Attributes:
        positions: by position.
        starting_hands: by class of hole cards; empty outside hold'em.
        final_hands: by category, at showdowns.
        river_hands: by category, wherever the river was seen.
    """

    __slots__ = ("final_hands", "positions", "river_hands", "starting_hands")

    def __init__(self, game: Game) -> None:
        self.positions = [PositionCounts() for _ in range(game.num_players)]
        holdem = is_holdem(game)
        self.starting_hands = [Won() for _ in CLASSES] if holdem else []
        self.final_hands = [Won() for _ in Category] if holdem else []
        self.river_hands = [Won() for _ in Category] if holdem else []

    def merge(self, other: BotCounts) -> None:
        """Count in what another has counted."""
        for position, more in zip(self.positions, other.positions, strict=True):
            position.merge(more)
        for name in ("starting_hands", "final_hands", "river_hands"):
            for won, more_won in zip(getattr(self, name), getattr(other, name), strict=True):
                won.merge(more_won)


class Timing:
    """How long answers took, and what was remarked.

    Attributes:
        actions: whose time is known.
        used_us: time, in all.
        longest_us: the longest.
        comments: lines sent.
    """

    __slots__ = ("actions", "comments", "longest_us", "used_us")

    def __init__(self) -> None:
        self.actions = 0
        self.used_us = 0
        self.longest_us = 0
        self.comments = 0

    def merge(self, other: Timing) -> None:
        """Count in what another has counted."""
        self.actions += other.actions
        self.used_us += other.used_us
        self.longest_us = max(self.longest_us, other.longest_us)
        self.comments += other.comments


class Follower:
    """A bot as its hands come.

    Attributes:
        name: of the bot.
        curve: its winnings on the way.
        timing: how long it took.
        due: in how many hands the next point of the curve is due.
    """

    __slots__ = ("curve", "due", "name", "timing")

    def __init__(self, name: str) -> None:
        self.name = name
        self.curve = Curve()
        self.timing = Timing()
        self.due = 1
