"""The two sides of a connection, bytes in and events out: no socket, no clock, no thread.

`DealerSession` is the dealer's side of one seat, `PlayerSession` the player's side. Both work alike: give received
bytes to `receive_data` (and `receive_eof` when the peer closes), ask `next_event` until it says `NEED_DATA`, and send
the bytes that the other methods return.

Two rules:

- A dealer reads a seat only when it is that seat's turn. Lines wait unread until then and are judged against the state
  that is current when they are read; so ask `next_event` only when a reply is due.
- What the peer does wrong in play is an event, because the match goes on. Only what ends the conversation raises:
  `RemoteProtocolError` (the peer's fault, after which the session is over) or `LocalProtocolError` (the caller's).

Texts on the wire are bytes; they are decoded as latin-1 so that any byte survives a round trip into logs.
"""

from __future__ import annotations

import enum
from typing import Final, Literal, NamedTuple, TypeAlias

from engine import Action, BettingState, Game, IllegalAction
from protocol.actions import format_action, scan_action
from protocol.errors import FormatError, LocalProtocolError, RemoteProtocolError
from protocol.framing import MAX_LINE_BYTES, LineReader
from protocol.match_state import MatchState, parse_match_state, read_match_state, scan_match_state
from protocol.numbers import scan_unsigned, wrap_uint32

__all__ = [
    "NEED_DATA",
    "VERSION",
    "VERSION_LINE",
    "BadAction",
    "BadState",
    "Closed",
    "Comment",
    "DealerEvent",
    "DealerSession",
    "Handshake",
    "NeedData",
    "PlayerEvent",
    "PlayerSession",
    "Reply",
    "StaleReply",
    "StateReceived",
    "UnknownAction",
]

VERSION: Final = (2, 0, 0)
VERSION_LINE: Final = b"VERSION:2.0.0\r\n"


class NeedData(enum.Enum):
    """The type of `NEED_DATA`."""

    NEED_DATA = enum.auto()


NEED_DATA: Final = NeedData.NEED_DATA
"""No event until more bytes come."""


class Handshake(NamedTuple):
    """The player named his version; `is_supported` is false when it is not ours (the reference goes on all the
    same)."""

    raw: bytes
    version: tuple[int, int, int]
    is_supported: bool


class Comment(NamedTuple):
    """A line beginning with ``#`` or ``;``: for people, no part of the game."""

    raw: bytes


class BadState(NamedTuple):
    """A line that does not begin with a match state."""

    raw: bytes


class StaleReply(NamedTuple):
    """A reply to another state than the present one."""

    raw: bytes


class BadAction(NamedTuple):
    """The present state, but no readable action behind it."""

    raw: bytes


class UnknownAction(NamedTuple):
    """The present state, and behind it a character that begins no action."""

    raw: bytes


class Reply(NamedTuple):
    """The present state and an action; whether the rules allow it is not checked here."""

    raw: bytes
    action: Action


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

_VERSION_HEADER: Final = "VERSION:"


def _scan_version(text: str) -> tuple[int, int, int] | None:
    """Three numbers behind the header, separated by dots; whatever follows is left alone."""
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


class _Side:
    """What both sides share: bytes in, lines out, the end."""

    __slots__ = ("_closed", "_game", "_reader")

    def __init__(self, game: Game, *, max_line_bytes: int = MAX_LINE_BYTES) -> None:
        self._game = game
        self._reader = LineReader(max_line_bytes=max_line_bytes)
        self._closed = False

    @property
    def buffered_bytes(self) -> int:
        """Bytes received and not yet read as lines."""
        return self._reader.buffered_bytes

    @property
    def has_input(self) -> bool:
        """Whether something is kept that `next_event` has not told: bytes, or that the peer has closed."""
        return self._reader.buffered_bytes > 0 or (self._reader.at_eof and not self._closed)

    def receive_data(self, data: bytes) -> None:
        """Take bytes from the peer."""
        self._reader.feed(data)

    def receive_eof(self) -> None:
        """The peer has closed his side."""
        self._reader.feed_eof()

    def _next_line(self) -> bytes | Closed | Literal[NeedData.NEED_DATA]:
        if self._closed:
            raise LocalProtocolError("this session is over")
        raw = self._reader.pop()
        if raw is not None:
            return raw
        if self._reader.at_eof:
            self._closed = True
            return Closed()
        return NEED_DATA


