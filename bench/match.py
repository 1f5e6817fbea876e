"""Whole matches: processor time of dealers, players and `arena play`, compared with the reference and another checkout.

Each round plays every contender's match in turn, once short and once long: the difference of the two, divided by the
hands between them, is the time of a hand without start-up. Processor time is that of the processes themselves, user and
system, as the system counts it when they end. It still depends on the cores of the processes: waking a process
on another core costs time, on virtual machines several times the cost of the line itself. So on Linux all processes
share one core (`--core`), and figures agree within a hundredth from run to run; wall times of several matches at once
are measured on all cores.

Without the reference's programs all players are this checkout's `calling`. The reference is a folder with its `dealer`
and its `example_player`, built by hand.
"""

from __future__ import annotations

import contextlib
import os
import select
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NoReturn

from bench.times import row_of_times
from dealer.bench import Row
from engine import CALL, Game
from protocol import Handshake, PlayerSession, ReceivedState, Reply, find_game, format_game_definition

OWN: Final = Path(__file__).resolve().parents[1]
_START_DEALER: Final = [sys.executable, "-P", "-c", "from acpc_arena import acpc_dealer; acpc_dealer()"]
START_ARENA: Final = [sys.executable, "-P", "-c", "from acpc_arena import arena; arena()"]
_SHORT_HANDS: Final = 100
_TIMEOUT_S: Final = 30.0


def measure(
    rounds: int = 5,
    hands: int = 3000,
    games: Sequence[str] = (),
    matches: int = 1,
    waits: int = 200,
    reference: str = "",
    checkout: str = "",
    play: str = "limit calling raising",
    core: int = -1,
) -> list[Row]:
    """Processor time of dealers, players and `arena play` per hand and per match.

    Args:
        rounds: how often each match is played.
        hands: of a match.
        games: those of the matches; limit and no-limit for two, limit for three and no-limit for six by default.
        matches: how many are played at once, each with a dealer of its own.
        waits: how many lines to a player that is not to act are timed; 0 leaves them out.
        reference: the folder with the reference's programs.
        checkout: another checkout of the arena, to compare this one with.
        play: game and bots of `arena play`; empty to omit it.
        core: the number of the one core that everything runs on; -1 for all cores.

    Raises:
        OSError: a program cannot be started.
        RuntimeError: a program failed.
        ValueError: there is nothing to measure.
    """
    if rounds < 1 or matches < 1 or hands <= _SHORT_HANDS:
        raise ValueError(f"at least one round of one match of more than {_SHORT_HANDS} hands is needed")
    arenas = {"this checkout": OWN} | other_checkout(checkout)
    dealers = arenas | reference_programs(reference)
    rows = []
    with tempfile.TemporaryDirectory() as folder, _on_core(core):
        for name in games or ("limit", "nolimit", "limit3", "nolimit6"):
            game = find_game(name)[1]
            path = Path(folder, f"{name}.game")
            path.write_text(format_game_definition(game), "ascii")
            tables = list(_tables(path, game.num_players, matches, arenas, dealers))
            rows += _compare(name, tables, rounds, hands, matches)
        if play:
            contests = [
                _Contender("arena play", who, lambda hands, arena=arena: _contest(play.split(), hands, arena))
                for who, arena in arenas.items()
            ]
            rows += _compare(play, contests, rounds, hands, 1)
        if waits:
            rows += [_waiting(who, _waits_s(dealer, waits, Path(folder))) for who, dealer in dealers.items()]
    return rows


def other_checkout(folder: str) -> dict[str, Path]:
    """Return the path of another checkout by its name; empty without a folder.

    Raises:
        ValueError: the folder is no checkout; Python would run the installed arena in its place.
    """
    if not folder:
        return {}
    path = Path(folder).absolute()
    if not (path / "dealer").is_dir():
        raise ValueError(f"{folder} is not the folder of a checkout")
    return {path.name: path}


def reference_programs(folder: str) -> dict[str, Path]:
    """Return the path of the reference's programs as ``reference``; empty without a folder.

    Raises:
        ValueError: a program is missing.
    """
    if not folder:
        return {}
    path = Path(folder).absolute()
    if not all((path / program).is_file() for program in ("dealer", "example_player")):
        raise ValueError(f"{folder} lacks the reference's programs, dealer and example_player")
    return {"reference": path}


