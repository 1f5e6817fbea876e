"""Tables with all seats to act: PettingZoo's tests, hands of the engine, masks, rewards."""

from __future__ import annotations

import numpy as np
import pytest
from pettingzoo.test import api_test, seed_test

from bots.environments import TableEnv
from engine import Hand, deal_hand, raise_to
from protocol.game_definition import SHORT_NAMES


@pytest.mark.parametrize("game", SHORT_NAMES)
def test_every_game_passes_the_tests_of_pettingzoo(game: str) -> None:
    api_test(TableEnv(game), num_cycles=10)
    seed_test(lambda: TableEnv(game), num_cycles=10)


@pytest.mark.parametrize("game", ["nolimit3", "leduc"])
def test_hands_are_those_of_the_engine(game: str) -> None:
    env = TableEnv(game)
    rng = np.random.default_rng(1)
    players = env.game.num_players
    for number in range(20):
        env.reset(seed=5 if number == 0 else None)
        hand = Hand(env.game, deal_hand(env.game, 5, number))
        while not hand.finished:
            position = hand.acting_position
            assert env.agent_selection == f"player_{(position + number) % players}"
            _, reward, is_over, _, info = env.last()
            assert (reward, is_over, info["hand_number"]) == (0.0, False, number)
            assert (env.view().hole_cards, env.view().board) == (hand.deal.hole_cards[position], hand.board)
            actions = env.menu.legal_actions(hand.betting)
            assert info["action_mask"].tolist() == [action is not None for action in actions]
            choice = rng.choice(np.flatnonzero(info["action_mask"]))
            action = actions[choice]
            assert action is not None
            hand.apply(action)
            env.step(choice)
        for position, value in enumerate(hand.values()):
            agent = f"player_{(position + number) % players}"
            assert env.rewards[agent] == value / env.game.big_blind
            assert env.terminations[agent]


def test_numbers_continue_from_a_given_hand() -> None:
    env = TableEnv("leduc")
    for options, number in (({"hand_number": 12}, 12), (None, 13)):
        env.reset(seed=7 if options else None, options=options)
        assert env.view().hand_number == number
        assert env.view().hole_cards == deal_hand(env.game, 7, number).hole_cards[0]


def test_masked_action_is_played_as_the_nearest_legal_one() -> None:
    env = TableEnv("kuhn")
    env.reset(seed=1)
    env.step(0)  # a fold without a bet
    assert env.infos["player_0"] == {"is_corrected": True}
    assert [action.kind.name for _, action in env.view().round_actions] == ["CALL"]
    env.step(2)
    assert env.infos["player_1"] == {"is_corrected": False}
    env.step(2)  # a second raise, which the game forbids
    assert env.infos["player_0"]["is_corrected"]
    assert env.terminations == {"player_0": True, "player_1": True}


def test_actions_of_the_engine_have_any_size() -> None:
    env = TableEnv("nolimit", raise_sizes=(1.0,))
    env.reset(seed=1)
    env.step(env.view().raise_to(777))
    assert env.view().round_actions[-1][1] == raise_to(777)


def test_state_is_rendered_as_the_acting_player_receives_it() -> None:
    env = TableEnv("kuhn", render_mode="ansi")
    env.reset(seed=1)
    assert env.render() == env.view("player_0").match_state.format()
    assert "MATCHSTATE:0:0::" in env.render()
