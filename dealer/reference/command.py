"""Command ``acpc-dealer``, a drop-in replacement for the reference dealer of the ACPC.

    acpc-dealer MATCH GAMEDEF HANDS SEED NAME... [options]

It has the command line, output, files, clocks and exit codes of the reference, byte for byte. It does not repeat the
reference's accidents: a player that leaves does not kill it by SIGPIPE, it plays hands in which the blinds put every
player all-in, and the time to connect includes the version line. `EXTENSIONS` lists its own options.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
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
"""Time after which standard error shows the ports of missing players."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the dealer, and return its exit code."""
    if arguments is None:
        arguments = sys.argv[1:]
    try:
        return _run(arguments)
    except UsageError as error:
        _Output(sys.stdout if error.to_stdout else sys.stderr).print(str(error))
        return 1
    except KeyboardInterrupt:
        _Output(sys.stderr).print("ERROR: interrupted\n")
        return 130


class _Output:
    """Standard stream that may be closed, full or without a reader. The match and its log continue without it.

    Attributes:
        is_open: the stream accepts bytes.
    """

    def __init__(self, stream: TextIO | None) -> None:
        self.is_open = stream is not None
        self._fd = -1 if stream is None else stream.fileno()

    def write(self, data: bytes) -> None:
        try:
            # With os.write, because Python would complain at exit about buffered bytes that it cannot flush.
            while data and self.is_open:
                data = data[os.write(self._fd, data) :]
        except OSError:
            self.is_open = False

    def print(self, text: str) -> None:
        self.write(text.encode("utf-8", "surrogateescape"))


def _run(arguments: Sequence[str]) -> int:
    # C's getopt begins its complaints with argv[0].
    options = parse_options(arguments, sys.argv[0])
    if options.help:
        _Output(sys.stdout).print(USAGE + EXTENSIONS)
        return 0
    setup = _match_setup(options)
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
        # The reference keeps a 64-bit total for the match, and prints that total divided by the number of hands.
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
    if match.phase is not Phase.FINISHED:
        return 1
    return 0


def _bind(core: int) -> None:
    """Bind this process to a core."""
    from dealer.run.affinity import bind_thread, usable_cores

    cores = usable_cores()
    if core not in cores:
        problem = "this system cannot bind a process to a core"
        if cores:
            problem = f"core {core} is none of {', '.join(map(str, cores))}"
        raise UsageError(f"ERROR: {problem}\n")
    bind_thread((core,))


def _match_setup(options: Options) -> MatchSetup:
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
        # C opens a folder like a file, and reads nothing from it.
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
    # The ports come first: scripts that start a match read this line, and then start the players.
    output.print(" ".join(map(str, ports)) + "\n")
    write_header()

    def print_awaited() -> None:
        missing = {seat: ports[seat] for seat in match.missing_seats()}
        if missing and match.phase is Phase.CONNECTING:
            _Output(sys.stderr).print(_format_awaited(connections.hosts, missing, _AWAITED_S))

    timer = asyncio.get_running_loop().call_later(_AWAITED_S, print_awaited)
    await connections.run()
    timer.cancel()
    if match.phase is Phase.FINISHED:
        output.print(format_score_line(match.totals, match.setup.names))


class Transcript(Watcher):
    """Printer of the reference's standard error: events, or only warnings if it is quiet."""

    def __init__(self, output: _Output, *, quiet: bool, setup: MatchSetup) -> None:
        self._output = output
        self._quiet = quiet
        self._names = setup.names
        self._collected: list[bytes] = []
        self.wants = frozenset({VersionDiffers, FaultSeen, MatchEnded})
        if not quiet:
            self.wants |= {MatchStarted, LineSent, LineReceived, HandClosed, Settled}

    def notice(self, event: Event) -> None:
        """Print an event; lines are collected until the match waits for a player."""
        self._collected.append(format_event(event, self._names, is_quiet=self._quiet))
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

_HOST_VARIABLE = "ACPC_DEALER_HOST"
"""Environment variable for ``--host``, for scripts that pass a fixed command line, such as the reference's own."""

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
_MAX_PORTS = MAX_PLAYERS
"""Ports of ``-p`` that are read; the reference ignores the rest of the text."""


