"""Session of a person at a table, in an event loop.

A session plays a run and waits for the person, whether or not a terminal or a page shows it. A stopped session is
continued by another one with the same folder, whose file ``seat.json`` has the person's actions of the current hand.

The dealer may be ahead of the person, so `SeatMoments` queues scenes. A moment is named by the number of the hand and
of the actions so far, as in ``12.3``. An answer that names an earlier moment changes nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, Protocol, TypeAlias

from pydantic import TypeAdapter

from bots.errors import BotsError, StaleEntry
from dealer.errors import DealerError
from dealer.match.events import FaultSeen, HandFinished, SeatOpened
from dealer.person.entries import read_entry
from dealer.person.seat import HumanSeat, Scene, in_words
from dealer.person.table_settings import SEAT
from dealer.run.contest import MatchEvent
from dealer.run.ending import AwaitedPlayer
from dealer.run.results import ContestResult
from dealer.run.results.result_sentences import fault_phrase
from dealer.run.run import Compute, Run
from dealer.run.tournament_run import Progress
from dealer.table.links import OpenSeat, PlayerLink
from dealer.table.loop import Changes
from engine import Action, Game, Seat
from logs import HandRecord
from logs.errors import LogError
from logs.hand_source import find
from logs.hand_view import Acted, hand_events
from logs.whole_file import write_whole
from protocol.actions import scan_action
from protocol.match_state import betting_text

_MAX_NOTES: Final = 20


class PlayerCaller(Protocol):
    """Calls the remote players of a run to their seats."""

    def see(self, event: MatchEvent) -> None:
        """Receive an event of the run."""

    def note(self, progress: Progress) -> None:
        """Receive the progress of the run."""


_MAX_ANSWERS: Final = 16
"""Latest answers that are kept, to recognise one that is sent twice."""


Played: TypeAlias = tuple[int, str]
"""Number of a hand, and its betting after the person's last action in the notation of the protocol."""


class SeatMoments:
    """Sequence of the scenes that a person sees.

    Attributes:
        scene: the current scene; None before the first hand.
        played: the last hand in which the person acted, with its betting; None before.
    """

    def __init__(self, played: Played | None = None) -> None:
        self.scene: Scene | None = None
        self.played = played
        self._queue: deque[Scene] = deque()
        self._is_answered = False
        self._answers: dict[str, str] = {}

    @property
    def name(self) -> str:
        """Name of the current moment; empty before the first hand."""
        scene = self.scene
        if scene is None:
            return ""
        actions = sum(map(len, scene.betting.rounds))
        return f"{scene.hand_number}.{actions}"

    @property
    def is_asked(self) -> bool:
        """The match waits for the person to act or to continue with the next hand."""
        scene = self.scene
        return scene is not None and not self._is_answered and (scene.is_your_turn or scene.finished)

    def see(self, scene: Scene) -> Action | None:
        """Add a scene; return the person's action if it was played before a break."""
        action = None
        if scene.is_your_turn:
            # The same action again, so that no decision is made twice with more knowledge.
            action = self._find_played(scene)
        if action is None:
            self._queue.append(scene)
            self._advance()
        return action

    def answer(self, name: str, entry: str) -> Action | None:
        """Enter the person's answer to a moment.

        Args:
            name: name of the moment that the person saw.
            entry: an action; after the end of a hand, any text continues.

        Returns:
            The action, or None after the end of a hand.

        Raises:
            StaleEntry: the moment has passed.
            UnclearEntry: the entry is not a legal action.
        """
        scene = self.scene
        if scene is None or name != self.name or not self.is_asked:
            raise StaleEntry(self._explain_stale(name))
        action = None
        if scene.finished:
            answer = f"you have continued after hand {scene.hand_number}"
        else:
            action = read_entry(entry, scene)
            after = scene.betting.after(action)
            self.played = scene.hand_number, betting_text(after)
            answer = _describe_action(scene, action)
        self._answers[name] = answer
        if len(self._answers) > _MAX_ANSWERS:
            del self._answers[next(iter(self._answers))]
        self._is_answered = True
        self._advance()
        return action

    def _advance(self) -> None:
        while self._queue and not self.is_asked:
            self.scene = self._queue.popleft()
            self._is_answered = False

    def _find_played(self, scene: Scene) -> Action | None:
        """Return the action that the person played at a scene before a break, if any."""
        if self.played is None:
            return None
        hand_number, betting = self.played
        so_far = betting_text(scene.betting)
        if hand_number != scene.hand_number or not betting.startswith(so_far):
            return None
        scanned = scan_action(betting, len(so_far), scene.game.is_limit)
        if scanned is None:
            return None
        action, _ = scanned
        return action

    def _explain_stale(self, name: str) -> str:
        if name in self._answers:
            return f"This entry was already accepted and counts once: {self._answers[name]}."
        return "The entry was for an earlier state of the match and is ignored. This is the current state."


