"""Contests with different cards in every seating: no advantage from remembered cards, and valid intervals."""

from __future__ import annotations

import pytest

from engine import Seed
from tests.dealer.results_of import won_by
from tests.scripts import script

peeking = script("research/serve/peeking.py")


@pytest.mark.parametrize(("seed", "has_advantage"), [(3, True), (peeking.key(1), False)])
def test_bot_that_remembers_cards_wins_only_where_cards_repeat(seed: Seed, *, has_advantage: bool) -> None:
    # Calling against raising is worth 0, since both always go to the showdown.
    rate = peeking.contest("limit", ("Peek", "raising"), seed, 200).rate()
    assert (rate.low > 3000) is has_advantage
    assert (rate.low <= 0 <= rate.high) is not has_advantage


def test_score_is_of_one_hand_in_every_seating() -> None:
    result = peeking.contest("kuhn3", ("Honest", "random", "raising"), peeking.key(2), 120)
    assert result.duplicates == 120
    assert result.seatings == 3
    assert result.hands_counted == 360
    assert result.seed == str(peeking.key(2))
    assert sum(won_by(player).raw.mean for player in result.players) == pytest.approx(0)
    assert sum(player.chips for player in result.players) == pytest.approx(0)


@pytest.mark.slow  # 400 contests
@pytest.mark.parametrize(("game", "others"), peeking.TABLES)
def test_intervals_cover_the_truth_for_two_and_three_players(game: str, others: tuple[str, ...]) -> None:
    hits, _ = peeking.coverage(game, others, 200, 300)
    # 190 of 200 are expected, with a standard deviation of 3.
    assert hits >= 184