@dataclass(slots=True)
class Options:
    """Values of a command line.

    Attributes:
        positionals: arguments that are not options.
        log: write the ACPC log.
        transaction_log: write the transaction log.
        append: append to existing logs, and resume the match from the transaction log.
        quiet: print only warnings and the score to standard error.
        ports: ports by seat; 0 or a missing one for any free port.
        core: core to run on; None for any.
    """

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
    """Parse a command line as the reference does.

    Args:
        arguments: the command line without the program's name.
        program: the program's name, for messages.

    Raises:
        UsageError: an option is unknown, or its value is not a number.
    """
    # The rules of glibc's getopt_long: options may follow positionals, "--" ends them, short options can be bundled.
    options = Options(host=os.environ.get(_HOST_VARIABLE) or LOOPBACK)
    for name, value in _split_options(arguments, options.positionals, program):
        _set(options, name, value)
    return options


def _full_option(name: str) -> str | None:
    """Return the long option that a name abbreviates, or None."""
    # getopt_long accepts any prefix. "--t" is ambiguous, but it takes the first match if all are declared alike, as the
    # options of the reference are.
    if name in _LONG:
        return name
    for option in _LONG:
        if option.startswith(name):
            return option
    return None


def _split_options(arguments: Sequence[str], positionals: list[str], program: str) -> Iterator[tuple[str, str]]:
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
            options.limits = replace(options.limits, response_us=_parse_limit(value, "response timeout"))
        case "t_hand":
            options.limits = replace(options.limits, hand_us=_parse_limit(value, "player hand timeout"))
        case "t_per_hand":
            options.limits = replace(options.limits, per_hand_us=_parse_limit(value, "average player hand timeout"))
        case "start_timeout":
            # Without "from" in the reference as well.
            milliseconds = _parse_integer(value, "ERROR: could not get start timeout ")
            start_us = None
            if milliseconds >= 0:
                start_us = milliseconds * 1000
            options.limits = replace(options.limits, start_us=start_us)
        case "host":
            options.host = value
        case "coalesce":
            milliseconds = _parse_integer(value, "ERROR: could not get coalescing time from ")
            options.coalesce_s = max(0, milliseconds) / 1000
        case "affinity":
            options.core = _parse_integer(value, "ERROR: could not get core from ")


# Numbers are parsed like C's sscanf: text after the digits is ignored, and large numbers wrap around.


def _parse_integer(text: str, complaint: str) -> int:
    scanned = scan_integer(text)
    if scanned is None:
        raise UsageError(f"{complaint}{text}\n")
    number, _ = scanned
    return number


def _parse_unsigned(text: str, complaint: str) -> int:
    scanned = scan_unsigned(text)
    if scanned is None:
        raise UsageError(f"{complaint}{text}\n")
    number, _ = scanned
    return number


def _parse_limit(text: str, name: str) -> int:
    """Parse a time limit in milliseconds, and return it in microseconds, modulo 2**64."""
    milliseconds = _parse_unsigned(text, f"ERROR: could not get {name} from ")
    return milliseconds * 1000 % 2**64


def _parse_ports(text: str) -> tuple[int, ...]:
    """Parse port numbers, modulo 2**16, between commas."""
    ports: list[int] = []
    offset = 0
    while text and len(ports) < _MAX_PORTS:
        scanned = scan_unsigned(text, offset)
        if scanned is None:
            raise UsageError(f"ERROR: bad port string {text}\n")
        port, offset = scanned
        ports.append(port & 0xFFFF)
        if offset == len(text):
            break
        if text[offset] != ",":
            raise UsageError(f"ERROR: bad port string {text}\n")
        offset += 1
    return tuple(ports)


def parse_hands(text: str) -> int:
    """Parse a number of hands, modulo 2**32.

    Raises:
        UsageError: the text is not a number, or the number is 0.
    """
    complaint = "ERROR: invalid number of hands "
    hands = wrap_uint32(_parse_unsigned(text, complaint))
    if hands == 0:
        raise UsageError(f"{complaint}{text}\n")
    return hands


def parse_seed(text: str) -> int:
    """Parse a seed, modulo 2**32.

    Raises:
        UsageError: the text is not a number.
    """
    return wrap_uint32(_parse_unsigned(text, "ERROR: invalid random number seed "))


# ---- standard error

_TIME_EVERY_HANDS = 100
"""Number of hands between two reports of the time used."""
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


