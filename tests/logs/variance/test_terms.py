"""Chance terms: mean 0 over the whole tree of Kuhn and Leduc, and values in single hold'em hands."""

from __future__ import annotations

import numpy as np
import pytest

from engine import CALL, betting_start, raise_to
from logs.tracker.all_in import AllInExpectations, board_before_showdown
from logs.variance.cross_fitting import CrossSums
from logs.variance.terms import Shares, chance_columns, chance_terms, term_values
from protocol import find_game
from tests.logs.variance.small_games import Strategy, Weighed, all_hands, random_strategy, small_game, uniform

CASES = [
    (name, strategies)
    for name, players in (("kuhn", 2), ("leduc", 2), ("kuhn.limit.3p", 3), ("leduc no-limit", 2))
    for strategies in ([uniform] * players, [random_strategy(seed) for seed in range(players)])
]


def expectations(hands: list[Weighed], position: int) -> tuple[CrossSums, int]:
    """Return the sums over all hands, weighted by probability, and the number of columns.

    Rows are scaled by the roots of the probabilities times their number, because the sums are of products.

    """
    game = hands[0].record.game
    shares, expected = Shares(game), AllInExpectations(game)
    records = [hand.record for hand in hands]
    terms = term_values(shares, [r.deal for r in records], [chance_terms(r.betting) for r in records], [0] * len(hands))
    columns = 4 + chance_columns(game)
    rows = np.ones((len(hands), columns))
    rows[:, 2] = [record.values[position] for record in records]
    rows[:, 3] = rows[:, 2]
    for row, record in zip(rows, records, strict=True):
        board = board_before_showdown(record.betting)
        if board is not None and (values := expected.values(record.betting, record.deal, board)) is not None:
            row[3] = values[position]
    rows[:, 4:] = terms[:, position]
    rows *= np.sqrt([len(hands) * hand.probability for hand in hands])[:, np.newaxis]
    sums = CrossSums(columns)
    folds = np.arange(len(hands)) % 2
    sums.add(rows, folds)
    return sums, columns


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("name", "strategies"),
    [pytest.param(*case, marks=[pytest.mark.slow] if case[0] == "leduc no-limit" else []) for case in CASES],
)
def test_every_estimator_has_the_exact_expectation(name: str, strategies: list[Strategy]) -> None:
    game = small_game(name)
    hands = all_hands(game, tuple(strategies))
    assert sum(hand.probability for hand in hands) == pytest.approx(1, abs=1e-12)
    for position in range(game.num_players):
        exact = sum([hand.probability * hand.record.values[position] for hand in hands])
        sums, columns = expectations(hands, position)
        pots = range(4, 4 + game.num_rounds)
        weights = np.random.default_rng(5).normal(size=columns)
        assert sums.mean(2).mean == pytest.approx(exact, abs=1e-12 * game.big_blind)
        assert sums.mean(3).mean == pytest.approx(exact, abs=1e-12 * game.big_blind)
        assert sums.mean(2, pots).mean == pytest.approx(exact, abs=1e-12 * game.big_blind)
        for column in range(4, columns):
            assert sums.mean(column).mean == pytest.approx(0, abs=1e-12 * game.big_blind)
        some = weights[4:] @ [sums.mean(column).mean for column in range(4, columns)]
        assert abs(some) < 1e-11 * game.big_blind, "whatever the weights"


def test_known_values_and_variances() -> None:
    """Values of uniform play against itself, from the literature and by enumeration."""
    for name, value, variance in (("kuhn", 0.125, 2.109375), ("leduc", -0.078125, 20.365771484375)):
        hands = all_hands(small_game(name), (uniform, uniform))
        values = np.array([hand.record.values[0] for hand in hands])
        chances = np.array([hand.probability for hand in hands])
        assert chances @ values == pytest.approx(value, abs=1e-12)
        assert chances @ values**2 - value**2 == pytest.approx(variance, abs=1e-9)


def test_all_in_side_pots_have_terms_of_their_own() -> None:
    game = find_game("holdem.nolimit.3p")[1]
    game = game._replace(stacks=(500, 1000, 2000))
    betting = betting_start(game)
    for action in (raise_to(2000), CALL, CALL):
        betting = betting.after(action)
    assert betting.finished
    rows = {row.members for row in chance_terms(betting).rows}
    assert rows == {0b111, 0b110}
    assert board_before_showdown(betting) == 0
