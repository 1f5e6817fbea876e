"""Counts of a match: hands, faults and response times.

A `Tally` is a watcher of its match. It is also filled from the files of an interrupted match (`dealer.run.recovery`)
and sent between processes and machines.
"""

from __future__ import annotations

import copy
import time
from array import array
from bisect import bisect_left
from collections import Counter, deque
from dataclasses import dataclass, field
from itertools import accumulate, chain

from dealer.match import EarlierHands
from dealer.match.events import Event, FaultSeen, HandFinished, MatchStarted, StrayConnection, VersionDiffers, Watcher
from dealer.match.faults import Fault, Remedy
from engine import Seat
from logs import HandRecord

_EXACT_BITS = 6
"""Times are rounded down to this many binary digits: an error of at most 3 %."""


@dataclass(slots=True)
class ResponseTimes:
    """Histogram of response times in microseconds."""

    count: int = 0
    total_us: int = 0
    _classes: Counter[int] = field(default_factory=Counter)

    def add(self, time_us: int) -> None:
        """Count a response; a negative time counts as zero."""
        time_us = max(0, time_us)
        self.count += 1
        self.total_us += time_us
        self._classes[_class_index(time_us)] += 1

    def include(self, times: ResponseTimes) -> None:
        """Add the counts of another histogram."""
        self.count += times.count
        self.total_us += times.total_us
        self._classes.update(times._classes)

    def copy(self) -> ResponseTimes:
        return ResponseTimes(self.count, self.total_us, self._classes.copy())

    def since(self, earlier: ResponseTimes) -> ResponseTimes:
        """Return the responses counted since an earlier copy was made."""
        return ResponseTimes(
            self.count - earlier.count, self.total_us - earlier.total_us, self._classes - earlier._classes
        )

    def quantile_us(self, share: float) -> float | None:
        """Return a quantile of the response times, or None without responses.

        Args:
            share: between 0 and 1, such as 0.5 for the median.
        """
        if not self.count:
            return None
        indices = sorted(self._classes)
        cumulative = list(accumulate(self._classes[index] for index in indices))
        # Rounding can push `share * count` above the last sum.
        place = min(bisect_left(cumulative, share * self.count), len(indices) - 1)
        return _middle_us(indices[place])


def _class_index(time_us: int) -> int:
    """Return the index of a time's class, which holds its leading digits and how many it lacks."""
    shift = time_us.bit_length() - _EXACT_BITS
    if shift <= 0:
        return time_us
    return (shift << _EXACT_BITS) + (time_us >> shift)


def _middle_us(index: int) -> float:
    """Return the middle of the times of a class."""
    shift = index >> _EXACT_BITS
    if shift == 0:
        return float(index)
    leading = index & ((1 << _EXACT_BITS) - 1)
    width_us = 1 << shift
    return float(leading << shift) + (width_us - 1) / 2


class Tally(Watcher):
    """Counts of a match. Lists and dictionaries are by seat unless stated otherwise.

    Attributes:
        values: net chips by seat, hand after hand.
        faults: number of faults by kind.
        first_faults: first fault of each player that has one.
        restarts: number of times that a player was restarted, or its client awaited again.
        absent: seats whose players did not take part to the end.
        times: response times.
        hands_before: hands played by an earlier run.
        is_begun: the match has files that can be continued.
        is_closed: the match has ended with its score.
        started_s: time when all players were connected, on the monotonic clock, or None.
        exit_codes: exit codes of processes that failed.
        questions: number of questions sent after a reply.
        overhead_ns: the dealer's own time between these replies and questions.
        pauses: number of times when the dealer did not read its sockets for a while.
        paused_ns: total length of the pauses.
        other_versions: seats whose players speak another version of the protocol.
        strays: number of refused connections.
        latest_strays: the latest of them.
        warnings: sentences about replayed hands, and about hands that a hand history cannot represent.
    """

    wants = frozenset({FaultSeen, StrayConnection, VersionDiffers, HandFinished, MatchStarted})

    def __init__(self, players: int) -> None:
        self.values = array("d")
        self.faults: list[Counter[str]] = [Counter() for _ in range(players)]
        self.first_faults: dict[Seat, Fault] = {}
        self.restarts = [0] * players
        self.absent: set[Seat] = set()
        self.times = [ResponseTimes() for _ in range(players)]
        self.hands_before = 0
        self.is_begun = self.is_closed = False
        self.started_s: float | None = None
        self.exit_codes: dict[Seat, int] = {}
        self.questions = 0
        self.overhead_ns = 0
        self.pauses = 0
        self.paused_ns = 0
        self.other_versions: set[Seat] = set()
        self.strays = 0
        self.latest_strays: deque[StrayConnection] = deque(maxlen=8)
        self.warnings: list[str] = []

    @property
    def hands(self) -> int:
        """Number of finished hands, including those of an earlier run."""
        return len(self.values) // len(self.times)

    @property
    def chips(self) -> list[float]:
        """Net chips of all finished hands."""
        players = len(self.times)
        totals = [0.0] * players
        # Same order of additions as the match: the sums must agree to the last bit with its score line.
        for index, value in enumerate(self.values):
            totals[index % players] += value
        return totals

    @property
    def progress(self) -> EarlierHands:
        """State from which `Match` and `InProcessMatch` continue."""
        used_us = tuple(times.total_us for times in self.times)
        return EarlierHands(self.hands, tuple(self.chips), used_us, frozenset(self.absent))

    def without_values(self) -> Tally:
        """Return a shallow copy without values, because each value is sent only once."""
        counts = copy.copy(self)
        counts.values = array("d")
        return counts

    def include(self, values: array[float], counts: Tally) -> None:
        """Add new values, and replace the counts by those of the process that plays the match."""
        self.values.extend(values)
        # Only the process of the run knows whether the match is closed.
        kept = {"values": self.values, "is_closed": self.is_closed}
        self.__dict__.update(vars(counts) | kept)

    @property
    def fault_count(self) -> int:
        """Number of faults of all players."""
        return sum(counter.total() for counter in self.faults)

    def notice(self, event: Event) -> None:
        if isinstance(event, HandFinished):
            self._count_hand(event.record)
        elif isinstance(event, FaultSeen):
            self.count_fault(event.fault)
        elif isinstance(event, VersionDiffers):
            self.other_versions.add(event.seat)
        elif isinstance(event, StrayConnection):
            self.strays += 1
            self.latest_strays.append(event)
        elif isinstance(event, MatchStarted):
            self.started_s = time.monotonic()

    def _count_hand(self, record: HandRecord) -> None:
        # A record is by position, the tally by seat.
        self.values.extend(value for _, value in sorted(zip(record.seats, record.values, strict=True)))
        answers = chain.from_iterable(record.betting.rounds)
        for (position, _), (sent_us, received_us) in zip(answers, record.times, strict=False):
            seat = record.seats[position]
            if seat not in self.absent:
                self.times[seat].add(received_us - sent_us)

    def count_fault(self, fault: Fault) -> None:
        """Count a fault. Faults of an earlier run come from its files."""
        seat = fault.seat
        if fault.is_final:
            self.absent.add(seat)
        if fault.remedy in (Remedy.RESTARTED, Remedy.AWAITED):
            self.restarts[seat] += 1
        self.faults[seat][fault.kind.value] += 1
        self.first_faults.setdefault(seat, fault)
