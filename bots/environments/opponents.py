"""Opponents of a seat: made from their names for each match, and as numbers for the kernels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, NamedTuple, TypeAlias

from bots.baseline import ALL_IN, CallingBot, ConstantBot, FoldingBot, RaisingBot, RandomBot
from bots.formula.formulas import Decision
from bots.sdk.bot import Bot, bot_seed
from bots.sdk.registry import make_bot, make_bot_from
from bots.sdk.view import View
from engine import CALL, Action, Game

Opponent: TypeAlias = str | Bot | type[Bot]
"""A bot as on the command line (``random?fold=0.1``), a class, or an object, of which each seat gets a copy."""
Opponents: TypeAlias = Opponent | Sequence[Opponent]
"""One opponent for every other seat, or one for each of them in the order of the seats."""


class _OwnSeat(Bot):
    """Placeholder of the seat whose actions come from outside."""

    def act(self, view: View) -> Action:
        return CALL


def seated_bots(opponents: Opponents, game: Game, seat: int, seed: int) -> list[Bot]:
    """Make the bot of every seat, with a placeholder in one of them.

    Args:
        seat: seat without a bot.
        seed: seed of the match, from which a bot's own seed follows as in ``arena play``.

    Raises:
        GameRefused: a bot does not play the game.
        SpecError: a bot cannot be made.
        ValueError: the seat does not exist, or the number of opponents is wrong.
    """
    players = game.num_players
    if not 0 <= seat < players:
        raise ValueError(f"the game has the seats 0 to {players - 1}, not {seat}")
    if isinstance(opponents, str | Bot | type):
        opponents = [opponents] * (players - 1)
    if len(opponents) != players - 1:
        raise ValueError(f"the game needs 1 opponent for all other seats or {players - 1}, not {len(opponents)}")
    bots: list[Bot] = []
    remaining = iter(opponents)
    for player in range(players):
        if player == seat:
            bots.append(_OwnSeat())
            continue
        opponent = next(remaining)
        own_seed = bot_seed(seed, 0, player)
        bot = make_bot(opponent, own_seed) if isinstance(opponent, str) else make_bot_from(opponent, own_seed)
        bot.require_game(game)
        bots.append(bot)
    return bots


class CompiledPolicy(NamedTuple):
    """Policy of a bot that ignores its cards, for `HandBatch`.

    Weights of illegal actions count as 0; if no weight is left, the policy calls.

    Attributes:
        size: raises as fractions of the pot like those of an `ActionMenu`, NaN for a uniform draw over all sizes.
        seed: mixed seed of the draws (`bots.baseline.HandRandom.seed`).
    """

    fold: float
    call: float
    raise_: float
    size: float = 0.0
    seed: int = 0


def compiled_policy(bot: Bot) -> CompiledPolicy | None:
    """Return the policy with which the kernels play like a bot, action for action, or None if they cannot."""
    # Exact types: a subclass may act differently.
    if type(bot) is CallingBot:
        return CompiledPolicy(0, 1, 0)
    if type(bot) is FoldingBot:
        return CompiledPolicy(1, 0, 0)
    if type(bot) is RaisingBot:
        return CompiledPolicy(0, 0, 1)
    if type(bot) is RandomBot and bot.proportions is None:
        return CompiledPolicy(*bot.weights, math.nan, bot.random.seed)
    if type(bot) is ConstantBot:
        if bot.is_sized:
            return CompiledPolicy(0, 0, 1, math.inf if bot.fraction == ALL_IN else bot.fraction)
        return _DECISIONS[bot.decision]
    return None


_DECISIONS: Final = {
    Decision.FOLD: CompiledPolicy(1, 0, 0),
    Decision.CALL: CompiledPolicy(0, 1, 0),
    Decision.SMALL_RAISE: CompiledPolicy(0, 0, 1),
    Decision.MEDIUM_RAISE: CompiledPolicy(0, 0, 1, 0.5),
    Decision.LARGE_RAISE: CompiledPolicy(0, 0, 1, 1.0),
}
