"""A person at a table in an event loop: the run, the person's seat in it, and the messages of both.

For faces that come and go, such as a page that is reloaded: the table session continues without them, asks, and waits.
The run is that of `arena table`, with the same logs; a table session that is stopped is continued by another one of its
folder. Next to the logs of the run, the small file ``seat.json`` in its folder keeps how far the person had come in the
hand that goes on, and how long a decision may take.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections import deque
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol

from bots.errors import BotsError, StaleEntry
from bots.human import HandProgress, HumanSeat, Scene, SeatMoments
from dealer.errors import DealerError
from dealer.library import Run
from dealer.match.events import FaultSeen, HandFinished
from dealer.person.settings import SEAT
from dealer.reports.sentences import fault_phrase
from dealer.run.contest import MatchEvent
from dealer.run.ending import AwaitedPlayer
from dealer.run.results import ContestResult
from dealer.run.tournament import Progress
from dealer.table.listener import REACHABLE
from dealer.table.loop import Changes
from engine import Action, Game
from logs import HandRecord
from logs.errors import LogError
from logs.hand_source import find
from logs.whole_file import write_whole

_RECEIVE_BYTES: Final = 1 << 16
_MOST_NOTES: Final = 20


class Caller(Protocol):
    """Calls the players of a run to their seats."""

    def see(self, event: MatchEvent) -> None:
        """Take note of an event."""

    def note(self, progress: Progress) -> None:
        """Take note of the progress."""


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
        caller: gets the progress and the events of the run, too; None where it calls no players.
    """

    def __init__(self, run: Run[ContestResult], *, decision_s: float | None = None) -> None:
        """Prepare to sit down, or to sit down again; reads the logs of earlier table sessions, so best in a thread.

        Args:
            run: of `dealer.library.new_run`, or reopened.
            decision_s: of a new table: how long a decision may take.
        """
        self.run = run
        contest = run.planned[0]
        self.game: Game = contest.game
        self.names: tuple[str, ...] = tuple(contest.names)
        self.hands: int = contest.run.deals
        kept = read_saved_seat(run.folder)
        earlier = earlier_hands(run)
        self.moments = SeatMoments(kept.played)
        self.decision_s = kept.decision_s if decision_s is None else decision_s
        self.notes: deque[str] = deque(maxlen=_MOST_NOTES)
        self.awaited: tuple[AwaitedPlayer, ...] = ()
        self.result: ContestResult | None = run.finished
        self.problem = ""
        self.version = 0
        self.caller: Caller | None = None
        self._seat = HumanSeat(contest.game, contest.names, SEAT, earlier.values, contest.players[SEAT].key)
        self._records = earlier.records
        self._last_seen = max((number for number, _ in earlier.values), default=-1)
        self._changes = Changes()
        self._writer: asyncio.StreamWriter | None = None
        self._address: asyncio.Future[AwaitedPlayer] | None = None
        self._is_ended = False
        self._clock: asyncio.TimerHandle | None = None
        self._late: asyncio.Task[None] | None = None

    @property
    def scene(self) -> Scene | None:
        """What is shown; None before the first hand."""
        return self.moments.scene

    @property
    def is_ended(self) -> bool:
        """Whether nothing more is dealt, and the person has seen everything."""
        return self._is_ended and not (self.moments.is_asked and self.scene is not None and self.scene.finished)

    @property
    def is_dealing(self) -> bool:
        """Whether the run goes on."""
        return not self._is_ended

    @property
    def time_left_s(self) -> float | None:
        """How long the person still has for the decision that is asked for; None without a limit."""
        if self._clock is None or self._clock.cancelled():
            return None
        return max(0.0, self._clock.when() - asyncio.get_running_loop().time())

    def record(self, hand_number: int) -> HandRecord | None:
        """A finished hand, with the cards of all players and the comments; None before the person has seen its end."""
        scene = self.scene
        last = self._last_seen
        if scene is not None:
            last = max(last, scene.hand_number if scene.finished else scene.hand_number - 1)
        if hand_number > last:
            # The dealer may be ahead of what the person has seen.
            return None
        return next((record for record in reversed(self._records) if record.hand_number == hand_number), None)

    # ---- the match

    async def play(self) -> None:
        """Play until the run ends or is stopped; needs a loop of `dealer.table.loop.new_event_loop`."""
        if self.run.finished is not None:
            self._end()
            return
        self._address = asyncio.get_running_loop().create_future()
        table_session = asyncio.create_task(self._play())
        try:
            await asyncio.to_thread(write_saved_seat, self.run.folder, SavedSeat(self.decision_s, self.moments.played))
            self.result = await self.run.play(self._note_progress, self._note_event)
        except DealerError as error:
            self.problem = f"{error}."
        except OSError as error:
            self.problem = f"{self.run.folder} cannot be written: {error.strerror}."
        finally:
            # The last lines are there already: the dealer has sent them before it ended.
            if not self._address.done():
                self._address.cancel()
            with contextlib.suppress(asyncio.CancelledError, OSError, BotsError):
                await table_session
            self._end()

    async def stop(self) -> None:
        """End the run as soon as possible; `play` returns then, and the run can be resumed."""
        # Before the connection is closed: a player that leaves a match is at fault.
        self.run.interrupt()

    async def _play(self) -> None:
        """Connect the person's seat, and see what comes."""
        assert self._address is not None
        player = await self._address
        host = REACHABLE.get(player.host, player.host)
        reader, self._writer = await asyncio.open_connection(host, player.port)
        try:
            self._writer.write(self._seat.open())
            while data := await reader.read(_RECEIVE_BYTES):
                for scene in self._seat.receive_data(data):
                    self._see(scene)
        except BotsError as error:
            self._note(f"{error}.")
            raise
        finally:
            self._writer.close()

    def _see(self, scene: Scene) -> None:
        before = self.moments.name
        action = self.moments.see(scene)
        if action is not None:
            self._send(action)
        if self.moments.name != before:
            self._start_clock()
        self._changed()

    def _send(self, action: Action) -> None:
        assert self._writer is not None
        # Where the dealer is gone, the lines that it has sent can still be read.
        with contextlib.suppress(OSError):
            self._writer.write(self._seat.answer(action))

    def _end(self) -> None:
        self._is_ended = True
        self._stop_clock()
        self._changed()

    def _note_progress(self, progress: Progress) -> None:
        if self.caller is not None:
            self.caller.note(progress)
        if progress.awaited != self.awaited:
            self.awaited = progress.awaited
            self._changed()
        for player in progress.awaited:
            if player.name == self.names[SEAT] and self._address is not None and not self._address.done():
                self._address.set_result(player)

    def _note_event(self, event: MatchEvent) -> None:
        if self.caller is not None:
            self.caller.see(event)
        what = event.event
        if isinstance(what, HandFinished):
            self._records.append(what.record)
        elif isinstance(what, FaultSeen) and what.fault.seat != SEAT:
            self._note(f"{event.players[what.fault.seat]}: {fault_phrase(what.fault)}.")

    def _note(self, sentence: str) -> None:
        self.notes.append(sentence)
        self._changed()

    def _changed(self) -> None:
        self.version += 1
        self._changes.notify()

    # ---- the person

    async def enter(self, moment: str, entry: str) -> None:
        """Take what the person has entered at a moment; see `bots.human.SeatMoments.answer`.

        Raises:
            StaleEntry: that moment has passed, or nothing is dealt any more.
            UnclearEntry: it is no action, or an illegal one.
        """
        scene = self.scene
        if self._is_ended and scene is not None and not scene.finished:
            raise StaleEntry("Nothing is dealt here any more; sit down again to go on.")
        action = self.moments.answer(moment, entry)
        self.notes.clear()
        self._stop_clock()
        if action is not None:
            try:
                await asyncio.to_thread(
                    write_saved_seat, self.run.folder, SavedSeat(self.decision_s, self.moments.played)
                )
            except OSError as error:
                self._note(f"What you did could not be kept for after a break: {error.strerror}.")
            self._send(action)
        self._start_clock()
        self._changed()

    async def wait(self, version: int, timeout_s: float) -> bool:
        """Wait until there is something newer than a version; returns whether there is."""
        return await self._changes.wait_for(lambda: self.version > version, timeout_s)

    def wake(self) -> None:
        """Have those that wait for something newer look."""
        self._changed()

    async def wait_until_asked(self, timeout_s: float) -> bool:
        """Wait until the person is asked or nothing more is dealt; returns whether it is so."""
        return await self._changes.wait_for(lambda: self.moments.is_asked or self._is_ended, timeout_s)

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
        if scene is None or not scene.is_your_turn or self._is_ended:
            return
        entry, does = ("f", "fold") if scene.view.can_fold else ("k", "check")
        self._late = asyncio.create_task(self._enter_late(name, entry, does))

    async def _enter_late(self, name: str, entry: str, does: str) -> None:
        with contextlib.suppress(StaleEntry):
            await self.enter(name, entry)
            self._note(f"Your time was up: you {does}.")


