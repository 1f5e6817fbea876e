"""``acpc-dealer``: the drop-in for the reference dealer of the ACPC.

The same command line, ports line, standard output and error, log, transaction log, resume (``-a``), clocks and exit
codes. Accidents of the reference are not repeated: a player that has gone does not kill this dealer by SIGPIPE, nor an
odd hand by an assertion, it deals a hand in which the blinds put every player all-in to its end, and the time to
connect also covers naming the version. SIGTERM and SIGHUP end it as they end any program.

The command line is ``acpc-dealer MATCH GAMEDEF HANDS SEED NAME... [options]``, read as the reference's C library reads
it: options may stand anywhere, ``--`` ends them, short ones can be bundled and long ones shortened to any beginning.
Numbers are read as far as they are numbers and wrap around. ``--host``, ``--coalesce``, ``--affinity``, ``--help`` and
the variable `HOST_VARIABLE` are ours. What is printed is the reference's, byte for byte.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TextIO

from dealer.errors import Cause, ListenError, UsageError
from dealer.match import Match, MatchSetup, Phase, causes
from dealer.match.ending_sentences import cause_clause
from dealer.match.events import (
    Event,
    FaultSeen,
    HandClosed,
    LineReceived,
    LineSent,
    MatchEnded,
    MatchStarted,
    Settled,
    VersionDiffers,
    Watcher,
)
from dealer.match.faults import ReplyProblem
from dealer.match.setup import DEFAULT_COALESCE_S, DEFAULT_LIMITS, TimeLimits
from dealer.match.writers import LogWriter, TransactionWriter
from dealer.table.collector import relax_collector
from dealer.table.connections import Connections
from dealer.table.listener import LOOPBACK
from dealer.table.loop import new_event_loop
from engine import Game, GameError, Seat
from engine.game import MAX_PLAYERS
from logs import format_header, format_score_line, parse_transactions
from logs.transaction_log import Transaction, format_time
from logs.whole_file import LineFile
from protocol import parse_game_definition
from protocol.framing import LineReader
from protocol.numbers import scan_integer, scan_unsigned, wrap_uint32

_AWAITED_S = 10.0
"""After this time without a player, standard error shows where it is awaited."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the dealer; returns the exit code. As in the reference, complaints about options begin with ``argv[0]``."""
    try:
        return _run(sys.argv[1:] if arguments is None else arguments)
    except UsageError as error:
        _Output(sys.stdout if error.to_stdout else sys.stderr).print(str(error))
        return 1
    except KeyboardInterrupt:
        _Output(sys.stderr).print("ERROR: interrupted\n")
        return 130


class _Output:
    """A standard stream that may be closed, full or without a reader: the match and its log continue all the same.

    It is not buffered by Python, which would complain at exit about bytes that could not be written.

    Attributes:
        is_open: whether anything still arrives.
    """

    def __init__(self, stream: TextIO | None) -> None:
        self.is_open = stream is not None
        self._fd = -1 if stream is None else stream.fileno()

    def write(self, data: bytes) -> None:
        try:
            while data and self.is_open:
                data = data[os.write(self._fd, data) :]
        except OSError:
            self.is_open = False

    def print(self, text: str) -> None:
        self.write(text.encode("utf-8", "surrogateescape"))


def _run(arguments: Sequence[str]) -> int:
    options = parse_options(arguments, sys.argv[0])
    if options.help:
        _Output(sys.stdout).print(USAGE + EXTENSIONS)
        return 0
    setup = _setup_of(options)
    if options.core is not None:
        _bind(options.core)
    limits = setup.limits
    header = format_header(
        setup.name,
        options.positionals[1],
        setup.hands,
        setup.seed,
        t_response_ms=limits.response_ms,
        t_hand_ms=limits.hand_ms,
        # The reference prints what its 64-bit total leaves for a hand.
        t_per_hand_ms=limits.match_us(setup.hands) // setup.hands // 1000,
    )
    watchers: list[Watcher] = []
    earlier: list[Transaction] = []
    log = None
    if options.log:
        log = _open(f"{setup.name}.log", "ERROR: could not open log file ", options.append)
        watchers.append(LogWriter(log, setup.names))
    if options.transaction_log:
        path = f"{setup.name}.tlog"
        if options.append:
            earlier = _read_transactions(path, setup.game)
        watchers.append(TransactionWriter(_open(path, "ERROR: could not open transaction file ", options.append)))
    watchers.append(Transcript(_Output(sys.stderr), quiet=options.quiet, setup=setup))
    match = Match(setup, watchers, earlier)
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        runner.run(_play(match, options, lambda: _write_header(header, log)))
    return 0 if match.phase is Phase.FINISHED else 1


