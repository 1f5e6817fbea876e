"""A person plays at a table in a terminal, from sitting down to leaving.

What is typed is read when the person is asked, line by line from a keyboard or a pipe, and nothing is sent that is not
clear and legal. Ctrl-C at any moment, the end of input and ``q`` leave the table; what was played is whole on the disk,
and the match can go on from there. The match is dealt by a run in a thread of its own, with news from it; the person's
part stays in the main thread, where a terminal is read and Ctrl-C arrives.
"""

from __future__ import annotations

import asyncio
import contextlib
import enum
import io
import queue
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Final, TextIO, TypeAlias

from rich.console import Console
from rich.text import Text

from bots.errors import BotsError, UnclearEntry
from bots.human import HumanSeat, Scene, SeatConnection, read_entry
from dealer.library import Run
from dealer.match.events import FaultSeen, HandFinished
from dealer.person.screen import (
    all_cards_lines,
    event_line,
    hand_heading,
    help_lines,
    prompt_lines,
    replay_lines,
    result_lines,
    score_lines,
    table_lines,
    wrapped,
)
from dealer.person.sentences import game_sentence
from dealer.person.settings import SEAT
from dealer.person.styles import Styles, styles_of
from dealer.person.table_session import KEPT_HANDS, PlayedHands, earlier_hands
from dealer.reports.sentences import fault_phrase
from dealer.run.contest import MatchEvent
from dealer.run.ending import AwaitedPlayer, Outcome
from dealer.run.results import ContestResult
from dealer.run.tournament import Progress
from dealer.table.listener import REACHABLE
from dealer.table.loop import new_event_loop
from engine import Action
from engine.errors import quoted
from engine.text import listed, shown
from logs import HandRecord

_NAME_AFTER_S: Final = 2.0
"""A player that is waited for as long as this is named."""
_PROMPT: Final = "> "


@dataclass(frozen=True, slots=True)
class Face:
    """How the table is shown.

    Attributes:
        pause_s: seconds between two hands; None waits for Enter.
        shows_all: whether the cards of all players are shown after each hand.
        has_four_colours: whether every suit has a colour of its own.
    """

    pause_s: float | None = None
    shows_all: bool = False
    has_four_colours: bool = False


class Leaving(enum.Enum):
    """Why the person plays no more."""

    OVER = "over"
    """The match has ended, or failed."""
    LEFT = "left"
    """The person has left, or the input has ended."""
    INTERRUPTED = "interrupted"
    """Ctrl-C, or a signal that means the same."""


@dataclass(frozen=True, slots=True)
class SessionResult:
    """What became of a table session.

    Attributes:
        leaving: why it ended.
        result: of the run.
    """

    leaving: Leaving
    result: ContestResult


class _Left(Exception):
    """The person leaves."""


def sit_down(console: Console, run: Run[ContestResult], face: Face, entries: Entries | None = None) -> SessionResult:
    """Let a person play the first seat of a run until it ends or the person leaves.

    Args:
        console: where everything is shown.
        run: its first player is ``tcp``.
        face: how it is shown.
        entries: what the person types; standard input by default.

    Raises:
        DealerError: nothing could be played.
    """
    earlier = earlier_hands(run)
    leaving = Leaving.OVER
    with Dealing(run, earlier.records) as dealing, _signals(signal.default_int_handler):
        try:
            _Sitting(console, run, face, entries or Entries(), dealing, earlier).play()
        except _Left:
            leaving = Leaving.LEFT
        except KeyboardInterrupt:
            leaving = Leaving.INTERRUPTED
    result = dealing.result
    return SessionResult(Leaving.OVER if result.outcome is not Outcome.INTERRUPTED else leaving, result)


