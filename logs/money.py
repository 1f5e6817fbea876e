"""Chips as amounts of money: exact, and without more decimals than money has.

The ACPC counts whole chips and splits pots into exact parts; card rooms count cents. A `Scale` says what a chip is
worth and turns chips into units, the smallest coin: whole numbers, so that what is paid out sums to what was put in.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import accumulate
from typing import Final

__all__ = ["MOST_DECIMALS", "Scale", "amount_text"]

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
