"""A bot as a program: ``python my_bot.py HOST PORT [--game GAME]``, after arguments of its own if it has any.

`run(bot)` is all of it: it reads the command line, connects, names the protocol version, answers until the dealer
closes, and ends the process. `play` is the same for programs that do more; it raises instead of exiting.

The game is the one of ``--game``, else that of the environment variable ``ARENA_GAME`` (a short name or the path of a
``.game`` file), else two-player limit hold'em. The protocol never says which game is played, so both sides must know.

Exit codes:

    0    the dealer closed the connection (where it did so in the middle of a hand, a sentence on stderr says so)
    1    something failed: one sentence on stderr; where the bot's own code failed, its traceback before it
    2    the command line cannot be read
    130  interrupted (Ctrl-C)

Nothing is imported here that start-up does not need: a bot sends its first line as early as the interpreter allows.
"""

from __future__ import annotations

import os
import socket
import struct
import sys
import time
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple, NoReturn, TextIO

from bots.errors import BotsError, BotUsageError, ConnectError, DealerFailure, own_frames
from bots.sdk.bot import Bot
from bots.sdk.conversation import NOTE, Conversation, call_hook, require_bot
from engine import Game
from engine.errors import quoted
from protocol import GameDefinitionError, find_game
from protocol.game_definition import short_name

_CONNECT_TIMEOUT_S: Final = 5.0
"""How long to try to reach a dealer that does not listen yet."""
_SILENCE_TIMEOUT_S: Final = 86_400.0
"""How long a dealer may be silent. The reference lets a player think for 10 minutes, and people sit at tables too."""
_DEFAULT_GAME: Final = "limit"
_RETRY_S: Final = 0.05
_RECEIVE_BYTES: Final = 1 << 16
_USAGE: Final = "HOST PORT [--game GAME]"


class FinishedMatch(NamedTuple):
    """How a match ended for a player who saw it to the end.

    Attributes:
        hands: hands finished.
        unfinished_hand: number of the hand in the middle of which the dealer closed; None where it closed between
            hands.
    """

    hands: int
    unfinished_hand: int | None


def run(bot: Bot, argv: Sequence[str] | None = None, *, connect_timeout_s: float = _CONNECT_TIMEOUT_S) -> NoReturn:
    """Run a bot as a whole program; does not return.

    Args:
        argv: the arguments after the program's name; those of the process by default. HOST and PORT are the last two,
            and those before them are the bot's own.
        connect_timeout_s: how long to keep trying to reach a dealer that is not listening yet, in seconds.
    """
    require_bot(bot)
    program = os.path.basename(sys.argv[0]) or "bot"
    usage = f"usage: {program} {_USAGE}"
    try:
        words = sys.argv[1:] if argv is None else argv
        arguments = read_arguments(words, ("HOST", "PORT"), ("game",), takes_last=True)
        if "help" in arguments:
            print_line(sys.stdout, usage)
            sys.exit(0)
        port = read_port(arguments["PORT"])
    except BotUsageError as error:
        sys.exit(_complain(f"{error}; {usage}", 2))
    sys.exit(
        play_to_exit_code(bot, arguments["HOST"], port, arguments.get("game"), connect_timeout_s=connect_timeout_s)
    )


def play_to_exit_code(
    bot: Bot, host: str, port: int, game: str | None, *, connect_timeout_s: float = _CONNECT_TIMEOUT_S
) -> int:
    """Play a match as a program does: report problems on stderr, and return the exit code."""
    try:
        played = play(bot, host, port, game, connect_timeout_s=connect_timeout_s)
    except KeyboardInterrupt:
        return 130
    except (BotsError, GameDefinitionError) as error:
        return _complain(str(error), 1)
    except SystemExit:
        raise
    except BaseException as error:
        return _report_failure(error)
    if played.unfinished_hand is not None:
        return _complain(f"the dealer closed the connection in the middle of hand {played.unfinished_hand}", 0)
    if not played.hands:
        return _complain("the dealer closed the connection before the first hand", 0)
    return 0


def play(
    bot: Bot,
    host: str,
    port: int,
    game: str | Game | None = None,
    *,
    connect_timeout_s: float = _CONNECT_TIMEOUT_S,
    silence_timeout_s: float = _SILENCE_TIMEOUT_S,
) -> FinishedMatch:
    """Play one match against the dealer at host and port, until it closes the connection.

    Args:
        game: a game, its short name, or the path of its definition; None: ``ARENA_GAME``, else two-player limit
            hold'em.
        connect_timeout_s: how long to keep trying while no program listens there, in seconds.
        silence_timeout_s: how long the dealer may stay silent, in seconds.

    Raises:
        GameDefinitionError: there is no such game.
        GameRefused: the bot does not play it.
        ConnectError: no program listens there.
        DealerFailure: the dealer's lines are of another game or not ACPC, or it is silent for too long.
        IllegalReply: the bot's answer is not a legal action.
        Exception: whatever the bot's own code raises, with a note that names the state if there was one.
    """
    name, rules = _find_game(game)
    require_bot(bot)
    bot.require_game(rules)
    # Before connecting: a dealer waits for players to connect, but not long for the first line of one that has.
    call_hook(bot.prepare, rules)
    conversation = Conversation(bot, rules, game_name=name)
    with connect(host, port, connect_timeout_s) as connection:
        _limit_silence(connection, silence_timeout_s)
        if _send(connection, conversation.open()):
            _converse(connection, conversation, silence_timeout_s)
    conversation.receive_eof()
    return FinishedMatch(conversation.hands_finished, conversation.hand_number)


