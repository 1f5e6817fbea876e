"""``arena solve preflop``: solve limit hold'em before the flop."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

from bots.sdk.options import Interval, Wording
from dealer.cli.shell.console import Terminal, abort, check_writable
from dealer.cli.shell.documents import DocumentOptions
from dealer.cli.shell.progress import showing_progress
from dealer.cli.shell.streams import EXIT_FAILED
from dealer.cli.solve_small import Algorithm

if TYPE_CHECKING:
    from bots.solving.equilibria import Equilibrium
    from bots.solving.sequence_form import SequenceForm

_CHECK_EVERY: Final = 50
"""Iterations of regret matching between computations of the exploitability."""
_CONVERGENCE_POWER: Final = 1.6
"""Power of the iterations with which the exploitability falls, measured."""


def preflop(
    terminal: Terminal,
    cap: Annotated[int, "Largest number of bets, the big blind included."] = 4,
    blinds: Annotated[str, "Blinds, in chips.", Wording("SMALL/BIG")] = "1/2",
    bet: Annotated[int, "Size of a raise, in chips."] = 2,
    algorithm: Annotated[Algorithm, "Algorithm: a linear program is exact, regret matching approximates."] = "lp",
    until: Annotated[
        float, "Stop at this exploitability in chips per hand. For cfr and cfr+ only.", Interval(1e-9)
    ] = 1e-5,
    as_published: Annotated[
        bool, "Reproduce the mistake of the published work. The result is compared with its figures."
    ] = False,
    mps: Annotated[Path | None, "Write the linear program of the small blind. Other solvers read the file."] = None,
    *,
    output: DocumentOptions,
) -> None:
    """Solve limit hold'em of two players that ends before the flop: value, charts of all hands, simple opponents.

    After the betting before the flop, the better hand wins, over all boards. --as-published solves it as Vytrísal
    (2013) did, who overwrote payoffs that had to be summed.
    """
    from bots.lp_mc.preflop import PreflopRules, preflop_document, preflop_form, preflop_solution

    rules = PreflopRules(_two_numbers(blinds), bet, cap)
    if as_published and algorithm != "lp":
        abort(f"--as-published reproduces a mistake in a linear program; leave out --algorithm {algorithm}")
    check_writable(mps)
    form = preflop_form(rules)
    if mps is not None:
        _write_mps(form, mps, as_published=as_published)
    solutions = _solutions(terminal, form, algorithm, until, as_published=as_published)
    output.show(terminal, preflop_document(preflop_solution(rules, form, solutions, algorithm=algorithm)))


def _two_numbers(blinds: str) -> tuple[int, int]:
    small, _, big = blinds.partition("/")
    if not (small.strip().isdecimal() and big.strip().isdecimal() and len(blinds) < 20):
        abort("--blinds: must be two numbers of chips, the small blind first, such as 1/2")
    return int(small), int(big)


def _write_mps(form: SequenceForm, path: Path, *, as_published: bool) -> None:
    from bots.lp_mc.preflop import published_program
    from bots.solving.equilibria import LinearProgram

    program = published_program(form) if as_published else LinearProgram(form)
    try:
        program.write_mps(path)
    except OSError as error:
        abort(f"cannot write {path}: {error.strerror}")


def _solutions(
    terminal: Terminal, form: SequenceForm, algorithm: Algorithm, until: float, *, as_published: bool
) -> dict[str, Equilibrium]:
    """Solve the game, and return solutions by name, the published one first."""
    from bots.errors import SolvingError
    from bots.lp_mc.preflop import solve, solve_as_published

    try:
        if algorithm != "lp":
            with showing_progress(terminal, "matching regrets") as show:
                return {algorithm: _by_regret(form, algorithm, until, show)}
        solutions = {}
        if as_published:
            with showing_progress(terminal, "solving the linear program as published") as show:
                solutions["as published"] = solve_as_published(form, lambda: show(None))
        with showing_progress(terminal, "solving the linear program") as show:
            solutions["equilibrium"] = solve(form, lambda: show(None))
        return solutions
    except SolvingError as error:
        abort(str(error), EXIT_FAILED)


def _by_regret(form: SequenceForm, algorithm: Algorithm, until: float, show: Callable[[float], None]) -> Equilibrium:
    from bots.lp_mc.preflop import without_free_folds
    from bots.solving.equilibria import Equilibrium, regret_matching
    from bots.solving.sequence_form import expected_value, exploitability

    steps = regret_matching(form, is_plus=algorithm == "cfr+")
    averages = islice(steps, _CHECK_EVERY - 1, None, _CHECK_EVERY)
    while True:
        small_blind, big_blind = next(averages)
        plans = (small_blind, without_free_folds(form, big_blind))
        reached = exploitability(form, plans)
        if reached <= until:
            return Equilibrium(expected_value(form, plans), plans)
        show((until / reached) ** (1 / _CONVERGENCE_POWER))
