"""The game before the flop, its equilibrium, and the work's printed strategy."""

from __future__ import annotations

from functools import cache
from itertools import islice

import numpy as np
import pytest

from bots.errors import SolvingError
from bots.lp_mc.preflop import (
    AFTER_LIMP,
    BALANCES,
    OPPONENTS,
    PreflopRules,
    balance,
    preflop_form,
    published_program,
    simple_plan,
    solve,
    solve_as_published,
    without_free_folds,
)
from bots.lp_mc.strategy import preflop_strategy
from bots.solving.equilibria import Equilibrium, regret_matching
from bots.solving.sequence_form import (
    SequenceForm,
    best_response,
    expected_value,
    exploitability,
    plan_of,
    sequence_values,
    strategy_of,
)
from engine import STARTING_HANDS
from tests.bots.lp_mc.generate import strategy_table

WORK = PreflopRules()
VALUE = -0.043795367202
"""Values of the small blind, in chips: blinds 1/2, bets of 2, at most four."""


@cache
def form_of(rules: PreflopRules = WORK) -> SequenceForm:
    return preflop_form(rules)


@cache
def solved(rules: PreflopRules = WORK) -> Equilibrium:
    return solve(form_of(rules))


@cache
def published_equilibrium() -> Equilibrium:
    return solve_as_published(form_of())


def hand(name: str) -> int:
    return STARTING_HANDS.index(name)


# ---- the game


def test_form_has_the_size_of_the_work() -> None:
    form = form_of()
    payoffs = form.payoffs().summed()
    assert (payoffs.shape, len(payoffs.values)) == ((1860, 1860), 400_023)
    assert form.constraints(0).shape == form.constraints(1).shape == (677, 1860)
    assert sorted(end.leaf.name for end in form.terminal_nodes) == sorted(
        ["f", "cf", "cc", "crf", "crc", "crrf", "crrc", "crrrf", "crrrc", "rf", "rc", "rrf", "rrc", "rrrf", "rrrc"]
    )
    assert [choice.name for choice in form.choices[0]] == ["", "cr", "crrr", "rr"]
    assert [choice.name for choice in form.choices[1]] == ["c", "crr", "r", "rrr"]


def test_payoffs_are_those_of_two_hands() -> None:
    """Worked example of one pair of classes: AA against KK, four bets and a showdown."""
    form = form_of()
    matrix = np.zeros((1860, 1860))
    payoffs = form.payoffs().summed()
    matrix[payoffs.rows, payoffs.columns] = payoffs.values
    capped = {end.leaf.name: end.sequences for end in form.terminal_nodes}["rrrc"]
    cell = form.numbers(0)[capped[0], hand("AA")], form.numbers(1)[capped[1], hand("KK")]
    won, tied = 50_371_344, 285_228
    showdowns = 36 * 1_712_304
    assert matrix[cell] == pytest.approx(8 * (2 * won + tied - showdowns) / 1_712_304 / (1326 * 1225), abs=1e-15)
    assert matrix[form.numbers(0)[1, hand("AA")], 0] == pytest.approx(-6 / 1326, abs=1e-15)


@pytest.mark.parametrize(
    ("rules", "sentence"),
    [
        ({"cap": 50}, "the cap must be 1 to 12 bets, not 50"),
        ({"blinds": (0, 0)}, "the blinds must be two numbers of chips, the small one first, not 0/0"),
        ({"blinds": (2, 1)}, "the small one first, not 2/1"),
        ({"bet": 0}, "the bet must be 1 to 1,000,000 chips, not 0"),
    ],
)
def test_invalid_rules_are_refused(rules: dict[str, int], sentence: str) -> None:
    with pytest.raises(SolvingError, match=sentence):
        PreflopRules(**rules)  # type: ignore[arg-type]


# ---- its equilibrium


