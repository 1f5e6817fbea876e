"""Derive the seats of players from the names that a log lists by position.

Position p of hand n is in seat (p + n) mod N, or in seat p if the match was played with fixed seats. A log does not say
which, but it shows as soon as the button has moved. So a seating first collects a few hands and then decides; damaged
names among them are outvoted. From then on each player is found by name, or by the hand number if names are not
distinct.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from engine import Seat

_MAX_COLLECTED: Final = 16
"""Hands after which the seats are decided in any case."""


class MatchSeats:
    """Seats of one match.

    Attributes:
        names: players by seat; empty until the seats are decided.
    """

    def __init__(self, num_players: int) -> None:
        self.names: tuple[str, ...] = ()
        self._num_players = num_players
        self._is_fixed = False
        self._collected: list[tuple[int, tuple[str, ...]]] = []
        self._by_offset: list[tuple[Seat, ...]] = []
        for offset in range(num_players):
            seats = tuple([Seat((position + offset) % num_players) for position in range(num_players)])
            self._by_offset.append(seats)
        self._seats: dict[tuple[str, ...], tuple[Seat, ...]] = {}

    def collect(self, hand_number: int, names: tuple[str, ...]) -> bool:
        """Count a hand's names by position; return whether the seats are decided now."""
        self._collected.append((hand_number, names))
        players, voters = self._majority()
        first_number, first_names = voters[0]
        if len(set(players)) == 1:
            self._decide(first_number, first_names, is_fixed=False)
        elif 2 * len(voters) > len(self._collected):
            moving, fixed = self._votes(voters)
            if moving != fixed or len(self._collected) >= _MAX_COLLECTED:
                self._decide(first_number, first_names, is_fixed=fixed > moving)
        return bool(self.names)

    def conclude(self, score_names: Sequence[str] = ()) -> None:
        """Decide with the hands collected, or with the names of a score, which are by seat, if these do not decide."""
        if self.names or not self._collected:
            return
        _, voters = self._majority()
        number, names = voters[0]
        moving, fixed = self._votes(voters)
        if moving == fixed and sorted(score_names) == sorted(names):
            self._decide(number, names, is_fixed=tuple(score_names) == names)
        else:
            self._decide(number, names, is_fixed=fixed > moving)

    def seats(self, hand_number: int, names: tuple[str, ...]) -> tuple[Seat, ...]:
        """Return the seat of each position, once decided.

        Raises:
            ValueError: these are not the players of the match, or they are in different seats.
        """
        seats = self._seats.get(names)
        if seats is not None:
            return seats
        if sorted(names) != sorted(self.names):
            raise ValueError(f"the players are {' and '.join(names)}, those of the match {' and '.join(self.names)}")
        if len(set(names)) == len(names):
            by_name = {name: Seat(seat) for seat, name in enumerate(self.names)}
            seats = tuple([by_name[name] for name in names])
            self._seats[names] = seats
            return seats
        seats = self._seats_by_number(hand_number, is_fixed=self._is_fixed)
        if tuple([self.names[seat] for seat in seats]) != names:
            raise ValueError(f"the players of hand {hand_number} are not in the order in which the button moves")
        return seats

    def _majority(self) -> tuple[tuple[str, ...], list[tuple[int, tuple[str, ...]]]]:
        """Return the sorted names that most of the hands collected have, and these hands."""
        counts = Counter(tuple(sorted(names)) for _, names in self._collected)
        players = counts.most_common(1)[0][0]
        hands = [(number, names) for number, names in self._collected if tuple(sorted(names)) == players]
        return players, hands

    def _votes(self, hands: list[tuple[int, tuple[str, ...]]]) -> tuple[int, int]:
        """Count the hands that fit a moving button, and those that fit fixed seats, given the names of the first."""
        first_number, first_names = hands[0]
        moving = 0
        fixed = 0
        for number, names in hands:
            offset = (first_number - number) % self._num_players
            moving += names[offset:] + names[:offset] == first_names
            fixed += names == first_names
        return moving, fixed

    def _decide(self, number: int, names: tuple[str, ...], *, is_fixed: bool) -> None:
        self._is_fixed = is_fixed
        seats = self._seats_by_number(number, is_fixed=is_fixed)
        name_by_seat = dict(zip(seats, names, strict=True))
        self.names = tuple([name_by_seat[Seat(seat)] for seat in range(self._num_players)])
        self._collected.clear()

    def _seats_by_number(self, hand_number: int, *, is_fixed: bool) -> tuple[Seat, ...]:
        offset = 0
        if not is_fixed:
            offset = hand_number % self._num_players
        return self._by_offset[offset]
