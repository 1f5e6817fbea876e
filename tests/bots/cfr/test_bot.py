"""The bot `cfr`: probabilities, draws, comments, refused games."""

from __future__ import annotations

import numpy as np
import pytest

from bots.baseline import RandomBot
from bots.cfr.boards import HOLDING_CARDS
from bots.cfr.bot import SHIPPED, CfrBot
from bots.cfr.lookup import OFF_TREE, TreePosition, decide_at
from bots.cfr.strategy_files import read_strategy
from bots.errors import GameRefused
from bots.sdk.selfplay import self_play
from bots.sdk.view import View
from bots.solving.exact import exact_exploitability
from engine import CALL, FOLD, ActionKind, Game, Hand, deal_hand
from engine.betting_rules import raise_to
from engine.ranges import holding_number
from protocol import find_game
from protocol.match_state import betting_after, parse_match_state

LIMIT = find_game("limit")[1]
NO_LIMIT = find_game("nolimit")[1]


def view_of(text: str, game: Game = LIMIT) -> View:
    state = parse_match_state(text, game)
    return View.from_state(state, betting_after(game, text.split(":")[3]))


def test_policy_is_of_legal_actions_after_raises_of_any_size() -> None:
    """After raises of any size by both players, the bot can hold hands that its strategy never has there."""
    bot, numbers = CfrBot(seed=1, rivers=1, turns=1), np.random.default_rng(4)
    for number in range(7):
        hand = Hand(NO_LIMIT, deal_hand(NO_LIMIT, 7, number))
        while not hand.finished:
            view = View.from_hand(hand, hand.acting_position, number)
            policy = bot.policy(view)
            assert sum(policy.values()) == pytest.approx(1)
            assert all(chance > 0 for chance in policy.values())
            for action in policy:
                hand.betting.check(action)
            legal = view.legal
            actions = [view.call(), view.call(), *policy]
            if legal.can_raise:
                low, high = legal.raise_min, legal.raise_max
                actions += [raise_to(low), raise_to(int(numbers.integers(low, min(3 * low, high) + 1)))]
                actions += [raise_to(int(numbers.integers(low, high + 1)))] * (number % 3 == 0)
            hand.apply(actions[numbers.integers(len(actions))])


def test_policy_is_of_legal_actions_in_every_state() -> None:
    bot, numbers = CfrBot(seed=1, rivers=1, turns=1), np.random.default_rng(4)
    for number in range(8):
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
        "MATCHSTATE:0:0:rc/cc/:5c5d|/2h7dQs/Qh",
        "MATCHSTATE:0:0:rc/cc/cc/:5c5d|/2h7dQs/Qh/2d",
    ],
)
def test_policy_by_holding_agrees_with_policy(text: str) -> None:
    check_all_holdings(view_of(text))


@pytest.mark.parametrize(
    "text",
    [
        "MATCHSTATE:0:0:r250r900r1600:5c5d|",
        "MATCHSTATE:0:0:r300c/cr450:5c5d|/2h7dQs",
        "MATCHSTATE:0:0:r300c/cr1000c/cr3000c/cr20000:5c5d|/2h7dQs/2c/2d",
        # The raise to 9000 can be read as all-in, but play continues.
        "MATCHSTATE:1:0:cr9000c/r11000:|AhKd/2h7dQs",
        "MATCHSTATE:1:0:r250c/cr500c/cr700c/r1000r3333:|5c5d/2h7dQs/2c/9h",
    ],
)
def test_policy_by_holding_agrees_with_policy_after_raises_of_any_size(text: str) -> None:
    check_all_holdings(view_of(text, NO_LIMIT))


def check_all_holdings(view: View) -> None:
    bot = CfrBot(seed=1)
    policies = bot.policy_by_holding(view)
    assert policies is not None
    assert np.array(list(policies.values())).sum(axis=0) == pytest.approx(np.ones(1326))
    position = view.position
    for number in range(3, 1326, 61):
        hole = tuple(HOLDING_CARDS[number].tolist())
        if {*hole} & {*view.board}:
            assert view.game == NO_LIMIT or all(chances[number] == 1 / len(policies) for chances in policies.values())
            continue
        cards = tuple(hole if place == position else () for place in range(2))
        own = View(view.betting, position, 0, cards, view.board)
        policy = bot.policy(own)
        chances_of_holding = {action: chances[number] for action, chances in policies.items() if chances[number]}
        assert chances_of_holding == pytest.approx(dict(policy))


