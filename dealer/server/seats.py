"""Seats of bots that are brought over the text port: who may take one, and the bytes that go both ways.

A seat is offered with a secret that is good for one connection and for a while, and kept as its hash. Whoever brings
the bot connects to the text port and says the secret; from then on that connection carries the bytes between the bot
and the door of the match (`dealer.table.door`), whose key only this server knows. When the connection breaks, the match
does not see it: the bot's clock runs, and what is sent meanwhile is kept, until the seat is taken again with a new
secret, or given up because nobody came in time. The match then sees what it sees of any bot that disconnects.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import hmac
import logging
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass

from protocol import RemoteProtocolError
from protocol.joining import SeatClaim, Seated, format_message
from protocol.seat_stream import SeatStream

__all__ = ["HostedSeat", "SeatFacts", "Seats"]

_log = logging.getLogger(__name__)

_READ_BYTES = 1 << 14
_MOST_UNSENT_BYTES = 1 << 20
_SECRET_S = 60.0


@dataclass(frozen=True, slots=True)
class SeatFacts:
    """What a seat is.

    Attributes:
        run: the number of its run.
        game: the name of the game. match: a user, a dot and the tag of a job.
        player: the name of the bot in the match.
        hands: the most deals of the match.
        host: where the door of the match is. port: the same.
        key: what has to be said there first.
    """

    run: int
    game: str
    match: str
    player: str
    hands: int
    host: str
    port: int
    key: str


class HostedSeat:
    """A seat while the bot is awaited or plays.

    Attributes:
        number: of the seat, as its client calls it.
        facts: what it is.
        is_over: whether nobody awaits the bot any more.
    """

    def __init__(self, facts: SeatFacts, on_over: Callable[[HostedSeat, str], None], *, rejoin_s: float) -> None:
        """Await the bot.

        Args:
            facts: what the seat is.
            on_over: told once that nobody awaits the bot any more, and why.
            rejoin_s: how long a connection that has broken may be away.
        """
        self.number = secrets.randbits(48)
        self.facts = facts
        self.is_over = False
        self._on_over = on_over
        self._rejoin_s = rejoin_s
        self._patience: asyncio.TimerHandle | None = None
        self._stream = SeatStream()
        self._client: asyncio.StreamWriter | None = None
        self._door: asyncio.StreamWriter | None = None
        self._listening: asyncio.Task[None] | None = None

    @property
    def is_carried(self) -> bool:
        """Whether there is a connection for it now."""
        return self._client is not None

    async def carry(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, received: int, head: bytes
    ) -> None:
        """Carry bytes over a connection until it ends, or another takes its place.

        Args:
            reader: from the client. writer: to it.
            received: how many bytes of the dealer's the client has.
            head: what has come from it after its claim.
        """
        try:
            lacking = self._stream.rest(received)
        except RemoteProtocolError as error:
            self.give_up(f"the seat cannot be gone on with: {error}")
            return
        if self._client is not None:
            self._client.transport.abort()
        if self._patience is not None:
            self._patience.cancel()
        self._client = writer
        writer.write(format_message(Seated(self._stream.received)).encode() + lacking)
        try:
            data = head or await reader.read(_READ_BYTES)
            while data and self._client is writer:
                self._stream.received += len(data)
                await self._hand_on(data)
                data = await reader.read(_READ_BYTES)
        except OSError:
            writer.transport.abort()
        finally:
            if self._client is writer:
                self._lose_client()

    def _lose_client(self) -> None:
        self._client = None
        loop = asyncio.get_running_loop()
        self._patience = loop.call_later(self._rejoin_s, self.give_up, "its connection was away for too long")

    async def _hand_on(self, data: bytes) -> None:
        """Give the match what the bot has said; knock at its door first."""
        if self.is_over:
            return
        if self._door is None:
            try:
                reader, self._door = await asyncio.open_connection(self.facts.host, self.facts.port)
            except OSError as error:
                self.give_up(f"the match does not await the bot any more: {error.strerror}")
                return
            self._door.write(f"{self.facts.key}\n".encode())
            self._listening = asyncio.create_task(self._listen(reader))
        self._door.write(data)
        with contextlib.suppress(OSError):
            # Where the match has closed, its reader says so.
            await self._door.drain()

    async def _listen(self, reader: asyncio.StreamReader) -> None:
        """Send on what the match says, until it closes."""
        with contextlib.suppress(OSError):
            while data := await reader.read(_READ_BYTES):
                self._stream.send(data)
                if self._client is None:
                    continue
                self._client.write(data)
                if self._client.transport.get_write_buffer_size() > _MOST_UNSENT_BYTES:
                    _log.info("seat of %s: the client does not read what it is sent", self.facts.player)
                    self._client.transport.abort()
                    self._lose_client()
        self._end("the match has closed the connection")

    def give_up(self, reason: str) -> None:
        """End the bot's part: the match sees a player that disconnects."""
        if self._listening is not None:
            self._listening.cancel()
        self._end(reason)

    def _end(self, reason: str) -> None:
        if self.is_over:
            return
        self.is_over = True
        if self._patience is not None:
            self._patience.cancel()
        client, self._client = self._client, None
        for writer in (client, self._door):
            if writer is not None:
                writer.close()
        self._on_over(self, reason)


class Seats:
    """The seats that are offered, by the hashes of their secrets."""

    def __init__(self, *, clock_s: Callable[[], float] = time.monotonic, secret_s: float = _SECRET_S) -> None:
        """Start without any.

        Args:
            clock_s: tells the time.
            secret_s: how long a secret is good.
        """
        self.secret_s = secret_s
        self._clock_s = clock_s
        self._offers: dict[int, tuple[bytes, float, HostedSeat]] = {}

    def secret_for(self, seat: HostedSeat) -> str:
        """A new secret for a seat; an earlier one is good no more."""
        self._drop_old()
        secret = secrets.token_urlsafe(32)
        self._offers[seat.number] = (_hash_of(secret), self._clock_s() + self.secret_s, seat)
        return secret

    def claimed(self, claim: SeatClaim) -> HostedSeat | None:
        """The seat whose secret was said, which is used up; None if there is none."""
        self._drop_old()
        given = _hash_of(claim.secret)
        found = None
        # All are compared, each in constant time: how long it takes tells nothing.
        for digest, _, seat in self._offers.values():
            if hmac.compare_digest(digest, given):
                found = seat
        if found is not None:
            del self._offers[found.number]
        return found

    def _drop_old(self) -> None:
        now_s = self._clock_s()
        self._offers = {
            number: offer for number, offer in self._offers.items() if offer[1] >= now_s and not offer[2].is_over
        }


def _hash_of(secret: str) -> bytes:
    return hashlib.sha256(secret.encode("utf-8", "surrogateescape")).digest()
