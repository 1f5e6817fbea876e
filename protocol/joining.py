"""Bots that join a benchmark server from elsewhere: what their client sends on the text port, and what it gets.

The client logs in like any other and brings a bot with `Join`. When a match is to begin, the server offers
a seat with a secret that is good for one connection; the client connects to the same port once more, and its first line
is a `SeatClaim` instead of a login. From the answer, `Seated`, on, that connection carries the lines between dealer and
bot, as bytes, in both directions. Claim and answer hold how many bytes each side has received in all, so that a seat
whose connection has broken resumes at the very byte (`SeatStream`).

    client  JOIN bot=mine version=1 session=u9-2kd at-once=1 ladder=no game=kuhn.limit.2p
    server  # JOINED bot=ann.mine
    server  # SEAT seat=5 secret=Pp0v5gdJ4X8mYc6Kj1mXbCw3mV0Qd2rT game=kuhn.limit.2p match=ann.first player=mine
    client  SEAT secret=Pp0v5gdJ4X8mYc6Kj1mXbCw3mV0Qd2rT received=0          (the first line of another connection)
    server  # SEATED received=0

A message is a word and its fields as ``name=value``, in any order. A value is a word; that of the last field of some
messages, such as ``reason``, is the rest of the line. What the server sends begins with ``# ``, as everything does that
the reference's server does not send: clients of the reference print it.

    >>> read_request("join bot=mine session=s game=leduc game=kuhn.limit.2p")
    Join(bot='mine', session='s', version='1', at_once=1, is_on_ladder=False, games=('leduc', 'kuhn.limit.2p'))
    >>> format_message(Again(seat=5))
    'AGAIN seat=5\n'

For the bytes of a seat over connections that break, each side keeps what it sent last:

    >>> ours = SeatStream()
    >>> ours.send(b"MATCHSTATE:0:0::")
    >>> ours.rest(11)  # the other side has received 11 bytes over the connection that has broken
    b'0:0::'
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from typing import Any, Final, TypeAlias

from engine.text import printable
from protocol.errors import LocalProtocolError, RemoteProtocolError

BLANKS = re.compile(r"[ \t\n\v\f\r]+")
_NUMBER = re.compile(r"-?[0-9]{1,18}")
_REAL = re.compile(r"-?[0-9]{1,15}(\.[0-9]{1,9})?")
_MOST_SHOWN = 60


@dataclass(frozen=True, slots=True)
class _Kind:
    read: Callable[[str], Any]
    write: Callable[[Any], str]


def _read_word(text: str) -> str:
    if not text.isprintable():
        raise ValueError("it has a character that cannot be printed")
    return text


def _read_number(text: str) -> int:
    if not _NUMBER.fullmatch(text):
        raise ValueError("it is not a whole number")
    return int(text)


def _read_real(text: str) -> float:
    if not _REAL.fullmatch(text):
        raise ValueError("it is not a number")
    return float(text)


def _read_flag(text: str) -> bool:
    if text not in ("yes", "no"):
        raise ValueError("it is neither yes nor no")
    return text == "yes"


def _write_word(value: str) -> str:
    if not value or not value.isprintable() or " " in value:
        raise LocalProtocolError(f"{value[:_MOST_SHOWN]!r} is not a word")
    return value


def _write_rest(value: str) -> str:
    return printable(value).strip()


_WORD = _Kind(_read_word, _write_word)
_COUNT = _Kind(_read_number, str)
_REAL_NUMBER = _Kind(_read_real, lambda value: f"{value:.3f}")
_FLAG = _Kind(_read_flag, lambda value: "yes" if value else "no")
_REST = _Kind(_read_word, _write_rest)


def _field(kind: _Kind, name: str = "", *, is_many: bool = False, least: int | None = None, **more: Any) -> Any:
    """A field of a message.

    Args:
        name: how the field is called in a line, where that is not its name.
        is_many: whether it is a tuple, each of whose values is written by itself.
    """
    return field(metadata={"kind": kind, "name": name, "is_many": is_many, "least": least}, **more)


def _name(one: Field[Any]) -> str:
    return one.metadata["name"] or one.name


def _fields(kind: Any) -> list[Field[Any]]:
    """The fields of a message in the order of its line: terms of a contest, which are left to the server, come last."""
    return sorted(fields(kind), key=lambda one: bool(one.kw_only))


def _format_fields(message: Any) -> list[str]:
    words = []
    for one in _fields(message):
        value, kind = getattr(message, one.name), one.metadata["kind"]
        if kind is _REST:
            rest = kind.write(value)
            words += [f"{_name(one)}={rest}"] if rest else []
        elif value is not None and not (one.kw_only and value == one.default):
            values = value if one.metadata["is_many"] else (value,)
            words += [f"{_name(one)}={kind.write(each)}" for each in values]
    return words


def _read_fields(kind: type, verb: str, text: str) -> Any:
    known = {_name(one): one for one in _fields(kind)}
    found: dict[str, Any] = {}
    while text := text.strip(" \t\r\n\v\f"):
        name, is_there, value = text.partition("=")
        one = known.get(name)
        if not is_there or one is None:
            word = BLANKS.split(text)[0]
            raise _error(
                f"{verb} has no {printable(word, _MOST_SHOWN)}; it has {', '.join(f'{name}=' for name in known)}"
            )
        if one.metadata["kind"] is _REST:
            value, text = value, ""
        else:
            value, *others = BLANKS.split(value, maxsplit=1)
            text = "".join(others)
        _take(found, one, verb, value)
    for name, one in known.items():
        if one.name not in found and one.default is MISSING:
            raise _error(f"{verb} needs {name}=")
    return kind(**found)


def _take(found: dict[str, Any], one: Field[Any], verb: str, text: str) -> None:
    name = f"{verb}: {_name(one)}={printable(text, _MOST_SHOWN)}"
    if not text:
        raise _error(f"{name}: it is empty")
    try:
        value = one.metadata["kind"].read(text)
    except ValueError as error:
        raise _error(f"{name}: {error}") from None
    least = one.metadata["least"]
    if least is not None and value < least:
        raise _error(f"{name}: it must be at least {least}")
    if one.metadata["is_many"]:
        found[one.name] = (*found.get(one.name, ()), value)
    elif one.name in found:
        raise _error(f"{name}: it is there twice")
    else:
        found[one.name] = value


def _error(problem: str) -> RemoteProtocolError:
    return RemoteProtocolError(problem, b"")


# ---- what the client sends
@dataclass(frozen=True, slots=True)
class Join:
    """Bring a bot.

    Attributes:
        bot: its name, among the bots of its user.
        session: a word that the client has drawn: a client that sends it again is the same, after a break.
        version: of the bot: another one is another bot, as far as ratings go.
        at_once: how many matches it plays at a time.
        is_on_ladder: whether the server may have it play when no request is queued.
        games: the games that it plays; empty for all that the server has.
    """

    bot: str = _field(_WORD)
    session: str = _field(_WORD)
    version: str = _field(_WORD, default="1")
    at_once: int = _field(_COUNT, "at-once", least=1, default=1)
    is_on_ladder: bool = _field(_FLAG, "ladder", default=False)
    games: tuple[str, ...] = _field(_WORD, "game", is_many=True, default=())


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

    deals: int | None = _field(_COUNT, least=1, default=None)
    stop: str | None = _field(_WORD, default=None)
    seating: str = _field(_WORD, default="rotations")
    seed: int = _field(_COUNT, least=0, default=0)
    on_fault: str = _field(_WORD, "on-fault", default="end")
    practice: bool = _field(_FLAG, default=False)


@dataclass(frozen=True, slots=True)
class Challenge(ContestTerms):
    """Submit a contest. `players`: by seat: the client's bot, the server's own bots, bots of others."""

    tag: str = _field(_WORD)
    game: str = _field(_WORD)
    players: tuple[str, ...] = _field(_WORD, "player", is_many=True)


@dataclass(frozen=True, slots=True)
class Again:
    """The connection of a seat has broken: offer it once more."""

    seat: int = _field(_COUNT, least=0)


@dataclass(frozen=True, slots=True)
class GiveUp:
    """The bot has left its seat and does not come back to it."""

    seat: int = _field(_COUNT, least=0)
    reason: str = _field(_REST, default="")


@dataclass(frozen=True, slots=True)
class AskOutcome:
    """Send once more what has become of a challenge; a client that was away has missed it."""

    tag: str = _field(_WORD)


@dataclass(frozen=True, slots=True)
class ShowGame:
    """Show the definition of a game."""

    game: str = _field(_WORD)


@dataclass(frozen=True, slots=True)
class SeatClaim:
    """The first line of a connection for a seat.

    Attributes:
        secret: of the offer; good once.
        received: how many bytes of the dealer's have come to the client in earlier connections.
    """

    secret: str = _field(_WORD)
    received: int = _field(_COUNT, least=0, default=0)


JoiningRequest: TypeAlias = Join | Challenge | Again | GiveUp | AskOutcome | ShowGame


# ---- what the client gets
@dataclass(frozen=True, slots=True)
class Joined:
    """The bot is registered.

    Attributes:
        bot: as others call it.
        seats: those of the same session that continue.
    """

    bot: str = _field(_WORD)
    seats: tuple[int, ...] = _field(_COUNT, "seat", is_many=True, least=0, default=())


@dataclass(frozen=True, slots=True)
class Refused:
    """What the client has asked for does not happen."""

    verb: str = _field(_WORD)
    tag: str | None = _field(_WORD, default=None)
    reason: str = _field(_REST, default="")


@dataclass(frozen=True, slots=True)
class SeatOffer:
    """A seat waits for the bot.

    Attributes:
        seat: its number; that of a seat offered again is the same.
        secret: for one connection.
        match: whose and which: a user, a dot, a tag.
        expires_s: how long the secret is good, in seconds.
    """

    seat: int = _field(_COUNT, least=0)
    secret: str = _field(_WORD)
    game: str = _field(_WORD)
    match: str = _field(_WORD)
    player: str = _field(_WORD)
    hands: int = _field(_COUNT, least=0, default=0)
    expires_s: int = _field(_COUNT, "expires", least=0, default=0)


@dataclass(frozen=True, slots=True)
class SeatOver:
    """No match awaits the bot at a seat any more."""

    seat: int = _field(_COUNT, least=0)
    reason: str = _field(_REST, default="")


@dataclass(frozen=True, slots=True)
class Seated:
    """The first line to a connection for a seat; what follows are the dealer's bytes.

    Attributes:
        received: how many bytes of the bot's have come to the server in earlier connections.
    """

    received: int = _field(_COUNT, least=0)


@dataclass(frozen=True, slots=True)
class Challenged:
    """A challenge is taken. `seed`: of its cards; None if only the server has it."""

    tag: str = _field(_WORD)
    seed: int | None = _field(_COUNT, least=0, default=None)


@dataclass(frozen=True, slots=True)
class ChallengeOver:
    """Nothing is left of a challenge. `state`: ``done`` or ``cancelled``."""

    tag: str = _field(_WORD)
    state: str = _field(_WORD)
    reason: str = _field(_REST, default="")


@dataclass(frozen=True, slots=True)
class GameLine:
    """A line of the definition of a game; the last is ``END GAMEDEF``."""

    game: str = _field(_WORD)
    line: str = _field(_REST, default="")


@dataclass(frozen=True, slots=True)
class RunStands:
    """The state of a run in which the bot plays.

    Attributes:
        hands: finished in all matches. planned: the most there can be.
        rate: what the bot has won so far, or the first player where more than two play, in words; empty while there is
            nothing to say.
    """

    match: str = _field(_WORD)
    hands: int = _field(_COUNT, least=0)
    planned: int = _field(_COUNT, least=0)
    rate: str = _field(_REST, default="")


@dataclass(frozen=True, slots=True)
class RunOver:
    """A run has ended in which the bot has played, or for which the client has asked.

    Attributes:
        state: ``finished``, ``failed`` or ``cancelled``.
        player: the name of the client's bot in it; None where it did not play.
        mbb_per_game: its winnings; None where there are none to speak of.
        half_width_95: of the 95 % interval; None if unknown.
    """

    match: str = _field(_WORD)
    run: int = _field(_COUNT, least=0)
    runs: int = _field(_COUNT, least=0)
    state: str = _field(_WORD)
    player: str | None = _field(_WORD, default=None)
    hands: int = _field(_COUNT, least=0, default=0)
    mbb_per_game: float | None = _field(_REAL_NUMBER, "mbb", default=None)
    half_width_95: float | None = _field(_REAL_NUMBER, "half-width", default=None)
    reason: str = _field(_REST, default="")


ServerMessage: TypeAlias = (
    Joined | Refused | SeatOffer | SeatOver | Seated | Challenged | ChallengeOver | GameLine | RunStands | RunOver
)
TABLE_TAG: Final = "table"
"""The tag of a match at a table with a person, whose end the server does not report as that of a run."""
_REQUESTS: Final[Mapping[str, type]] = {
    "JOIN": Join,
    "CHALLENGE": Challenge,
    "AGAIN": Again,
    "GIVEUP": GiveUp,
    "ASK": AskOutcome,
    "GAME": ShowGame,
}
_CLAIM: Final = "SEAT"
_MESSAGES: Final[Mapping[str, type]] = {
    "JOINED": Joined,
    "REFUSED": Refused,
    "SEAT": SeatOffer,
    "OVER": SeatOver,
    "SEATED": Seated,
    "CHALLENGED": Challenged,
    "CLOSED": ChallengeOver,
    "GAME": GameLine,
    "STANDS": RunStands,
    "ENDED": RunOver,
}
_VERBS: Final = {kind: verb for verb, kind in _REQUESTS.items()} | {SeatClaim: _CLAIM}
_MESSAGE_VERBS: Final = {kind: verb for verb, kind in _MESSAGES.items()}


def format_message(message: JoiningRequest | SeatClaim | ServerMessage) -> str:
    """A message as a line with its end.

    Raises:
        LocalProtocolError: a field is not a word.
    """
    answer = _MESSAGE_VERBS.get(type(message))
    verb = _VERBS[type(message)] if answer is None else f"# {answer}"
    return " ".join([verb, *_format_fields(message)]) + "\n"


def read_request(text: str) -> JoiningRequest | None:
    """What a client asks for; None if the line does not begin with the word of one of these requests, in any case.

    Raises:
        RemoteProtocolError: it is one, and something is wrong with it; the sentence describes it.
    """
    verb, *rest = BLANKS.split(text.strip(), maxsplit=1)
    kind = None if text[:1].isspace() else _REQUESTS.get(verb.upper())
    if kind is None:
        return None
    request: JoiningRequest = _read_fields(kind, verb.upper(), "".join(rest))
    return request


def is_claim(text: str) -> bool:
    """Whether the first line of a connection claims a seat; that of a user named so has no ``secret=``."""
    return text.startswith(f"{_CLAIM} secret=")


def read_claim(text: str) -> SeatClaim:
    """The claim of a seat.

    Raises:
        RemoteProtocolError: something is wrong with it.
    """
    claim: SeatClaim = _read_fields(SeatClaim, _CLAIM, text.strip().partition(" ")[2])
    return claim


def read_server_message(text: str) -> ServerMessage | None:
    """A message of the server; None if the line is something else.

    Raises:
        RemoteProtocolError: it is one of these lines, and something is wrong with it.
    """
    if not text.startswith("# "):
        return None
    verb, _, rest = text[2:].strip().partition(" ")
    kind = _MESSAGES.get(verb)
    if kind is None or "=" not in rest.partition(" ")[0]:
        return None
    message: ServerMessage = _read_fields(kind, verb, rest)
    return message


MOST_KEPT_BYTES: Final = 1 << 20
"""So much of what was sent is kept for a peer that may have to hear it again."""


class SeatStream:
    """One side's view of the bytes of a seat, over as many connections as it takes.

    Attributes:
        received: how many bytes have come from the other side in all.
    """

    def __init__(self, *, most_kept_bytes: int = MOST_KEPT_BYTES) -> None:
        self.received = 0
        self._kept = bytearray()
        self._sent = 0
        self._most_kept = most_kept_bytes

    def send(self, data: bytes) -> None:
        """Note that these bytes go to the other side, whether or not there is a connection now."""
        self._sent += len(data)
        self._kept += data
        if len(self._kept) > 2 * self._most_kept:
            del self._kept[: len(self._kept) - self._most_kept]

    def rest(self, received: int) -> bytes:
        """What the other side lacks that has received so many bytes.

        Raises:
            RemoteProtocolError: it has received more than was sent, or lacks more than is kept.
        """
        if received > self._sent:
            raise RemoteProtocolError(f"{received} bytes were not sent, only {self._sent}", b"")
        lacking = self._sent - received
        if lacking > len(self._kept):
            raise RemoteProtocolError(f"{lacking} bytes are to be sent again, and only {len(self._kept)} are kept", b"")
        return bytes(self._kept[len(self._kept) - lacking :])