@contextlib.contextmanager
def _on_core(core: int) -> Iterator[None]:
    """Bind this process and its children to a core; -1 binds nothing."""
    if core < 0:
        yield
        return
    if sys.platform != "linux":
        raise ValueError("programs are held to one core on Linux only: leave --core out")
    before = os.sched_getaffinity(0)
    if core not in before:
        raise ValueError(f"--core {core} is none of those that may be used here: {sorted(before)}")
    os.sched_setaffinity(0, {core})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


@dataclass(frozen=True, slots=True)
class _Times:
    """Seconds of processor time and of wall time."""

    user: float
    system: float
    wall: float = 0.0

    @property
    def cpu(self) -> float:
        return self.user + self.system


@dataclass(frozen=True, slots=True)
class _Contender:
    """A program whose matches are timed. Others are compared with the first of a job."""

    job: str
    who: str
    time_match: Callable[[int], _Times]


def _compare(game: str, contenders: Sequence[_Contender], rounds: int, hands: int, matches: int) -> Iterator[Row]:
    whole: dict[_Contender, list[_Times]] = {contender: [] for contender in contenders}
    each: dict[_Contender, list[_Times]] = {contender: [] for contender in contenders}
    for contender in contenders:
        # Modules that have been changed are compiled here, and read from the disk later.
        contender.time_match(_SHORT_HANDS)
    for number in range(rounds):
        # Alternate the order, so that no contender always runs after the same one.
        for contender in contenders if number % 2 else reversed(contenders):
            short, long = contender.time_match(_SHORT_HANDS), contender.time_match(hands)
            share = 1e6 / (hands - _SHORT_HANDS) / matches
            whole[contender].append(long)
            each[contender].append(_Times((long.user - short.user) * share, (long.system - short.system) * share))
    for unit, times, what in (("µs", each, "a hand"), ("ms", whole, f"a match of {hands:,} hands")):
        for contender in contenders:
            ours = next(
                times[other] for other in contenders if (other.job, other.who) == (contender.job, "this checkout")
            )
            name = f"{contender.job}, {game}, {what}"
            yield _row(name, contender.who, times[contender], ours, unit, hands * matches)


def _row(group: str, who: str, times: Sequence[_Times], ours: Sequence[_Times], unit: str, hands: int) -> Row:
    scale = 1000.0 if unit == "ms" else 1.0
    spent = [one.cpu * scale for one in times]
    user, system = (scale * statistics.median(part) for part in ([t.user for t in times], [t.system for t in times]))
    ratios = [a.cpu / b.cpu for a, b in zip(ours, times, strict=True)]
    note = ""
    if unit == "ms":
        rate = hands / statistics.median(one.wall for one in times)
        note = f"user {user:.0f} ms, system {system:.0f} ms, {rate:,.0f} hands/s"
    return Row(
        group=group,
        who=who,
        rate_median=statistics.median(spent),
        rate_low=min(spent),
        rate_high=max(spent),
        unit=unit,
        ratio=None if who == "this checkout" else statistics.median(ratios),
        note=note,
        user_us=user if unit == "µs" else None,
        system_us=system if unit == "µs" else None,
    )


# ---- matches of a dealer and its players


def _tables(
    game: Path, players: int, matches: int, arenas: Mapping[str, Path], dealers: Mapping[str, Path]
) -> Iterator[_Contender]:
    """Jobs of dealers with the same players, and of players with the same dealer."""
    other = dealers.get("reference", OWN)
    for who, dealer in dealers.items():
        table = _Table(game, players, matches, dealer, other)
        yield _Contender("dealer", who, lambda hands, table=table: table.play(hands)[0])
    for who, arena in arenas.items():
        table = _Table(game, players, matches, other, arena)
        yield _Contender("Python players", who, lambda hands, table=table: table.play(hands)[1])


@dataclass(frozen=True, slots=True)
class _Table:
    """Folders of a dealer and its players, each a checkout of the arena or the reference."""

    game: Path
    players: int
    matches: int
    dealer: Path
    player: Path

    def play(self, hands: int) -> tuple[_Times, _Times]:
        """Play the matches; return the times of the dealers and of the players."""
        begun_s = time.monotonic()
        dealers, players = [], []
        names = [f"p{seat}" for seat in range(self.players)]
        try:
            for number in range(self.matches):
                dealer, ports = start_dealer(self.dealer, self.game, [str(hands), str(number + 1), *names], number)
                dealers.append(dealer)
                for port in ports:
                    command = [str(self.player / "example_player"), str(self.game), "127.0.0.1", port]
                    if not os.path.isfile(command[0]):
                        command = [*START_ARENA, "bot", "calling", "127.0.0.1", port, "--game", str(self.game)]
                    players.append(start_program(command, self.player, self.game.parent))
            return _wait(dealers, begun_s), _wait(players, begun_s)
        finally:
            end_programs([*dealers, *players])


