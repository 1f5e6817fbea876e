"""A slice of a match: some of its hands, played by bots of its own in a worker process.

`play_step` is the task of a worker. It plays the slice on for a moment and returns the events in order, as the match
would have sent them to its watchers. The process keeps the slice, so that its bots play from its first hand to its
last; in a process that has lost it, it begins again where its events end.
"""

from __future__ import annotations

import contextlib
import pickle
import time
from typing import Final, NamedTuple

from bots.errors import SpecError, in_one_line
from bots.sdk.registry import parse_spec
from dealer.errors import PlayerError
from dealer.match.events import BotWrote, Event, FaultSeen, HandClosed, MatchEnded, MatchStarted, Watcher
from dealer.match.setup import EarlierHands
from dealer.run.bot_match import BotMatch
from dealer.run.contest_plan import ContestPlan, MatchPlan

_STEP_S: Final = 0.05
"""How long a step takes, about: as long as the live line and an interrupt wait for it."""
NEEDED: Final = frozenset({BotWrote, FaultSeen, HandClosed, MatchEnded, MatchStarted})
"""Events that the process with the files needs of every slice."""


class SliceTask(NamedTuple):
    """A slice to be played.

    Attributes:
        progress: the hands before it, those of an earlier run included.
        end: how many hands of the match are played after it.
        wants: the events to return.
    """

    plan: ContestPlan
    match_plan: MatchPlan
    progress: EarlierHands
    end: int
    wants: frozenset[type]


class StepReport(NamedTuple):
    """What a step of a slice has played.

    Attributes:
        events: in order.
        hands: of the match, played so far.
        is_over: whether the slice is, as it has been played or the match has failed.
        is_lost: whether this process does not have the slice, and needs the task.
        dropped_comments: of a slice that is over, how many were left out.
    """

    events: list[Event]
    hands: int = 0
    is_over: bool = False
    is_lost: bool = False
    dropped_comments: int = 0


class _Collector(Watcher):
    def __init__(self, wants: frozenset[type]) -> None:
        self.wants = wants | NEEDED
        self.events: list[Event] = []

    def notice(self, event: Event) -> None:
        self.events.append(event)

    def take(self) -> list[Event]:
        events, self.events = self.events, []
        return events


class _OpenSlice:
    def __init__(self, task: SliceTask) -> None:
        self._end = task.end
        self._hands = task.plan.setup_of(task.match_plan).hands
        self._collector = _Collector(task.wants)
        # What modules print when they are imported is not of a match: with one worker they have been before.
        for player in task.plan.players:
            if player.source is None:
                with contextlib.suppress(SpecError):
                    parse_spec(player.text, player.directory)
        self._bots = BotMatch(task.plan, task.match_plan, [self._collector], task.progress, is_echoed=False)

    def step(self) -> StepReport:
        match = self._bots.match
        assert match is not None
        until_s, at_a_time = time.monotonic() + _STEP_S, 1
        # A bot that failed at the end of a hand is lost in the next, which is therefore of the same slice.
        while not (is_over := self._is_over) and time.monotonic() < until_s:
            self._bots.play(min(max(self._end, match.hands_played + 1), match.hands_played + at_a_time))
            at_a_time *= 2
        if is_over:
            self._bots.close()
        dropped = match.dropped_comments if is_over else 0
        return StepReport(self._collector.take(), match.hands_played, is_over, dropped_comments=dropped)

    @property
    def _is_over(self) -> bool:
        match = self._bots.match
        if match is None or match.failure is not None or match.hands_played >= self._hands:
            return True
        return match.hands_played >= self._end and not match.has_late_failure

    def close(self) -> list[Event]:
        self._bots.close()
        return self._collector.take()


_open: Final[dict[str, _OpenSlice]] = {}


def play_step(key: str, packed: bytes | None) -> StepReport:
    """Play a slice on.

    Args:
        key: a name that no other slice has.
        packed: its `SliceTask`, for a process that does not have it yet.

    Raises:
        PlayerError: a bot cannot be had in this process.
    """
    if key not in _open:
        if packed is None:
            return StepReport([], is_lost=True)
        try:
            task: SliceTask = pickle.loads(packed)
        except Exception as error:
            raise PlayerError(f"a bot cannot be taken to a worker process: {in_one_line(error)}") from None
        _open[key] = _OpenSlice(task)
    try:
        report = _open[key].step()
    except BaseException:
        del _open[key]
        raise
    if report.is_over:
        del _open[key]
    return report


def close_slice(key: str) -> list[Event]:
    """Notify the bots of a slice that it is over; returns what they write then."""
    known = _open.pop(key, None)
    return [] if known is None else known.close()
