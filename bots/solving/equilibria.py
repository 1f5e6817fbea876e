"""Equilibria by linear programming (`LinearProgram`) and by regret matching (`RegretMatching`).

Linear programming is exact up to the tolerances of HiGHS, for games of two players. Regret matching (Zinkevich et al.
2007) approaches an equilibrium of a game of two players; with more players there is no guarantee. It has the variants
CFR, CFR+ (Tammelin 2014) and discounted CFR (Brown & Sandholm 2019). `bots.solving.sequence_form.nash_conv` measures
the distance of plans from an equilibrium.
"""

from __future__ import annotations

import math
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from threading import Thread
from typing import Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bots.errors import SolvingError
from bots.solving.sequence_form import (
    Chances,
    Plan,
    Plans,
    SequenceForm,
    SparseMatrix,
    expected_values,
    exploitability_in_words,
    nash_conv,
    others_of,
    plan_of,
    sequence_values,
    strategy_of,
)
from logs.document import (
    NAME,
    TEXT,
    Axis,
    Chart,
    Column,
    Document,
    Fact,
    Part,
    Section,
    Series,
    Shares,
    Table,
    Value,
)

_STEP_S: Final = 0.1
_TOLERANCE: Final = 1e-10
"""Feasibility tolerance, the minimum of HiGHS: payoffs contain the small probability of a pair of classes."""
_ROUNDING: Final = 1e-11
"""Weights of a plan below this become 0; they are rounding errors of the solver."""
Step: TypeAlias = Callable[[], None]


class Equilibrium(NamedTuple):
    """Optimal plans of both players, and the mean winnings of player 0, in chips."""

    value: float
    plans: Plans


