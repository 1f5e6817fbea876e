"""The dealer's side of one connection to a bot under examination: waits for it, sends states, asks, judges the replies.

All sockets, processes and clocks of the doctor are in `BotHost` and `Connection`. Each bot that we start gets a
listener of its own, so that a bot that connects twice is not taken for the next one. A client that connects by itself
finds the same port each time, and is the first to begin with a version line; all others are turned away and reported,
as in a match. The beginning of the line is enough: whatever is wrong with the rest of it is a finding.

A dealer would wait until time is up; a `Dialogue` continues at once if a line was plainly meant as the answer: it plays
what was meant, or a call, and finds more in less time. A bot may send anything: nothing, binary noise, ten megabytes
without a line end, endless comments. Beyond the current line at most what one read returns is kept, the beginning of an
overlong line is judged once, and too much for one question is a flood.
"""

from __future__ import annotations

import asyncio
import contextlib
import enum
import itertools
import math
import random
import socket
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

from bots.sdk.program import write_game
from dealer.doctor.judge import (
    EXPECTED_VERSION,
    Judge,
    Kind,
    Outcome,
    Problem,
    SentState,
    Verdict,
    expected_answer,
    first_difference,
    judge_version,
)
from dealer.doctor.report import Examination
from dealer.doctor.situations import HANDSHAKE, Delivery, ExaminationSetup, Policy, Situation, Turn
from dealer.errors import ConversationError
from dealer.match.events import StrayConnection
from dealer.match.faults import StrayProblem
from dealer.table.launcher import BotProcess
from dealer.table.listener import Listener
from dealer.table.loop import new_event_loop
from dealer.table.players import Player, PlayerKind
from engine import Action, BettingState, Deal, Seat, betting_start, deals, rank_hand
from protocol.betting_nodes import HandLines, node_of
from protocol.framing import MAX_LINE_BYTES, LineReader

_POLL_S: Final = 0.1
"""The longest time without a look at the keyboard and the bot's process."""
_RECEIVE_BYTES: Final = 1 << 16
_SEND_TIMEOUT_S: Final = 5.0
"""A bot that reads nothing is given up after this time, once the system buffers no more for it."""
_BEGINNING: Final = b"VERSION"


class Line(NamedTuple):
    """A line was sent, by the bot or to it."""

    is_bots: bool
    line: bytes


class Waiting(NamedTuple):
    """A client that connects by itself is awaited at this address."""

    host: str
    port: int


Event: TypeAlias = Situation | Line | Waiting | StrayConnection
"""What can be watched during an examination: a situation that begins, and the above."""
OnEvent: TypeAlias = Callable[[Event], None]


class Exit(NamedTuple):
    """How a bot ended: its exit code, negative for a signal, None if it still runs or is not ours; its last lines."""

    code: int | None
    last_lines: tuple[str, ...] = ()


class Absence(NamedTuple):
    """The bot did not connect; so many others did and were turned away."""

    exit: Exit
    waited_s: float
    strays: int = 0


@dataclass(slots=True)
class Connection:
    """One connection of the bot, over TCP, with its process if we started it."""

    socket: socket.socket
    process: BotProcess | None
    received: bytes = b""
    takes_no_more: bool = False

    def send(self, data: bytes) -> None:
        """Send bytes as a segment of their own; a bot that takes no more is given up."""
        if self.takes_no_more:
            return
        self.socket.settimeout(_SEND_TIMEOUT_S)
        try:
            self.socket.sendall(data)
        except OSError:
            # A bot that has gone, or reads nothing, is noticed while its answer is awaited.
            self.takes_no_more = True

    def receive(self, deadline_s: float) -> bytes | None:
        """Received bytes, at most 64 KiB; empty when the bot has closed, None when the deadline passes."""
        if self.received:
            received, self.received = self.received, b""
            return received
        while True:
            left_s = deadline_s - self.now_s()
            self.socket.settimeout(max(0.0, min(_POLL_S, left_s)))
            try:
                return self.socket.recv(_RECEIVE_BYTES)
            except (TimeoutError, BlockingIOError):
                if left_s <= 0:
                    return None
            except OSError:
                return b""

    def pause(self, seconds: float) -> None:
        time.sleep(seconds)

    def now_s(self) -> float:
        return time.monotonic()

    def hang_up(self) -> None:
        """Close the dealer's side; what the bot still sends can be read."""
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_WR)

    def wait_for_exit(self, timeout_s: float) -> Exit:
        return _exit_of(self.process, timeout_s)

    def close(self) -> None:
        self.socket.close()
        if self.process is not None:
            self.process.stop()


