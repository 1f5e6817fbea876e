"""What each decision has earned in each cell, and the decision that follows from it.

The work's matrix has a dimension for each quantity of the state, one for the decision and one for profit or loss; a
cell holds "the results". Training (formula 4) writes the reward of every decision of a hand into the cell of its state.
A decision (formulas 7 and 8) is D = argmax R(d), where R(d) is the "best mean of rewards in proportion" over C_d, the
rewards of the state in which d was taken: here (profits - losses) / (number of profits + number of losses).

The formulas are missing; these parts are ours. The reward is what the player won or lost in the whole hand, the same
for each of its decisions. Rewards are whole thousandths of a big blind, so that sums are exact and memories can be
added in any order. A hand that ends even counts as a profit of 0. A decision never tried in a state is no candidate;
among equal means the smaller decision is taken; a state without any result is answered by decision 2, to continue.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, NamedTuple, TypeAlias

from bots.formula.decisions import Decision
from bots.learner.cells import Cell, level_counts
from bots.learner.constants import Constants

__all__ = ["NOTHING", "UNTRIED", "Matrix", "Memory", "Results", "Row", "best_decision", "merge", "reward_mbb"]


class Results(NamedTuple):
    """The rewards of one decision in one cell: formula 8's C_d, by its sums.

    Attributes:
        profits: how many were 0 or more.
        profit_mbb: their sum, in thousandths of a big blind.
        losses: how many were below 0.
        loss_mbb: their sum without its sign.
    """

    profits: int = 0
    profit_mbb: int = 0
    losses: int = 0
    loss_mbb: int = 0

    @property
    def taken(self) -> int:
        """How often the decision was taken."""
        return self.profits + self.losses

    @property
    def mean_mbb(self) -> float:
        """Formula 8, R(d).

        Raises:
            ZeroDivisionError: it was never taken.
        """
        return (self.profit_mbb - self.loss_mbb) / (self.profits + self.losses)

    def with_reward(self, reward: int) -> Results:
        """These and one more, in thousandths of a big blind."""
        if reward < 0:
            return Results(self.profits, self.profit_mbb, self.losses + 1, self.loss_mbb - reward)
        return Results(self.profits + 1, self.profit_mbb + reward, self.losses, self.loss_mbb)

    def plus(self, other: Results) -> Results:
        """Both together."""
        return Results(*[mine + its for mine, its in zip(self, other, strict=True)])

    def minus(self, other: Results) -> Results:
        """These without others that are among them."""
        return Results(*[mine - its for mine, its in zip(self, other, strict=True)])


NOTHING: Final = Results()
"""No results."""

Row: TypeAlias = tuple[Results, Results, Results, Results, Results]
"""The results in one cell, of the decisions 1 to 5."""

UNTRIED: Final[Row] = (NOTHING,) * 5
"""The row of a cell that has not been met."""


def best_decision(row: Row) -> Decision:
    """Formula 7: the decision with the best mean; the smaller one of equals, 2 where there is no result."""
    best, best_mean = Decision.CALL, -float("inf")
    for decision, results in zip(Decision, row, strict=True):
        if results.taken and (mean := results.mean_mbb) > best_mean:
            best, best_mean = decision, mean
    return best


def reward_mbb(value_chips: float, big_blind_chips: int) -> int:
    """The reward of a hand: net chips as thousandths of a big blind, rounded half to even where a pot was split."""
    return round(value_chips * 1000 / big_blind_chips)


@dataclass(frozen=True, slots=True)
class Memory:
    """All that a learner remembers, as a value.

    Attributes:
        constants: what its cells mean.
        hands: how many hands it has learnt from.
        cells: the cells met, in ascending order, each with its row.
        training: a record of how it came about, as JSON; an empty text without one.
    """

    constants: Constants
    hands: int = 0
    cells: tuple[tuple[Cell, Row], ...] = ()
    training: str = ""

    def __post_init__(self) -> None:
        """Check that it can have come about.

        Raises:
            ValueError: cells are out of order or beyond their levels, or a number is negative.
        """
        counts = level_counts(self.constants)
        before: Cell | None = None
        for cell, row in self.cells:
            if before is not None and cell <= before:
                raise ValueError(f"cell {cell.text} is out of order")
            if any(index >= count for index, count in zip(cell, counts, strict=True)):
                raise ValueError(f"cell {cell.text} is beyond its levels")
            if min(map(min, row)) < 0:
                raise ValueError(f"cell {cell.text} has a negative number")
            before = cell
        if self.hands < 0:
            raise ValueError(f"hands cannot be negative: {self.hands}")

    def since(self, earlier: Memory) -> Memory:
        """What has been learnt since an earlier state of the same memory.

        Raises:
            ValueError: it is not an earlier state of this one.
        """
        _require_equal_constants((self, earlier))
        past = dict(earlier.cells)
        rows = []
        for cell, row in self.cells:
            gained = _row([now.minus(then) for now, then in zip(row, past.pop(cell, UNTRIED), strict=True)])
            if gained != UNTRIED:
                rows.append((cell, gained))
        if past:
            raise ValueError(f"cell {min(past).text} is known to the earlier memory only")
        return Memory(self.constants, self.hands - earlier.hands, tuple(rows))


def merge(memories: Iterable[Memory]) -> Memory:
    """Memories added up; the order changes nothing but the record of training, which is that of the first.

    Learners that started from the same memory are merged as that memory and what each has learnt since
    (`Memory.since`); otherwise it would be counted as often as there are learners.

    Raises:
        ValueError: there is none, or their constants differ.
    """
    memories = tuple(memories)
    if not memories:
        raise ValueError("there is no memory to merge")
    _require_equal_constants(memories)
    matrix = Matrix(memories[0])
    for memory in memories[1:]:
        matrix.add(memory)
    return matrix.memory()


def _require_equal_constants(memories: tuple[Memory, ...]) -> None:
    for memory in memories[1:]:
        if differing := memories[0].constants.differences(memory.constants):
            raise ValueError(f"the memories have cells of different sizes: {', '.join(differing)}")


def _row(results: Iterable[Results]) -> Row:
    fold, call, small, medium, large = results
    return fold, call, small, medium, large


class Matrix:
    """A memory that goes on learning.

    Attributes:
        constants: what its cells mean.
        hands: how many hands it has learnt from.
    """

    def __init__(self, start: Memory) -> None:
        self.constants = start.constants
        self.hands = start.hands
        self._rows: dict[Cell, Row] = dict(start.cells)
        self._training = start.training

    def __len__(self) -> int:
        """The number of cells met."""
        return len(self._rows)

    @property
    def rows(self) -> Mapping[Cell, Row]:
        """The cells met, each with its row; follows what is learnt."""
        return MappingProxyType(self._rows)

    def row(self, cell: Cell) -> Row:
        """The results in a cell."""
        return self._rows.get(cell, UNTRIED)

    def learn(self, decisions: Iterable[tuple[Cell, Decision]], reward: int) -> None:
        """Formula 4: a hand has ended.

        Args:
            decisions: those of the player in the hand, each with the cell of its state; one taken twice counts twice.
            reward: of the hand, in thousandths of a big blind.
        """
        self.hands += 1
        for cell, decision in decisions:
            row = list(self.row(cell))
            row[decision - 1] = row[decision - 1].with_reward(reward)
            self._rows[cell] = _row(row)

    def add(self, memory: Memory) -> None:
        """Learn all that another memory holds, whose constants are the same."""
        self.hands += memory.hands
        for cell, row in memory.cells:
            self._rows[cell] = _row([mine.plus(its) for mine, its in zip(self.row(cell), row, strict=True)])

    def memory(self) -> Memory:
        """What it remembers by now, as a value."""
        return Memory(self.constants, self.hands, tuple(sorted(self._rows.items())), self._training)
