"""Play of a person in a terminal.

Everything is printed in plain lines, so that a transcript reads like a hand history. Entries are read line by line from
a keyboard or a pipe. Ctrl-C, the end of input and ``q`` leave the table, and the match can be resumed. The session runs
in the event loop of another thread, because the main thread reads the terminal and receives Ctrl-C.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import signal
import sys
import textwrap
import threading
import time
from collections.abc import Coroutine, Iterator, Sequence
from typing import Any, Final, TextIO, TypeVar

from rich.console import Console
from rich.text import Text

from bots.errors import StaleEntry, UnclearEntry
from dealer.person.entries import possible
from dealer.person.screen import Screen
from dealer.person.seat import Scene, in_words
from dealer.person.table_sentences import (
    game_sentence,
    result_sentence,
    score_remark,
    score_text,
    waiting_sentence,
)
from dealer.person.table_session import TableSession
from dealer.person.table_settings import SEAT
from dealer.table.loop import new_event_loop
from engine import Game, Move
from engine.errors import quoted
from engine.holdem import round_names
from engine.text import count_of, shown
from logs import HandRecord
from logs.document import CHIPS, TEXT, Column, Replay, Table
from logs.document.terminal import replay_lines
from logs.hand_view import Acted, Dealt, HandEvent

_T = TypeVar("_T")
_NAME_AFTER_S: Final = 2.0
"""Time after which the players that the person waits for are named."""
_WAIT_S: Final = 0.2
"""Length of a single wait, after which Ctrl-C is noticed on systems that do not interrupt waits."""
_PROMPT: Final = "> "
_INDENT: Final = "  "


class _Left(Exception):
    """The person leaves."""


def sit_down(
    console: Console,
    session: TableSession,
    entries: Entries | None = None,
    *,
    pause_s: float | None = None,
    shows_all: bool = False,
    has_four_colours: bool = False,
) -> bool:
    """Let a person play until the match ends or the person leaves.

    Args:
        console: console for all output.
        session: session that has not been played; afterwards it has the result or the problem.
        entries: input of the person; standard input by default.
        pause_s: seconds between two hands; None waits for Enter.
        shows_all: show the cards of all players after each hand.
        has_four_colours: give every suit a colour of its own.

    Returns:
        Whether the person left with Ctrl-C.
    """
    with loop_in_thread("dealer") as loop:
        playing = asyncio.run_coroutine_threadsafe(session.play(), loop)
        screen = Screen(console, has_four_colours=has_four_colours)
        person = _Person(screen, session, entries or Entries(), loop, pause_s=pause_s, shows_all=shows_all)
        try:
            with _signals(signal.default_int_handler):
                person.play()
        except _Left:
            return False
        except KeyboardInterrupt:
            return True
        finally:
            with _signals(signal.SIG_IGN):
                if not playing.done():
                    loop.call_soon_threadsafe(session.run.interrupt)
                playing.result()
    return False


@contextlib.contextmanager
def loop_in_thread(name: str) -> Iterator[asyncio.AbstractEventLoop]:
    """Run an event loop of `dealer.table.loop.new_event_loop` in a thread until the end of the block."""
    loop = new_event_loop()
    left = asyncio.Event()

    def work() -> None:
        # The runner cancels a wait that Ctrl-C has interrupted in the main thread.
        with asyncio.Runner(loop_factory=lambda: loop) as runner:
            runner.run(left.wait())

    thread = threading.Thread(target=work, name=name)
    thread.start()
    try:
        yield loop
    finally:
        loop.call_soon_threadsafe(left.set)
        thread.join()


@contextlib.contextmanager
def _signals(handler: Any) -> Iterator[None]:
    """Handle Ctrl-C, a request to exit and a lost terminal with a handler, unless the signal is ignored."""
    names = ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK")
    numbers = [getattr(signal, name) for name in names if hasattr(signal, name)]
    before = {number: signal.getsignal(number) for number in numbers}
    handled = [number for number in numbers if before[number] is not signal.SIG_IGN]
    for number in handled:
        signal.signal(number, handler)
    try:
        yield
    finally:
        for number in handled:
            signal.signal(number, before[number])


# ---- output


def show_heading(scene: Scene, screen: Screen) -> None:
    heading = f"Hand {scene.hand_number}"
    if scene.score.hands:
        heading += f", you {score_text(scene.score)}"
    screen.draw(Text())
    screen.say(heading, style="bold")
    screen.say(f"You have {_cards(scene.game, scene.hole_cards)}", _INDENT)


def show_event(event: HandEvent, scene: Scene, screen: Screen) -> None:
    sentence = in_words(event, scene)
    if isinstance(event, Dealt):
        screen.say(sentence, style="bold")
    elif isinstance(event, Acted) and event.move is Move.FOLD:
        screen.say(sentence, _INDENT, "dim")
    else:
        screen.say(sentence, _INDENT)


def show_position(scene: Scene, screen: Screen) -> None:
    """Print cards, pot and remaining stacks before the person's decision."""
    game = scene.game
    cards = " | ".join([_cards(game, cards) for cards in (scene.hole_cards, scene.board) if cards])
    line = f"{cards}  {round_names(game)[scene.betting.round]}, pot {scene.pot:,}"
    if scene.strength:
        line += f", {scene.strength}"
    screen.say(line, _INDENT)
    stacks = []
    for seat in scene.moment.seats:
        if not seat.has_folded and seat.stack_left is not None:
            stacks.append(f"{seat.name} {seat.stack_left:,}")
    if stacks:
        screen.say(f"left: {', '.join(stacks)}", _INDENT, "dim")


