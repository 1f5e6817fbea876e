"""The ten constants of the learner: an interval for each of eight quantities, and two numbers of levels.

The work searches them within the ranges given here and prints no values that it found. The defaults are ours: they
split what occurs between two players with 100 big blinds into a few levels each.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Final, NamedTuple

__all__ = ["RANGES", "Constants", "Range"]

_SMALLEST_INTERVAL: Final = 1e-3
_LARGEST_INTERVAL: Final = 1e6
_MOST_LEVELS: Final = 10
"""A level is one digit in a file."""


class Range(NamedTuple):
    """Where the work searches a constant, both ends included."""

    low: float
    high: float


RANGES: Final[Mapping[str, Range]] = {
    "chance_interval": Range(5, 25),
    "pot_interval": Range(1, 50),
    "raise_interval": Range(1, 25),
    "odds_interval": Range(1, 10),
    "qtyraise_interval": Range(1, 10),
    "nplayers_interval": Range(1, 10),
    "followers_interval": Range(1, 10),
    "ingame_interval": Range(1, 10),
    "big_qty": Range(2, 10),
    "little_qty": Range(2, 4),
}
"""The work's table of the genes, by constant and in its order. BIG QTY and LITTLE QTY are whole numbers."""


def _interval(default: float, quantity: str) -> float:
    value: float = field(default=default, metadata={"decides": f"how much {quantity} one level holds"})
    return value


def _levels(default: int, quantities: str) -> int:
    value: int = field(default=default, metadata={"decides": f"how many levels {quantities} have"})
    return value


@dataclass(frozen=True, slots=True)
class Constants:
    """How finely a learner looks. Money is in big blinds, CHANCE in per cent."""

    chance_interval: float = _interval(12.5, "of CHANCE, in per cent,")
    pot_interval: float = _interval(4.0, "of POT, in big blinds,")
    raise_interval: float = _interval(2.0, "of RAISE, in big blinds,")
    odds_interval: float = _interval(1.5, "of ODDS")
    qtyraise_interval: float = _interval(2.0, "of QTYRAISE")
    nplayers_interval: float = _interval(3.0, "of NPLAYERS")
    followers_interval: float = _interval(1.0, "of FOLLOWERS")
    ingame_interval: float = _interval(2.0, "of INGAME")
    big_qty: int = _levels(8, "CHANCE, POT, RAISE and ODDS")
    little_qty: int = _levels(4, "QTYRAISE, NPLAYERS, FOLLOWERS and INGAME")

    def __post_init__(self) -> None:
        """Check the values, and make every interval a float, so that equal constants are written alike.

        Raises:
            ValueError: a value is out of range.
        """
        for one in fields(self):
            value = getattr(self, one.name)
            if one.name.endswith("_qty"):
                if not (type(value) is int and 1 <= value <= _MOST_LEVELS):
                    raise ValueError(f"{one.name} must be a whole number from 1 to {_MOST_LEVELS}, not {value}")
            elif not _SMALLEST_INTERVAL <= value <= _LARGEST_INTERVAL:
                raise ValueError(
                    f"{one.name} must be from {_SMALLEST_INTERVAL:g} to {_LARGEST_INTERVAL:g}, not {value}"
                )
            else:
                object.__setattr__(self, one.name, float(value))

    def differences(self, other: Constants) -> Mapping[str, float]:
        """The constants in which another set differs, with its values."""
        values = {one.name: getattr(other, one.name) for one in fields(other)}
        return {name: value for name, value in values.items() if value != getattr(self, name)}
