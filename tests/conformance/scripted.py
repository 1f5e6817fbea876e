"""A dealer process and scripted seats for the conformance tests.

A `Script` holds, per seat, every byte the dealer is expected to send and every byte the seat answers, with the point at
which it answers: after it has received everything that was sent to it before. Scripts come from a recorded stderr
transcript (`script_of_transcript`) or, for matches recorded with -q, from the log alone (`script_of_log`), which needs
a few lines of betting rules to know whose turn it is and nothing else.

`play` runs one dealer process in a directory of its own, connects the seats, follows the script and hands back an
`Outcome`. Two rules: the first byte that differs from the script ends the match at once, with both versions in the
message, because every later difference would only be an echo of it; and every wait has a deadline that restarts with
each sign of life, so that a hung dealer fails the test, naming what was awaited, while a slow machine does not.

The dealer under test is the one of this source tree. ACPC_DEALER names another command instead.
"""

from __future__ import annotations

import contextlib
import os
import re
import select
import shlex
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.programs import start

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(__file__).resolve().parent / "data"

VERSION = b"VERSION:2.0.0\r\n"

# How long a dealer may show no sign of life. Reached only by a dealer that hangs.
PATIENCE_S = float(os.environ.get("ACPC_DEALER_PATIENCE", "60"))


class Diverged(AssertionError):
    """The dealer sent something else than the script expects."""


class Stuck(AssertionError):
    """The dealer did nothing for `PATIENCE_S` seconds, or ended while a seat still awaited a line."""


# -- masks -----------------------------------------------------------------------------------------------------------


def mask_times(data: bytes) -> bytes:
    """Every number with six decimals becomes T: the time stamps, and thirds in a SCORE line as well."""
    return re.sub(rb"\d+\.\d{6}", b"T", data)


def mask_stderr(data: bytes) -> bytes:
    """Time stamps become T, seconds per match N, seconds spent waiting S."""
    data = mask_times(data)
    data = re.sub(rb"(Seconds cumulatively spent in match for seat \d+: )\d+", rb"\1N", data)
    return re.sub(rb"^\d+\.\d( seconds spent waiting; timeout )", rb"S\1", data, flags=re.MULTILINE)


def mask_ports(stdout: bytes) -> bytes:
    """The first line becomes PORTS if it is a list of ports separated by single spaces."""
    return re.sub(rb"\A\d+( \d+)*\n", b"PORTS\n", stdout)


# -- scripts ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Reply:
    """Reply of a seat after it has received `after` bytes in all. `close` hangs up afterwards."""

    seat: int
    after: int
    data: bytes
    close: bool = False


@dataclass(slots=True)
class Script:
    """The bytes each seat receives and the replies of all seats, in the order of the match."""

    received: list[bytes]
    replies: list[Reply] = field(default_factory=list)

    def say(self, seat: int, data: bytes, *, close: bool = False) -> None:
        """Append a reply of a seat after everything it has received so far."""
        self.replies.append(Reply(seat, len(self.received[seat]), data, close))


# A FROM record without LF was cut by a NUL; what stands next in the transcript is the next record.
_RECORD = re.compile(
    rb"^TO (\d+) at \S+ ([^\n]*\n)"
    rb"|(?:^|(?<=:))FROM (\d+) at \S+ (.*?)(\n|(?=WARNING: |ERROR: |FROM \d+ at |TO \d+ at )|\Z)",
    re.MULTILINE | re.DOTALL,
)


def script_of_transcript(stderr: bytes, seats: int) -> Script:
    """The script of a match from its stderr transcript: TO lines are expected, FROM lines are replies.

    A reply that the transcript shows without its end of line held a NUL, whose text after it is not recorded and has no
    effect: it is sent as NUL, CR, LF.
    """
    received = [bytearray() for _ in range(seats)]
    replies: list[Reply] = []
    for to, line, by, reply, end in _RECORD.findall(stderr):
        if to:
            received[int(to) - 1] += line
        else:
            seat = int(by) - 1
            replies.append(Reply(seat, len(received[seat]), reply + (end or b"\0\r\n")))
    return Script([bytes(r) for r in received], replies)