def show_players(scene: Scene, screen: Screen) -> None:
    """Print the last action and the remaining stack of every player."""
    rows = []
    for seat in scene.moment.seats:
        place = seat.place
        if seat.is_button:
            place += " D"
        last = seat.last
        if seat.has_folded:
            last = "folded"
        elif not last and seat.is_acting:
            last = "to act"
        rows.append((place, seat.name, seat.street_total or None, seat.stack_left, last))
    columns = ("seat", Column("player"), Column("bet", ","), Column("left", ",", rank=1), Column("last", TEXT))
    screen.table(Table.of("", columns, rows).without_empty())


def show_score(names: Sequence[str], scene: Scene, screen: Screen) -> None:
    """Print the score of all players, by seat."""
    score = scene.score
    if not score.hands:
        screen.say("No hand has been finished yet.")
        return
    screen.table(Table.of("", ("player", Column("chips", CHIPS)), zip(names, score.chips, strict=True)))
    screen.say(f"After {count_of(score.hands, 'hand')} {score_remark(score)}.")


def _show_cards(record: HandRecord, screen: Screen) -> None:
    """Print the cards of all players, including folded ones, after a hand."""
    for name, hole_cards in zip(record.names, record.deal.hole_cards, strict=True):
        screen.say(f"{shown(name)}: {_cards(record.game, hole_cards)}", _INDENT)


def show_again(record: HandRecord, screen: Screen) -> None:
    """Print a finished hand again, with all cards and the comments of bots."""
    screen.say(f"Hand {record.hand_number} again", style="bold")
    for line in replay_lines(Replay("", record), screen.width):
        screen.draw(screen.painted(line.plain))


_REQUESTS: Final = (
    ("w", "the score and its interval"),
    ("s, s 12", "show the last hand, or hand 12, again, with the reasons of bots"),
    ("q", "leave; the match can be resumed"),
)


def show_keys(game: Game, screen: Screen, requests: Sequence[tuple[str, str]] = _REQUESTS) -> None:
    """Print the table of keys.

    Args:
        requests: further keys with their effects.
    """
    rows = [
        ("f", "fold"),
        ("c", "call, or check if there is nothing to call (also k)"),
    ]
    if game.is_limit:
        rows.append(("r", "bet or raise; the game fixes the size"))
    else:
        rows += [
            ("300", "bet 300 or raise to 300, your total for this round (also r 300)"),
            ("p, p/2, 2p", "call, then raise by the pot, half of it, twice it (also 75%)"),
            ("m, a", "the smallest raise; all-in"),
        ]
    rows += [
        ("t", "last action and stack of each player"),
        *requests,
    ]
    screen.table(Table.of("", ("key", Column("effect", TEXT)), rows))


