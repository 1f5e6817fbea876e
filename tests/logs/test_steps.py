"""Steps, winners and showing order in formats of card rooms."""

from __future__ import annotations

import dataclasses

import pytest

from engine import hand_values, side_pots
from logs.errors import LogsError
from logs.formats.settlement import check_values, hand_ranks, showdown_order, street_actions
from protocol import find_game
from protocol.match_state import betting_after
from tests.logs.acpc_log.test_writer import record
from tests.logs.hands import random_hands


def test_raise_that_lowers_the_bet_is_refused() -> None:
    game = find_game("limit3")[1]._replace(stacks=(100, 12, 100))
    with pytest.raises(LogsError, match="position 1 raises to 12 where 20 is bet already, as a short stack of a limit"):
        street_actions(betting_after(game, "rfr"))


def test_the_last_to_bet_shows_first() -> None:
    def order(betting: str) -> list[int]:
        hand = record("nolimit3", 0, 0, betting, ("a", "b", "c"), 0)
        return list(showdown_order(hand, street_actions(hand.betting)))

    assert order("ccc/ccc/ccc/ccc") == [0, 1, 2]
    assert order("ccc/ccc/ccc/cr300cc") == [1, 2, 0]
    assert order("ccc/ccc/ccc/cr300cf") == [1, 2]
    assert order("fcc/cc/cc/cc") == [0, 1]
    assert order("r300r20000cc///") == [0, 1, 2]
    assert order("ff") == []


def test_ranks_follow_the_cards_or_else_the_values() -> None:
    for hand in random_hands("nolimit3", 60, fold=0.1):
        ranks = hand_ranks(hand)
        assert [rank is None for rank in ranks] == [bool(hand.betting.folded >> p & 1) for p in range(3)]
        by_values = hand_ranks(dataclasses.replace(hand, deal=hand.deal._replace(hole_cards=((),) * 3)))
        for pot in side_pots(hand.betting.spent, hand.betting.folded):
            assert pot.winners(ranks) == pot.winners(by_values)


def test_values_are_checked_against_the_pots() -> None:
    for hand in random_hands("nolimit3", 30):
        pots, ranks = side_pots(hand.betting.spent, hand.betting.folded), hand_ranks(hand)
        winners = [pot.winners(ranks) for pot in pots]
        check_values(hand, pots, winners)
        wrong = (hand.values[0] + 1, hand.values[1] - 1, hand.values[2])
        with pytest.raises(LogsError, match=f"hand {hand.hand_number}: its values are not those of its cards"):
            check_values(dataclasses.replace(hand, values=wrong), pots, winners)
        assert hand.values == tuple(hand_values(hand.betting, hand.deal))