@dataclass(frozen=True, slots=True)
class Game:
    """The parts of a game definition that decide whose turn it is."""

    limit: bool
    stacks: tuple[int, ...]
    blinds: tuple[int, ...]
    raise_sizes: tuple[int, ...]
    first: tuple[int, ...]
    board: tuple[int, ...]

    @classmethod
    def read(cls, path: Path) -> Game:
        """Read a well-formed definition as it stands in data/games."""
        values: dict[str, tuple[int, ...]] = {}
        text = path.read_text()
        for line in text.splitlines():
            key, eq, rest = line.partition("=")
            if eq:
                values[key.strip()] = tuple(int(v) for v in rest.split())
        players = values["numPlayers"][0]
        return cls(
            limit="nolimit" not in text,
            stacks=values.get("stack", (2**31 - 1,) * players),
            blinds=values["blind"],
            raise_sizes=values.get("raiseSize", ()),
            first=tuple(v - 1 for v in values["firstPlayer"]),
            board=values["numBoardCards"],
        )


@dataclass(frozen=True, slots=True)
class _Decision:
    before: str  # the betting string shown to the actor
    position: int
    action: str


def decisions(game: Game, betting: str) -> tuple[list[_Decision], list[bool]]:
    """The decisions of one hand from its whole betting string, and who folded."""
    players = len(game.blinds)
    spent, folded = list(game.blinds), [False] * players
    made: list[_Decision] = []
    turn, round_ = game.first[0] - 1, 0
    for token in re.finditer(r"/|([fc]|r\d*)", betting):
        action = token[1]
        if action is None:
            round_ += 1
            turn = game.first[round_] - 1
            continue
        turn = next(
            p % players
            for p in range(turn + 1, turn + 1 + players)
            if not folded[p % players] and spent[p % players] < game.stacks[p % players]
        )
        made.append(_Decision(betting[: token.start()], turn, action))
        if action == "f":
            folded[turn] = True
        elif action == "c":
            spent[turn] = min(max(spent), game.stacks[turn])
        else:
            spent[turn] = max(spent) + game.raise_sizes[round_] if game.limit else int(action[1:])
    return made, folded


def _by_round(hole: Sequence[str], board: Sequence[str]) -> list[str]:
    """The cards of a state in each round."""
    return ["|".join(hole) + "".join("/" + b for b in board[:reached]) for reached in range(len(board) + 1)]


def script_of_log(log: str, game: Game, names: Sequence[str]) -> Script:
    """The script of a match from its log: every seat echoes the state and adds the action of the log.

    Needs different names, no board cards in the first round, and only legal actions in the log.
    """
    seats = len(names)
    received = [bytearray() for _ in range(seats)]
    replies: list[Reply] = []
    for line in log.splitlines():
        if not line.startswith("STATE:"):
            continue
        _, number, betting, cards, _, by_position = line.split(":")
        hand = int(number)
        hole_text, *board = cards.split("/")
        hole = hole_text.split("|")
        seat_of = [names.index(n) for n in by_position.split("|")]
        own = [_by_round([h if p == q else "" for q, h in enumerate(hole)], board) for p in range(seats)]
        made, folded = decisions(game, betting)
        for d in made:
            state, round_ = f":{hand}:{d.before}:", d.before.count("/")
            for p in range(seats):
                received[seat_of[p]] += f"MATCHSTATE:{p}{state}{own[p][round_]}\r\n".encode()
            actor = seat_of[d.position]
            echo = f"MATCHSTATE:{d.position}{state}{own[d.position][round_]}:{d.action}\r\n".encode()
            replies.append(Reply(actor, len(received[actor]), echo))
        showdown = folded.count(False) > 1
        for p in range(seats):
            seen = [h if q == p or (showdown and not folded[q]) else "" for q, h in enumerate(hole)]
            cards = _by_round(seen, board)[betting.count("/")]
            received[seat_of[p]] += f"MATCHSTATE:{p}:{hand}:{betting}:{cards}\r\n".encode()
    return Script([bytes(r) for r in received], replies)


# -- the dealer process ----------------------------------------------------------------------------------------------


def dealer_command() -> list[str]:
    """The dealer to test: ACPC_DEALER, or the one of this source tree."""
    if given := os.environ.get("ACPC_DEALER"):
        return shlex.split(given)
    return [sys.executable, "-P", "-c", "from dealer.reference.command import main; raise SystemExit(main())"]


