"""Leaks as values: the cells of what is asked, and which of them are leaks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from logs.leaks.partings import DIMENSIONS, Parting

__all__ = ["FEWEST_DEALS", "Cell", "Leaks"]

FEWEST_DEALS: Final = 30
"""Deals a cell needs to be asked, and a match to be treated."""

_DECISIONS: Final = DIMENSIONS[:2]


@dataclass(frozen=True, slots=True)
class Cell:
    """What was asked about some decisions together.

    Attributes:
        dimension: one of `logs.leaks.partings.DIMENSIONS`, or `BY_POSITION`.
        name: what the decisions have in common.
        deals: how many there were.
        per_100_hands: chips per hundred of all hands of the player, against what the other player made of its cards.
        half_width: of the interval, which holds together with those of all other cells, 95 %; None for cells of
            fewer than `FEWEST_DEALS` deals, which are not asked.
        choices: what the player did, what the other did, in how many deals, and chips per hundred hands; none for
            winnings by position.
    """

    dimension: str
    name: str
    deals: int
    per_100_hands: float
    half_width: float | None
    choices: tuple[tuple[str, str, int, float], ...]

    @property
    def is_leak(self) -> bool:
        """Whether the whole interval lies below 0."""
        return self.half_width is not None and self.per_100_hands + self.half_width < 0

    @property
    def by_choice(self) -> float:
        """The part of `per_100_hands` that follows what was chosen; the rest came later, whoever chose what.

        Where the player chose a and the other b in n deals, at m chips each, and the other way round in n' deals at m',
        a skill that tells later adds the same to m and m', the choice itself as much to one as it takes from the other.
        So the choice has earned (n - n') (m - m') / 2. All of it is the choice's where one of the two ways has fewer
        than `FEWEST_DEALS` deals, too few to tell.
        """
        if len(self.choices) != 2 or min(deals for _, _, deals, _ in self.choices) < FEWEST_DEALS:
            return self.per_100_hands
        (*_, one, chips), (*_, other, others_chips) = self.choices
        return (one - other) * (chips / one - others_chips / other) / 2


@dataclass(frozen=True, slots=True)
class Leaks:
    """Where a player loses.

    Attributes:
        player: whose leaks.
        others: against whom, in the order met.
        deals: played in all seatings: between two players pairs of hands.
        unpaired: hands of the player whose deal was not played in all seatings; they do not count.
        parted: deals in which the player did what another did not do.
        cells: by dimension, the worst first.
        asked: how many cells have an interval.
        bound: standard errors of each half-width.
        worst: the partings that cost most, each with the paths of its hands, the worst first.
        is_of_many: whether more than two play at a table.
    """

    player: str
    others: tuple[str, ...]
    deals: int
    unpaired: int
    parted: int
    cells: tuple[Cell, ...]
    asked: int
    bound: float
    worst: tuple[tuple[Parting, tuple[str, ...]], ...]
    is_of_many: bool

    @property
    def leaks(self) -> tuple[Cell, ...]:
        """Decisions that lose, at least half of it by what was chosen, the worst first.

        Cards that hold at least half of what a decision loses stand before it, in its place: they say more.
        """
        found = [cell for cell in self.cells if _is_choice(cell)]
        wide = {cell.name: cell.per_100_hands for cell in found if cell.dimension == "decision"}

        def place(cell: Cell) -> tuple[float, int, float]:
            at, _, choice = cell.name.partition(", with ")
            whole = wide.get(f"{at}: {choice.rpartition(': ')[2]}", 0.0) if choice else 0.0
            stands = whole if 2 * cell.per_100_hands <= whole else cell.per_100_hands
            return min(stands, cell.per_100_hands), DIMENSIONS.index(cell.dimension), cell.per_100_hands

        return tuple(sorted(found, key=place))

    @property
    def wider(self) -> tuple[Cell, ...]:
        """All other cells that lose, the worst first."""
        found = [cell for cell in self.cells if cell.is_leak and not _is_choice(cell)]
        return tuple(sorted(found, key=lambda cell: cell.per_100_hands))


def _is_choice(cell: Cell) -> bool:
    """Whether a cell is a leak of one decision rather than of what came behind it."""
    return cell.dimension in _DECISIONS and cell.is_leak and cell.by_choice <= cell.per_100_hands / 2
