"""Solved rivers and turns compared with a linear program and best responses; ranges of players."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

import numpy as np
import pytest
from numpy.typing import NDArray

from bots.cfr.boards import HOLDING_CARDS
from bots.cfr.bot import SHIPPED, CfrBot
from bots.cfr.endgames import OWN_SPREAD, SPREAD, Endgame, Endgames
from bots.cfr.lookup import find_ranges, lower_chance, narrow_range
from bots.cfr.strategy_files import read_strategy
from bots.cfr.tree import DECISION, FOLDED, BettingTree, RaiseCaps, betting_tree, raises_in_round, read_sizes
from bots.sdk.view import View
from bots.solving.equilibria import LinearProgram
from bots.solving.sequence_form import (
    ChanceNode,
    Choice,
    DecisionNode,
    Leaf,
    Node,
    PublicGame,
    SequenceForm,
    expected_value,
    exploitability,
    plan_of,
    sequence_form,
)
from engine import (
    CALL,
    FOLD,
    Action,
    ActionKind,
    BettingState,
    Card,
    Game,
    betting_start,
    parse_cards,
    rank_hand,
)
from engine.betting_rules import raise_to
from engine.ranges import are_free
from protocol import find_game
from protocol.match_state import betting_after, parse_match_state

LIMIT, NO_LIMIT = find_game("limit")[1], find_game("nolimit")[1]
BOARD = tuple(parse_cards("2h7dQs8s9s"))
PLAYED = {"limit": "rrc/crc/cc/", "nolimit": "r300c/cc/cr900c/"}


def river_endgame(name: str, weights: NDArray[np.float64], iterations: int) -> Endgame:
    game = find_game(name)[1]
    start = betting_after(game, PLAYED[name])
    tree = betting_tree(game, None if game.is_limit else read_sizes("1,all:all", 4), start)
    return Endgame(start, BOARD, weights, tree, iterations)


def turn_endgame(name: str, weights: NDArray[np.float64], iterations: int, sizes: str = "1/1/1/1") -> Endgame:
    game = find_game(name)[1]
    start = betting_after(game, PLAYED[name].rpartition("/")[0].rpartition("/")[0] + "/")
    tree = betting_tree(game, RaiseCaps((0, 0, 1, 1)) if game.is_limit else read_sizes(sizes, 4), start)
    return Endgame(start, BOARD[:4], weights, tree, iterations)


def random_weights(holdings: int) -> NDArray[np.float64]:
    """Return random weights of this number of holdings of each player."""
    numbers = np.random.default_rng(8)
    free = [at for at, cards in enumerate(HOLDING_CARDS.tolist()) if not {*cards} & {*BOARD}]
    weights = np.zeros((2, len(HOLDING_CARDS)))
    for row in weights:
        row[numbers.choice(free, holdings, replace=False)] = numbers.uniform(0.1, 1, holdings)
    return weights


def in_sequence_form(endgame: Endgame) -> SequenceForm:
    """Build the same game from its tree and its cards alone."""
    tree: BettingTree = endgame.tree
    board = endgame.board
    held = [np.flatnonzero(of_player).tolist() for of_player in endgame.weights]
    joint = np.array([[endgame.weights[0, own] * endgame.weights[1, other] for other in held[1]] for own in held[0]])
    cards: list[list[tuple[Card, ...]]] = [[tuple(HOLDING_CARDS[at].tolist()) for at in ats] for ats in held]
    joint *= [[not {*own} & {*other} for other in cards[1]] for own in cards[0]]
    joint /= joint.sum()
    rivers = [(*board, Card(card)) for card in range(52) if card not in board] if len(board) < 5 else [board]
    matrices = [joint]
    for river in rivers:
        dealt = joint / 44 if len(board) < 5 else joint.copy()
        ranks = [
            np.array([0 if {*one} & {*river} else rank_hand((*one, *river)) for one in of_player])
            for of_player in cards
        ]
        dealt[ranks[0] == 0] = dealt[:, ranks[1] == 0] = 0
        matrices += [dealt, dealt * np.sign(ranks[0][:, None] - ranks[1])]

    def node(number: int, river: int | None) -> Node:
        if river is None and tree.rounds[number] == 3:
            return ChanceNode(tuple(node(number, at) for at in range(len(rivers))))
        name = str(number) if river is None else f"{number} {river}"
        if tree.kinds[number] != DECISION:
            is_fold = tree.kinds[number] == FOLDED
            chips = float(tree.chips[number]) * (-1 if is_fold and tree.players[number] == 0 else 1)
            return Leaf(name, 0 if river is None else 1 + 2 * river + (not is_fold), chips)
        children = [int(child) for child in tree.children[number] if child >= 0]
        names = tuple(str(at) for at in range(len(children)))
        return DecisionNode(name, int(tree.players[number]), names, tuple(node(child, river) for child in children))

    named = tuple(tuple(map(str, of_player)) for of_player in held)
    return sequence_form(PublicGame(node(0, None), named, np.array(matrices)))


def chances_of(river: Endgame, player: int) -> Callable[[Choice], NDArray[np.float64]]:
    """Return the solution's policy by decision, for the holdings of a player."""
    held = np.flatnonzero(river.weights[player])
    return lambda choice: np.array([chances[held] for chances in river.policy(int(choice.name.split()[0])).values()])