class DealerSession(_Side):
    """The dealer's side of one seat."""

    __slots__ = ("_awaits_version", "_prefix", "_state")

    def __init__(self, game: Game, *, max_line_bytes: int = MAX_LINE_BYTES) -> None:
        super().__init__(game, max_line_bytes=max_line_bytes)
        self._awaits_version = True
        self._prefix = b""
        self._state: MatchState | None = None

    def send_state(self, line: bytes) -> bytes:
        """Make `line` (a match state, CR LF included) the present state; returns the bytes to send.

        Raises:
            LocalProtocolError: before the handshake.
        """
        if self._awaits_version:
            raise LocalProtocolError("no state may be sent before the player has named his version")
        self._prefix = line[:-2] + b":"
        self._state = None
        return line

    def next_event(self) -> DealerEvent:
        """What the player has done next.

        Raises:
            RemoteProtocolError: the first line is no version line.
            LocalProtocolError: asked again after `Closed` or an error, or before there was a state to reply to.
        """
        raw = self._next_line()
        if not isinstance(raw, bytes):
            return raw
        if self._awaits_version:
            return self._read_version(raw)
        if not self._prefix:
            raise LocalProtocolError("no reply is due before the first state")
        return self._read_reply(raw)

    def _read_version(self, raw: bytes) -> Handshake:
        version = _scan_version(raw.decode("latin-1"))
        if version is None:
            self._closed = True
            raise RemoteProtocolError(f"not a version line: {raw!r}; a player begins with {VERSION_LINE!r}", raw)
        self._awaits_version = False
        return Handshake(raw, version, version[0] == VERSION[0] and version[1] <= VERSION[1])

    def _read_reply(self, raw: bytes) -> DealerEvent:
        """Judge a line as the reference does; a line counts up to its first NUL."""
        if raw[:1] in (b"#", b";"):
            return Comment(raw)
        text = raw.split(b"\0", 1)[0].decode("latin-1")
        if raw.startswith(self._prefix):
            at = len(self._prefix) - 1
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
        return Reply(raw, action[0])

    def _is_present(self, state: MatchState) -> bool:
        """Whether a state that the player echoed is the present one; other players' cards are not compared."""
        if self._state is None:
            self._state = parse_match_state(self._prefix[:-1].decode("latin-1"), self._game)
        present = self._state
        return (
            state.position == present.position
            and state.hand_number == present.hand_number
            and state.rounds == present.rounds
            and state.board == present.board
            and state.hole_cards[state.position] == present.hole_cards[state.position]
        )


class StateReceived(NamedTuple):
    """The dealer told a state.

    Attributes:
        raw: the line.
        state: the state as read.
        betting: its betting, played by the rules.
        is_my_turn: whether the dealer now waits for this player.
    """

    raw: bytes
    state: MatchState
    betting: BettingState
    is_my_turn: bool


PlayerEvent: TypeAlias = StateReceived | Comment | Closed | Literal[NeedData.NEED_DATA]


class PlayerSession(_Side):
    """The player's side of a connection."""

    __slots__ = ("_asked",)

    def __init__(self, game: Game, *, max_line_bytes: int = MAX_LINE_BYTES) -> None:
        super().__init__(game, max_line_bytes=max_line_bytes)
        self._asked: StateReceived | None = None

    def handshake(self) -> bytes:
        """The bytes that open the conversation."""
        return VERSION_LINE

    def next_event(self) -> PlayerEvent:
        """What the dealer has said next.

        Raises:
            RemoteProtocolError: the line is no match state of this game.
            LocalProtocolError: asked again after `Closed` or an error.
        """
        raw = self._next_line()
        if not isinstance(raw, bytes):
            return raw
        if not raw.endswith(b"\n") and self._reader.at_eof:
            # The dealer died in the middle of a line.
            self._closed = True
            return Closed()
        if raw[:1] in (b"#", b";"):
            return Comment(raw)
        text = raw.decode("latin-1").rstrip("\r\n")
        try:
            state, betting = read_match_state(text, self._game)
        except FormatError as error:
            self._closed = True
            raise RemoteProtocolError(f"the dealer's line is no state of this game: {error}", raw) from error
        is_my_turn = not betting.finished and betting.acting_position == state.position
        event = StateReceived(raw, state, betting, is_my_turn)
        self._asked = event if is_my_turn else None
        return event

    def reply(self, action: Action) -> bytes:
        """The bytes that answer the state just received.

        Raises:
            LocalProtocolError: it is not this player's turn, or the rules refuse the action.
        """
        if self._asked is None:
            raise LocalProtocolError("no reply is due: the last state did not ask this player")
        try:
            self._asked.betting.check(action)
        except IllegalAction as error:
            raise LocalProtocolError(f"cannot reply {format_action(action)!r}: {error}") from error
        line = self._asked.raw.rstrip(b"\r\n") + b":" + format_action(action).encode() + b"\r\n"
        self._asked = None
        return line