KEPT_HANDS: Final = 1000
"""How many hands can be shown again; earlier ones are in the log."""


class PlayedHands(NamedTuple):
    """The hands of the run that were played before: what counts of all, and those that can be shown again."""

    values: list[tuple[int, list[float]]]
    records: deque[HandRecord]


def earlier_hands(run: Run[Any]) -> PlayedHands:
    """The hands of a run that were played before; none of a new one."""
    earlier = PlayedHands([], deque(maxlen=KEPT_HANDS))
    # There are none yet; files that are damaged are found out when the run picks them up.
    with contextlib.suppress(LogError):
        for record in find([run.folder], on_problem=lambda problem: None, times=True).hands():
            earlier.values.append((record.hand_number, _by_seat(record)))
            earlier.records.append(record)
    return earlier


def _by_seat(record: HandRecord) -> list[float]:
    """The values of a hand by seat."""
    values = [0.0] * len(record.seats)
    for seat, value in zip(record.seats, record.values, strict=True):
        values[seat] = value
    return values


SEAT_FILE: Final = "seat.json"
_MOST_BYTES: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class SavedSeat:
    """What is kept of a table session.

    Attributes:
        decision_s: how long a decision may take; None without limit.
        played: how far the person had come in the hand that was going on; None in no hand.
    """

    decision_s: float | None = None
    played: HandProgress | None = None


def read_saved_seat(folder: Path) -> SavedSeat:
    """What is kept in the folder of a run; nothing where there is no such file, or one that is not ours.

    Without it the person begins the interrupted hand again, without a limit: the cards are the same.
    """
    try:
        with (folder / SEAT_FILE).open("rb") as file:
            found = json.loads(file.read(_MOST_BYTES))
        played, decision_s = found["played"], found["decision_s"]
        return SavedSeat(
            None if decision_s is None else float(decision_s),
            None if played is None else HandProgress(int(played["hand_number"]), str(played["betting"])),
        )
    except (OSError, ValueError, TypeError, KeyError):
        return SavedSeat()


def write_saved_seat(folder: Path, kept: SavedSeat) -> None:
    """Keep this, also if the process is killed; a power cut may cost the current hand, which then begins again.

    It is written for every action, without waiting for the disk: that would take most of the time of an action.

    Raises:
        OSError: it cannot be written.
    """
    write_whole(folder / SEAT_FILE, json.dumps(asdict(kept)) + "\n", is_synced=False)
