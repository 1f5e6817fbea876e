"""Scripted dealer for tests of bots, without a match, cards or a socket.

    dealer = MockDealer("kuhn")
    dealer.tell("MATCHSTATE:1:0::|Ks")               # not the bot's turn: no reply may come
    dealer.ask("MATCHSTATE:1:0:r:|Ks", "c")          # the bot's turn: the reply must be a call
    to_bot = dealer.receive(b"VERSION:2.0.0\\r\\n")   # feed bytes of the bot, return bytes for the bot
    to_bot = dealer.receive(b"MATCHSTATE:1:0:r:|Ks:c\\r\\n")
    dealer.assert_done()

`bots.sdk.testing` runs a whole bot against it, in the same process or over TCP.
"""

from __future__ import annotations

from typing import NamedTuple

from engine import BettingState, Game, IllegalAction
from engine.text import count_of
from protocol.actions import format_action
from protocol.errors import LocalProtocolError
from protocol.game_definition import find_game
from protocol.match_state import StateReader
from protocol.session import NEED_DATA, Closed, Comment, DealerSession, Handshake, Reply


class _ScriptedState(NamedTuple):
    """State to send, and the replies allowed to it.

    Attributes:
        replies: texts of actions, empty for any legal action; None if no reply is due.
    """

    text: str
    betting: BettingState
    replies: tuple[str, ...] | None


class MockDealer:
    """Dealer that sends scripted states and checks every reply.

    Attributes:
        replies: the actions received, as texts.
        comments: the comment lines received.
    """

    def __init__(self, game: str | Game) -> None:
        if isinstance(game, str):
            _, game = find_game(game)
        self.game = game
        self.replies: list[str] = []
        self.comments: list[bytes] = []
        self._script: list[_ScriptedState] = []
        self._session = DealerSession(self.game)
        self._num_sent = 0
        self._has_version = False
        self._question: _ScriptedState | None = None

    def tell(self, state: str) -> MockDealer:
        """Add a state in which the player does not act.

        Raises:
            FormatError: the text is not a state of the game.
            LocalProtocolError: it is the player's turn in this state.
        """
        return self._add(state, None)

    def ask(self, state: str, *expects: str) -> MockDealer:
        """Add a state in which the player acts.

        Args:
            expects: the replies to accept, as texts of actions; any legal action if empty.

        Raises:
            FormatError: the text is not a state of the game.
            LocalProtocolError: it is not the player's turn in this state.
        """
        return self._add(state, expects)

    def _add(self, text: str, replies: tuple[str, ...] | None) -> MockDealer:
        hand = StateReader(self.game).read(text)
        is_question = hand.betting.acting_position == hand.position
        if is_question and replies is None:
            raise LocalProtocolError(f"{text!r} needs a reply, so it must be added with ask()")
        if not is_question and replies is not None:
            raise LocalProtocolError(f"{text!r} needs no reply, so it must be added with tell()")
        self._script.append(_ScriptedState(text, hand.betting, replies))
        return self

    def receive(self, data: bytes) -> bytes:
        """Feed bytes from the bot, and return the bytes to send to it.

        Raises:
            AssertionError: the bot departed from the script.
        """
        self._session.receive_data(data)
        out = b""
        while True:
            if self._has_version and self._question is None:
                out += self._send_to_next_question()
                if self._question is None:
                    break
            event = self._session.next_event()
            if event is NEED_DATA:
                break
            if isinstance(event, Handshake):
                if not event.is_supported:
                    raise AssertionError(f"the bot speaks version {event.version}, not 2.0.0")
                self._has_version = True
            elif isinstance(event, Comment):
                self.comments.append(event.raw)
            elif isinstance(event, Reply):
                self._check_reply(event)
            elif self._question is None:
                raise AssertionError(f"{_describe(event)} before the first question")
            else:
                raise AssertionError(f"{_describe(event)} instead of a reply to {self._question.text!r}")
        return out

    def receive_eof(self) -> None:
        """Note that the bot has closed the connection.

        Raises:
            AssertionError: the script was not finished.
        """
        self._session.receive_eof()
        self.assert_done()

    def assert_done(self) -> None:
        """Check that the whole script was played.

        Raises:
            AssertionError: a part of the script was not played, or the bot sent more than its replies.
        """
        if not self._has_version:
            raise AssertionError("the bot has not sent its version line")
        if self._question is not None:
            raise AssertionError(f"the bot still owes a reply to {self._question.text!r}")
        num_unsent = len(self._script) - self._num_sent
        if num_unsent:
            raise AssertionError(f"{count_of(num_unsent, 'state')} never sent")
        while self._session.buffered_bytes:
            event = self._session.next_event()
            if not isinstance(event, Comment):
                raise AssertionError(f"{_describe(event)} after its last reply was due")

    def _send_to_next_question(self) -> bytes:
        """Return the next states of the script, up to and including a question."""
        out = b""
        while self._question is None and self._num_sent < len(self._script):
            state = self._script[self._num_sent]
            self._num_sent += 1
            is_question = state.replies is not None
            out += self._session.send(state.text.encode("latin-1") + b"\r\n", is_question=is_question)
            if is_question:
                self._question = state
        return out

    def _check_reply(self, event: Reply) -> None:
        question = self._question
        assert question is not None
        action = format_action(event.action)
        try:
            question.betting.check(event.action)
        except IllegalAction as error:
            raise AssertionError(f"{action!r} is illegal at {question.text!r}: {error}") from None
        if question.replies and action not in question.replies:
            expected = " or ".join(question.replies)
            raise AssertionError(f"the bot answered {action!r} to {question.text!r}, expected {expected}")
        self.replies.append(action)
        self._question = None


def _describe(event: object) -> str:
    if isinstance(event, Closed):
        return "the bot closed the connection"
    raw = getattr(event, "raw", b"")
    return f"the bot sent {raw!r} ({type(event).__name__})"
