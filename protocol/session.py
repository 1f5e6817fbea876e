"""The two sides of a connection, bytes in and events out: no socket, no clock, no thread.

`DealerSession` is the dealer's side of one seat, `PlayerSession` the player's side. Both have the same four verbs:

    session.receive_data(data)        bytes came from the peer
    session.receive_eof()             the peer has closed its side
    session.next_event()              what the peer has done next, or NEED_DATA
    session.send(...)                 the bytes of this side, to be sent to the peer

and a visible `state`:

    AWAITING_VERSION ──Handshake──► IDLE ◄──────reply──────┐
                                     └──a state that asks──► AWAITING_REPLY
    any of them ──Closed──► CLOSED
    any of them ──RemoteProtocolError──► ERROR

Three rules:

- A dealer reads a seat only when it is that seat's turn. Lines that come earlier wait unread and are judged against the
  state that is current when they are read: while no reply is due, `next_event` says `NEED_DATA`.
- What the peer does wrong in play is an event, because the match continues. Only what ends the conversation raises:
  `RemoteProtocolError` (the peer's fault) or `LocalProtocolError` (the caller's).
- CLOSED and ERROR are final: every further call raises `LocalProtocolError`.

Texts on the wire are bytes; they are decoded as latin-1 so that any byte survives a round trip into logs.
"""

from __future__ import annotations

import enum
from typing import Final, Literal, NamedTuple, TypeAlias

from engine import Action, BettingState, Game, IllegalAction
from engine.errors import quoted
from protocol.actions import format_action, scan_action
from protocol.errors import FormatError, LocalProtocolError, RemoteProtocolError
from protocol.framing import MAX_LINE_BYTES, LineReader
from protocol.match_state import MatchState, SeenHand, StateReader, parse_match_state, scan_match_state
from protocol.numbers import scan_unsigned, wrap_uint32

VERSION: Final = (2, 0, 0)
VERSION_LINE: Final = b"VERSION:2.0.0\r\n"


class SessionState(enum.Enum):
    """How far a conversation is; the same on both sides."""

    AWAITING_VERSION = "awaiting version"
    """The player has not named its version yet."""

    IDLE = "idle"
    """No reply is due."""

    AWAITING_REPLY = "awaiting reply"
    """The player has been asked."""

    CLOSED = "closed"
    """The peer has closed, and everything it sent before has been read."""

    ERROR = "error"
    """The peer has broken the protocol."""


class NeedData(enum.Enum):
    """The type of `NEED_DATA`."""

    NEED_DATA = enum.auto()


NEED_DATA: Final = NeedData.NEED_DATA
"""No event until more bytes come or, for a dealer to whom no reply is due, until a state that asks is sent."""


class Handshake(NamedTuple):
    """A player names its version. `raw`: the line as received; empty in an event to be sent."""

    version: tuple[int, int, int] = VERSION
    raw: bytes = b""

    @property
    def is_supported(self) -> bool:
        """Whether this side speaks that version; the reference dealer continues either way."""
        return self.version[0] == VERSION[0] and self.version[1] <= VERSION[1]


class Comment(NamedTuple):
    """A line beginning with ``#`` or ``;``, its end included: for people, no part of the game."""

    raw: bytes


class BadState(NamedTuple):
    """A line that does not begin with a match state."""

    raw: bytes


class StaleReply(NamedTuple):
    """A reply to another state than the present one."""

    raw: bytes


class BadAction(NamedTuple):
    """The present state, but no readable action after it."""

    raw: bytes


class UnknownAction(NamedTuple):
    """The present state, then a character that begins no action."""

    raw: bytes


class Reply(NamedTuple):
    """The present state and an action; a dealer still has to check it against the rules.

    Attributes:
        action: the action. raw: the line as received; empty in an event to be sent.
    """

    action: Action
    raw: bytes = b""


class ReceivedState(NamedTuple):
    """A dealer has sent the state of the player's hand.

    Attributes:
        hand: what it says.
        is_my_turn: whether the dealer now waits for this player.
    """

    raw: bytes
    hand: SeenHand
    is_my_turn: bool

    @property
    def state(self) -> MatchState:
        """The state as a value."""
        return self.hand.state

    @property
    def betting(self) -> BettingState:
        """Its betting, played by the rules."""
        return self.hand.betting


class Closed(NamedTuple):
    """The peer has closed and all its lines have been read."""


DealerEvent: TypeAlias = (
    Handshake
    | Comment
    | BadState
    | StaleReply
    | BadAction
    | UnknownAction
    | Reply
    | Closed
    | Literal[NeedData.NEED_DATA]
)
"""What `DealerSession.next_event` returns."""

