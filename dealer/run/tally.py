"""What is counted of a match: while it is played, read again from its files, or on another machine."""

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


@dataclass(slots=True)
class ResponseTimes:
    """Times of answers in microseconds, equal when they hold the same counts."""

    count: int = 0
    total_us: int = 0
    _classes: Counter[int] = field(default_factory=Counter)

    def add(self, time_us: int) -> None:
        """Count one answer; a negative time counts as zero."""
        time_us = max(0, time_us)
        self.count += 1
        self.total_us += time_us
        shift = time_us.bit_length() - _EXACT_BITS
        self._classes[time_us if shift <= 0 else (shift << _EXACT_BITS) + (time_us >> shift)] += 1

    def include(self, others: ResponseTimes) -> None:
        """Add everything that another histogram holds."""
        self.count += others.count
        self.total_us += others.total_us
        self._classes.update(others._classes)

    def copy(self) -> ResponseTimes:
        """The same counts, which do not change with these."""
        return ResponseTimes(self.count, self.total_us, self._classes.copy())

    def since(self, earlier: ResponseTimes) -> ResponseTimes:
        """The answers that were counted since an earlier copy was made."""
        return ResponseTimes(
            self.count - earlier.count, self.total_us - earlier.total_us, self._classes - earlier._classes
        )

    def quantile_us(self, share: float) -> float | None:
        """The time that a given share of the answers did not exceed; None if there are no answers.

        Args:
            share: between 0 and 1, such as 0.5 for the median.
        """
        if not self.count:
            return None
        indices = sorted(self._classes)
        passed = list(accumulate(self._classes[index] for index in indices))
        return _middle_us(indices[min(bisect_left(passed, share * self.count), len(indices) - 1)])


def _middle_us(index: int) -> float:
    shift = index >> _EXACT_BITS
    if shift == 0:
        return float(index)
    return float((index & ((1 << _EXACT_BITS) - 1)) << shift) + ((1 << shift) - 1) / 2


class Tally(Watcher):
    """The counts of a match. By seat unless stated otherwise.

    Attributes:
        values: net chips by seat, hand after hand.
        faults: how often each fault happened, by its name.
        first_faults: the first fault of those that have one.
        restarts: how often a player was started, or awaited, again.
        absent: the seats whose players did not take part to the end.
        times: how long answers took.
        hands_before: the hands that an earlier run played.
        is_begun: whether the files of the match are there to be continued.
        is_closed: whether the match has ended with its score.
        started_s: when all players were there, on the monotonic clock; None before.
        exit_codes: of the processes that failed.
        questions: how often the dealer asked a player after an answer; overhead_ns: its own time in between.
        pauses: how often the dealer did not look at its sockets for a while; paused_ns: for how long altogether.
        other_versions: the seats whose players speak another version of the protocol.
        strays: how many connections were turned away, in all; latest_strays: the last of them.
        warnings: sentences about hands that were played again, or that a hand history cannot hold.
    """

    wants = frozenset({FaultSeen, StrayConnection, VersionDiffers, HandFinished, MatchStarted})

    def __init__(self, players: int) -> None:
        """Start at nothing."""
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
        """Finished hands, those of an earlier run included."""
        return len(self.values) // len(self.times)

    @property
    def chips(self) -> list[float]:
        """Net chips, added in the order in which the match adds them, so that the last digit is the same."""
        totals = [0.0] * len(self.times)
        for at, value in enumerate(self.values):
            totals[at % len(totals)] += value
        return totals

    @property
    def progress(self) -> EarlierHands:
        """For `Match` and `InProcessMatch`, which continue from there."""
        used_us = tuple(times.total_us for times in self.times)
        return EarlierHands(self.hands, tuple(self.chips), used_us, frozenset(self.absent))

    def without_values(self) -> Tally:
        """A shallow copy without values, which are sent only once."""
        counts = copy.copy(self)
        counts.values = array("d")
        return counts

    def include(self, values: array[float], counts: Tally) -> None:
        """Take new values, and the counts of the process that plays the match.

        Whether the match has ended with its score is decided here, not there.
        """
        self.values.extend(values)
        kept = {"values": self.values, "is_closed": self.is_closed}
        self.__dict__.update(vars(counts) | kept)

    @property
    def fault_count(self) -> int:
        """All faults of all players."""
        return sum(counter.total() for counter in self.faults)

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
        elif isinstance(event, MatchStarted):
            self.started_s = time.monotonic()

    def _count_hand(self, record: HandRecord) -> None:
        self.values.extend(value for _, value in sorted(zip(record.seats, record.values, strict=True)))
        answers = chain.from_iterable(record.betting.rounds)
        for (position, _), (sent_us, received_us) in zip(answers, record.times, strict=False):
            seat = record.seats[position]
            if seat not in self.absent:
                self.times[seat].add(received_us - sent_us)

    def count_fault(self, fault: Fault) -> None:
        """Count the fault and keep the first one."""
        seat = fault.seat
        if fault.is_final:
            self.absent.add(seat)
        if fault.remedy in (Remedy.RESTARTED, Remedy.AWAITED):
            self.restarts[seat] += 1
        self.faults[seat][fault.kind.value] += 1
        self.first_faults.setdefault(seat, fault)
