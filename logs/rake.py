"""What the house takes of a pot.

    Rake(per_cent=5, step="0.25", cap=3)     # a quarter for every five, three at most; nothing without a flop

A `Rake` is what the writers of card-room formats take as their `rake`: it is called with the chips in the pot and
whether a flop was dealt, and returns chips. Any function of that shape will do in place of a schedule.
All of its amounts are in chips; where a chip is worth a cent, a cap of three dollars is 300.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal
from typing import TypeAlias

__all__ = ["Rake", "RakeFunction"]

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
