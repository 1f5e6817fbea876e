"""How long a bot takes for its decisions: processor time of each, of hands that are played in this process.

The bot prepares as before a match; its opponents draw their actions. What rules and opponents take is not counted.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Final

from bots.bot import Bot
from bots.registry import make_bot
from bots.selfplay import self_play
from bots.view import View
from engine import Action, Game

__all__ = ["decision_times"]

_OPPONENT: Final = "random"


class _Timed(Bot):
    """A bot whose decisions are timed."""

    def __init__(self, bot: Bot) -> None:
        self._bot = bot
        self.spent_ms: dict[str, list[float]] = {}

    def require_game(self, game: Game) -> None:
        self._bot.require_game(game)

    def prepare(self, game: Game) -> None:
        self._bot.prepare(game)

    def hand_started(self, view: View) -> None:
        self._bot.hand_started(view)

    def hand_finished(self, view: View) -> None:
        self._bot.hand_finished(view)

    def act(self, view: View) -> Action:
        began_ns = time.thread_time_ns()
        action = self._bot.act(view)
        self.spent_ms.setdefault(view.round_name, []).append((time.thread_time_ns() - began_ns) / 1e6)
        return action


def decision_times(spec: str, game: Game, *, hands: int, seed: int) -> Mapping[str, list[float]]:
    """The milliseconds of each decision of a bot, in order, by the name of the round.

    Args:
        spec: the bot.
        game: what is played.
        hands: how many deals, each played by the bot in every seat.
        seed: of cards and bots.

    Raises:
        SpecError: there is no such bot.
        GameRefused: it does not play the game.
        BotFailure: its own code failed, or its answer was illegal.
    """
    timed = _Timed(make_bot(spec, seed))
    opponents = [make_bot(_OPPONENT, seed + seat) for seat in range(1, game.num_players)]
    for _ in self_play(game, [timed, *opponents], hands=hands, seed=seed):
        pass
    return timed.spent_ms
