"""The command line of the reference dealer, read as its C library reads it.

``acpc-dealer MATCH GAMEDEF HANDS SEED NAME... [options]``: options may stand anywhere, ``--`` ends them, short ones
can be bundled and long ones shortened to any beginning. Numbers are read as far as they are numbers and wrap around.
What differs from the reference: ``--host``, ``--coalesce``, ``--help`` and the variable `HOST_VARIABLE` are ours.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from dealer.errors import UsageError
from dealer.table.listener import LOOPBACK
from protocol.numbers import scan_integer, scan_unsigned, wrap_uint32

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
  --coalesce [milliseconds] hold back lines to players who are not to act until their next question, for
    at most this long: fewer and larger writes, the same bytes; omit it for bots that compute during
    opponents' turns
  --help print this text
"""

_SHORT_WITH_VALUE = "p"
_SHORT = "flLqtTa"
_LONG_WITH_VALUE = ("t_response", "t_hand", "t_per_hand", "start_timeout", "host", "coalesce")
_LONG = (*_LONG_WITH_VALUE, "help")
_MAX_PORTS = 10


@dataclass(slots=True)
class Options:
    """A read command line; times in microseconds."""

    positionals: list[str] = field(default_factory=list)
    fixed_seats: bool = False
    log: bool = True
    transaction_log: bool = False
    append: bool = False
    quiet: bool = False
    ports: tuple[int, ...] = ()
    response_us: int = 600_000_000
    hand_us: int = 600_000_000
    per_hand_us: int = 7_000_000
    start_us: int | None = None
    host: str = LOOPBACK
    coalesce_s: float | None = None
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


def _split(arguments: Sequence[str], positionals: list[str], program: str) -> Iterator[tuple[str, str]]:
    rest = iter(arguments)
    for argument in rest:
        if argument == "--":
            positionals.extend(rest)
        elif argument.startswith("--"):
            name, equals, value = argument[2:].partition("=")
            full = next((long for long in _LONG if long == name), None)
            full = full or next((long for long in _LONG if long.startswith(name)), None)
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
        case "l" | "L":
            options.log = name == "L"
        case "t" | "T":
            options.transaction_log = name == "T"
        case "a":
            options.append = True
        case "q":
            options.quiet = True
        case "p":
            options.ports = _parse_ports(value)
        case "t_response":
            options.response_us = _microseconds(value, "ERROR: could not get response timeout from ")
        case "t_hand":
            options.hand_us = _microseconds(value, "ERROR: could not get player hand timeout from ")
        case "t_per_hand":
            options.per_hand_us = _microseconds(value, "ERROR: could not get average player hand timeout from ")
        case "start_timeout":
            milliseconds = _integer(value, "ERROR: could not get start timeout ")
            options.start_us = milliseconds * 1000 if milliseconds >= 0 else None
        case "host":
            options.host = value
        case "coalesce":
            options.coalesce_s = max(0, _integer(value, "ERROR: could not get coalescing time from ")) / 1000
        case "help":
            options.help = True


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
    """The number of hands, modulo 2**32.

    Raises:
        UsageError: it is not a number, or 0.
    """
    scanned = scan_unsigned(text)
    hands = 0 if scanned is None else wrap_uint32(scanned[0])
    if hands == 0:
        raise UsageError(f"ERROR: invalid number of hands {text}\n")
    return hands


def parse_seed(text: str) -> int:
    """The seed, modulo 2**32.

    Raises:
        UsageError: it is not a number.
    """
    scanned = scan_unsigned(text)
    if scanned is None:
        raise UsageError(f"ERROR: invalid random number seed {text}\n")
    return wrap_uint32(scanned[0])
