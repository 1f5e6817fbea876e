"""Whole hands of betting, cards and showdown."""

from __future__ import annotations

import pytest
from hypothesis import assume, given

from engine import (
    CALL,
    FOLD,
    BettingType,
    Game,
    Hand,
    IllegalAction,
    Rule,
    deal_hand,
    hand_values,
    raise_to,
    rank_hand,
)
from protocol import find_game
from protocol.match_state import betting_after
from tests.engine.naive import pots
from tests.engine.strategies import SEEDS, games, random_play

NO_LIMIT = find_game("nolimit")[1]


def play_out(game: Game, seed: int) -> Hand:
    hand = Hand(game, deal_hand(game, seed, 0))
    for _, action in random_play(game, seed):
        if action is not None:
            hand.apply(action)
    return hand


@given(games(), SEEDS)
def test_chips_are_conserved(game: Game, seed: int) -> None:
    hand = play_out(game, seed)
    values, spent = hand.values(), hand.betting.spent
    folded = [bool(hand.betting.folded >> p & 1) for p in range(game.num_players)]
    if hand.is_showdown:
        # Only a limit raise that lowers the bet leaves chips above every live bet; the reference loses them, too.
        highest = max(chips for chips, out in zip(spent, folded, strict=True) if not out)
        lost = sum(max(0, chips - highest) for chips in spent)
        assert lost == 0 or game.betting is BettingType.LIMIT
        assert sum(values) == pytest.approx(-lost, abs=1e-6 * max(1, hand.betting.pot))
    else:
        assert sum(values) == 0
    for value, chips, out, stack in zip(values, spent, folded, game.stacks, strict=True):
        assert -stack <= -chips <= value <= hand.betting.pot - chips
        assert not out or value == -chips


@given(games(), SEEDS)
def test_a_showdown_pays_the_best_hands(game: Game, seed: int) -> None:
    hand = play_out(game, seed)
    assume(hand.is_showdown)
    board = hand.deal.board
    assert hand.board == board
    ranks = [
        None if hand.betting.folded >> p & 1 else rank_hand(hole + board) for p, hole in enumerate(hand.deal.hole_cards)
    ]
    expected = [float(value) for value in pots(hand.betting.spent, ranks)]
    assert hand.values() == pytest.approx(expected, rel=1e-12, abs=1e-6)


@given(games(), SEEDS)
def test_copies_are_independent(game: Game, seed: int) -> None:
    hand = Hand(game, deal_hand(game, seed, 0))
    for state, action in random_play(game, seed):
        twin = hand.copy()
        assert twin.betting is hand.betting
        assert twin.deal is hand.deal
        if action is not None:
            hand.apply(action)
            assert twin.betting is state or twin.betting.rounds == state.rounds
            assert twin.betting is not hand.betting
            assert not twin.finished


@given(games(), SEEDS)
def test_the_board_follows_the_rounds(game: Game, seed: int) -> None:
    hand = Hand(game, deal_hand(game, seed, 0))
    for _, action in random_play(game, seed):
        assert hand.board == hand.deal.board[: game.board_cards_by_round[hand.betting.round]]
        if action is not None:
            with pytest.raises(ValueError, match=r"^the hand has no values because it is not over$"):
                hand.values()
            hand.apply(action)


def test_a_refused_action_changes_nothing() -> None:
    hand = Hand(NO_LIMIT, deal_hand(NO_LIMIT, 0, 0))
    before = hand.betting
    for action in (raise_to(199), raise_to(20001)):
        with pytest.raises(IllegalAction):
            hand.apply(action)
    assert hand.betting is before
    assert hand.legal_actions() == (True, True, 200, 20000)
    hand.apply(FOLD)
    with pytest.raises(IllegalAction) as caught:
        hand.apply(CALL)
    assert caught.value.rule is Rule.HAND_OVER
    assert str(caught.value) == "no player may act because the hand is over"
    with pytest.raises(IllegalAction):
        hand.legal_actions()


def test_the_last_player_wins_what_the_others_put_in() -> None:
    game = find_game("nolimit3")[1]
    hand = Hand(game, deal_hand(game, 0, 0))
    hand.apply(raise_to(300))
    hand.apply(FOLD)
    hand.apply(FOLD)
    assert hand.finished
    assert not hand.is_showdown
    assert hand.values() == [-50.0, -100.0, 150.0]
    assert hand.board == ()


@pytest.mark.parametrize(
    ("name", "seed", "number", "actions", "values"),
    [
        # Recorded from the reference: match seed, hand number, betting, values by position.
        ("holdem.limit.2p.reverse_blinds", 0, 1, "cc/rc/cc/rc", [40, -40]),
        ("holdem.nolimit.3p", 0, 1, "r247cc/ccr347cc/r1202fc/cc", [-1202, -347, 1549]),
        ("holdem.nolimit.6p", 0, 1, "r247ccr485cr723r1071ccccr5028r8985r20000ccccf///",
         [88985, -20000, -8985, -20000, -20000, -20000]),
        ("holdem.nolimit.6p", 42, 0, "cr200cccfc/r300cr1233cccc/ccr2560r13185cr20000cccc/",
         [80100, -100, -20000, -20000, -20000, -20000]),
        ("kuhn.limit.3p", 42, 0, "crcc", [-2, 4, -2]),
        ("leduc.nolimit.2p", 0, 0, "r1047c/r1154r1200c", [-1200, 1200]),
    ],
)  # fmt: skip
def test_recorded_hands(name: str, seed: int, number: int, actions: str, values: list[float]) -> None:
    game = find_game(name)[1]
    betting = betting_after(game, actions)
    assert betting.finished
    assert hand_values(betting, deal_hand(game, seed, number)) == values