def _environment() -> dict[str, str]:
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}


@dataclass(frozen=True, slots=True)
class Outcome:
    """Files and bytes of a dealer that has ended. A file that was not written is None."""

    rc: int
    stdout: bytes
    stderr: bytes
    log: bytes | None
    tlog: bytes | None
    rx: dict[int, bytes]


class Table:
    """A running dealer and its connected seats."""

    def __init__(self, args: Sequence[str], directory: Path, command: Sequence[str] | None = None) -> None:
        self._stderr_path = directory / "stderr.txt"
        with self._stderr_path.open("wb") as stderr:
            self._process = start(
                [*(command or dealer_command()), *args], cwd=directory, env=_environment(), stderr=stderr
            )
        assert self._process.stdout is not None
        self._out = self._process.stdout.fileno()
        self.stdout = b""
        self.seats: dict[int, socket.socket] = {}
        self.rx: dict[int, bytearray] = {}
        self.expected: Sequence[bytes] = ()

    def close(self) -> None:
        """Hang up everywhere and end the dealer if it still runs."""
        for connection in self.seats.values():
            connection.close()
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()

    def __enter__(self) -> Table:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def _story(self) -> str:
        tail = self._stderr_path.read_bytes()[-1500:].decode("latin-1")
        return f"\nexit code so far: {self._process.poll()}\nend of stderr:\n{tail}"

    def read_ports(self) -> list[int]:
        """The ports of the first line of stdout; empty if the dealer ended without one."""
        deadline = time.monotonic() + PATIENCE_S
        while b"\n" not in self.stdout:
            if not select.select([self._out], [], [], max(0.0, deadline - time.monotonic()))[0]:
                raise Stuck(f"waited for the line of ports{self._story()}")
            chunk = os.read(self._out, 65536)
            if not chunk:
                return []
            self.stdout += chunk
        line = self.stdout.partition(b"\n")[0]
        return [int(p) for p in line.split()] if re.fullmatch(rb"\d+( \d+)*", line) else []

    def connect(self, seat: int, port: int, hello: bytes) -> None:
        """Take a seat and send the handshake line."""
        connection = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        # Blocking reads with a limit set in the kernel: one system call per read.
        connection.settimeout(None)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", 0, 500_000))
        self.seats[seat] = connection
        self.rx[seat] = bytearray()
        if hello:
            connection.sendall(hello)

    def send(self, seat: int, data: bytes) -> None:
        """Send bytes of a seat; a dealer that is gone shows up in the next read."""
        with contextlib.suppress(ConnectionError):
            self.seats[seat].sendall(data)

    def _receive(self, seat: int, flags: int = 0) -> int | None:
        """Read once; the number of bytes, 0 at the end, None if there is nothing yet."""
        try:
            data = self.seats[seat].recv(1 << 18, flags)
        except BlockingIOError:
            return None
        except ConnectionError:
            return 0
        got = self.rx[seat]
        start = len(got)
        got += data
        if self.expected and self.expected[seat][start : start + len(data)] != data:
            self._diverged(seat)
        return len(data)

    def _diverged(self, seat: int) -> None:
        want, got = self.expected[seat], bytes(self.rx[seat])
        at = next((i for i, (a, b) in enumerate(zip(want, got, strict=False)) if a != b), min(len(want), len(got)))
        start = want.rfind(b"\n", 0, at) + 1
        raise Diverged(
            f"seat {seat + 1} received another byte {at}:\n"
            f"  expected {want[start : at + 300]!r}\n"
            f"  received {got[start : at + 300]!r}{self._story()}"
        )

    def wait_received(self, seat: int, total: int) -> None:
        """Read until a seat has received `total` bytes."""
        got = self.rx[seat]
        deadline = time.monotonic() + PATIENCE_S
        while len(got) < total:
            count = self._receive(seat)
            if count:
                continue
            missing = self.expected[seat][len(got) : total] if self.expected else b""
            if count == 0:
                raise Stuck(f"seat {seat + 1} was hung up on while it awaited {missing[:300]!r}{self._story()}")
            # Unread bytes of the other seats may be what holds the dealer up.
            others = [self._receive(s, socket.MSG_DONTWAIT) for s in self.seats if s != seat]
            if any(others):
                deadline = time.monotonic() + PATIENCE_S
            elif time.monotonic() > deadline:
                raise Stuck(f"seat {seat + 1} awaited {missing[:300]!r}{self._story()}")

    def hang_up(self, seat: int) -> None:
        """Close the connection of a seat; what it received stays."""
        self.seats.pop(seat).close()

    def wait_end(self) -> int:
        """Read every seat and stdout to the end and return the exit code."""
        for seat in self.seats:
            deadline = time.monotonic() + PATIENCE_S
            while (count := self._receive(seat)) != 0:
                if count:
                    deadline = time.monotonic() + PATIENCE_S
                elif time.monotonic() > deadline:
                    raise Stuck(f"seat {seat + 1} awaited the end of the match{self._story()}")
        deadline = time.monotonic() + PATIENCE_S
        while True:
            if not select.select([self._out], [], [], max(0.0, deadline - time.monotonic()))[0]:
                raise Stuck(f"waited for the end of stdout{self._story()}")
            chunk = os.read(self._out, 65536)
            if not chunk:
                break
            self.stdout += chunk
        try:
            return self._process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            raise Stuck(f"waited for the exit of the dealer{self._story()}") from None

    def outcome(self, log: Path) -> Outcome:
        """Wait for the end and collect everything."""
        rc = self.wait_end()
        tlog = log.with_name(log.name.removesuffix("log") + "tlog")
        return Outcome(
            rc=rc,
            stdout=self.stdout,
            stderr=self._stderr_path.read_bytes(),
            log=log.read_bytes() if log.exists() else None,
            tlog=tlog.read_bytes() if tlog.exists() else None,
            rx={seat: bytes(data) for seat, data in self.rx.items()},
        )


