r"""Text port of a benchmark server, as the ACPC's clients speak it, without I/O.

The first line of a client is its login, and each further line a command. Lines follow the rules of `LineReader`; a CR
before the LF counts as white space, and a NUL ends a line early.

    >>> session = BenchmarkSession()
    >>> session.receive_data(b"ann secret\nqstat\n")
    >>> session.next_event()
    Login(name='ann', password='secret', errand=None)
    >>> session.next_event() is None  # no command is read before the login is admitted
    True
    >>> session.admit()
    >>> session.next_event()
    ClientCommand(verb=<Verb.QUEUE: 'qstat'>, tag=None, run=None)
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

# Answers of the reference server. Clients compare some of them byte by byte.
LOGGED_IN = "LOGON OKAY - type help for commands\n"
BAD_LOGIN = "BAD LOGON\n"
BAD_REQUEST = "BAD RUNMATCHES COMMAND\n"
UNKNOWN = "UNKNOWN\n"
NO_QUEUE = "Queue empty\n"
FINISHED = "Matches finished\n"
OWN_SEAT = "LOCAL"
"""Player that the client runs itself."""
# QUIT, CANCEL, RESULT and LOG are additions of this server. They are in lines that begin with "# ", which clients of
# the reference print and otherwise ignore.
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

MAX_TAG_BYTES = 250
"""Maximum length of a user's name and a tag together, which become the name of a folder."""

# White space in the C locale. Python's \\s would also match the separators 0x1c to 0x1f.
_BLANKS = re.compile(r"[ \t\n\v\f\r]+")
_NUMBER = re.compile(r"[+-]?[0-9]+")


@dataclass(frozen=True, slots=True)
class RequestRuns:
    """Request for runs of a game.

    Attributes:
        runs: number of runs, possibly 0.
        seed: 32-bit seed from which the seeds of all runs follow.
        players: all words after the seed; the game may have fewer seats.
        index: 0-based number of the only run to play, with the seed that it has in the sequence; None for all runs.
    """

    game: str
    runs: int
    tag: str
    seed: int
    players: tuple[str, ...]
    index: int | None = None


@dataclass(frozen=True, slots=True)
class Malformed:
    """Invalid request for runs."""

    problem: str


class Verb(enum.Enum):
    """First word of a command. The tag and the run named after it select requests of the client."""

    HELP = "help"
    GAMES = "games"
    QUEUE = "qstat"
    CANCEL = "cancel"
    RESULT = "result"
    LOG = "log"
    QUIT = "quit"
    UNKNOWN = ""
    """Any other line."""


@dataclass(frozen=True, slots=True)
class ClientCommand:
    """Any command but a request for runs.

    Attributes:
        tag: tag of the requests meant; None for all requests of the client.
        run: 1-based number of the run meant; None for all runs of a request.
    """

    verb: Verb
    tag: str | None = None
    run: int | None = None


Errand: TypeAlias = RequestRuns | ClientCommand | Malformed
"""Order of a client that sends a single line, ``USER PASSWORD run|rerun|games ...``, and waits for `FINISHED`."""


@dataclass(frozen=True, slots=True)
class Login:
    """First line of a client.

    Attributes:
        name: name of the user; empty if the line has fewer than two words.
        errand: order in the same line; None if commands follow.
    """

    name: str
    password: str
    errand: Errand | None = None


BenchmarkEvent: TypeAlias = Login | RequestRuns | Malformed | ClientCommand


class BenchmarkSession:
    """Server's side of one connection."""

    def __init__(self) -> None:
        self._reader = LineReader()
        self._is_admitted = False
        self._has_login = False

    def receive_data(self, data: bytes) -> None:
        """Feed bytes received from the client."""
        self._reader.feed(data)

    def receive_eof(self) -> None:
        """Note that the client has closed its side."""
        self._reader.feed_eof()

    @property
    def at_eof(self) -> bool:
        """The client has closed its side, and every line has been read."""
        return self._reader.at_eof

    def admit(self) -> None:
        """Accept the login, so that the commands after it are read.

        Raises:
            LocalProtocolError: no login was read.
        """
        if not self._has_login:
            raise LocalProtocolError("no user has logged in yet")
        self._is_admitted = True

    def next_event(self) -> BenchmarkEvent | None:
        """Return the next event, or None if more bytes are needed or the login is not admitted yet."""
        if self._has_login and not self._is_admitted:
            return None
        line = self._reader.pop()
        if line is None:
            return None
        text = line.partition(b"\0")[0].decode("utf-8", "surrogateescape")
        if not self._has_login:
            self._has_login = True
            return _read_login(text)
        return _read_command(text)


