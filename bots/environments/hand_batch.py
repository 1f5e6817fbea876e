"""Hands played side by side in compiled code, for training that asks a network for thousands of decisions at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bots.environments.action_menu import ActionMenu
from bots.environments.dealt_hands import BlockDealer
from bots.environments.kernel import (
    ALL_SEATS,
    EMPTY,
    NUMBER,
    BatchResults,
    BatchRules,
    Columns,
    step_hands,
)
from bots.environments.observation import ObservationLayout, observation_layout
from bots.environments.opponents import CompiledPolicy, Opponents, compiled_policy, seated_bots
from engine import Game
from engine.batch import rank_hands
from engine.kernels.betting import POSITION, betting_tables
from protocol import find_game

_MIN_DEALT: Final = 4096
"""Smallest number of hands that are dealt at once."""


class HandBatch:
    """Hands of one match side by side. The caller acts for all seats, or for one against bots that ignore their cards.

    A row whose hand is over takes the next hand of the match in the same step, so all rows together play the hands of
    ``arena play`` with the same seed. The arrays are overwritten by the next step.

    Attributes:
        layout: layout of the observations.
        menu: the numbered actions.
        size: number of rows.
        observations: of the player to act, float32, shape (size, `layout.size`).
        action_masks: 1 for each legal action, int8, shape (size, `menu.size`).
        acting_seats: seat of the player to act.
        hand_numbers: number of each row's hand in the match.
        rewards: big blinds won in the hand that the last step finished, by seat, shape (size, players); else 0.
        finished: the last step finished a hand.
        is_corrected: the mask forbade the last action, and the nearest legal one was played.
    """

    def __init__(
        self,
        game: Game | str,
        size: int,
        *,
        opponents: Opponents | None = None,
        seat: int = 0,
        raise_sizes: Sequence[float] | None = None,
    ) -> None:
        """Choose the game.

        Args:
            game: a game, the name of a shipped one, or the path of a definition file.
            size: number of hands side by side.
            opponents: bots of the other seats, see `SeatEnv`; None if the caller acts for all seats.
            seat: seat of the caller, if there are opponents.
            raise_sizes: raises of a no-limit game, see `ActionMenu`.

        Raises:
            GameDefinitionError: there is no such game.
            GameRefused: a bot does not play the game.
            SpecError: a bot cannot be made.
            ValueError: a bot cannot be compiled, or an argument is out of bounds.
        """
        if isinstance(game, str):
            game = find_game(game)[1]
        if size < 1:
            raise ValueError(f"a batch has at least 1 hand, not {size}")
        self.game = game
        self.size = size
        self.layout = observation_layout(game)
        self.menu = ActionMenu(game, raise_sizes)
        self._opponents = opponents
        self._seat = ALL_SEATS if opponents is None else seat
        players = game.num_players
        self._rules = self._rules_for(0)
        self._hands = np.zeros((size, self._rules.columns.size), np.int64)
        self._results = BatchResults(
            observations=np.zeros((size, self.layout.size), np.float32),
            masks=np.zeros((size, self.menu.size), np.int8),
            acting_seats=np.zeros(size, np.int64),
            rewards=np.zeros((size, players), np.float64),
            finished=np.zeros(size, np.bool_),
            is_corrected=np.zeros(size, np.bool_),
        )
        self.observations = self._results.observations
        self.action_masks = self._results.masks
        self.acting_seats = self._results.acting_seats
        self.hand_numbers = self._hands[:, NUMBER]
        self.rewards = self._results.rewards
        self.finished = self._results.finished
        self.is_corrected = self._results.is_corrected
        self._dealer: _BatchDealer | None = None

    def reset(self, seed: int, first_hand: int = 0) -> None:
        """Begin a match.

        Args:
            seed: seed of cards and bots, modulo 2**32.
            first_hand: number of the first hand.

        Raises:
            ValueError: the number is negative.
        """
        if self._opponents is not None:
            self._rules = self._rules_for(seed)
        self._dealer = _BatchDealer(self.layout, seed, first_hand)
        self._hands[:, POSITION] = EMPTY
        self.step(np.zeros(self.size, np.int64))

    def step(self, actions: ArrayLike) -> None:
        """Play one action in every row, and begin the next hand in the rows whose hand is over.

        Args:
            actions: numbers of the menu, shape (size,).

        Raises:
            RuntimeError: no match has begun.
            ValueError: the shape is wrong, or there is no such number.
        """
        if self._dealer is None:
            raise RuntimeError("no match has begun: call reset(seed)")
        numbers = np.asarray(actions, np.int64)
        if numbers.shape != (self.size,):
            raise ValueError(f"a step needs {self.size} actions, not the shape {numbers.shape}")
        # Kernels check no bounds.
        if numbers.min() < 0 or numbers.max() >= self.menu.size:
            raise ValueError(
                f"actions are numbered from 0 to {self.menu.size - 1}, not {numbers.min()}..{numbers.max()}"
            )
        dealt, first = self._dealer.next_hands(self.size)
        self._dealer.skip(step_hands(self._rules, self._hands, self._results, numbers, dealt, first))

    def _rules_for(self, seed: int) -> BatchRules:
        """Return the constants with the bots of a match."""
        game = self.game
        players = game.num_players
        policies: list[CompiledPolicy] = [CompiledPolicy(0, 1, 0)] * players
        if self._opponents is not None:
            for seat, bot in enumerate(seated_bots(self._opponents, game, self._seat, seed)):
                policy = compiled_policy(bot)
                if policy is None and seat != self._seat:
                    name = type(bot).__name__
                    raise ValueError(f"{name} has no compiled policy; SeatVectorEnv plays against any bot")
                policies[seat] = policy or policies[seat]
        return BatchRules(
            tables=betting_tables(game),
            columns=_columns(self.layout, self._seat),
            raise_sizes=np.array(self.menu.raise_sizes, np.float64),
            board_ends=np.array(game.board_cards_by_round, np.int64),
            policies=np.array([policy[:4] for policy in policies], np.float64),
            seeds=np.array([policy.seed for policy in policies], np.uint64),
        )


def _columns(layout: ObservationLayout, seat: int) -> Columns:
    """Return the columns of a hand's row."""
    game = layout.game
    players = game.num_players
    entries = game.num_rounds * players
    spent = NUMBER + 1
    chips = spent + players
    raises = chips + entries
    last_raisers = raises + entries
    counters = last_raisers + game.num_rounds
    dealt = counters + players
    return Columns(
        players=players,
        rounds=game.num_rounds,
        hole_cards=game.num_hole_cards,
        seat=seat,
        betting_start=layout.fields["position"].start,
        spent=spent,
        chips=chips,
        raises=raises,
        last_raisers=last_raisers,
        counters=counters,
        dealt=dealt,
        size=dealt + players + game.cards_per_hand,
    )