@pytest.mark.parametrize("name", ["limit", "nolimit"])
def test_river_is_solved_to_the_value_of_its_linear_program(name: str) -> None:
    river = river_endgame(name, random_weights(10), 2000)
    form = in_sequence_form(river)
    value = LinearProgram(form).solve().value
    plans = (plan_of(form, 0, chances_of(river, 0)), plan_of(form, 1, chances_of(river, 1)))
    solution, chips = river.solution, river.start.pot
    assert expected_value(form, plans) == pytest.approx(value, abs=1e-3 * chips)
    assert solution.values[0] == pytest.approx(value, abs=1e-3 * chips)
    assert solution.values[0] == pytest.approx(-solution.values[1], abs=1e-4 * chips)
    assert solution.gap == pytest.approx(exploitability(form, plans), abs=1e-4 * chips)
    assert -1e-4 * chips < solution.gap < 1e-3 * chips
    # Without symmetry the value is not 0.
    assert abs(value) > 0.005 * chips


@pytest.mark.parametrize("name", ["limit", "nolimit"])
def test_gap_of_a_river_is_its_exact_exploitability(name: str) -> None:
    river = river_endgame(name, random_weights(200), 100)
    form = in_sequence_form(river)
    plans = (plan_of(form, 0, chances_of(river, 0)), plan_of(form, 1, chances_of(river, 1)))
    assert river.solution.gap == pytest.approx(exploitability(form, plans), rel=0.02, abs=1e-5 * river.start.pot)
    assert 0 < river.solution.gap < 0.02 * river.start.pot
    assert river_endgame(name, random_weights(200), 5).solution.gap > 3 * river.solution.gap


@pytest.mark.parametrize("name", ["nolimit", pytest.param("limit", marks=pytest.mark.slow)])
def test_turn_is_solved_to_the_value_of_its_linear_program(name: str) -> None:
    weights = random_weights(4)
    turns = [turn_endgame(name, weights, iterations) for iterations in (4, 16, 64)]
    value, chips = LinearProgram(in_sequence_form(turns[0])).solve().value, turns[0].start.pot
    gaps = [turn.solution.gap for turn in turns]
    assert gaps[0] > 2 * gaps[1] > 4 * gaps[2] > 0
    for turn in turns:
        values, gains = turn.solution.values, turn.solution.gains
        assert values[0] == pytest.approx(-values[1], abs=1e-4 * chips)
        # Each best response wins at least the value of the game.
        assert -values[1] - gains[1] - 1e-4 * chips < value < values[0] + gains[0] + 1e-4 * chips
    assert turns[-1].solution.values[0] == pytest.approx(value, abs=4e-3 * chips)
    assert abs(value) > 0.005 * chips


