"""Messages of a bot that has joined a server: JSON objects over a WebSocket.

A client sends `Join` first and gets `Joined`. When a match is to begin, the server sends a `SeatOffer`; from then on
`SeatText` carries what dealer and bot say to each other at that seat, in both directions and for all seats over the
one connection.

    client  {"bot": "mine", "session": "u9-2kd", "games": ["kuhn"], "type": "join"}
    server  {"bot": "mine", "user": "ann", "games": {"kuhn.limit.2p": "GAMEDEF..."}, "seats": {}, "type": "joined"}
    server  {"seat": 1, "game": "kuhn.limit.2p", "match": "ann.first", "player": "mine", "hands": 100, "type": "offer"}
    client  {"seat": 1, "text": "VERSION:2.0.0\\r\\n", "type": "text"}
    server  {"seat": 1, "text": "MATCHSTATE:0:0::Qs|\\r\\n", "type": "text"}

Each side counts the texts that it has received at a seat, and keeps the last that it has sent (`SeatStream`). After a
lost connection both exchange the counts in `Join` and `Joined`, and send what the other lacks.

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
"""Of one message of a client."""
MAX_KEPT_TEXTS: Final = 256
"""Texts that are kept for a peer that may lack them. A dealer asks a bot long before it has sent so many."""
TABLE_TAG: Final = "table"
"""The tag of a match at a table with a person, whose end the server does not report as that of a run."""
_STRICT: Final = ConfigDict(extra="forbid")
_BY_TYPE: Final = Field(discriminator="type")
_MOST_PROBLEM: Final = 300

_Word: TypeAlias = Annotated[str, Field(max_length=200)]
_Words: TypeAlias = Annotated[tuple[_Word, ...], Field(max_length=1000)]
_Count: TypeAlias = Annotated[int, Field(ge=0, lt=2**53)]


@dataclass(frozen=True, slots=True)
class Join:
    """Bring a bot; sent again on the same connection, it changes what the bot takes on and is not answered.

    Attributes:
        session: a word that the client has drawn: a client that sends it again is the same, after a break.
        version: of the bot: another one is another bot, as far as ratings go.
        at_once: how many matches it plays at a time.
        ladder: whether the server may have it play when no request is queued.
        games: the games that it plays; empty for all that the server has.
        seats: at which the client plays: how many texts it has received at each.
        challenges: tags of the client's challenges whose outcome it may have missed.
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
    """How a contest is played, in the words of `arena play`; a request means these defaults where it is silent.

    Attributes:
        deals: the most of a run; None for as many as the server has set.
        stop: the rule that may end a run before; None for none.
        seating: ``single``, ``rotations`` or ``permutations``: in which seatings each deal is played.
        seed: of the cards; 0 has the server draw a key, and only then can the result count in the standings.
        on_fault: ``end``, ``forfeit`` or ``restart``: what becomes of a player that times out, disconnects or floods.
        practice: whether every seating has the same cards, also for players that could remember them; leaks are found
            in such contests, which never count.
    """

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT

    deals: Annotated[int, Field(ge=1)] | None = None
    stop: _Word | None = None
    seating: _Word = "rotations"
    seed: Annotated[int, Field(ge=0)] = 0
    on_fault: _Word = "end"
    practice: bool = False


DEFAULT_TERMS: Final = ContestTerms()
_TERM_NAMES: Final = tuple(one.name for one in fields(ContestTerms))