def read_arguments(
    argv: Sequence[str], positional: Sequence[str], options: Sequence[str], *, takes_last: bool = False
) -> Mapping[str, str]:
    """Read a command line of positional words and ``--name VALUE`` (or ``--name=VALUE``) options, by name.

    One more number at the end is ignored: the ACPC benchmark server starts bots as ``HOST PORT INDEX``. Where
    ``--help`` or ``-h`` is given, ``help`` is all. argparse would cost some 7 ms of every start.

    Args:
        takes_last: the positional words are the last ones; words and options before them belong to the bot.

    Raises:
        BotUsageError: something is missing, unknown or too much.
    """
    if "-h" in argv or "--help" in argv:
        return {"help": ""}
    found: dict[str, str] = {}
    words: list[str] = []
    waiting = iter(argv)
    for word in waiting:
        if not word.startswith("--"):
            words.append(word)
            continue
        option, is_joined, value = word[2:].partition("=")
        if option not in options and takes_last:
            words.append(word)
            continue
        if option not in options:
            raise BotUsageError(f"unknown option --{option}")
        given = value if is_joined else next(waiting, None)
        if given is None:
            raise BotUsageError(f"--{option} needs a value")
        found[option] = given
    if takes_last:
        if len(words) > len(positional) and words[-1].isdecimal() and words[-2].isdecimal():
            words.pop()
        words = words[-len(positional) :]
        for word in words:
            if word.startswith("--"):
                raise BotUsageError(f"unknown option {word.partition('=')[0]}")
    elif len(words) == len(positional) + 1 and words[-1].isdecimal():
        words.pop()
    if len(words) < len(positional):
        raise BotUsageError(f"{positional[len(words)]} is missing")
    if len(words) > len(positional):
        raise BotUsageError(f"{quoted(words[len(positional)])} is one argument too many")
    return found | dict(zip(positional, words, strict=True))


def read_port(text: str) -> int:
    """The number of a port; a `BotUsageError` for anything else."""
    if not (text.isdecimal() and 1 <= int(text) <= 65535):
        raise BotUsageError(f"PORT must be a number from 1 to 65535, not {quoted(text)}")
    return int(text)


def _find_game(game: str | Game | None) -> tuple[str, Game]:
    if isinstance(game, Game):
        return "the given one", game
    asked = game or os.environ.get("ARENA_GAME") or _DEFAULT_GAME
    full, rules = find_game(asked, as_reference=True)
    return (asked if os.path.isfile(asked) else short_name(full)), rules


def connect(host: str, port: int, timeout_s: float) -> socket.socket:
    """Connect, retrying while no program listens: a bot may be started before its dealer.

    Raises:
        ConnectError: no program listens there, or there is no such host or port.
    """
    if not 0 < port < 1 << 16:
        # The C library would take it modulo 65536.
        raise ConnectError(f"{port} is not a valid port: ports are 1 to 65535")
    deadline = time.monotonic() + timeout_s
    while True:
        try:
            connection = socket.create_connection((host, port), timeout=max(_RETRY_S, deadline - time.monotonic()))
            # A program that tries a free local port again and again may connect to itself (TCP simultaneous open).
            if connection.getsockname() != connection.getpeername():
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
                return connection
            connection.close()
            problem = "no program listens there"
        except (socket.gaierror, UnicodeError) as error:
            raise ConnectError(
                f"cannot find the host {quoted(host)}: {getattr(error, 'strerror', None) or error}"
            ) from None
        except OSError as error:
            problem = error.strerror or str(error)
        if time.monotonic() + _RETRY_S > deadline:
            raise ConnectError(f"no dealer at {host} port {port}: {problem} (tried for {timeout_s:g} s)")
        time.sleep(_RETRY_S)


def _limit_silence(connection: socket.socket, timeout_s: float) -> None:
    """Have the system end a wait for the dealer."""
    if sys.platform == "win32":
        connection.settimeout(timeout_s)
        return
    # Python's own timeout would ask the system twice at every call.
    connection.settimeout(None)
    seconds = int(timeout_s)
    timeval = struct.pack("ll", seconds, max(1, int((timeout_s - seconds) * 1e6)))
    for option in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
        connection.setsockopt(socket.SOL_SOCKET, option, timeval)


def _converse(connection: socket.socket, conversation: Conversation, silence_timeout_s: float) -> None:
    while True:
        try:
            data = connection.recv(_RECEIVE_BYTES)
        except (TimeoutError, BlockingIOError):
            raise DealerFailure(f"the dealer has sent nothing for {silence_timeout_s:g} s") from None
        except OSError:
            # A dealer that ends with bytes unread resets the connection; for a player this is the end like any other.
            return
        if not data:
            return
        out = conversation.receive_data(data)
        if out and not _send(connection, out):
            return


def _send(connection: socket.socket, data: bytes) -> bool:
    """Send everything at once; False where the dealer is gone."""
    try:
        connection.sendall(data)
    except OSError:
        return False
    return True


def _complain(sentence: str, code: int) -> int:
    print_line(sys.stderr, f"bot: {sentence}")
    return code


def print_line(stream: TextIO | None, line: str) -> None:
    """Print a line; a program without a terminal (``pythonw``, ``2>&-``) has no such stream and prints nothing."""
    if stream is not None:
        stream.write(line + "\n")


def print_own_failure(error: BaseException) -> None:
    """Print where a bot's own code failed, without the frames of this package and of the import system above it."""
    import traceback

    traceback.print_exception(error.with_traceback(own_frames(error)))


def _report_failure(error: BaseException) -> int:
    notes = getattr(error, "__notes__", [])
    where = "The match was over"
    if notes and notes[-1].startswith(NOTE):
        where = notes.pop()
    print_own_failure(error)
    return _complain(f"the bot's own code failed. {where}.", 1)
