"""The printed tables 1 and 3 of the thesis on `lp-mc`, cell by cell.

Rows and columns are ranks from ace to two. Suited hands are above the diagonal. Letters are actions as in the thesis:
``f`` folds, ``c`` calls, ``rc`` raises and calls a raise, ``rr`` raises twice, and ``x1`` and ``z1`` are mixed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from engine import STARTING_HANDS

TABLE_1: Final = """
rr rc rc rr rc rc rc rc f  f  f  f  f
rc rc rc rc rr rc f  f  f  f  f  f  f
rc rc rc rc rc rr f  f  f  f  f  f  f
rc rc rc rc f  f  rr f  f  f  f  f  f
rc rc rc f  f  f  f  rc f  f  f  f  f
rc rc f  f  f  f  f  f  rc f  f  f  f
rc rc f  f  f  f  f  f  f  rc f  f  f
rc rc f  f  f  f  f  f  f  f  rc f  f
rc x1 f  f  f  f  f  f  f  f  f  rc f
rc f  f  f  f  f  f  f  f  f  f  f  f
"""
"""The small blind. The rows of ace, king and queen lack cells in the text that we have."""
TABLE_3: Final = """
rc rc rc rc rc rc rc rc rc rc c  c  c
rr rc rc rc rc c  c  c  c  c  c  c  c
rr rc rc c  c  c  c  c  c  c  c  c  c
rr z1 rr rc rf rf c  c  c  c  c  c  c
rc c  rr c  rc c  c  c  c  c  c  c  c
rc c  c  c  rc c  c  c  c  c  c  c  c
rc c  c  c  c  c  rc c  c  c  c  c  c
c  c  c  c  c  c  c  rc c  c  c  c  c
c  c  c  c  c  c  c  c  rc c  c  c  c
c  c  c  c  c  c  c  c  c  rc c  c  c
c  c  c  c  c  c  c  c  c  c  c  c  c
c  c  c  c  c  c  c  c  c  c  c  c  c
c  c  c  c  c  c  c  c  c  c  c  c  c
"""
"""The big blind after a raise."""
_MIXED: Final = ("x1", "z1")


def cells(table: str) -> Mapping[str, str]:
    """Return the printed cells of a table by starting hand; the table may lack its first rows."""
    printed = table.split()
    return dict(zip(STARTING_HANDS[::-1][-len(printed) :], printed, strict=True))


def differences(table: str, lines: Mapping[str, Mapping[str, float]]) -> Mapping[str, tuple[str, str]]:
    """Return the printed and our action of each hand in which they differ.

    Args:
        lines: probability of each sequence of actions by starting hand, as in `bots.lp_mc.preflop.PreflopSolution`.
    """
    different = {}
    for hand, cell in cells(table).items():
        shares = lines[hand]
        ours = next(iter(shares)) if len(shares) == 1 else "mixed"
        printed = "mixed" if cell in _MIXED else cell
        # The text has calls and rc only.
        if table is TABLE_3 and printed == "rr":
            printed = "rc"
        if printed != ours:
            different[hand] = (printed, ours)
    return different