def test_equilibrium_has_the_known_value() -> None:
    value, plans = solved()
    assert value == pytest.approx(VALUE, abs=1e-12)
    assert expected_value(form_of(), plans) == pytest.approx(VALUE, abs=1e-12)
    assert abs(exploitability(form_of(), plans)) < 1e-12
    assert not plans[1][form_of().choices[1][0].first].any(), "a free fold"


def test_regret_matching_reaches_the_value() -> None:
    (plans,) = islice(regret_matching(form_of(), is_plus=True), 99, 100)
    worst_value = -best_response(form_of(), 1, plans[0]).value
    best_value = best_response(form_of(), 0, plans[1]).value
    assert worst_value < VALUE < best_value
    assert best_value - worst_value < 4e-3


@pytest.mark.slow
def test_regret_matching_reaches_the_value_within_a_millionth() -> None:
    (plans,) = islice(regret_matching(form_of(), is_plus=True), 9_999, 10_000)
    assert 0 < exploitability(form_of(), plans) < 1e-6
    assert expected_value(form_of(), plans) == pytest.approx(VALUE, abs=1e-6)


@pytest.mark.parametrize("seed", [0])
@pytest.mark.parametrize("kind", ["any", "pure"])
def test_correct_equilibrium_never_loses_over_both_seats(seed: int, kind: str) -> None:
    form, plans = form_of(), solved().plans
    rng = np.random.default_rng(seed)
    others = []
    for player in (0, 1):
        chances = {
            choice.name: rng.dirichlet(np.full(len(choice.actions), 1.0 if kind == "any" else 1e-3), 169).T
            for choice in form.choices[player]
        }
        others.append(plan_of(form, player, lambda choice, chances=chances: chances[choice.name]))  # type: ignore[misc]
    assert expected_value(form, (plans[0], others[1])) - expected_value(form, (others[0], plans[1])) > 0


@pytest.mark.parametrize("opponent", OPPONENTS)
def test_a_correct_equilibrium_beats_the_simple_players(opponent: str) -> None:
    expected = {"raising": 0.1220, "random": 0.3392, "calling": 0.0580}
    assert balance(form_of(), solved().plans, opponent) / 2 == pytest.approx(expected[opponent], abs=5e-5)


