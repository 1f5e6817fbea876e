"""Main pot and side pots."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from engine.hand import showdown_values, side_pots, uncalled


def folded_of(ranks: Sequence[int | None]) -> int:
    return sum(1 << position for position, rank in enumerate(ranks) if rank is None)


@pytest.mark.parametrize(
    ("spent", "folded", "pots"),
    [
        pytest.param((100, 40), 0, {(0, 1): 80}, id="what nobody called is in no pot"),
        pytest.param((100, 40, 100), 0, {(0, 1, 2): 120, (0, 2): 120}, id="a side pot"),
        pytest.param((50, 100, 20, 0), 0b0100, {(0, 1): 120}, id="folded chips, and a player without any"),
        pytest.param((100, 50, 50), 0b001, {(1, 2): 150}, id="folded chips above every bet"),
        pytest.param((100, 100, 50), 0b001, {(1, 2): 150, (1,): 100}, id="folded chips called by one player"),
        pytest.param((0, 0), 0, {}, id="nobody put in a chip"),
    ],
)
def test_players_and_amounts_of_pots(spent: tuple[int, ...], folded: int, pots: dict[tuple[int, ...], int]) -> None:
    assert {pot.players: pot.amount for pot in side_pots(spent, folded)} == pots


@given(st.data())
def test_pots_pay_what_the_engine_says(data: st.DataObject) -> None:
    players = data.draw(st.integers(2, 10))
    spent = [data.draw(st.integers(0, 40)) for _ in range(players)]
    ranks = [data.draw(st.one_of(st.none(), st.integers(0, 4))) for _ in range(players)]
    # By the rules, the player with the most chips in the pot does not fold.
    assume(any(ranks[p] is not None and spent[p] == max(spent) for p in range(players)))
    returned_to, returned = uncalled(spent)
    pots_by_size = side_pots(spent, folded_of(ranks))
    assert sum(pot.amount for pot in pots_by_size) == sum(spent) - returned
    won = [-float(chips) for chips in spent]
    won[returned_to] += returned
    for pot in pots_by_size:
        winners = pot.winners(ranks)
        for position in winners:
            won[position] += pot.amount / len(winners)
    assert won == pytest.approx(showdown_values(spent, ranks), abs=1e-9)


def test_uncalled_chips_return_to_the_largest_bet() -> None:
    assert uncalled((10, 30, 20)) == (1, 10)
    assert uncalled((30, 30, 20)) == (0, 0)
    assert uncalled((5, 10)) == (1, 5)