class _BatchDealer:
    """Next hands of a match as the columns `dealt` of the kernel, a few thousand at a time."""

    def __init__(self, layout: ObservationLayout, seed: int, first_hand: int) -> None:
        self._game = layout.game
        self._dealer = BlockDealer(layout, seed, first_hand)
        self._dealt = np.empty((0, self._game.num_players + self._game.cards_per_hand), np.int64)
        self._number = first_hand
        self._used = 0

    def next_hands(self, count: int) -> tuple[NDArray[np.int64], int]:
        """Return the columns `dealt` of at least `count` hands, and the number of the first of them."""
        if len(self._dealt) - self._used < count:
            self._dealt = np.concatenate([self._dealt[self._used :], self._deal(max(count, _MIN_DEALT))])
            self._used = 0
        return self._dealt[self._used :], self._number

    def skip(self, count: int) -> None:
        """Remove hands from the front."""
        self._used += count
        self._number += count

    def _deal(self, count: int) -> NDArray[np.int64]:
        game = self._game
        cards, entries = self._dealer.deal(count)
        board = cards[:, game.num_players * game.num_hole_cards :]
        columns = []
        for position in range(game.num_players):
            first = position * game.num_hole_cards
            hole = cards[:, first : first + game.num_hole_cards]
            columns.append(rank_hands(np.concatenate([hole, board], axis=1)).astype(np.int64))
        return np.column_stack([*columns, entries])
