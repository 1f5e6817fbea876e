"""One seat against bots: Gymnasium's checker, hands of `arena play`, no decision, refusals."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env

from bots import environments
from bots.environments import SeatEnv
from bots.errors import GameRefused
from dealer import play
from logs.hand_source import find
from protocol.game_definition import SHORT_NAMES


@pytest.mark.parametrize("game", SHORT_NAMES)
def test_every_game_passes_the_checker_of_gymnasium(game: str) -> None:
    name = "bots.environments:acpc_arena/Seat-v1"
    check_env(gymnasium.make(name, game=game, render_mode="ansi", disable_env_checker=True).unwrapped)


@pytest.mark.parametrize(
    ("game", "opponents"), [("limit", ["random"]), ("nolimit3", ["random", "raising"]), ("kuhn", ["equilibrium"])]
)
def test_hands_are_those_of_arena_play(game: str, opponents: list[str], tmp_path: Path) -> None:
    play(game, ["calling", *opponents], deals=30, seed=7, seating="single", in_process=True, out=tmp_path / "run")
    env = SeatEnv(game, opponents)
    records = list(find([str(tmp_path / "run")]).hands())
    assert len(records) == 30
    for record in records:
        _, info = env.reset(seed=7 if record.hand_number == 0 else None)
        assert info["hand_number"] == record.hand_number
        is_over = False
        while not is_over:
            _, reward, is_over, _, info = env.step(1)
        view = env.view()
        assert view.actions_by_round == record.betting.rounds
        assert view.hole_cards == record.deal.hole_cards[view.position]
        if view.is_showdown:
            assert (view.board, view.values) == (record.deal.board, record.values)
        assert record.seats[view.position] == 0
        assert reward == record.values[view.position] / env.game.big_blind


def test_hand_that_ends_before_the_players_turn_is_an_episode_of_one_call() -> None:
    env = SeatEnv("limit", "folding")
    for number in range(4):
        _, info = env.reset(seed=1 if number == 0 else None)
        if number % 2 == 0:
            # In the big blind, the opponent has folded.
            assert info["action_mask"].tolist() == [0, 1, 0]
            _, reward, is_over, _, _ = env.step(2)
            assert (reward, is_over) == (0.5, True)
        else:
            assert info["action_mask"].tolist() == [1, 1, 1]
            assert env.step(0)[1:3] == (-0.5, True)


def test_sizes_with_the_same_total_are_masked() -> None:
    env = SeatEnv("nolimit", "calling", raise_sizes=(0.0, 0.25, 0.5, 1.0, math.inf), seat=1)
    _, info = env.reset(seed=1)
    # The pot after a call is 200, so the smallest raise, a quarter and half of the pot are all to 200.
    assert info["action_mask"].tolist() == [1, 1, 1, 0, 0, 1, 1]
    assert env.step(3)[4]["is_corrected"]
    assert env.view().actions_by_round[0][0][1].hand_total == 200


def test_first_match_without_a_seed_follows_the_generator() -> None:
    env = SeatEnv("kuhn", "calling")
    env.np_random = np.random.default_rng(5)
    first, _ = env.reset()
    again, _ = env.reset(seed=int(np.random.default_rng(5).integers(1 << 32)))
    assert first.tolist() == again.tolist()


def test_masks_have_the_form_of_sb3() -> None:
    env = SeatEnv("kuhn", "calling")
    env.reset(seed=1)
    assert env.action_masks().dtype == np.bool_
    assert env.action_masks().tolist() == [False, True, True]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"seat": 2}, "the game has the seats 0 to 1, not 2"),
        ({"opponents": ["calling"] * 2}, "the game needs 1 opponent for all other seats or 1, not 2"),
        ({"render_mode": "human"}, "render_mode is None or 'ansi', not 'human'"),
        ({"raise_sizes": (1.0,)}, "raise_sizes are for no-limit games; a limit game fixes the size of its raises"),
    ],
)
def test_wrong_arguments_are_refused(arguments: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match="^" + sentence):
        SeatEnv("limit", **arguments)


def test_repeated_sizes_are_refused() -> None:
    with pytest.raises(ValueError, match="must be different fractions of the pot, 0 or more"):
        SeatEnv("nolimit", raise_sizes=(1, 1.0))


def test_game_that_a_bot_does_not_play_is_refused_at_once() -> None:
    with pytest.raises(GameRefused):
        SeatEnv("leduc", "lp-mc")


def test_steps_outside_a_hand_are_refused() -> None:
    env = SeatEnv("kuhn", "folding")
    with pytest.raises(ResetNeeded):
        env.view()
    env.reset(seed=1)
    with pytest.raises(ValueError, match="actions are numbered from 0 to 2, not 3"):
        env.step(3)
    env.step(2)
    with pytest.raises(ResetNeeded, match="the hand is over"):
        env.step(1)


def test_missing_library_is_named_with_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gymnasium", None)
    monkeypatch.delitem(sys.modules, "bots.environments.seat_env")
    with pytest.raises(ImportError, match=r"^SeatEnv needs gymnasium: pip install 'acpc-arena\[rl\]'$"):
        environments.SeatEnv  # noqa: B018
