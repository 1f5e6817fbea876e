"""PettingZoo environment of a whole table, in which all seats act in turn."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium.spaces import Box, Discrete
from numpy.typing import NDArray
from pettingzoo import AECEnv

from bots.environments.action_menu import ActionMenu
from bots.environments.dealt_hands import DealtHand, dealt_hands
from bots.environments.decision_points import DecisionPoint, DecisionTree
from bots.environments.observation import observation_layout
from bots.sdk.bot import fresh_seed
from bots.sdk.view import View
from engine import Action, Deal, Game, Position, hand_values
from protocol import find_game


class TableEnv(AECEnv[str, NDArray[np.float32], Any]):
    """All seats of a table, as the agents ``player_0`` and so on. An episode is a hand.

    Rewards are the big blinds won, paid to all agents at the end of the hand. Observations are arrays
    (`bots.environments.ObservationLayout`), actions the numbers of an `ActionMenu`. The info of the acting agent has
    `action_mask` and `hand_number`, and that of the agent before it `is_corrected`: the mask forbade its action, and
    the nearest legal one was played, as the reference dealer does.

    `reset` with a seed begins a match, whose cards are those of ``arena play`` with this seed. Without one, it deals
    the next hand, and the button moves on by one seat.

    Attributes:
        layout: layout of the observations.
        menu: the numbered actions.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012  # declared as in the base class
        "render_modes": ["ansi"],
        "name": "acpc_arena_table_v1",
        "is_parallelizable": False,
    }

    def __init__(
        self, game: Game | str, *, raise_sizes: Sequence[float] | None = None, render_mode: str | None = None
    ) -> None:
        """Choose the game.

        Args:
            game: a game, the name of a shipped one, or the path of a definition file.
            raise_sizes: raises of a no-limit game, see `ActionMenu`.
            render_mode: "ansi" renders the state as the protocol sends it to the acting player.

        Raises:
            GameDefinitionError: there is no such game.
            ValueError: a size or the render mode is wrong.
        """
        super().__init__()
        if isinstance(game, str):
            game = find_game(game)[1]
        if render_mode not in (None, "ansi"):
            raise ValueError(f"render_mode is None or 'ansi', not {render_mode!r}")
        self.render_mode = render_mode
        self.game = game
        self.layout = observation_layout(game)
        self.menu = ActionMenu(game, raise_sizes)
        self.possible_agents = [f"player_{seat}" for seat in range(game.num_players)]
        self.agents: list[str] = []
        self.observation_spaces = {}
        self.action_spaces = {}
        for agent in self.possible_agents:
            box = Box(np.zeros(self.layout.size, np.float32), self.layout.highs, dtype=np.float32)
            self.observation_spaces[agent] = box
            self.action_spaces[agent] = Discrete(self.menu.size)
        self._seed = 0
        self._hands: Iterator[DealtHand] | None = None
        self._number = 0
        self._tree = DecisionTree(self.layout, self.menu)
        self._point: DecisionPoint = self._tree.start()
        self._deal = Deal((), ())
        self._holes: list[list[int]] = []
        self._board: list[int] = []
        self._positions: dict[str, Position] = {}
        self._agents_by_position: list[str] = []

    def observation_space(self, agent: str) -> Any:
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Any:
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> None:
        """Deal the next hand, or with a seed the first one of a new match.

        Args:
            seed: seed of the cards; without one, the first call draws it.
            options: ``{"hand_number": 12}`` deals this hand of the match and continues after it.
        """
        if self._hands is None and seed is None:
            seed = fresh_seed() & 0xFFFFFFFF
        first = (options or {}).get("hand_number")
        if seed is not None:
            self._seed = seed
            first = first or 0
        if first is not None:
            self._hands = dealt_hands(self.layout, self._seed, first)
        assert self._hands is not None
        self._number, self._deal, self._holes, self._board = next(self._hands)
        agents = self.possible_agents
        start = self._number % len(agents)
        self._agents_by_position = agents[start:] + agents[:start]
        self._positions = {agent: Position(place) for place, agent in enumerate(self._agents_by_position)}
        self.agents = agents[:]
        self.rewards = dict.fromkeys(agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(agents, 0.0)
        self.terminations = dict.fromkeys(agents, False)
        self.truncations = dict.fromkeys(agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in agents}
        self.agent_selection = self._agents_by_position[0]
        self._continue(self._tree.start())

    def step(self, action: int | np.integer[Any] | Action | None) -> None:
        """Play a numbered action of the acting agent, or any action as a bot would return it.

        Raises:
            ValueError: there is no such number.
        """
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        point = self._point
        is_corrected = False
        if action is None:
            raise ValueError(f"{agent} has to act, and None is not an action")
        if isinstance(action, Action):
            point = point.after(action)
        else:
            point, is_corrected = point.after_number(int(action))
        self.infos[agent] = {"is_corrected": is_corrected}
        self._continue(point)

    def observe(self, agent: str) -> NDArray[np.float32]:
        position = self._positions[agent]
        return self._point.observe(position, self._holes[position], self._board)

    def view(self, agent: str | None = None) -> View:
        """Return the hand as a bot in an agent's seat sees it, by default the acting one."""
        position = self._positions[agent or self.agent_selection]
        return View.from_deal(self._point.betting, position, self._number, self._deal)

    def render(self) -> str | None:
        """Return the match state of the acting player, with ``render_mode="ansi"``."""
        if self.render_mode is None:
            return None
        return self.view().match_state.format()

    def close(self) -> None:
        """End the match. The next `reset` begins another."""
        self._hands = None

    def _was_dead_step(self, action: Any) -> None:
        """Remove an agent after the hand. All agents end at once, so the next one is the first that is left."""
        # A third of the time of the method of PettingZoo, which supports agents that end one by one.
        if action is not None:
            raise ValueError(f"the hand is over, so the only action of {self.agent_selection} is None")
        agent = self.agent_selection
        for values in (self.terminations, self.truncations, self.rewards, self._cumulative_rewards, self.infos):
            del values[agent]
        self.agents.remove(agent)
        if self.agents:
            self.agent_selection = self.agents[0]
        for agent in self.rewards:
            self.rewards[agent] = 0.0

    def _continue(self, point: DecisionPoint) -> None:
        """Ask the next agent, or pay all at the end of the hand."""
        self._point = point
        betting = point.betting
        if not betting.finished:
            self.agent_selection = agent = self._agents_by_position[betting.acting_position]
            self.infos[agent] = {"action_mask": point.mask(), "hand_number": self._number}
            return
        for agent, value in zip(self._agents_by_position, hand_values(betting, self._deal), strict=True):
            self.rewards[agent] = self._cumulative_rewards[agent] = value / self.game.big_blind
            self.terminations[agent] = True
        self.agent_selection = self.agents[0]
