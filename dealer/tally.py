"""What a match amounts to while it runs: chips, intervals, faults. The live line and the result read it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from dealer.faults import Fault, MatchFailure
from dealer.observer import MatchObserver
from dealer.results import RunningMean
from engine import Game
from logs import HandRecord

__all__ = ["Tally"]

_QUOTED_BYTES = 120


class Tally(MatchObserver):
    """Counts a match.

    Attributes:
        hands: finished hands.
        mbb: by seat, the mean of the hands' values in thousandths of a big blind.
        chips: by seat, net chips.
        faults: by seat, how often each fault happened, by its name.
        first_faults: by seat, the first fault in words.
        used_us: by seat, time used.
    """

    def __init__(self, game: Game) -> None:
        players = game.num_players
        self._mbb_per_chip = 1000.0 / game.big_blind
        self.hands = 0
        self.mbb = [RunningMean() for _ in range(players)]
        self.chips = [0.0] * players
        self.faults: list[Counter[str]] = [Counter() for _ in range(players)]
        self.first_faults: list[str | None] = [None] * players
        self.used_us: list[int] = [0] * players

    def hand_finished(self, record: HandRecord) -> None:
        """Count the hand."""
        self.hands += 1
        for seat, value in zip(record.seats, record.values, strict=True):
            self.chips[seat] += value
            self.mbb[seat].add(value * self._mbb_per_chip)

    def hand_closed(self, hand_number: int, used_us: Sequence[int]) -> None:
        """Note the time used."""
        self.used_us = list(used_us)

    def fault(self, fault: Fault) -> None:
        """Count the fault and quote the first one."""
        seat = fault.seat
        self.faults[seat][fault.kind.value] += 1
        if self.first_faults[seat] is None:
            line = fault.line[:_QUOTED_BYTES].decode("latin-1").rstrip("\r\n")
            self.first_faults[seat] = f"{fault.kind.value} in hand {fault.hand_number}: {line!r}, {fault.remedy}"

    def match_failed(self, failure: MatchFailure, waited_us: int) -> None:
        """Count what ended the match."""
        if failure.seat is not None and failure.kind is not None:
            self.faults[failure.seat][failure.kind.value] += 1
            if self.first_faults[failure.seat] is None:
                self.first_faults[failure.seat] = f"{failure.kind.value} in hand {self.hands}"

    @property
    def fault_count(self) -> int:
        """All faults of all players."""
        return sum(counter.total() for counter in self.faults)