def _describe_action(scene: Scene, action: Action) -> str:
    after = replace(scene, betting=scene.betting.after(action))
    own_events = []
    for event in hand_events(after.betting, after.all_hole_cards, after.board, None):
        if isinstance(event, Acted) and event.position == scene.position:
            own_events.append(event)
    words = in_words(own_events[-1], after)
    return words[0].lower() + words[1:]


class TableSession:
    """Session of a person at a table.

    Reads the logs of earlier sessions, so that it is best created in a thread.

    Args:
        run: a new run, or a reopened one.
        decision_s: time limit for decisions at a new table.

    Attributes:
        run: the run, whose first player is the person.
        moments: scenes for the person.
        notes: sentences about faults since the person's last entry.
        awaited: players that have not connected.
        decision_s: time limit for a decision in seconds; None for no limit.
        result: result of the run, once it has ended or was stopped.
        problem: sentence about why the run cannot be played; empty if it can.
        version: increases with every change that a page shows.
        is_dealing: the run continues.
        caller: also receives the progress and events of the run; None if all players are local.
    """

    def __init__(self, run: Run[ContestResult], *, decision_s: float | None = None) -> None:
        self.run = run
        contest = run.planned[0]
        self.game: Game = contest.game
        self.names: tuple[str, ...] = tuple(contest.names)
        self.hands: int = contest.run.deals
        saved = read_saved_seat(run.folder)
        earlier, records = _earlier_hands(run)
        self.moments = SeatMoments(saved.played)
        self.decision_s = decision_s
        if decision_s is None:
            self.decision_s = saved.decision_s
        self.notes: deque[str] = deque(maxlen=_MAX_NOTES)
        self.awaited: tuple[AwaitedPlayer, ...] = ()
        self.result: ContestResult | None = run.finished
        self.problem = ""
        self.version = 0
        self.caller: PlayerCaller | None = None
        self._seat = HumanSeat(contest.game, contest.names, SEAT, earlier)
        self._records = records
        self._last_seen = max((number for number, _, _ in earlier), default=-1)
        self._changes = Changes()
        self._link: PlayerLink | None = None
        self.is_dealing = True
        self._clock: asyncio.TimerHandle | None = None
        self._late: asyncio.Task[None] | None = None

    @property
    def scene(self) -> Scene | None:
        """Current scene; None before the first hand."""
        return self.moments.scene

    @property
    def is_ended(self) -> bool:
        """The run is over, and the person has seen the end of the last hand."""
        if self.is_dealing:
            return False
        has_unseen_end = self.moments.is_asked and self.scene is not None and self.scene.finished
        return not has_unseen_end

    @property
    def time_left_s(self) -> float | None:
        """Seconds left for the current decision; None without a limit."""
        if self._clock is None or self._clock.cancelled():
            return None
        return max(0.0, self._clock.when() - asyncio.get_running_loop().time())

    @property
    def last_hand(self) -> int:
        """Number of the last hand that the person has seen to its end; -1 before the first."""
        scene = self.scene
        if scene is None:
            return self._last_seen
        last_hand = scene.hand_number
        if not scene.finished:
            last_hand -= 1
        return max(self._last_seen, last_hand)

    def record(self, hand_number: int) -> HandRecord | None:
        """Return a finished hand with all cards and comments, or None before the person has seen its end."""
        if hand_number > self.last_hand:
            return None
        for record in reversed(self._records):
            if record.hand_number == hand_number:
                return record
        return None

    # ---- the match

    async def play(self, compute: Compute | None = None) -> None:
        """Play until the run ends or is interrupted, in a loop of `dealer.table.loop.new_event_loop`.

        Args:
            compute: see `Run.play`.
        """
        try:
            if self.run.finished is None:
                await self._save()
                self.result = await self.run.play(self._note_progress, self._note_event, compute=compute)
                # The last lines of the dealer are read in the next step of the loop.
                await asyncio.sleep(0)
        except DealerError as error:
            self.problem = str(error)
        except OSError as error:
            self.problem = f"{self.run.folder} cannot be written: {error.strerror}"
        finally:
            self.is_dealing = False
            self._stop_clock()
            self.wake()

    def _receive(self, data: bytes) -> None:
        # The dealer sends in the middle of a step of the match, which an answer must not interrupt.
        asyncio.get_running_loop().call_soon(self._read, data)

    def _read(self, data: bytes) -> None:
        try:
            for scene in self._seat.receive_data(data):
                self._see(scene)
        except BotsError as error:
            self._note(f"{error}.")
            self.run.interrupt()

    def _see(self, scene: Scene) -> None:
        before = self.moments.name
        action = self.moments.see(scene)
        if action is not None:
            self._send(action)
        if self.moments.name != before:
            self._start_clock()
        self.wake()

    def _send(self, action: Action) -> None:
        assert self._link is not None
        self._link.receive(self._seat.answer(action))

    def _note_progress(self, progress: Progress) -> None:
        if self.caller is not None:
            self.caller.note(progress)
        if progress.awaited != self.awaited:
            self.awaited = progress.awaited
            self.wake()

    def _note_event(self, match_event: MatchEvent) -> None:
        if self.caller is not None:
            self.caller.see(match_event)
        event = match_event.event
        if isinstance(event, HandFinished):
            self._records.append(event.record)
        elif isinstance(event, SeatOpened) and event.seat == SEAT:
            # Later, because the match is in the middle of a step.
            asyncio.get_running_loop().call_soon(self._sit, event.open_seat)
        elif isinstance(event, FaultSeen) and event.fault.seat != SEAT:
            self._note(f"{match_event.players[event.fault.seat]}: {fault_phrase(event.fault)}.")

    def _sit(self, seat: OpenSeat) -> None:
        self._link = PlayerLink(self._receive, lambda: None)
        seat.take(self._link)
        self._link.receive(self._seat.open())

    def _note(self, sentence: str) -> None:
        self.notes.append(sentence)
        self.wake()

    def wake(self) -> None:
        """Notify everyone who waits for a change."""
        self.version += 1
        self._changes.notify()

    # ---- the person

    async def enter(self, moment: str, entry: str) -> None:
        """Enter the person's answer to a moment; see `SeatMoments.answer`.

        Raises:
            StaleEntry: the moment has passed, or the run is over.
            UnclearEntry: the entry is not a legal action.
        """
        scene = self.scene
        if not self.is_dealing and scene is not None and not scene.finished:
            raise StaleEntry("The match has stopped at this table. Open the table again to continue.")
        action = self.moments.answer(moment, entry)
        self.notes.clear()
        self._stop_clock()
        if action is not None:
            try:
                await self._save()
            except OSError as error:
                self._note(
                    "Your action could not be saved, so the decision is repeated after an interruption "
                    f"({error.strerror})."
                )
            self._send(action)
        self._start_clock()
        self.wake()

    async def _save(self) -> None:
        """Save the person's actions of the current hand.

        Raises:
            OSError: the file cannot be written.
        """
        # Not synced, because that would take most of the time of an action. A killed process loses nothing, and a power
        # cut at most the current hand.
        text = _SAVED_SEAT.dump_json(SavedSeat(self.decision_s, self.moments.played)).decode()
        await asyncio.to_thread(write_whole, self.run.folder / SEAT_FILE, f"{text}\n", is_synced=False)

    async def wait(self, version: int, timeout_s: float) -> bool:
        """Wait for a change after a version; return False if the time is up."""
        return await self._changes.wait_for(lambda: self.version > version, timeout_s)

    async def wait_until_asked(self, timeout_s: float) -> bool:
        """Wait until the person must act or the run is over; return False if the time is up."""
        return await self._changes.wait_for(lambda: self.moments.is_asked or not self.is_dealing, timeout_s)

    def _start_clock(self) -> None:
        self._stop_clock()
        scene = self.scene
        if self.decision_s is None or scene is None or not (self.moments.is_asked and scene.is_your_turn):
            return
        name = self.moments.name
        self._clock = asyncio.get_running_loop().call_later(self.decision_s, self._time_is_up, name)

    def _stop_clock(self) -> None:
        if self._clock is not None:
            self._clock.cancel()
            self._clock = None

    def _time_is_up(self, name: str) -> None:
        scene = self.scene
        if scene is None or not scene.is_your_turn or not self.is_dealing:
            return
        action = "check"
        if scene.view.can_fold:
            action = "fold"
        self._late = asyncio.create_task(self._enter_late(name, action))

    async def _enter_late(self, name: str, action: str) -> None:
        with contextlib.suppress(StaleEntry):
            await self.enter(name, action)
            self._note(f"Your time was up, so you {action}.")


