"""What counts of a contest's values: whole duplicates, in the order of the hands."""

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


def values_of(found: list[MatchPlan], game: Game, seed: int) -> list[list[list[float]]]:
    """Values by match, hand and seat."""
    chance = random.Random(seed)
    played = []
    for match_plan in found:
        hands = []
        for _ in range(match_plan.hands):
            values = [float(chance.randint(-20, 20)) for _ in range(game.num_players - 1)]
            hands.append([*values, -sum(values)])
        played.append(hands)
    return played


def naive_scores(found: list[MatchPlan], game: Game, played: list[list[list[float]]], hands: int) -> list[list[float]]:
    """The scores by deal and player, looked up one by one."""
    scores = []
    for hand in range(hands):
        sums = [0.0] * game.num_players
        seatings = 0
        for match_plan, values in zip(found, played, strict=True):
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
    found = match_plans_for(kind, game.num_players, 17, slices)
    played = values_of(found, game, 1)
    values = [array("d") for _ in found]
    scores = DealScores(game, found, values)
    live = RunningMean()
    order = [index for index, match_plan in enumerate(found) for _ in range(match_plan.hands)]
    random.Random(2).shuffle(order)
    for index in order:
        values[index].extend(played[index][scores.hands(index)])
        for new in scores.take_new():
            live.add(new[0])
    assert scores.duplicates == 17
    assert scores.hands_played == 17 * len({match_plan.players for match_plan in found})
    expected = naive_scores(found, game, played, 17)
    for got, wanted in zip(scores.in_order(), expected, strict=True):
        assert got == pytest.approx(wanted)
    assert live.count == 17
    assert live.mean == pytest.approx(sum(row[0] for row in expected) / 17)
    assert sum(scores.chips()) == pytest.approx(0)
    factor = 1000 / game.big_blind / len({match_plan.players for match_plan in found})
    for player, chips in enumerate(scores.chips()):
        assert chips * factor == pytest.approx(sum(row[player] for row in expected))


@given(st.lists(st.integers(0, 1), max_size=40))
def test_a_deal_counts_once_both_seatings_have_played_it(order: list[int]) -> None:
    values = [array("d"), array("d")]
    scores = DealScores(LIMIT, match_plans_for(Seating.ROTATIONS, 2, 100, 1), values)
    played, taken = [0, 0], 0
    for index in order:
        values[index].extend([10.0, -10.0])
        played[index] += 1
        taken += len(list(scores.take_new()))
        assert scores.duplicates == min(played) == taken == len(list(scores.in_order()))
        # The first player won in one seat what he lost in the other.
        assert all(score == [0.0, 0.0] for score in scores.in_order())
        assert scores.chips() == [0.0, 0.0]


@pytest.mark.parametrize(("game", "kind"), [(LIMIT, Seating.ROTATIONS), (KUHN3, Seating.PERMUTATIONS)])
def test_rounds_are_hands_in_a_row_of_one_match(game: Game, kind: Seating) -> None:
    found = match_plans_for(kind, game.num_players, 20, 1)
    played = values_of(found, game, 3)
    hands = [max(0, 20 - 5 * index) for index in range(len(found))]
    values_by_match = [array("d", chain(*of_match[:count])) for of_match, count in zip(played, hands, strict=True)]
    scores, expected = DealScores(game, found, values_by_match), []
    for index, match_plan in enumerate(found):
        for first in range(0, hands[index] - len(found) + 1, len(found)):
            values = played[index][first : first + len(found)]
            means = [1000 / game.big_blind * sum(column) / len(found) for column in zip(*values, strict=True)]
            expected.append([means[match_plan.players.index(player)] for player in range(game.num_players)])
    assert list(scores.in_rounds()) == [pytest.approx(row) for row in expected]


def test_part_of_the_scores_can_be_asked_for_slice_by_slice() -> None:
    found = match_plans_for(Seating.SINGLE, 2, 10, 2)
    values = [array("d", chain(*([10.0 * index + hand, -hand] for hand in range(5)))) for index in (0, 1)]
    scores = DealScores(LIMIT, found, values)
    per_chip = 1000 / LIMIT.big_blind
    assert [row[0] for row in scores.in_order(1, 3)] == [per_chip * value for value in (1, 2, 11, 12)]