@pytest.mark.slow
def test_turn_without_bets_is_worth_the_mean_of_its_rivers() -> None:
    turn, mean, pairs = turn_endgame("nolimit", random_weights(9), 60), 0.0, 0.0
    game, start = turn.tree.game, turn.start

    def raises(state: BettingState) -> list[Action]:
        return [raise_to(state.pot)] * (state.round == 3 and not raises_in_round(state))

    checked = Endgame(start, turn.board, turn.weights, betting_tree(game, raises, start), 60)
    river = start.after(CALL).after(CALL)
    for card in (Card(card) for card in range(52) if card not in turn.board):
        weights = turn.weights * are_free([card])
        likely = pairs_of(weights)
        if likely:
            endgame = Endgame(river, (*turn.board, card), weights, betting_tree(game, raises, river), 60)
            mean += likely * endgame.solution.values[0]
            pairs += likely
    assert pairs == pytest.approx(44 * pairs_of(turn.weights))
    assert checked.solution.values[0] == pytest.approx(mean / pairs, abs=1e-4 * start.pot)
    assert abs(mean / pairs) > 0.005 * start.pot


def pairs_of(weights: NDArray[np.float64]) -> float:
    held = [np.flatnonzero(of_player) for of_player in weights]
    return sum(
        float(weights[0, own] * weights[1, other])
        for own in held[0]
        for other in held[1]
        if not {*HOLDING_CARDS[own].tolist()} & {*HOLDING_CARDS[other].tolist()}
    )


def slow_chances(bot: CfrBot, betting: BettingState, position: int, hole: tuple[Card, ...]) -> float:
    """Return the probability of all actions of a player before the river with one holding."""
    state, product = betting_start(betting.game), 1.0
    for actor, action in (one for actions in betting.rounds[:-1] for one in actions):
        if actor == position:
            board = BOARD[: betting.game.board_cards_by_round[state.round]]
            holes = tuple(hole if at == position else () for at in range(2))
            view = View(state, actor, 0, holes, board)
            raises = [raised for raised in bot.policy_by_holding(view) or {} if raised.kind is ActionKind.RAISE]
            product *= slow_chance(bot.policy(view), raises, state, action)
        state = state.after(action)
    return product


def slow_chance(policy: Mapping[Action, float], raises: list[Action], state: BettingState, action: Action) -> float:
    if action.kind is not ActionKind.RAISE or state.game.is_limit or action in raises:
        return policy.get(action, 0.0)

    def pots(raised: Action) -> float:
        return (raised.hand_total - state.max_spent) / (2 * state.max_spent)

    below = [raised for raised in raises if pots(raised) < pots(action)]
    above = [raised for raised in raises if pots(raised) > pots(action)]
    low, high = max(below, default=CALL), min(above, default=None)
    if high is None:
        return policy.get(low, 0.0)
    chance = lower_chance(pots(action), 0.0 if low == CALL else pots(low), pots(high))
    return chance * policy.get(low, 0.0) + (1 - chance) * policy.get(high, 0.0)


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("path", "betting"),
    [
        (SHIPPED["limit"], "rrc/rrc/crc/"),
        (SHIPPED["limit"], "crc/cc/rrc/c"),
        (SHIPPED["nolimit"], "r300c/cr600c/cc/"),
        (SHIPPED["nolimit"], "r250c/cr520c/r1300c/c"),
        (SHIPPED["nolimit"], "cr330r800c/r1000c/cc/r3000"),
    ],
)
def test_ranges_follow_from_the_policy_of_each_holding(path: str, betting: str) -> None:
    strategy = read_strategy(path)
    state = betting_after(strategy.game, betting)
    ranges = find_ranges(strategy, state, BOARD, strategy.buckets_on)
    free = [at for at, cards in enumerate(HOLDING_CARDS.tolist()) if not {*cards} & {*BOARD}]
    assert (np.delete(ranges, free, axis=1) == 0).all()
    bot = CfrBot(turns=0, seed=1)
    for position in range(2):
        sample = [*free[::97], int(ranges[position].argmax())]
        slow = np.array([slow_chances(bot, state, position, tuple(HOLDING_CARDS[at].tolist())) for at in sample])
        assert slow[-1] > 0
        assert ranges[position][sample] / ranges[position].max() == pytest.approx(slow / slow[-1], abs=1e-9)


