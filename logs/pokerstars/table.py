"""The lines of a hand that follow from who sits where, with gaps for number and time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from engine import Game, Position, Seat
from engine.game import DEFAULT_STACK
from engine.holdem import Blinds
from logs.pokerstars.stakes import Money

__all__ = ["Table"]

_TABLE_SIZES: Final = (2, 3, 6, 9, 10)
_DEEP_BIG_BLINDS: Final = 10_000


class Table:
    """Where the players of a hand sit.

    Attributes:
        names: of the players, as the format has them, by position.
        by_seat: the positions in the order of the seats.
        seat_texts: how a position's line in the summary begins.
        head: the lines before the cards are dealt. Gaps: number and time of the hand.
    """

    def __init__(
        self,
        game: Game,
        blinds: Blinds,
        seats: Sequence[Seat],
        names: Sequence[str],
        *,
        first_line: str,
        table_name: str,
        money: Money,
        line_end: str,
    ) -> None:
        """Make the lines.

        Args:
            game: the game.
            blinds: who posts them.
            seats: the seat of each position.
            names: by seat, as the format has them.
            first_line: of every hand, without its end; it has the gaps.
            table_name: as the format has it.
            money: what chips are worth.
            line_end: of every line.
        """
        self.names = tuple([names[seat] for seat in seats])
        self.by_seat = tuple(sorted(map(Position, range(len(seats))), key=lambda position: seats[position]))
        self.seat_texts = tuple(
            f"Seat {seat + 1}: {name}{_tags(Position(position), blinds)} "
            for position, (seat, name) in enumerate(zip(seats, self.names, strict=True))
        )
        size = next(size for size in _TABLE_SIZES if size >= len(seats))
        play_money = "" if money.code else " (Play Money)"
        lines = [
            first_line,
            f"Table '{table_name}' {size}-max{play_money} Seat #{seats[blinds.button] + 1} is the button",
        ]
        for position in self.by_seat:
            stack = money.chips(_shown_stack(game, position))
            lines.append(f"Seat {seats[position] + 1}: {self.names[position]} ({stack} in chips) ")
        for what, position in (("small", blinds.small), ("big", blinds.big)):
            ending = " and is all-in" if game.blinds[position] == game.stacks[position] else ""
            lines.append(f"{self.names[position]}: posts {what} blind {money.chips(game.blinds[position])}{ending}")
        self.head = line_end.join([*lines, "*** HOLE CARDS ***", ""])


def _tags(position: Position, blinds: Blinds) -> str:
    places = ((blinds.button, "button"), (blinds.small, "small blind"), (blinds.big, "big blind"))
    return "".join(f" ({what})" for place, what in places if place == position)


def _shown_stack(game: Game, position: Position) -> int:
    """The chips a player is said to have.

    A limit game may give no stacks: they are then deeper than any pot, and as a number (2147483647) deeper than a
    tracker that counts cents in 32 bits can hold. What is written for it is 10,000 big blinds, or more where the
    game's raises could use that up.
    """
    stack = game.stacks[position]
    if not game.is_limit or stack < DEFAULT_STACK:
        return stack
    raises = sum(most * size for most, size in zip(game.max_raises, game.raise_sizes, strict=True))
    return max(_DEEP_BIG_BLINDS, (max(game.blinds) + raises) // game.big_blind + 1) * game.big_blind
