"""Make the table of strategies before the flop: `python -m bots.lp_mc.generate` rewrites its file.

It takes seconds. If the checksum it prints is a new one, `bots.lp_mc.strategy.STRATEGY_SHA256` has to follow: the
equilibrium is one of many, and another version of the solver may find another.
"""

from __future__ import annotations

import hashlib

import numpy as np

from bots.lp_mc.preflop import PreflopRules, preflop_form, solve
from bots.lp_mc.published import solve_as_published
from bots.lp_mc.strategy import BETTINGS, STRATEGY_PATH, PreflopStrategy, write
from bots.solving.sequence_form import Plans, SequenceForm, completed

__all__ = ["strategy_table"]


def strategy_table(form: SequenceForm, plans: Plans) -> PreflopStrategy:
    """Two plans as probabilities of fold, call and raise, complete: see `bots.solving.sequence_form.completed`."""
    chances = {name: array for player in (0, 1) for name, array in completed(form, player, plans).items()}
    rows = [np.vstack([chances[name], np.zeros((3 - len(chances[name]), chances[name].shape[1]))]) for name in BETTINGS]
    return PreflopStrategy(tuple(float(number) for row in rows for number in row.T.ravel()))


def main() -> None:
    """Write the file and print its size and checksum."""
    form = preflop_form(PreflopRules())
    tables = [strategy_table(form, solver(form).plans) for solver in (solve, solve_as_published)]
    data = write(*tables)
    with open(STRATEGY_PATH, "wb") as file:
        file.write(data)
    print(f"{STRATEGY_PATH}: {len(data)} bytes, sha256 {hashlib.sha256(data).hexdigest()}")


if __name__ == "__main__":
    main()
