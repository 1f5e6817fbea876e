"""The solution that Vytrísal (2013) printed, made again with the mistake that led to it.

Where the small blind folds at once, the big blind has done nothing: in the sequence form that leaf is one cell for all
its 169 classes, and their payoffs have to be summed. The work assigned each of them to the cell, so that only the one
written last was left: to fold cost nearly nothing, and 89 of 169 hands did. Which class came last matters little: with
any pair, and AA is the last of ours, the mixed strategies are those of the work.

In that game the small blind never limps, and what the big blind would do after a limp is hardly bound: it only has to
make limping no better. Of all optimal plans the one nearest to what the work printed is taken.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from bots.solving.equilibria import Equilibrium, LinearProgram, Step
from bots.solving.sequence_form import Plan, SequenceForm
from engine import STARTING_HANDS
from engine.cards import RANKS

__all__ = ["AFTER_LIMP", "BALANCES", "published_program", "solve_as_published"]

_SEQUENCES = {"f": ("c", 0), "k": ("c", 1), "rf": ("crr", 0), "rr": ("crr", 2)}
"""The words of the table after a limp: the betting before the last action, and its place among the actions."""


def published_program(form: SequenceForm, *, player: int = 0) -> LinearProgram:
    """The linear program of a player, with the mistake."""
    return LinearProgram(form, form.payoffs().overwritten(), player=player)


def solve_as_published(form: SequenceForm, on_step: Step | None = None) -> Equilibrium:
    """The solution of the game with the mistake; `on_step` is called now and then.

    Raises:
        SolvingError: the solver ends without an optimum.
    """
    program = published_program(form, player=1)
    value, (small_blind, _) = program.solve(on_step)
    return Equilibrium(value, (small_blind, program.favourite(_printed(form), on_step)))


def _printed(form: SequenceForm) -> Plan:
    """How often the big blind ends a betting after a limp in each way, as printed; 0 for all other sequences."""
    first = {choice.name: choice.first for choice in form.choices[1]}
    plan = np.zeros(form.plan_shape(1))
    for hand, name in enumerate(STARTING_HANDS):
        cell = AFTER_LIMP[name]
        for word, chance in MIXED.get(cell, {cell: 1.0}).items():
            betting, action = _SEQUENCES[word]
            if betting in first:
                plan[first[betting] + action, hand] = chance
    return plan


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
