"""TCP client that turns a bot into a program: ``python my_bot.py HOST PORT [--game GAME]``.

`run(bot)` reads the command line, plays one match and ends the process. `play` does the same for programs that do more;
it raises errors instead of exiting. The protocol does not transmit the game, so both sides must know it. It is taken
from ``--game``, else from the environment variable ``ARENA_GAME`` (a short name or the path of a ``.game`` file), else
it is two-player limit hold'em.

Exit codes:

    0    the dealer closed the connection (a message on stderr if it did so within a hand)
    1    an error, with a message on stderr, after a traceback if the bot's own code raised
    2    the command line is wrong
    130  interrupted (Ctrl-C)
"""

from __future__ import annotations

# Nothing is imported that start-up does not need: the dealer's clock may run until the bot's first line.
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
# The reference dealer lets a player think for 10 minutes, and at a table with people a pause may last longer.
_SILENCE_TIMEOUT_S: Final = 86_400.0
_DEFAULT_GAME: Final = "limit"
_RETRY_S: Final = 0.05
_RECEIVE_BYTES: Final = 1 << 16
_USAGE: Final = "HOST PORT [--game GAME]"


class FinishedMatch(NamedTuple):
    """End of a match that the bot played until the dealer closed the connection.

    Attributes:
        hands: number of finished hands.
        unfinished_hand: number of the hand that the dealer left unfinished; None if it closed between hands.
    """

    hands: int
    unfinished_hand: int | None


def run(bot: Bot, argv: Sequence[str] | None = None, *, connect_timeout_s: float = _CONNECT_TIMEOUT_S) -> NoReturn:
    """Play one match with a bot and end the process.

    Args:
        argv: arguments of the program, by default those of the process. The last two are HOST and PORT; the bot may
            have arguments of its own before them.
        connect_timeout_s: time to retry, in seconds, while no program listens at HOST and PORT.

    Raises:
        TypeError: `bot` is not a bot.
        SystemExit: in all other cases, with an exit code of the list in the module's head.
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
    game = arguments.get("game")
    sys.exit(play_to_exit_code(bot, arguments["HOST"], port, game, connect_timeout_s=connect_timeout_s))


def play_to_exit_code(
    bot: Bot, host: str, port: int, game: str | None, *, connect_timeout_s: float = _CONNECT_TIMEOUT_S
) -> int:
    """Play one match as a program: report errors on stderr and return the exit code."""
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
    """Play one match against the dealer at a host and port, until it closes the connection.

    Args:
        game: a game, its short name, or the path of its definition. By default it is that of the environment variable
            ``ARENA_GAME``, else two-player limit hold'em.
        connect_timeout_s: time to retry, in seconds, while no program listens at host and port.
        silence_timeout_s: longest silence of the dealer, in seconds.

    Raises:
        TypeError: `bot` is not a bot.
        GameDefinitionError: there is no such game.
        GameRefused: the bot does not play the game.
        ConnectError: no program listens at host and port.
        DealerFailure: the dealer sent a line that is not ACPC or does not fit the game, or was silent for too long.
        IllegalReply: the bot's action is not legal.
        Exception: the bot's own code raised it. A note names the state of the hand, if the bot was in one.
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
    """Parse positional arguments and options (``--name VALUE`` or ``--name=VALUE``).

    The values are returned by name. With ``-h`` or ``--help`` the mapping holds only ``help``.

    Args:
        positional: names of the positional arguments.
        options: names of the options, without dashes.
        takes_last: the positional arguments are the last ones; earlier arguments and options belong to the bot.

    Raises:
        BotUsageError: an argument is missing, unknown or superfluous.
    """
    # Not argparse, which would add 7 ms to the start of every bot.
    if "-h" in argv or "--help" in argv:
        return {"help": ""}
    values: dict[str, str] = {}
    words: list[str] = []
    remaining = iter(argv)
    for word in remaining:
        if not word.startswith("--"):
            words.append(word)
            continue
        option, is_joined, joined_value = word[2:].partition("=")
        if option not in options:
            if not takes_last:
                raise BotUsageError(f"unknown option --{option}")
            words.append(word)
            continue
        value = joined_value if is_joined else next(remaining, None)
        if value is None:
            raise BotUsageError(f"--{option} needs a value")
        values[option] = value
    # The ACPC benchmark server starts bots as HOST PORT INDEX. The index is ignored.
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
    values.update(zip(positional, words, strict=True))
    return values