class LinearProgram:
    """Linear program of a player in the sequence form (Koller, Megiddo & von Stengel 1996), solved by HiGHS.

    With the payoffs A and the constraints E x = e and F y = f of the two plans, it is

        max q[0]   subject to   E x = e,   F' q - A' x <= 0,   x >= 0,   q free

    where q[h] is the value that a best response leaves from the opponent's information set h on. The dual values of the
    inequalities are an optimal plan of the opponent.
    """

    def __init__(self, form: SequenceForm, payoffs: SparseMatrix | None = None, *, player: int = 0) -> None:
        """Pass the program to HiGHS.

        Args:
            payoffs: payoffs of player 0 instead of those of the game, each cell once.
            player: maximising player. The program of player 1 has the payoffs transposed and negated.

        Raises:
            SolvingError: HiGHS rejects the program.
        """
        import highspy

        self._form = form
        self._player = player
        payoffs = form.payoffs().summed() if payoffs is None else payoffs
        if player == 1:
            payoffs = SparseMatrix(payoffs.columns, payoffs.rows, -payoffs.values, payoffs.shape[::-1])
        own = form.constraints(player)
        other = form.constraints(1 - player)
        self._first_free = payoffs.shape[0]
        self._first_row = own.shape[0]
        # Variables are x, then q. Rows are E x, then F' q - A' x.
        matrix = SparseMatrix(
            np.concatenate([own.rows, self._first_row + other.columns, self._first_row + payoffs.columns]),
            np.concatenate([own.columns, self._first_free + other.rows, payoffs.rows]),
            np.concatenate([own.values, other.values, -payoffs.values]),
            (self._first_row + other.shape[1], self._first_free + other.shape[0]),
        ).summed()
        rows, columns = map(np.arange, matrix.shape)
        program = highspy.HighsLp()
        program.model_name_ = "equilibrium"
        program.num_row_, program.num_col_ = matrix.shape
        program.sense_ = highspy.ObjSense.kMaximize
        program.col_cost_ = (columns == self._first_free).astype(np.float64)
        program.col_lower_ = np.where(columns < self._first_free, 0.0, -highspy.kHighsInf)
        program.col_upper_ = np.full(len(columns), highspy.kHighsInf)
        right = (rows == 0).astype(np.float64)
        # E x = e are equalities. The other rows are bounded above only.
        program.row_lower_ = np.where(rows < self._first_row, right, -highspy.kHighsInf)
        program.row_upper_ = right
        program.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        program.a_matrix_.num_row_, program.a_matrix_.num_col_ = matrix.shape
        program.a_matrix_.start_ = np.searchsorted(matrix.rows, np.arange(len(rows) + 1)).astype(np.int32)
        program.a_matrix_.index_ = matrix.columns.astype(np.int32)
        program.a_matrix_.value_ = matrix.values
        self._solver = highspy.Highs()  # type: ignore[no-untyped-call]
        self._solver.silent()
        for kind in ("primal", "dual"):
            self._solver.setOptionValue(f"{kind}_feasibility_tolerance", _TOLERANCE)
        if self._solver.passModel(program) == highspy.HighsStatus.kError:
            raise SolvingError("HiGHS refuses the linear program: its payoffs are too large")

    def write_mps(self, path: Path) -> None:
        """Write the program in the MPS format for other solvers. Its optimum is the player's winnings, in chips.

        Raises:
            SolvingError: HiGHS cannot write the file.
        """
        import highspy

        # HiGHS takes the format from the suffix and gives no reason for a failure, so it writes to a folder of ours.
        with tempfile.TemporaryDirectory() as folder:
            written = Path(folder) / "program.mps"
            if self._solver.writeModel(str(written)) == highspy.HighsStatus.kError:
                raise SolvingError("HiGHS cannot write the linear program")
            shutil.copyfile(written, path)

    def solve(self, on_step: Step | None = None) -> Equilibrium:
        """Solve the program; an interrupt also stops the solver.

        Args:
            on_step: called every 0.1 s while the solver runs.

        Raises:
            SolvingError: HiGHS finds no optimum.
        """
        own = self._run(on_step)
        other = np.array(self._solver.getSolution().row_dual)[self._first_row :]
        # A plan has the weight 1 at the empty sequence.
        plans = self._plan(self._player, own), self._plan(1 - self._player, other / other[0])
        value = own[self._first_free]
        if self._player:
            return Equilibrium(-value, plans[::-1])
        return Equilibrium(value, plans)

    def favourite(self, weights: Plan, on_step: Step | None = None) -> Plan:
        """Return the optimal plan of the player with the largest sum of products with `weights`, after `solve`."""
        optimum = float(self._solver.getSolution().col_value[self._first_free])
        columns = np.arange(self._solver.getNumCol(), dtype=np.int32)
        costs = np.zeros(len(columns))
        np.add.at(costs, self._form.numbers(self._player), weights)
        # The value stays at the optimum, so that all plans which remain are optimal.
        self._solver.changeColBounds(self._first_free, optimum - _TOLERANCE, optimum + _TOLERANCE)
        self._solver.changeColsCost(len(columns), columns, costs)
        # The interior point method: the simplex method would start from the optimum but takes much longer.
        self._solver.setOptionValue("solver", "ipm")
        return self._plan(self._player, self._run(on_step))

    def _run(self, on_step: Step | None) -> NDArray[np.float64]:
        """Run the solver and return the values of the variables."""
        import highspy

        # In a thread of its own, so that this one can be interrupted.
        solver = self._solver
        solver.HandleUserInterrupt = True
        thread = Thread(target=solver.run, daemon=True)
        thread.start()
        try:
            while thread.is_alive():
                thread.join(_STEP_S)
                if on_step is not None:
                    on_step()
        except BaseException:
            solver.cancelSolve()  # type: ignore[no-untyped-call]
            thread.join()
            raise
        status = solver.getModelStatus()
        if status != highspy.HighsModelStatus.kOptimal:
            raise SolvingError(f"HiGHS found no optimum: {solver.modelStatusToString(status).lower()}")
        return np.array(solver.getSolution().col_value)

    def _plan(self, player: int, weights: NDArray[np.float64]) -> Plan:
        plan_weights = weights[self._form.numbers(player)]
        plan_weights[plan_weights < _ROUNDING] = 0
        return plan_of(self._form, player, lambda choice: in_proportion(plan_weights[choice.sequences]))


