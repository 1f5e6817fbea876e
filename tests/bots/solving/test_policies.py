"""Exploitability of bots with policies."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

from bots import Bot, View
from bots.baseline import CallingBot, RandomBot
from bots.errors import GameRefused, PolicyError
from bots.lp_mc.bot import LpBot
from bots.solving.sequence_form import SequenceForm, best_response, expected_values, exploitability, strategy_of
from engine import CALL, RAISE, Action, Game
from protocol import find_game
from tests.bots.playing import plan_of_bot
from tests.bots.solving import naive


def test_random_player_plays_its_weights(played: tuple[Game, SequenceForm]) -> None:
    game, form = played
    strategies = []
    for player in (0, 1):
        plan = plan_of_bot(form, game, player, RandomBot(fold=0.2, call=0.5, raise_=0.3))
        strategies.append(strategy_of(form, player, plan))
    assert strategies[0][""][:, 0] == pytest.approx([0.5 / 0.8, 0.3 / 0.8])
    plans = tuple(plan_of_bot(form, game, player, RandomBot(fold=0.2, call=0.5, raise_=0.3)) for player in (0, 1))
    value = naive.expected_value(game, [{k: np.nan_to_num(v) for k, v in one.items()} for one in strategies])
    assert expected_values(form, plans)[0] == pytest.approx(value, abs=1e-12)


def test_calling_loses_its_known_value(kuhn: SequenceForm) -> None:
    """The best response bets its best card alone, or the middle one too: 1/3 of a chip, and 0 in equilibrium."""
    plan = plan_of_bot(kuhn, find_game("kuhn")[1], 1, CallingBot())
    assert best_response(kuhn, 0, plan).value == pytest.approx(1 / 3, abs=1e-12)


def test_three_bots(kuhn3: SequenceForm) -> None:
    plans = tuple(plan_of_bot(kuhn3, find_game("kuhn3")[1], player, CallingBot()) for player in range(3))
    assert expected_values(kuhn3, plans) == pytest.approx([0, 0, 0], abs=1e-12)
    assert exploitability(kuhn3, plans) > 0.1


class Silent(Bot):
    def act(self, view: View) -> Action:
        return CALL


class Odd(Silent):
    def __init__(self, policy: Mapping[Action, float]) -> None:
        self.policy = lambda view: policy  # type: ignore[method-assign]


def test_bots_without_a_valid_policy_are_refused(kuhn: SequenceForm) -> None:
    game = find_game("kuhn")[1]
    with pytest.raises(PolicyError, match=r"Silent has no policy in MATCHSTATE:0:0::Qs\| \(Bot.policy\)"):
        plan_of_bot(kuhn, game, 0, Silent())
    with pytest.raises(PolicyError, match=r"Odd: in MATCHSTATE:0:0:cr:..\| the policy contains an illegal action: r"):
        plan_of_bot(kuhn, game, 0, Odd({CALL: 0.5, RAISE: 0.5}))
    with pytest.raises(PolicyError, match=r"Odd: in MATCHSTATE:0:0::..\| the probabilities .* sum to 0.5, not to 1$"):
        plan_of_bot(kuhn, game, 0, Odd({CALL: 0.5}))
    with pytest.raises(GameRefused):
        plan_of_bot(kuhn, game, 0, LpBot())