PlayerEvent: TypeAlias = ReceivedState | Comment | Closed | Literal[NeedData.NEED_DATA]
"""What `PlayerSession.next_event` returns."""

# Looking a member up in its class costs more than the comparison.
_AWAITING_VERSION: Final = SessionState.AWAITING_VERSION
_IDLE: Final = SessionState.IDLE
_AWAITING_REPLY: Final = SessionState.AWAITING_REPLY
_CLOSED: Final = SessionState.CLOSED
_ERROR: Final = SessionState.ERROR

_VERSION_HEADER: Final = "VERSION:"


def _scan_version(text: str) -> tuple[int, int, int] | None:
    if not text.startswith(_VERSION_HEADER):
        return None
    numbers: list[int] = []
    at = len(_VERSION_HEADER)
    while True:
        scanned = scan_unsigned(text, at)
        if scanned is None:
            return None
        numbers.append(wrap_uint32(scanned[0]))
        at = scanned[1] + 1
        if len(numbers) == 3:
            return numbers[0], numbers[1], numbers[2]
        if text[at - 1 : at] != ".":
            return None


class _Session:
    """What both sides share: bytes in, lines out, the end."""

    __slots__ = ("_game", "_reader", "state")

    def __init__(self, game: Game, *, max_line_bytes: int = MAX_LINE_BYTES) -> None:
        self.state = _AWAITING_VERSION
        self._game = game
        self._reader = LineReader(max_line_bytes=max_line_bytes)

    @property
    def buffered_bytes(self) -> int:
        """Bytes received and not yet read as lines: the caller stops reading when this grows beyond a bound."""
        return self._reader.buffered_bytes

    @property
    def has_input(self) -> bool:
        """Whether `next_event` has something left to read: bytes, or that the peer has closed."""
        reader = self._reader
        return not reader.is_empty or (reader.at_eof and self.state is not _CLOSED)

    def receive_data(self, data: bytes) -> None:
        """Take bytes from the peer.

        Raises:
            LocalProtocolError: the session is over.
        """
        self._require_open()
        self._reader.feed(data)

    def receive_eof(self) -> None:
        """The peer has closed its side.

        Raises:
            LocalProtocolError: the session is over.
        """
        self._require_open()
        self._reader.feed_eof()

    def _require_open(self) -> None:
        if self.state is _CLOSED or self.state is _ERROR:
            raise LocalProtocolError("this session is over")

    def _without_line(self) -> Closed | Literal[NeedData.NEED_DATA]:
        if self._reader.at_eof:
            self.state = _CLOSED
            return Closed()
        return NEED_DATA


class DealerSession(_Session):
    """The dealer's side of one seat."""

    __slots__ = ("_echo", "_present")

    def __init__(self, game: Game, *, max_line_bytes: int = MAX_LINE_BYTES) -> None:
        super().__init__(game, max_line_bytes=max_line_bytes)
        self._echo = b""
        """What a reply begins with: the state without its end."""
        self._present: MatchState | None = None
        """The state as values, once a reply does not echo it byte for byte."""

    def send(self, line: bytes, *, is_question: bool) -> bytes:
        """The bytes of a state; a state that asks takes back any question before it.

        Args:
            line: the match state as the player sees it, CR LF included.

        Raises:
            LocalProtocolError: before the handshake, or the session is over.
        """
        if self.state is not _IDLE and self.state is not _AWAITING_REPLY:
            self._require_open()
            raise LocalProtocolError("no state may be sent before the player has named its version")
        if is_question:
            self._echo = line[:-2]
            self._present = None
            self.state = _AWAITING_REPLY
        return line

    def next_event(self) -> DealerEvent:
        """What the player has done next. A reply, readable or not, answers the question: another needs another state.

        Raises:
            RemoteProtocolError: the first line is not a version line.
            LocalProtocolError: the session is over.
        """
        state = self.state
        if state is _AWAITING_REPLY:
            raw = self._reader.pop()
            if raw is None:
                return self._without_line()
            event = self._read_reply(raw)
            if isinstance(event, Reply | BadAction | UnknownAction):
                self.state = _IDLE
            return event
        if state is _IDLE:
            if self._reader.is_empty:
                return self._without_line()
            return NEED_DATA
        self._require_open()
        raw = self._reader.pop()
        if raw is None:
            return self._without_line()
        return self._read_version(raw)

    def _read_version(self, raw: bytes) -> Handshake:
        version = _scan_version(raw.decode("latin-1"))
        if version is None:
            self.state = _ERROR
            raise RemoteProtocolError(f"not a version line: {quoted(raw)}; a player begins with {VERSION_LINE!r}", raw)
        self.state = _IDLE
        return Handshake(version, raw)

    def _read_reply(self, raw: bytes) -> DealerEvent:
        if raw[:1] in (b"#", b";"):
            return Comment(raw)
        text = raw.split(b"\0", 1)[0].decode("latin-1")
        if raw.startswith(self._echo + b":"):
            at = len(self._echo)
        else:
            scanned = scan_match_state(text, self._game)
            if scanned is None:
                return BadState(raw)
            state, at = scanned
            if not self._is_present(state):
                return StaleReply(raw)
        if text[at : at + 1] != ":":
            return BadAction(raw)
        action = scan_action(text, at + 1, self._game.is_limit)
        if action is None:
            return BadAction(raw)
        if action[0] is None:
            return UnknownAction(raw)
        return Reply(action[0], raw)

    def _is_present(self, state: MatchState) -> bool:
        if self._present is None:
            self._present = parse_match_state(self._echo.decode("latin-1"), self._game)
        present = self._present
        return (
            state.position == present.position
            and state.hand_number == present.hand_number
            and state.rounds == present.rounds
            and state.board == present.board
            and state.hole_cards[state.position] == present.hole_cards[state.position]
        )


