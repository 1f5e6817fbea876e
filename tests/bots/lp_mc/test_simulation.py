"""The simulation compared with its slow twin, with the same random numbers."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from bots.lp_mc.simulation import OpponentModel, SimulationOptions, batch_sizes, simulate
from bots.sdk.view import View
from engine import CALL, FOLD, RAISE, Action, ActionKind, Hand, deal_hand, nearest_legal, parse_cards
from engine.equity import exact_equity
from protocol import find_game
from tests.bots.lp_mc.naive import simulate_slowly

LIMIT = find_game("limit")[1]


def play_hand(rng: random.Random, actions: Sequence[Action], round_: int) -> Hand:
    """Play a random hand up to a state of a round, or to its end."""
    hand = Hand(LIMIT, deal_hand(LIMIT, rng.randrange(1000), rng.randrange(1000)))
    while not hand.finished and (hand.betting.round < round_ or rng.random() < 0.6):
        hand.apply(nearest_legal(rng.choice(actions), hand.betting))
    return hand


def situation(rng: random.Random, round_: int, prior: float) -> tuple[View, OpponentModel]:
    """Return a state of a round with a player to act, and a model with some experience."""
    while (hand := play_hand(rng, (CALL, RAISE), round_)).finished or hand.betting.round != round_:
        pass
    model = OpponentModel(4, first_round=0, prior=prior)
    for number in range(rng.randrange(10)):
        model.observe(play_hand(rng, (FOLD, CALL, CALL, RAISE, RAISE), 4).betting, rng.randrange(2), number)
    return View.from_hand(hand, hand.acting_position, 3), model


def check(rng: random.Random, round_: int, **options: Any) -> None:
    chosen = SimulationOptions(**options)
    view, model = situation(rng, round_, chosen.prior)
    start = rng.getrandbits(64)
    outcome = simulate(view, model, chosen, start)
    slow = simulate_slowly(view, model, chosen, start)
    assert outcome.call == pytest.approx(slow[ActionKind.CALL], abs=1e-9)
    assert (outcome.raise_ is None) == (ActionKind.RAISE not in slow)
    if outcome.raise_ is not None:
        assert outcome.raise_ == pytest.approx(slow[ActionKind.RAISE], abs=1e-9)


@pytest.mark.slow
def test_every_round_as_the_slow_twin() -> None:
    rng = random.Random(2013)
    for round_ in range(4):
        check(rng, round_, trials=40)
        check(rng, round_, trials=41, batches=5, weakest="round", sunk="whole", prior=0.0)


@pytest.mark.slow
@pytest.mark.parametrize("round_", range(4))
@pytest.mark.parametrize("weakest", ["all", "round", "none"])
@pytest.mark.parametrize("batches", [1, 3, 60])
def test_all_options_as_the_slow_twin(round_: int, weakest: str, batches: int) -> None:
    rng = random.Random(f"{round_} {weakest} {batches}")
    for _ in range(10):
        check(rng, round_, trials=60, batches=batches, weakest=weakest)


@pytest.mark.slow
@pytest.mark.parametrize(("board", "round_"), [("", 0), ("2h7dTc", 1), ("2h7dTcJs", 2), ("2h7dTcJs3s", 3)])
def test_with_all_hands_the_share_is_the_exact_equity(board: str, round_: int) -> None:
    from bots.lp_mc.drawn_showdowns import count_shares, holdings_by_strength

    hole, cards = parse_cards("AhKd"), parse_cards(board) if board else ()
    trials, batches = 1_000_000, 100
    shares = np.zeros(batches, np.int64)
    sizes = np.full(batches, trials // batches, np.int64)
    holdings = holdings_by_strength(hole, cards)
    count_shares(np.array(hole, np.uint8), np.array(cards, np.uint8), *holdings, sizes, np.uint64(round_), shares)
    outcome = shares / sizes / 2
    exact = exact_equity(hole, cards).equity
    assert abs(outcome.mean() - exact) < 5 * outcome.std() / batches**0.5


def test_batches_share_the_trials() -> None:
    assert batch_sizes(SimulationOptions(trials=10)) == [10]
    assert batch_sizes(SimulationOptions(trials=10, batches=4)) == [2, 3, 2, 3]
    assert sum(batch_sizes(SimulationOptions(batches=7))) == 10_000
