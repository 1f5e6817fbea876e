"""Matches without sockets, scripted players, clients and programs for the tests of the dealer.

A `Board` owns a match and collects its output; `Board.play` lets players reply until the match is over. A player is a
function from a state of a `PlayerSession` to an action, so that the same hands are played over every transport.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import functools
import os
import random
import re
import socket
import struct
import sys
import zlib
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, TypeAlias, TypeVar

import pytest

from dealer.match import NO_EARLIER_HANDS, EarlierHands, Match, MatchSetup, Phase, Write
from dealer.match.causes import Cause
from dealer.match.events import (
    ActionPlayed,
    Event,
    FaultSeen,
    HandClosed,
    HandFinished,
    LineReceived,
    LineSent,
    MatchEnded,
    Settled,
    VersionDiffers,
    Watcher,
)
from dealer.match.faults import Fault, FaultKind
from dealer.match.setup import TimeLimits
from dealer.reference.command import format_warning
from dealer.run.choices import Score, Seating
from dealer.run.contest_plan import ContestPlan, MatchPlan
from dealer.run.plan import planned_contests, settle
from dealer.run.run_settings import validated
from dealer.table.connections import Connections
from dealer.table.loop import new_event_loop
from engine import CALL, FOLD, RAISE, Action, Game, Seat, raise_to
from logs import HandRecord, format_score_line, format_state_line
from logs.transaction_log import Transaction
from protocol import (
    NEED_DATA,
    Closed,
    Handshake,
    PlayerSession,
    ReceivedState,
    Reply,
    find_game,
    format_action,
    parse_game_definition,
)
from tests.programs import PATIENCE_S, start

ROOT = Path(__file__).resolve().parents[2]
CONFORMANCE = ROOT / "tests" / "conformance" / "data"
VERSION = b"VERSION:2.0.0\r\n"

T = TypeVar("T")
Policy: TypeAlias = Callable[[ReceivedState], Action]
Speaker: TypeAlias = Callable[[ReceivedState], bytes | None]
"""Function from a question to the bytes of the reply, or None to stop replying for good."""


# ---- games


@functools.cache
def game(name: str) -> Game:
    """Game of the package or of the recorded matches."""
    path = CONFORMANCE / "games" / name
    return parse_game_definition(path.read_text("ascii")) if path.is_file() else find_game(name)[1]


ALL_IN_BLINDS = """GAMEDEF
nolimit
numPlayers = 2
numRounds = 2
stack = 10 10
blind = 10 10
firstPlayer = 1 1
numSuits = 4
numRanks = 13
numHoleCards = 2
numBoardCards = 0 3
END GAMEDEF
"""
"""A game in which the blinds put all players all-in."""

FIRST_ROUND_BOARD = """GAMEDEF
limit
numPlayers = 2
numRounds = 2
blind = 1 2
raiseSize = 2 4
firstPlayer = 1 1
maxRaises = 2 2
numSuits = 4
numRanks = 13
numHoleCards = 1
numBoardCards = 2 1
END GAMEDEF
"""
"""A game with two board cards before the first action."""


# ---- watchers


class Recorder(Watcher):
    """Record of the events of a match, in order.

    Attributes:
        calls: name of each event; an end before the last hand is "MatchEnded early".
        log: lines of the match's ACPC log.
        events: all events.
        records: finished hands.
        faults: faults of the players.
        actions: action, hand number and times of question and reply.
        warnings: warnings in the reference dealer's format.
        failure: cause of an early end.
        refuses: type of event at which `notice` fails with a full disk.
    """

    def __init__(self, names: Sequence[str] = (), *, wants_lines: bool = True) -> None:
        self.wants = frozenset(Event.__args__)
        if not wants_lines:
            self.wants -= {LineSent, LineReceived, Settled}
        self.refuses: type | None = None
        self.calls: list[str] = []
        self.log: list[str] = []
        self.events: list[Event] = []
        self.records: list[HandRecord] = []
        self.faults: list[Fault] = []
        self.warnings: list[str] = []
        self.actions: list[tuple[Action, int, int, int]] = []
        self.read: list[tuple[int, bytes]] = []
        self.used_us: list[list[int]] = []
        self.totals: list[float] = []
        self.failure: Cause | None = None
        self._names = names

    def notice(self, event: Event) -> None:
        if type(event) is self.refuses:
            raise full_disk()
        self.events.append(event)
        call = type(event).__name__
        match event:
            case LineSent():
                call += f" {event.seat}"
            case LineReceived():
                call += f" {event.seat}"
                self.read.append((event.seat, event.line))
            case FaultSeen():
                self.faults.append(event.fault)
                if event.problem is not None:
                    self.warnings.append(format_warning(event).rstrip("\n"))
            case VersionDiffers():
                self.warnings.append(format_warning(event).rstrip("\n"))
            case ActionPlayed():
                self.actions.append((event.action, event.hand_number, event.sent_us, event.received_us))
            case HandFinished():
                self.records.append(event.record)
                self.log.append(format_state_line(event.record))
            case HandClosed():
                self.used_us.append(list(event.used_us))
            case MatchEnded(cause=None):
                self.totals = list(event.totals)
                self.log.append(format_score_line(event.totals, self._names))
            case MatchEnded():
                call += " early"
                self.failure = event.cause
        self.calls.append(call)


def full_disk() -> OSError:
    return OSError(errno.ENOSPC, "No space left on device", "m.log")


class FullDisk(Watcher):
    """Watcher that fails with a full disk at a type of event, after it has accepted `after` of them."""

    def __init__(self, kind: type, after: int = 0) -> None:
        self.wants = frozenset({kind})
        self._left = after

    def notice(self, event: Event) -> None:
        self._left -= 1
        if self._left < 0:
            raise full_disk()


class Clock:
    """Replacement for the module `time` of a match; time passes only by `pass_s`."""

    def __init__(self) -> None:
        self.now_ns = 1_000_000_000_000

    def monotonic_ns(self) -> int:
        return self.now_ns

    def time_ns(self) -> int:
        return self.now_ns + 1_700_000_000 * 10**9

    def pass_s(self, seconds: float) -> None:
        self.now_ns += round(seconds * 1e9)


# ---- players


def legal_choices(event: ReceivedState) -> list[Action]:
    """Legal actions, call first, with up to four sizes of a raise."""
    legal = event.betting.legal_actions()
    choices = [CALL]
    if legal.can_fold:
        choices.append(FOLD)
    if legal.can_raise and event.betting.game.is_limit:
        choices.append(RAISE)
    elif legal.can_raise:
        low, high = legal.raise_min, legal.raise_max
        choices += [raise_to(size) for size in sorted({low, min(high, 2 * low), (low + high) // 2, high})]
    return choices


def random_policy(salt: int = 0, *, fold: float = 0.15) -> Policy:
    """Policy that draws an action with a seed from the state's line, so that runs are reproducible."""

    def choose(event: ReceivedState) -> Action:
        draw = random.Random(zlib.crc32(event.raw.rstrip()) ^ salt)
        choices = legal_choices(event)
        if FOLD in choices and draw.random() < fold:
            return FOLD
        weights = [0 if choice == FOLD else 4 if choice == CALL else 1 for choice in choices]
        return draw.choices(choices, weights)[0]

    return choose