_KEPT_HANDS: Final = 1000
"""Number of hands in memory, which can be shown again; earlier ones are in the log."""


def _earlier_hands(
    run: Run[Any],
) -> tuple[list[tuple[int, tuple[Seat, ...], tuple[float, ...]]], deque[HandRecord]]:
    """Read the earlier hands of a run; return the net chips of all, and the records of the last ones."""
    values = []
    records: deque[HandRecord] = deque(maxlen=_KEPT_HANDS)
    # A new run has no logs. The run itself reports damaged ones when it resumes.
    with contextlib.suppress(LogError):
        for record in find([run.folder], on_problem=lambda problem: None, times=True).hands():
            values.append((record.hand_number, record.seats, record.values))
            records.append(record)
    return values, records


SEAT_FILE: Final = "seat.json"


@dataclass(frozen=True, slots=True)
class SavedSeat:
    """Saved state of a session.

    Attributes:
        decision_s: time limit for a decision in seconds; None for no limit.
        played: current hand, with its betting after the person's last action; None outside a hand.
    """

    decision_s: float | None = None
    played: Played | None = None


_SAVED_SEAT: Final = TypeAdapter(SavedSeat)


def read_saved_seat(folder: Path) -> SavedSeat:
    """Read the saved state in the folder of a run; return an empty state if the file is missing or invalid.

    With an empty state, the person plays the interrupted hand again, with the same cards and without a time limit.
    """
    try:
        return _SAVED_SEAT.validate_json((folder / SEAT_FILE).read_bytes())
    except (OSError, ValueError):
        return SavedSeat()