class Discounts(NamedTuple):
    """Powers of discounted CFR (Brown & Sandholm 2019); with all powers 1 it is linear CFR.

    Attributes:
        gains: power α, for regrets above 0.
        losses: power β, for regrets below 0.
        average: power γ, for the average.
    """

    gains: float = 1.5
    losses: float = 1.0
    average: float = 2.0

    def factors(self, iteration: int) -> _Factors:
        """Return the factors before iteration t: (t-1)^α / ((t-1)^α + 1), the same with β, and ((t-1) / t)^γ."""
        before = iteration - 1
        above = before**self.gains
        below = before**self.losses
        return above / (above + 1), below / (below + 1), (before / iteration) ** self.average


_Factors: TypeAlias = tuple[float, float, float]
"""Factors of regrets above 0, of those below 0 and of averages before an iteration, counted from 1."""


class RegretMatching:
    """Regret matching in sequence form, vectorised over the choices and classes of a player.

    Players alternate: each one updates against the updated strategies of those before it.

    Attributes:
        iteration: number of iterations done.
        regrets: flat arrays of the shape of a plan, player by player.
        averages: likewise, weighted sums of plans.
    """

    def __init__(self, form: SequenceForm, factors: Callable[[int], _Factors]) -> None:
        self.form = form
        self.iteration = 0
        self._factors = factors
        shapes = [form.plan_shape(player) for player in range(form.game.players)]
        ends = np.cumsum([math.prod(shape) for shape in shapes])
        self.regrets, self.averages = np.zeros((2, ends[-1]))
        # Views of the same numbers by player.
        self._regrets: list[Plan] = []
        self._sums: list[Plan] = []
        for shape, end in zip(shapes, ends, strict=True):
            start = end - math.prod(shape)
            self._regrets.append(self.regrets[start:end].reshape(shape))
            self._sums.append(self.averages[start:end].reshape(shape))

    def resume(self, iteration: int, regrets: Plan, averages: Plan) -> None:
        self.iteration = iteration
        self.regrets[:] = regrets
        self.averages[:] = averages

    def iterate(self, pool: object = None) -> None:
        """Do one iteration in this thread; `pool` is ignored."""
        self.iteration += 1
        above, below, average = self._factors(self.iteration)
        plans = tuple(_matched(self.form, player, regrets) for player, regrets in enumerate(self._regrets))
        for player, regrets in enumerate(self._regrets):
            # As in OpenSpiel, the average gets the strategy from before the update, equal probabilities at first.
            self._sums[player] *= average
            self._sums[player] += plans[player]
            regrets *= np.where(regrets > 0, above, below)
            _add_regrets(self.form, player, regrets, plans)
            plans = (*plans[:player], _matched(self.form, player, regrets), *plans[player + 1 :])

    def plans(self) -> Plans:
        """Return the average plans."""
        return tuple(total / total[0] for total in self._sums)


def regret_matching(form: SequenceForm, *, is_plus: bool = False) -> Iterator[Plans]:
    """Yield the average plans after each iteration, without end, of CFR+ if `is_plus`, else of CFR."""

    def factors(iteration: int) -> _Factors:
        # CFR+ drops regrets below 0 and weights iteration t by t.
        if is_plus:
            return 1, 0, (iteration - 1) / iteration
        return 1, 1, 1

    matching = RegretMatching(form, factors)
    while True:
        matching.iterate()
        yield matching.plans()


def _add_regrets(form: SequenceForm, player: int, regrets: Plan, plans: Plans) -> None:
    """Add the counterfactual regret of each action: its value less that of the present strategy."""
    values = sequence_values(form, player, *others_of(plans, player))
    # Descendants first: the value of a choice, the mean of its actions, is added to the sequence before it.
    for parents, sequences in reversed(form.levels[player]):
        action_values = values[sequences]
        before = regrets[sequences]
        mean = (in_proportion(before) * action_values).sum(0)
        np.add.at(values, parents, mean)
        regrets[sequences] = before + (action_values - mean)