def test_comments_name_bucket_action_and_translated_raise() -> None:
    view = view_of("MATCHSTATE:1:0::|AhAd")
    action = CfrBot(explain=True, seed=2).act(view)
    comment = b"".join(view.comments).decode()
    assert comment.startswith("# AhAd: bucket 169 of 169: ")
    assert comment.rstrip().endswith(f"-> {'fcr'[action.kind]}")
    view = view_of("MATCHSTATE:0:0:r250:7h2d|", NO_LIMIT)
    CfrBot(explain=True, seed=2).act(view)
    comment = b"".join(view.comments).decode()
    assert comment.rstrip().endswith("; r250 is 0.75 pots, read as 0.50 43%, 1.00 57%")


def test_bet_of_the_tree_is_answered_by_the_strategy() -> None:
    strategy = read_strategy(SHIPPED["nolimit"])
    view = view_of("MATCHSTATE:0:0:r300:AhAd|", NO_LIMIT)
    node = strategy.children_of(0)[strategy.totals[strategy.children_of(0)].tolist().index(300)]
    bucket = int(strategy.buckets_on(())[holding_number(*view.hole_cards)])
    totals = [int(strategy.totals[child]) for child in strategy.children_of(node)[2:]]
    expected = dict(zip([FOLD, CALL, *map(raise_to, totals)], strategy.chances_of(node, bucket), strict=True))
    assert CfrBot().policy(view) == {action: chance for action, chance in expected.items() if chance}


def test_call_that_the_tree_never_makes_follows_pot_odds() -> None:
    strategy = read_strategy(SHIPPED["nolimit"])
    betting = betting_after(NO_LIMIT, "r300c/r20000")
    buckets = np.array([50, 200, 300, 499])
    position = TreePosition(OFF_TREE, 300, np.ones(4), is_exact=False)
    decided = decide_at(strategy, position, betting, buckets)
    # 19,700 to call for a final pot of 40,000: 49.25 %.
    assert decided[CALL].tolist() == [0, 0, 1, 1]
    assert decided[FOLD].tolist() == [1, 1, 0, 0]


def test_play_follows_from_the_seed() -> None:
    def played(seed: int) -> list[object]:
        bots = [CfrBot(seed=seed, rivers=1, turns=1), RandomBot(seed=4)]
        return [hand.values for hand in self_play("limit", bots, deals=4, seed=9)]

    first, again, other = played(1), played(1), played(2)
    assert first == again != other


def test_games_without_a_shipped_strategy_are_refused() -> None:
    bot = CfrBot()
    assert [bot.refusal(find_game(name)[1]) for name in SHIPPED] == [None] * len(SHIPPED)
    for game in (find_game("limit6")[1], find_game("kuhn.limit.3p")[1], LIMIT._replace(blinds=(4, 3))):
        assert "comes with strategies for limit, limit3, nolimit, nolimit3, nolimit6, kuhn," in str(bot.refusal(game))
        with pytest.raises(GameRefused, match="arena train cfr"):
            bot.prepare(game)


def test_strategy_file_refuses_other_games() -> None:
    bot = CfrBot(strategy=SHIPPED["leduc"])
    assert bot.refusal(find_game("leduc")[1]) is None
    assert bot.refusal(LIMIT) == "leduc.strategy is a strategy for another game"


@pytest.mark.parametrize(("name", "chips"), [("kuhn", 1e-4), ("kuhn-depth", 1e-4), ("leduc", 1e-5)])
def test_shipped_strategies_of_small_games_are_equilibria(name: str, chips: float) -> None:
    """Computed from the rules, independently of the training."""
    game = find_game(name)[1]
    assert exact_exploitability(game, CfrBot(), "cfr").exploitability < chips


def test_small_no_limit_game_is_played_against_raises_of_any_size() -> None:
    played = self_play("leduc-nolimit", [CfrBot(seed=1), RandomBot(seed=4)], deals=30, seed=9)
    assert len(list(played)) == 60
