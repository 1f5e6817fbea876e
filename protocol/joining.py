"""Messages between a server and the bots that join it: JSON objects over a WebSocket.

A client begins with `Join`, which the server answers with `Joined`. The server offers a seat of a match with
`SeatOffer`. From then on `SeatText` carries the ACPC texts of that seat in both directions, for all seats over one
connection.

    client  {"bot": "mine", "session": "u9-2kd", "games": ["kuhn"], "type": "join"}
    server  {"bot": "mine", "user": "ann", "games": {"kuhn.limit.2p": "GAMEDEF..."}, "seats": {}, "type": "joined"}
    server  {"seat": 1, "game": "kuhn.limit.2p", "match": "ann.first", "player": "mine", "hands": 100, "type": "offer"}
    client  {"seat": 1, "text": "VERSION:2.0.0\\r\\n", "type": "text"}
    server  {"seat": 1, "text": "MATCHSTATE:0:0::Qs|\\r\\n", "type": "text"}

Seats survive a lost connection. Each side counts the texts received at a seat and keeps the last ones sent
(`SeatStream`). `Join` and `Joined` contain the counts, and both sides send the missing texts again.

    >>> read_request('{"type": "over", "seat": 1, "reason": "it crashed"}')
    SeatOver(seat=1, reason='it crashed', type='over')
    >>> encode(SeatText(1, "VERSION:2.0.0\\r\\n"))
    b'{"seat":1,"text":"VERSION:2.0.0\\\\r\\\\n","type":"text"}'
    >>> ours = SeatStream()
    >>> ours.send("MATCHSTATE:0:0::Qs|\\r\\n")
    >>> ours.texts_after(0)
    ('MATCHSTATE:0:0::Qs|\\r\\n',)
"""

from __future__ import annotations

import enum
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from typing import Annotated, Any, ClassVar, Final, Literal, TypeAlias

from pydantic import (
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    TypeAdapter,
    ValidationError,
    model_serializer,
    model_validator,
)

from engine.text import printable
from protocol.errors import RemoteProtocolError

MAX_MESSAGE_BYTES: Final = 1 << 17
"""Longest message accepted from a client."""
# A dealer waits for a reply long before it has sent this many texts.
MAX_KEPT_TEXTS: Final = 256
"""Number of sent texts kept for a peer that may not have received them."""
TABLE_TAG: Final = "table"
"""Tag of matches with a person. The server reports no `RunOver` for them."""
_STRICT: Final = ConfigDict(extra="forbid")
_BY_TYPE: Final = Field(discriminator="type")
_MAX_PROBLEM_CHARS: Final = 300

_Word: TypeAlias = Annotated[str, Field(max_length=200)]
_Words: TypeAlias = Annotated[tuple[_Word, ...], Field(max_length=1000)]
# Many readers of JSON hold numbers as floats, which are exact up to 2**53.
_Count: TypeAlias = Annotated[int, Field(ge=0, lt=2**53)]


@dataclass(frozen=True, slots=True)
class Join:
    """Register a bot. Sent again on the same connection, it changes the fields below and is not answered.

    Attributes:
        session: random word of the client, by which the server recognises it after a lost connection.
        version: version of the bot. Each version is rated as a bot of its own.
        at_once: maximum number of matches played at the same time.
        ladder: the server may start matches when no request is queued.
        games: games that the bot plays; empty for all games of the server.
        seats: number of texts received, by seat.
        challenges: tags of challenges whose outcome the client may have missed.
    """

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT

    bot: _Word
    session: _Word
    version: _Word = "1"
    at_once: Annotated[int, Field(ge=1, le=10_000)] = 1
    ladder: bool = False
    games: _Words = ()
    seats: Mapping[int, _Count] = field(default_factory=dict)
    challenges: _Words = ()
    type: Literal["join"] = "join"