class PlayerSession(_Session):
    """The player's side of a connection."""

    __slots__ = ("_question", "_states")

    def __init__(self, game: Game, *, max_line_bytes: int = MAX_LINE_BYTES) -> None:
        super().__init__(game, max_line_bytes=max_line_bytes)
        self._question: ReceivedState | None = None
        """The state to be answered, while a reply is due."""
        self._states = StateReader(game)

    def send(self, event: Handshake | Comment | Reply) -> bytes:
        """The bytes of the version line, a comment, or the reply to the state just received.

        Raises:
            LocalProtocolError: the version was named before, or has not been named yet; a comment is not one line; no
                reply is due, or the rules reject the action; the session is over.
        """
        self._require_open()
        if isinstance(event, Reply):
            return self._reply(event.action)
        if isinstance(event, Handshake):
            if self.state is not _AWAITING_VERSION:
                raise LocalProtocolError("the version has been named already")
            self.state = _IDLE
            return b"VERSION:%d.%d.%d\r\n" % event.version
        if self.state is _AWAITING_VERSION:
            raise LocalProtocolError("the first line must name the version")
        raw = event.raw
        if raw[:1] not in (b"#", b";") or raw.find(b"\n") != len(raw) - 1:
            raise LocalProtocolError(f"a comment is one line that begins with '#' or ';', not {quoted(raw)}")
        return raw

    def _reply(self, action: Action) -> bytes:
        question = self._question
        if question is None:
            raise LocalProtocolError("no reply is due: the last state did not ask this player")
        try:
            question.betting.check(action)
        except IllegalAction as error:
            raise LocalProtocolError(f"cannot reply {format_action(action)!r}: {error}") from error
        self._question = None
        self.state = _IDLE
        return question.raw.rstrip(b"\r\n") + b":" + format_action(action).encode() + b"\r\n"

    def next_event(self) -> PlayerEvent:
        """The dealer's next event.

        Raises:
            RemoteProtocolError: the line is not a match state of this game.
            LocalProtocolError: the version has not been named yet, or the session is over.
        """
        if self.state is not _IDLE and self.state is not _AWAITING_REPLY:
            self._require_open()
            raise LocalProtocolError("a dealer speaks after the player has named its version")
        raw = self._reader.pop()
        if raw is None:
            return self._without_line()
        if not raw.endswith(b"\n") and self._reader.at_eof:
            # The dealer died in the middle of a line.
            return self._without_line()
        if raw[:1] in (b"#", b";"):
            return Comment(raw)
        text = raw.decode("latin-1").rstrip("\r\n")
        try:
            hand = self._states.read(text)
        except FormatError as error:
            self.state = _ERROR
            raise RemoteProtocolError(f"the dealer's line is not a state of this game: {error}", raw) from error
        # The acting position of a finished hand is -1.
        is_my_turn = hand.betting.acting_position == hand.position
        event: ReceivedState = tuple.__new__(ReceivedState, (raw, hand, is_my_turn))
        self._question = event if is_my_turn else None
        self.state = _AWAITING_REPLY if is_my_turn else _IDLE
        return event
