"""The strategy of a bot in a small game, asked for state by state: any bot that tells its `policy` can be measured.

game = find_game("kuhn")[1]
form = sequence_form(small_game(game))
plans = tuple(plan_of_bot(form, game, player, bot) for player in range(2))
exploitability(form, plans)
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final

import numpy as np

from bots.bot import Bot
from bots.errors import SolvingError
from bots.solving.engine_games import Turn, turns_of
from bots.solving.plans import Chances, plan_of
from bots.solving.sequence_form import Choice, Plan, SequenceForm
from bots.view import View
from engine import Action, Card, Game, parse_cards
from engine.errors import quoted
from protocol import format_action

__all__ = ["plan_of_bot"]

_ROUNDING: Final = 1e-9
"""Probabilities of one state may miss the sum 1 by so much."""


def plan_of_bot(form: SequenceForm, game: Game, player: int, bot: Bot) -> Plan:
    """How a bot plays one position of a game, by its `policy` in every state.

    Args:
        form: that of `bots.solving.engine_games.small_game`, with position 0 as player 0.
        game: the game.
        player: the position.
        bot: asked for its policy; it plays no hand.

    Raises:
        GameRefused: the bot does not play the game.
        SolvingError: the bot does not tell its policy, or tells none that can be played.
    """
    bot.require_game(game)
    turns = turns_of(game)
    holdings = [tuple(parse_cards(name)) for name in form.game.classes[player]]

    def chances(choice: Choice) -> Chances:
        turn = turns[choice.name]
        return np.array([_chances(bot, turn, holding) for holding in holdings]).T

    return plan_of(form, player, chances)


def _chances(bot: Bot, turn: Turn, holding: tuple[Card, ...]) -> list[float]:
    """The probability of each action with a holding; even ones where the board has a card of it."""
    if {*holding} & {*turn.board}:
        return [1 / len(turn.actions)] * len(turn.actions)
    position = turn.betting.acting_position
    hole_cards: list[tuple[Card, ...]] = [()] * turn.betting.game.num_players
    hole_cards[position] = holding
    view = View(turn.betting, position, 0, tuple(hole_cards), turn.board)
    policy = bot.policy(view)
    if policy is None:
        raise SolvingError(
            f"{type(bot).__name__} does not tell how it plays (Bot.policy), so that nothing can be said without playing"
        )
    return _checked(policy, view, turn, type(bot).__name__)


def _checked(policy: Mapping[Action, float], view: View, turn: Turn, name: str) -> list[float]:
    chances = [float(policy.get(action, 0)) for action in turn.actions]
    state = quoted(view.match_state.format())
    if unknown := [action for action, chance in policy.items() if action not in turn.actions and chance]:
        raise SolvingError(f"{name} may take an illegal action in the state {state}: {format_action(unknown[0])}")
    if not all(0 <= chance <= 1 for chance in chances) or not math.isclose(sum(chances), 1, abs_tol=_ROUNDING):
        told = ", ".join(f"{chance:g}" for chance in chances)
        raise SolvingError(f"what {name} tells of the state {state} are no probabilities that sum to 1: {told}")
    return [chance / sum(chances) for chance in chances]