@contextlib.contextmanager
def _signals(handler: Any) -> Iterator[None]:
    """Treat a request to end and a lost connection as Ctrl-C: by this handler; what is ignored stays so."""
    names = ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK")
    numbers = [getattr(signal, name) for name in names if hasattr(signal, name)]
    before = {number: signal.getsignal(number) for number in numbers}
    heard = [number for number in numbers if before[number] is not signal.SIG_IGN]
    for number in heard:
        signal.signal(number, handler)
    try:
        yield
    finally:
        for number in heard:
            signal.signal(number, before[number])


class _Sitting:
    """One table session of a person at a table."""

    def __init__(
        self,
        console: Console,
        run: Run[ContestResult],
        face: Face,
        entries: Entries,
        dealing: Dealing,
        earlier: PlayedHands,
    ) -> None:
        contest = run.planned[0]
        self._console = console
        self._face = face
        self._entries = entries
        self._dealing = dealing
        self._game = contest.game
        self._names = contest.names
        self._hands = contest.run.deals
        self._seat = HumanSeat(contest.game, contest.names, SEAT, earlier.values, contest.players[SEAT].key)
        self._hand_number: int | None = None
        self._last_hand = max((number for number, _ in earlier.values), default=-1)
        self._told = 0
        self._idle_since_s: float | None = None
        self._scene: Scene | None = None
        self._awaited: list[str] = []
        self._called: set[AwaitedPlayer] = set()

    @property
    def _styles(self) -> Styles:
        return styles_of(self._console, has_four_colours=self._face.has_four_colours)

    def _show(self, lines: Sequence[Text]) -> None:
        for line in lines:
            self._console.print(line, soft_wrap=True, highlight=False, markup=False)

    def _say(self, sentence: str) -> None:
        self._show(wrapped(sentence, self._styles))

    # ---- the match

    def play(self) -> None:
        """Play until the match ends.

        Raises:
            _Left: the person leaves.
            KeyboardInterrupt: likewise.
        """
        self._say(f"{game_sentence(self._game)}. You are {self._names[SEAT]}; ? shows the keys, q leaves.")
        address = self._dealing.address(self._names[SEAT])
        if address is None:
            return
        try:
            with SeatConnection(self._seat, *address) as connection, self._stopped_first():
                for scene in connection.scenes(self._on_idle):
                    self._see(scene, connection)
                self._dealing.wait()
        except BotsError as error:
            self._say(f"{error}.")

    @contextlib.contextmanager
    def _stopped_first(self) -> Iterator[None]:
        """End the run before the connection is closed: a player that leaves a match is at fault. A moment's work."""
        try:
            yield
        finally:
            with _signals(signal.SIG_IGN):
                self._dealing.stop()

    def _see(self, scene: Scene, connection: SeatConnection) -> None:
        self._scene, self._idle_since_s = scene, None
        self._tell_news()
        if scene.hand_number != self._hand_number:
            self._hand_number, self._told = scene.hand_number, 0
            self._show([Text(), *hand_heading(scene, self._styles)])
        for event in scene.history[self._told :]:
            self._show(event_line(event, scene, self._styles))
        self._told = len(scene.history)
        if scene.is_your_turn:
            connection.answer(self._decision(scene))
        elif scene.finished:
            self._end_hand(scene)

    def _end_hand(self, scene: Scene) -> None:
        self._last_hand = scene.hand_number
        self._show(result_lines(scene, self._styles))
        record = self._dealing.record(scene.hand_number)
        if self._face.shows_all and record is not None:
            self._show(all_cards_lines(record, self._styles))
        if self._face.pause_s is not None:
            time.sleep(self._face.pause_s)
            return
        is_last = scene.hand_number + 1 >= self._hands
        self._show(prompt_lines(scene, self._styles, is_last=is_last))
        # There is nothing left to leave after the last hand.
        with contextlib.suppress(_Left) if is_last else contextlib.nullcontext():
            while (entry := self._entry()) != "":
                if not self._is_request(entry, scene):
                    goes_on = "ends the match" if is_last else "deals the next hand"
                    self._say(f"{quoted(entry, 40)} is not clear after a hand: Enter {goes_on}, q leaves.")

    def _on_idle(self) -> None:
        """Nothing comes: say what has gone wrong, and after a while who is waited for."""
        self._tell_news()
        now_s = time.monotonic()
        if self._idle_since_s is None:
            self._idle_since_s = now_s
        elif self._idle_since_s < now_s - _NAME_AFTER_S:
            scene = self._scene
            if scene is None and self._awaited:
                self._say(f"Waiting for {listed(self._awaited)} to start...")
            elif scene is not None and not scene.finished:
                self._say(f"Waiting for {scene.names[scene.betting.acting_position]}...")
            else:
                return
            self._idle_since_s = float("inf")

    def _tell_news(self) -> None:
        with contextlib.suppress(queue.Empty):
            while True:
                match self._dealing.news.get_nowait():
                    case Failed(name, event):
                        self._say(f"{name}: {fault_phrase(event.fault)}.")
                    case Awaited(players):
                        others = [player for player in players if player.name != self._names[SEAT]]
                        self._awaited = [player.name for player in others if not player.is_remote]
                        for player in others:
                            if player.is_remote and player not in self._called:
                                self._called.add(player)
                                self._say(f"Waiting for {player.name} to connect at {player.address}.")

    # ---- the person

    def _decision(self, scene: Scene) -> Action:
        """What the person does; asks until it is clear and legal."""
        self._show(table_lines(scene, self._styles))
        self._show(prompt_lines(scene, self._styles))
        while True:
            entry = self._entry()
            self._tell_news()
            if self._is_request(entry, scene):
                continue
            try:
                return read_entry(entry, scene)
            except UnclearEntry as error:
                self._say(str(error))

    def _entry(self) -> str:
        """The next line that is typed.

        Raises:
            _Left: there is none.
        """
        self._console.print(Text(_PROMPT, "bold"), end="")
        self._console.file.flush()
        entry = self._entries.next()
        if entry is None or not self._entries.is_terminal:
            # What is typed in a terminal stands there already.
            self._show([self._styles.coloured(shown("" if entry is None else entry.strip()))])
        if entry is None:
            raise _Left
        return entry.strip()

    def _is_request(self, entry: str, scene: Scene) -> bool:
        """Do what an entry asks for that is no action; whether it does.

        Raises:
            _Left: the person leaves.
        """
        word, _, rest = entry.lower().partition(" ")
        if word in ("q", "quit", "exit"):
            raise _Left
        if word in ("?", "h", "help"):
            self._show(help_lines(self._game, self._styles))
        elif word in ("t", "table") and scene.is_your_turn:
            self._show([*table_lines(scene, self._styles), *prompt_lines(scene, self._styles)])
        elif word in ("w", "score"):
            self._show(score_lines(self._names, scene.score, self._styles))
        elif word in ("s", "show"):
            self._show_again(rest.strip())
        else:
            return False
        return True

    def _show_again(self, number: str) -> None:
        if number and not (number.isascii() and number.isdigit() and len(number) < 12):
            self._say(f"A hand is shown again by its number, as in 's 12', not by {quoted(number, 40)}.")
            return
        # The dealer may be ahead of what the person has seen.
        wanted = int(number) if number else self._last_hand
        record = self._dealing.record(wanted) if wanted <= self._last_hand else None
        if record is None:
            self._say(f"There is no finished hand {number}." if number else "No hand has been finished yet.")
        else:
            self._show(replay_lines(record, self._styles))


