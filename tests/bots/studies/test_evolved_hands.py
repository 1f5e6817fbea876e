"""A watched player: hands compared with the rules, figures with the tracker."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bots.evolved.training import GENOME, DealSet, make_deals
from bots.studies.evolved_hands import HandResults, play_hands, preflop_play, ratio, total, winnings_of
from engine import Category, rank_hand
from engine.cards import starting_hand
from logs.tracker.hand_counts import HandCounts
from logs.tracker.statistics import BotStatistics, statistics_of
from tests.bots.evolved.slow_play import CHIPS_PER_DOLLAR, SlowPlay, played_slowly

pytestmark = pytest.mark.slow  # numba compiles for some seconds

ODDS = ["price", *["reward"] * 4, *["price"] * 5]
CHROMOSOMES = GENOME.random(10, np.random.default_rng(7))


@pytest.fixture(scope="module")
def deals() -> DealSet:
    return make_deals(12, 5, 200)


@pytest.fixture(scope="module")
def watched_hands(deals: DealSet) -> Any:
    return play_hands(deals, CHROMOSOMES[0], CHROMOSOMES[1:], ODDS, True)


@pytest.fixture(scope="module")
def slow(deals: DealSet) -> SlowPlay:
    return played_slowly(deals, CHROMOSOMES, ODDS, True)


def _statistics(slow: SlowPlay) -> BotStatistics:
    statistics = statistics_of(HandCounts().add_all(slow.records))
    return next(bot for bot in statistics.bots if bot.name == "0")


def test_each_hand_as_by_the_rule_book(watched_hands: Any, slow: SlowPlay) -> None:
    flops = slow.flops
    assert len(watched_hands.dollars) == len(flops)
    for number, record in enumerate(flops):
        position = record.seats.index(0)
        hole = record.deal.hole_cards[position]
        folded = [round_ for round_, actions in enumerate(record.betting.rounds) if (position, "f") in _texts(actions)]
        last = folded[0] if folded else record.betting.round
        assert watched_hands.position[number] == position
        assert watched_hands.last[number] == last
        assert watched_hands.hand[number] == starting_hand(hole)
        assert watched_hands.dollars[number] == pytest.approx(record.values[position] / CHIPS_PER_DOLLAR)
        assert watched_hands.showdown[number] == (position in record.betting.in_pot and len(record.betting.in_pot) > 1)
        if last:
            assert watched_hands.category[number] == rank_hand([*hole, *record.deal.board[: last + 2]]) >> 12
    assert set(np.flatnonzero(watched_hands.used).tolist()) == slow.used


def _texts(actions: tuple[tuple[int, object], ...]) -> list[tuple[int, str]]:
    return [(position, "f" if action.kind.name == "FOLD" else "") for position, action in actions]  # type: ignore[attr-defined]


def test_figures_as_the_tracker_counts_them(deals: DealSet, watched_hands: Any, slow: SlowPlay) -> None:
    bot = _statistics(slow)
    preflop = preflop_play(deals)
    assert bot.vpip is not None
    assert bot.vpip_small_blind is not None
    assert bot.pfr is not None
    assert bot.aggression_factor is not None
    small_blind = bot.vpip_small_blind
    assert preflop["VPIP small blind"].mean == pytest.approx(small_blind.times / small_blind.chances)
    assert preflop["PFR"].mean == pytest.approx(bot.pfr.times / bot.vpip.chances)
    assert watched_hands.raises.sum() == bot.aggression_factor.raises
    assert watched_hands.calls.sum() == bot.aggression_factor.calls
    assert bot.won_when_saw_flop is not None
    assert bot.went_to_showdown is not None
    assert bot.won_when_saw_flop.chances == watched_hands.saw_flop.sum()
    assert bot.won_when_saw_flop.times == watched_hands.won[watched_hands.saw_flop].sum()
    assert bot.went_to_showdown.times == watched_hands.showdown.sum()
    assert bot.won_at_showdown.times == watched_hands.won[watched_hands.showdown].sum()
    final = {category.name.replace("_", " ").lower(): int(category) for category in Category}
    for hand in bot.final_hands:
        assert (watched_hands.category[watched_hands.showdown] == final[hand.category]).sum() == hand.showdowns


def test_winnings_without_a_log_are_the_same(deals: DealSet, watched_hands: Any, slow: SlowPlay) -> None:
    won, used = winnings_of(deals, CHROMOSOMES[0], CHROMOSOMES[1:], ODDS, True)
    assert won.tolist() == pytest.approx(slow.won, abs=1e-6)
    assert won[0] == pytest.approx(watched_hands.dollars.sum(), abs=1e-6)
    assert (used == watched_hands.used).all()


def test_intervals_use_deals_as_units() -> None:
    """In 400 deals of two hands each, both win the same: the interval is that of 400 numbers, not of 800."""
    random = np.random.default_rng(3)
    by_deal = random.normal(1, 5, 400)
    hands = _watched(np.repeat(np.arange(400), 2))
    estimate = total(hands, np.repeat(by_deal, 2))
    assert estimate.mean == pytest.approx(2 * by_deal.sum())
    assert estimate.half_width == pytest.approx(1.96 * 2 * by_deal.std(ddof=1) * 20, rel=1e-3)
    share = ratio(hands, np.repeat(by_deal, 2), np.ones(800))
    assert share.mean == pytest.approx(by_deal.mean())
    assert share.half_width == pytest.approx(1.96 * by_deal.std(ddof=1) / 20, rel=1e-3)
    assert (estimate.units, share.units) == (400, 400)


def _watched(deal: np.ndarray) -> Any:
    zeros, false = np.zeros(len(deal), np.int64), np.zeros(len(deal), bool)
    return HandResults(
        *(int(deal[-1]) + 1, deal, zeros, zeros, zeros, zeros * 1.0, zeros, false, false, zeros, zeros),
        np.zeros(5040, bool),
    )
