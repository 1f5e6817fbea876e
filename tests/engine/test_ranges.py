"""Chances of all holdings at once, compared with one at a time."""

from __future__ import annotations

import numpy as np
import pytest

from engine.cards import Card, parse_cards, starting_hand
from engine.duels import BOARDS, duel
from engine.equity import equity, exact_equity, showdown_odds
from engine.evaluator import rank_hand
from engine.ranges import HOLDINGS, are_free, chances_of_all, classes, holding_number, shares_against


def test_holdings_are_numbered() -> None:
    assert [holding_number(*cards) for cards in HOLDINGS] == list(range(1326))
    assert holding_number(51, 50) == holding_number(50, 51) == 1325
    assert classes().tolist() == [starting_hand(cards) for cards in HOLDINGS]
    free = are_free((0, 51))
    assert [at for at in range(1326) if free[at]] == [at for at, one in enumerate(HOLDINGS) if not {0, 51} & {*one}]


def test_chances_on_the_river_by_counting() -> None:
    """Compare every holding with every other."""
    for text in ("2c7d9hJsAc", "2c3c4c5c6c"):
        board = tuple(parse_cards(text))
        held = [cards for cards in HOLDINGS if not {*cards} & {*board}]
        ranks = {cards: rank_hand(cards + board) for cards in held}
        all_chances = chances_of_all(board)
        for cards in held[::300]:
            others = [ranks[other] for other in held if not {*other} & {*cards}]
            won, tied = sum(rank < ranks[cards] for rank in others), sum(rank == ranks[cards] for rank in others)
            number = holding_number(*cards)
            assert len(others) == 990
            assert (all_chances.win[number], all_chances.tie[number]) == (won / 990, tied / 990)


@pytest.mark.parametrize("text", ["2c7d9h", "2c7d9hJs", "2c7d9hJsAc", ""])
def test_chances_are_those_that_bots_play_by(text: str) -> None:
    """Equality is exact: in the last digit, too, a bot must decide the same."""
    board = tuple(parse_cards(text))
    all_chances = chances_of_all(board)
    for cards in HOLDINGS[::41]:
        number = holding_number(*cards)
        if {*cards} & {*board}:
            assert np.isnan([all_chances.win[number], all_chances.tie[number], all_chances.equity[number]]).all()
        else:
            exact = equity(cards, board)
            assert (all_chances.win[number], all_chances.tie[number], all_chances.equity[number]) == tuple(exact)
    assert chances_of_all(board[::-1]).equity.tobytes() == all_chances.equity.tobytes()


@pytest.mark.parametrize("text", ["2c7d9hJs", "5c6c7c8cTd"])
def test_shares_against_each_holding(text: str) -> None:
    board = parse_cards(text)
    hole = parse_cards("AhTc")
    shares = shares_against(hole, board)
    taken = {*hole, *board}
    for cards in HOLDINGS[::97]:
        share = shares[holding_number(*cards)]
        assert share == (0 if {*cards} & taken else showdown_odds([hole, cards], board).equities[0])
    free = are_free(taken)
    assert shares[free].mean() == pytest.approx(exact_equity(hole, board).equity, abs=1e-12)


def test_shares_before_the_flop() -> None:
    """Shares equal the table, which other tests compare with the counts of all boards."""
    for hole in ((Card(48), Card(44)), (Card(51), Card(50))):
        shares = shares_against(hole, ())
        for number, cards in enumerate(HOLDINGS):
            if {*cards} & {*hole}:
                assert shares[number] == 0
            else:
                won, tied, _ = duel(hole, cards)
                assert shares[number] == (2 * won + tied) / (2 * BOARDS)
        assert shares[are_free(hole)].mean() == pytest.approx(exact_equity(hole).equity, abs=1e-9)


def test_impossible_cards_are_refused() -> None:
    with pytest.raises(ValueError, match="a board has no card"):
        chances_of_all((0, 1))
    with pytest.raises(ValueError, match="a board has no card"):
        chances_of_all((0, 1, 1))
    with pytest.raises(ValueError, match="all different"):
        shares_against((0, 1), (1, 2, 3))


@pytest.mark.slow
def test_flops_by_counting() -> None:
    """Compare whole flops for every holding."""
    for text in ("2c7d9h", "TcJcQc", "8c8d3s"):
        board = tuple(parse_cards(text))
        equities = chances_of_all(board).equity
        for cards in HOLDINGS:
            if not {*cards} & {*board}:
                assert equities[holding_number(*cards)] == exact_equity(cards, board).equity
