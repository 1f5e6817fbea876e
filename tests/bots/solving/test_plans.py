"""Values and best responses, compared with twins that deal every card."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest

from bots.solving.sequence_form import (
    SequenceForm,
    best_response,
    expected_value,
    expected_values,
    exploitability,
    nash_conv,
    others_of,
    plan_of,
    strategy_of,
)
from engine import Game
from protocol import find_game
from tests.bots.completing import complete_plan
from tests.bots.solving import naive

REFERENCE: Final[dict[str, Any]] = json.loads(Path(__file__).with_name("reference.json").read_text("utf-8"))


def test_value_of_two_plans(played: tuple[Game, SequenceForm]) -> None:
    game, form = played
    first, second = (naive.random_strategy(form, player, 1 + player) for player in (0, 1))
    plans = naive.as_plan(form, 0, first), naive.as_plan(form, 1, second)
    assert expected_value(form, plans) == pytest.approx(naive.expected_value(game, (first, second)), abs=1e-12)


@pytest.mark.parametrize("player", [0, 1])
def test_best_response(played: tuple[Game, SequenceForm], player: int) -> None:
    game, form = played
    strategy = naive.random_strategy(form, 1 - player, 5)
    plan = naive.as_plan(form, 1 - player, strategy)
    response = best_response(form, player, plan)
    assert response.value == pytest.approx(naive.best_response_value(game, player, strategy), abs=1e-12)
    plans = (response.plan, plan) if player == 0 else (plan, response.plan)
    assert response.value == pytest.approx((-1) ** player * expected_value(form, plans), abs=1e-12)


@pytest.mark.parametrize("player", [0, 1])
def test_no_pure_strategy_of_kuhn_is_a_better_response(kuhn: SequenceForm, player: int) -> None:
    plan = naive.as_plan(kuhn, 1 - player, naive.random_strategy(kuhn, 1 - player, 9))
    values = []
    for pure in naive.pure_strategies(kuhn, player):
        own = naive.as_plan(kuhn, player, pure)
        values.append((-1) ** player * expected_value(kuhn, (own, plan) if player == 0 else (plan, own)))
    assert len(values) == 64
    assert best_response(kuhn, player, plan).value == pytest.approx(max(values), abs=1e-12)


def test_values_and_best_responses_of_three_players(kuhn3: SequenceForm) -> None:
    game = find_game("kuhn3")[1]
    strategies = [naive.random_strategy(kuhn3, player, 1 + player) for player in range(3)]
    plans = tuple(naive.as_plan(kuhn3, player, strategy) for player, strategy in enumerate(strategies))
    values = expected_values(kuhn3, plans)
    assert sum(values) == pytest.approx(0, abs=1e-12)
    bests = []
    for player in range(3):
        assert values[player] == pytest.approx(naive.expected_value(game, strategies, player), abs=1e-12)
        response = best_response(kuhn3, player, *others_of(plans, player))
        bests.append(response.value)
        assert response.value == pytest.approx(
            naive.best_value_of_pure_answers(kuhn3, game, strategies, player), abs=1e-12
        )
        answered = (*plans[:player], response.plan, *plans[player + 1 :])
        assert response.value == pytest.approx(expected_value(kuhn3, answered, player), abs=1e-12)
    assert nash_conv(kuhn3, plans) == pytest.approx(sum(bests), abs=1e-12)
    assert exploitability(kuhn3, plans) == pytest.approx(sum(bests) / 3, abs=1e-12)


@pytest.mark.parametrize("name", ["kuhn", "kuhn3", "leduc"])
def test_weakness_of_uniform_play_is_known(name: str, request: pytest.FixtureRequest) -> None:
    form, known = request.getfixturevalue(name), REFERENCE[name]
    plans = tuple(
        plan_of(form, player, lambda choice: np.full((len(choice.actions), 1), 1 / len(choice.actions)))
        for player in range(form.game.players)
    )
    bests = [best_response(form, player, *others_of(plans, player)).value for player in range(form.game.players)]
    assert expected_values(form, plans) == pytest.approx(known["uniform_ev"], abs=1e-12)
    assert bests == pytest.approx(known["uniform_br"], abs=1e-12)
    assert nash_conv(form, plans) == pytest.approx(known["uniform_nash_conv"], abs=1e-12)


def test_plan_and_strategy_are_the_same(leduc: SequenceForm) -> None:
    strategy = naive.random_strategy(leduc, 1, 3)
    response = strategy_of(leduc, 1, naive.as_plan(leduc, 1, strategy))
    for name, chances in strategy.items():
        assert response[name] == pytest.approx(chances, abs=1e-12)


def test_unreached_classes_play_their_best_response(kuhn: SequenceForm) -> None:
    """Player 0 always bets, so its response to a bet is not used: the ace calls, the queen folds."""
    always = {"": np.array([[0.0] * 3, [1.0] * 3]), "cr": np.full((2, 3), 0.5)}
    plans = naive.as_plan(kuhn, 0, always), naive.as_plan(kuhn, 1, naive.random_strategy(kuhn, 1, 4))
    assert np.isnan(strategy_of(kuhn, 0, plans[0])["cr"]).all()
    response = complete_plan(kuhn, 0, plans)
    assert response[""].tolist() == always[""].tolist()
    assert response["cr"][:, 0].tolist() == [1, 0]
    assert response["cr"][:, 2].tolist() == [0, 1]