class BotHost:
    """Receives the bot that a `Player` describes; use it in a ``with`` block.

    Attributes:
        can_start: whether the process is ours: it connects again whenever we like, and its end can be observed.
    """

    def __init__(
        self,
        player: Player,
        setup: ExaminationSetup,
        game_name: str,
        address: tuple[str, int],
        on_event: OnEvent = lambda event: None,
    ) -> None:
        """Prepare; port 0 takes a free one, and a bot that we start is given the game, of this canonical name."""
        self.can_start = player.kind is not PlayerKind.TCP
        self._player, self._setup, self._game_name, self._address = player, setup, game_name, address
        self._on_event = on_event
        self._exit = contextlib.ExitStack()
        self._loop = new_event_loop()
        self._listener: Listener | None = None
        self._arrived: deque[tuple[socket.socket, bytes]] = deque()
        self._strays = self._starts = 0

    def __enter__(self) -> BotHost:
        self._folder = Path(self._exit.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True)))
        self._game_file = write_game(self._folder / "match.game", self._setup.game, self._game_name)
        return self

    def __exit__(self, *_: object) -> None:
        self._close_listener()
        self._loop.close()
        self._exit.close()

    def receive_bot(self) -> Connection | Absence:
        """Start the bot if it is ours to start, and wait for it.

        Raises:
            LaunchError: it cannot be started.
            ListenError: the address cannot be listened on.
        """
        listener = self._listener = self._listener or self._open_listener()
        if not self.can_start:
            self._on_event(Waiting(listener.hosts[0], listener.port))
            return self._await_bot(None)
        try:
            self._starts += 1
            process = BotProcess(
                self._player,
                host=listener.hosts[0],
                port=listener.port,
                game=self._game_file,
                seed=self._setup.seed,
                output_path=self._folder / f"bot{self._starts}.out",
            )
            self._exit.callback(process.stop)
            return self._await_bot(process)
        finally:
            self._close_listener()

    def _open_listener(self) -> Listener:
        # No other program has the port of a bot that we start: it is the first to connect.
        is_version = None if self.can_start else lambda line: line[: len(_BEGINNING)].upper() == _BEGINNING
        listener = Listener(*self._address, Seat(0), is_version=is_version, is_unfinished=_is_unfinished)
        listener.watch(self._loop, lambda sock, _, received: self._arrived.append((sock, received)), self._reject)
        return listener

    def _close_listener(self) -> None:
        if self._listener is not None:
            self._listener.close()
            self._listener = None
        while self._arrived:
            self._arrived.popleft()[0].close()

    def _reject(self, host: str, problem: StrayProblem, line: bytes) -> None:
        self._strays += 1
        self._on_event(StrayConnection(Seat(0), host, problem, line))

    def _await_bot(self, process: BotProcess | None) -> Connection | Absence:
        start_s, limit_s = time.monotonic(), self._setup.start_timeout_s
        self._strays = 0
        while True:
            # Asked before looking: a bot that ends right after connecting is still let in here.
            has_ended = process is not None and process.exit_code is not None
            self._loop.run_until_complete(asyncio.sleep(0 if has_ended else _POLL_S / 10))
            if self._arrived:
                sock, received = self._arrived.popleft()
                self._exit.callback(sock.close)
                return Connection(sock, process, received)
            waited_s = time.monotonic() - start_s
            if has_ended or waited_s > (math.inf if limit_s is None else limit_s):
                return Absence(_exit_of(process, 0.0), waited_s, self._strays)


def _is_unfinished(received: bytes) -> bool:
    return len(received) < len(_BEGINNING) and _BEGINNING.startswith(received.upper())


def _exit_of(process: BotProcess | None, timeout_s: float) -> Exit:
    if process is None:
        return Exit(None)
    code = process.wait(timeout_s)
    return Exit(code, tuple(process.last_lines()))