def test_action_that_no_holding_takes_leaves_the_range_unchanged() -> None:
    assert narrow_range(np.array([0.5, 1.0, 0.0]), np.array([0.0, 0.0, 1.0])).tolist() == [0.5, 1, 0]
    assert narrow_range(np.array([0.5, 1.0, 0.5]), np.array([0.5, 0.0, 0.25])).tolist() == [1, 0, 0.5]


def test_policies_do_not_depend_on_the_order_of_questions() -> None:
    """Both players raise to sizes outside every tree, on river and turn."""
    rivers = [PLAYED["nolimit"] + path for path in ["cr1900r5000r9000"]]
    turns = ["r300c/cc/cr777", "r300c/cc/r650r1777c/"]
    states = [betting_after(NO_LIMIT, text) for text in (*rivers, *turns)]
    strategy = read_strategy(SHIPPED["nolimit"])
    first, second = Endgames(strategy, 2, 1), Endgames(strategy, 2, 1)

    def policies(endgames: Endgames, states: list[BettingState]) -> list[dict[Action, NDArray[np.float64]]]:
        played = []
        for state in states:
            endgame, node = endgames.at(state, BOARD[: state.round + 2])
            assert endgame.tree.players[node] == state.acting_position
            played.append(endgame.policy(node))
        return played

    forwards, backwards = policies(first, states), policies(second, states[::-1])[::-1]
    for state, policy, again in zip(states, forwards, backwards, strict=True):
        assert policy.keys() == again.keys()
        for action in policy:
            state.check(action)
            assert np.array_equal(policy[action], again[action])
        assert np.sum(list(policy.values()), axis=0) == pytest.approx(np.ones(1326))


def test_raise_of_the_tree_is_answered_by_the_same_solution() -> None:
    rivers = Endgames(read_strategy(SHIPPED["nolimit"]), 2)
    start = betting_after(NO_LIMIT, PLAYED["nolimit"])
    solved, node = rivers.at(start.after(CALL), BOARD)
    assert (solved.start, solved.tree.parents[node]) == (start, 0)
    largest = max(solved.tree.actions[0], key=lambda action: action.hand_total)
    assert rivers.at(start.after(largest), BOARD)[0] is solved
    again, node = rivers.at(start.after(raise_to(1234)), BOARD)
    assert again is not solved
    assert again.start == start
    assert [action.hand_total for action in again.tree.actions[0] if action not in solved.tree.actions[0]] == [1234]
    assert again.tree.parents[node] == 0


def test_spread_of_the_own_range_is_smaller_than_of_the_other() -> None:
    strategy = read_strategy(SHIPPED["limit"])
    start = betting_after(LIMIT, PLAYED["limit"])
    brought = find_ranges(strategy, start, BOARD, strategy.buckets_on)
    brought /= brought.sum(axis=1, keepdims=True)
    rivers = Endgames(strategy, 1)
    for state, player in ((start, 0), (start.after(CALL), 1)):
        weights = rivers.at(state, BOARD)[0].weights
        assert weights.sum(axis=1) == pytest.approx([1, 1])
        live = weights[0] > 0
        assert live.sum() == (weights[1] > 0).sum() == 1081
        for position, spread in ((player, OWN_SPREAD), (1 - player, SPREAD)):
            expected = (1 - spread) * brought[position][live] + spread / 1081
            assert weights[position][live] == pytest.approx(expected)


