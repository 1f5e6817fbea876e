"""Actions street by street, pots, and who shows."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from engine import ActionKind, Game, hand_values
from engine.showdown import showdown_values
from logs.errors import LogsError
from logs.steps import (
    Pot,
    StreetAction,
    check_values,
    hand_ranks,
    pots,
    showdown_order,
    street_actions,
    uncalled,
)
from protocol import find_game
from protocol.match_state import betting_after
from tests.engine.strategies import SEEDS, playable_games
from tests.logs.acpc_log.test_writer import record
from tests.logs.hands import random_hands

FOLD, CALL, RAISE = ActionKind.FOLD, ActionKind.CALL, ActionKind.RAISE


def told(game: str, betting: str) -> list[tuple[object, ...]]:
    return [tuple(action) for action in street_actions(betting_after(find_game(game)[1], betting))]


def test_no_limit() -> None:
    assert told("nolimit", "cr300c/r900c/cc/cr20000c") == [
        (0, 1, CALL, 50, 100, 50, False),
        (0, 0, RAISE, 200, 300, 0, False),
        (0, 1, CALL, 200, 300, 200, False),
        (1, 0, RAISE, 600, 600, 0, False),
        (1, 1, CALL, 600, 600, 600, False),
        (2, 0, CALL, 0, 0, 0, False),
        (2, 1, CALL, 0, 0, 0, False),
        (3, 0, CALL, 0, 0, 0, False),
        (3, 1, RAISE, 19100, 19100, 0, True),
        (3, 0, CALL, 19100, 19100, 19100, True),
    ]


def test_limit() -> None:
    assert told("limit3", "rfrc/rc/cc/rf") == [
        (0, 2, RAISE, 20, 20, 10, False),
        (0, 0, FOLD, 0, 5, 15, False),
        (0, 1, RAISE, 20, 30, 10, False),
        (0, 2, CALL, 10, 30, 10, False),
        (1, 1, RAISE, 10, 10, 0, False),
        (1, 2, CALL, 10, 10, 10, False),
        (2, 1, CALL, 0, 0, 0, False),
        (2, 2, CALL, 0, 0, 0, False),
        (3, 1, RAISE, 20, 20, 0, False),
        (3, 2, FOLD, 0, 0, 20, False),
    ]


@given(playable_games(), SEEDS)
def test_what_is_added_is_what_was_spent(game: Game, seed: int) -> None:
    (hand,) = random_hands(game, 1, seed)
    problem = None
    try:
        actions = street_actions(hand.betting)
    except LogsError as error:
        problem = str(error)
    if problem is not None:
        assert game.is_limit
        assert "as a short stack of a limit game may" in problem
        return
    spent = list(game.blinds)
    for action in actions:
        spent[action.position] += action.added
    # In a limit game whose short stack lowered the bet, calls get money back; such hands were told above.
    assert tuple(spent) == hand.betting.spent
    assert [(action.position, action.kind) for action in actions] == [
        (position, action.kind) for of_round in hand.betting.rounds for position, action in of_round
    ]


@pytest.mark.parametrize(
    ("spent", "ranks", "expected"),
    [
        ((10, 10), (3, 2), [Pot(20, (0,))]),
        ((10, 10), (3, 3), [Pot(20, (0, 1))]),
        ((10, 30), (3, 2), [Pot(20, (0,))]),
        ((5, 10), (None, 0), [Pot(10, (1,))]),
        ((5, 10, 10), (None, 2, 1), [Pot(25, (1,))]),
        ((100, 300, 200), (3, 1, 2), [Pot(300, (0,)), Pot(200, (2,))]),
        ((100, 300, 300), (3, 2, 2), [Pot(300, (0,)), Pot(400, (1, 2))]),
        ((100, 250, 300), (None, 2, 1), [Pot(600, (1,))]),
        ((100, 200, 300, 50), (9, 8, 7, None), [Pot(350, (0,)), Pot(200, (1,))]),
        ((0, 10, 10), (1, 3, 2), [Pot(20, (1,))]),
        ((0, 10, 10), (None, 3, 2), [Pot(20, (1,))]),
    ],
)
def test_pots(spent: tuple[int, ...], ranks: tuple[int | None, ...], expected: list[Pot]) -> None:
    assert pots(spent, ranks) == expected


@given(st.data())
def test_pots_pay_what_the_engine_says(data: st.DataObject) -> None:
    players = data.draw(st.integers(2, 10))
    spent = [data.draw(st.integers(0, 40)) for _ in range(players)]
    ranks = [data.draw(st.one_of(st.none(), st.integers(0, 4))) for _ in range(players)]
    # By the rules nobody folds who has put in the most.
    assume(any(ranks[p] is not None and spent[p] == max(spent) for p in range(players)))
    returned_to, returned = uncalled(spent)
    found = pots(spent, ranks)
    assert sum(pot.amount for pot in found) == sum(spent) - returned
    won = [-float(chips) for chips in spent]
    won[returned_to] += returned
    for pot in found:
        for position in pot.winners:
            won[position] += pot.amount / len(pot.winners)
    assert won == pytest.approx(showdown_values(spent, ranks), abs=1e-9)


def test_what_nobody_called() -> None:
    assert uncalled((10, 30, 20)) == (1, 10)
    assert uncalled((30, 30, 20)) == (0, 0)
    assert uncalled((5, 10)) == (1, 5)


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
        assert pots(hand.betting.spent, ranks) == pots(
            hand.betting.spent, hand_ranks(dataclasses.replace(hand, deal=hand.deal._replace(hole_cards=((),) * 3)))
        )


def test_values_are_held_against_the_pots() -> None:
    for hand in random_hands("nolimit3", 30):
        found = pots(hand.betting.spent, hand_ranks(hand))
        check_values(hand, found)
        wrong = (hand.values[0] + 1, hand.values[1] - 1, hand.values[2])
        with pytest.raises(LogsError, match=f"hand {hand.hand_number}: its values are not those of its cards"):
            check_values(dataclasses.replace(hand, values=wrong), found)
        assert hand.values == tuple(hand_values(hand.betting, hand.deal))


def test_an_action_is_told_by_its_fields() -> None:
    action = StreetAction(*told("limit", "f")[0])  # type: ignore[arg-type]
    assert (action.round, action.position, action.kind, action.to_call, action.is_all_in) == (0, 1, FOLD, 5, False)