def read_port(text: str) -> int:
    """Parse the number of a port.

    Raises:
        BotUsageError: the text is not a number from 1 to 65535.
    """
    if not (text.isdecimal() and 1 <= int(text) <= 65535):
        raise BotUsageError(f"PORT must be a number from 1 to 65535, not {quoted(text)}")
    return int(text)


def _find_game(game: str | Game | None) -> tuple[str, Game]:
    if isinstance(game, Game):
        return "the given one", game
    name_or_path = game or os.environ.get("ARENA_GAME") or _DEFAULT_GAME
    name, rules = find_game(name_or_path, as_reference=True)
    if os.path.isfile(name_or_path):
        return name_or_path, rules
    return short_name(name), rules


def connect(host: str, port: int, timeout_s: float) -> socket.socket:
    """Connect to a dealer, and retry while no program listens.

    Raises:
        ConnectError: no program listens within `timeout_s` seconds, or there is no such host or port.
    """
    if not 0 < port < 1 << 16:
        # The C library would reduce it modulo 65536.
        raise ConnectError(f"{port} is not a valid port: ports are 1 to 65535")
    # A bot may be started before its dealer.
    deadline = time.monotonic() + timeout_s
    while True:
        try:
            remaining_s = max(_RETRY_S, deadline - time.monotonic())
            connection = socket.create_connection((host, port), timeout=remaining_s)
            # Repeated attempts at a free local port may connect the socket to itself (TCP simultaneous open).
            if connection.getsockname() != connection.getpeername():
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
                return connection
            connection.close()
            problem = "no program listens there"
        except (socket.gaierror, UnicodeError) as error:
            reason = getattr(error, "strerror", None) or error
            raise ConnectError(f"cannot find the host {quoted(host)}: {reason}") from None
        except OSError as error:
            problem = error.strerror or str(error)
        if time.monotonic() + _RETRY_S > deadline:
            raise ConnectError(f"no dealer at {host} port {port}: {problem} (tried for {timeout_s:g} s)")
        time.sleep(_RETRY_S)


def _limit_silence(connection: socket.socket, timeout_s: float) -> None:
    """Set the timeout of the socket's reads and writes."""
    if sys.platform == "win32":
        connection.settimeout(timeout_s)
        return
    # Python's own timeout would cost a second system call per read and write.
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
            # A dealer that exits with unread bytes resets the connection. That is a normal end of the match.
            return
        if not data:
            return
        out = conversation.receive_data(data)
        if out and not _send(connection, out):
            return


def _send(connection: socket.socket, data: bytes) -> bool:
    """Send all bytes; return False if the dealer has closed the connection."""
    try:
        connection.sendall(data)
    except OSError:
        return False
    return True


def _complain(sentence: str, code: int) -> int:
    print_line(sys.stderr, f"bot: {sentence}")
    return code


def print_line(stream: TextIO | None, line: str) -> None:
    """Print a line, or nothing if there is no stream, as under ``pythonw`` or with ``2>&-``."""
    if stream is not None:
        stream.write(line + "\n")


def print_own_failure(error: BaseException) -> None:
    """Print the traceback of a bot's own code, without frames of this package and of imports."""
    import traceback

    traceback.print_exception(error.with_traceback(own_frames(error)))


def _report_failure(error: BaseException) -> int:
    notes = getattr(error, "__notes__", [])
    moment = "The match was over"
    if notes and notes[-1].startswith(NOTE):
        moment = notes.pop()
    print_own_failure(error)
    return _complain(f"the bot's own code failed. {moment}.", 1)
