"""Both sides of an ACPC connection as state machines: bytes in, events out, no I/O.

`DealerSession` is the dealer's side of one seat, `PlayerSession` the player's side. Both have four methods:

    session.receive_data(data)        feed bytes received from the peer
    session.receive_eof()             note that the peer has closed its side
    session.next_event()              return the peer's next event, or NEED_DATA
    session.send(...)                 return the bytes to send to the peer

Their `state` follows the conversation:

    AWAITING_VERSION ──Handshake──► IDLE ◄──────Reply──────┐
                                     └──────question──────► AWAITING_REPLY
    any state ──Closed──► CLOSED
    any state ──RemoteProtocolError──► ERROR
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
    """State of a conversation, the same on both sides."""

    AWAITING_VERSION = "awaiting version"
    """The player has not sent its version line."""

    IDLE = "idle"
    """No reply is due."""

    AWAITING_REPLY = "awaiting reply"
    """The dealer has sent a state in which the player must act."""

    CLOSED = "closed"
    """The peer has closed, and all its lines were read. No further call is allowed."""

    ERROR = "error"
    """The peer has broken the protocol. No further call is allowed."""


class NeedData(enum.Enum):
    """Type of `NEED_DATA`, as an enum so that type checkers can narrow by identity."""

    NEED_DATA = enum.auto()


NEED_DATA: Final = NeedData.NEED_DATA
"""No event is available before more bytes arrive or, on the dealer's side, before the next question is sent."""


class Handshake(NamedTuple):
    """Version line of a player.

    Attributes:
        raw: the line as received; empty in an event to send.
    """

    version: tuple[int, int, int] = VERSION
    raw: bytes = b""

    @property
    def is_supported(self) -> bool:
        """The reference dealer accepts any version, so callers decide what to do with others."""
        return self.version[0] == VERSION[0] and self.version[1] <= VERSION[1]


class Comment(NamedTuple):
    """Line beginning with ``#`` or ``;``, its end included. It is logged and otherwise ignored."""

    raw: bytes


class BadState(NamedTuple):
    """Line that does not begin with a match state."""

    raw: bytes


class StaleReply(NamedTuple):
    """Reply to another state than the current one."""

    raw: bytes


class BadAction(NamedTuple):
    """Reply to the current state without a readable action."""

    raw: bytes


class UnknownAction(NamedTuple):
    """Reply to the current state with a letter that is no action."""

    raw: bytes


class Reply(NamedTuple):
    """Reply to the current state. The dealer still has to check the action against the rules.

    Attributes:
        raw: the line as received; empty in an event to send.
    """

    action: Action
    raw: bytes = b""


class ReceivedState(NamedTuple):
    """State received by a player.

    Attributes:
        is_my_turn: the dealer waits for this player's reply.
    """

    raw: bytes
    hand: SeenHand
    is_my_turn: bool

    @property
    def state(self) -> MatchState:
        return self.hand.state

    @property
    def betting(self) -> BettingState:
        return self.hand.betting


class Closed(NamedTuple):
    """The peer has closed, and all its lines have been read."""


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
"""Events of `DealerSession.next_event`. Faults in play are events, because the match continues after them."""

PlayerEvent: TypeAlias = ReceivedState | Comment | Closed | Literal[NeedData.NEED_DATA]
"""Events of `PlayerSession.next_event`."""

# Looking up an enum member in its class costs more than comparing it.
_AWAITING_VERSION: Final = SessionState.AWAITING_VERSION
_IDLE: Final = SessionState.IDLE
_AWAITING_REPLY: Final = SessionState.AWAITING_REPLY
_CLOSED: Final = SessionState.CLOSED
_ERROR: Final = SessionState.ERROR

_VERSION_HEADER: Final = "VERSION:"


def _scan_version(text: str) -> tuple[int, int, int] | None:
    """Read a version line like the reference: three numbers separated by dots, followed by anything."""
    if not text.startswith(_VERSION_HEADER):
        return None
    numbers: list[int] = []
    index = len(_VERSION_HEADER)
    while True:
        scanned = scan_unsigned(text, index)
        if scanned is None:
            return None
        number, end = scanned
        numbers.append(wrap_uint32(number))
        if len(numbers) == 3:
            return numbers[0], numbers[1], numbers[2]
        if text[end : end + 1] != ".":
            return None
        index = end + 1


