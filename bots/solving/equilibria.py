"""Equilibria, by linear programming and by regret matching.

Linear programming solves the pair of programs of Koller, Megiddo & von Stengel (1996), by HiGHS.

With payoffs A and the constraints E x = e and F y = f of the two plans, player 0 looks for

    max q[0]   subject to   E x = e,   F' q - A' x <= 0,   x >= 0,   q free:

q[h] is what the best answer of player 1 leaves from information set h on. The dual values of the inequalities are an
optimal plan of player 1. What HiGHS calls optimal holds within tolerances: `bots.solving.sequence_form.exploitability`
measures how good the plans are.

Regret matching is vectorised over the choices and classes of a player. Each iteration takes every action in proportion
to what it would have won, over all iterations so far, above the strategies that were played (Zinkevich et al. 2007).
The average plans come ever closer to an equilibrium of a game of two players; with more of them there is no guarantee,
and `bots.solving.sequence_form.nash_conv` measures how close they are. CFR+ (Tammelin 2014) never lets a regret fall
below zero and weights iteration t by t. Or what was learned early is discounted (Brown & Sandholm 2019): before
iteration t's are added, regrets above 0 are multiplied by (t-1)^a / ((t-1)^a + 1), those below by the same with b, and
the average by ((t-1)/t)^c. With all three powers 1 that is linear CFR.

As in OpenSpiel, the average takes the strategy that an iteration began with, even chances in the first.
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
"""The smallest that HiGHS takes: the probability of two classes, and with it a payoff, is small."""
_ROUNDING: Final = 1e-11
"""A weight of a plan up to this is the solver's rounding, not a choice."""
Step: TypeAlias = Callable[[], None]


class Equilibrium(NamedTuple):
    """An optimal plan of each player, and what player 0 wins with them on average, in chips."""

    value: float
    plans: Plans


class LinearProgram:
    def __init__(self, form: SequenceForm, payoffs: SparseMatrix | None = None, *, player: int = 0) -> None:
        """Set it up.

        Args:
            payoffs: those of player 0, each entry once, where they are not to be those of the game.
            player: whose program; that of player 1 is the same game with the sides changed.

        Raises:
            SolvingError: HiGHS does not take it.
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
        """Write the program for other solvers; its optimum is what its player wins, in chips."""
        import highspy

        # HiGHS takes the format from the ending of the name, and gives no reason why it cannot write.
        with tempfile.TemporaryDirectory() as folder:
            written = Path(folder) / "program.mps"
            if self._solver.writeModel(str(written)) == highspy.HighsStatus.kError:
                raise SolvingError("HiGHS cannot write the linear program")
            shutil.copyfile(written, path)

    def solve(self, on_step: Step | None = None) -> Equilibrium:
        """Solve it, or raise a `SolvingError`; an interruption ends the solver."""
        own = self._run(on_step)
        other = np.array(self._solver.getSolution().row_dual)[self._first_row :]
        plans = self._plan(self._player, own), self._plan(1 - self._player, other / other[0])
        value = own[self._first_free]
        if self._player:
            return Equilibrium(-value, plans[::-1])
        return Equilibrium(value, plans)

    def favourite(self, weights: Plan, on_step: Step | None = None) -> Plan:
        """Of all optimal plans of the player, after `solve`, the one with the largest sum of products with weights."""
        optimum = float(self._solver.getSolution().col_value[self._first_free])
        columns = np.arange(self._solver.getNumCol(), dtype=np.int32)
        costs = np.zeros(len(columns))
        np.add.at(costs, self._form.numbers(self._player), weights)
        self._solver.changeColBounds(self._first_free, optimum - _TOLERANCE, optimum + _TOLERANCE)
        self._solver.changeColsCost(len(columns), columns, costs)
        # The simplex method, which would start from the optimum, takes much longer.
        self._solver.setOptionValue("solver", "ipm")
        return self._plan(self._player, self._run(on_step))

    def _run(self, on_step: Step | None) -> NDArray[np.float64]:
        """The variables; the solver runs in a thread, so that this one can be interrupted."""
        import highspy

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
        found = weights[self._form.numbers(player)]
        found[found < _ROUNDING] = 0
        return plan_of(self._form, player, lambda choice: in_proportion(found[choice.sequences]))


class Discounts(NamedTuple):
    """How fast what was learned early is forgotten: the powers by which regrets above 0, those below, and averages are
    kept; see the head of this module."""

    gains: float = 1.5
    losses: float = 1.0
    average: float = 2.0

    def factors(self, iteration: int) -> _Factors:
        before = iteration - 1
        above = before**self.gains
        below = before**self.losses
        return above / (above + 1), below / (below + 1), (before / iteration) ** self.average


_Factors: TypeAlias = tuple[float, float, float]
"""What regrets above 0, those below and the averages are multiplied by before an iteration, which are numbered from 1.
"""


class RegretMatching:
    """The regrets and the average plans of all players, which take turns: each answers what those before have learnt.

    Attributes:
        iteration: how many have been done.
        regrets: of player 0, then those of player 1 and so on, each by sequence and class.
        averages: likewise, sums of plans.
    """

    def __init__(self, form: SequenceForm, factors: Callable[[int], _Factors]) -> None:
        self.form = form
        self.iteration = 0
        self._factors = factors
        shapes = [form.plan_shape(player) for player in range(form.game.players)]
        ends = np.cumsum([math.prod(shape) for shape in shapes])
        self.regrets, self.averages = np.zeros((2, ends[-1]))
        # Views by player of the same numbers.
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
        """One step more, in this thread: threads share nothing of it."""
        self.iteration += 1
        above, below, average = self._factors(self.iteration)
        plans = tuple(_matched(self.form, player, regrets) for player, regrets in enumerate(self._regrets))
        for player, regrets in enumerate(self._regrets):
            self._sums[player] *= average
            self._sums[player] += plans[player]
            regrets *= np.where(regrets > 0, above, below)
            _add_regrets(self.form, player, regrets, plans)
            plans = (*plans[:player], _matched(self.form, player, regrets), *plans[player + 1 :])

    def plans(self) -> Plans:
        """The average plans."""
        return tuple(total / total[0] for total in self._sums)


def regret_matching(form: SequenceForm, *, is_plus: bool = False) -> Iterator[Plans]:
    """The average plans after each iteration, of CFR+ or of CFR, without end."""

    def factors(iteration: int) -> _Factors:
        if is_plus:
            return 1, 0, (iteration - 1) / iteration
        return 1, 1, 1

    matching = RegretMatching(form, factors)
    while True:
        matching.iterate()
        yield matching.plans()


def _add_regrets(form: SequenceForm, player: int, regrets: Plan, plans: Plans) -> None:
    """Add what each action would have won above the average of the present strategy."""
    values = sequence_values(form, player, *others_of(plans, player))
    for parents, sequences in reversed(form.levels[player]):
        of_actions = values[sequences]
        known = regrets[sequences]
        average = (in_proportion(known) * of_actions).sum(0)
        np.add.at(values, parents, average)
        regrets[sequences] = known + (of_actions - average)


def _matched(form: SequenceForm, player: int, regrets: Plan) -> Plan:
    """The plan that takes each action in proportion to its regret, where that is above 0."""
    plan = np.ones(form.plan_shape(player))
    for parents, sequences in form.levels[player]:
        plan[sequences] = plan[parents] * in_proportion(regrets[sequences])
    return plan


def in_proportion(weights: Plan) -> Chances:
    """Probabilities in proportion to weights above 0, along the first axis; even ones where there is none."""
    above = np.maximum(weights, 0)
    total = above.sum(0)
    chances: Chances = np.divide(above, total, out=np.full(above.shape, 1 / len(above)), where=total > 0)
    return chances


@dataclass(frozen=True, slots=True)
class Reached:
    """How good the plans after some iterations are, in chips per hand: `values` is what each player wins on average."""

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
    """Iterate, at least once; Ctrl-C after the first iteration ends it with what has been reached by then.

    Args:
        averages: the plans after each iteration, such as `regret_matching` gives.
        on_step: called after each with its number and the last milestone.

    Returns:
        the last plans, and the steps at `_milestones` and at the end.
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
    """Which of a player's sequences the cards allow: of the shape of its plan."""
    found = np.zeros(form.plan_shape(player), bool)
    for matrix, _, sequences in form.terminal_nodes_by_matrix:
        payoffs = np.moveaxis(form.game.payoffs(matrix, player), player, 0)
        found[sequences[player]] |= (payoffs != 0).any(tuple(range(1, form.game.players)))
    for parents, sequences in reversed(form.levels[player]):
        np.logical_or.at(found, parents, found[sequences].any(0))
    return found


