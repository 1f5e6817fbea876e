"""Seats of players inferred from the hands of a log."""

from __future__ import annotations

import itertools

import pytest

from logs.acpc_log.seating import MatchSeats

ABC = ("A", "B", "C")


def at_positions(names: tuple[str, ...], number: int) -> tuple[str, ...]:
    """Return the names in the order in which hand `number` lists them when the button moves."""
    return tuple(names[(position + number) % len(names)] for position in range(len(names)))


@pytest.mark.parametrize("first", [0, 1, 2, 3, 1000])
def test_a_moving_button_shows_with_the_second_hand(first: int) -> None:
    seating = MatchSeats(3)
    assert not seating.collect(first, at_positions(ABC, first))
    assert seating.collect(first + 1, at_positions(ABC, first + 1))
    assert seating.names == ABC
    for number in range(7):
        assert seating.seats(number, at_positions(ABC, number)) == tuple((p + number) % 3 for p in range(3))


@pytest.mark.parametrize("first", [0, 1, 2, 3, 1000])
def test_fixed_seats_show_with_the_second_hand(first: int) -> None:
    seating = MatchSeats(3)
    assert not seating.collect(first, ABC)
    assert seating.collect(first + 1, ABC)
    assert seating.names == ABC
    assert seating.seats(first + 5, ABC) == (0, 1, 2)


def test_after_some_hands_the_button_is_taken_to_move() -> None:
    seating = MatchSeats(2)
    decided = [seating.collect(2 * i + 1, ("B", "A")) for i in range(16)]
    assert decided == [False] * 15 + [True]
    assert seating.names == ("A", "B")


def test_players_in_no_order_at_all_are_seated_by_their_names() -> None:
    seating = MatchSeats(3)
    orders = list(itertools.permutations(ABC))
    for number in range(16):
        if seating.collect(number, orders[number * 5 % 6]):
            break
    assert sorted(seating.names) == ["A", "B", "C"]
    for order in orders:
        assert tuple(seating.names[seat] for seat in seating.seats(0, order)) == order


def test_equal_names_in_the_wrong_order_are_refused() -> None:
    seating = MatchSeats(3)
    names = ("x", "y", "x")
    seating.collect(0, names)
    assert seating.collect(1, at_positions(names, 1))
    assert seating.seats(2, at_positions(names, 2)) == (2, 0, 1)
    with pytest.raises(ValueError, match="hand 2 are not in the order in which the button moves"):
        seating.seats(2, names)


def test_one_damaged_hand_is_outvoted() -> None:
    for damaged in range(3):
        seating = MatchSeats(2)
        for number in range(16):
            names = ("A", "X") if number == damaged else at_positions(("A", "B"), number)
            if seating.collect(number, names):
                break
        assert seating.names == ("A", "B")


def test_the_score_decides_where_hands_do_not() -> None:
    for score, names in (
        (("A", "B"), ("A", "B")),
        (("B", "A"), ("B", "A")),
        (("X", "Y"), ("A", "B")),
        ((), ("A", "B")),
    ):
        seating = MatchSeats(2)
        seating.collect(1, ("B", "A"))
        seating.conclude(score)
        assert seating.names == names