def format_event(event: Event, names: Sequence[str], *, is_quiet: bool = False) -> bytes:
    """Format an event for standard error. Events that the reference does not have are empty.

    Args:
        event: the event.
        names: names of the players, by seat.
        is_quiet: omit the time at which the match finished.
    """
    match event:
        case LineSent(seat, at_us, line):
            return b"TO %d at %s %s" % (seat + 1, format_time(at_us).encode(), line)
        case LineReceived(seat, at_us, line):
            # Up to a NUL, where a string of C ends.
            return b"FROM %d at %s %s" % (seat + 1, format_time(at_us).encode(), line.split(b"\0")[0])
        case FaultSeen() | VersionDiffers():
            text = format_warning(event)
        case MatchStarted(at_us=at_us):
            text = f"STARTED at {format_time(at_us)}\n"
        case HandClosed(hand_number, used_us) if hand_number % _TIME_EVERY_HANDS == 0:
            text = ""
            # The only message in which seats count from 0.
            for number, used in enumerate(used_us):
                text += f"Seconds cumulatively spent in match for seat {number}: {used // 1000000}\n"
        case MatchEnded(cause=None):
            text = format_score_line(event.totals, names)
            if not is_quiet:
                # The reference prints the time of the last question here, not the time of the end.
                text = f"FINISHED at {format_time(event.asked_us)}\n{text}"
        case MatchEnded(cause=Cause() as cause):
            text = format_failure(cause)
        case _:
            return b""
    return text.encode("utf-8", "surrogateescape")


def format_warning(event: FaultSeen | VersionDiffers) -> str:
    """Format the warning about a fault, with its line end; empty for a fault that is not a reply."""
    if isinstance(event, VersionDiffers):
        return "ERROR: this server is currently using version 2.0.0\n"
    if event.problem is None:
        return ""
    if event.problem in _WARNINGS:
        return f"WARNING: {_WARNINGS[event.problem]}\n"
    played = event.fault.played
    sent = event.sent
    if played is None or sent is None:
        raise TypeError(f"no raise in {event!r}")
    change = "increased" if sent.hand_total < played.hand_total else "decreased"
    return f"WARNING: raise of {sent.hand_total} {change} to {played.hand_total}\n"


def format_failure(cause: Cause) -> str:
    """Format the error about the end of a match, with its line end."""
    match cause:
        # These two print the line as received, with its own line end if it has one, and up to a NUL.
        case causes.NotStarted(problem=causes.StartProblem.UNREADABLE_VERSION):
            line = cause.line.split(b"\0")[0].decode("utf-8", "surrogateescape")
            return f"ERROR: invalid version string {line}"
        case causes.BadTransaction(problem, line):
            return f"ERROR: {_TRANSACTION_PROBLEMS[problem]} {line.split(chr(0), 1)[0]}"
        case _:
            return f"ERROR: {_failure_clause(cause)}\n"


def _format_awaited(hosts: Sequence[str], ports: Mapping[Seat, int], seconds: float) -> str:
    """Format a hint about seats that are still empty; the reference prints nothing."""
    where = " and ".join(f"seat {seat + 1} at port {port}" for seat, port in ports.items())
    awaited = f"# no player has connected for {where} in {seconds:g} s; listening on"
    if set(hosts) & {"0.0.0.0", "::"}:
        return f"{awaited} every address: a wrong address or port, or a firewall, may keep a player away.\n"
    listening = " and ".join(hosts)
    if LOOPBACK in hosts:
        listening = "every address of this machine, for this machine alone"
    hint = "a player with another address cannot connect; --host 0.0.0.0 or ACPC_DEALER_HOST=0.0.0.0 admits all"
    return f"{awaited} {listening}: {hint}.\n"


def _failure_clause(cause: Cause) -> str:
    match cause:
        case causes.NotStarted(seat, problem) if problem in _START_PROBLEMS:
            return _START_PROBLEMS[problem].format(seat + 1)
        case causes.OutOfTime(seat, is_replayed=is_replayed):
            place = " in transaction file" if is_replayed else ""
            return f"seat {seat + 1} ran out of time{place}"
        case causes.NoAnswer(seat, waited_us, limit_us):
            return (
                f"could not get action from seat {seat + 1}\n"
                f"{waited_us / 1e6:.1f} seconds spent waiting; timeout {limit_us / 1e6:.1f}"
            )
        case causes.Unreachable(seat):
            return f"could not send state to seat {seat + 1}"
        case _:
            # The reference has no such cause. It knows players by their seats only.
            seats = [f"seat {seat + 1}" for seat in range(MAX_PLAYERS)]
            return cause_clause(cause, seats, getattr(cause, "hand_number", 0), shows_output=True)