Strategy: TypeAlias = dict[str, dict[str, Shares | None]]
"""The probabilities of the actions by betting and holding; None where the player's own play never leads."""


@dataclass(frozen=True, slots=True)
class Solution:
    """The plans of all players, what they are worth in chips per hand, and how regret matching came to them."""

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
    """A solution of the game of this name; `steps` are those of `converge`, of which the last is of these plans."""
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
        for at, holding in enumerate(form.game.classes[player]):
            if not allowed[choice.first, at]:
                continue
            of_actions = chances[choice.name][:, at].round(12).tolist()
            if math.isnan(of_actions[0]):
                by_holding[holding] = None
            else:
                by_holding[holding] = dict(zip(choice.actions, of_actions, strict=True))
        strategy[choice.name] = by_holding
    return strategy


SEATS: Final = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")


def solution_document(title: str, found: Solution, strategies: Sequence[Part]) -> Document:
    """A solution under a title; `strategies` show the plans."""
    values = ", ".join(f"{seat} {value:+.12f}" for seat, value in zip(SEATS, found.values, strict=False))
    sentences = [f"Values by seat: {values} chips per hand.", exploitability_in_words(found.exploitability)]
    if found.players > 2:
        sentences.append(
            f"With {found.players} players regret matching promises no equilibrium. What holds is the exploitability: "
            f"with better answers all players together would win {found.nash_conv:.6g} chips per hand more (NashConv)."
        )
    facts = (
        Fact("players", found.players),
        Fact("information sets", found.information_sets),
        Fact("ends", found.ends),
        Fact("algorithm", found.algorithm),
    )
    sections = [Section("Strategies", tuple(strategies))]
    if found.convergence:
        sections.insert(0, Section("Convergence", _convergence(found.convergence)))
    return Document(title, tuple(sentences), facts, tuple(sections), data=found)


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


def strategy_parts(found: Solution, *, is_whole: bool = False) -> list[Part]:
    """The plans by betting and holding; without `is_whole` those of the first round."""
    rows: list[tuple[Value, ...]] = []
    for seat, strategy in zip(SEATS, found.strategies, strict=False):
        for betting, states in strategy.items():
            if "/" in betting and not is_whole:
                continue
            for holding, chances in states.items():
                rows.append((seat, betting or "nothing", holding, chances or "never here"))
    columns = ("player", Column("after", NAME), Column("holding", NAME), Column("plays", TEXT))
    left_out = found.information_sets - len(rows)
    if not left_out:
        return [Table.of("All decisions", columns, rows)]
    return [
        Table.of("The first betting round", columns, rows),
        f"{left_out} more information sets come later: --out shows them, --json prints them.",
    ]