def always(text: str) -> Policy:
    """Policy that always calls (``c``), folds if legal (``f``) or raises by the minimum if legal (``r``)."""

    def choose(event: ReceivedState) -> Action:
        choices = legal_choices(event)
        if text == "f" and FOLD in choices:
            return FOLD
        if text == "r" and len(choices) > 1 + (FOLD in choices):
            return choices[1 + (FOLD in choices)]
        return CALL

    return choose


def answer(line: bytes, action: str, end: str = "\r\n") -> bytes:
    """Reply to a state line."""
    return line.rstrip(b"\r\n") + b":" + action.encode("latin-1") + end.encode()


# ---- a match without sockets


def make_setup(game_: Game, hands: int, seed: int = 1, **options: Any) -> MatchSetup:
    """Set-up of a match of players A, B, C, ..."""
    names = tuple("ABCDEFGHIJ"[: game_.num_players])
    return MatchSetup(game_, "test", hands, seed, names, **options)


class Board:
    """A match and the output of every seat.

    Attributes:
        match: the match.
        recorder: its events.
        sent: all bytes, by seat.
        writes: (seat, bytes, whether they end with a question) in order.
        broken: errors that the connections of seats raise when they are written to.
        watches_lines: default of `wants_lines`, which has the recorder keep every line.
    """

    watches_lines = True

    def __init__(
        self,
        setup: MatchSetup,
        *,
        transactions: Iterable[Transaction] = (),
        watchers: Sequence[Watcher] = (),
        wants_lines: bool | None = None,
        progress: EarlierHands = NO_EARLIER_HANDS,
    ) -> None:
        self.setup = setup
        wants_lines = self.watches_lines if wants_lines is None else wants_lines
        self.recorder = Recorder(setup.names, wants_lines=wants_lines)
        self.match = Match(setup, [self.recorder, *watchers], transactions, progress)
        self.broken: dict[int, OSError] = {}
        players = setup.game.num_players
        self.sent = [bytearray() for _ in range(players)]
        self._last = [b""] * players
        self.writes: list[tuple[int, bytes, bool]] = []
        self._unread: list[list[bytes]] = [[] for _ in range(players)]

    @property
    def log(self) -> list[str]:
        return self.recorder.log

    def writer(self, seat: int) -> Write:
        def write(data: bytes, is_asked: bool) -> None:
            if seat in self.broken:
                raise self.broken[seat]
            self.sent[seat] += data
            self._last[seat] = (data.splitlines(keepends=True) or [self._last[seat]])[-1]
            self._unread[seat].append(data)
            self.writes.append((seat, data, is_asked))

        return write

    def connect(self, seat: int, hello: bytes = VERSION) -> None:
        self.match.connect(Seat(seat), self.writer(seat))
        if hello:
            self.match.receive(Seat(seat), hello)

    def come_back(self, seat: int, hello: bytes = VERSION) -> None:
        """A lost player connects again; what he is sent from now on is `sent`."""
        self.broken.pop(seat, None)
        self.sent[seat].clear()
        self._last[seat] = b""
        self.match.connect(Seat(seat), self.writer(seat))
        if hello:
            self.match.receive(Seat(seat), hello)

    def connect_all(self) -> Board:
        for seat in range(len(self.sent)):
            self.connect(seat)
        return self

    @property
    def acting_seat(self) -> int:
        """The first seat that has been asked to act."""
        return next(seat for seat in range(len(self.sent)) if self.match.is_asked(Seat(seat)))

    def last_line(self, seat: int) -> bytes:
        """Last line that a seat has received, with its line ending."""
        return self._last[seat]

    def send(self, seat: int, data: bytes) -> None:
        self.match.receive(Seat(seat), data)

    def reply(self, action: str, end: str = "\r\n") -> int:
        """Send the reply of the acting seat and return the seat."""
        seat = self.acting_seat
        self.send(seat, answer(self.last_line(seat), action, end))
        return seat

    def read(self, seat: int) -> bytes:
        """Bytes that a seat has received since the last call."""
        data = b"".join(self._unread[seat])
        self._unread[seat].clear()
        return data

    def play(self, policies: Sequence[Policy], *, hands: int | None = None) -> Board:
        """Let the players reply until the match, or this number of hands, is over."""
        return self.play_raw([speaker(policy) for policy in policies], hands=hands)

    def play_raw(self, speakers: Sequence[Speaker], *, hands: int | None = None) -> Board:
        """Play with players who send arbitrary bytes; stop when one sends None."""
        sessions = [player_session(self.setup.game) for _ in speakers]
        questions: list[ReceivedState | None] = [None] * len(speakers)
        for seat in range(len(speakers)):
            self._unread[seat] = [bytes(self.sent[seat])]
        while self.match.phase is Phase.PLAYING and (hands is None or self.match.hands_played < hands):
            for seat, session in enumerate(sessions):
                session.receive_data(self.read(seat))
                while (event := session.next_event()) is not NEED_DATA:
                    questions[seat] = event if isinstance(event, ReceivedState) and event.is_my_turn else None
            seat = self.acting_seat
            question = questions[seat]
            assert question is not None, "the acting seat has received no question"
            data = speakers[seat](question)
            if data is None:
                break
            self.send(seat, data)
        return self


