"""The model of the opponent, and simulated hands that follow it."""

from __future__ import annotations

import pytest

from bots.lp_mc.simulation import AggressionCuts, OpponentModel, play_out
from engine import CALL, RAISE, BettingState
from protocol import find_game
from protocol.match_state import betting_after

LIMIT = find_game("limit")[1]
FOLDS, CALLS, RAISES = (1.0, 1.0), (0.0, 1.0), (0.0, 0.0)


def betting(text: str) -> BettingState:
    return betting_after(LIMIT, text)


def model_of(*hands: tuple[str, int], first_round: int = 0, prior: float = 0.0) -> OpponentModel:
    """Return a model that has seen hands, each with our position in it."""
    model = OpponentModel(4, first_round=first_round, prior=prior)
    for number, (text, us) in enumerate(hands):
        model.observe(betting(text), us, number)
    return model


def test_example_4_of_the_work() -> None:
    """On the river, owing a bet, 6000 folds, 3000 calls and 1000 raises are the probabilities 0.6, 0.3 and 0.1."""
    model = OpponentModel(4, first_round=1, prior=0.0)
    answers = [("f", 6), ("c", 3), ("r", 1)]
    number = 0
    for answer, times in answers:
        for _ in range(times):
            model.observe(betting(f"cc/cc/cc/r{answer}"), 0, number)
            number += 1
    assert model.counts[3][True] == [6, 3, 1]
    chances = model.chances(3, True)
    assert chances == pytest.approx((0.6, 0.9))
    river, levels = betting("cc/cc/cc/"), (0.0, 0.59, 0.61, 0.89, 0.91)
    # It folds to our bet of 20 into 20, calls it, or raises to 40.
    lines = [play_out(river, RAISE, [[chances, chances]] * 4, aggression) for aggression in levels]
    assert lines == [(20, 0)] * 2 + [(-20, 60)] * 2 + [(-40, 100)]


def test_every_action_is_counted_once() -> None:
    model = OpponentModel(4, first_round=0, prior=0.0)
    for text in ("", "r", "rr", "rrc/", "rrc/r", "rrc/rr", "rrc/rrf"):
        model.observe(betting(text), 0, 0)
        model.observe(betting(text), 0, 0)
    assert model.counts[0][True] == [0, 1, 1]
    assert model.counts[1][True] == [0, 0, 1]
    assert model.counts[1][False] == [0, 0, 0]


def test_bets_owed_before_the_flop() -> None:
    small_blind = model_of(("c", 0), ("r", 0), ("f", 0))
    assert small_blind.counts[0][True] == [1, 1, 1]
    big_blind = model_of(("cc/", 1), ("cr", 1), ("rc/", 1))
    assert big_blind.counts[0][False] == [0, 1, 1]
    assert big_blind.counts[0][True] == [0, 1, 0]


def test_rounds_before_the_first_are_ignored() -> None:
    model = model_of(("rrc/cr", 0), first_round=1)
    assert model.counts[0][True] == model.counts[0][False] == [0, 0, 0]
    assert model.counts[1][False] == [0, 0, 1]


def test_the_same_number_may_come_again_in_another_seat() -> None:
    model = OpponentModel(4, first_round=0, prior=0.0)
    model.observe(betting("rf"), 0, 7)
    model.observe(betting("rf"), 1, 7)
    assert model.counts[0][True] == [1, 0, 1]
    model.end_hand()
    model.observe(betting("rf"), 1, 7)
    assert model.counts[0][True] == [2, 0, 1]


def test_prior_without_observations() -> None:
    assert model_of(prior=1.0).chances(2, True) == pytest.approx((1 / 3, 2 / 3))
    assert model_of(prior=1.0).chances(2, False) == pytest.approx((0.0, 0.5))
    assert model_of().chances(2, True) == CALLS
    assert model_of(("r", 0), prior=3.0).chances(0, True) == pytest.approx((0.3, 0.6))


def test_share_of_folds() -> None:
    model = model_of(("cc/cc/rf", 0), ("cc/cr", 0), ("cc/rc/rc/rf", 0), first_round=1)
    assert model.fold_share("none", 2) == 0.0
    assert model.fold_share("all", 1) == pytest.approx(2 / 6)
    assert model.fold_share("round", 1) == 0.0
    assert model.fold_share("round", 2) == pytest.approx(1 / 2)
    assert model_of().fold_share("all", 1) == model_of().fold_share("round", 1) == 0.0


@pytest.mark.parametrize(
    ("state", "action", "chances", "line"),
    [
        # 20 chips of each on the flop; the opponent folds to our bet of 10, checks to our check
        ("rc/", RAISE, FOLDS, (40, 0)),
        ("rc/", CALL, FOLDS, (0, 40)),
        # it calls everything: a bet of 10 costs us 10 and makes a pot of 60
        ("rc/", RAISE, CALLS, (-10, 60)),
        ("rc/", CALL, CALLS, (0, 40)),
        # it raises once more than we do: flop 20 each; turn and river, where it acts behind us, 20 each
        ("rc/", RAISE, RAISES, (-60, 160)),
        ("rc/", CALL, RAISES, (-50, 140)),
        # facing a bet of 10
        ("rc/cr", CALL, CALLS, (-10, 60)),
        ("rc/cr", RAISE, FOLDS, (50, 0)),
        ("rc/cr", RAISE, CALLS, (-20, 80)),
        # it has no raise left
        ("rc/rrr", RAISE, RAISES, (-20 - 40, 40 + 80 + 80)),
        # before the flop the big blind may raise a limp
        ("", CALL, CALLS, (-5, 20)),
        ("", CALL, RAISES, (-5 - 10 - 10 - 20 - 20, 20 + 20 + 20 + 40 + 40)),
    ],
)
def test_hand_is_played_out(state: str, action: object, chances: AggressionCuts, line: tuple[int, int]) -> None:
    state_betting = betting(state)
    assert play_out(state_betting, action, [[chances, chances]] * 4, 0.5) == line  # type: ignore[arg-type]
