"""The strategy of a bot in a small game, asked for state by state: any bot that tells its `policy` can be measured.

game = find_game("kuhn")[1]
form = sequence_form(small_game(game))
plans = tuple(plan_of_bot(form, game, player, bot) for player in range(2))
exploitability(form, plans)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bots.errors import PolicyError, SolvingError
from bots.evaluation.policies import policy_in
from bots.sdk.bot import Bot
from bots.sdk.view import View
from bots.solving.engine_games import Turn, turns_of
from bots.solving.sequence_form import Plan, SequenceForm
from engine import Card, Game, parse_cards

if TYPE_CHECKING:
    from bots.evaluation.policies import Policy

__all__ = ["plan_of_bot", "plan_of_policy", "view_of"]


def plan_of_bot(form: SequenceForm, game: Game, player: int, bot: Bot) -> Plan:
    """How a bot plays one position of a game, by its `policy` in every state that it can come to.

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
    return plan_of_policy(form, game, player, bot, type(bot).__name__)


def plan_of_policy(form: SequenceForm, game: Game, player: int, policy: Policy, name: str) -> Plan:
    """How a policy plays one position of a game; it is not asked about states that its own play never leads to.

    Args:
        form: that of `bots.solving.engine_games.small_game`, with position 0 as player 0.
        game: the game.
        player: the position.
        policy: asked for its probabilities.
        name: what errors call it.

    Raises:
        SolvingError: the policy does not tell its probabilities in a state, or tells none that can be played.
    """
    turns = turns_of(game)
    holdings = [tuple(parse_cards(text)) for text in form.game.classes[player]]
    plan = np.zeros(form.plan_shape(player))
    plan[0] = 1
    for choice in form.choices[player]:
        turn = turns[choice.name]
        for at, holding in enumerate(holdings):
            # Cards that the board has are in no hand: what stands there counts for nothing.
            if (reach := plan[choice.parent, at]) and not {*holding} & {*turn.board}:
                plan[choice.sequences, at] = reach * np.array(_chances(policy, turn, holding, name))
            else:
                plan[choice.sequences, at] = reach / len(choice.actions)
    return plan


def view_of(turn: Turn, holding: tuple[Card, ...]) -> View:
    """What the player in turn sees with a holding."""
    position = turn.betting.acting_position
    hole_cards: list[tuple[Card, ...]] = [()] * turn.betting.game.num_players
    hole_cards[position] = holding
    return View(turn.betting, position, 0, tuple(hole_cards), turn.board)


def _chances(policy: Policy, turn: Turn, holding: tuple[Card, ...], name: str) -> list[float]:
    """The probability of each action with a holding."""
    view = view_of(turn, holding)
    try:
        told = policy_in(policy, view)
    except PolicyError as error:
        raise SolvingError(f"{name}: {error}") from error
    if told is None:
        raise SolvingError(
            f"{name} does not tell how it plays in {view.match_state.format()} (Bot.policy), so that nothing can be "
            "said without playing"
        )
    # In limit games the rules give a raise its size, and policies may name it or not.
    if turn.betting.game.is_limit:
        return [sum(chance for one, chance in told.items() if one.kind == action.kind) for action in turn.actions]
    return [float(told.get(action, 0)) for action in turn.actions]
