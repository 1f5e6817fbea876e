"""Chips as exact amounts of money, and the rake.

The ACPC counts whole chips and splits pots into exact parts; card rooms count cents. A `Scale` converts chips to units
of the smallest coin, which are whole numbers, so payouts sum to the chips put in. A `Rake` is called with the chips in
the pot and a flag for the flop, and returns chips. Any function of that signature may replace it.

    Rake(per_cent=5, step="0.25", cap=3)     # a quarter for every five, at most three; nothing without a flop
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_FLOOR, Decimal
from fractions import Fraction
from itertools import accumulate
from typing import Final, TypeAlias

MAX_DECIMALS: Final = 6
"""Decimals of the value of a chip."""


def amount_text(amount: Fraction) -> str:
    """Format an amount without decimals or with two: ``5``, ``0.50``."""
    if amount.denominator == 1:
        return str(amount.numerator)
    return f"{float(amount):.2f}"


class Scale:
    """Value of chips in units: cents, or smaller coins if a chip is not a whole number of cents."""

    def __init__(self, chip_value: Decimal | float | str = 1) -> None:
        """Set the value of a chip in money.

        Raises:
            ValueError: it is not above 0, or has more than six decimals.
        """
        value = Decimal(str(chip_value))
        if not value.is_finite() or value <= 0:
            raise ValueError(f"the value of a chip must be above 0, not {chip_value}")
        decimals = max(2, -int(value.normalize().as_tuple().exponent))
        if decimals > MAX_DECIMALS:
            raise ValueError(f"the value of a chip has at most six decimals, not {decimals}: {chip_value}")
        self.chip_value = value
        self.unit = Decimal(1).scaleb(-decimals)
        self._units_per_chip = int(value / self.unit)
        self._units_per_coin = int(10**decimals)

    def units(self, chips: int) -> int:
        """Convert whole chips to units."""
        return chips * self._units_per_chip

    def rounded_units(self, chips: float | Fraction) -> int:
        """Convert a fraction of chips to the nearest unit."""
        return round(Fraction(chips) * self._units_per_chip)

    def number(self, units: int) -> int | float:
        """Convert units to an amount of money, an int where it is whole."""
        whole, rest = divmod(units, self._units_per_coin)
        if rest:
            return units / self._units_per_coin
        return whole

    def amount(self, chips: int) -> int | float:
        """Convert whole chips to an amount of money."""
        return self.number(self.units(chips))

    def chips(self, amount: Decimal | int) -> int | None:
        """Convert an amount of money to chips; None if that is not a whole number."""
        chips = Fraction(amount) * self._units_per_coin / self._units_per_chip
        if chips.denominator != 1:
            return None
        return int(chips)


def equal_shares(units: int, count: int) -> list[int]:
    """Split an amount in units into equal shares; the first shares get the odd units."""
    share, rest = divmod(units, count)
    return [share + 1] * rest + [share] * (count - rest)


def split_by_weight(units: int, weights: Sequence[int]) -> list[int]:
    """Split an amount in units by weights; no part exceeds its weight if the amount does not exceed their sum."""
    total = sum(weights)
    start = 0
    parts: list[int] = []
    # Cumulative sums are rounded down, so that roundings do not add up in any single part.
    for cumulative_weight in accumulate(weights):
        end = units * cumulative_weight // total
        parts.append(end - start)
        start = end
    return parts


RakeFunction: TypeAlias = Callable[[int, bool], float]
"""The rake of a pot, in chips, from its chips and whether a flop was dealt."""


@dataclass(frozen=True, slots=True)
class Rake:
    """Rake schedule in chips: with chips of a cent, a cap of three dollars is 300.

    Numbers may be texts, and are kept exact.

    Attributes:
        per_cent: share of the pot, 0 to 100.
        step: chips to a multiple of which the rake is rounded down; 0 rounds to the smallest coin only.
        cap: maximum in chips; None is no cap. Card rooms have one for each number of players dealt in, which is
            constant in a match.
        no_flop_no_drop: take nothing of a pot that ends before the flop.

    Raises:
        ValueError: a number is out of its range.
    """

    per_cent: Decimal | float | str
    step: Decimal | float | str = 0
    cap: Decimal | float | str | None = None
    no_flop_no_drop: bool = True

    def __post_init__(self) -> None:
        for name in ("per_cent", "step", "cap"):
            value = getattr(self, name)
            if value is None:
                continue
            number = Decimal(str(value))
            is_valid = number.is_finite() and number >= 0
            if name == "per_cent" and not (is_valid and number <= 100):
                raise ValueError(f"the per_cent of a rake is 0 to 100, not {value}")
            if not is_valid:
                raise ValueError(f"the {name} of a rake is 0 or more, not {value}")
            # The dataclass is frozen, so the number cannot be assigned.
            object.__setattr__(self, name, number)

    def in_chips(self, chip_value: Decimal | float | str) -> Rake:
        """Convert a schedule in money to chips."""
        value = Decimal(str(chip_value))
        cap = None
        if self.cap is not None:
            cap = Decimal(self.cap) / value
        return replace(self, step=Decimal(self.step) / value, cap=cap)

    def __call__(self, pot_chips: int, saw_flop: bool) -> float:
        """Return the chips taken from a pot, never more than the pot."""
        if self.no_flop_no_drop and not saw_flop:
            return 0.0
        rake = pot_chips * Decimal(self.per_cent) / 100
        step = Decimal(self.step)
        if step:
            rake = (rake / step).to_integral_value(ROUND_FLOOR) * step
        if self.cap is not None:
            rake = min(rake, Decimal(self.cap))
        return float(rake)
