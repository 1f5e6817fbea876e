"""Gymnasium environment of one seat, with bots in the others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import gymnasium
import numpy as np
from gymnasium.error import ResetNeeded
from gymnasium.spaces import Box, Discrete
from numpy.typing import NDArray

from bots.environments.action_menu import ActionMenu
from bots.environments.dealt_hands import DealtHand, dealt_hands
from bots.environments.decision_points import DecisionTree
from bots.environments.observation import observation_layout
from bots.environments.opponents import Opponents, seated_bots
from bots.sdk.selfplay import BotGroup
from bots.sdk.view import View
from engine import Action, Deal, Game, Position, Seat, hand_values
from protocol import find_game

FIRST_HAND: Final = "hand_number"
"""Option of `reset`: number of the hand to play, 0 by default with a new seed."""


class SeatEnv(gymnasium.Env[NDArray[np.float32], np.int64]):
    """One seat at a table of bots. An episode is a hand, its reward the big blinds won, paid at its end.

    Observations are arrays (`bots.environments.ObservationLayout`), actions the numbers of an `ActionMenu`. The info of
    a step has `action_mask`, `hand_number`, and `is_corrected`: the mask forbade the action, and the nearest legal one
    was played, as the reference dealer does.

    `reset` with a seed begins a match, whose cards and bots are those of ``arena play`` with this seed and seating
    single, this player in place of the bot in its seat. Without one, it deals the next hand. A hand that ends before
    the player's turn has one decision without effect, for which the mask only allows the call.

    Attributes:
        layout: layout of the observations.
        menu: the numbered actions.
    """

    metadata: dict[str, Any] = {"render_modes": ["ansi"], "render_fps": 1}  # noqa: RUF012  # declared as in the base class

    def __init__(
        self,
        game: Game | str,
        opponents: Opponents = "random",
        *,
        seat: int = 0,
        raise_sizes: Sequence[float] | None = None,
        render_mode: str | None = None,
    ) -> None:
        """Choose the game and the bots.

        Args:
            game: a game, the name of a shipped one, or the path of a definition file.
            opponents: one bot for all other seats, or one for each of them in order.
            seat: seat of this player, 0-based.
            raise_sizes: raises of a no-limit game, see `ActionMenu`.
            render_mode: "ansi" renders the state as the protocol sends it to the player.

        Raises:
            GameDefinitionError: there is no such game.
            GameRefused: a bot does not play the game.
            SpecError: a bot cannot be made.
            ValueError: the seat, the number of opponents, a size or the render mode is wrong.
        """
        if isinstance(game, str):
            game = find_game(game)[1]
        if render_mode not in (None, "ansi"):
            raise ValueError(f"render_mode is None or 'ansi', not {render_mode!r}")
        self.render_mode = render_mode
        self.game = game
        self.seat = seat
        self.layout = observation_layout(game)
        self.menu = ActionMenu(game, raise_sizes)
        self.observation_space = Box(np.zeros(self.layout.size, np.float32), self.layout.highs, dtype=np.float32)
        self.action_space = Discrete(self.menu.size)
        self._opponents = opponents
        # Reports wrong opponents at once; `reset` makes them again with their seeds.
        seated_bots(opponents, game, seat, 0)
        self._group: BotGroup | None = None
        self._seed = 0
        self._hands: Iterator[DealtHand] | None = None
        self._number = 0
        self._position = Position(0)
        self._tree = DecisionTree(self.layout, self.menu)
        self._point = self._tree.start()
        self._deal = Deal((), ())
        self._holes: list[list[int]] = []
        self._board: list[int] = []
        self._is_over = True

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Deal the next hand, or with a seed the first one of a new match.

        Args:
            seed: seed of cards and bots; without one, the first call draws it.
            options: ``{"hand_number": 12}`` deals this hand of the match and continues after it.

        Raises:
            BotFailure: a bot's code raised or its action was illegal.
        """
        super().reset(seed=seed)
        if self._hands is None and seed is None:
            seed = int(self.np_random.integers(1 << 32))
        first = (options or {}).get(FIRST_HAND)
        if seed is not None:
            first = first or 0
            self.begin_match(seed, dealt_hands(self.layout, seed, first))
        elif first is not None:
            self._hands = dealt_hands(self.layout, self._seed, first)
        return self.begin_hand()

    def begin_match(self, seed: int, hands: Iterator[DealtHand]) -> None:
        """Begin a match.

        Args:
            seed: seed of the bots.
            hands: the next hands, which environments can share.

        Raises:
            BotFailure: a bot's code raised at the end of the match before.
        """
        self.close()
        self._seed = seed
        self._group = BotGroup(seated_bots(self._opponents, self.game, self.seat, seed), self.game)
        self._hands = hands

    def begin_hand(self) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Deal the next hand of the match and play to the first decision of the seat."""
        assert self._hands is not None
        assert self._group is not None
        self._number, self._deal, self._holes, self._board = next(self._hands)
        number = self._number
        players = self.game.num_players
        # The button moves on by one seat from hand to hand, as in the dealer's matches.
        self._position = Position((self.seat - number) % players)
        seats = [Seat((number + position) % players) for position in range(players)]
        self._point = self._tree.start()
        self._is_over = False
        if failures := self._group.begin_hand(number, self._deal, seats, self._point.betting):
            raise failures[0]
        self._play_opponents(self._group)
        return self._observe(), self._info(False)

    def step(
        self, action: int | np.integer[Any] | Action
    ) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        """Play a numbered action, or any action as a bot would return it.

        Raises:
            BotFailure: a bot's code raised or its action was illegal.
            ResetNeeded: the hand is over.
            ValueError: there is no such number.
        """
        if self._is_over or self._group is None:
            raise ResetNeeded("the hand is over: call reset() for the next one")
        point = self._point
        is_corrected = False
        if not point.betting.finished:
            if isinstance(action, Action):
                self._point = point.after(action)
            else:
                self._point, is_corrected = point.after_number(int(action))
            self._play_opponents(self._group)
        reward = 0.0
        betting = self._point.betting
        if betting.finished:
            self._is_over = True
            if failures := self._group.end_hand(betting):
                raise failures[0]
            reward = hand_values(betting, self._deal)[self._position] / self.game.big_blind
        return self._observe(), reward, self._is_over, False, self._info(is_corrected)

    def view(self) -> View:
        """Return the hand as a bot in this seat sees it.

        Raises:
            ResetNeeded: no hand has been dealt.
        """
        if self._group is None:
            raise ResetNeeded("no hand has been dealt: call reset()")
        return View.from_deal(self._point.betting, self._position, self._number, self._deal)

    def action_masks(self) -> NDArray[np.bool_]:
        """Return the mask of the current decision, under the name that sb3-contrib looks for."""
        return self._point.mask().astype(np.bool_)

    def render(self) -> str | None:
        """Return the match state of the player, with ``render_mode="ansi"``."""
        if self.render_mode is None:
            return None
        return self.view().match_state.format()

    def close(self) -> None:
        """End the match of the bots."""
        if self._group is not None:
            group, self._group = self._group, None
            self._hands = None
            if failures := group.end_match():
                raise failures[0]

    def _play_opponents(self, group: BotGroup) -> None:
        betting = self._point.betting
        while not betting.finished and betting.acting_position != self._position:
            self._point = self._point.after(group.ask(betting))
            betting = self._point.betting

    def _observe(self) -> NDArray[np.float32]:
        return self._point.observe(self._position, self._holes[self._position], self._board)

    def _info(self, is_corrected: bool) -> dict[str, Any]:
        return {"action_mask": self._point.mask(), "hand_number": self._number, "is_corrected": is_corrected}


gymnasium.register(
    id="acpc_arena/Seat-v1",
    entry_point="bots.environments:SeatEnv",
    vector_entry_point="bots.environments:SeatVectorEnv",
    kwargs={"game": "limit"},
)