def show_prompt(scene: Scene, screen: Screen, *, is_last: bool) -> None:
    """Print the possible entries at a decision or after a hand."""
    entries = possible(scene)
    if scene.finished:
        effect = "next hand"
        if is_last:
            effect = "end the match"
        entries = [("Enter", effect), ("s", "show this one again, with reasons")]
    entries += [("q", "leave"), ("?", "help")]
    parts = []
    for keys, effect in entries:
        part = f"{keys} {effect}"
        if len(part) < screen.width - 1:
            # No-break spaces keep a part that fits on one line.
            part = part.replace(" ", "\xa0")
        parts.append(part)
    for line in textwrap.wrap(" | ".join(parts), screen.width, break_on_hyphens=False):
        screen.draw(screen.painted(line.replace("\xa0", " ")))


def _cards(game: Game, cards: Sequence[Any]) -> str:
    return " ".join(game.shown_cards(cards))


# ---- the person


class _Person:
    """A person in a terminal, whose session runs in another thread."""

    def __init__(
        self,
        screen: Screen,
        session: TableSession,
        entries: Entries,
        loop: asyncio.AbstractEventLoop,
        *,
        pause_s: float | None,
        shows_all: bool,
    ) -> None:
        self._screen = screen
        self._session = session
        self._entries = entries
        self._loop = loop
        self._pause_s = pause_s
        self._shows_all = shows_all
        self._seen: tuple[int, int] = -1, 0
        """Number of the current hand, and of its events that are printed."""
        self._notes_seen = 0

    def _call(self, work: Coroutine[Any, Any, _T]) -> _T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def play(self) -> None:
        """Play until the match ends.

        Raises:
            _Left: the person leaves.
            KeyboardInterrupt: the person leaves with Ctrl-C.
        """
        session = self._session
        waited_s = 0.0
        last_sentence = ""
        you = session.names[SEAT]
        self._screen.say(f"{game_sentence(session.game)}. You are {you}; ? shows the keys, q leaves.")
        while not session.is_ended:
            # Read before anything is shown, so that the person sees the scene of the question.
            version = session.version
            is_asked = session.moments.is_asked
            self._show_news()
            if is_asked:
                self._ask()
                waited_s = 0.0
                last_sentence = ""
            elif self._call(session.wait(version, _WAIT_S)):
                waited_s = 0.0
            else:
                waited_s += _WAIT_S
                if waited_s >= _NAME_AFTER_S and (sentence := waiting_sentence(session)) != last_sentence:
                    last_sentence = sentence
                    self._screen.say(sentence)
        self._show_news()

    def _show_news(self) -> None:
        notes = list(self._session.notes)
        for note in notes[self._notes_seen :]:
            self._screen.say(note)
        self._notes_seen = len(notes)
        scene = self._session.scene
        if scene is None:
            return
        number, event_count = self._seen
        if scene.hand_number != number:
            event_count = 0
            show_heading(scene, self._screen)
        for event in scene.history[event_count:]:
            show_event(event, scene, self._screen)
        self._seen = scene.hand_number, len(scene.history)

    def _ask(self) -> None:
        """Let the person act, or continue after a hand; repeat until the entry is legal."""
        session = self._session
        scene = session.scene
        assert scene is not None
        name = session.moments.name
        is_last = scene.hand_number + 1 >= session.hands
        entry = None
        if scene.finished:
            self._screen.say(result_sentence(scene))
            record = session.record(scene.hand_number)
            if self._shows_all and record is not None:
                _show_cards(record, self._screen)
            if self._pause_s is not None:
                time.sleep(self._pause_s)
                entry = ""
        else:
            show_position(scene, self._screen)
        if entry is None:
            show_prompt(scene, self._screen, is_last=is_last)
            entry = self._read_entry(scene, is_last=is_last)
        while True:
            try:
                self._call(session.enter(name, entry))
            except UnclearEntry as error:
                self._screen.say(str(error))
                entry = self._read_entry(scene, is_last=is_last)
            except StaleEntry as error:
                self._screen.say(str(error))
                return
            else:
                self._notes_seen = 0
                return

    def _read_entry(self, scene: Scene, *, is_last: bool) -> str:
        """Read lines until one is not a request to show something.

        Raises:
            _Left: the person leaves, except after the last hand.
        """
        while True:
            try:
                entry = self._read_line()
                self._show_news()
                is_request = self._show_request(entry, scene)
            except _Left:
                if scene.finished and is_last:
                    return ""
                raise
            if is_request:
                continue
            if not entry or not scene.finished:
                return entry
            effect = "deals the next hand"
            if is_last:
                effect = "ends the match"
            self._screen.say(f"{quoted(entry, 40)} is not clear after a hand. Enter {effect}, q leaves.")

    def _read_line(self) -> str:
        """Read a line.

        Raises:
            _Left: the input has ended.
        """
        entry = self._entries.prompt(self._screen)
        if entry is None:
            raise _Left
        return entry

    def _show_request(self, entry: str, scene: Scene) -> bool:
        """Carry out an entry that is a request to show something; return whether it is one.

        Raises:
            _Left: the person leaves.
        """
        word, _, rest = entry.lower().partition(" ")
        if word in ("q", "quit", "exit"):
            raise _Left
        if word in ("?", "h", "help"):
            show_keys(scene.game, self._screen)
        elif word in ("t", "table") and scene.is_your_turn:
            show_position(scene, self._screen)
            show_players(scene, self._screen)
        elif word in ("w", "score"):
            show_score(self._session.names, scene, self._screen)
        elif word in ("s", "show"):
            self._show_hand(rest.strip())
        else:
            return False
        return True

    def _show_hand(self, number: str) -> None:
        if number and not (number.isascii() and number.isdigit() and len(number) < 12):
            self._screen.say(f"{quoted(number, 40)} is not the number of a hand. Type, for example, 's 12'.")
            return
        hand_number = self._session.last_hand
        if number:
            hand_number = int(number)
        record = self._session.record(hand_number)
        if record is not None:
            show_again(record, self._screen)
        elif number:
            self._screen.say(f"There is no finished hand {number}.")
        else:
            self._screen.say("No hand has been finished yet.")