@dataclass(frozen=True, slots=True)
class Challenge:
    """Submit a contest. In a message, its terms stand beside the other fields.

    Attributes:
        players: by seat: the client's bot, the server's own bots, bots of others.
    """

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT

    # First, so that the first problem of a message is one of its terms.
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
        # A field called "terms" is unknown, and among the terms it is refused.
        names = {*_TERM_NAMES, "terms"}
        terms = {name: value for name, value in message.items() if name in names}
        rest = {name: value for name, value in message.items() if name not in names}
        return {**rest, "terms": terms}

    @model_serializer(mode="wrap")
    def _spread_terms(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        message = write(self)
        return {**message.pop("terms"), **message}


@dataclass(frozen=True, slots=True)
class Cancel:
    """Cancel the user's requests with a tag."""

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT

    tag: _Word
    type: Literal["cancel"] = "cancel"


@dataclass(frozen=True, slots=True)
class SeatText:
    """What the bot says at a seat, or the dealer: a piece of the text, whose characters are the bytes 0 to 255."""

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT

    seat: int
    text: Annotated[str, Field(min_length=1)]
    type: Literal["text"] = "text"


@dataclass(frozen=True, slots=True)
class SeatOver:
    """The bot has left a seat, says the client; no match awaits it there any more, says the server."""

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT

    seat: int
    reason: str = ""
    type: Literal["over"] = "over"


JoiningRequest: TypeAlias = Annotated[Join | Challenge | Cancel | SeatText | SeatOver, _BY_TYPE]


@dataclass(frozen=True, slots=True)
class Joined:
    """The bot is registered.

    Attributes:
        user: who brings it, by the token.
        games: that it plays: the definition of each by its canonical name.
        seats: of the same session, which continue: how many texts the server has received at each.
    """

    bot: str
    user: str
    games: Mapping[str, str]
    seats: Mapping[int, int]
    type: Literal["joined"] = "joined"


@dataclass(frozen=True, slots=True)
class Refused:
    """The server closes the connection for a reason."""

    reason: str
    type: Literal["refused"] = "refused"


@dataclass(frozen=True, slots=True)
class SeatOffer:
    """A seat waits for the bot, which takes it with its first text. `match`: whose and which: a user, a dot, a tag."""

    seat: int
    game: str
    match: str
    player: str
    hands: int = 0
    type: Literal["offer"] = "offer"


@dataclass(frozen=True, slots=True)
class ChallengeState:
    """What has become of a challenge.

    Attributes:
        state: ``queued``; ``refused`` with the reason; ``done``, or ``cancelled`` with the reason, when nothing is left
            of it; ``unknown`` if the server has never had it.
    """

    tag: str
    state: str
    reason: str = ""
    type: Literal["challenge_state"] = "challenge_state"


@dataclass(frozen=True, slots=True)
class RunStanding:
    """The state of a run in which the bot plays.

    Attributes:
        hands: finished in all matches. planned: the most there can be.
        rate: what the bot has won so far, or the first player where more than two play, in words; empty while there is
            nothing to say.
    """

    match: str
    hands: int
    planned: int
    rate: str = ""
    type: Literal["standing"] = "standing"


@dataclass(frozen=True, slots=True)
class RunOver:
    """A run has ended in which the bot has played, or for which the client has asked.

    Attributes:
        state: ``finished``, ``failed`` or ``cancelled``.
        player: the name of the client's bot in it; None where it did not play.
        mbb_per_game: its winnings; None where there are none to speak of.
        half_width_95: of the 95 % interval; None if unknown.
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
    Joined | Refused | SeatOffer | SeatText | SeatOver | ChallengeState | RunStanding | RunOver, _BY_TYPE
]


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def encode(message: JoiningRequest | ServerMessage) -> bytes:
    """A message as JSON."""
    kind: Any = type(message)
    return _adapter(kind).dump_json(message, exclude_none=True)


def read_request(text: str | bytes) -> JoiningRequest:
    """A message of a client.

    Raises:
        RemoteProtocolError: it is none; the sentence says why.
    """
    request: JoiningRequest = _read(JoiningRequest, text)
    return request


def read_server_message(text: str | bytes) -> ServerMessage:
    """A message of a server.

    Raises:
        RemoteProtocolError: it is none.
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
            del path[1]
        where = ".".join(map(str, path))
        sentence = f"{where}: {problem['msg']}" if where else problem["msg"]
        raise RemoteProtocolError(printable(sentence, _MOST_PROBLEM), b"") from None


class SeatStream:
    """One side's view of the texts of a seat, over as many connections as it takes.

    Attributes:
        received: how many have come from the other side in all.
    """

    def __init__(self) -> None:
        self.received = 0
        self._sent = 0
        self._kept: deque[str] = deque(maxlen=MAX_KEPT_TEXTS)

    def send(self, text: str) -> None:
        """Note that a text goes to the other side, whether or not there is a connection now."""
        self._sent += 1
        self._kept.append(text)

    def texts_after(self, received: int) -> tuple[str, ...]:
        """What the other side lacks that has received so many texts.

        Raises:
            RemoteProtocolError: it has received more than was sent, or lacks more than is kept.
        """
        lacking = self._sent - received
        if not 0 <= lacking <= len(self._kept):
            raise RemoteProtocolError(
                f"{received} texts cannot have been received: {self._sent} were sent, the last {len(self._kept)} "
                "of which are kept",
                b"",
            )
        return tuple(self._kept)[len(self._kept) - lacking :]