def play(
    directory: Path,
    args: Sequence[str],
    script: Script | None = None,
    *,
    files: Mapping[str, bytes] | None = None,
    hello: Mapping[int, bytes] | None = None,
    order: Iterable[int] | None = None,
    in_advance: bool = False,
    command: Sequence[str] | None = None,
) -> Outcome:
    """Run one dealer against a script and collect what it left.

    `args` is the command line; the first one names the log. `files` are written to `directory` first. `hello` replaces
    the handshake line of single seats and `order` the order of connecting. With `in_advance` a seat sends all its
    replies right after its handshake line: the dealer reads each one at that seat's turn, so the match is the same, but
    no time passes between a state and its reply, whatever the machine is busy with. Without a script nobody connects.
    """
    for name, content in (files or {}).items():
        (directory / name).write_bytes(content)
    with Table(args, directory, command) as table:
        ports = table.read_ports()
        if script is not None and ports:
            if len(ports) != len(script.received):
                raise Diverged(f"{len(ports)} ports for {len(script.received)} seats: {ports}")
            table.expected = script.received
            for seat in order if order is not None else range(len(ports)):
                early = b"".join(r.data for r in script.replies if r.seat == seat) if in_advance else b""
                table.connect(seat, ports[seat], (hello or {}).get(seat, VERSION) + early)
            for reply in script.replies:
                table.wait_received(reply.seat, reply.after)
                if reply.data and not in_advance:
                    table.send(reply.seat, reply.data)
                if reply.close:
                    table.hang_up(reply.seat)
        name = args[0] if args else ""
        return table.outcome(directory / f"{name}.log")


def first_difference(expected: bytes, actual: bytes) -> str:
    """The first line in which two texts differ, for a message that fits on a screen."""

    def lines(data: bytes) -> Iterator[bytes]:
        yield from data.splitlines(keepends=True)
        while True:
            yield b""

    pairs = zip(lines(expected), lines(actual), strict=False)
    for number in range(1, 2 + max(expected.count(b"\n"), actual.count(b"\n"))):
        want, got = next(pairs)
        if want != got:
            return f"line {number}: expected {want[:400]!r}, got {got[:400]!r}"
    return "no difference" if expected == actual else "a difference in line ends only"


def assert_same(what: str, expected: bytes | None, actual: bytes | None) -> None:
    """Fail with the first differing line."""
    if expected == actual:
        return
    if expected is None or actual is None:
        raise Diverged(f"{what}: expected {expected!r:.200}, got {actual!r:.200}")
    raise Diverged(f"{what}: {first_difference(expected, actual)}")
