"""The bot at a table of three, with fewer raises in its tree than the rules allow."""

from __future__ import annotations

import numpy as np
import pytest

from bots.cfr.bot import CfrBot
from bots.cfr.lookup import OFF_TREE, tree_positions
from bots.cfr.strategy_files import StrategyFile, read_strategy, write_strategy
from bots.cfr.tree import BettingTree, betting_tree, read_caps
from bots.sdk.selfplay import self_play
from bots.sdk.view import View
from engine import CALL, FOLD, RAISE, ActionKind, Hand, deal_hand
from engine.ranges import holding_number
from protocol import find_game
from protocol.match_state import betting_after, parse_match_state
from tests.bots.cfr.drawn import BUCKETS, random_hands

GAME = find_game("limit3")[1]
ACTIONS = {"f": FOLD, "c": CALL, "r": RAISE}


@pytest.fixture(scope="module")
def tree() -> BettingTree:
    return betting_tree(GAME, read_caps("1/2/1/1", 4))


@pytest.fixture(scope="module")
def strategy(tree: BettingTree, tmp_path_factory: pytest.TempPathFactory) -> StrategyFile:
    numbers, parts = np.random.default_rng(3), []
    for node in tree.decisions.tolist():
        weights = numbers.exponential(size=(len(tree.actions[node]), BUCKETS[tree.rounds[node]]))
        parts.append((weights / weights.sum(axis=0)).ravel())
    path = tmp_path_factory.mktemp("three") / "three.strategy"
    write_strategy(path, tree, BUCKETS, random_hands(), np.concatenate(parts), {})
    return read_strategy(str(path))


def node_of(tree: BettingTree, text: str) -> int:
    node = 0
    for letter in text.replace("/", ""):
        node = int(tree.children[node, tree.actions[node].index(ACTIONS[letter])])
    return node


@pytest.mark.parametrize(
    ("table", "read"),
    [
        ("", ""),
        ("crcc/rrc", "crcc/rrc"),
        # The tree maps the second and third raise before the flop to a call of the first.
        ("rr", "rc"),
        ("rrr", "rcc/"),
        ("rrc", "rcc/"),
        # A player who folds to the second raise has put in less at the table, and folds in the tree in its turn.
        ("rrcc/", "rcc/"),
        ("rrcf/", "rcc/"),
        ("rrcf/r", "rcc/r"),
        ("rrcf/c", "rcc/c"),
        ("rrfc/", "rcf/"),
        ("rfrc/rrr", "rfc/rrc/"),
        ("rfrc/rrrc/", "rfc/rrc/"),
    ],
)
def test_raises_beyond_the_tree_are_read_as_calls(
    table: str, read: str, tree: BettingTree, strategy: StrategyFile
) -> None:
    betting = betting_after(GAME, table)
    ((place,), _) = tree_positions(strategy, betting, 1, lambda *_: {})
    assert place.node == node_of(tree, read)
    assert place.owes_call == (tree.rounds[place.node] > betting.round)
    # The early fold is skipped.
    if not place.owes_call:
        assert tree.players[place.node] == betting.acting_position


def view_of(text: str) -> View:
    state = parse_match_state(text, GAME)
    return View.from_state(state, betting_after(GAME, text.split(":")[3]))


def test_state_of_the_tree_is_played_by_the_strategy(tree: BettingTree, strategy: StrategyFile) -> None:
    view = view_of("MATCHSTATE:1:0:rcc/c:|5c5d|/2h7dQs")
    bucket = int(strategy.buckets_on(view.board)[holding_number(*view.hole_cards)])
    node = node_of(tree, "rcc/c")
    expected = dict(zip(tree.actions[node], strategy.chances_of(node, bucket), strict=True))
    assert CfrBot(strategy=strategy.path).policy(view) == pytest.approx(expected)