class _Session:
    """Line buffer and end of connection, common to both sides."""

    __slots__ = ("_game", "_reader", "state")

    def __init__(self, game: Game, *, max_line_bytes: int = MAX_LINE_BYTES) -> None:
        self.state = _AWAITING_VERSION
        self._game = game
        self._reader = LineReader(max_line_bytes=max_line_bytes)

    @property
    def buffered_bytes(self) -> int:
        """Bytes received but not read yet. Stop reading the socket while this is above a limit."""
        return self._reader.buffered_bytes

    @property
    def has_input(self) -> bool:
        """`next_event` has bytes or the end of the connection left to report."""
        reader = self._reader
        return not reader.is_empty or (reader.at_eof and self.state is not _CLOSED)

    def receive_data(self, data: bytes) -> None:
        """Feed bytes received from the peer.

        Raises:
            LocalProtocolError: the session is over.
        """
        self._require_open()
        self._reader.feed(data)

    def receive_eof(self) -> None:
        """Note that the peer has closed its side.

        Raises:
            LocalProtocolError: the session is over.
        """
        self._require_open()
        self._reader.feed_eof()

    def _require_open(self) -> None:
        if self.state is _CLOSED or self.state is _ERROR:
            raise LocalProtocolError("this session is over")

    def _event_without_line(self) -> Closed | Literal[NeedData.NEED_DATA]:
        if self._reader.at_eof:
            self.state = _CLOSED
            return Closed()
        return NEED_DATA


class DealerSession(_Session):
    """Dealer's side of one seat.

    Attributes:
        state: the current `SessionState`.
    """

    __slots__ = ("_echo", "_question")

    def __init__(self, game: Game, *, max_line_bytes: int = MAX_LINE_BYTES) -> None:
        super().__init__(game, max_line_bytes=max_line_bytes)
        # Nearly all players echo the question byte for byte. It is parsed only for a reply that does not.
        self._echo = b""
        self._question: MatchState | None = None

    def send(self, line: bytes, *, is_question: bool) -> bytes:
        """Return the bytes of a state. A question replaces an earlier one that was not answered.

        Args:
            line: the match state as the player sees it, CR LF included.
            is_question: the player must reply to this state.

        Raises:
            LocalProtocolError: the player has not sent its version line, or the session is over.
        """
        if self.state is not _IDLE and self.state is not _AWAITING_REPLY:
            self._require_open()
            raise LocalProtocolError("no state may be sent before the player's version line")
        if is_question:
            self._echo = line[:-2]
            self._question = None
            self.state = _AWAITING_REPLY
        return line

    def next_event(self) -> DealerEvent:
        """Return the player's next event.

        A reply answers the question even if its action cannot be read. To ask again, send the state again.

        Raises:
            RemoteProtocolError: the first line is not a version line.
            LocalProtocolError: the session is over.
        """
        state = self.state
        if state is _AWAITING_REPLY:
            raw = self._reader.pop()
            if raw is None:
                return self._event_without_line()
            event = self._read_reply(raw)
            if isinstance(event, Reply | BadAction | UnknownAction):
                self.state = _IDLE
            return event
        if state is _IDLE:
            # The reference reads a seat only when it waits for that seat. Earlier lines stay in the buffer, and are
            # judged against the state that is current when they are read.
            if self._reader.is_empty:
                return self._event_without_line()
            return NEED_DATA
        self._require_open()
        raw = self._reader.pop()
        if raw is None:
            return self._event_without_line()
        return self._read_version(raw)

    def _read_version(self, raw: bytes) -> Handshake:
        version = _scan_version(raw.decode("latin-1"))
        if version is None:
            self.state = _ERROR
            raise RemoteProtocolError(
                f"the first line must be the version, as in {VERSION_LINE!r}, not {quoted(raw)}", raw
            )
        self.state = _IDLE
        return Handshake(version, raw)

    def _read_reply(self, raw: bytes) -> DealerEvent:
        if raw[:1] in (b"#", b";"):
            return Comment(raw)
        # The reference handles lines as C strings, which end at a NUL.
        # Latin-1 maps each byte to one character, so columns of errors are byte offsets and any byte can be logged.
        text = raw.split(b"\0", 1)[0].decode("latin-1")
        if raw.startswith(self._echo + b":"):
            end = len(self._echo)
        else:
            scanned = scan_match_state(text, self._game)
            if scanned is None:
                return BadState(raw)
            state, end = scanned
            if not self._answers_question(state):
                return StaleReply(raw)
        if text[end : end + 1] != ":":
            return BadAction(raw)
        scanned_action = scan_action(text, end + 1, self._game.is_limit)
        if scanned_action is None:
            return BadAction(raw)
        action, _ = scanned_action
        if action is None:
            return UnknownAction(raw)
        return Reply(action, raw)

    def _answers_question(self, state: MatchState) -> bool:
        if self._question is None:
            self._question = parse_match_state(self._echo.decode("latin-1"), self._game)
        question = self._question
        # Like the reference, compare only the player's own hole cards: a player may leave out or invent the others.
        return (
            state.position == question.position
            and state.hand_number == question.hand_number
            and state.rounds == question.rounds
            and state.board == question.board
            and state.hole_cards[state.position] == question.hole_cards[state.position]
        )