MOST_LINES: Final = 1000
MOST_BYTES: Final = 1 << 20
"""At most so many lines and bytes may arrive for one question."""
_STRADDLE_BYTES, _FIRST_LINES = 7, 4
"""How long the pieces of straddled lines are; how many lines are sent slowly, as a bot is slow just after its start."""
_PIECE_PAUSE_S, _LINE_PAUSE_S, _FIRST_PAUSE_S, _LAST_PIECE_PAUSE_S = 0.0005, 0.001, 0.02, 0.05
"""Pauses after which a bot has seen what came before them: a piece of a line, a line, one of the first lines, and all
of a line but its LF (a bot that takes CR for the end answers in this time)."""
_COMMENTS: Final = (b"# a line for people\r\n", b"; MATCHSTATE:0:0:f:|\r\n", b"#\r\n")
_STRONG_AMONG: Final = 20
"""Good hole cards are the best of this many deals."""


class Ending(enum.Enum):
    SILENT = "silent"
    CLOSED = "closed"
    FLOOD = "flood"


class Inbox:
    """The lines of one bot, with every length bounded."""

    def __init__(self, wire: Connection) -> None:
        self._wire = wire
        self._reader = LineReader()
        self._last = b""
        self._lines = self._bytes = 0
        self._drops_rest = self._is_closed = False

    def allow_more(self) -> None:
        """Start a new question: reset the counts of lines and bytes."""
        self._lines = self._bytes = 0

    def next_line(self, deadline_s: float) -> bytes | None:
        """The next line with its end; what is left when the bot closes counts as a line. None when time is up."""
        while True:
            line = self._reader.pop()
            if line is not None:
                # Whether the rest of this line is still to come, as another line.
                is_cut = not line.endswith(b"\n") and not (self._is_closed and len(line) < MAX_LINE_BYTES)
                is_rest, self._drops_rest = self._drops_rest, is_cut
                if not is_rest:
                    self._count(lines=1)
                    return line
            elif self._is_closed:
                raise ConversationError(Ending.CLOSED)
            elif not self._receive(deadline_s):
                return None

    def take_rest(self) -> bytes:
        """What has arrived of an unfinished line; read nothing afterwards."""
        if self._drops_rest:
            return b""
        self._reader.feed_eof()
        return self._reader.pop() or b""

    def line_from(self, text: bytes) -> bytes:
        """What has arrived of the line that begins with a text, read or unread; empty if nothing. Does not wait."""
        if self._reader.buffered_bytes < MAX_LINE_BYTES and not self._is_closed:
            self._receive(self._wire.now_s())
        start = self._last.find(text)
        return b"" if start < 0 else b"".join(self._last[start:].partition(b"\n")[:2])

    def _receive(self, deadline_s: float) -> bool:
        data = self._wire.receive(deadline_s)
        if data is None:
            return False
        if data:
            self._count(bytes_=len(data))
            self._reader.feed(data)
            self._last = (self._last + data)[-2 * MAX_LINE_BYTES :]
        else:
            self._is_closed = True
            self._reader.feed_eof()
        return True

    def _count(self, *, lines: int = 0, bytes_: int = 0) -> None:
        self._lines += lines
        self._bytes += bytes_
        if self._lines > MOST_LINES or self._bytes > MOST_BYTES:
            raise ConversationError(Ending.FLOOD)


