"""What a match amounts to while it runs: chips, faults, times. The live line and the result read it."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Sequence

from dealer.match.events import Event, FaultSeen, HandFinished, StrayConnection, VersionDiffers, Watcher
from dealer.match.faults import Fault, FaultKind, Remedy
from dealer.run.record import ResponseTimes
from dealer.run.resume import RecoveredMatch
from engine import Game, Seat
from logs import HandRecord


class Tally(Watcher):
    """Counts a match. By seat unless stated otherwise.

    Attributes:
        faults: how often each fault happened, by its name.
        first_faults: the first fault, if there was one.
        restarts: how often a player was started, or awaited, again.
        other_versions: the seats whose players speak another version of the protocol.
        strays: how many connections were turned away, in all; latest_strays: the last of them.
    """

    wants = frozenset({FaultSeen, StrayConnection, VersionDiffers, HandFinished})

    def __init__(self, game: Game, on_values: Callable[[Sequence[float]], None] | None = None) -> None:
        """Start at nothing.

        Args:
            on_values: gets the net chips by seat of every hand that ends.
        """
        players = game.num_players
        self._on_values = on_values
        self.hands = 0
        self.chips = [0.0] * players
        self.faults: list[Counter[str]] = [Counter() for _ in range(players)]
        self.first_faults: list[Fault | None] = [None] * players
        self.restarts = [0] * players
        self.times = [ResponseTimes() for _ in range(players)]
        self.other_versions: set[int] = set()
        self.strays = 0
        self.latest_strays: deque[StrayConnection] = deque(maxlen=8)
        self._gone: set[int] = set()

    def restore(self, recovered: RecoveredMatch) -> None:
        """Start at what an interrupted match had come to."""
        progress = recovered.progress
        self.hands = progress.hands
        self.chips = list(progress.totals)
        for times, earlier in zip(self.times, recovered.times, strict=True):
            times.include(earlier)
        for fault in recovered.faults:
            self.count_fault(fault)

    def detach(self) -> None:
        """Report values no more: then it is a value itself, which can be pickled."""
        self._on_values = None

    def notice(self, event: Event) -> None:
        """Count the hand or the fault."""
        if isinstance(event, HandFinished):
            self._count_hand(event.record)
        elif isinstance(event, FaultSeen):
            self.count_fault(event.fault)
        elif isinstance(event, VersionDiffers):
            self.other_versions.add(event.seat)
        elif isinstance(event, StrayConnection):
            self.strays += 1
            self.latest_strays.append(event)

    def _count_hand(self, record: HandRecord) -> None:
        self.hands += 1
        seats, times = record.seats, record.times
        values = [0.0] * len(seats)
        for seat, value in zip(seats, record.values, strict=True):
            values[seat] = value
            self.chips[seat] += value
        if times:
            at = 0
            for actions in record.betting.rounds:
                for position, _ in actions:
                    sent_us, received_us = times[at]
                    seat = seats[position]
                    if seat not in self._gone:
                        self.times[seat].add(received_us - sent_us)
                    at += 1
        if self._on_values is not None:
            self._on_values(values)

    def count_fault(self, fault: Fault) -> None:
        """Count the fault and keep the first one."""
        seat = fault.seat
        if fault.is_final:
            self._gone.add(seat)
        if fault.remedy in (Remedy.RESTARTED, Remedy.AWAITED):
            self.restarts[seat] += 1
        self.faults[seat][fault.kind.value] += 1
        if self.first_faults[seat] is None:
            self.first_faults[seat] = fault

    @property
    def absent(self) -> frozenset[Seat]:
        """The seats whose players did not take part to the end."""
        return frozenset(Seat(seat) for seat in self._gone)

    @property
    def fault_count(self) -> int:
        """All faults of all players."""
        return sum(counter.total() for counter in self.faults)

    @property
    def timeouts(self) -> int:
        """All timeouts of all players."""
        return sum(counter[FaultKind.TIMEOUT.value] for counter in self.faults)
