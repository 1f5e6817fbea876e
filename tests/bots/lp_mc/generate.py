"""Generate the table of strategies before the flop: `python -m tests.bots.lp_mc.generate` rewrites its file.

It takes seconds. If the printed checksum changes, update that in `bots.lp_mc.strategy`: the equilibrium is one of many,
and another version of the solver can return another.

"""

from __future__ import annotations

import hashlib

import numpy as np

from bots.lp_mc.preflop import PreflopRules, preflop_form, solve, solve_as_published
from bots.lp_mc.strategy import BETTINGS, STRATEGIES, PreflopStrategy
from bots.solving.sequence_form import Plans, SequenceForm
from tests.bots.completing import complete_plan


def strategy_table(form: SequenceForm, plans: Plans) -> PreflopStrategy:
    """Convert two plans to complete probabilities of fold, call and raise; see `tests.bots.completing`."""
    chances = {name: array for player in (0, 1) for name, array in complete_plan(form, player, plans).items()}
    rows = [np.vstack([chances[name], np.zeros((3 - len(chances[name]), chances[name].shape[1]))]) for name in BETTINGS]
    return PreflopStrategy(tuple(float(number) for row in rows for number in row.T.ravel()))


def write(equilibrium: PreflopStrategy, published: PreflopStrategy) -> bytes:
    return STRATEGIES.magic + np.array(equilibrium.numbers + published.numbers, "<f8").tobytes()


def main() -> None:
    form = preflop_form(PreflopRules())
    data = write(*[strategy_table(form, solver(form).plans) for solver in (solve, solve_as_published)])
    with open(STRATEGIES.path, "wb") as file:
        file.write(data)
    print(f"{STRATEGIES.path}: {len(data)} bytes, sha256 {hashlib.sha256(data).hexdigest()}")


if __name__ == "__main__":
    main()
