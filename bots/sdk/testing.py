"""Test a bot without a dealer. A script sends the states and checks every reply.

    from bots.sdk.testing import MockDealer, check

    script = MockDealer("kuhn").ask("MATCHSTATE:0:0::Ks|", "r").tell("MATCHSTATE:0:0:rf:Ks|")
    check(MyBot(), script)

`check` runs a Python bot in this process, `serve_script` a program in any language over TCP. Both raise an
AssertionError with the question and the reply if the bot does not follow the script.
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
"""Time for a program that failed its script to exit, so that the error can report its exit code and output."""


def check(bot: Bot, mock: MockDealer) -> None:
    """Play a script with a bot in this process, and call all its hooks as in a match.

    Raises:
        AssertionError: the bot's reply is not the expected one.
        IllegalReply: the bot's action is not legal.
        Exception: the bot's own code raised it.
    """
    bot.prepare(mock.game)
    conversation = Conversation(bot, mock.game)
    to_dealer = conversation.open()
    while to_dealer:
        to_dealer = conversation.receive_data(mock.receive(to_dealer))
    conversation.receive_eof()
    mock.receive_eof()


class ScriptResult(NamedTuple):
    """Exit of a program after its script.

    Attributes:
        exit_code: negative for the signal that ended the program.
        output: standard output and standard error of the program.
    """

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
    """Play a script over TCP with a program, which gets host and port as its last two arguments.

    The environment variable ``ARENA_GAME`` names a definition file of the script's game.

    Args:
        command: the program and its arguments, without host and port.
        timeout_s: longest time for the script and the program's exit, in seconds.
        chunk_bytes: size of the pieces in which the script's bytes are sent, to simulate a slow network; None to send
            them at once.
        env: the program's environment, by default that of this process.

    Raises:
        AssertionError: the program did not play the script to its end. The error names the place in the script, the
            program's exit code and its last output.
        OSError: the program cannot be started.
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
        if program.exit_code is None:
            raise AssertionError("the program did not connect to its port in time")
        raise AssertionError("the program ended without connecting to its port")
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
            raise AssertionError(f"the time is up: {error}") from None
        problem = "the script is done, but the program has not closed the connection"
        raise AssertionError(f"the time is up: {problem}") from None
    except OSError:
        return b""


def _send(connection: socket.socket, data: bytes, chunk_bytes: int | None) -> None:
    # The step of a range cannot be 0.
    size = chunk_bytes or len(data) or 1
    try:
        for start in range(0, len(data), size):
            connection.sendall(data[start : start + size])
    except OSError:
        # The program has closed the connection. The next read notices, and reports it if the script is not over.
        return


def _is_done(mock: MockDealer) -> bool:
    try:
        mock.assert_done()
    except AssertionError:
        return False
    return True


def _expect_silence(connection: socket.socket, mock: MockDealer, deadline_s: float) -> None:
    """Check that the program sends only comments after the end of the script."""
    rest = b""
    while data := _receive(connection, mock, deadline_s):
        rest += data
    for line in rest.split(b"\n"):
        is_comment = line[:1] in (b"#", b";")
        if line.strip() and not is_comment:
            raise AssertionError(f"the program sent {line!r} after the last question")


def _ending(program: Program, deadline_s: float) -> str:
    """Describe the program's exit, waiting for it a little, and its last output."""
    remaining_s = min(_GRACE_S, deadline_s - time.monotonic())
    exit_code = program.wait(max(POLL_S, remaining_s))
    if exit_code is None:
        ending = "the program was still running"
    else:
        ending = f"the program ended with exit code {exit_code}"
    lines = program.last_lines()
    if not lines:
        return f"{ending} and wrote nothing"
    return "\n".join([f"{ending}; its output ends with:", *lines])
