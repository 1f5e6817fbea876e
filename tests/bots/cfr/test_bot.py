"""The bot: probabilities, draws, comments, and games it refuses."""

from __future__ import annotations

import numpy as np
import pytest

from bots.baseline import RandomBot
from bots.cfr.boards import HOLDING_CARDS
from bots.cfr.bot import CfrBot
from bots.errors import GameRefused
from bots.selfplay import self_play
from bots.view import View
from engine import ActionKind, Hand, deal_hand
from protocol import find_game
from protocol.match_state import betting_after, parse_match_state

LIMIT = find_game("limit")[1]


def view_of(text: str) -> View:
    state = parse_match_state(text, LIMIT)
    return View.from_state(state, betting_after(LIMIT, text.split(":")[3]))


def test_its_policy_is_of_legal_actions_in_every_state() -> None:
    bot, numbers = CfrBot(seed=1), np.random.default_rng(4)
    for number in range(150):
        hand = Hand(LIMIT, deal_hand(LIMIT, 7, number))
        while not hand.finished:
            view = View.from_hand(hand, hand.acting_position, number)
            policy = bot.policy(view)
            assert sum(policy.values()) == pytest.approx(1)
            assert all(chance > 0 for chance in policy.values())
            legal = view.legal
            assert legal.can_fold or ActionKind.FOLD not in {action.kind for action in policy}
            assert legal.can_raise or ActionKind.RAISE not in {action.kind for action in policy}
            actions = [view.call(), *([view.raise_min()] if legal.can_raise else [])]
            hand.apply(actions[numbers.integers(len(actions))])


@pytest.mark.parametrize(
    "text",
    [
        "MATCHSTATE:1:0::|AhKd",
        "MATCHSTATE:0:0:rc/:5c5d|/2h7dQs",
        "MATCHSTATE:0:0:rc/cc/:5c5d|/2h7dQs/Qh",
        "MATCHSTATE:0:0:rc/cc/cc/:5c5d|/2h7dQs/Qh/2d",
    ],
)
def test_policies_of_all_holdings_are_those_of_each(text: str) -> None:
    bot = CfrBot(seed=1)
    view = view_of(text)
    policies = bot.policy_by_holding(view)
    assert policies is not None
    assert np.array(list(policies.values())).sum(axis=0) == pytest.approx(np.ones(1326))
    position = view.position
    for at in range(3, 1326, 61):
        hole = tuple(HOLDING_CARDS[at].tolist())
        if {*hole} & {*view.board}:
            assert all(of_all[at] == 1 / len(policies) for of_all in policies.values())
            continue
        cards = tuple(hole if place == position else () for place in range(2))
        own = View(view.betting, position, 0, cards, view.board)
        policy = bot.policy(own)
        assert {action: of_all[at] for action, of_all in policies.items() if of_all[at]} == pytest.approx(dict(policy))


def test_it_says_what_it_draws_from() -> None:
    view = view_of("MATCHSTATE:1:0::|AhAd")
    action = CfrBot(explain=True, seed=2).act(view)
    told = b"".join(view.comments).decode()
    assert told.startswith("# AhAd: bucket 169 of 169: ")
    assert told.rstrip().endswith(f"-> {'fcr'[action.kind]}")


def test_the_same_seed_plays_the_same() -> None:
    first, again, other = (
        [hand.values for hand in self_play("limit", [CfrBot(seed=seed), RandomBot(seed=4)], hands=60, seed=9)]
        for seed in (1, 1, 2)
    )
    assert first == again != other


def test_other_games_are_refused() -> None:
    bot = CfrBot()
    assert bot.refusal(LIMIT) is None
    for name in ("nolimit", "limit3"):
        assert "limit games of two players" in str(bot.refusal(find_game(name)[1]))
    leduc = find_game("leduc")[1]
    with pytest.raises(GameRefused, match="strategy for another game"):
        bot.prepare(leduc)