def _bind(core: int) -> None:
    """Bind this process to a core, which the players share if they are started there, too."""
    from dealer.run.affinity import bind_thread, usable_cores

    cores = usable_cores()
    if core not in cores:
        problem = "this system binds to no core"
        if cores:
            problem = f"core {core} is none of {', '.join(map(str, cores))}"
        raise UsageError(f"ERROR: {problem}\n")
    bind_thread((core,))


def _setup_of(options: Options) -> MatchSetup:
    if len(options.positionals) < 4:
        raise UsageError(USAGE, to_stdout=True)
    name, game_file, hands, seed, *names = options.positionals
    game = _read_game(game_file)
    if len(names) < game.num_players:
        raise UsageError(USAGE, to_stdout=True)
    return MatchSetup(
        game=game,
        name=name,
        hands=parse_hands(hands),
        seed=parse_seed(seed),
        names=tuple(names[: game.num_players]),
        fixed_seats=options.fixed_seats,
        limits=options.limits,
    )


def _read_game(path: str) -> Game:
    try:
        with open(path, "rb") as file:
            text = file.read().decode("latin-1")
    except IsADirectoryError:
        text = ""
    except OSError:
        raise UsageError(f"ERROR: could not open game definition {path}\n") from None
    try:
        return parse_game_definition(text)
    except GameError as error:
        raise UsageError(f"{error}\nERROR: could not read game {path}\n") from None


def _open(path: str, complaint: str, append: bool) -> LineFile:
    try:
        return LineFile(path, append=append)
    except (OSError, ValueError):
        raise UsageError(f"{complaint}{path}\n") from None


def _read_transactions(path: str, game: Game) -> list[Transaction]:
    reader = LineReader()
    try:
        with open(path, "rb") as file:
            reader.feed(file.read())
    except OSError:
        return []
    reader.feed_eof()
    lines = (line.decode("utf-8", "surrogateescape") for line in iter(reader.pop, None))
    return parse_transactions(lines, is_limit=game.is_limit)


def _write_header(header: str, log: LineFile | None) -> None:
    _Output(sys.stderr).print(header)
    if log is not None:
        try:
            log.write(header)
        except OSError as error:
            raise UsageError(f"ERROR: could not write {log.path}: {error.strerror}\n") from None


async def _play(match: Match, options: Options, write_header: Callable[[], None]) -> None:
    connections = Connections(match, host=options.host, coalesce_s=options.coalesce_s)
    relax_collector()
    try:
        ports = connections.listen(options.ports)
    except ListenError as error:
        raise UsageError(f"ERROR: could not create listen socket for player {error.seat + 1}\n") from None
    output = _Output(sys.stdout)
    output.print(" ".join(map(str, ports)) + "\n")
    write_header()

    def print_awaited() -> None:
        missing = [(seat, ports[seat]) for seat in match.missing_seats()]
        if missing and match.phase is Phase.CONNECTING:
            _Output(sys.stderr).print(awaited_text(connections.hosts, missing, _AWAITED_S))

    timer = asyncio.get_running_loop().call_later(_AWAITED_S, print_awaited)
    await connections.run()
    timer.cancel()
    if match.phase is Phase.FINISHED:
        output.print(format_score_line(match.totals, match.setup.names))


class Transcript(Watcher):
    """What the reference prints to standard error while it plays.

    Its warnings are printed even when it is quiet.
    """

    def __init__(self, output: _Output, *, quiet: bool, setup: MatchSetup) -> None:
        self._output = output
        self._quiet = quiet
        self._names = setup.names
        self._collected: list[bytes] = []
        self.wants = frozenset({VersionDiffers, FaultSeen, MatchEnded})
        if not quiet:
            self.wants |= {MatchStarted, LineSent, LineReceived, HandClosed, Settled}

    def notice(self, event: Event) -> None:
        """Collect what the reference prints, and write it when the match waits for a player or has ended."""
        self._collected.append(event_text(event, self._names, is_quiet=self._quiet))
        if self._quiet or isinstance(event, Settled | MatchEnded):
            self._output.write(b"".join(self._collected))
            self._collected.clear()


