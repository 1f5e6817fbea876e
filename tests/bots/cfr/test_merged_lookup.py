"""Tables of three and six players in merged trees: exact on lines of the tree, legal elsewhere."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from bots.cfr.abstraction import NO_BUCKET
from bots.cfr.boards import HOLDING_COUNT
from bots.cfr.bot import CfrBot
from bots.cfr.endgames import Endgames
from bots.cfr.lookup import OFF_TREE, find_ranges, lower_chance, play, tree_positions
from bots.cfr.merged_tree import MergedTree, first_rows, merged_tree
from bots.cfr.strategy_files import StrategyFile, read_strategy, write_strategy
from bots.cfr.tree import CONTINUED, DECISION, betting_tree, read_sizes
from bots.sdk.view import View
from engine import CALL, FOLD, Action, ActionKind, BettingState, Card, Game, betting_start, deal_hand
from engine.betting_rules import raise_to
from engine.cards import STARTING_HANDS
from engine.hand import showdown_values
from engine.ranges import are_free
from protocol import find_game
from protocol.match_state import betting_after
from tests.bots.cfr.drawn import BUCKETS, random_hands

GAMES = {
    "nolimit3": find_game("nolimit3")[1],
    "nolimit6": find_game("nolimit6")[1]._replace(stacks=(900,) * 6),
}


@cache
def tree_of(game: Game) -> MergedTree:
    # Two subtrees, by the number of players, because the tests build the tree.
    return merged_tree(game, lambda entry, _: len(entry.positions))


def random_strategy(tree: MergedTree) -> NDArray[np.float64]:
    numbers = np.random.default_rng(3)
    parts = []
    for part in tree.parts:
        for node in part.decisions.tolist():
            weights = numbers.exponential(size=(len(part.actions[node]), BUCKETS[part.rounds[node]]))
            parts.append((weights / weights.sum(axis=0)).ravel())
    return np.concatenate(parts)


@pytest.fixture(scope="module")
def strategies(tmp_path_factory: pytest.TempPathFactory) -> dict[str, StrategyFile]:
    folder = tmp_path_factory.mktemp("merged")
    return {name: strategy_of(game, folder / name) for name, game in GAMES.items()}


def strategy_of(game: Game, path: Path) -> StrategyFile:
    write_strategy(path, tree_of(game), BUCKETS, random_hands(), random_strategy(tree_of(game)), {"note": "random"})
    return read_strategy(str(path))


@pytest.mark.parametrize("name", GAMES)
def test_strategy_is_read_as_it_was_written(name: str, strategies: dict[str, StrategyFile]) -> None:
    strategy = strategies[name]
    tree = tree_of(GAMES[name])
    numbers = np.random.default_rng(3)
    assert strategy.entries is not None
    assert strategy.game == tree.game
    for part, first in zip(tree.parts, first_rows(tree), strict=True):
        for node in part.decisions.tolist():
            children = part.children[node]
            assert strategy.children_of(first + node) == (first + children[children >= 0]).tolist()
            assert strategy.actions_of(first + node) == part.actions[node]
            weights = numbers.exponential(size=(len(part.actions[node]), BUCKETS[part.rounds[node]]))
            chances = weights / weights.sum(axis=0)
            assert np.abs(strategy.chances(first + node) - chances).max() < 1 / 255
    assert strategy.entries.nodes.tolist() == [entry.node for entry in tree.entries]
    assert strategy.entries.types.tolist() == [[*entry.flop_type] for entry in tree.entries]
    for model, root in zip(tree.models, first_rows(tree)[1:], strict=True):
        assert sum(strategy.starts[root].spent) == model.pot
        assert strategy.starts[root].in_pot == tuple(sorted(model.positions))


def walk(name: str, strategy: StrategyFile, numbers: np.random.Generator) -> list[tuple[BettingState, int]]:
    """Play at random on the tree; return the states of the table with the nodes of the file."""
    tree = tree_of(GAMES[name])
    rows = first_rows(tree)
    state = betting_start(tree.game)
    part = tree.preflop
    first = node = 0
    entry = None
    walked = []
    while not state.finished:
        if part.kinds[node] == CONTINUED:
            entry = next(entry for entry in tree.entries if entry.node == node)
            part = tree.subtrees[entry.subtree]
            first = rows[1 + entry.subtree]
            node = 0
        walked.append((state, first + node))
        index = int(numbers.integers(len(part.actions[node])))
        if numbers.integers(2) and CALL in part.actions[node]:
            index = part.actions[node].index(CALL)
        action = part.actions[node][index]
        if action.kind is ActionKind.RAISE and entry is not None:
            # Chips of the entry are scaled with the pot, up to the stack.
            model = tree.models[entry.subtree]
            fraction = entry.pot / model.pot
            exact = entry.matched + (action.hand_total - model.matched) * fraction
            legal = state.legal_actions()
            if exact >= tree.game.stacks[0] - 0.5 or action.hand_total == tree.game.stacks[0]:
                # Equal totals at the table are read as the largest one of the tree.
                index = len(part.actions[node]) - 1
                action = raise_to(legal.raise_max)
            else:
                place = tree_positions(strategy, state, 1, lambda *_: {})[0][0]
                assert place.node == first + node
                table = [known for known in play(strategy, state, (), lambda _: np.array([0]))[0] if known.hand_total]
                action = min(table, key=lambda known: abs(known.hand_total - exact))
                assert abs(action.hand_total - exact) <= 3
        node = int(part.children[node, index])
        state = state.after(action)
    return walked


@pytest.mark.parametrize("name", GAMES)
def test_lines_of_the_tree_are_at_their_nodes(name: str, strategies: dict[str, StrategyFile]) -> None:
    numbers = np.random.default_rng(5)
    strategy = strategies[name]
    rounds = set()
    for _ in range(60):
        for state, node in walk(name, strategy, numbers):
            ((place,), read) = tree_positions(strategy, state, 1, lambda *_: {})
            assert place.node == node
            assert place.is_exact
            assert not read
            rounds.add(state.round)
    # The stacks of six players are too short for many bets.
    assert rounds >= {0, 1, 2}


def random_action(state: BettingState, numbers: np.random.Generator) -> Action:
    """Return a limp, a call of any number of players, or a raise of any size, often the smallest."""
    legal = state.legal_actions()
    kind = numbers.integers(8)
    if legal.can_raise and kind < 2:
        top = legal.raise_max if kind else min(legal.raise_max, 2 * legal.raise_min)
        return raise_to(int(numbers.integers(legal.raise_min, top + 1)))
    if legal.can_raise and kind == 2:
        return raise_to(legal.raise_min)
    if legal.can_fold and kind == 3:
        return FOLD
    return CALL


@pytest.mark.parametrize("name", GAMES)
def test_policy_is_of_legal_actions_in_every_state(name: str, strategies: dict[str, StrategyFile]) -> None:
    strategy = strategies[name]
    numbers = np.random.default_rng(4)
    off_tree = 0
    states = 0
    for _ in range(20):
        state = betting_start(GAMES[name])
        while not state.finished:
            bucket = int(numbers.integers(BUCKETS[state.round]))
            policy, _ = play(strategy, state, (), lambda _, bucket=bucket: np.array([bucket % 5]))
            assert sum(policy.values()) == pytest.approx(1)
            for action, chance in policy.items():
                assert chance > 0
                state.check(action)
            (place, *_), _ = tree_positions(strategy, state, 1, lambda *_: {})
            states += 1
            off_tree += place.node == OFF_TREE
            state = state.after(random_action(state, numbers))
    # Even at such a wild table the strategy has most decisions.
    assert off_tree < states / 2


@pytest.mark.parametrize(
    ("table", "read"),
    [
        # Raises of the tree, to 2.5 big blinds and 3.5 and 2.3 times as much.
        ("r250r875f", "r250r875f"),
        ("r250r875fr2012", "r250r875fr2012"),
        ("fc", "fc"),
        # An open limp is the smallest raise, and a later limp calls it.
        ("c", "r250"),
        ("cc", "r250c"),
        ("cr450", "r250r875"),
        ("cr450fr2000", "r250r875fr2012"),
        # A raise that is nearer to a call replaces the one before.
        ("r200r300", "fr250"),
        # Exceptions: the raise of the player in turn, and of a player whom the tree needs.
        ("r250r400f", "r250r875f"),
        ("r200r300r400", "r250fr875"),
        ("r200r300r900", "r250r875r2012"),
        ("r200", "r250"),
    ],
)
def test_tables_before_the_flop_are_read_as_lines_of_the_tree(
    table: str, read: str, strategies: dict[str, StrategyFile]
) -> None:
    game = GAMES["nolimit3"]
    places, _ = tree_positions(strategies["nolimit3"], betting_after(game, table), 1, lambda *_: {})
    likeliest = max(places, key=lambda place: place.weights[0])
    assert likeliest.tree == betting_after(game, read)


def test_open_raise_between_sizes_has_two_readings(strategies: dict[str, StrategyFile]) -> None:
    strategy = strategies["nolimit3"]
    places, (reading,) = tree_positions(strategy, betting_after(strategy.game, "r1000"), 1, lambda *_: {})
    assert [place.tree for place in places] == [betting_after(strategy.game, text) for text in ("r250", "r20000")]
    # The pot after a call is 250.
    chance = lower_chance(900 / 250, 150 / 250, 19_900 / 250)
    assert [place.weights[0] for place in places] == pytest.approx([chance, 1 - chance])
    assert reading.known == ((0.6, pytest.approx(chance)), (79.6, pytest.approx(1 - chance)))


def test_table_of_other_stacks_is_refused(strategies: dict[str, StrategyFile]) -> None:
    refusal = CfrBot(strategy=strategies["nolimit6"].path).refusal(find_game("nolimit6")[1])
    assert refusal == ("nolimit6 is a strategy for stacks of 9 big blinds, not 200: train one with `arena train cfr`")


def test_a_fourth_call_is_held_against_the_price(strategies: dict[str, StrategyFile]) -> None:
    strategy = strategies["nolimit6"]
    # Three have put in 250. The call of 150 is a seventh of the pot after it.
    state = betting_after(strategy.game, "r250ccff")
    (place,), _ = tree_positions(strategy, state, 1, lambda *_: {})
    assert CALL not in strategy.actions_of(place.node)
    actions = set()
    for number in (STARTING_HANDS.index("72o"), STARTING_HANDS.index("KQs")):
        policy, _ = play(strategy, state, (), lambda _, number=number: np.array([number]))
        actions.add(frozenset(policy) & {FOLD, CALL})
    assert actions == {frozenset([FOLD]), frozenset([CALL])}


def test_ends_of_a_river_for_two_divide_the_chips_of_others(strategies: dict[str, StrategyFile]) -> None:
    game = GAMES["nolimit3"]
    start = betting_after(game, "r250cc/r501cf/cc/")
    tree = betting_tree(game, read_sizes("1,all:all", 4), start)
    states = {0: start}
    for node in tree.decisions.tolist():
        for action, child in zip(tree.actions[node], tree.children[node].tolist(), strict=False):
            states[child] = states[node].after(action)
    dead = 250
    for node in np.flatnonzero(tree.kinds != DECISION).tolist():
        state = states[node]
        if state.is_showdown:
            ranks = [None if state.folded >> position & 1 else position for position in range(3)]
            values = showdown_values(state.spent, ranks)
        else:
            values = [state.pot * (position in state.in_pot) - state.spent[position] for position in range(3)]
        assert sorted(values[position] - dead / 2 for position in start.in_pot) == [-tree.chips[node], tree.chips[node]]


@pytest.fixture
def cheap_buckets(monkeypatch: pytest.MonkeyPatch) -> None:
    def buckets_on(strategy: StrategyFile, board: tuple[Card, ...]) -> NDArray[np.uint16]:
        count = strategy.buckets[max(0, len(board) - 2)]
        return np.where(are_free(board), np.arange(HOLDING_COUNT) % count, NO_BUCKET).astype(np.uint16)

    monkeypatch.setattr(StrategyFile, "buckets_on", buckets_on)


@pytest.mark.usefixtures("cheap_buckets")
@pytest.mark.parametrize(
    ("table", "follows_turn"),
    [("r250cc/r501cf/cc/c", True), ("r250cc/ccc/r501cf/c", False)],
)
def test_river_follows_from_a_turn_that_two_players_saw(
    table: str, follows_turn: bool, strategies: dict[str, StrategyFile]
) -> None:
    strategy = strategies["nolimit3"]
    board = deal_hand(strategy.game, 7, 1).board
    river = Endgames(strategy, 1, turns=1).at(betting_after(strategy.game, table), board)[0]
    ranges = find_ranges(strategy, river.start, board, strategy.buckets_on)
    own = river.weights[1]
    assert (own / own.sum() == pytest.approx(ranges[1] / ranges[1].sum(), abs=1e-4)) is not follows_turn


@pytest.mark.usefixtures("cheap_buckets")
def test_rivers_that_two_players_see_are_solved(
    strategies: dict[str, StrategyFile], monkeypatch: pytest.MonkeyPatch
) -> None:
    strategy = strategies["nolimit3"]
    endgames = Endgames(strategy, 1)
    betting = betting_after(strategy.game, "r250cc/r501cf/cc/c")
    board = deal_hand(strategy.game, 7, 1).board
    endgame, node = endgames.at(betting, board)
    # Of the two in the pot, positions 0 and 2, the second one is in turn.
    assert endgame.tree.players[node] == 1
    ranges = find_ranges(strategy, endgame.start, board, strategy.buckets_on)
    own = endgame.weights[1]
    assert own / own.sum() == pytest.approx(ranges[1] / ranges[1].sum(), abs=1e-4)
    solved = []
    monkeypatch.setattr(Endgames, "at", lambda _, betting, board: solved.append(betting) or (endgame, node))
    bot = CfrBot(strategy=strategy.path)
    for table in ("r250cc/r501cf/cc/c", "r250cc/cr501cc/ccc/c"):
        state = betting_after(strategy.game, table)
        bot.endgame_at(View.from_deal(state, state.acting_position, 0, deal_hand(strategy.game, 7, 1)))
    assert solved == [betting]