_MAX_LINE_CHARACTERS: Final = 1000
"""Characters of a line that are kept; more are an accident."""


class Entries:
    """Lines of input.

    Args:
        stream: stream to read; by default standard input, which may be closed.

    Attributes:
        is_terminal: the input is a terminal, which echoes it.
    """

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream
        if stream is None:
            self._stream = sys.stdin
        if isinstance(self._stream, io.TextIOWrapper):
            self._stream.reconfigure(errors="replace")
        self.is_terminal = self._stream is not None and self._stream.isatty()

    def prompt(self, screen: Screen) -> str | None:
        """Ask for a line and return it without blanks around it, or None at the end of input."""
        screen.console.print(Text(_PROMPT, "bold"), end="")
        screen.console.file.flush()
        entry = self.next()
        if entry is None:
            screen.draw(screen.painted(""))
            return None
        entry = entry.strip()
        if not self.is_terminal:
            # A terminal echoes input; a transcript of piped input needs it.
            screen.draw(screen.painted(shown(entry)))
        return entry

    def next(self) -> str | None:
        """Return the next line without its end, or None at the end of input."""
        if self._stream is None:
            return None
        try:
            line = self._stream.readline(_MAX_LINE_CHARACTERS)
            # The rest of an overlong line is dropped.
            rest = line
            while rest and not rest.endswith("\n"):
                rest = self._stream.readline(_MAX_LINE_CHARACTERS)
        except OSError:
            # The terminal is gone.
            return None
        if not line:
            return None
        return line.rstrip("\r\n")
