"""The seats of players, from the names that a log lists by position.

A log names the players of each hand by position and does not say which seat each has. Position p of hand n is in seat
(p + n) mod N, or in seat p if the match was played with fixed seats. Which of the two it is shows as soon as the button
has moved, so a seating first collects a few hands and then decides; damaged names among them are outvoted. From then on
each player is found by name, and where names are not distinct, by the hand number.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from engine import Seat

_MOST_COLLECTED: Final = 16
"""Hands after which the seats are decided in any case."""


class MatchSeats:
    """The seats of one match; the names by seat are empty until decided."""

    def __init__(self, num_players: int) -> None:
        self.names: tuple[str, ...] = ()
        self._num_players = num_players
        self._is_fixed = False
        self._collected: list[tuple[int, tuple[str, ...]]] = []
        self._by_offset = [
            tuple(Seat((position + offset) % num_players) for position in range(num_players))
            for offset in range(num_players)
        ]
        self._seats: dict[tuple[str, ...], tuple[Seat, ...]] = {}

    def collect(self, hand_number: int, names: tuple[str, ...]) -> bool:
        """Take a hand's names by position into account; returns whether the seats are decided now."""
        self._collected.append((hand_number, names))
        players, voters = self._majority()
        first_number, first_names = voters[0]
        if len(set(players)) == 1:
            self._decide(first_number, first_names, is_fixed=False)
        elif 2 * len(voters) > len(self._collected):
            moving, fixed = self._votes(voters)
            if moving != fixed or len(self._collected) >= _MOST_COLLECTED:
                self._decide(first_number, first_names, is_fixed=fixed > moving)
        return bool(self.names)

    def conclude(self, score_names: Sequence[str] = ()) -> None:
        """Decide with the hands collected; where they do not decide, the names of a score do, which are by seat."""
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
        """The seat of each position, once decided.

        Raises:
            ValueError: these are not the players of the match, or they sit in different seats; the sentence states it.
        """
        seats = self._seats.get(names)
        if seats is not None:
            return seats
        if sorted(names) != sorted(self.names):
            raise ValueError(f"the players are {' and '.join(names)}, those of the match {' and '.join(self.names)}")
        if len(set(names)) == len(names):
            by_name = {name: Seat(seat) for seat, name in enumerate(self.names)}
            seats = self._seats[names] = tuple([by_name[name] for name in names])
            return seats
        seats = self._by_offset[0 if self._is_fixed else hand_number % self._num_players]
        if tuple([self.names[seat] for seat in seats]) != names:
            raise ValueError(f"the players of hand {hand_number} are not in the order in which the button moves")
        return seats

    def _majority(self) -> tuple[tuple[str, ...], list[tuple[int, tuple[str, ...]]]]:
        counts = Counter(tuple(sorted(names)) for _, names in self._collected)
        players = counts.most_common(1)[0][0]
        return players, [(number, names) for number, names in self._collected if tuple(sorted(names)) == players]

    def _votes(self, hands: list[tuple[int, tuple[str, ...]]]) -> tuple[int, int]:
        """How many hands fit a moving button, and how many fixed seats, if the first of them sits right."""
        first_number, first = hands[0]
        players = self._num_players
        moving = sum(
            all(names[(p + first_number - number) % players] == first[p] for p in range(players))
            for number, names in hands
        )
        return moving, sum(names == first for _, names in hands)

    def _decide(self, number: int, names: tuple[str, ...], *, is_fixed: bool) -> None:
        self._is_fixed = is_fixed
        by_seat = dict(zip(self._by_offset[0 if is_fixed else number % self._num_players], names, strict=True))
        self.names = tuple([by_seat[Seat(seat)] for seat in range(self._num_players)])
        self._collected.clear()
