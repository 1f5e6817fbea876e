"""Gymnasium environment of one seat at many tables, compiled where the bots allow it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium.spaces import Box, Discrete
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from bots.environments.dealt_hands import dealt_hands
from bots.environments.hand_batch import HandBatch
from bots.environments.opponents import Opponents, compiled_policy, seated_bots
from bots.environments.seat_env import FIRST_HAND, SeatEnv
from engine import Game
from protocol import find_game


class SeatVectorEnv(VectorEnv[NDArray[np.float32], NDArray[np.int64], NDArray[Any]]):
    """One seat at many tables, which share the hands of one match, with the arrays and infos of `SeatEnv`.

    A table whose hand is over deals the next hand of the match in the same step (`AutoresetMode.SAME_STEP`, without
    `final_obs`, since no hand is truncated). So all tables together play the hands of ``arena play`` with this seed.

    Attributes:
        is_compiled: all bots are played by kernels (`HandBatch`); otherwise by Python, table after table.
    """

    metadata: dict[str, Any] = {"autoreset_mode": AutoresetMode.SAME_STEP}  # noqa: RUF012  # as in the base class

    def __init__(
        self,
        game: Game | str,
        opponents: Opponents = "random",
        *,
        num_envs: int,
        seat: int = 0,
        raise_sizes: Sequence[float] | None = None,
    ) -> None:
        """Choose the game and the bots.

        Args:
            game: a game, the name of a shipped one, or the path of a definition file.
            opponents: one bot for all other seats, or one for each of them in order.
            num_envs: number of tables.
            seat: seat of this player, 0-based.
            raise_sizes: raises of a no-limit game, see `ActionMenu`.

        Raises:
            GameDefinitionError: there is no such game.
            GameRefused: a bot does not play the game.
            SpecError: a bot cannot be made.
            ValueError: the seat, the number of opponents or tables, or a size is wrong.
        """
        if isinstance(game, str):
            game = find_game(game)[1]
        if num_envs < 1:
            raise ValueError(f"num_envs must be 1 or more, not {num_envs}")
        bots = seated_bots(opponents, game, seat, 0)
        self.game = game
        self.seat = seat
        self.num_envs = num_envs
        self.is_compiled = all(compiled_policy(bot) is not None for bot in bots[:seat] + bots[seat + 1 :])
        self._batch: HandBatch | None = None
        self._tables: list[SeatEnv] = []
        if self.is_compiled:
            self._batch = HandBatch(game, num_envs, opponents=opponents, seat=seat, raise_sizes=raise_sizes)
            self.layout = self._batch.layout
            self.menu = self._batch.menu
        else:
            self._tables = [SeatEnv(game, opponents, seat=seat, raise_sizes=raise_sizes) for _ in range(num_envs)]
            self.layout = self._tables[0].layout
            self.menu = self._tables[0].menu
        self._infos: list[dict[str, Any]] = []
        self.single_observation_space = Box(np.zeros(self.layout.size, np.float32), self.layout.highs, dtype=np.float32)
        self.single_action_space = Discrete(self.menu.size)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Begin a match; without a seed, one whose seed is drawn.

        Args:
            seed: seed of cards and bots.
            options: ``{"hand_number": 12}`` begins with this hand of the match.

        Raises:
            BotFailure: a bot's code raised or its action was illegal.
        """
        super().reset(seed=seed)
        if seed is None:
            seed = int(self.np_random.integers(1 << 32))
        first = (options or {}).get(FIRST_HAND, 0)
        if self._batch is not None:
            self._batch.reset(seed, first)
            return self._batch.observations.copy(), self._batch_infos(self._batch)
        hands = dealt_hands(self.layout, seed, first)
        observations = []
        self._infos = []
        for table in self._tables:
            table.begin_match(seed, hands)
            observation, info = table.begin_hand()
            observations.append(observation)
            self._infos.append(info)
        return np.stack(observations), self._table_infos()

    def step(
        self, actions: NDArray[np.int64]
    ) -> tuple[NDArray[np.float32], NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Play one numbered action at every table.

        Raises:
            BotFailure: a bot's code raised or its action was illegal.
            RuntimeError: no match has begun.
            ValueError: the shape is wrong, or there is no such number.
        """
        truncations = np.zeros(self.num_envs, np.bool_)
        if self._batch is not None:
            batch = self._batch
            batch.step(actions)
            rewards = batch.rewards[:, self.seat].copy()
            return batch.observations.copy(), rewards, batch.finished.copy(), truncations, self._batch_infos(batch)
        if not self._infos:
            raise RuntimeError("no match has begun: call reset()")
        rewards = np.zeros(self.num_envs, np.float64)
        terminations = np.zeros(self.num_envs, np.bool_)
        observations = []
        for index, (table, action) in enumerate(zip(self._tables, actions, strict=True)):
            observation, rewards[index], terminations[index], _, info = table.step(action)
            if terminations[index]:
                is_corrected = info["is_corrected"]
                observation, info = table.begin_hand()
                info["is_corrected"] = is_corrected
            observations.append(observation)
            self._infos[index] = info
        return np.stack(observations), rewards, terminations, truncations, self._table_infos()

    def close_extras(self, **kwargs: Any) -> None:
        """End the matches of the bots."""
        for table in self._tables:
            table.close()

    def _batch_infos(self, batch: HandBatch) -> dict[str, Any]:
        return {
            "action_mask": batch.action_masks.copy(),
            "hand_number": batch.hand_numbers.copy(),
            "is_corrected": batch.is_corrected.copy(),
        }

    def _table_infos(self) -> dict[str, Any]:
        return {name: np.array([info[name] for info in self._infos]) for name in self._infos[0]}