@dataclass(frozen=True, slots=True, kw_only=True)
class ContestTerms:
    """Terms of a contest, named like the options of `arena play`.

    Attributes:
        deals: maximum number of deals of a run; None for the server's maximum.
        stop: rule that may end a run earlier; None for no rule.
        seating: seatings in which each deal is played: ``single``, ``rotations`` or ``permutations``.
        seed: seed of the cards; 0 for a secret key of the server, without which the result is not rated.
        on_fault: policy for a player that times out, disconnects or floods: ``end``, ``forfeit`` or ``restart``.
        practice: deal the same cards in every seating even to players who could remember them. Such contests are not
            rated, but their leaks can be analysed.
    """

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT

    deals: Annotated[int, Field(ge=1)] | None = None
    stop: _Word | None = None
    seating: _Word = "rotations"
    seed: Annotated[int, Field(ge=0)] = 0
    on_fault: _Word = "end"
    practice: bool = False


DEFAULT_TERMS: Final = ContestTerms()
_TERM_NAMES: Final = tuple(term.name for term in fields(ContestTerms))


@dataclass(frozen=True, slots=True)
class Challenge:
    """Request a contest. In the JSON object, the terms are fields like the others.

    Attributes:
        tag: the client's name for the request, which later messages repeat.
        players: names by seat, of the client's bot, the server's own bots or bots of others.
    """

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT

    # Terms are validated first, and the first problem is the one that the client receives.
    terms: ContestTerms = field(default=DEFAULT_TERMS, kw_only=True)
    tag: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]{1,64}$")]
    game: _Word
    players: _Words
    type: Literal["challenge"] = "challenge"

    @model_validator(mode="before")
    @classmethod
    def _gather_terms(cls, message: Any) -> Any:
        if not isinstance(message, dict):
            return message
        terms = {}
        gathered = {}
        for name, value in message.items():
            # A client's own field "terms" goes among the terms, where it is refused as unknown.
            if name in _TERM_NAMES or name == "terms":
                terms[name] = value
            else:
                gathered[name] = value
        gathered["terms"] = terms
        return gathered

    @model_serializer(mode="wrap")
    def _spread_terms(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        message = write(self)
        return {**message.pop("terms"), **message}


@dataclass(frozen=True, slots=True)
class Cancel:
    """Cancel all requests of the user that have this tag."""

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT

    tag: _Word
    type: Literal["cancel"] = "cancel"


@dataclass(frozen=True, slots=True)
class SeatText:
    """Bytes sent at a seat, by the bot or the dealer.

    Attributes:
        text: the bytes as latin-1, so that JSON can hold any byte. Not necessarily whole lines.
    """

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT

    seat: int
    text: Annotated[str, Field(min_length=1)]
    type: Literal["text"] = "text"


@dataclass(frozen=True, slots=True)
class SeatOver:
    """End of a seat: from a client, the bot has left it; from the server, its match needs no bot any longer."""

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT

    seat: int
    reason: str = ""
    type: Literal["over"] = "over"


JoiningRequest: TypeAlias = Annotated[Join | Challenge | Cancel | SeatText | SeatOver, _BY_TYPE]


@dataclass(frozen=True, slots=True)
class Joined:
    """Confirmation that the bot is registered.

    Attributes:
        user: name of the user whose token the client has sent.
        games: definitions of the games that the bot plays, by their canonical names.
        seats: number of texts received, by seat that continues after a lost connection.
    """

    bot: str
    user: str
    games: Mapping[str, str]
    seats: Mapping[int, int]
    type: Literal["joined"] = "joined"


@dataclass(frozen=True, slots=True)
class Refused:
    """Reason why the server closes the connection."""

    reason: str
    type: Literal["refused"] = "refused"


@dataclass(frozen=True, slots=True)
class SeatOffer:
    """Offer of a seat, which the bot takes by its first text.

    Attributes:
        match: user and tag of the request, with a dot between them.
        hands: number of hands of the match; 0 if it is not fixed.
    """

    seat: int
    game: str
    match: str
    player: str
    hands: int = 0
    type: Literal["offer"] = "offer"


@dataclass(frozen=True, slots=True)
class ChallengeState:
    """State of a challenge.

    Attributes:
        state: ``queued``, ``done``, ``refused`` or ``cancelled`` with a reason, or ``unknown`` if the server has not
            received it.
    """

    tag: str
    state: str
    reason: str = ""
    type: Literal["challenge_state"] = "challenge_state"


class LadderWait(enum.StrEnum):
    """Reason that a bot of the ladder does not play now."""

    TURN = "turn"
    """Its next contest is in the ladder's line."""
    OPPONENTS = "opponents"
    """No other bot plays its games on the ladder."""
    CHANGE = "change"
    """All its pairs have been played as long as the ladder plays them."""
    GAME = "game"
    """The ladder plays none of its games."""
    LADDER = "ladder"
    """The server has no ladder."""


@dataclass(frozen=True, slots=True)
class LadderState:
    """State of a bot that joined for the ladder and does not play. The server sends it when it changes.

    Attributes:
        position: 1-based place of its next contest in the ladder's line; 0 unless it waits for its turn.
        contests: number of contests in the line.
        requests: number of users' unfinished requests, which are played before.
    """

    waits_for: LadderWait
    position: int = 0
    contests: int = 0
    requests: int = 0
    type: Literal["ladder_state"] = "ladder_state"


@dataclass(frozen=True, slots=True)
class RunStanding:
    """Progress of a run in which the bot plays.

    Attributes:
        hands: finished hands of all matches.
        planned: maximum number of hands.
        rate: winnings so far as a sentence, of the bot or, with more than two players, of the first player. Empty
            before there are any.
    """

    match: str
    hands: int
    planned: int
    rate: str = ""
    type: Literal["standing"] = "standing"


@dataclass(frozen=True, slots=True)
class RunOver:
    """End of a run in which the bot played or which the client requested.

    Attributes:
        run: 1-based number of the run.
        runs: number of runs of the request.
        state: ``finished``, ``failed`` or ``cancelled``.
        player: name of the client's bot in the run; None if it did not play.
        mbb_per_game: winnings of that bot; None if no result was counted.
        half_width_95: half the width of the 95 % interval of `mbb_per_game`; None if unknown.
    """

    match: str
    run: int
    runs: int
    state: str
    player: str | None = None
    hands: int = 0
    mbb_per_game: float | None = None
    half_width_95: float | None = None
    reason: str = ""
    type: Literal["run_over"] = "run_over"


ServerMessage: TypeAlias = Annotated[
    Joined | Refused | SeatOffer | SeatText | SeatOver | ChallengeState | LadderState | RunStanding | RunOver, _BY_TYPE
]


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def encode(message: JoiningRequest | ServerMessage) -> bytes:
    """Encode a message as JSON, without fields of value None."""
    kind: Any = type(message)
    return _adapter(kind).dump_json(message, exclude_none=True)


def read_request(text: str | bytes) -> JoiningRequest:
    """Read a message of a client.

    Raises:
        RemoteProtocolError: the text is not such a message. The error names the field.
    """
    request: JoiningRequest = _read(JoiningRequest, text)
    return request


def read_server_message(text: str | bytes) -> ServerMessage:
    """Read a message of a server.

    Raises:
        RemoteProtocolError: the text is not such a message.
    """
    message: ServerMessage = _read(ServerMessage, text)
    return message


def _read(kind: Any, text: str | bytes) -> Any:
    try:
        return _adapter(kind).validate_json(text)
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        path = list(problem["loc"])
        if path[:2] == ["challenge", "terms"]:
            # The client has sent the terms among the other fields.
            del path[1]
        sentence = problem["msg"]
        if path:
            field_path = ".".join(map(str, path))
            sentence = f"{field_path}: {sentence}"
        raise RemoteProtocolError(printable(sentence, _MAX_PROBLEM_CHARS), b"") from None


class SeatStream:
    """Texts of one seat as one side counts them, over all connections.

    Attributes:
        received: number of texts received.
    """

    def __init__(self) -> None:
        self.received = 0
        self._sent = 0
        self._kept: deque[str] = deque(maxlen=MAX_KEPT_TEXTS)

    def send(self, text: str) -> None:
        """Count and keep a text that is sent, even while there is no connection."""
        self._sent += 1
        self._kept.append(text)

    def texts_after(self, received: int) -> tuple[str, ...]:
        """Return the texts to send again to a peer that has received the first `received` ones.

        Raises:
            RemoteProtocolError: fewer texts were sent, or not all missing ones are kept.
        """
        num_kept = len(self._kept)
        num_missing = self._sent - received
        if not 0 <= num_missing <= num_kept:
            raise RemoteProtocolError(
                f"{received} texts were received, but {self._sent} were sent and the last {num_kept} of them kept", b""
            )
        return tuple(self._kept)[num_kept - num_missing :]
