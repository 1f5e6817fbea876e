"""Who watches a match: logs, transcripts, live lines, results.

A match tells its observers what happens, in order; an observer never answers. Observers raise only `OSError` (a full
disk), which ends that match with one sentence.
"""

from __future__ import annotations

from collections.abc import Sequence

from dealer.match.causes import Cause
from dealer.match.faults import Fault
from engine import Action, Seat
from logs import HandRecord

__all__ = ["MatchObserver", "Observers"]


class MatchObserver:
    """Sees everything, does nothing: override what you want to know. Times are microseconds of Unix time."""

    wants_lines = False
    """Whether `line_sent`, `line_received` and `settled` are called; a match without such observers is faster."""

    wants_actions = False
    """Whether `action_played` is called."""

    def match_started(self, at_us: int) -> None:
        """All players are there and have named their versions."""

    def line_sent(self, seat: Seat, at_us: int, line: bytes) -> None:
        """A state was sent to a player."""

    def line_received(self, seat: Seat, at_us: int, line: bytes) -> None:
        """A line of the player to act was read."""

    def fault(self, fault: Fault) -> None:
        """A player did something wrong. What ends his part is told too, where the match goes on without him."""

    def warning(self, sentence: str) -> None:
        """The sentence the reference prints about what just happened."""

    def action_played(self, action: Action, hand_number: int, sent_us: int, received_us: int) -> None:
        """An action is about to be applied."""

    def hand_finished(self, record: HandRecord) -> None:
        """A hand is over; its final states have not been sent yet."""

    def hand_closed(self, hand_number: int, used_us: Sequence[int]) -> None:
        """The final states were sent; `used_us` is the time each seat has used in the match."""

    def settled(self) -> None:
        """The match waits for a player: the moment to show what has been collected."""

    def match_finished(self, last_asked_us: int, totals: Sequence[float]) -> None:
        """The last hand is over; totals are by seat."""

    def match_failed(self, cause: Cause, waited_us: int) -> None:
        """The match ended early; `waited_us` is how long the player to act had been waited for."""


class Observers(MatchObserver):
    """Several observers as one, told in the order given."""

    def __init__(self, observers: Sequence[MatchObserver]) -> None:
        self._observers = tuple(observers)
        self.wants_lines = any(observer.wants_lines for observer in observers)
        self.wants_actions = any(observer.wants_actions for observer in observers)

    def match_started(self, at_us: int) -> None:
        """Pass on."""
        for observer in self._observers:
            observer.match_started(at_us)

    def line_sent(self, seat: Seat, at_us: int, line: bytes) -> None:
        """Pass on."""
        for observer in self._observers:
            observer.line_sent(seat, at_us, line)

    def line_received(self, seat: Seat, at_us: int, line: bytes) -> None:
        """Pass on."""
        for observer in self._observers:
            observer.line_received(seat, at_us, line)

    def fault(self, fault: Fault) -> None:
        """Pass on."""
        for observer in self._observers:
            observer.fault(fault)

    def warning(self, sentence: str) -> None:
        """Pass on."""
        for observer in self._observers:
            observer.warning(sentence)

    def action_played(self, action: Action, hand_number: int, sent_us: int, received_us: int) -> None:
        """Pass on."""
        for observer in self._observers:
            observer.action_played(action, hand_number, sent_us, received_us)

    def hand_finished(self, record: HandRecord) -> None:
        """Pass on."""
        for observer in self._observers:
            observer.hand_finished(record)

    def hand_closed(self, hand_number: int, used_us: Sequence[int]) -> None:
        """Pass on."""
        for observer in self._observers:
            observer.hand_closed(hand_number, used_us)

    def settled(self) -> None:
        """Pass on."""
        for observer in self._observers:
            observer.settled()

    def match_finished(self, last_asked_us: int, totals: Sequence[float]) -> None:
        """Pass on."""
        for observer in self._observers:
            observer.match_finished(last_asked_us, totals)

    def match_failed(self, cause: Cause, waited_us: int) -> None:
        """Pass on."""
        for observer in self._observers:
            observer.match_failed(cause, waited_us)
