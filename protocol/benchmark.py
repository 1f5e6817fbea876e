r"""The text port of a benchmark server: what programs written for the ACPC's server send, and what they are answered.

Bytes in, events out; no sockets, no games, no queue. A client logs in with its first line, then gives commands, each a
word in any case at the start of a line. Lines end with LF (a CR before it counts as white space) and have at most 4095
bytes; what follows is the next line. A NUL ends a line. What is left when the client closes counts as a line.

    >>> session = BenchmarkSession()
    >>> session.receive_data(b"ann secret\nqstat\n")
    >>> session.next_event()
    Login(name='ann', password='secret', errand=None)
    >>> session.next_event() is None  # until the login has been looked at
    True
    >>> session.admit()
    >>> session.next_event()
    ClientCommand(verb=<Verb.QUEUE: 'qstat'>, tag=None, run=None)

`QUIT`, `CANCEL`, `RESULT` and `LOG` are additions; everything else is that of the reference, byte for byte. Additions
are in lines that begin with ``# ``, which existing clients print.

One client of the reference sends a single line, ``USER PASSWORD run|rerun|games ...``, and waits for the line
``Matches finished``: its login carries an errand (`Errand`).
"""

from __future__ import annotations

import enum
import re
from dataclasses import dataclass
from typing import TypeAlias

from engine.text import printable
from protocol.errors import LocalProtocolError
from protocol.framing import LineReader
from protocol.numbers import scan_integer, scan_unsigned, wrap_int32, wrap_uint32

LOGGED_IN = "LOGON OKAY - type help for commands\n"
BAD_LOGIN = "BAD LOGON\n"
BAD_REQUEST = "BAD RUNMATCHES COMMAND\n"
UNKNOWN = "UNKNOWN\n"
NO_QUEUE = "Queue empty\n"
FINISHED = "Matches finished\n"
OWN_SEAT = "LOCAL"
HELP = """HELP - this message
GAMES - list available games and players
QSTAT - show the current queue
RUNMATCHES game #runs tag rngSeed player ... - submit match request
  - Player order decides match seating
  - "LOCAL" player runs the bm_widget agent (bot_command)
# CANCEL tag - cancel your requests with this tag
# RESULT [tag] - show the results of your requests
# LOG tag [run] - show the log of a run, or of all
# QUIT - leave
"""

MOST_TAG_BYTES = 250
"""So long may a user's name and the tag together be."""

_BLANKS = re.compile(r"[ \t\n\v\f\r]+")
_NUMBER = re.compile(r"[+-]?[0-9]+")


@dataclass(frozen=True, slots=True)
class RequestRuns:
    """Play a game some times.

    Attributes:
        runs: how often; at least 0.
        seed: of all runs together, 32 bits.
        players: the words that follow: at least as many as were sent, of which a game takes as many as it has seats.
        index: only the run with this number, from 0, in the sequence of seeds.
    """

    game: str
    runs: int
    tag: str
    seed: int
    players: tuple[str, ...]
    index: int | None = None


@dataclass(frozen=True, slots=True)
class Malformed:
    """A request for runs that is not valid; `problem` is why."""

    problem: str


class Verb(enum.Enum):
    """What a command is about; in parentheses what it names."""

    HELP = "help"
    GAMES = "games"
    QUEUE = "qstat"
    CANCEL = "cancel"
    """Cancel the client's requests (tag)."""
    RESULT = "result"
    """The results of the client's requests (tag)."""
    LOG = "log"
    """The logs of the client's requests (tag, run)."""
    QUIT = "quit"
    UNKNOWN = ""
    """A line that is no command."""


@dataclass(frozen=True, slots=True)
class ClientCommand:
    """A command that is no request for runs.

    Attributes:
        tag: of the client's requests; None for all.
        run: which run of each, from 1; None for all.
    """

    verb: Verb
    tag: str | None = None
    run: int | None = None


Errand: TypeAlias = RequestRuns | ClientCommand | Malformed
"""What a client that sends one line only wants done before the answer that its matches are finished."""


@dataclass(frozen=True, slots=True)
class Login:
    """The first line; `admit` lets the lines after it be read.

    Attributes:
        name: of the user; empty if the line has no two words.
        errand: of a client that sends nothing else; its own seat is the player `OWN_SEAT`.
    """

    name: str
    password: str
    errand: Errand | None = None


BenchmarkEvent: TypeAlias = Login | RequestRuns | Malformed | ClientCommand


