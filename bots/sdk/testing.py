"""Testing a bot without a dealer: a script plays the dealer and checks every reply.

    from bots.sdk.testing import MockDealer, check

    script = MockDealer("kuhn").ask("MATCHSTATE:0:0::Ks|", "r").tell("MATCHSTATE:0:0:rf:Ks|")
    check(MyBot(), script)

`check` runs a Python bot in this process; a failing test is an AssertionError with the question and the answer.
`serve_script` does the same over TCP with a program in any language.
"""

from __future__ import annotations

import os
import socket
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from bots.sdk.bot import Bot
from bots.sdk.conversation import Conversation
from bots.sdk.program import POLL_S, Program, accept_program, acknowledge, start_program, write_game
from protocol.mock_dealer import MockDealer

_GRACE_S: Final = 5.0
"""How long a program that failed its script is waited for, so that its exit code and last words can be reported."""


def check(bot: Bot, mock: MockDealer) -> None:
    """Play a whole script with a bot in this process; every hook of the bot is called as in a match.

    Raises:
        AssertionError: the bot answered something else than the script expects.
        IllegalReply: the bot answered something illegal.
        Exception: whatever the bot's own code raises.
    """
    bot.prepare(mock.game)
    conversation = Conversation(bot, mock.game)
    to_dealer = conversation.open()
    while to_dealer:
        to_dealer = conversation.receive_data(mock.receive(to_dealer))
    conversation.receive_eof()
    mock.receive_eof()


class ScriptResult(NamedTuple):
    """How a program ended that had played its script: the exit code, negative for a signal, and all it wrote."""

    exit_code: int
    output: str


def serve_script(
    mock: MockDealer,
    command: Sequence[str | os.PathLike[str]],
    *,
    timeout_s: float = 10.0,
    chunk_bytes: int | None = None,
    env: Mapping[str, str] | None = None,
) -> ScriptResult:
    """Play a whole script over TCP with a program: it is started with host and port as its last two arguments.

    ``ARENA_GAME`` names a definition of the script's game, so that a bot made with this SDK knows what is played.

    Args:
        command: the program and its arguments, without host and port.
        timeout_s: seconds for all of it, including the program's own end.
        chunk_bytes: send the dealer's bytes in pieces of this size, as a slow network may; all at once by default.
        env: the program's environment; that of this process by default.

    Raises:
        AssertionError: the program did not play the script to its end; the sentence has where it stopped, how the
            program ended and what it last wrote.
    """
    deadline_s = time.monotonic() + timeout_s
    with tempfile.TemporaryDirectory() as name, socket.create_server(("127.0.0.1", 0)) as listener:
        game = write_game(Path(name) / "script.game", mock.game)
        program = start_program(listener, [os.fspath(word) for word in command], game, environment=env)
        try:
            _serve(listener, program, mock, deadline_s, chunk_bytes)
            exit_code = program.wait(max(POLL_S, deadline_s - time.monotonic()))
            if exit_code is None:
                raise AssertionError("the script is done and the connection closed, but the program did not end")
        except AssertionError as error:
            raise AssertionError(f"{error}; {_ending(program, deadline_s)}") from None
        finally:
            program.stop()
        return ScriptResult(exit_code, program.output_path.read_text("utf-8", "replace"))


def _serve(
    listener: socket.socket, program: Program, mock: MockDealer, deadline_s: float, chunk_bytes: int | None
) -> None:
    connection = accept_program(listener, program, deadline_s)
    if connection is None:
        why = "had its time" if program.exit_code is None else "ended"
        raise AssertionError(f"the program {why} without connecting to the port it was given")
    with connection:
        while not _is_done(mock):
            data = _receive(connection, mock, deadline_s)
            if not data:
                mock.receive_eof()
                return
            _send(connection, mock.receive(data), chunk_bytes)
        connection.shutdown(socket.SHUT_WR)
        _expect_silence(connection, mock, deadline_s)


def _receive(connection: socket.socket, mock: MockDealer, deadline_s: float) -> bytes:
    connection.settimeout(max(POLL_S, deadline_s - time.monotonic()))
    try:
        data = connection.recv(1 << 16)
        acknowledge(connection)
        return data
    except TimeoutError:
        try:
            mock.assert_done()
        except AssertionError as error:
            raise AssertionError(f"time is up: {error}") from None
        raise AssertionError("time is up: the script is done, but the program has not closed the connection") from None
    except OSError:
        return b""


def _send(connection: socket.socket, data: bytes, chunk_bytes: int | None) -> None:
    size = chunk_bytes or len(data) or 1
    try:
        for at in range(0, len(data), size):
            connection.sendall(data[at : at + size])
    except OSError:
        # The program has closed; what that means for the script is found out at the next receive.
        return


def _is_done(mock: MockDealer) -> bool:
    try:
        mock.assert_done()
    except AssertionError:
        return False
    return True


def _expect_silence(connection: socket.socket, mock: MockDealer, deadline_s: float) -> None:
    """After the script nothing is asked, so nothing but comments may come."""
    rest = b""
    while data := _receive(connection, mock, deadline_s):
        rest += data
    unasked = [line for line in rest.split(b"\n") if line.strip() and line[:1] not in (b"#", b";")]
    if unasked:
        raise AssertionError(f"the program sent {unasked[0]!r} though nothing was asked")


def _ending(program: Program, deadline_s: float) -> str:
    """How the program ended, which it mostly does once the connection is closed, and what it last wrote."""
    exit_code = program.wait(max(POLL_S, min(_GRACE_S, deadline_s - time.monotonic())))
    if exit_code is None:
        ended = "was still running"
    else:
        ended = f"ended with exit code {exit_code}"
    lines = "\n".join(program.last_lines())
    return f"the program {ended}" + (f"; its output ends with:\n{lines}" if lines else " and wrote nothing")
