"""Slices of matches in a worker process.

A slice is a range of the hands of a match, played by bots of its own. `play_step`, the task of a worker, plays it for a
moment and returns its events in order. The process keeps the slice between steps, so that the same bots play all its
hands. A restarted process creates the slice again, from the hand after its last event.
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
"""Duration of a step, for which the live line and an interrupt have to wait."""
_NEEDED: Final = frozenset({BotWrote, FaultSeen, HandClosed, MatchEnded, MatchStarted})
"""Types of events that `SlicedRun` needs, whatever its watchers want."""


class SliceTask(NamedTuple):
    """Slice to play.

    Attributes:
        progress: state of the match before the slice.
        end: number of finished hands of the match after the slice.
        wants: types of events to return.
    """

    plan: ContestPlan
    match_plan: MatchPlan
    progress: EarlierHands
    end: int
    wants: frozenset[type]


class StepReport(NamedTuple):
    """Result of a step of a slice.

    Attributes:
        events: events of the step, in order.
        hands: number of finished hands of the match.
        is_over: the slice is finished, or the match has failed.
        is_lost: this process does not have the slice and needs its task.
        dropped_comments: number of comments left out; counted at the end of the slice.
    """

    events: list[Event]
    hands: int = 0
    is_over: bool = False
    is_lost: bool = False
    dropped_comments: int = 0


class _Collector(Watcher):
    def __init__(self, wants: frozenset[type]) -> None:
        self.wants = wants | _NEEDED
        self.events: list[Event] = []

    def notice(self, event: Event) -> None:
        self.events.append(event)

    def take(self) -> list[Event]:
        events = self.events
        self.events = []
        return events


class _OpenSlice:
    def __init__(self, task: SliceTask) -> None:
        self._end = task.end
        self._hands = task.plan.setup_of(task.match_plan).hands
        self._collector = _Collector(task.wants)
        # Import the bots' modules first. What they print then belongs to no match, as in a run with one worker.
        for player in task.plan.players:
            if player.source is None:
                with contextlib.suppress(SpecError):
                    parse_spec(player.text, player.directory)
        self._bots = BotMatch(task.plan, task.match_plan, [self._collector], task.progress, is_echoed=False)

    def step(self) -> StepReport:
        match = self._bots.match
        assert match is not None
        until_s = time.monotonic() + _STEP_S
        at_a_time = 1
        while not self._is_over and time.monotonic() < until_s:
            # One hand beyond the end, if a bot failed at the end of the last hand: the fault counts in the next one.
            last = max(self._end, match.hands_played + 1)
            self._bots.play(min(last, match.hands_played + at_a_time))
            at_a_time *= 2
        if not self._is_over:
            return StepReport(self._collector.take(), match.hands_played)
        self._bots.close()
        return StepReport(
            self._collector.take(), match.hands_played, is_over=True, dropped_comments=match.dropped_comments
        )

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
    """Play a step of a slice.

    Args:
        key: unique name of the slice.
        packed: pickled `SliceTask`, for a process that does not have the slice yet.

    Raises:
        PlayerError: a bot is unavailable in this process.
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
    # Its match may be in the middle of a hand, and cannot continue there.
    except BaseException:
        del _open[key]
        raise
    if report.is_over:
        del _open[key]
    return report


def close_slice(key: str) -> list[Event]:
    """Notify the bots of a slice that it is over; return the events of their last output."""
    slice_ = _open.pop(key, None)
    return [] if slice_ is None else slice_.close()
