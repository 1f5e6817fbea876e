"""The counters of one player: curves in bounded memory."""

from __future__ import annotations

import pytest

from logs.tracker.player_counts import MOST_POINTS, PlayerCurve, Sums


def drawn(hands: int, each: float = 1.0) -> tuple[PlayerCurve, Sums]:
    """A curve that rises by the same with every hand, and its end."""
    curve, sums = PlayerCurve("Ann"), Sums()
    for _ in range(hands):
        sums = sums.plus(Sums(1, each, each * each, each / 2, each / 4))
        curve.due -= 1
        if not curve.due:
            curve.add(sums)
    return curve, sums


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


def test_the_interval_grows_with_the_root_of_the_hands() -> None:
    small, large = Sums(100, 0, 100 * 4.0), Sums(10_000, 0, 10_000 * 4.0)
    assert small.half_width == pytest.approx(1.959964 * 2 * 10, rel=0.01)
    assert large.half_width == pytest.approx(1.959964 * 2 * 100, rel=0.001)
    assert Sums(99, 0, 99 * 4.0).half_width is None
