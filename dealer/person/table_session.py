"""A person at a table in an event loop: the run, the person's seat in it, and the messages of both.

For a terminal, and for faces that come and go, such as a page that is reloaded: the table session continues without
them, asks, and waits. The run is that of `arena table`, with the same logs; a table session that is stopped is
continued by another one of its folder. Next to the logs of the run, the small file ``seat.json`` in its folder keeps
how far the person had come in the hand that goes on, and how long a decision may take.

The dealer may be ahead of the person, who still looks at the end of a hand, so scenes wait in `SeatMoments` until the
person has continued. A moment's name is the number of the hand and how many actions were played in it: ``12.3``. An
answer that was sent twice, or from a page that is out of date, names a moment that has passed and changes nothing.
What the person has played in a hand is a value. Given back when the hand is dealt again, after a break, it brings the
person to the same decision, so no decision is made a second time with more knowledge.
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
from dealer.run.run import Run
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

_MOST_NOTES: Final = 20


class PlayerCaller(Protocol):
    """Calls the players of a run to their seats."""

    def see(self, event: MatchEvent) -> None:
        """Take note of an event."""

    def note(self, progress: Progress) -> None:
        """Take note of the progress."""


_REMEMBERED: Final = 16
"""So many answers are kept by their moments; older ones were not sent twice by accident."""


Played: TypeAlias = tuple[int, str]
"""How far a person has come: the number of a hand, and its betting after the person's last action, as the protocol
writes it."""


class SeatMoments:
    """The moments of one person, in order.

    Attributes:
        scene: what is shown; None before the first hand.
        played: how far the person has come in the last hand in which it acted; None before.
    """

    def __init__(self, played: Played | None = None) -> None:
        self.scene: Scene | None = None
        self.played = played
        self._coming: deque[Scene] = deque()
        self._is_passed = False
        self._answers: dict[str, str] = {}

    @property
    def name(self) -> str:
        """The name of the moment that is shown; empty before the first hand."""
        scene = self.scene
        if scene is None:
            return ""
        actions = sum(map(len, scene.betting.rounds))
        return f"{scene.hand_number}.{actions}"

    @property
    def is_asked(self) -> bool:
        """Whether the match waits for the person: to act, or to continue with the next hand."""
        scene = self.scene
        return scene is not None and not self._is_passed and (scene.is_your_turn or scene.finished)

    def see(self, scene: Scene) -> Action | None:
        """Take a scene from the dealer; returns the answer to it, where the person has given it before a break."""
        action = None
        if scene.is_your_turn:
            action = self._played_here(scene)
        if action is None:
            self._coming.append(scene)
            self._advance()
        return action

    def answer(self, name: str, entry: str) -> Action | None:
        """Take what the person has entered at a moment; returns its action, None where a hand was over.

        The name is that of the moment that the person has seen; after a hand, any entry continues.

        Raises:
            StaleEntry: that moment has passed.
            UnclearEntry: it is not a legal action.
        """
        scene = self.scene
        if scene is None or name != self.name or not self.is_asked:
            raise StaleEntry(self._stale(name))
        action = None
        if scene.finished:
            said = f"you have continued from hand {scene.hand_number}"
        else:
            action = read_entry(entry, scene)
            after = scene.betting.after(action)
            self.played = scene.hand_number, betting_text(after)
            said = _said(scene, action)
        self._answers[name] = said
        if len(self._answers) > _REMEMBERED:
            del self._answers[next(iter(self._answers))]
        self._is_passed = True
        self._advance()
        return action

    def _advance(self) -> None:
        while self._coming and not self.is_asked:
            self.scene = self._coming.popleft()
            self._is_passed = False

    def _played_here(self, scene: Scene) -> Action | None:
        """The action at a scene that the person had played before a break; None if it had not come so far."""
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

    def _stale(self, name: str) -> str:
        if name in self._answers:
            return f"That was taken already, and counts once: {self._answers[name]}."
        return "That entry was for an earlier state of the match and was ignored; this is the present state."


def _said(scene: Scene, action: Action) -> str:
    after = replace(scene, betting=scene.betting.after(action))
    own_events = []
    for event in hand_events(after.betting, after.all_hole_cards, after.board, None):
        if isinstance(event, Acted) and event.position == scene.position:
            own_events.append(event)
    words = in_words(own_events[-1], after)
    return words[0].lower() + words[1:]


class TableSession:
    """One person at one table.

    Attributes:
        run: what is played; its first player is the person.
        moments: what the person is shown and asked.
        notes: what has gone wrong since the person's last entry, in sentences.
        awaited: the players that have not connected.
        decision_s: how long a decision may take; None without limit.
        result: of the run, once it has ended or was stopped.
        problem: why nothing can be played, as a sentence; empty if nothing is wrong.
        version: grows whenever something is to be shown again.
        is_dealing: whether the run goes on.
        caller: gets the progress and the events of the run, too; None where it calls no players.
    """

    def __init__(self, run: Run[ContestResult], *, decision_s: float | None = None) -> None:
        """Prepare to sit down, or to sit down again; reads the logs of earlier table sessions, so best in a thread.

        Args:
            run: of `dealer.run.run.new_run`, or reopened.
            decision_s: of a new table: how long a decision may take.
        """
        self.run = run
        contest = run.planned[0]
        self.game: Game = contest.game
        self.names: tuple[str, ...] = tuple(contest.names)
        self.hands: int = contest.run.deals
        kept = read_saved_seat(run.folder)
        earlier, records = _earlier_hands(run)
        self.moments = SeatMoments(kept.played)
        self.decision_s = decision_s
        if decision_s is None:
            self.decision_s = kept.decision_s
        self.notes: deque[str] = deque(maxlen=_MOST_NOTES)
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
        """What is shown; None before the first hand."""
        return self.moments.scene

    @property
    def is_ended(self) -> bool:
        """Whether nothing more is dealt, and the person has seen everything."""
        if self.is_dealing:
            return False
        has_unseen_end = self.moments.is_asked and self.scene is not None and self.scene.finished
        return not has_unseen_end

    @property
    def time_left_s(self) -> float | None:
        """How long the person still has for the decision that is asked for; None without a limit."""
        if self._clock is None or self._clock.cancelled():
            return None
        return max(0.0, self._clock.when() - asyncio.get_running_loop().time())

    @property
    def last_hand(self) -> int:
        """The number of the last hand that the person has seen to its end; -1 before. The dealer may be ahead of it."""
        scene = self.scene
        if scene is None:
            return self._last_seen
        last_hand = scene.hand_number
        if not scene.finished:
            last_hand -= 1
        return max(self._last_seen, last_hand)

    def record(self, hand_number: int) -> HandRecord | None:
        """A finished hand, with the cards of all players and the comments; None before the person has seen its end."""
        if hand_number > self.last_hand:
            return None
        for record in reversed(self._records):
            if record.hand_number == hand_number:
                return record
        return None

    # ---- the match

    async def play(self) -> None:
        """Play until the run ends or is interrupted; needs a loop of `dealer.table.loop.new_event_loop`."""
        try:
            if self.run.finished is None:
                await self._keep()
                self.result = await self.run.play(self._note_progress, self._note_event)
                # The last lines that the dealer has sent are looked at in the next step of the loop.
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
        """Look at what the dealer sends in the next step of the loop: it sends in the middle of a step of the match."""
        asyncio.get_running_loop().call_soon(self._take, data)

    def _take(self, data: bytes) -> None:
        """Look at what the dealer has sent."""
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

    def _note_event(self, event: MatchEvent) -> None:
        if self.caller is not None:
            self.caller.see(event)
        what = event.event
        if isinstance(what, HandFinished):
            self._records.append(what.record)
        elif isinstance(what, SeatOpened) and what.seat == SEAT:
            # The match is in the middle of a step.
            asyncio.get_running_loop().call_soon(self._sit, what.open_seat)
        elif isinstance(what, FaultSeen) and what.fault.seat != SEAT:
            self._note(f"{event.players[what.fault.seat]}: {fault_phrase(what.fault)}.")

    def _sit(self, seat: OpenSeat) -> None:
        self._link = PlayerLink(self._receive, lambda: None)
        seat.take(self._link)
        self._link.receive(self._seat.open())

    def _note(self, sentence: str) -> None:
        self.notes.append(sentence)
        self.wake()

    def wake(self) -> None:
        """Have those that wait for something newer look."""
        self.version += 1
        self._changes.notify()

    # ---- the person

    async def enter(self, moment: str, entry: str) -> None:
        """Take what the person has entered at a moment; see `SeatMoments.answer`.

        Raises:
            StaleEntry: that moment has passed, or nothing is dealt any more.
            UnclearEntry: it is no action, or an illegal one.
        """
        scene = self.scene
        if not self.is_dealing and scene is not None and not scene.finished:
            raise StaleEntry("Nothing is dealt here any more; sit down again to go on.")
        action = self.moments.answer(moment, entry)
        self.notes.clear()
        self._stop_clock()
        if action is not None:
            try:
                await self._keep()
            except OSError as error:
                self._note(f"What you did could not be kept for after a break: {error.strerror}.")
            self._send(action)
        self._start_clock()
        self.wake()

    async def _keep(self) -> None:
        """Keep how far the person has come, also if the process is killed; a power cut may cost the current hand.

        It is written for every action, without waiting for the disk: that would take most of the time of an action.

        Raises:
            OSError: it cannot be written.
        """
        kept = _SAVED_SEAT.dump_json(SavedSeat(self.decision_s, self.moments.played)).decode()
        await asyncio.to_thread(write_whole, self.run.folder / SEAT_FILE, f"{kept}\n", is_synced=False)

    async def wait(self, version: int, timeout_s: float) -> bool:
        """Wait until there is something newer than a version; returns whether there is."""
        return await self._changes.wait_for(lambda: self.version > version, timeout_s)

    async def wait_until_asked(self, timeout_s: float) -> bool:
        """Wait until the person is asked or nothing more is dealt; returns whether it is so."""
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
            self._note(f"Your time was up: you {action}.")


KEPT_HANDS: Final = 1000
"""How many hands can be shown again; earlier ones are in the log."""


def _earlier_hands(
    run: Run[Any],
) -> tuple[list[tuple[int, tuple[Seat, ...], tuple[float, ...]]], deque[HandRecord]]:
    """The hands of a run that were played before: what counts of all, and those that can be shown again."""
    values = []
    records: deque[HandRecord] = deque(maxlen=KEPT_HANDS)
    # There are none yet; files that are damaged are found out when the run picks them up.
    with contextlib.suppress(LogError):
        for record in find([run.folder], on_problem=lambda problem: None, times=True).hands():
            values.append((record.hand_number, record.seats, record.values))
            records.append(record)
    return values, records


SEAT_FILE: Final = "seat.json"


@dataclass(frozen=True, slots=True)
class SavedSeat:
    """What is kept of a table session.

    Attributes:
        decision_s: how long a decision may take; None without limit.
        played: how far the person had come in the hand that was going on; None in no hand.
    """

    decision_s: float | None = None
    played: Played | None = None


_SAVED_SEAT: Final = TypeAdapter(SavedSeat)


def read_saved_seat(folder: Path) -> SavedSeat:
    """What is kept in the folder of a run; nothing where there is no such file, or one that is not ours.

    Without it the person begins the interrupted hand again, without a limit: the cards are the same.
    """
    try:
        return _SAVED_SEAT.validate_json((folder / SEAT_FILE).read_bytes())
    except (OSError, ValueError):
        return SavedSeat()
