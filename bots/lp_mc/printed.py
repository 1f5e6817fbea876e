"""What Vytrísal (2013) printed, as far as the text of the work has kept it.

The tables of starting hands have a row for each rank of the higher card of an offsuit hand and a column for each rank
of the higher card of a suited one, aces first, as usual. The text gives 10 f, 130 k, 6 rf, 21 rr and 3 mixed for the
table after a limp, which is one hand too many; as we have it, it holds 11, 129, 6, 20 and 3.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from engine.cards import RANKS

__all__ = ["AFTER_LIMP", "BALANCES", "MIXED"]

_AFTER_LIMP: Final = """
rr k  k  k  k  k  k  k  k  k  k  k  k
rr rr k  k  k  k  k  k  k  k  k  k  rf
rr rr rr k  k  k  k  k  rf rf k  k  k
rr rr rr rr rf k  rf k  k  k  k  k  k
rr rr rr k  rr k  k  k  k  k  k  k  k
rr k  k  k  k  rr k  k  k  k  k  f  f
rr k  k  k  k  k  rr k  k  k  k  f  f
k  k  k  k  k  k  k  rr k  k  k  f  f
k  k  k  k  k  k  k  k  y1 k  k  f  f
k  k  k  k  k  k  k  k  rr k  k  k  k
k  k  k  k  k  k  k  k  k  rf y3 f  f
y2 k  k  k  k  k  k  k  k  k  k  k  f
k  k  k  k  k  k  k  k  k  k  k  k  k
"""
"""Table 2: the big blind after a limp."""

MIXED: Final[Mapping[str, Mapping[str, float]]] = {
    "y1": {"rf": 0.47040, "rr": 0.52960},
    "y2": {"k": 0.44107, "rr": 0.55893},
    "y3": {"f": 0.44638, "k": 0.55362},
}
"""The mixed strategies of table 2."""

BALANCES: Final = {"raising": 0.04051, "random": 0.13224, "calling": -0.04931}
"""Table 4: what the strategy before the flop won in 5,000,000 hands each, in small bets per hand."""


def _by_name(table: str) -> dict[str, str]:
    """The cells of a table by the name of the starting hand."""
    ranks = RANKS[::-1]
    rows = [line.split() for line in table.split("\n") if line]
    return {
        ranks[min(row, column)]
        + ranks[max(row, column)]
        + ("" if row == column else "s" if row < column else "o"): cell
        for row, cells in enumerate(rows)
        for column, cell in enumerate(cells)
    }


AFTER_LIMP: Final[Mapping[str, str]] = _by_name(_AFTER_LIMP)
"""Table 2 by starting hand: f fold, k check, rf raise and fold to a raise, rr raise again, or one of `MIXED`."""