def _matched(form: SequenceForm, player: int, regrets: Plan) -> Plan:
    """Return the plan of regret matching: actions in proportion to their regrets above 0."""
    plan = np.ones(form.plan_shape(player))
    for parents, sequences in form.levels[player]:
        plan[sequences] = plan[parents] * in_proportion(regrets[sequences])
    return plan


def in_proportion(weights: Plan) -> Chances:
    """Return probabilities in proportion to the positive weights along the first axis; equal ones if all are 0."""
    above = np.maximum(weights, 0)
    total = above.sum(0)
    chances: Chances = np.divide(above, total, out=np.full(above.shape, 1 / len(above)), where=total > 0)
    return chances


@dataclass(frozen=True, slots=True)
class Reached:
    """Quality of the plans after some iterations, in chips per hand.

    Attributes:
        iterations: None for a linear program.
        values: mean winnings of each player.
    """

    iterations: int | None
    nash_conv: float
    exploitability: float
    values: tuple[float, ...]


def reached(form: SequenceForm, plans: Plans, iterations: int | None = None) -> Reached:
    gain = nash_conv(form, plans)
    return Reached(iterations, gain, gain / form.game.players, expected_values(form, plans))


def _milestones(iterations: int) -> tuple[int, ...]:
    milestones = []
    power = 1
    while power <= iterations:
        milestones += [power, 2 * power, 5 * power]
        power *= 10
    milestones = [number for number in milestones if number < iterations]
    return (*milestones, iterations)


def converge(
    form: SequenceForm, averages: Iterator[Plans], iterations: int, on_step: Callable[[int, Reached], None]
) -> tuple[Plans, tuple[Reached, ...]]:
    """Iterate until the number of iterations is reached, or until Ctrl-C after the first iteration.

    Args:
        averages: average plans after each iteration, as from `regret_matching`.
        on_step: called after each iteration with its number and the last measurement.

    Returns:
        The last plans, and the measurements at 1, 2, 5, 10 and so on and at the end.
    """
    milestones = set(_milestones(iterations))
    steps: list[Reached] = []
    try:
        for number, plans in enumerate(islice(averages, iterations), 1):
            if number in milestones:
                steps.append(reached(form, plans, number))
            on_step(number, steps[-1])
    except KeyboardInterrupt:
        if not steps:
            raise
        if steps[-1].iterations != number:
            steps.append(reached(form, plans, number))
    return plans, tuple(steps)


def _reachable(form: SequenceForm, player: int) -> NDArray[np.bool_]:
    """Mask the sequences of a player that are possible with each class, in the shape of its plan."""
    is_reachable = np.zeros(form.plan_shape(player), bool)
    for matrix, _, sequences in form.terminal_nodes_by_matrix:
        payoffs = np.moveaxis(form.game.payoffs(matrix, player), player, 0)
        is_reachable[sequences[player]] |= (payoffs != 0).any(tuple(range(1, form.game.players)))
    for parents, sequences in reversed(form.levels[player]):
        np.logical_or.at(is_reachable, parents, is_reachable[sequences].any(0))
    return is_reachable


Strategy: TypeAlias = dict[str, dict[str, Shares | None]]
"""Probabilities of the actions by betting and holding, None if the player's own play never leads there."""


@dataclass(frozen=True, slots=True)
class Solution:
    """Plans of all players with their values in chips per hand.

    Attributes:
        information_sets: number of pairs of a decision and a holding.
        ends: number of leaves.
        convergence: measurements of regret matching.
    """

    game: str
    players: int
    information_sets: int
    ends: int
    algorithm: str
    iterations: int | None
    values: tuple[float, ...]
    nash_conv: float
    exploitability: float
    convergence: tuple[Reached, ...]
    strategies: tuple[Strategy, ...]
    schema_version: int = 1


