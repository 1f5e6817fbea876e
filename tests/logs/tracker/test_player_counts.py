"""The counters of one player: curves in bounded memory."""

from __future__ import annotations

import random

import pytest

from logs.estimation import Moments, RunningMean
from logs.tracker.player_counts import MOST_POINTS, DealMoments, Pairs, PlayerCurve, Sums


def drawn(hands: int, each: float = 1.0) -> tuple[PlayerCurve, Sums]:
    """A curve that rises by the same with every hand, and its end."""
    curve, sums = PlayerCurve("Ann"), Sums()
    for _ in range(hands):
        hand = DealMoments(Moments(1, each, each * each))
        sums = sums.plus(Sums(hand, hand, each / 2))
        curve.due -= 1
        if not curve.due:
            curve.add(sums)
    return curve, sums


@pytest.mark.slow
@pytest.mark.parametrize("hands", [0, 1, 999, 1000, 1001, 5000, 100_000])
def test_there_are_never_too_many_points_and_never_too_few(hands: int) -> None:
    curve, _ = drawn(hands)
    assert len(curve.points) <= MOST_POINTS
    assert len(curve.points) >= min(hands, MOST_POINTS // 2)
    assert [point.net for point in curve.points] == [float(point.hands) for point in curve.points]
    apart = {after.hands - before.hands for before, after in zip(curve.points, curve.points[1:], strict=False)}
    assert apart <= {curve.step}


@pytest.mark.parametrize(("first", "second"), [(0, 10), (10, 0), (700, 700), (5000, 30), (30, 5000), (4097, 4097)])
def test_a_curve_goes_on_where_another_ends(first: int, second: int) -> None:
    (curve, end), (other, end_of_other) = drawn(first), drawn(second, -2.0)
    curve.merge(end, other, first + second)
    assert (first + second + curve.due) % curve.step == 0
    assert len(curve.points) <= MOST_POINTS
    hands = [point.hands for point in curve.points]
    assert hands == sorted(set(hands))
    for point in curve.points:
        assert point.net == (point.hands if point.hands <= first else first - 2 * (point.hands - first))
    assert end.plus(end_of_other).hands == first + second


def test_hands_of_different_deals_have_the_interval_of_hands() -> None:
    moments = Moments(400, 100.0, 900.0)
    assert DealMoments(moments).by_deal.mean == moments.mean == 0.25
    assert DealMoments(moments).by_deal.half_width_95 == pytest.approx(moments.half_width_95)


@pytest.mark.parametrize("seatings", [1, 2, 6])
def test_a_deal_in_several_seatings_is_one_unit(seatings: int) -> None:
    """Where all deals have the same number of hands, the interval is that of the means of deals."""
    chance = random.Random(seatings)
    found, deals = DealMoments(), RunningMean()
    for _ in range(300):
        luck = chance.gauss(0, 3)
        values = [luck + chance.gauss(0.2, 1) for _ in range(seatings)]
        pairs = Pairs()
        for at, value in enumerate(values[1:], 1):
            pairs = pairs.with_hand(at, sum(values[:at]), value)
        found = found.plus(DealMoments(Moments(seatings, sum(values), sum(x * x for x in values)), pairs))
        deals.add(sum(values) / seatings)
    assert found.deals == 300
    assert found.by_deal.mean == pytest.approx(deals.mean)
    assert found.by_deal.half_width_95 == pytest.approx(deals.half_width_95)