def player_session(game_: Game) -> PlayerSession:
    """Session of a player who has sent the version."""
    session = PlayerSession(game_)
    session.send(Handshake())
    return session


def speaker(policy: Policy) -> Speaker:
    """Speaker that sends well-formed replies."""
    return lambda event: answer(event.raw, format_action(policy(event)))


def reference_log(setup: MatchSetup, policies: Sequence[Policy]) -> list[str]:
    """ACPC log of a match without faults."""
    board = Board(setup, wants_lines=False).connect_all().play(policies)
    assert board.match.phase is Phase.FINISHED
    return board.log


def played_transactions(board: Board) -> list[Transaction]:
    """Actions of a match, written to and read from a transaction log."""
    from logs import format_transaction, parse_transactions

    lines = [format_transaction(*action) for action in board.recorder.actions]
    return parse_transactions(lines, is_limit=board.setup.game.is_limit)


# ---- clients over sockets


def run_async(main: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine in the dealer's event loop; fail at a hang and at errors in callbacks."""
    problems: list[dict[str, Any]] = []

    async def guarded() -> T:
        asyncio.get_running_loop().set_exception_handler(lambda _, context: problems.append(context))
        try:
            async with asyncio.timeout(PATIENCE_S):
                return await main
        finally:
            clients = Client.instances.copy()
            Client.instances.clear()
            for client in clients:
                await client.close()

    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        result = runner.run(guarded())
    assert not problems, problems
    return result


class Client:
    """A player over TCP.

    Attributes:
        received: all bytes received.
        instances: clients of the current `run_async`, which closes them.
    """

    instances: ClassVar[list[Client]] = []

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, game_: Game) -> None:
        self.reader = reader
        self.writer = writer
        self.session = player_session(game_)
        self.received = b""

    @classmethod
    async def connect(cls, port: int, game_: Game, *, hello: bytes = VERSION, host: str = "127.0.0.1") -> Client:
        reader, writer = await asyncio.open_connection(host, port)
        client = cls(reader, writer, game_)
        cls.instances.append(client)
        await client.send(hello)
        return client

    async def send(self, data: bytes) -> None:
        with contextlib.suppress(ConnectionError):
            self.writer.write(data)
            await self.writer.drain()

    async def question(self) -> ReceivedState | None:
        """Read to the next question; return None when the dealer has closed the connection."""
        while True:
            event = self.session.next_event()
            if isinstance(event, Closed):
                return None
            if isinstance(event, ReceivedState) and event.is_my_turn:
                return event
            if event is NEED_DATA:
                try:
                    data = await self.reader.read(1 << 16)
                except ConnectionError:
                    data = b""
                self.received += data
                if data:
                    self.session.receive_data(data)
                else:
                    self.session.receive_eof()

    async def play(
        self, policy: Policy, send: Callable[[Client, ReceivedState, bytes], Awaitable[None]] | None = None
    ) -> Client:
        """Reply to all questions, then close."""
        while (event := await self.question()) is not None:
            reply = self.session.send(Reply(policy(event)))
            await (self.send(reply) if send is None else send(self, event, reply))
        await self.close()
        return self

    async def read_to_end(self) -> bytes:
        """Read without replying until the dealer closes the connection."""
        while await self.question() is not None:
            pass
        return self.received

    async def close(self) -> None:
        self.writer.close()
        with contextlib.suppress(ConnectionError):
            await self.writer.wait_closed()

    async def reset(self) -> None:
        """Close the connection with a TCP reset."""
        sock = self.writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()
        await self.close()