def start_dealer(
    folder: Path, game: Path, words: Sequence[str], number: int = 0
) -> tuple[subprocess.Popen[bytes], list[str]]:
    """Start a dealer of the reference or of a checkout; return it with its ports."""
    program = [str(folder / "dealer")]
    if not os.path.isfile(program[0]):
        program = _START_DEALER
    dealer = start_program([*program, f"m{number}", str(game), *words, "-q"], folder, game.parent)
    assert dealer.stdout is not None
    return dealer, dealer.stdout.readline().decode().split()


def _contest(words: Sequence[str], hands: int, arena: Path) -> _Times:
    begun_s = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        play = start_program([*START_ARENA, "play", *words, "-n", str(hands)], arena, Path(folder))
        try:
            return _wait([play], begun_s)
        finally:
            end_programs([play])


def start_program(command: Sequence[str], arena: Path, folder: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(arena), "PYTHONDONTWRITEBYTECODE": ""},
    )


def _wait(processes: Sequence[subprocess.Popen[bytes]], begun_s: float) -> _Times:
    """Wait for programs; return the processor time of them and their children."""
    user = system = 0.0
    for process in processes:
        assert process.stdout is not None
        process.stdout.read()
        # `process.wait` would lose the times.
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise RuntimeError(f"{process.args!r} ended with exit code {process.returncode}")
        user += usage.ru_utime
        system += usage.ru_stime
    return _Times(user, system, time.monotonic() - begun_s)


def end_programs(processes: Sequence[subprocess.Popen[bytes]]) -> None:
    for process in processes:
        process.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()


# ---- lines to a player that waits


def _waits_s(dealer: Path, count: int, folder: Path) -> list[float]:
    """Delays of a state at the player who is not to act, after the question to the other."""
    game = find_game("kuhn")[1]
    path = folder / "kuhn.game"
    path.write_text(format_game_definition(game), "ascii")
    process, ports = start_dealer(dealer, path, [str(count), "1", "p0", "p1"])
    waits_s: list[float] = []
    with contextlib.ExitStack() as open_sockets:
        try:
            players = [_WaitingPlayer(game, open_sockets, int(port)) for port in ports]
            while len(waits_s) < count:
                while not (players[0].states == players[1].states and any(player.is_asked for player in players)):
                    for player in select.select(players, (), (), _TIMEOUT_S)[0] or _nothing_came():
                        player.receive()
                asked, other = sorted(players, key=lambda player: not player.is_asked)
                waits_s.append(other.received_s - asked.received_s)
                asked.answer()
        finally:
            end_programs([process])
    return waits_s


def _nothing_came() -> NoReturn:
    raise RuntimeError(f"a dealer has sent nothing for {_TIMEOUT_S:g} s")


class _WaitingPlayer:
    """A player that always calls and notes the time of its last state."""

    def __init__(self, game: Game, open_sockets: contextlib.ExitStack, port: int) -> None:
        self._socket = open_sockets.enter_context(socket.create_connection(("127.0.0.1", port), _TIMEOUT_S))
        self._session = PlayerSession(game)
        self._socket.sendall(self._session.send(Handshake()))
        self.states = 0
        self.is_asked = False
        self.received_s = 0.0

    def fileno(self) -> int:
        return self._socket.fileno()

    def receive(self) -> None:
        self._session.receive_data(self._socket.recv(1 << 16))
        self.received_s = time.monotonic()
        while isinstance(event := self._session.next_event(), ReceivedState):
            self.states += 1
            self.is_asked = event.is_my_turn

    def answer(self) -> None:
        self.is_asked = False
        self._socket.sendall(self._session.send(Reply(CALL)))


def _waiting(who: str, waits_s: Sequence[float]) -> Row:
    return row_of_times("line to a player that is not to act, after the question to the other", who, waits_s, "kuhn")
