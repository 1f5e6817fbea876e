"""Two ways to an equilibrium: a linear program and regret matching."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Final

import highspy
import numpy as np
import pytest

from bots.errors import SolvingError
from bots.solving.equilibria import LinearProgram, regret_matching
from bots.solving.sequence_form import (
    Plans,
    SequenceForm,
    SparseMatrix,
    expected_value,
    expected_values,
    exploitability,
    nash_conv,
    strategy_of,
)
from engine import Game

KUHN, LEDUC = -1 / 18, -0.08560642407800047
"""Kuhn (1950); Leduc as solved by OpenSpiel's sequence form."""

REFERENCE: Final[dict[str, Any]] = json.loads(Path(__file__).with_name("reference.json").read_text("utf-8"))
ALGORITHMS: Final[Mapping[str, Callable[[SequenceForm], Iterator[Plans]]]] = {
    "cfr": regret_matching,
    "cfr_plus": partial(regret_matching, is_plus=True),
}


@pytest.mark.parametrize("player", [0, 1])
def test_linear_programs_have_the_known_values(played: tuple[Game, SequenceForm], player: int) -> None:
    game, form = played
    value, plans = LinearProgram(form, player=player).solve()
    known = KUHN if len(game.deck) == 3 else LEDUC
    assert value == pytest.approx(known, abs=1e-12)
    assert expected_value(form, plans) == pytest.approx(known, abs=1e-12)
    assert abs(exploitability(form, plans)) < 1e-12


@pytest.mark.parametrize("player", [0, 1])
def test_plan_satisfies_its_constraints(leduc: SequenceForm, player: int) -> None:
    plan = LinearProgram(leduc).solve().plans[player]
    numbers, constraints = leduc.numbers(player), leduc.constraints(player)
    vector = np.zeros(constraints.shape[1])
    vector[numbers] = plan
    sums = np.bincount(constraints.rows, constraints.values * vector[constraints.columns], constraints.shape[0])
    assert sums == pytest.approx(np.eye(1, constraints.shape[0])[0], abs=1e-12)


def test_regret_matching_reaches_the_known_values(kuhn: SequenceForm, leduc: SequenceForm) -> None:
    for form, value, iterations, tolerance in ((kuhn, KUHN, 200, 2e-3), (leduc, LEDUC, 40, 6e-2)):
        (plans,) = islice(regret_matching(form, is_plus=True), iterations - 1, iterations)
        assert 0 <= exploitability(form, plans) < tolerance
        assert expected_value(form, plans) == pytest.approx(value, abs=tolerance)


@pytest.mark.parametrize("name", ["kuhn3", *[pytest.param(name, marks=pytest.mark.slow) for name in ("kuhn", "leduc")]])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_regret_matching_converges_as_known(name: str, algorithm: str, request: pytest.FixtureRequest) -> None:
    _check_convergence(request.getfixturevalue(name), name, algorithm, until=50)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["kuhn", "kuhn3", "leduc"])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_regret_matching_converges_as_known_for_long(name: str, algorithm: str, request: pytest.FixtureRequest) -> None:
    _check_convergence(request.getfixturevalue(name), name, algorithm, until=10_000 if name == "kuhn" else 1000)


ROUNDING: Final = {("leduc", "cfr"): 1e-4, ("leduc", "cfr_plus"): 0.1}
"""Tolerances where rounding decides.

After hundreds of iterations regrets of all actions are 0 but for rounding, which then decides between equal
probabilities and one action: there, payoffs changed by one part in 10**16 change the outcome by as much as two programs
differ. Kuhn's game of three does so after thousands, with another version of numpy, and is compared for a thousand.

"""


def _check_convergence(form: SequenceForm, name: str, algorithm: str, *, until: int) -> None:
    known = {row[0]: row for row in REFERENCE[name].get(algorithm, []) if row[0] <= until}
    for iteration, plans in enumerate(islice(ALGORITHMS[algorithm](form), max(known, default=0)), 1):
        if iteration in known:
            _, reached, *values = known[iteration]
            within = ROUNDING.get((name, algorithm), 1e-9) if iteration > 100 else 1e-9
            assert nash_conv(form, plans) == pytest.approx(reached, rel=within)
            if values:
                assert expected_values(form, plans) == pytest.approx(values[0], abs=within / 10)


def test_linear_program_refuses_three_players(kuhn3: SequenceForm) -> None:
    with pytest.raises(SolvingError, match="a linear program solves games of two players, not one of 3"):
        LinearProgram(kuhn3)


def test_favourite_is_the_extreme_equilibrium(kuhn: SequenceForm) -> None:
    """The first player bets its queen with any probability up to 1/3, its ace three times as often (Kuhn 1950)."""
    bets = {}
    for sign in (1, -1):
        program = LinearProgram(kuhn)
        equilibrium = program.solve()
        weights = np.zeros(kuhn.plan_shape(0))
        weights[kuhn.choices[0][0].first + 1, 0] = sign
        plan = program.favourite(weights)
        assert abs(exploitability(kuhn, (plan, equilibrium.plans[1]))) < 1e-9
        bets[sign] = strategy_of(kuhn, 0, plan)[""][1]
    assert bets[1] == pytest.approx([1 / 3, 0, 1], abs=1e-8)
    assert bets[-1] == pytest.approx([0, 0, 0], abs=1e-8)


def test_other_solver_reads_the_program(leduc: SequenceForm, tmp_path: Path) -> None:
    """HiGHS itself reads the file."""
    LinearProgram(leduc).write_mps(tmp_path / "leduc.lp of ours")
    (tmp_path / "leduc.lp of ours").rename(tmp_path / "leduc.mps")
    solver = highspy.Highs()
    solver.silent()
    solver.readModel(str(tmp_path / "leduc.mps"))
    solver.run()
    assert solver.getInfo().objective_function_value == pytest.approx(LEDUC, abs=1e-9)


def test_unwritable_file_is_an_error(kuhn: SequenceForm, tmp_path: Path) -> None:
    with pytest.raises(OSError, match="directory"):
        LinearProgram(kuhn).write_mps(tmp_path)


def test_infeasible_program_is_refused(kuhn: SequenceForm, monkeypatch: pytest.MonkeyPatch) -> None:
    program = LinearProgram(kuhn)
    monkeypatch.setattr(highspy.Highs, "getModelStatus", lambda _: highspy.HighsModelStatus.kInfeasible)
    with pytest.raises(SolvingError, match="HiGHS found no optimum: infeasible"):
        program.solve()


def test_payoffs_without_bounds_are_refused(kuhn: SequenceForm) -> None:
    payoffs = kuhn.payoffs().summed()
    with pytest.raises(SolvingError, match="HiGHS refuses the linear program"):
        LinearProgram(kuhn, payoffs._replace(values=payoffs.values * 1e30))


def test_interruption_ends_the_solver(leduc: SequenceForm) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    before = threading.active_count()
    with pytest.raises(KeyboardInterrupt):
        LinearProgram(leduc).solve(interrupt)
    assert threading.active_count() == before


def test_entries_of_a_cell_are_summed_or_overwritten() -> None:
    entries = SparseMatrix(np.array([1, 0, 1]), np.array([2, 0, 2]), np.array([3.0, 4.0, 5.0]), (2, 3))
    assert [part.tolist() for part in entries.summed()[:3]] == [[0, 1], [0, 2], [4, 8]]
    assert [part.tolist() for part in entries.overwritten()[:3]] == [[0, 1], [0, 2], [4, 5]]