def solution(form: SequenceForm, plans: Plans, steps: tuple[Reached, ...], *, game: str, algorithm: str) -> Solution:
    """Describe plans as a solution of the game with this name.

    Args:
        steps: measurements from `converge`, the last one of these plans, or none.
    """
    strategies = tuple(_strategy(form, player, plan) for player, plan in enumerate(plans))
    last = steps[-1] if steps else reached(form, plans)
    information_sets = 0
    for strategy in strategies:
        information_sets += sum(map(len, strategy.values()))
    return Solution(
        game=game,
        players=form.game.players,
        information_sets=information_sets,
        ends=len(form.terminal_nodes),
        algorithm=algorithm,
        iterations=last.iterations,
        values=last.values,
        nash_conv=max(0.0, last.nash_conv),
        exploitability=max(0.0, last.exploitability),
        convergence=steps,
        strategies=strategies,
    )


def _strategy(form: SequenceForm, player: int, plan: Plan) -> Strategy:
    allowed = _reachable(form, player)
    chances = strategy_of(form, player, plan)
    strategy: Strategy = {}
    for choice in form.choices[player]:
        by_holding: dict[str, Shares | None] = {}
        for index, holding in enumerate(form.game.classes[player]):
            if not allowed[choice.first, index]:
                continue
            action_chances = chances[choice.name][:, index].round(12).tolist()
            if math.isnan(action_chances[0]):
                by_holding[holding] = None
            else:
                by_holding[holding] = dict(zip(choice.actions, action_chances, strict=True))
        strategy[choice.name] = by_holding
    return strategy


SEATS: Final = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")


def solution_document(title: str, solved: Solution, strategies: Sequence[Part]) -> Document:
    """Describe a solution; `strategies` are the parts that show the plans."""
    values = ", ".join(f"{seat} {value:+.12f}" for seat, value in zip(SEATS, solved.values, strict=False))
    sentences = [f"Values by seat: {values} chips per hand.", exploitability_in_words(solved.exploitability)]
    if solved.players > 2:
        sentences.append(
            f"With {solved.players} players regret matching promises no equilibrium. What holds is the exploitability: "
            f"with better answers all players together would win {solved.nash_conv:.6g} chips per hand more (NashConv)."
        )
    facts = (
        Fact("players", solved.players),
        Fact("information sets", solved.information_sets),
        Fact("ends", solved.ends),
        Fact("algorithm", solved.algorithm),
    )
    sections = [Section("Strategies", tuple(strategies))]
    if solved.convergence:
        sections.insert(0, Section("Convergence", _convergence(solved.convergence)))
    return Document(title, tuple(sentences), facts, tuple(sections), data=solved)


def _convergence(steps: Sequence[Reached]) -> tuple[Part, ...]:
    table = Table(
        "Convergence",
        (
            Column("iterations", ","),
            Column("exploitability", ".6g", meaning="chips per hand"),
            Column("value, first player", "+.6f", rank=1),
        ),
        tuple((step.iterations, step.exploitability, step.values[0]) for step in steps),
    )
    xs = tuple([float(step.iterations or 0) for step in steps])
    ys = tuple([step.exploitability for step in steps])
    chart = Chart(
        "Exploitability by iterations",
        Axis("iterations", is_log=True),
        Axis("exploitability", "chips per hand", is_log=True),
        (Series("exploitability", xs, ys, has_dots=True),),
    )
    return table, chart


def strategy_parts(solved: Solution, *, is_whole: bool = False) -> list[Part]:
    """Return tables of the plans by betting and holding, of the first round only unless `is_whole`."""
    rows: list[tuple[Value, ...]] = []
    for seat, strategy in zip(SEATS, solved.strategies, strict=False):
        for betting, states in strategy.items():
            if "/" in betting and not is_whole:
                continue
            for holding, chances in states.items():
                rows.append((seat, betting or "nothing", holding, chances or "never here"))
    columns = ("player", Column("after", NAME), Column("holding", NAME), Column("plays", TEXT))
    left_out = solved.information_sets - len(rows)
    if not left_out:
        return [Table.of("All decisions", columns, rows)]
    return [
        Table.of("The first betting round", columns, rows),
        f"{left_out} more information sets come later: --out shows them, --json prints them.",
    ]
