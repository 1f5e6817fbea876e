"""Scenes of hands, from the states that a dealer sends."""

from __future__ import annotations

from collections.abc import Sequence

from dealer.person.seat import HumanSeat, Scene
from engine import Seat
from protocol import find_game

NAMES = ("Ann", "Bob", "Cid", "Dan", "Eve", "Fay", "Gus", "Hal", "Ida", "Joe")


def seat_in(game: str, *, seat: int = 0, names: Sequence[str] = NAMES, **options: object) -> HumanSeat:
    """Create a person's seat that has sent its version."""
    rules = find_game(game)[1]
    human_seat = HumanSeat(rules, names[: rules.num_players], Seat(seat), **options)  # type: ignore[arg-type]
    assert human_seat.open() == b"VERSION:2.0.0\r\n"
    return human_seat


def scene_of(game: str, *states: str, seat: int = 0, names: Sequence[str] = NAMES) -> Scene:
    """Return the last scene of a seat that receives these states."""
    human_seat = seat_in(game, seat=seat, names=names)
    data = "".join(f"MATCHSTATE:{state}\r\n" for state in states).encode()
    return list(human_seat.receive_data(data))[-1]
