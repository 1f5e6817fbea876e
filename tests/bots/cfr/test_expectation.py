"""Winnings of hold'em strategies against each other, compared with a slow walk of the rules."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from bots.cfr.abstraction import ClusteredHands
from bots.cfr.expectation import PAIRS, compare_strategies, draw_pairs
from bots.cfr.strategy_files import StrategyFile, read_strategy, write_strategy
from bots.cfr.tree import betting_tree, read_sizes
from bots.errors import SolvingError
from engine import BettingState, Card, betting_start, rank_hand
from protocol import parse_game_definition
from tests.bots.cfr.drawn import random_hands

SHORT_HOLDEM = """GAMEDEF
limit
numPlayers = 2
numRounds = 4
blind = 10 5
raiseSize = 10 10 20 20
firstPlayer = 2 1 1 1
maxRaises = 1 1 1 2
numSuits = 4
numRanks = 13
numHoleCards = 2
numBoardCards = 0 3 1 1
END GAMEDEF
"""

SHORT_NOLIMIT = """GAMEDEF
nolimit
numPlayers = 2
numRounds = 4
stack = 100 90
blind = 10 5
firstPlayer = 2 1 1 1
numSuits = 4
numRanks = 13
numHoleCards = 2
numBoardCards = 0 3 1 1
END GAMEDEF
"""

pytestmark = pytest.mark.slow  # numba compiles

SIZES = "1:all/all/all/1,all:all"


def random_strategy(
    folder: Path, text: str, sizes: str, seed: int, hands: ClusteredHands | None = None
) -> StrategyFile:
    """Return a strategy with buckets of random hands."""
    game, hands, chance = parse_game_definition(text), hands or random_hands(seed), np.random.default_rng(seed)
    tree = betting_tree(game, read_sizes(sizes, 4) if sizes else None)
    parts = []
    for node in tree.decisions.tolist():
        weights = chance.exponential(size=(len(tree.actions[node]), hands.buckets[tree.rounds[node]]))
        weights[weights < 0.3] = 0
        weights[0] += 1e-3
        parts.append((weights / weights.sum(axis=0)).ravel())
    path = folder / f"{seed}.strategy"
    write_strategy(path, tree, hands.buckets, hands, np.concatenate(parts), {"settings": {"sizes": sizes}})
    return read_strategy(str(path))


def slow_value(
    strategies: tuple[StrategyFile, StrategyFile], cards: tuple[tuple[Card, ...], ...], board: tuple[Card, ...]
) -> float:
    """Return the winnings of the first position in chips."""
    (first, _), game = strategies, strategies[0].game
    ranks = [rank_hand((*hole, *board)) for hole in cards]
    from engine.ranges import holding_number

    def visit(state: BettingState, node: int) -> float:
        if state.finished:
            chips = min(state.spent)
            if not state.is_showdown:
                return float(chips if state.folded == 2 else -chips)
            return float(chips * np.sign(ranks[0] - ranks[1]))
        player = state.acting_position
        strategy = strategies[player]
        bucket = strategy.buckets_on(board[: game.board_cards_by_round[state.round]])[holding_number(*cards[player])]
        actions = tree.actions[node]
        return sum(
            chance * visit(state.after(action), child)
            for action, child, chance in zip(
                actions, first.children_of(node), strategy.chances_of(node, int(bucket)), strict=True
            )
        )

    sizes = first.record["settings"]["sizes"]
    tree = betting_tree(game, read_sizes(sizes, 4) if sizes else None)
    return visit(betting_start(game), 0)


@pytest.mark.parametrize(("text", "sizes"), [(SHORT_HOLDEM, ""), (SHORT_NOLIMIT, SIZES)])
def test_winnings_are_those_of_a_slow_walk(tmp_path: Path, text: str, sizes: str) -> None:
    first, second = (random_strategy(tmp_path, text, sizes, seed) for seed in (1, 2))
    won = []
    for number in range(2):
        board, holes = draw_pairs(4, number)
        values = []
        for row in holes.tolist():
            pair = tuple(map(tuple, row))
            for cards in (pair, pair[::-1]):
                values.append(slow_value((first, second), cards, board))
                values.append(-slow_value((second, first), cards, board))
        assert len(values) == 4 * PAIRS
        won.append(100 * np.mean(values))
    comparison = compare_strategies(first, second, 2, seed=4)
    assert comparison.count == 2
    assert comparison.mean == pytest.approx(np.mean(won), rel=1e-4)
    assert comparison.variance == pytest.approx(np.var(won, ddof=1), rel=1e-3)


def test_comparison_is_antisymmetric(tmp_path: Path) -> None:
    first, second = (random_strategy(tmp_path, SHORT_HOLDEM, "", seed) for seed in (1, 2))
    alone = compare_strategies(first, second, 50)
    with ThreadPoolExecutor(3) as pool:
        assert compare_strategies(first, second, 50, pool=pool).mean == alone.mean
    assert compare_strategies(second, first, 50).mean == pytest.approx(-alone.mean)
    assert compare_strategies(first, second, 50, seed=2).mean != alone.mean
    assert compare_strategies(first, first, 20).mean == pytest.approx(0, abs=1e-9)
    with pytest.raises(SolvingError, match="with the same bets"):
        compare_strategies(first, random_strategy(tmp_path, SHORT_NOLIMIT, SIZES, 3), 2)


def test_boards_and_holdings_follow_from_seed_and_number() -> None:
    places = np.zeros((9, 52))
    for number in range(300):
        board, holes = draw_pairs(7, number)
        again = draw_pairs(7, number)
        assert again[0] == board
        assert np.array_equal(again[1], holes)
        assert all(len({*board, *row}) == 9 for row in holes.reshape(PAIRS, 4).tolist())
        places[np.arange(5), list(board)] += PAIRS
        for place in range(4):
            np.add.at(places[5 + place], holes.reshape(PAIRS, 4)[:, place], 1)
    # Each card is in 185 holdings; at each place of the board six times on average, 32 pairs each.
    assert abs(places[5:] - 300 * PAIRS / 52).max() < 80
    assert places[:5].max() < 20 * PAIRS
    assert draw_pairs(7, 0)[0] != draw_pairs(8, 0)[0]
