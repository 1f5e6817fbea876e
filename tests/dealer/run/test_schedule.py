"""Pairings, seatings and slices of contests."""

from __future__ import annotations

import math
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dealer.run.choices import Format, Seating
from dealer.run.plan import pairings
from tests.dealer.helpers import match_plans_for


@pytest.mark.parametrize("players", range(2, 7))
def test_rotations_give_every_player_every_seat_once(players: int) -> None:
    orders = Seating.ROTATIONS.orders(players)
    assert orders[0] == tuple(range(players))
    for player in range(players):
        assert sorted(order.index(player) for order in orders) == list(range(players))


@pytest.mark.parametrize("players", range(2, 6))
def test_permutations_are_all_orders(players: int) -> None:
    orders = Seating.PERMUTATIONS.orders(players)
    assert orders[0] == tuple(range(players))
    assert len(set(orders)) == len(orders) == math.factorial(players)


def test_single_seating_keeps_the_order_of_the_players() -> None:
    assert Seating.SINGLE.orders(3) == [(0, 1, 2)]


@pytest.mark.parametrize("kind", Seating)
@pytest.mark.parametrize("players", range(2, 6))
def test_seatings_are_counted_without_listing_them(kind: Seating, players: int) -> None:
    assert kind.order_count(players) == len(kind.orders(players))


@given(st.sampled_from(Seating), st.integers(2, 4), st.integers(1, 500), st.integers(1, 40))
def test_matches_cover_every_hand_of_every_seating_once(kind: Seating, players: int, hands: int, slices: int) -> None:
    match_plans = match_plans_for(kind, players, hands, slices)
    counts = Counter(
        (match_plan.players, hand)
        for match_plan in match_plans
        for hand in range(match_plan.first_hand, match_plan.first_hand + match_plan.hands)
    )
    assert counts == {(order, hand): 1 for order in kind.orders(players) for hand in range(hands)}
    assert len({match_plan.name for match_plan in match_plans}) == len(match_plans)
    sizes = {match_plan.hands for match_plan in match_plans}
    assert max(sizes) - min(sizes) <= 1
    assert min(sizes) >= 1


def test_names_of_matches_number_slices_and_seatings() -> None:
    assert [match_plan.name for match_plan in match_plans_for(Seating.SINGLE, 2, 10, 1)] == ["match"]
    assert [match_plan.name for match_plan in match_plans_for(Seating.ROTATIONS, 2, 10, 2)] == [
        "match.1.a",
        "match.1.b",
        "match.2.a",
        "match.2.b",
    ]


def test_round_robin_pairs_all_players_once() -> None:
    tables = pairings(Format.ROUND_ROBIN, 5, 2)
    assert Counter(bot for table in tables for bot in table) == dict.fromkeys(range(5), 4)
    assert len(set(tables)) == 10
    assert len(pairings(Format.ROUND_ROBIN, 5, 3)) == 10


def test_first_player_of_a_gauntlet_plays_in_every_contest() -> None:
    assert pairings(Format.GAUNTLET, 4, 2) == [(0, 1), (0, 2), (0, 3)]
    assert all(0 in table for table in pairings(Format.GAUNTLET, 5, 3))
    assert len(pairings(Format.GAUNTLET, 5, 3)) == 6