class Playing:
    """A match over sockets with a recorder, in the background of an asyncio test.

    Args:
        send_buffer_bytes: size of the system's send buffers, small to make the dealer wait for slow readers.
    """

    def __init__(self, setup: MatchSetup, *, send_buffer_bytes: int | None = None, **options: Any) -> None:
        self.setup = setup
        self.recorder = Recorder(setup.names)
        self.match = Match(setup, [self.recorder])
        self.connections = Connections(self.match, **options)
        self.ports = self.connections.listen()
        for listener in self.connections._listeners if send_buffer_bytes is not None else []:
            assert listener is not None
            listener.sockets[0].setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, send_buffer_bytes)
        self.task: asyncio.Task[None] | None = None

    def start(self) -> Playing:
        self.task = asyncio.create_task(self.connections.run())
        return self

    async def client(self, seat: int, **options: Any) -> Client:
        return await Client.connect(self.ports[seat], self.setup.game, **options)

    async def clients(self) -> list[Client]:
        return [await self.client(seat) for seat in range(len(self.ports))]

    async def finish(self) -> Playing:
        assert self.task is not None
        await self.task
        return self

    @property
    def fault(self) -> tuple[int | None, FaultKind | None]:
        assert self.match.phase is Phase.FAILED
        assert self.match.failure is not None
        return self.match.failure.seat, self.match.failure.kind