# ---- the command line

USAGE = """\
usage: dealer matchName gameDefFile #Hands rngSeed p1name p2name ... [options]
  -f use fixed dealer button at table
  -l/L disable/enable log file - enabled by default
  -p player1_port,player2_port,... [default is random]
  -q only print errors, warnings, and final value to stderr
  -t/T disable/enable transaction file - disabled by default
  -a append to log/transaction files - disabled by default
  --t_response [milliseconds] maximum time per response
  --t_hand [milliseconds] maximum player time per hand
  --t_per_hand [milliseconds] maximum average player time for match
  --start_timeout [milliseconds] maximum time to wait for players to connect
    <0 [default] is no timeout
"""

HOST_VARIABLE = "ACPC_DEALER_HOST"
"""Names the address to listen on where no option can be given, as in the reference's own scripts."""

EXTENSIONS = """\
beyond the reference:
  --host [address] address to listen on; 0.0.0.0 admits other machines. By default that of the environment variable
    ACPC_DEALER_HOST, else every address of this machine, for players on this machine only
  --coalesce [milliseconds] with -q, hold back lines to players who are not to act until their next question,
    for at most this long, 10 by default: fewer and larger writes, the same bytes; 0 for bots that compute
    during opponents' turns
  --affinity [core] run on this core alone, for players that are started on the same core
  --help print this text
"""
_SHORT_WITH_VALUE = "p"
_SHORT = "flLqtTa"
_LONG_WITH_VALUE = ("t_response", "t_hand", "t_per_hand", "start_timeout", "host", "coalesce", "affinity")
_LONG = (*_LONG_WITH_VALUE, "help")
_MAX_PORTS = 10


@dataclass(slots=True)
class Options:
    positionals: list[str] = field(default_factory=list)
    fixed_seats: bool = False
    log: bool = True
    transaction_log: bool = False
    append: bool = False
    quiet: bool = False
    ports: tuple[int, ...] = ()
    limits: TimeLimits = DEFAULT_LIMITS
    host: str = LOOPBACK
    coalesce_s: float = DEFAULT_COALESCE_S
    core: int | None = None
    help: bool = False


def parse_options(arguments: Sequence[str], program: str) -> Options:
    """Read a command line without the program's name, by which complaints about options begin.

    Raises:
        UsageError: an option is unknown or its value unreadable.
    """
    options = Options(host=os.environ.get(HOST_VARIABLE) or LOOPBACK)
    for name, value in _split(arguments, options.positionals, program):
        _set(options, name, value)
    return options


def _full_option(name: str) -> str | None:
    """The long option of this name, or the first that begins with it."""
    if name in _LONG:
        return name
    for option in _LONG:
        if option.startswith(name):
            return option
    return None


def _split(arguments: Sequence[str], positionals: list[str], program: str) -> Iterator[tuple[str, str]]:
    rest = iter(arguments)
    for argument in rest:
        if argument == "--":
            positionals.extend(rest)
        elif argument.startswith("--"):
            name, equals, value = argument[2:].partition("=")
            full = _full_option(name)
            if full is None:
                raise UsageError(f"{program}: unrecognized option '{argument}'\nERROR: unknown option ?\n")
            if full not in _LONG_WITH_VALUE:
                yield full, ""
                continue
            if not equals:
                following = next(rest, None)
                if following is None:
                    raise UsageError(f"{program}: option '--{full}' requires an argument\nERROR: unknown option ?\n")
                value = following
            yield full, value
        elif argument.startswith("-") and len(argument) > 1:
            yield from _split_bundle(argument[1:], rest, program)
        else:
            positionals.append(argument)


def _split_bundle(letters: str, rest: Iterator[str], program: str) -> Iterator[tuple[str, str]]:
    for i, letter in enumerate(letters):
        if letter in _SHORT_WITH_VALUE:
            value = letters[i + 1 :] or next(rest, None)
            if value is None:
                raise UsageError(f"{program}: option requires an argument -- '{letter}'\nERROR: unknown option ?\n")
            yield letter, value
            return
        if letter not in _SHORT:
            raise UsageError(f"{program}: invalid option -- '{letter}'\nERROR: unknown option ?\n")
        yield letter, ""


