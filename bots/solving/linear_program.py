"""Equilibria by linear programming: the pair of programs of Koller, Megiddo & von Stengel (1996), solved by HiGHS.

With payoffs A and the constraints E x = e and F y = f of the two plans, player 0 looks for

    max q[0]   subject to   E x = e,   F' q - A' x <= 0,   x >= 0,   q free:

q[h] is what the best answer of player 1 leaves from information set h on. The dual values of the inequalities are an
optimal plan of player 1. What HiGHS calls optimal holds within tolerances: `bots.solving.plans.exploitability` says how
good the plans are.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from bots.errors import SolvingError
from bots.solving.plans import plan_of
from bots.solving.sequence_form import Choice, Entries, Plan, Plans, SequenceForm

if TYPE_CHECKING:
    import highspy

__all__ = ["Equilibrium", "LinearProgram"]

_POLL_S: Final = 0.1
_TOLERANCE: Final = 1e-10
"""The smallest that HiGHS takes: the probability of two classes, and with it a payoff, is small."""
_ROUNDING: Final = 1e-11
"""A weight of a plan up to this is the solver's rounding, not a choice."""


class Equilibrium(NamedTuple):
    """What a linear program comes to.

    Attributes:
        value: what player 0 wins on average, in chips.
        plans: an optimal plan of each player.
    """

    value: float
    plans: Plans


class LinearProgram:
    """The program of player 0, ready to be solved or written down."""

    def __init__(self, form: SequenceForm, payoffs: Entries | None = None) -> None:
        """Set it up.

        Args:
            form: the game.
            payoffs: other payoffs than those of the game.
        """
        import highspy

        self._form = form
        payoffs = form.payoffs().summed() if payoffs is None else payoffs
        own, other = form.constraints(0), form.constraints(1)
        first_free, first_row = payoffs.shape[0], own.shape[0]
        rows = np.concatenate([own.rows, first_row + other.columns, first_row + payoffs.columns])
        columns = np.concatenate([own.columns, first_free + other.rows, payoffs.rows])
        values = np.concatenate([own.values, other.values, -payoffs.values])
        shape = first_row + other.shape[1], first_free + other.shape[0]
        matrix = Entries(rows, columns, values, shape).summed()
        program = highspy.HighsLp()
        program.model_name_ = "equilibrium"
        program.num_row_, program.num_col_ = shape
        program.sense_ = highspy.ObjSense.kMaximize
        program.col_cost_ = (np.arange(shape[1]) == first_free).astype(np.float64)
        program.col_lower_ = np.where(np.arange(shape[1]) < first_free, 0.0, -highspy.kHighsInf)
        program.col_upper_ = np.full(shape[1], highspy.kHighsInf)
        right = (np.arange(shape[0]) == 0).astype(np.float64)
        program.row_lower_ = np.where(np.arange(shape[0]) < first_row, right, -highspy.kHighsInf)
        program.row_upper_ = right
        program.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        program.a_matrix_.num_row_, program.a_matrix_.num_col_ = shape
        program.a_matrix_.start_ = np.searchsorted(matrix.rows, np.arange(shape[0] + 1)).astype(np.int32)
        program.a_matrix_.index_ = matrix.columns.astype(np.int32)
        program.a_matrix_.value_ = matrix.values
        self._first_row = first_row
        self._solver = highspy.Highs()
        self._solver.silent()
        for kind in ("primal", "dual"):
            self._solver.setOptionValue(f"{kind}_feasibility_tolerance", _TOLERANCE)
        self._solver.passModel(program)

    def write_mps(self, path: Path) -> None:
        """Write the program for other solvers; its optimum is the value of the game in chips.

        Raises:
            SolvingError: the file cannot be written.
        """
        import highspy

        # HiGHS takes the format from the ending of the name, and says nothing of why it cannot write.
        with tempfile.TemporaryDirectory() as folder:
            written = Path(folder) / "program.mps"
            if self._solver.writeModel(str(written)) == highspy.HighsStatus.kError:
                raise SolvingError("HiGHS cannot write the linear program")
            shutil.copyfile(written, path)

    def solve(self, on_step: Callable[[int], None] | None = None) -> Equilibrium:
        """Solve it; an interruption ends the solver.

        Args:
            on_step: called every tenth of a second, with how many pivots the solver has made.

        Raises:
            SolvingError: the solver ends without an optimum.
        """
        import highspy

        solver = self._solver
        solver.HandleUserInterrupt = True
        thread = Thread(target=solver.run, daemon=True)
        thread.start()
        try:
            while thread.is_alive():
                thread.join(_POLL_S)
                if on_step is not None:
                    on_step(0)
        except BaseException:
            solver.cancelSolve()
            thread.join()
            raise
        status = solver.getModelStatus()
        if status != highspy.HighsModelStatus.kOptimal:
            raise SolvingError(f"HiGHS found no optimum: {solver.modelStatusToString(status).lower()}")
        solution = solver.getSolution()
        own = np.array(solution.col_value)
        other = np.array(solution.row_dual)[self._first_row :]
        plans = self._plan(0, own), self._plan(1, other / other[0])
        return Equilibrium(solver.getInfo().objective_function_value, plans)

    def _plan(self, player: int, weights: Plan) -> Plan:
        """The plan of a vector, without the rounding of the solver."""
        found = weights[self._form.numbers(player)]
        found[found < _ROUNDING] = 0

        def chances(choice: Choice) -> Plan:
            of_actions = found[choice.sequences]
            total = of_actions.sum(0)
            return np.divide(of_actions, total, out=np.full(of_actions.shape, 1 / len(of_actions)), where=total > 0)

        return plan_of(self._form, player, chances)