def test_call_beyond_the_tree_follows_pot_odds(strategy: StrategyFile) -> None:
    bot, read = CfrBot(strategy=strategy.path), set()
    # The third raise, to 40, into 30 + 40 + 20 and 20 of the turn's bets: the call is 10 or 20 of the pot after it.
    for hole in ("5c5d", "AhKh", "3c4d", "QdQc", "9c8c", "Tc2d", "JhJd", "6c6s"):
        view = view_of(f"MATCHSTATE:0:0:ccc/rrrcr:{hole}||/2h7dQs")
        policy = bot.policy(view)
        assert policy is not None
        bucket = int(strategy.buckets_on(view.board)[holding_number(*view.hole_cards)])
        price = view.betting.to_call / (view.betting.pot + view.betting.to_call)
        is_called = ((bucket + 0.5) / BUCKETS[1]) ** 2 >= price
        assert policy == {CALL if is_called else FOLD: 1}
        read.add(is_called)
    assert read == {True, False}


def test_pot_odds_decide_in_a_pot_larger_than_the_tree_has(tree: BettingTree, strategy: StrategyFile) -> None:
    bot, outcome = CfrBot(strategy=strategy.path), set()
    node = node_of(tree, "ccc/rrcc/r")
    for hole in ("5c5d", "AhKh", "3c4d", "QdQc", "9c8c", "Tc2d", "JhJd", "6c6s"):
        # Each has put in two bets more on the flop than in the tree.
        view = view_of(f"MATCHSTATE:1:0:ccc/rrrrcc/r:|{hole}|/2h7dQs/3s")
        policy = bot.policy(view)
        assert policy is not None
        bucket = int(strategy.buckets_on(view.board)[holding_number(*view.hole_cards)])
        fold, call = strategy.chances_of(node, bucket)
        price = view.betting.to_call / (view.betting.pot + view.betting.to_call)
        is_called = ((bucket + 0.5) / BUCKETS[2]) ** 2 >= price
        expected = {CALL: 1.0} if is_called else {FOLD: fold, CALL: call}
        assert policy == pytest.approx({action: chance for action, chance in expected.items() if chance})
        outcome.add(is_called)
    assert outcome == {True, False}


def test_policy_is_of_legal_actions_in_every_state(strategy: StrategyFile) -> None:
    bot, numbers = CfrBot(strategy=strategy.path, seed=1), np.random.default_rng(4)
    for number in range(12):
        hand = Hand(GAME, deal_hand(GAME, 7, number))
        while not hand.finished:
            view = View.from_hand(hand, hand.acting_position, number)
            policy = bot.policy(view)
            assert policy is not None
            assert sum(policy.values()) == pytest.approx(1)
            assert all(chance > 0 for chance in policy.values())
            for action in policy:
                hand.betting.check(action)
            (place, *_), _ = tree_positions(strategy, hand.betting, 1, lambda *_: {})
            assert place.node != OFF_TREE
            actions = [view.call(), view.call()]
            actions += [FOLD] if view.legal.can_fold and numbers.integers(4) == 0 else []
            actions += [RAISE, RAISE] if view.legal.can_raise else []
            hand.apply(actions[numbers.integers(len(actions))])


def test_policy_by_holding_agrees_with_policy(strategy: StrategyFile) -> None:
    bot, view = CfrBot(strategy=strategy.path), view_of("MATCHSTATE:0:0:ccc/rrrcr:5c5d||/2h7dQs")
    by_holding = bot.policy_by_holding(view)
    assert by_holding is not None
    number = holding_number(*view.hole_cards)
    outcome = {action: float(np.asarray(chances)[number]) for action, chances in by_holding.items()}
    assert {action: chance for action, chance in outcome.items() if chance} == bot.policy(view)


def test_three_players_are_played_without_endgames_and_exploitation(strategy: StrategyFile) -> None:
    bots = [CfrBot(strategy=strategy.path, seed=seed, rivers=5) for seed in range(3)]
    names = ["one", "other", "third"]
    hands = list(self_play("limit3", bots, deals=4, seed=9, names=names))
    assert any(hand.betting.round == 3 for hand in hands)
    assert ActionKind.RAISE in {
        action.kind for hand in hands for actions in hand.betting.rounds for _, action in actions
    }
    refusal = CfrBot(strategy=strategy.path, exploit=0.2).refusal(GAME)
    assert refusal == "cfr answers its opponent in limit hold'em of two players: leave out exploit"
    refusal = CfrBot(strategy=strategy.path, turns=5).refusal(GAME)
    assert refusal == "cfr solves turns in no-limit hold'em and in limit hold'em of two players: leave out turns"