def _split_words(text: str) -> list[str]:
    return [word for word in _BLANKS.split(text) if word]


def _read_login(text: str) -> Login:
    words = _split_words(text)
    if len(words) < 2:
        return Login("", "")
    name, password, *errand = words
    match errand:
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
    # Clients that send an errand write the word in lower case.
    if player == OWN_SEAT.lower():
        return OWN_SEAT
    return player


def _read_rerun(index: str, words: list[str]) -> RequestRuns | Malformed:
    request = _read_request(words)
    if isinstance(request, Malformed):
        return request
    if not index.isascii() or not index.isdigit() or len(index) > 9:
        return Malformed("the index is not a whole number from 0")
    return RequestRuns(request.game, 1, request.tag, request.seed, request.players, int(index))


def _read_command(text: str) -> BenchmarkEvent:
    # The reference compares only the beginning of a line: "HELPME" is a request for help.
    lower = text[:16].lower()
    for verb in (Verb.HELP, Verb.GAMES, Verb.QUEUE):
        if lower.startswith(verb.value):
            return ClientCommand(verb)
    if lower.startswith("runmatches"):
        return _read_request(_split_words(text[len("runmatches") :]))
    if not text[:1].strip():
        # A command starts at the beginning of its line.
        return ClientCommand(Verb.UNKNOWN)
    word, *arguments = _split_words(text)
    match [word.lower(), *arguments]:
        case ["quit" | "result" as verb_text]:
            return ClientCommand(Verb(verb_text))
        case ["result" | "cancel" | "log" as verb_text, tag]:
            return ClientCommand(Verb(verb_text), tag)
        case ["log", tag, run] if run.isascii() and run.isdigit() and len(run) < 10:
            return ClientCommand(Verb.LOG, tag, int(run))
    return ClientCommand(Verb.UNKNOWN)


def _read_request(words: list[str]) -> RequestRuns | Malformed:
    """Read the arguments of RUNMATCHES, with numbers wrapped to 32 bits as in the reference."""
    if len(words) < 4:
        return Malformed("a request has a game, a number of runs, a tag, a seed and a player for every seat")
    game, runs_text, tag, seed_text, *players = words
    runs = -1
    if _NUMBER.fullmatch(runs_text) and (scanned := scan_integer(runs_text)):
        runs = wrap_int32(scanned[0])
    if runs < 0:
        return Malformed("the number of runs is not a whole number from 0")
    seed = None
    if _NUMBER.fullmatch(seed_text) and (scanned := scan_unsigned(seed_text)):
        seed = wrap_uint32(scanned[0])
    if seed is None:
        return Malformed("the seed is not a whole number")
    if "/" in tag or not tag.isprintable():
        # The tag becomes a part of paths and of lines.
        return Malformed("a tag is a word without '/' and without control characters")
    return RequestRuns(game, runs, tag, seed, tuple(players))


def games_text(games: list[tuple[str, list[str]]]) -> str:
    """Format the answer to GAMES.

    Args:
        games: names of games and, for each, of its bots, in the order of the configuration.
    """
    # The reference lists games and bots in reverse.
    lines = []
    for game, bots in reversed(games):
        lines.append(f"\n{game}\n")
        lines += [f" {bot}\n" for bot in reversed(bots)]
    return "".join(lines)


def queue_line(user: str, tag: str, game: str, remaining: int, *, is_running: bool) -> str:
    """Format the line of one request in the answer to QSTAT.

    Args:
        remaining: number of runs left, without the current one.
    """
    state = "R" if is_running else "Q"
    return f"{user} {tag} {game} * {remaining} {state}\n"


def run_text(match: str, host: str, port: int) -> str:
    """Format the order to a client to start its agent for one seat.

    Args:
        match: user and tag of the request, with a dot between them.
    """
    return f"# RUNNING {match}\nRUN {host} {port}\n"


def remark(text: str) -> str:
    """Format a line that the reference does not send. Control characters in the text are escaped."""
    return f"# {printable(text)}\n"
