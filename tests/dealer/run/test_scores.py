"""Scores of a contest: complete duplicates in the order of the hands."""

from __future__ import annotations

import random
from array import array
from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dealer.run.choices import Seating
from dealer.run.contest_plan import MatchPlan
from dealer.run.scores import DealScores
from engine import Game
from logs.estimation import RunningMean
from protocol import find_game
from tests.dealer.helpers import match_plans_for

LIMIT = find_game("limit")[1]
KUHN3 = find_game("kuhn3")[1]


def random_values(match_plans: list[MatchPlan], game: Game, seed: int) -> list[list[list[float]]]:
    """Draw values by match, hand and seat."""
    chance = random.Random(seed)
    values_by_match = []
    for match_plan in match_plans:
        hands = []
        for _ in range(match_plan.hands):
            values = [float(chance.randint(-20, 20)) for _ in range(game.num_players - 1)]
            hands.append([*values, -sum(values)])
        values_by_match.append(hands)
    return values_by_match


def naive_scores(
    match_plans: list[MatchPlan], game: Game, values_by_match: list[list[list[float]]], hands: int
) -> list[list[float]]:
    """Scores by deal and player, computed value by value."""
    scores = []
    for hand in range(hands):
        sums = [0.0] * game.num_players
        seatings = 0
        for match_plan, values in zip(match_plans, values_by_match, strict=True):
            if match_plan.first_hand <= hand < match_plan.first_hand + match_plan.hands:
                seatings += 1
                for seat, player in enumerate(match_plan.players):
                    sums[player] += values[hand - match_plan.first_hand][seat]
        scores.append([total / seatings * 1000 / game.big_blind for total in sums])
    return scores


@pytest.mark.parametrize("game", [LIMIT, KUHN3])
@pytest.mark.parametrize("kind", Seating)
@pytest.mark.parametrize("slices", [1, 3])
def test_scores_are_means_over_seatings_in_any_order(game: Game, kind: Seating, slices: int) -> None:
    match_plans = match_plans_for(kind, game.num_players, 17, slices)
    seatings = len({match_plan.players for match_plan in match_plans})
    drawn = random_values(match_plans, game, 1)
    values = [array("d") for _ in match_plans]
    scores = DealScores(game, match_plans, values)
    running_mean = RunningMean()
    order = [index for index, match_plan in enumerate(match_plans) for _ in range(match_plan.hands)]
    random.Random(2).shuffle(order)
    for index in order:
        values[index].extend(drawn[index][scores.hands(index)])
        for new_score in scores.take_new():
            running_mean.add(new_score[0])
    assert scores.duplicates == 17
    assert scores.hands_played == 17 * seatings
    expected = naive_scores(match_plans, game, drawn, 17)
    for score, expected_score in zip(scores.in_order(), expected, strict=True):
        assert score == pytest.approx(expected_score)
    assert running_mean.count == 17
    assert running_mean.mean == pytest.approx(sum(row[0] for row in expected) / 17)
    assert sum(scores.chips()) == pytest.approx(0)
    factor = 1000 / game.big_blind / seatings
    for player, chips in enumerate(scores.chips()):
        assert chips * factor == pytest.approx(sum(row[player] for row in expected))


@given(st.lists(st.integers(0, 1), max_size=40))
def test_deal_counts_once_both_seatings_have_played_it(order: list[int]) -> None:
    values = [array("d"), array("d")]
    scores = DealScores(LIMIT, match_plans_for(Seating.ROTATIONS, 2, 100, 1), values)
    hands = [0, 0]
    new_scores = 0
    for index in order:
        values[index].extend([10.0, -10.0])
        hands[index] += 1
        new_scores += len(list(scores.take_new()))
        assert scores.duplicates == min(hands) == new_scores == len(list(scores.in_order()))
        # The first player wins in one seat as much as it loses in the other.
        assert all(score == [0.0, 0.0] for score in scores.in_order())
        assert scores.chips() == [0.0, 0.0]


@pytest.mark.parametrize(("game", "kind"), [(LIMIT, Seating.ROTATIONS), (KUHN3, Seating.PERMUTATIONS)])
def test_rounds_are_hands_in_a_row_of_one_match(game: Game, kind: Seating) -> None:
    match_plans = match_plans_for(kind, game.num_players, 20, 1)
    seatings = len(match_plans)
    drawn = random_values(match_plans, game, 3)
    hands = [max(0, 20 - 5 * index) for index in range(seatings)]
    values_by_match = [array("d", chain(*values[:count])) for values, count in zip(drawn, hands, strict=True)]
    scores = DealScores(game, match_plans, values_by_match)
    expected = []
    for index, match_plan in enumerate(match_plans):
        for first in range(0, hands[index] - seatings + 1, seatings):
            values = drawn[index][first : first + seatings]
            means = [1000 / game.big_blind * sum(column) / seatings for column in zip(*values, strict=True)]
            expected.append([means[match_plan.players.index(player)] for player in range(game.num_players)])
    assert list(scores.in_rounds()) == [pytest.approx(row) for row in expected]


def test_scores_of_a_range_of_hands_include_all_slices() -> None:
    match_plans = match_plans_for(Seating.SINGLE, 2, 10, 2)
    values = [array("d", chain(*([10.0 * index + hand, -hand] for hand in range(5)))) for index in (0, 1)]
    scores = DealScores(LIMIT, match_plans, values)
    per_chip = 1000 / LIMIT.big_blind
    assert [row[0] for row in scores.in_order(1, 3)] == [per_chip * value for value in (1, 2, 11, 12)]