_LOOK_UP_S: Final = 0.2


@dataclass(frozen=True, slots=True)
class Awaited:
    """The players that have not connected have become others; none, when all are there."""

    players: tuple[AwaitedPlayer, ...]


@dataclass(frozen=True, slots=True)
class Failed:
    """A player has done something wrong.

    Attributes:
        name: the player.
        event: what, and the remedy.
    """

    name: str
    event: FaultSeen


@dataclass(frozen=True, slots=True)
class Ended:
    """The run has ended."""


News: TypeAlias = Awaited | Failed | Ended


class Dealing:
    """A run that is played in a thread; a context manager that ends the run, and waits for it, when it is left.

    Attributes:
        news: what the person should know, in order.
    """

    def __init__(self, run: Run[ContestResult], records: Iterable[HandRecord] = ()) -> None:
        """Prepare to deal.

        Args:
            run: whose first player is the person.
            records: hands of an earlier table session, which can be shown again.
        """
        self.news: queue.SimpleQueue[News] = queue.SimpleQueue()
        self._run = run
        self._records = deque(records, KEPT_HANDS)
        self._loop = new_event_loop()
        self._thread = threading.Thread(target=self._work, name="dealer")
        self._result: ContestResult | None = None
        self._error: BaseException | None = None
        self._awaited: tuple[AwaitedPlayer, ...] = ()

    def __enter__(self) -> Dealing:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def stop(self) -> None:
        """End the run, if it has not ended, and wait until its files are closed."""
        with contextlib.suppress(RuntimeError):
            # Its loop is closed when the run has just ended.
            self._loop.call_soon_threadsafe(self._run.interrupt)
        self._thread.join()

    def wait(self) -> None:
        """Wait for the run to end by itself; Ctrl-C interrupts the waiting on every system."""
        while self._thread.is_alive():
            self._thread.join(_LOOK_UP_S)

    @property
    def result(self) -> ContestResult:
        """The result of the run, once it has been stopped.

        Raises:
            DealerError: nothing could be played.
        """
        if self._error is not None:
            raise self._error
        assert self._result is not None
        return self._result

    def record(self, hand_number: int) -> HandRecord | None:
        """A finished hand; None where it is not kept."""
        return next((record for record in reversed(list(self._records)) if record.hand_number == hand_number), None)

    def address(self, name: str) -> tuple[str, int] | None:
        """Where a player is awaited; None if the run has ended without waiting for it."""
        while True:
            try:
                # Not for ever: Windows would not hear Ctrl-C.
                news = self.news.get(timeout=_LOOK_UP_S)
            except queue.Empty:
                continue
            if isinstance(news, Ended):
                return None
            if isinstance(news, Awaited):
                for player in news.players:
                    if player.name == name:
                        return REACHABLE.get(player.host, player.host), player.port

    def _work(self) -> None:
        try:
            with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
                self._result = runner.run(self._run.play(self._note_progress, self._note_event))
        except BaseException as error:
            self._error = error
        finally:
            self.news.put(Ended())

    def _note_progress(self, progress: Progress) -> None:
        if progress.awaited != self._awaited:
            self._awaited = progress.awaited
            self.news.put(Awaited(progress.awaited))

    def _note_event(self, event: MatchEvent) -> None:
        what = event.event
        if isinstance(what, HandFinished):
            self._records.append(what.record)
        elif isinstance(what, FaultSeen):
            self.news.put(Failed(event.players[what.fault.seat], what))


_LONGEST: Final = 1000
"""Characters of a line that are kept; more is an accident."""


class Entries:
    """Lines of standard input.

    Attributes:
        is_terminal: whether a person types them, and sees what is typed.
    """

    def __init__(self, stream: TextIO | None = None) -> None:
        """Read from a stream; from standard input by default, which may be closed."""
        self._stream = sys.stdin if stream is None else stream
        if isinstance(self._stream, io.TextIOWrapper):
            self._stream.reconfigure(errors="replace")
        self.is_terminal = self._stream is not None and self._stream.isatty()

    def next(self) -> str | None:
        """The next line without its end; None at the end of input."""
        if self._stream is None:
            return None
        try:
            line = self._stream.readline(_LONGEST)
            rest = line
            while rest and not rest.endswith("\n"):
                rest = self._stream.readline(_LONGEST)
        except OSError:
            # The terminal is gone.
            return None
        return line.rstrip("\r\n") if line else None