def test_ranges_on_the_river_follow_from_the_solved_turn() -> None:
    endgames = Endgames(read_strategy(SHIPPED["nolimit"]), 1, 3)
    start = betting_after(NO_LIMIT, "r300c/cc/")
    pot = raise_to(900)
    river = start.after(CALL).after(pot).after(CALL)
    weights = endgames.at(river, BOARD)[0].weights
    # The first to act decides on the river, so the solved turn gives its range.
    turn = endgames.at(start, BOARD[:4])[0]
    checked, bet = turn.after(0, CALL), turn.after(turn.after(0, CALL) or 0, pot)
    assert checked
    assert bet
    likely = [
        turn.weights[0] * turn.policy(0)[CALL] * turn.policy(bet)[CALL],
        turn.weights[1] * turn.policy(checked)[pot],
    ]
    live = np.flatnonzero(are_free(BOARD))
    assert not np.delete(weights, live, axis=1).any()
    for weights_of_player, brought, spread in zip(weights, likely, (OWN_SPREAD, SPREAD), strict=True):
        expected = (1 - spread) * brought[live] / brought[live].sum() + spread / len(live)
        assert weights_of_player[live] == pytest.approx(expected, rel=1e-6)


def test_only_the_last_rivers_are_kept() -> None:
    rivers = Endgames(read_strategy(SHIPPED["limit"]), 1)
    start = betting_after(LIMIT, "cc/cc/cc/")
    boards = [tuple(parse_cards(f"2h7dQs8s{card}")) for card in ("9s", "Ts", "Js", "Ks", "As")]
    kept = [rivers.at(start, board)[0] for board in boards for _ in range(2)]
    assert len({*map(id, kept)}) == len(boards)
    for number in range(64):
        rivers.at(start, (Card(number % 8), *BOARD[1:4], Card(40 + number // 8)))
    assert rivers.at(start, boards[0])[0] is not kept[0]


def test_nuts_are_bet_and_never_folded() -> None:
    bot = CfrBot(seed=1)
    for text, game in (
        ("MATCHSTATE:0:0:rrc/crc/cc/:JsTs|/2h7dQs/8s/9s", LIMIT),
        ("MATCHSTATE:1:0:rrc/crc/cc/cr:|JsTs/2h7dQs/8s/9s", LIMIT),
        ("MATCHSTATE:1:0:r300c/cc/cr900c/r2222:|JsTs/2h7dQs/8s/9s", NO_LIMIT),
    ):
        policy = bot.policy(view_of(text, game))
        raised = sum(chance for action, chance in policy.items() if action.kind is ActionKind.RAISE)
        assert FOLD not in policy
        if game == LIMIT and "|JsTs" in text:
            assert raised > 0.9


def test_comments_name_the_solved_endgame() -> None:
    view = view_of("MATCHSTATE:0:0:rrc/crc/cc/:AsTs|/2h7dQs/8s/9s", LIMIT)
    CfrBot(explain=True, seed=2).act(view)
    comment = b"".join(view.comments).decode()
    solved = "# AsTs on 2h7dQs8s9s: river of 27 nodes solved, an answer wins "
    assert comment.startswith(solved)
    assert re.fullmatch(r"[0-9.]+ mbb/g: (call [0-9.]+, )?raise [0-9.]+ -> [cr]\r\n", comment.removeprefix(solved))
    turn = view_of("MATCHSTATE:0:0:r300c/cc/:AsTs|/2h7dQs/8s", NO_LIMIT)
    CfrBot(explain=True, turns=2, seed=2).act(turn)
    assert b"# AsTs on 2h7dQs8s: turn of 45 nodes solved, an answer wins " in turn.comments[-1]
    CfrBot(explain=True, rivers=0, seed=2).act(view)
    assert ": bucket 500 of 500: " in view.comments[-1].decode()


def test_iterations_out_of_range_are_refused() -> None:
    for iterations in (-1, 100_001):
        with pytest.raises(ValueError, match="a river is solved by 0 to 100,000 iterations"):
            CfrBot(rivers=iterations)
        with pytest.raises(ValueError, match="a turn is solved by 0 to 100,000 iterations"):
            CfrBot(turns=iterations)
    with pytest.raises(ValueError, match="turns are solved only where rivers are"):
        CfrBot(rivers=0, turns=1)


def view_of(text: str, game: Game) -> View:
    state = parse_match_state(text, game)
    return View.from_state(state, betting_after(game, text.split(":")[3]))