class Dialogue:
    """A conversation with one bot over one connection, entered in an `Examination`.

    Its methods raise `ConversationError` when the bot is silent for too long, floods, or has closed.
    """

    def __init__(self, wire: Connection, setup: ExaminationSetup, examination: Examination, on_event: OnEvent) -> None:
        self.judge = Judge(setup.game)
        self._wire = wire
        self._examination = examination
        self._setup = setup
        self._on_event = on_event
        self._inbox = Inbox(wire)
        self._held: list[SentState] = []
        self._line_count = 0
        self._is_refused = False
        self._follows_another = False

    # ---- the hands

    def play(self, situations: Sequence[Situation]) -> None:
        """Play all hands: opponents as the situations require, the bot as it likes, all by the rules."""
        game, first = self._setup.game, situations[0] if situations else HANDSHAKE
        cards, number = deals(game, self._setup.seed), first.first_hand
        opening = None if first.opening is None else first.opening(game)
        # As in a real match, the bot keeps its seat and its position moves by one from hand to hand.
        position = 0 if opening is None or opening.finished else opening.acting_position
        for situation in situations:
            self.begin(situation)
            for policy in situation.policies(game):
                self._examination.row.hands += 1
                deal = _strong_deal(cards, position) if situation.has_strong_cards else next(cards)
                lines = HandLines(game, deal, number)
                if not self._play_hand(policy, lines, number, position, opening or betting_start(game)):
                    return
                number, position, opening = number + 1, (position - 1) % game.num_players, None
            self._flush()

    def _play_hand(self, policy: Policy, lines: HandLines, number: int, position: int, betting: BettingState) -> bool:
        situation = self._examination.situation
        chance = random.Random(f"{self._setup.seed}/{situation.name}/{number}")
        while not betting.finished:
            asks = betting.acting_position == position
            line = lines.line(position, node_of(betting)).rstrip()
            state = self._send(line, number, betting, asks=asks)
            betting = betting.after(self.ask(state) if asks else policy(Turn(betting, position, chance)))
            if asks and situation.breaks_off and not betting.finished:
                return False
        self._send(lines.line(position, node_of(betting)).rstrip(), number, betting, asks=False)
        return True

    # ---- what the dealer sends

    def begin(self, situation: Situation) -> None:
        self._flush()
        self._examination.begin(situation)
        self._on_event(situation)
        self._line_count = 0

    def _send(self, text: bytes, hand: int, betting: BettingState, *, asks: bool) -> SentState:
        situation = self._examination.situation
        state = SentState(text, hand, situation.name, betting, asks)
        self.judge.sent[text] = self.judge.latest = state
        if situation.delivery in (Delivery.JOINED, Delivery.STRADDLED):
            self._held.append(state)
        else:
            self._deliver(state)
        return state

    def _flush(self) -> None:
        lines = [state.text + b"\r\n" for state in self._held]
        self._held.clear()
        for line in lines:
            self._on_event(Line(False, line))
        data = b"".join(lines)
        size = max(1, len(data)) if self._examination.situation.delivery is Delivery.JOINED else _STRADDLE_BYTES
        for at in range(0, len(data), size):
            if at:
                self._wire.pause(_PIECE_PAUSE_S)
            self._wire.send(data[at : at + size])

    def _deliver(self, state: SentState) -> None:
        line = state.text + b"\r\n"
        number, self._line_count = self._line_count, self._line_count + 1
        if self._follows_another:
            # A bot that takes one read for one line is to fail only in the situations made for that fault.
            self._wire.pause(_LINE_PAUSE_S if len(self.judge.sent) > _FIRST_LINES else _FIRST_PAUSE_S)
        self._follows_another = not state.asks
        delivery, wait_s = self._examination.situation.delivery, self._setup.wait_s
        if delivery is Delivery.COMMENTED:
            comment = _COMMENTS[number % len(_COMMENTS)]
            self._on_event(Line(False, comment))
            self._wire.send(comment)
        self._on_event(Line(False, line))
        pieces, pause_s = [line], _PIECE_PAUSE_S
        if delivery is Delivery.BYTEWISE and state.asks:
            pieces = [line[at : at + 1] for at in range(len(line))]
        elif delivery is Delivery.BYTEWISE:
            cut = 1 + number % (len(line) - 1)
            pieces = [line[:cut], line[cut:]]
        elif delivery is Delivery.WAITING and number == 0:
            self._wire.pause(wait_s)
        elif delivery is Delivery.WAITING and number == 1:
            pieces, pause_s = [line[: len(line) // 2], line[len(line) // 2 :]], wait_s
        for piece in pieces[:-1]:
            self._wire.send(piece)
            self._wire.pause(pause_s)
        if pieces[-1] == b"\n":
            self._wire.pause(_LAST_PIECE_PAUSE_S)
            line = self._inbox.line_from(state.text + b":")
            if line:
                wrong = "the answer came before the LF of the state: the bot takes CR for the end of a line"
                advice = "A line ends at LF; the CR before it is part of the end, not the end."
                expected = "no answer before the whole line has arrived"
                problem = Problem(Kind.EARLY, len(state.text) + 1, wrong, advice, expected)
                self._examination.find(problem, line, state)
        self._wire.send(pieces[-1])

    # ---- what the bot sends

    def greet(self) -> None:
        """Wait for the version line and judge it."""
        limit_s = self._setup.start_timeout_s
        line = self._inbox.next_line(self._wire.now_s() + (math.inf if limit_s is None else limit_s))
        received = self._inbox.take_rest() if line is None else line
        if line is not None:
            self._on_event(Line(True, line))
        wrong = f"the bot connected, but sent no line within {limit_s or 0:g} s"
        advice = "The bot sends the first line: send it right after connecting, without waiting for the dealer."
        silent = Problem(Kind.NO_VERSION, 0, wrong, advice, EXPECTED_VERSION)
        for problem in judge_version(received, self._setup.game) if received else (silent,):
            self._examination.find(problem, received)
            self._is_refused |= problem.kind is Kind.NO_VERSION
        if line is None:
            raise ConversationError(Ending.SILENT)

    def ask(self, state: SentState) -> Action:
        """Wait for the answer to a state just sent, and judge every line that arrives until then.

        Returns what a dealer plays for it; if a dealer would pass over the line, what the bot meant.
        """
        self._flush()
        self.judge.asked = state
        self._inbox.allow_more()
        start_s, examination = self._wire.now_s(), self._examination
        repeats: list[tuple[bytes, SentState]] = []
        while True:
            line = self._inbox.next_line(start_s + self._setup.timeout_s)
            if line is None:
                self._find_silence(state, repeats)
                raise ConversationError(Ending.SILENT)
            verdict = self._hear(line)
            if verdict.outcome is Outcome.REPEAT and verdict.about is not None:
                repeats.append((line, verdict.about))
            # A bot that was sent part of a state may have answered just that part.
            elif verdict.outcome in (Outcome.ANSWER, Outcome.ATTEMPT) or (
                verdict.outcome is Outcome.FRAGMENT and not examination.situation.delivery.is_cut
            ):
                for repeat, known in repeats:
                    self._find_repeat(repeat, known)
                state.is_given_up = verdict.outcome is not Outcome.ANSWER
                self.judge.asked = None
                examination.slowest_s = max(examination.slowest_s, self._wire.now_s() - start_s)
                examination.row.count(verdict.action)
                return verdict.action

    def read_to_the_end(self) -> bool:
        """Judge what still arrives until the bot closes; returns False if it does not close in time, or floods."""
        self.judge.asked = None
        self._inbox.allow_more()
        deadline_s = self._wire.now_s() + self._setup.timeout_s
        while True:
            try:
                line = self._inbox.next_line(deadline_s)
            except ConversationError as over:
                return over.ending is Ending.CLOSED
            if line is None:
                return False
            verdict = self._hear(line)
            if verdict.outcome is Outcome.REPEAT and verdict.about is not None:
                self._find_repeat(line, verdict.about)

    def _hear(self, line: bytes) -> Verdict:
        self._on_event(Line(True, line))
        if self._is_refused and line.startswith(b"VERSION:"):
            # That the version line is late has been reported.
            return Verdict(Outcome.OTHER)
        verdict = self.judge.judge(line)
        for problem in verdict.problems:
            self._examination.find(problem, line, verdict.about)
        return verdict

    def _find_repeat(self, line: bytes, known: SentState) -> None:
        wrong = "this state has been answered already; a dealer ignores the second answer"
        advice = "Answer every question once; make sure that nothing sends the reply again."
        expected = "nothing: the answer had been taken"
        self._examination.find(Problem(Kind.TWICE, len(known.text) + 1, wrong, advice, expected), line, known)

    def _find_silence(self, state: SentState, repeats: list[tuple[bytes, SentState]]) -> None:
        line, limit = self._inbox.take_rest(), f"{self._setup.timeout_s:g} s"
        if line:
            self._on_event(Line(True, line))
            problems = self.judge.judge(line).problems
        elif repeats:
            line, _ = repeats[-1]
            wrong = f"this answers an earlier state, and no answer to the present one came within {limit}"
            advice = "Echo the state that asks: the last line received, not one kept from before."
            byte = first_difference(line, state.text) + 1
            problems = (Problem(Kind.OLD_STATE, byte, wrong, advice, expected_answer(state)),)
        else:
            advice = (
                f"It was the bot's turn: position {state.betting.acting_position} in round {state.betting.round + 1}. "
                "Find out whether it has read this line, took it for a question to another player, or waited for "
                "something."
            )
            wrong = f"no answer came within {limit}"
            problems = (Problem(Kind.SILENT, 0, wrong, advice, expected_answer(state)),)
        for problem in problems:
            self._examination.find(problem, line, state)


def _strong_deal(cards: Iterator[Deal], position: int) -> Deal:
    candidates = list(itertools.islice(cards, _STRONG_AMONG))
    ranks = [
        (rank_hand(hole), which, place)
        for which, one in enumerate(candidates)
        for place, hole in enumerate(one.hole_cards)
    ]
    _, which, place = max(ranks)
    holes = list(candidates[which].hole_cards)
    holes[position], holes[place] = holes[place], holes[position]
    return candidates[which]._replace(hole_cards=tuple(holes))