def _set(options: Options, name: str, value: str) -> None:
    match name:
        case "f":
            options.fixed_seats = True
        case "l":
            options.log = False
        case "L":
            options.log = True
        case "t":
            options.transaction_log = False
        case "T":
            options.transaction_log = True
        case "a":
            options.append = True
        case "q":
            options.quiet = True
        case "help":
            options.help = True
        case "p":
            options.ports = _parse_ports(value)
        case "t_response":
            limit_us = _microseconds(value, "ERROR: could not get response timeout from ")
            options.limits = replace(options.limits, response_us=limit_us)
        case "t_hand":
            limit_us = _microseconds(value, "ERROR: could not get player hand timeout from ")
            options.limits = replace(options.limits, hand_us=limit_us)
        case "t_per_hand":
            limit_us = _microseconds(value, "ERROR: could not get average player hand timeout from ")
            options.limits = replace(options.limits, per_hand_us=limit_us)
        case "start_timeout":
            milliseconds = _integer(value, "ERROR: could not get start timeout ")
            start_us = None
            if milliseconds >= 0:
                start_us = milliseconds * 1000
            options.limits = replace(options.limits, start_us=start_us)
        case "host":
            options.host = value
        case "coalesce":
            options.coalesce_s = max(0, _integer(value, "ERROR: could not get coalescing time from ")) / 1000
        case "affinity":
            options.core = _integer(value, "ERROR: could not get core from ")


def _integer(text: str, complaint: str) -> int:
    scanned = scan_integer(text)
    if scanned is None:
        raise UsageError(f"{complaint}{text}\n")
    return scanned[0]


def _microseconds(text: str, complaint: str) -> int:
    scanned = scan_unsigned(text)
    if scanned is None:
        raise UsageError(f"{complaint}{text}\n")
    return scanned[0] * 1000 % 2**64


def _parse_ports(text: str) -> tuple[int, ...]:
    ports: list[int] = []
    at = 0
    while text and len(ports) < _MAX_PORTS:
        scanned = scan_unsigned(text, at)
        if scanned is None:
            raise UsageError(f"ERROR: bad port string {text}\n")
        ports.append(scanned[0] & 0xFFFF)
        at = scanned[1]
        if at == len(text):
            break
        if text[at] != ",":
            raise UsageError(f"ERROR: bad port string {text}\n")
        at += 1
    return tuple(ports)


def parse_hands(text: str) -> int:
    """The number of hands, modulo 2**32; raises `UsageError` for 0 and what is not a number."""
    scanned = scan_unsigned(text)
    hands = 0
    if scanned is not None:
        hands = wrap_uint32(scanned[0])
    if hands == 0:
        raise UsageError(f"ERROR: invalid number of hands {text}\n")
    return hands


def parse_seed(text: str) -> int:
    """The seed, modulo 2**32; raises `UsageError` for what is not a number."""
    scanned = scan_unsigned(text)
    if scanned is None:
        raise UsageError(f"ERROR: invalid random number seed {text}\n")
    return wrap_uint32(scanned[0])


# ---- what the reference prints

_SECONDS_EVERY_HANDS = 100
"""How often the time that the players have used is printed."""
_WARNINGS = {
    ReplyProblem.NO_REPLY: "bad state format in response",
    ReplyProblem.OTHER_STATE: "ignoring un-requested response",
    ReplyProblem.UNREADABLE_SIZE: "bad action format in response, changed to call",
    ReplyProblem.UNKNOWN_ACTION: "invalid action, changed to call",
    ReplyProblem.ILLEGAL_ACTION: "invalid action, changed to call",
    ReplyProblem.ACTION_LIMIT: (
        "#actions in round is too close to MAX_NUM_ACTIONS, forcing call/fold\nWARNING: invalid action, changed to call"
    ),
}
_START_PROBLEMS = {
    causes.StartProblem.NOT_CONNECTED: "timed out waiting for seat {} to connect",
    causes.StartProblem.VERSION_LATE: "timed out waiting for seat {} to name its version",
    causes.StartProblem.LEFT: "could not read version string from seat {}",
}
_TRANSACTION_PROBLEMS = {
    causes.TransactionProblem.UNREADABLE: "could not parse transaction stamp",
    causes.TransactionProblem.WRONG_HAND: "handId mismatch in transaction log:",
    causes.TransactionProblem.INVALID_ACTION: "invalid action in transaction log:",
}


