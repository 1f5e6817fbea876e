"""Luck terms of local best response: mean 0 over the whole tree, with any policy."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import numpy as np
import pytest

from bots.evaluation.exploiting import Luck, columns_of, played_hand, values_of
from bots.evaluation.local_best_response import ActionSets, RangeOfPolicy, StatePolicy
from bots.sdk.registry import make_bot
from bots.solving.exact import exact_exploitability
from engine import (
    CALL,
    FOLD,
    Action,
    BettingState,
    Card,
    Deal,
    Game,
    Position,
    betting_start,
    hand_values,
    parse_cards,
    raise_to,
)
from protocol import find_game
from tests.bots.evaluation.known import Known
from tests.logs.variance.small_games import Strategy, all_deals, random_strategy, small_game, uniform


class _Branch(Exception):
    """Raised when the opponent has another decision than those given."""

    def __init__(self, betting: BettingState, board: tuple[Card, ...]) -> None:
        self.betting, self.board = betting, board


def every_line(
    opponent: RangeOfPolicy, strategy: Strategy, sets: ActionSets, deal: Deal, position: Position
) -> Iterator[tuple[float, list[Action], np.ndarray]]:
    """Yield all actions of the opponent in a deal: probability, actions, and the record of the hand."""
    waiting: list[tuple[float, list[Action]]] = [(1.0, [])]
    while waiting:
        probability, actions = waiting.pop()
        left = iter(actions)

        def answer(betting: BettingState, board: tuple[Card, ...], left: Iterator[Action] = left) -> Action:
            if (action := next(left, None)) is None:
                raise _Branch(betting, board)
            return action

        try:
            yield probability, actions, played_hand(opponent, sets, deal, position, answer)
        except _Branch as branch:
            own = deal.hole_cards[1 - position][0]
            for action, chance in strategy(branch.betting, own, branch.board).items():
                if chance:
                    waiting.append((probability * chance, [*actions, action]))


def end_of(opponent: RangeOfPolicy, sets: ActionSets, deal: Deal, position: Position, answers: list[Action]) -> float:
    """Return the chips won with the opponent's actual cards: the showdown's result, no mean."""
    game, left = opponent.game, iter(answers)
    betting = betting_start(game)
    while not betting.finished:
        board = deal.board[: game.board_cards_by_round[betting.round]]
        own = betting.acting_position == position
        betting = betting.after(opponent.choose(betting, deal.hole_cards[position], board, sets) if own else next(left))
    return float(hand_values(betting, deal)[position])


def by_ranks(game: Game) -> list[tuple[Deal, float]]:
    """Yield a deal of each combination of ranks with its probability; suits play no role here."""
    results: dict[tuple[int, ...], list[Deal]] = defaultdict(list)
    for deal in all_deals(game):
        results[tuple([card >> 2 for card in (*deal.hole_cards[0], *deal.hole_cards[1], *deal.board)])].append(deal)
    whole = sum(map(len, results.values()))
    return [(deals[0], len(deals) / whole) for deals in results.values()]


def over_the_tree(game: Game, strategy: Strategy, actions: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return for every hand of both positions its probability, the chips won, and its record."""
    opponent = RangeOfPolicy(game, Known(strategy), "known")
    sets = ActionSets(actions, game.is_limit)
    deals = by_ranks(game)
    results = [
        (often * probability / 2, end_of(opponent, sets, deal, position, answers), kept)
        for deal, often in deals
        for position in (Position(0), Position(1))
        for probability, answers, kept in every_line(opponent, strategy, sets, deal, position)
    ]
    chances, won, kept = zip(*results, strict=True)
    return np.array(chances), np.array(won), np.array(kept)


@pytest.mark.parametrize(
    ("name", "strategy", "actions"),
    [
        ("kuhn", random_strategy(3), "fcr"),
        ("leduc short no-limit", random_strategy(6), "fca"),
        pytest.param("leduc", random_strategy(4), "fcr", marks=pytest.mark.slow),
        pytest.param("leduc", uniform, "fcr", marks=pytest.mark.slow),
        pytest.param("leduc", random_strategy(5), "cr", marks=pytest.mark.slow),
    ],
)
def test_mean_is_exact(name: str, strategy: Strategy, actions: str) -> None:
    game = small_game("leduc no-limit")._replace(stacks=(200, 200)) if "short" in name else small_game(name)
    chances, won, kept = over_the_tree(game, strategy, actions)
    tolerance = 1e-12 * game.big_blind
    assert chances.sum() == pytest.approx(1, abs=1e-12)
    exact = chances @ won
    assert chances @ kept[:, 0] == pytest.approx(exact, abs=tolerance), "showdowns at their mean over the range"
    terms = kept[:, 2:]
    assert terms.shape[1] == columns_of(game)
    assert np.abs(chances @ terms).max() < tolerance
    corrected = kept[:, 0] + terms[:, values_of(game)].sum(axis=1)
    assert chances @ corrected == pytest.approx(exact, abs=tolerance)
    spread = [float(chances @ (values - exact) ** 2) for values in (won, kept[:, 0], corrected)]
    assert spread[0] > spread[1] > spread[2]
    best = exact_exploitability(game, Known(strategy), "known").best_values
    assert 0 < exact <= sum(best) / 2 + tolerance, "it is a lower bound"


def test_many_raises_at_once_equal_single_ones() -> None:
    """One policy for all cards, given as numbers and by holding, names every size."""
    game = find_game("nolimit")[1]._replace(stacks=(2_000, 1_500))
    opponent = RangeOfPolicy(game, make_bot("random"), "random")
    hole, board = parse_cards("AhTd"), parse_cards("9h9c2d")
    betting = betting_start(game)
    for action in (CALL, CALL, raise_to(300)):
        betting = betting.after(action)
    by_action = opponent.at(betting, tuple(board))
    by_holding = StatePolicy(betting, {policy: np.full(1326, chance) for policy, chance in by_action.chances.items()})
    assert len(by_action.chances) > 1_000
    for action in (FOLD, CALL, raise_to(900), raise_to(1_500)):
        results = []
        for policy in (by_action, by_holding):
            luck = Luck(opponent, Position(1 - betting.acting_position), hole)
            luck.draw(policy, tuple(board), action)
            results.append(luck.terms)
        assert results[0] == pytest.approx(results[1], abs=1e-9)
        assert np.abs(results[0]).max() > 0
