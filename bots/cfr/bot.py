"""A strategy at the table: the bot ``cfr``."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar, Final

from bots.bot import Bot, FilePath
from bots.draws import draw, drawn_action, fresh_seed, uniform
from bots.errors import GameRefused, StrategyError
from bots.view import View
from engine import CALL, FOLD, RAISE, Action, ActionKind, Game
from engine.holdem import is_dealt_as_holdem
from protocol import format_action

if TYPE_CHECKING:
    from bots.cfr.files import StrategyFile
    from bots.holdings import HoldingChances

__all__ = ["SHIPPED", "CfrBot"]

SHIPPED: Final = os.path.join(os.path.dirname(__file__), "limit.strategy")
"""The strategy of limit hold'em; its first line tells settings, seed, time and exploitability of its training."""
_WORDS: Final = {FOLD: "fold", CALL: "call", RAISE: "raise"}


class CfrBot(Bot):
    """Plays near an equilibrium: what regret minimisation against itself has found.

    Algorithm: it draws each action by fixed probabilities, those of the betting so far and of the bucket that its hand
        falls into (Zinkevich et al. 2007; boards are sampled as by Johanson et al. 2012). Before the flop each starting
        hand is a bucket of its own; later, hands of about equal strength share one (`bots.cfr.abstraction`).

    Other games: the shipped strategy is for limit hold'em of two players with the blinds and raises of the game limit;
        `arena train cfr` makes others, also for Leduc and Kuhn poker.

    Strength: docs/cfr.md has its results against all other bots, and how far it is from an equilibrium.

    Its draws depend only on the seed and the state, so a match that is resumed or split between hands plays the same.
    """

    option_help: ClassVar[Mapping[str, str]] = {
        "strategy": "a file that `arena train cfr` wrote; the shipped one by default",
        "explain": "whether to send bucket and probabilities as a comment before each action",
        "seed": "where the draws start; random by default",
    }

    def __init__(self, *, strategy: FilePath = "", explain: bool = False, seed: int | None = None) -> None:
        """Set the options; `option_help` says what each decides.

        Raises:
            ValueError: the file is no strategy.
        """
        self._path = strategy or SHIPPED
        self._explains = explain
        self._seed = fresh_seed() if seed is None else seed
        self._strategy: StrategyFile | None = None
        if strategy:
            try:
                self._read()
            except StrategyError as error:
                raise ValueError(str(error)) from error

    @classmethod
    def refusal(cls, game: Game) -> str | None:
        """All but limit games of two players are refused."""
        if game.is_limit and game.num_players == 2:
            return None
        return "cfr plays limit games of two players: as it comes the game limit"

    def prepare(self, game: Game) -> None:
        """Map the file into memory, and load what counts hands.

        Raises:
            GameRefused: the strategy is for another game.
        """
        strategy = self._for(game)
        if is_dealt_as_holdem(game):
            from bots.cfr.hands import bucket_of

            for board in ((), (0, 5, 10), (0, 5, 10, 15), (0, 5, 10, 15, 20)):
                bucket_of(strategy, (48, 49), board)

    def act(self, view: View) -> Action:
        """Draw an action.

        Raises:
            GameRefused: the strategy is for another game.
        """
        policy, bucket, buckets = self._decide(view)
        action = drawn_action(policy, uniform(draw(self._seed, view)))
        if self._explains:
            told = ", ".join(f"{_WORDS[action]} {chance:.3f}" for action, chance in policy.items())
            cards = view.hole_text + (f" on {view.board_text}" if view.board else "")
            view.comment(f"{cards}: bucket {bucket + 1} of {buckets}: {told} -> {format_action(action)}")
        return action

    def policy(self, view: View) -> Mapping[Action, float]:
        """The probabilities that `act` draws from.

        Raises:
            GameRefused: the strategy is for another game.
        """
        return self._decide(view)[0]

    def policy_by_holding(self, view: View) -> HoldingChances | None:
        """The probabilities of each action for every holding of hold'em; None in other games.

        Raises:
            GameRefused: the strategy is for another game.
        """
        strategy = self._for(view.game)
        if not is_dealt_as_holdem(view.game):
            return None
        import numpy as np

        from bots.cfr.abstraction import NO_BUCKET
        from bots.cfr.hands import all_buckets

        node = _node(strategy, view)
        chances = strategy.chances(node)
        # A holding that shares a card with the board counts for nothing, and has even chances.
        padded = np.full((len(chances), NO_BUCKET + 1), 1 / len(chances))
        padded[:, : chances.shape[1]] = chances
        actions = _actions(int(strategy.nodes[node]))
        return dict(zip(actions, padded[:, all_buckets(strategy, view.board)], strict=True))

    def _decide(self, view: View) -> tuple[Mapping[Action, float], int, int]:
        """The probabilities, the bucket, and how many of them there are."""
        strategy = self._for(view.game)
        if is_dealt_as_holdem(view.game):
            from bots.cfr.hands import bucket_of

            bucket = bucket_of(strategy, view.hole_cards, view.board)
        else:
            from bots.cfr.deals import AllBoards

            bucket = AllBoards(view.game).bucket(view.hole_cards[0], view.board)
        node = _node(strategy, view)
        chances = strategy.chances_of(node, bucket)
        policy = {
            action: chance
            for action, chance in zip(_actions(int(strategy.nodes[node])), chances, strict=True)
            if chance
        }
        return policy, bucket, strategy.buckets[view.round]

    def _for(self, game: Game) -> StrategyFile:
        """The strategy, if it is for this game.

        Raises:
            GameRefused: it is not.
        """
        self.require_game(game)
        strategy = self._strategy if self._strategy is not None else self._read()
        if strategy.game != game:
            raise GameRefused(f"{os.path.basename(self._path)} is a strategy for another game")
        return strategy

    def _read(self) -> StrategyFile:
        from bots.cfr.files import read_strategy

        self._strategy = read_strategy(self._path)
        return self._strategy


def _actions(kinds: int) -> tuple[Action, ...]:
    """The actions of a node of a limit game, by its byte (`bots.cfr.files.StrategyFile.nodes`)."""
    return (FOLD,) * (kinds & 1) + (CALL,) + (RAISE,) * (kinds >> 2)


def _node(strategy: StrategyFile, view: View) -> int:
    """Where the betting is."""
    node = 0
    for round_ in view.betting.rounds:
        for _, action in round_:
            kinds = int(strategy.nodes[node])
            at = {ActionKind.FOLD: 0, ActionKind.CALL: kinds & 1, ActionKind.RAISE: (kinds & 1) + 1}[action.kind]
            node = strategy.children[node][at]
    return node
