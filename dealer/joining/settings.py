"""What a client that brings a bot is told, and what it tells meanwhile: values."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from dealer.table.players import Player
from protocol.joining import RunOver, RunStands, SeatOffer

__all__ = [
    "ALL_GAMES",
    "BotFailed",
    "Challenge",
    "ChallengeRefused",
    "ConnectionLost",
    "JoinSettings",
    "JoinedServer",
    "News",
]

ALL_GAMES = "all"


@dataclass(frozen=True, slots=True)
class Challenge:
    """A contest that is asked for.

    Attributes:
        opponents: the other players, by seat after the bot's own.
        game: as the server calls it, or as `arena play` does.
        hands: the most deals; None as the server has set it.
        stop: the rule that may end it before.
        seating: ``single``, ``rotations`` or ``permutations``.
        seed: of the cards; None for one that nobody knows before.
        on_fault: ``end``, ``forfeit`` or ``restart``.
    """

    opponents: tuple[str, ...]
    game: str = "limit"
    hands: int | None = None
    stop: str | None = None
    seating: str | None = None
    seed: int | None = None
    on_fault: str | None = None


@dataclass(frozen=True, slots=True)
class JoinSettings:
    """All about a client.

    Attributes:
        host: of the server. port: of its text port.
        user: who logs in. token: with what.
        player: the bot, and its name there.
        folder: for what the bot prints, and for games.
        version: of the bot.
        games: that it plays; only `ALL_GAMES` for all that the server has.
        at_once: how many runs it plays at a time.
        is_on_ladder: whether the server may have it play when nobody asks for anything.
        challenges: that are asked for; when all have ended, the client leaves.
        most_runs: after how many runs it leaves; None for any number.
        seed: for the chance decisions of a Python bot; None draws one for every seat.
        uses_tls: whether the connection is encrypted.
        ca: the file of the certificates that are believed; None for those of the system.
        retry_s: how long to wait before the first try to connect again; twice as long before every other.
        most_retry_s: never longer than this.
        answer_s: for an answer of the server's.
    """

    host: str
    port: int
    user: str
    token: str
    player: Player
    folder: Path
    version: str = "1"
    games: tuple[str, ...] = ("limit",)
    at_once: int = 1
    is_on_ladder: bool = False
    challenges: tuple[Challenge, ...] = ()
    most_runs: int | None = None
    seed: int | None = None
    uses_tls: bool = False
    ca: Path | None = None
    retry_s: float = 0.5
    most_retry_s: float = 30.0
    answer_s: float = 30.0

    @property
    def address(self) -> str:
        """Where the server is, as HOST:PORT."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


@dataclass(frozen=True, slots=True)
class JoinedServer:
    """The server knows the bot; `is_again` after a break."""

    bot: str
    games: tuple[str, ...]
    is_again: bool


@dataclass(frozen=True, slots=True)
class ConnectionLost:
    """The server is away; the next try is in so many seconds."""

    problem: str
    retry_s: float


@dataclass(frozen=True, slots=True)
class ChallengeRefused:
    """A challenge is not played."""

    tag: str
    reason: str


@dataclass(frozen=True, slots=True)
class BotFailed:
    """The bot has left a match that goes on.

    Attributes:
        match: whose and which.
        reason: what became of it.
        last_lines: the last that it printed.
        output: the file with the rest.
    """

    match: str
    reason: str
    last_lines: tuple[str, ...]
    output: Path


News: TypeAlias = JoinedServer | ConnectionLost | ChallengeRefused | BotFailed | SeatOffer | RunStands | RunOver