def event_text(event: Event, names: Sequence[str], *, is_quiet: bool = False) -> bytes:
    """What is printed to standard error when something happens; nothing for events the reference does not have.

    Args:
        names: the players, by seat.
        is_quiet: leave out when the match finished.
    """
    match event:
        case LineSent(seat, at_us, line):
            return b"TO %d at %s %s" % (seat + 1, format_time(at_us).encode(), line)
        case LineReceived(seat, at_us, line):
            # Up to a NUL, as C prints it.
            return b"FROM %d at %s %s" % (seat + 1, format_time(at_us).encode(), line.split(b"\0")[0])
        case FaultSeen() | VersionDiffers():
            text = warning_text(event)
        case MatchStarted(at_us=at_us):
            text = f"STARTED at {format_time(at_us)}\n"
        case HandClosed(hand_number, used_us) if hand_number % _SECONDS_EVERY_HANDS == 0:
            text = "".join(
                f"Seconds cumulatively spent in match for seat {seat}: {used // 1000000}\n"
                for seat, used in enumerate(used_us)
            )
        case MatchEnded(cause=None):
            finished = "" if is_quiet else f"FINISHED at {format_time(event.asked_us)}\n"
            text = finished + format_score_line(event.totals, names)
        case MatchEnded():
            text = "" if event.cause is None else failure_text(event.cause)
        case _:
            return b""
    return text.encode("utf-8", "surrogateescape")


def warning_text(event: FaultSeen | VersionDiffers) -> str:
    """What is printed about a player that did something wrong, with its line end; empty where it is not a reply."""
    if isinstance(event, VersionDiffers):
        return "ERROR: this server is currently using version 2.0.0\n"
    if event.problem is None:
        return ""
    if event.problem in _WARNINGS:
        return f"WARNING: {_WARNINGS[event.problem]}\n"
    played, sent = event.fault.played, event.sent
    if played is None or sent is None:
        raise TypeError(f"no raise in {event!r}")
    change = "increased" if sent.hand_total < played.hand_total else "decreased"
    return f"WARNING: raise of {sent.hand_total} {change} to {played.hand_total}\n"


def failure_text(cause: Cause) -> str:
    """Why a match failed, with its line end."""
    match cause:
        # These two print a line as it came, with its end or without one, up to a NUL.
        case causes.NotStarted(problem=causes.StartProblem.UNREADABLE_VERSION):
            line = cause.line.split(b"\0")[0].decode("utf-8", "surrogateescape")
            return f"ERROR: invalid version string {line}"
        case causes.BadTransaction(problem, line):
            return f"ERROR: {_TRANSACTION_PROBLEMS[problem]} {line.split(chr(0), 1)[0]}"
        case _:
            return f"ERROR: {_sentence(cause)}\n"


def awaited_text(hosts: Sequence[str], ports: Sequence[tuple[Seat, int]], seconds: float) -> str:
    """What is printed once when seats stay empty for so long; the reference prints nothing."""
    where = " and ".join(f"seat {seat + 1} at port {port}" for seat, port in ports)
    awaited = f"# no player has connected for {where} in {seconds:g} s; listening on"
    if set(hosts) & {"0.0.0.0", "::"}:
        return f"{awaited} every address: a wrong address or port, or a firewall, may keep a player away.\n"
    listening = "every address of this machine, for this machine alone" if LOOPBACK in hosts else " and ".join(hosts)
    hint = "a player with another address cannot connect; --host 0.0.0.0 or ACPC_DEALER_HOST=0.0.0.0 admits all"
    return f"{awaited} {listening}: {hint}.\n"


def _sentence(cause: Cause) -> str:
    match cause:
        case causes.NotStarted(seat, problem) if problem in _START_PROBLEMS:
            return _START_PROBLEMS[problem].format(seat + 1)
        case causes.OutOfTime(seat, is_replayed=is_replayed):
            return f"seat {seat + 1} ran out of time" + (" in transaction file" if is_replayed else "")
        case causes.NoAnswer(seat, waited_us, limit_us):
            return (
                f"could not get action from seat {seat + 1}\n"
                f"{waited_us / 1e6:.1f} seconds spent waiting; timeout {limit_us / 1e6:.1f}"
            )
        case causes.Unreachable(seat):
            return f"could not send state to seat {seat + 1}"
        case _:
            # The reference has no such cause.
            seats = [f"seat {seat + 1}" for seat in range(MAX_PLAYERS)]
            return cause_clause(cause, seats, getattr(cause, "hand_number", 0), shows_output=True)
