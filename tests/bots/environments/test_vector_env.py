"""Parallel hands: kernels compared with `SeatEnv` and `TableEnv`; Python tables for other bots."""

from __future__ import annotations

import math
from typing import Any

import gymnasium
import numpy as np
import pytest

from bots.environments import HandBatch, SeatEnv, SeatVectorEnv, TableEnv
from bots.environments.opponents import Opponents
from protocol.game_definition import SHORT_NAMES

SIZES = (0.0, 0.5, 1.0, math.inf)


def assert_rows_are_those_of_tables(game: str, raise_sizes: tuple[float, ...] | None, hands: int) -> None:
    """Play random actions, legal or not, in a batch of all seats; play each finished hand again in `TableEnv`."""
    batch = HandBatch(game, 5, raise_sizes=raise_sizes)
    batch.reset(seed=9, first_hand=3)
    table = TableEnv(game, raise_sizes=raise_sizes)
    rng = np.random.default_rng(1)
    played: list[list[tuple[Any, ...]]] = [[] for _ in range(batch.size)]
    numbers = set()
    while len(numbers) < hands:
        before = batch.hand_numbers.copy()
        rows = [(batch.observations[i].tolist(), batch.action_masks[i].tolist()) for i in range(batch.size)]
        seats = batch.acting_seats.tolist()
        actions = rng.integers(batch.menu.size, size=batch.size)
        batch.step(actions)
        for i in range(batch.size):
            played[i].append((seats[i], *rows[i], int(actions[i]), bool(batch.is_corrected[i])))
            if not batch.finished[i]:
                assert not batch.rewards[i].any()
                continue
            numbers.add(int(before[i]))
            table.reset(seed=9, options={"hand_number": int(before[i])})
            for seat, observation, mask, action, is_corrected in played[i]:
                agent = table.agent_selection
                assert agent == f"player_{seat}"
                assert table.observe(agent).tolist() == observation
                assert table.infos[agent]["action_mask"].tolist() == mask
                table.step(action)
                assert is_corrected == (not mask[action])
            assert all(table.terminations.values())
            assert list(table.rewards.values()) == batch.rewards[i].tolist()
            played[i] = []
    assert numbers >= set(range(3, 3 + hands - batch.size))


@pytest.mark.parametrize(
    ("game", "raise_sizes"), [("nolimit3", SIZES), ("limit", None), ("leduc-nolimit", None), ("kuhn3", None)]
)
def test_rows_are_those_of_tables(game: str, raise_sizes: tuple[float, ...] | None) -> None:
    assert_rows_are_those_of_tables(game, raise_sizes, 60)


@pytest.mark.slow
@pytest.mark.parametrize("game", SHORT_NAMES)
def test_rows_are_those_of_tables_in_every_game(game: str) -> None:
    assert_rows_are_those_of_tables(game, None if "nolimit" not in game else SIZES, 1000)


@pytest.mark.parametrize(
    ("game", "opponents"),
    [
        ("nolimit3", ["random", "constant?action=raise,size=0.7"]),
        ("limit", "random?fold=0.3,call=0.3,raise=0.4"),
        ("nolimit", "constant?action=raise,size=allin"),
        ("nolimit6", ["folding", "raising", "constant?decision=4", "random", "calling"]),
    ],
)
def test_compiled_tables_play_as_python_does(game: str, opponents: Opponents, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = SeatVectorEnv(game, opponents, num_envs=7, seat=1)
    monkeypatch.setattr("bots.environments.vector_env.compiled_policy", lambda bot: None)
    slow = SeatVectorEnv(game, opponents, num_envs=7, seat=1)
    assert (compiled.is_compiled, slow.is_compiled) == (True, False)
    steps = [env.reset(seed=21, options={"hand_number": 2}) for env in (compiled, slow)]
    rng = np.random.default_rng(2)
    finished = 0
    for _ in range(60):
        assert_same(*steps)
        actions = rng.integers(compiled.menu.size, size=7)
        steps = [env.step(actions) for env in (compiled, slow)]
        finished += int(steps[0][2].sum())
    assert finished > 50


def assert_same(first: tuple[Any, ...], second: tuple[Any, ...]) -> None:
    for left, right in zip(first[:-1], second[:-1], strict=True):
        np.testing.assert_array_equal(left, right)
    assert first[-1].keys() == second[-1].keys()
    for name in first[-1]:
        np.testing.assert_array_equal(first[-1][name], second[-1][name])


def test_any_bot_plays_at_tables_of_gymnasium() -> None:
    tables = gymnasium.make_vec(
        "bots.environments:acpc_arena/Seat-v1", num_envs=3, game="kuhn", opponents="equilibrium"
    )
    single = SeatEnv("kuhn", "equilibrium")
    observations, infos = tables.reset(seed=4)
    for number in range(3):
        observation, _ = single.reset(seed=4, options={"hand_number": number})
        assert observations[number].tolist() == observation.tolist()
    assert infos["hand_number"].tolist() == [0, 1, 2]
    assert observations in tables.observation_space
    tables.close()


@pytest.mark.parametrize("actions", [[0, 0], [0, 3, 0], [0, -1, 0]])
def test_actions_that_kernels_would_not_check_are_refused(actions: list[int]) -> None:
    batch = HandBatch("kuhn", 3)
    with pytest.raises(RuntimeError, match=r"no match has begun: call reset\(seed\)"):
        batch.step(actions)
    batch.reset(1)
    with pytest.raises(ValueError, match=r"a step needs 3 actions|actions are numbered from 0 to 2"):
        batch.step(actions)


def test_batch_refuses_bots_without_a_compiled_policy() -> None:
    with pytest.raises(ValueError, match="EquilibriumBot has no compiled policy; SeatVectorEnv plays against any bot"):
        HandBatch("kuhn", 3, opponents="equilibrium")