def limits(
    *, response_s: float = 600.0, hand_s: float = 600.0, per_hand_s: float = 600.0, start_s: float | None = None
) -> TimeLimits:
    """Time limits from seconds."""
    return TimeLimits.from_seconds(response_s=response_s, hand_s=hand_s, per_hand_s=per_hand_s, start_s=start_s)


def contest_plan(
    folder: Path, *players: str, game: str = "kuhn", deals: int = 200, slices: int = 1, **settings: Any
) -> ContestPlan:
    """Plan of a contest without hand histories; makes its folder."""
    folder.mkdir(parents=True, exist_ok=True)
    own = {"games": [game], "bots": players, "deals": deals, "seed": 5, "score": Score.RAW, "export": "none"}
    run = settle(validated(own | settings))
    (contest,) = planned_contests(run, folder)
    return replace(contest, slices=slices)


@functools.cache
def _planned_ten() -> ContestPlan:
    run = settle(validated({"games": ["holdem.limit.10p"], "seed": 5}))
    return planned_contests(run, Path())[0]


def match_plans_for(seating: Seating, players: int, deals: int, slices: int) -> list[MatchPlan]:
    """Matches of a contest of hold'em between these players."""
    plan, ten = _planned_ten(), game("holdem.limit.10p")
    run = replace(plan.run, deals=deals, seating=seating)
    seats = {"num_players": players, "stacks": ten.stacks[:players], "blinds": ten.blinds[:players]}
    rules = ten._replace(first_players=(0, 0, 0, 0), **seats)
    return replace(plan, run=run, game=rules, slices=slices).match_plans


# ---- programs


def program_env(**changes: str) -> dict[str, str]:
    """Environment of a program that imports this checkout and prints plain text of a fixed width."""
    env = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "100", "TERMINAL_WIDTH": "100", "TERM": "dumb"}
    for name in ("ARENA_GAME", "PYTHONSAFEPATH", "FORCE_COLOR", "NO_COLOR", "PY_COLORS", "GITHUB_ACTIONS"):
        env.pop(name, None)
    return env | changes