@pytest.mark.parametrize(
    "rules",
    [
        PreflopRules(cap=1),
        pytest.param(PreflopRules((5, 10), 10, 3), marks=pytest.mark.slow),
        pytest.param(PreflopRules((1, 3), 2, 4), marks=pytest.mark.slow),
        pytest.param(PreflopRules(cap=2), marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_other_blinds_bets_and_caps(rules: PreflopRules) -> None:
    _, plans = solved(rules)
    assert abs(exploitability(form_of(rules), plans)) < 1e-11
    assert not plans[1][form_of(rules).choices[1][0].first].any()


@pytest.mark.slow
def test_value_of_a_higher_cap_is_that_of_selby() -> None:
    """The value is -0.04463 for the small blind with hardly any cap."""
    assert solved(PreflopRules(cap=8)).value == pytest.approx(-0.04463, abs=5e-5)


@pytest.mark.slow
def test_a_check_in_place_of_a_free_fold_is_never_worse() -> None:
    form, plans = form_of(), published_equilibrium().plans
    better = without_free_folds(form, plans[1])
    before, after = (best_response(form, 0, plan).value for plan in (plans[1], better))
    assert after <= before
    assert plans[1][form.choices[1][0].first].any()
    assert better.sum() == pytest.approx(plans[1].sum())


# ---- as published


# The small blind has several optima: those of HiGHS 1.15 and 1.16 win 0.1290 and 0.1287 from the random player.
SOLVED_BALANCES = {"raising": 0.0403, "random": 0.1290, "calling": -0.0505}


def count_certain(chances: np.ndarray) -> list[int]:
    """Count the hands that take each action with certainty."""
    return [int((row > 1 - 1e-9).sum()) for row in chances]


@pytest.mark.slow
def test_mistake_reproduces_the_printed_strategy() -> None:
    """13 raise-raise, 66 raise-call, 89 fold, K3o mixed; after a raise 139 call, 29 reraise, KJo mixed."""
    form, (small_blind, big_blind) = form_of(), published_equilibrium().plans
    first, again = (strategy_of(form, 0, small_blind)[betting] for betting in ("", "rr"))
    raised = first[2] > 1 - 1e-9
    assert count_certain(first) == [89, 0, 79]
    assert count_certain(again[:, raised]) == [0, 66, 13]
    assert first[:, hand("K3o")] == pytest.approx([0.6411, 0, 0.3589], abs=5e-5)
    after_raise = strategy_of(form, 1, big_blind)["r"]
    assert count_certain(after_raise) == [0, 139, 29]
    assert after_raise[:, hand("KJo")] == pytest.approx([0, 0.74262, 0.25738], abs=5e-5)


@pytest.mark.slow
def test_mistake_wins_the_printed_amounts_from_the_simple_players() -> None:
    """Printed after 5,000,000 hands each, so accurate to 0.0035 small bets."""
    won = {opponent: balance(form_of(), published_equilibrium().plans, opponent) / 2 for opponent in OPPONENTS}
    assert won == pytest.approx(SOLVED_BALANCES, abs=5e-4)
    assert won == pytest.approx(BALANCES, abs=3.5e-3)
    assert published_equilibrium().value == pytest.approx(0.2924, abs=5e-5)
    assert expected_value(form_of(), published_equilibrium().plans) == pytest.approx(-0.2642, abs=5e-5)
    assert exploitability(form_of(), published_equilibrium().plans) == pytest.approx(0.1786, abs=5e-4)


@pytest.mark.slow
def test_play_of_the_big_blind_after_a_limp_is_not_determined() -> None:
    """Among all solutions with the mistake, some win more against the simple players than printed, some less."""
    form, small_blind = form_of(), published_equilibrium().plans[0]
    ends: dict[str, list[float]] = {"calling": [], "random": []}
    for opponent, balances in ends.items():
        weights = sequence_values(form, 1, simple_plan(form, 0, opponent))
        for sign in (-1, 1):
            program = published_program(form, player=1)
            program.solve()
            plan = program.favourite(sign * weights)
            balances.append(balance(form, (small_blind, plan), opponent) / 2)
    assert ends["calling"] == pytest.approx([-0.0575, -0.0202], abs=1e-4)
    assert ends["random"] == pytest.approx([0.1158, 0.1696], abs=1e-4)


def test_printed_table_is_complete() -> None:
    assert set(AFTER_LIMP) == set(STARTING_HANDS)
    cells = list(AFTER_LIMP.values())
    assert {cell: cells.count(cell) for cell in set(cells)} == {
        **{"f": 11, "k": 129, "rf": 6, "rr": 20},
        **{"y1": 1, "y2": 1, "y3": 1},
    }


# ---- the shipped table


@pytest.mark.parametrize("as_published", [False, True])
def test_shipped_strategies_are_as_good_as_solved_ones(as_published: bool) -> None:
    """Numbers can differ: another version of the solver can return another equilibrium."""
    form, shipped = form_of(), preflop_strategy(as_published=as_published)
    plans = [
        plan_of(
            form,
            player,
            lambda choice: np.array([shipped.chances(choice.name, hand) for hand in range(169)]).T[
                : len(choice.actions)
            ],
        )
        for player in (0, 1)
    ]
    if as_published:
        for opponent in OPPONENTS:
            won = balance(form, (plans[0], plans[1]), opponent) / 2
            assert won == pytest.approx(SOLVED_BALANCES[opponent], abs=5e-4)
    else:
        assert abs(exploitability(form, (plans[0], plans[1]))) < 1e-12


def test_table_contains_complete_strategies() -> None:
    table = strategy_table(form_of(), solved().plans)
    assert sum(table.chances("crrr", hand("32o"))) == 1
    assert table.chances("rrr", hand("AA")) == (0, 1, 0)
