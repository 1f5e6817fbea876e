"""Best responses from a round on: the kernel compared with sequence forms and matrices."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from bots.cfr.best_responses import BoardResponses, Responses, same_nodes
from bots.cfr.bot import SHIPPED, CfrBot
from bots.cfr.endgame_walk import Holdings, answer, endgame_betting, evaluation_arrays
from bots.cfr.endgames import RIVER, TURN, Endgames
from bots.cfr.strategy_files import StrategyFile, read_strategy
from bots.cfr.tree import DECISION, FOLDED, BettingTree, betting_tree
from bots.sdk.view import View
from bots.solving.engine_games import small_game
from bots.solving.sequence_form import Plan, SequenceForm, best_response, plan_of, sequence_form, sequence_values
from engine import Card, Position, betting_start, parse_cards, rank_hand
from engine.ranges import HOLDINGS
from protocol import find_game

BOARD = tuple(parse_cards("2h7dQs8s9s"))
LEDUC = find_game("leduc")[1]
_EMPTY_BOARDS = 2
"""Boards that block all holdings: the kernel divides by the number of boards less 5, and Leduc poker deals 4."""


@pytest.fixture(scope="module")
def limit() -> StrategyFile:
    return read_strategy(SHIPPED["limit"])


# ---- Leduc poker: holdings of one card, padded with a second card that no other holding has


def leduc_holdings(boards: list[Card | None], held: list[Card]) -> Holdings:
    """Return the holdings of Leduc poker on these boards, ordered by the first board."""
    cards = np.array(held, np.uint8)
    ranks = np.array([[_leduc_rank(card, board) for card in held] for board in boards])
    orders = np.argsort(ranks, kind="stable", axis=1)
    in_order = np.take_along_axis(ranks, orders, axis=1)
    ties = np.array([np.searchsorted(row, row, "right") for row in in_order], np.uint16)
    return Holdings(cards[orders], (52 + np.arange(len(held), dtype=np.uint8))[orders], ties, orders)


def _leduc_rank(card: Card, board: Card | None) -> int:
    return 0 if board is None or card == board else rank_hand((card, board))


def random_plans(form: SequenceForm) -> tuple[Plan, Plan]:
    chance = np.random.default_rng(4)

    def of_player(player: int) -> Plan:
        return plan_of(form, player, lambda choice: chance.dirichlet(np.ones(len(choice.actions)), 6).T)

    return of_player(0), of_player(1)


def leduc_strategy(form: SequenceForm, plans: tuple[Plan, Plan], tree: BettingTree) -> NDArray[np.float32]:
    """Return the probabilities of plans, shape (1 + 6 boards, actions, cards)."""
    betting = endgame_betting(tree)
    strategy = np.zeros((1 + len(LEDUC.deck) + _EMPTY_BOARDS, len(betting.leads_to), len(LEDUC.deck)), np.float32)
    for player, plan in enumerate(plans):
        classes = [parse_cards(text)[0] for text in form.game.classes[player]]
        order = [classes.index(card) for card in LEDUC.deck]
        for choice in form.choices[player]:
            node = 0
            for actions in choice.point.betting.rounds:
                for _, action in actions:
                    node = int(tree.children[node, tree.actions[node].index(action)])
            board = 1 + LEDUC.deck.index(choice.point.board[0]) if choice.point.board else 0
            for sequence, action in zip(range(len(choice.actions)), choice.point.actions, strict=True):
                row = betting.rows[node] + tree.actions[node].index(action)
                reach = plan[choice.parent]
                chances = np.divide(plan[choice.first + sequence], reach, out=np.zeros_like(reach), where=reach > 0)
                strategy[board, row] = chances[order]
    return strategy


def test_response_in_leduc_is_that_of_the_sequence_form() -> None:
    form = sequence_form(small_game(LEDUC))
    plans = random_plans(form)
    tree = betting_tree(LEDUC)
    boards: list[Card | None] = [None, *LEDUC.deck, *[None] * _EMPTY_BOARDS]
    holdings = leduc_holdings(boards, list(LEDUC.deck))
    strategy = leduc_strategy(form, plans, tree)
    for board, order in enumerate(holdings.places):
        strategy[board] = strategy[board][:, order]
    arrays = evaluation_arrays(endgame_betting(tree), holdings, np.ones((2, 6), np.float32), strategy)
    for player in range(2):
        expected = best_response(form, player, plans[1 - player]).value
        assert answer(arrays, player, 0) / 30 == pytest.approx(expected, abs=1e-5)


def test_response_from_the_second_round_of_leduc_is_that_of_the_sequence_form() -> None:
    form = sequence_form(small_game(LEDUC))
    plans = random_plans(form)
    tree = betting_tree(LEDUC)
    strategy = leduc_strategy(form, plans, tree)
    rows = endgame_betting(tree).rows
    won = 0.0
    for start in range(1, len(tree.kinds)):
        if not (tree.rounds[start] == 1 and tree.rounds[tree.parents[start]] == 0 and tree.kinds[start] == DECISION):
            continue
        state = betting_start(LEDUC)
        reach = np.ones((2, 6), np.float32)
        for node in path_to(tree, start):
            parent = int(tree.parents[node])
            reach[tree.players[parent]] *= strategy[0, rows[parent] + tree.taken[node]]
            state = state.after(tree.actions[parent][tree.taken[node]])
        subgame = endgame_betting(betting_tree(LEDUC, None, state))
        after = slice(int(rows[start]), int(rows[start]) + len(subgame.leads_to))
        for number, board in enumerate(LEDUC.deck):
            held = [card for card in LEDUC.deck if card != board]
            holdings = leduc_holdings([board], held)
            order = np.flatnonzero(np.array(LEDUC.deck) != board)[holdings.places[0]]
            played = np.ascontiguousarray(strategy[1 + number : 2 + number, after][:, :, order])
            arrays = evaluation_arrays(subgame, holdings, np.ascontiguousarray(reach[:, order]), played)
            won += answer(arrays, 0, 0) + answer(arrays, 1, 0)
    # 6 cards of one player, 5 of the other, 4 boards. Winnings before the board cancel in the sum of both.
    expected = sum(value_from_second_round(form, plans, player) for player in range(2))
    assert won / 120 == pytest.approx(expected, abs=1e-5)
    assert expected > 0.5


def path_to(tree: BettingTree, node: int) -> list[int]:
    path = []
    while node:
        path.insert(0, node)
        node = int(tree.parents[node])
    return path


def value_from_second_round(form: SequenceForm, plans: tuple[Plan, Plan], player: int) -> float:
    """Return the winnings of a player who follows its plan before the board card and best-responds after it."""
    values = sequence_values(form, player, plans[1 - player]).copy()
    plan = plans[player]
    for choice in reversed(form.choices[player]):
        below = values[choice.sequences]
        if choice.point.board:
            values[choice.parent] += below.max(axis=0)
        else:
            values[choice.parent] += (below * plan[choice.sequences] / plan[choice.parent]).sum(axis=0)
    return float(values[0].sum())


# ---- hold'em


def matrices(on_board: BoardResponses) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """Return the possible pairs of holdings, and the results of their showdowns."""
    holes = [HOLDINGS[number] for number in on_board.numbers]
    ranks = np.array([rank_hand((*hole, *on_board.board)) for hole in holes])
    cards = np.array(holes)
    is_possible = np.ones((len(holes), len(holes)), np.bool_)
    for own in cards.T:
        for other in cards.T:
            is_possible &= own[:, None] != other
    return is_possible, np.sign(ranks[:, None] - ranks) * is_possible.astype(np.float64)


def test_river_response_is_that_of_a_matrix(limit: StrategyFile) -> None:
    responses = Responses(limit, None, RIVER)
    on_board = BoardResponses(responses, BOARD)
    start = responses.starts[200]
    tree = responses.tree
    is_possible, signs = matrices(on_board)
    buckets = limit.buckets_on(BOARD)[on_board.numbers]

    def values(node: int, reach: NDArray[np.float64], player: int, is_best: bool) -> NDArray[np.float64]:
        """Return the winnings of each holding of a player by recursion."""
        chips = tree.chips[node]
        if tree.kinds[node] == FOLDED:
            return (-chips if tree.players[node] == player else chips) * (is_possible @ reach)
        if tree.kinds[node] != DECISION:
            return chips * (signs @ reach)
        chances = limit.chances(node)[:, buckets]
        children = [int(child) for child in tree.children[node] if child >= 0]
        if tree.players[node] != player:
            pairs = zip(children, chances, strict=True)
            return np.sum([values(child, reach * chance, player, is_best) for child, chance in pairs], axis=0)
        below = np.array([values(child, reach, player, is_best) for child in children])
        return below.max(axis=0) if is_best else (below * chances).sum(axis=0)

    for is_best in (False, True):
        won = on_board.winnings(start, is_best=is_best)
        for player in range(2):
            own, other = on_board.reach[start][player], on_board.reach[start][1 - player].astype(np.float64)
            expected = own @ values(start, other, player, is_best) / is_possible.sum()
            assert won[player] == pytest.approx(expected, rel=1e-4)


def test_no_response_is_chosen_to_ranges_that_exclude_each_other(limit: StrategyFile) -> None:
    responses = Responses(limit, None, TURN)
    on_board = BoardResponses(responses, BOARD[:4])
    betting = responses.subgame(responses.starts[0]).betting
    weights = np.zeros((2, len(on_board.numbers)), np.float32)
    weights[:, 100] = 1
    strategy = np.full((len(betting.leads_to), len(on_board.numbers)), 0.5, np.float32)
    on_board._answer_turn(betting, weights, strategy, 0)
    assert (strategy == 0.5).all()


@pytest.mark.parametrize("name", ["limit", pytest.param("nolimit", marks=pytest.mark.slow)])
@pytest.mark.parametrize("round_", [RIVER, pytest.param(TURN, marks=pytest.mark.slow)])
def test_strategy_wins_nothing_from_itself(name: str, round_: int) -> None:
    responses = Responses(read_strategy(SHIPPED[name]), None, round_)
    on_board = BoardResponses(responses, BOARD[: round_ + 2])
    for index in np.argsort(on_board.start_shares)[-3:]:
        start = responses.starts[index]
        own = on_board.winnings(start, is_best=False)
        best = on_board.winnings(start)
        assert sum(own) == pytest.approx(0, abs=1e-4 * abs(own[0]))
        assert best[0] > own[0]
        assert best[1] > own[1]


@pytest.mark.slow
def test_rivers_after_a_turn_are_played_by_their_buckets(limit: StrategyFile) -> None:
    responses = Responses(limit, None, TURN)
    on_board = BoardResponses(responses, BOARD[:4])
    subgame = responses.subgame(responses.starts[5])
    strategy = on_board.strategy_of(subgame)
    node = int(np.flatnonzero(subgame.tree.rounds == RIVER)[0])
    assert subgame.tree.kinds[node] == DECISION
    for board, cards in enumerate(on_board.rivers, 1):
        buckets = limit.buckets_on(cards)[on_board.numbers[on_board.holdings.places[board]]]
        is_free = buckets < limit.buckets[RIVER]
        assert is_free.sum() == 1081
        expected = limit.chances(responses.starts[5] + node)[:, buckets[is_free]]
        rows = slice(int(subgame.betting.rows[node]), int(subgame.betting.rows[node]) + len(expected))
        assert strategy[board, rows][:, is_free] == pytest.approx(expected, abs=1e-6)


@pytest.mark.slow
def test_mean_over_drawn_starts_is_that_over_all(limit: StrategyFile) -> None:
    responses = Responses(limit, None, RIVER)
    on_board = BoardResponses(responses, BOARD)
    gains = np.array([sum(on_board.winnings(start)) for start in responses.starts])
    drawn = np.divide(gains, on_board.start_shares, out=np.zeros_like(gains), where=on_board.start_shares > 0)
    assert (on_board.start_shares @ drawn) == pytest.approx(gains.sum(), rel=1e-9)
    chance = np.random.default_rng(1)
    mean = chance.choice(drawn, 20_000, p=on_board.start_shares).mean()
    assert mean == pytest.approx(gains.sum(), rel=0.05)


def test_solved_rivers_are_those_of_the_bot() -> None:
    bot = CfrBot(rivers=3, turns=0, seed=1)
    strategy = bot.strategy(find_game("limit")[1])
    responses = Responses(strategy, Endgames(strategy, 3), RIVER)
    on_board = BoardResponses(responses, BOARD)
    subgame = responses.subgame(responses.starts[100])
    for player in (Position(0), Position(1)):
        played = on_board.strategy_of(subgame)
        assert not played.any()
        on_board.write_solutions(subgame, player, played)
        states = {0: subgame.start}
        for node in range(len(subgame.tree.kinds)):
            if node:
                parent = int(subgame.tree.parents[node])
                states[node] = states[parent].after(subgame.tree.actions[parent][subgame.tree.taken[node]])
            if subgame.tree.kinds[node] != DECISION or subgame.tree.players[node] != player:
                continue
            hole = HOLDINGS[on_board.numbers[0]]
            expected = bot.policy_by_holding(View.from_holding(states[node], player, hole, BOARD))
            assert expected is not None
            for row, action in enumerate(subgame.tree.actions[node], subgame.betting.rows[node]):
                chances = expected.get(action, np.zeros(1326))[on_board.numbers]
                assert played[0, row] == pytest.approx(chances, abs=1e-6)


@pytest.mark.slow
def test_mean_over_drawn_rivers_is_that_over_all(limit: StrategyFile) -> None:
    responses = Responses(limit, Endgames(limit, 1), TURN)
    start = responses.starts[3]
    whole = BoardResponses(responses, BOARD[:4])
    # Without a best response the strategy plays the turn in both, so the means are equal.
    expected = whole.winnings(start, is_best=False)
    parts = [BoardResponses(responses, BOARD[:4], np.arange(first, 48, 8)) for first in range(8)]
    drawn = np.array([part.winnings(start, is_best=False) for part in parts])
    assert drawn.mean(axis=0) == pytest.approx(expected, rel=1e-4)
    assert drawn.std(axis=0).min() > 0
    # A response with a turn fixed in advance wins at most as much as the best response.
    answered = np.mean([part.winnings(start) for part in parts], axis=0)
    assert (answered <= whole.winnings(start)).all()


@pytest.mark.slow
@pytest.mark.parametrize("turns", [0, 2])
def test_solved_rivers_after_a_turn_are_those_of_the_bot(turns: int) -> None:
    strategy = read_strategy(SHIPPED["limit"])
    endgames = Endgames(strategy, 1, turns)
    responses = Responses(strategy, endgames, TURN)
    on_board = BoardResponses(responses, BOARD[:4])
    subgame = responses.subgame(responses.starts[3])
    played = on_board.strategy_of(subgame)
    on_board.write_solutions(subgame, Position(1), played)
    if turns:
        solved = endgames.from_start(subgame.start, BOARD[:4], Position(1))
        for node, other in same_nodes(subgame.tree, solved.tree, 0):
            row = subgame.betting.rows[node]
            for action, chances in enumerate(solved.policy(other).values()):
                assert played[0, row + action] == pytest.approx(chances[on_board.numbers], abs=1e-6)
    node = int(np.flatnonzero((subgame.tree.rounds == RIVER) & (subgame.tree.kinds == DECISION))[-1])
    first = node
    while subgame.tree.rounds[subgame.tree.parents[first]] == RIVER:
        first = int(subgame.tree.parents[first])
    state = subgame.start
    for step in path_to(subgame.tree, first):
        state = state.after(subgame.tree.actions[subgame.tree.parents[step]][subgame.tree.taken[step]])
    number = 1 + [cards[-1] for cards in on_board.rivers].index(BOARD[4])
    solved = endgames.from_start(state, BOARD, Position(1))
    numbers = on_board.numbers[on_board.holdings.places[number]]
    for action, chances in enumerate(solved.policy(node - first).values()):
        assert played[number, subgame.betting.rows[node] + action] == pytest.approx(chances[numbers], abs=1e-6)
