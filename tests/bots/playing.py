"""Hands between bots without a dealer, for tests of whole bots."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from bots.rembrant import RembrantBot
from bots.rembrant.rules import RembrantOptions
from bots.sdk.bot import Bot
from bots.sdk.conversation import require_legal
from bots.sdk.view import View
from bots.solving.exact import plan_of_policy
from bots.solving.sequence_form import Plan, SequenceForm
from engine import Action, ActionKind, Game, Hand, deal_hand, deals
from protocol import find_game, shipped_games

BotMaker = Callable[[int], Bot]
ViewOf = Callable[[str, str], View]
HOLDEM = [name for name in shipped_games() if name.startswith("holdem")]
NOT_HOLDEM = [name for name in shipped_games() if not name.startswith("holdem")]


def rembrant(*, explain: bool = False, seed: int | None = None, **options: Any) -> RembrantBot:
    return RembrantBot(RembrantOptions(**options), explain=explain, seed=seed)


def assert_plays(bot: Bot, view: View, action: Action) -> None:
    """Check that the bot plays the action, that it is legal, and that its policy is certain."""
    assert bot.policy(view) == {action: 1.0}
    assert bot.act(view) == action
    assert require_legal(action, view) == action


def plan_of_bot(form: SequenceForm, game: Game, player: int, bot: Bot) -> Plan:
    """Return the plan of a bot in one position, from its `policy` in every reachable state."""
    bot.require_game(game)
    return plan_of_policy(form, player, bot, type(bot).__name__)


def comment_of(bot: Bot, view: View) -> str:
    """Return the single comment of a bot on an action."""
    bot.act(view)
    (comment,) = view.comments
    return comment.decode()


def play_random_casts(
    name: str, bots: Sequence[BotMaker], explaining: type[Bot] | tuple[type[Bot], ...], *, hands: int, casts: int
) -> int:
    """Play hands between random casts; check legality, free folds, policies and comments.

    Args:
        explaining: the classes of bots that comment on each action.

    Returns:
        Number of comments.

    """
    game = find_game(name)[1]
    rng = random.Random(7)
    tables = [[rng.choice(bots)(seed) for seed in range(game.num_players)] for _ in range(casts)]
    source = deals(game, 11)
    comments = 0
    for number in range(hands):
        cast = rng.choice(tables)
        hand = Hand(game, next(source))
        while not hand.finished:
            view = View.from_hand(hand, hand.acting_position, number)
            bot = cast[hand.acting_position]
            # The policy of a random bot names thousands of sizes; the tests of the baseline bots check it.
            policy = bot.policy(view) if isinstance(bot, explaining) else None
            assert view.comments == [], "asking must not change anything"
            answer = bot.act(view)
            assert require_legal(answer, view) == answer
            assert answer.kind is not ActionKind.FOLD or view.to_call
            if isinstance(bot, explaining):
                assert policy is not None
                assert sum(policy.values()) == pytest.approx(1)
                assert policy[answer] > 0
                assert all(require_legal(action, view) == action for action in policy)
                (comment,) = view.comments
                assert comment.startswith(b"# ")
                assert comment.endswith(b"\r\n")
                assert comment.isascii()
                assert comment.count(b"\n") == comment.count(b"\r") == 1
                assert len(comment) < 300
                comments += 1
            hand.apply(answer)
    return comments


def play_legally(players: int, make_bot: BotMaker, hands: int) -> None:
    """Play hands of no-limit hold'em for any number of players; `make_bot` returns the bot of a position."""
    game = find_game("nolimit10")[1]
    game = game._replace(num_players=players, stacks=game.stacks[:players], blinds=game.blinds[:players])
    cast = [make_bot(seat) for seat in range(players)]
    for number in range(hands):
        hand = Hand(game, deal_hand(game, 3, number))
        while not hand.finished:
            view = View.from_hand(hand, hand.acting_position, number)
            hand.apply(require_legal(cast[hand.acting_position].act(view), view))