def enter_program_env(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give this process the environment and the folder of a program."""
    for name, value in program_env().items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(folder)


DEALER = [sys.executable, "-P", "-c", "from dealer.reference.command import main; raise SystemExit(main())"]
ARENA = [sys.executable, "-P", "-c", "from dealer.cli import main; main()"]

CONTROL_CODES = re.compile(rb"[\x00-\x08\x0b-\x1f\x7f]")
"""Control characters other than LF and TAB, which plain text must not contain."""

CONNECT = """
import os, socket, sys
s = socket.create_connection((sys.argv[-2], int(sys.argv[-1])))
f = s.makefile("rwb", buffering=0)
def hello(): f.write(b"VERSION:2.0.0\\r\\n")
def call(line): f.write(line.rstrip() + b":c\\r\\n")
"""
"""First lines of small bots: connect, and define `hello` and `call`."""


def write_program(folder: Path, name: str, code: str) -> str:
    """Write a Python program and return the command that starts it."""
    path = folder / name
    path.write_text(code, "utf-8")
    return f"{sys.executable} {path}"


TIME_FIELDS = {
    "seconds",
    "hands_per_second",
    "thinking_s",
    "median_us",
    "p99_us",
    "waited_us",
    "us_per_action",
    "pauses",
    "paused_s",
    "folder",
    "resume",
}
"""Fields of results that depend on the clock or the place."""


def without_times(data: Any) -> Any:
    """Copy of a result, given as plain data, without `TIME_FIELDS`."""
    if isinstance(data, dict):
        return {name: without_times(value) for name, value in data.items() if name not in TIME_FIELDS}
    return [without_times(value) for value in data] if isinstance(data, list) else data


def played_actions(board: Board) -> list[str]:
    """Actions of a match as texts."""
    return [format_action(action) for action, *_ in board.recorder.actions]


class DealerProcess:
    """``acpc-dealer`` as a process with its standard error in the file `stderr_path`."""

    def __init__(self, folder: Path, arguments: Sequence[str]) -> None:
        self.folder = folder
        self.stderr_path = folder / "stderr.txt"
        with self.stderr_path.open("wb") as stderr:
            self.process = start([*DEALER, *arguments], cwd=folder, env=program_env(), stderr=stderr)

    def __enter__(self) -> DealerProcess:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()

    def ports(self) -> list[int]:
        """Ports in the first line of standard output."""
        assert self.process.stdout is not None
        return [int(port) for port in self.process.stdout.readline().split()]

    def end(self) -> tuple[int, str]:
        """Wait for the exit; return the exit code and the rest of standard output."""
        assert self.process.stdout is not None
        rest = self.process.stdout.read().decode()
        return self.process.wait(PATIENCE_S), rest

    @property
    def stderr(self) -> str:
        return self.stderr_path.read_text("latin-1")


def play_seats(
    ports: Sequence[int], game_: Game, policies: Sequence[Policy], *, at_question: Callable[[int], None] | None = None
) -> list[bytes]:
    """Play all seats of a listening dealer and return the bytes that each received.

    Args:
        at_question: called before each reply with the number of questions so far.
    """
    count = 0

    async def send(client: Client, event: ReceivedState, reply: bytes) -> None:
        nonlocal count
        count += 1
        if at_question is not None:
            at_question(count)
        await client.send(reply)

    async def main() -> list[bytes]:
        clients = [await Client.connect(port, game_) for port in ports]
        await asyncio.gather(*(client.play(policy, send) for client, policy in zip(clients, policies, strict=True)))
        return [client.received for client in clients]

    return run_async(main())


def free_ports(count: int) -> list[int]:
    """Ports without a listener, outside the system's range of ephemeral ports."""
    draw = random.SystemRandom()
    ports: list[int] = []
    while len(ports) < count:
        port = draw.randrange(15_000, 32_000)
        with socket.socket() as sock, contextlib.suppress(OSError):
            sock.bind(("127.0.0.1", port))
            ports.append(port)
    return ports
