"""Scenes of hands, made of the states that a dealer sends."""

from __future__ import annotations

from collections.abc import Sequence

from dealer.person.seat import HumanSeat, Scene
from engine import Seat
from protocol import find_game

NAMES = ("Ann", "Bob", "Cid", "Dan", "Eve", "Fay", "Gus", "Hal", "Ida", "Joe")


def seat_in(game: str, *, seat: int = 0, names: Sequence[str] = NAMES, **options: object) -> HumanSeat:
    """A person's seat that has opened its conversation."""
    rules = find_game(game)[1]
    found = HumanSeat(rules, names[: rules.num_players], Seat(seat), **options)  # type: ignore[arg-type]
    assert found.open() == b"VERSION:2.0.0\r\n"
    return found


def scene_of(game: str, *states: str, seat: int = 0, names: Sequence[str] = NAMES) -> Scene:
    """The last scene of states told one after the other."""
    found = seat_in(game, seat=seat, names=names)
    data = "".join(f"MATCHSTATE:{state}\r\n" for state in states).encode()
    return list(found.receive_data(data))[-1]
