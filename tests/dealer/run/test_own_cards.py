"""Contests in which every seating has cards of its own: nothing to peek at, and intervals that hold."""

from __future__ import annotations

import pytest

from engine import Seed
from tests.dealer.results_of import won_by
from tests.scripts import script

peeking = script("research/serve/peeking.py")


@pytest.mark.parametrize(("seed", "is_worth_it"), [(3, True), (peeking.key(1), False)])
def test_bot_that_remembers_cards_wins_only_where_cards_repeat(seed: Seed, *, is_worth_it: bool) -> None:
    """Calling against raising is worth nothing: both always go to the showdown."""
    rate = peeking.contest("limit", ("Peek", "raising"), seed, 200).rate()
    assert (rate.low > 3000) is is_worth_it
    assert (rate.low <= 0 <= rate.high) is not is_worth_it


def test_score_is_of_one_hand_in_every_seating() -> None:
    result = peeking.contest("kuhn3", ("Honest", "random", "raising"), peeking.key(2), 120)
    assert (result.duplicates, result.seatings, result.hands_counted) == (120, 3, 360)
    assert result.seed == str(peeking.key(2))
    assert sum(won_by(player).raw.mean for player in result.players) == pytest.approx(0)
    assert sum(player.chips for player in result.players) == pytest.approx(0)


@pytest.mark.slow  # 400 contests
@pytest.mark.parametrize(("game", "others"), peeking.TABLES)
def test_intervals_hold_for_two_and_three_players(game: str, others: tuple[str, ...]) -> None:
    held, _ = peeking.coverage(game, others, 200, 300)
    # 190 of 200 are expected, give or take 3.
    assert held >= 184