class PlayerSession(_Session):
    """Player's side of a connection.

    Attributes:
        state: the current `SessionState`.
    """

    __slots__ = ("_question", "_states")

    def __init__(self, game: Game, *, max_line_bytes: int = MAX_LINE_BYTES) -> None:
        super().__init__(game, max_line_bytes=max_line_bytes)
        self._question: ReceivedState | None = None
        self._states = StateReader(game)

    def send(self, event: Handshake | Comment | Reply) -> bytes:
        """Return the bytes of the version line, of a comment, or of the reply to the last state.

        Raises:
            LocalProtocolError: the event is not allowed now, the comment is not a single line, or the rules reject the
                action.
        """
        self._require_open()
        if isinstance(event, Reply):
            return self._reply(event.action)
        if isinstance(event, Handshake):
            if self.state is not _AWAITING_VERSION:
                raise LocalProtocolError("the version line was sent already")
            self.state = _IDLE
            return b"VERSION:%d.%d.%d\r\n" % event.version
        if self.state is _AWAITING_VERSION:
            raise LocalProtocolError("the version line must be sent first")
        raw = event.raw
        if raw[:1] not in (b"#", b";") or raw.find(b"\n") != len(raw) - 1:
            raise LocalProtocolError(f"a comment is one line that begins with '#' or ';', not {quoted(raw)}")
        return raw

    def _reply(self, action: Action) -> bytes:
        question = self._question
        if question is None:
            raise LocalProtocolError("no reply is due because it is not this player's turn")
        try:
            question.betting.check(action)
        except IllegalAction as error:
            raise LocalProtocolError(f"cannot reply {format_action(action)!r}: {error}") from error
        self._question = None
        self.state = _IDLE
        # The dealer compares the state with its own, so it is repeated byte for byte.
        return question.raw.rstrip(b"\r\n") + b":" + format_action(action).encode() + b"\r\n"

    def next_event(self) -> PlayerEvent:
        """Return the dealer's next event.

        Raises:
            RemoteProtocolError: a line is not a match state of this game.
            LocalProtocolError: the version line has not been sent, or the session is over.
        """
        if self.state is not _IDLE and self.state is not _AWAITING_REPLY:
            self._require_open()
            raise LocalProtocolError("no event can be read before the version line is sent")
        raw = self._reader.pop()
        if raw is None:
            return self._event_without_line()
        if not raw.endswith(b"\n") and self._reader.at_eof:
            # The dealer died in the middle of a line.
            return self._event_without_line()
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
        # tuple.__new__ skips the Python-level constructor of the named tuple; this runs for every line of the dealer.
        event: ReceivedState = tuple.__new__(ReceivedState, (raw, hand, is_my_turn))
        self._question = event if is_my_turn else None
        self.state = _AWAITING_REPLY if is_my_turn else _IDLE
        return event
