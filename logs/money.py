"""Chips as amounts of money: exact, and without more decimals than money has.

The ACPC counts whole chips and splits pots into exact parts; card rooms count cents. A `Scale` says what a chip is
worth and turns chips into units, the smallest coin: whole numbers, so that what is paid out sums to what was put in.

    Rake(per_cent=5, step="0.25", cap=3)     # a quarter for every five, three at most; nothing without a flop

A `Rake` says what is taken of a pot, and is what the writers of card-room formats take as their `rake`: it is called
with the chips in the pot and whether a flop was dealt, and returns chips. Any function of that shape will do in place
of a schedule. All of its amounts are in chips; where a chip is worth a cent, a cap of three dollars is 300.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal
from fractions import Fraction
from itertools import accumulate
from typing import Final, TypeAlias

MOST_DECIMALS: Final = 6
"""Of what a chip is worth."""


def amount_text(amount: Fraction) -> str:
    """An amount without decimals or with two: ``5``, ``0.50``."""
    return str(amount.numerator) if amount.denominator == 1 else f"{float(amount):.2f}"


class Scale:
    """What chips are worth.

    Attributes:
        chip_value: what a chip is worth in money.
        unit: the smallest amount that is written, in money: a cent, or less if a chip is not a whole number of them.
    """

    def __init__(self, chip_value: Decimal | float | str = 1) -> None:
        """Take the value of a chip in money.

        Raises:
            ValueError: it is not above 0, or has more than six decimals.
        """
        value = Decimal(str(chip_value))
        if not value.is_finite() or value <= 0:
            raise ValueError(f"the value of a chip must be above 0, not {chip_value}")
        decimals = max(2, -int(value.normalize().as_tuple().exponent))
        if decimals > MOST_DECIMALS:
            raise ValueError(f"the value of a chip has at most six decimals, not {decimals}: {chip_value}")
        self.chip_value = value
        self.unit = Decimal(1).scaleb(-decimals)
        self._units_per_chip = int(value / self.unit)
        self._per_one = int(10**decimals)

    def units(self, chips: int) -> int:
        """Whole chips in units."""
        return chips * self._units_per_chip

    def rounded_units(self, chips: float | Fraction) -> int:
        """A part of chips in units, to the nearest."""
        return round(Fraction(chips) * self._units_per_chip)

    def number(self, units: int) -> int | float:
        """Units as an amount of money: an int where it is whole."""
        whole, rest = divmod(units, self._per_one)
        return units / self._per_one if rest else whole

    def amount(self, chips: int) -> int | float:
        """Whole chips as an amount of money."""
        return self.number(self.units(chips))

    def chips(self, amount: Decimal | int) -> int | None:
        """An amount of money in chips; None where that is not a whole number."""
        chips = Fraction(amount) * self._per_one / self._units_per_chip
        return int(chips) if chips.denominator == 1 else None


def shares(units: int, count: int) -> list[int]:
    """An amount in units split into equal shares; the first shares get the odd units."""
    share, rest = divmod(units, count)
    return [share + (i < rest) for i in range(count)]


def split(units: int, weights: Sequence[int]) -> list[int]:
    """An amount in units split in proportion to weights; no part exceeds its weight if the amount does not exceed all.

    Cumulative sums are rounded down, so that roundings do not add up in any single part.
    """
    total = sum(weights)
    ends = [units * part // total for part in accumulate(weights)]
    return [end - start for start, end in zip([0, *ends], ends, strict=False)]


RakeFunction: TypeAlias = Callable[[int, bool], float]
"""What the house takes of a pot: from its chips, and whether a flop was dealt, to chips."""


@dataclass(frozen=True, slots=True)
class Rake:
    """A schedule. Numbers may be given as texts; they are kept exact.

    A cap often depends on the number of players dealt in; that is the same in all hands of a match, so one cap will do.

    Attributes:
        per_cent: the share of the pot, 0 to 100.
        step: the rake is a multiple of this many chips, rounded down; 0 leaves it to the smallest coin.
        cap: the most chips taken; None means no cap.
        no_flop_no_drop: whether a pot that ends before the flop is not raked.

    Raises:
        ValueError: a number is out of its range; the sentence names it.
    """

    per_cent: Decimal | float | str
    step: Decimal | float | str = 0
    cap: Decimal | float | str | None = None
    no_flop_no_drop: bool = True

    def __post_init__(self) -> None:
        for name in ("per_cent", "step", "cap"):
            given = getattr(self, name)
            if given is None:
                continue
            number = Decimal(str(given))
            if not number.is_finite() or number < 0 or (name == "per_cent" and number > 100):
                wanted = "0 to 100" if name == "per_cent" else "0 or more"
                raise ValueError(f"the {name} of a rake is {wanted}, not {given}")
            object.__setattr__(self, name, number)

    def __call__(self, pot_chips: int, saw_flop: bool) -> float:
        """The chips taken from a pot, never more than the pot."""
        if self.no_flop_no_drop and not saw_flop:
            return 0.0
        step, cap = Decimal(self.step), self.cap
        taken = pot_chips * Decimal(self.per_cent) / 100
        if step:
            taken = (taken / step).to_integral_value(ROUND_FLOOR) * step
        return float(taken if cap is None else min(taken, Decimal(cap)))
