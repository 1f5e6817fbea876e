"""A program of any language as a `Bot` in Python: started, spoken to as a dealer would, and ended.

    with RemoteBot(["./my_bot", "--fast"], "nolimit") as bot:
        for record in self_play("nolimit", [bot, MfsBot()], hands=1000): ...

The program is started as any dealer starts it, with host and port as its last two arguments; it connects, names its
version, and is told every state of its hands: those between two of its turns when it is next asked, the last ones when
the hand is over. To the program this is a match like any other.

Rules it obeys:

- Hand numbers only grow, as the program expects: a hand whose number has been played already gets the next free one.
- Lines that are not replies are skipped, and comments are passed on to `View.comment`, as by a dealer. A reply without
  a readable action is an error here, not a call: it is the program's bug.
- After an error the program is not spoken to again: every further call raises the same error.
"""

from __future__ import annotations

import os
import socket
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import protocol
from bots.bot import Bot
from bots.errors import BotExited, BotTimeout, RemoteBotError
from bots.program import Program, split_command
from bots.view import View
from engine import Action, Game, betting_start
from engine.errors import quoted
from protocol.session import DealerEvent

__all__ = ["RemoteBot"]

_POLL_S: Final = 0.05
"""How often a program that has not connected yet is looked after."""

_RECEIVE_BYTES: Final = 1 << 16


