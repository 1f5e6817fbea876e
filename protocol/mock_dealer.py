"""A scripted dealer for tests of bots: no match, no cards, no socket; just a dialogue.

    dealer = MockDealer("kuhn")
    dealer.tell("MATCHSTATE:1:0::|Ks")               # not our turn: no reply may come
    dealer.ask("MATCHSTATE:1:0:r:|Ks", "c")          # our turn: the reply must be a call
    to_bot = dealer.receive(b"VERSION:2.0.0\\r\\n")   # bytes of the bot in, bytes for the bot out
    to_bot = dealer.receive(b"MATCHSTATE:1:0:r:|Ks:c\\r\\n")
    dealer.assert_done()

`bots.sdk.testing` runs a whole bot against it, in the process or over TCP.
"""

from __future__ import annotations

from engine import Game, IllegalAction
from engine.text import count_of
from protocol.actions import format_action
from protocol.errors import LocalProtocolError
from protocol.game_definition import find_game
from protocol.match_state import betting_after, format_betting, parse_match_state
from protocol.session import NEED_DATA, Closed, Comment, DealerSession, Handshake, Reply


class MockDealer:
    """A dealer that plays its script and checks every reply.

    Attributes:
        replies: the actions that came, as texts.
        comments: the comment lines that came, as bytes.
    """

    def __init__(self, game: str | Game) -> None:
        self.game = find_game(game)[1] if isinstance(game, str) else game
        self.replies: list[str] = []
        self.comments: list[bytes] = []
        self._script: list[tuple[bytes, tuple[str, ...] | None]] = []
        """Lines and the replies to them: None where none is due; any legal action if empty, else one of these."""
        self._session = DealerSession(self.game)
        self._done = 0
        self._is_greeted = False
        self._awaits: tuple[bytes, tuple[str, ...]] | None = None

    def tell(self, state: str) -> MockDealer:
        """Add a state that asks no player, or another player.

        Raises:
            FormatError: it is not a state of the game.
            LocalProtocolError: the state asks this player: use `ask`.
        """
        return self._add(state, None)

    def ask(self, state: str, *expects: str) -> MockDealer:
        """Add a state that asks the player; the reply must be one of `expects`, or any legal action if none is given.

        Raises:
            FormatError: it is not a state of the game.
            LocalProtocolError: it is not this player's turn there: use `tell`.
        """
        return self._add(state, expects)

    def _add(self, state: str, expects: tuple[str, ...] | None) -> MockDealer:
        parsed = parse_match_state(state, self.game)
        betting = betting_after(self.game, format_betting(parsed.rounds))
        asks = not betting.finished and betting.acting_position == parsed.position
        if asks != (expects is not None):
            raise LocalProtocolError(
                f"{state!r} {'asks this player: use ask()' if asks else 'asks no player: use tell()'}"
            )
        self._script.append((state.encode("latin-1") + b"\r\n", expects))
        return self

    def receive(self, data: bytes) -> bytes:
        """Take bytes from the bot; returns the bytes for the bot.

        Raises:
            AssertionError: the bot departed from the script; the sentence describes it.
        """
        self._session.receive_data(data)
        out = b""
        while True:
            if self._is_greeted and self._awaits is None:
                out += self._advance()
                if self._awaits is None:
                    break
            event = self._session.next_event()
            if event is NEED_DATA:
                break
            if isinstance(event, Handshake):
                if not event.is_supported:
                    raise AssertionError(f"the bot speaks version {event.version}, not 2.0.0")
                self._is_greeted = True
            elif isinstance(event, Comment):
                self.comments.append(event.raw)
            elif isinstance(event, Reply):
                self._check_reply(event)
            else:
                raise AssertionError(f"{_describe(event)}; asked was {self._asked_text()}")
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
            AssertionError: part of the script was not played.
        """
        if not self._is_greeted:
            raise AssertionError("the bot has not sent its version line")
        if self._awaits is not None:
            raise AssertionError(f"the bot still owes a reply to {self._asked_text()}")
        if self._done < len(self._script):
            raise AssertionError(f"{count_of(len(self._script) - self._done, 'state')} never sent")
        while self._session.buffered_bytes:
            event = self._session.next_event()
            if not isinstance(event, Comment):
                raise AssertionError(f"{_describe(event)} after its last reply was due")

    def _advance(self) -> bytes:
        out = b""
        while self._awaits is None and self._done < len(self._script):
            line, expects = self._script[self._done]
            self._done += 1
            out += self._session.send(line, is_question=expects is not None)
            if expects is not None:
                self._awaits = line, expects
        return out

    def _check_reply(self, event: Reply) -> None:
        assert self._awaits is not None
        line, expects = self._awaits
        action = format_action(event.action)
        state = parse_match_state(line.decode("latin-1").rstrip(), self.game)
        try:
            betting_after(self.game, format_betting(state.rounds)).check(event.action)
        except IllegalAction as error:
            raise AssertionError(f"{action!r} is illegal at {self._asked_text()}: {error}") from None
        if expects and action not in expects:
            raise AssertionError(
                f"the bot answered {action!r} to {self._asked_text()}, expected {' or '.join(expects)}"
            )
        self.replies.append(action)
        self._awaits = None

    def _asked_text(self) -> str:
        if self._awaits:
            return repr(self._awaits[0].decode("latin-1").rstrip())
        return "nothing"


def _describe(event: object) -> str:
    if isinstance(event, Closed):
        return "the bot closed the connection"
    return f"the bot sent a {type(event).__name__}: {getattr(event, 'raw', b'')!r}"