class BenchmarkSession:
    """The server's side of one connection."""

    def __init__(self) -> None:
        self._reader = LineReader()
        self._is_admitted = False
        self._has_greeted = False

    def receive_data(self, data: bytes) -> None:
        """Take bytes from the client."""
        self._reader.feed(data)

    def receive_eof(self) -> None:
        """The client sends nothing more."""
        self._reader.feed_eof()

    @property
    def at_eof(self) -> bool:
        """Whether the client has closed its side and every line has been handed out."""
        return self._reader.at_eof

    def admit(self) -> None:
        """The login was good: the lines after it are read.

        Raises:
            LocalProtocolError: there was no login.
        """
        if not self._has_greeted:
            raise LocalProtocolError("no user has logged in yet")
        self._is_admitted = True

    def next_event(self) -> BenchmarkEvent | None:
        """The next event; None when more bytes are needed, or after a login that has not been admitted."""
        if self._has_greeted and not self._is_admitted:
            return None
        line = self._reader.pop()
        if line is None:
            return None
        text = line.partition(b"\0")[0].decode("utf-8", "surrogateescape")
        if not self._has_greeted:
            self._has_greeted = True
            return _read_login(text)
        return _read_command(text)


def _words(text: str) -> list[str]:
    return [word for word in _BLANKS.split(text) if word]


def _read_login(text: str) -> Login:
    name, password, *rest = [*_words(text), "", ""][:2] + _words(text)[2:]
    if not password:
        return Login("", "")
    match rest:
        case ["games", *_]:
            return Login(name, password, ClientCommand(Verb.GAMES))
        case ["run", game, _, runs, tag, seed, *players]:
            return Login(name, password, _read_request([game, runs, tag, seed, *map(_as_seat, players)]))
        case ["rerun", game, _, index, tag, seed, *players]:
            return Login(name, password, _read_rerun(index, [game, "1", tag, seed, *map(_as_seat, players)]))
        case ["run" | "rerun" as verb, *_]:
            return Login(name, password, Malformed(f"too few words after '{verb}'"))
    return Login(name, password)


def _as_seat(player: str) -> str:
    if player == OWN_SEAT.lower():
        return OWN_SEAT
    return player


def _read_rerun(index: str, words: list[str]) -> RequestRuns | Malformed:
    request = _read_request(words)
    if isinstance(request, Malformed):
        return request
    if not index.isascii() or not index.isdigit() or len(index) > 9:
        return Malformed("the index is not a number from 0")
    return RequestRuns(request.game, 1, request.tag, request.seed, request.players, int(index))


def _read_command(text: str) -> BenchmarkEvent:
    lower = text[:16].lower()
    for verb in (Verb.HELP, Verb.GAMES, Verb.QUEUE):
        if lower.startswith(verb.value):
            return ClientCommand(verb)
    if lower.startswith("runmatches"):
        return _read_request(_words(text[len("runmatches") :]))
    words = _words(text) if text[:1].strip() else []
    match [*map(str.lower, words[:1]), *words[1:]]:
        case ["quit" | "result" as word]:
            return ClientCommand(Verb(word))
        case ["result" | "cancel" | "log" as word, tag]:
            return ClientCommand(Verb(word), tag)
        case ["log", tag, run] if run.isascii() and run.isdigit() and len(run) < 10:
            return ClientCommand(Verb.LOG, tag, int(run))
    return ClientCommand(Verb.UNKNOWN)


def _read_request(words: list[str]) -> RequestRuns | Malformed:
    """The arguments of RUNMATCHES; numbers as the reference reads them, wrapped to 32 bits."""
    if len(words) < 4:
        return Malformed("a request has a game, a number of runs, a tag, a seed and a player for every seat")
    game, runs_text, tag, seed_text, *players = words
    runs = scan_integer(runs_text) if _NUMBER.fullmatch(runs_text) else None
    if runs is None or wrap_int32(runs[0]) < 0:
        return Malformed("the number of runs is not a number from 0")
    seed = scan_unsigned(seed_text) if _NUMBER.fullmatch(seed_text) else None
    if seed is None:
        return Malformed("the seed is not a whole number")
    if "/" in tag or not tag.isprintable():
        return Malformed("a tag is a word without '/' and without control characters")
    return RequestRuns(game, wrap_int32(runs[0]), tag, wrap_uint32(seed[0]), tuple(players))


# ---- answers


def games_text(games: list[tuple[str, list[str]]]) -> str:
    """The answer to GAMES.

    Args:
        games: names of games, each with the names of its bots, in the order in which they were defined.
    """
    return "".join(f"\n{game}\n" + "".join(f" {bot}\n" for bot in reversed(bots)) for game, bots in reversed(games))


def queue_line(user: str, tag: str, game: str, remaining: int, *, is_running: bool) -> str:
    """The line of one request in the answer to QSTAT; `remaining` does not count the current run."""
    return f"{user} {tag} {game} * {remaining} {'R' if is_running else 'Q'}\n"


def run_text(match: str, host: str, port: int) -> str:
    """What makes a client start its agent for one seat of a match: a user, a dot and a tag."""
    return f"# RUNNING {match}\nRUN {host} {port}\n"


def remark(text: str) -> str:
    """A line in addition to what the reference sends; control characters cannot end it."""
    return f"# {printable(text)}\n"