class RemoteBot(Bot):
    """A program that plays; a context manager that ends it.

    Attributes:
        command: the program and its arguments, without host and port.
        game: the game it plays.
    """

    def __init__(
        self,
        command: str | Sequence[str],
        game: str | Game,
        *,
        connect_timeout_s: float = 10.0,
        reply_timeout_s: float = 60.0,
        leave_timeout_s: float = 1.0,
        environment: Mapping[str, str] | None = None,
        directory: str | None = None,
    ) -> None:
        """Start the program and wait until it has named its version.

        Args:
            command: the program and its arguments; as one text, split as a shell does.
            game: the game, its name, or the path of its definition. ``ARENA_GAME`` tells the program.
            connect_timeout_s: how long it may take to connect and to name its version.
            reply_timeout_s: how long it may take for an answer.
            leave_timeout_s: how long it may take to end by itself once its connection is closed, and once more when it
                is asked to end; then it is killed, with all it started.
            environment: its environment variables; those of this process by default.
            directory: the folder it is started in; None for the present one.

        Raises:
            OSError: it cannot be started.
            BotExited: it ended before it had named its version.
            BotTimeout: it did not connect, or name its version, in time.
            RemoteBotError: its first line names no version.
        """
        self.command = split_command(command) if isinstance(command, str) else tuple(command)
        self.game = protocol.find_game(game)[1] if isinstance(game, str) else game
        self._reply_timeout_s = reply_timeout_s
        self._leave_timeout_s = leave_timeout_s
        self._error: RemoteBotError | None = None
        self._session = protocol.DealerSession(self.game)
        self._connection: socket.socket | None = None
        self._number = -1
        """The hand the program is in, as it counts."""
        self._hand: int | None = None
        """The number of that hand in the views; None between hands."""
        self._told = -1
        """How many actions of it the program knows; -1 before its first state."""
        self._folder = tempfile.TemporaryDirectory()
        folder = Path(self._folder.name)
        (folder / "bot.game").write_text(protocol.format_game_definition(self.game), "ascii")
        variables = {**(os.environ if environment is None else environment), "ARENA_GAME": str(folder / "bot.game")}
        try:
            with socket.create_server(("127.0.0.1", 0)) as listener:
                host, port = listener.getsockname()
                command_line = [*self.command, host, str(port)]
                self._program = Program(
                    command_line, environment=variables, output_path=folder / "output", directory=directory
                )
                deadline_s = time.monotonic() + connect_timeout_s
                try:
                    self._connection = self._accept(listener, connect_timeout_s, deadline_s)
                    self._greet(connect_timeout_s, deadline_s)
                except BaseException:
                    self.close()
                    raise
        except OSError:
            self._folder.cleanup()
            raise

    def __enter__(self) -> RemoteBot:
        """The bot itself; it is closed at the end."""
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection and end the program with all it started; a second call does nothing."""
        if self._error is None:
            self._error = RemoteBotError("it has been closed", self.command, self._program.last_lines())
        if self._connection is not None:
            self._connection.close()
            self._connection = None
            self._program.wait(self._leave_timeout_s)
        self._program.stop(grace_s=self._leave_timeout_s)
        self._folder.cleanup()

    # ---- as a bot

    def hand_started(self, view: View) -> None:
        """Tell the first state of a hand."""
        self._tell(view)

    def act(self, view: View) -> Action:
        """Send what has happened, and wait for the answer.

        Raises:
            BotExited: the program ended, or closed its connection.
            BotTimeout: it did not answer in time.
            RemoteBotError: its answer holds no action, or an earlier call failed.
        """
        self._tell(view)
        if self._session.state is not protocol.SessionState.AWAITING_REPLY:
            # The same state is asked about once more.
            self._send(view)
        deadline_s = time.monotonic() + self._reply_timeout_s
        while True:
            event = self._next_event("answer", self._reply_timeout_s, deadline_s)
            if isinstance(event, protocol.Reply):
                return event.action
            if isinstance(event, protocol.Comment):
                view.comment(event.raw.decode("utf-8", "replace").lstrip("#; "))
            elif isinstance(event, protocol.BadAction | protocol.UnknownAction):
                raise self._fail(RemoteBotError(f"its answer {quoted(event.raw)} holds no action", self.command, ()))

    def hand_finished(self, view: View) -> None:
        """Tell the rest of a hand."""
        self._tell(view)
        self._hand = None

    def match_finished(self) -> None:
        """Close the connection and end the program."""
        self.close()

    # ---- states

    def _tell(self, view: View) -> None:
        """Tell every state that the program does not know yet; the last is the view's own."""
        actions = [action for round_ in view.rounds for _, action in round_]
        if view.hand_number != self._hand:
            self._hand = view.hand_number
            self._number = max(self._number + 1, view.hand_number)
            self._told = -1
        own = tuple([cards if p == view.position else () for p, cards in enumerate(view.all_hole_cards)])
        betting = betting_start(self.game)
        for known, action in enumerate(actions):
            if known > self._told:
                self._send(View(betting, view.position, view.hand_number, own, view.board))
            betting = betting.after(action)
        if self._told < len(actions):
            self._send(view)
        self._told = len(actions)

    def _send(self, view: View) -> None:
        if self._error is not None:
            raise self._error
        state = View(view.betting, view.position, self._number, view.all_hole_cards, view.board).match_state
        assert self._connection is not None
        try:
            self._connection.sendall(self._session.send(state.format().encode() + b"\r\n", is_question=view.is_my_turn))
        except OSError:
            raise self._exited() from None

    # ---- events

    def _accept(self, listener: socket.socket, timeout_s: float, deadline_s: float) -> socket.socket:
        listener.settimeout(_POLL_S)
        while True:
            # Asked before looking: a program that ends right after it has connected is still found here.
            has_ended = self._program.exit_code is not None
            try:
                connection = listener.accept()[0]
            except TimeoutError:
                if has_ended:
                    raise self._exited() from None
                if time.monotonic() > deadline_s:
                    raise self._timed_out("connect", timeout_s) from None
            else:
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                return connection

    def _greet(self, timeout_s: float, deadline_s: float) -> None:
        try:
            event = self._next_event("name its version", timeout_s, deadline_s)
        except protocol.RemoteProtocolError as error:
            raise self._fail(RemoteBotError(str(error), self.command, ())) from None
        assert isinstance(event, protocol.Handshake)

    def _next_event(self, what: str, timeout_s: float, deadline_s: float) -> DealerEvent:
        """What the program does next, its end apart, which raises."""
        if self._error is not None:
            raise self._error
        assert self._connection is not None
        while True:
            event = self._session.next_event()
            if isinstance(event, protocol.Closed):
                raise self._exited()
            left_s = deadline_s - time.monotonic()
            if left_s <= 0 and not isinstance(event, protocol.Reply | protocol.Handshake):
                raise self._timed_out(what, timeout_s)
            if event is not protocol.NEED_DATA:
                return event
            self._connection.settimeout(left_s)
            try:
                data = self._connection.recv(_RECEIVE_BYTES)
            except TimeoutError:
                continue
            except OSError:
                data = b""
            finally:
                self._connection.settimeout(None)
            if data:
                self._session.receive_data(data)
            else:
                self._session.receive_eof()

    def _exited(self) -> RemoteBotError:
        exit_code = self._program.wait(self._leave_timeout_s)
        return self._fail(BotExited(exit_code, self.command, self._program.last_lines()))

    def _timed_out(self, what: str, timeout_s: float) -> RemoteBotError:
        return self._fail(BotTimeout(what, timeout_s, self.command, self._program.last_lines()))

    def _fail(self, error: RemoteBotError) -> RemoteBotError:
        """Keep an error: it is the answer to every further call."""
        self._error = error
        return error
