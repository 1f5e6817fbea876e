"""Clients that bring bots: they join, are offered seats, give some up, leave, and come back after a break.

A client draws a session when it starts and sends it whenever it joins. Who joins with the same session is the same
client: its seats go on. When its connection ends without a word, its seats wait for a while
(`ServerSettings.rejoin_timeout_s`); when it leaves, or another client brings the same bot, they are given up at once.

A seat is offered with a secret that is good for one connection and for a while, and kept as its hash. The client
connects to the text port once more and sends the secret; from then on that connection carries the bytes between the bot
and the match (`dealer.table.links`). When the connection breaks, the
match does not see it: the bot's clock runs, and what is sent meanwhile is kept, until the seat is taken again with a
new secret, or given up because no client came in time. The match then sees what it sees of any bot that disconnects.
"""

from __future__ import annotations

import asyncio
import hmac
import logging
import secrets
import time
from collections.abc import Callable
from dataclasses import fields
from typing import Protocol

from dealer.errors import RefusedError, StoreError
from dealer.server import access
from dealer.server.access import Person
from dealer.server.accounts import User, hash_of
from dealer.server.db import records
from dealer.server.db.records import Job, JobRequest, Run, RunState
from dealer.server.queue.connected_bots import HostEvent, Replaced
from dealer.server.queue.jobs import Client, JobEnded, RunEnded, SeatOpen
from dealer.server.service import Service
from dealer.server.settings import player_name
from dealer.table.links import Link
from protocol import LocalProtocolError, RemoteProtocolError, format_game_definition
from protocol.joining import (
    Again,
    AskOutcome,
    Challenge,
    Challenged,
    ChallengeOver,
    ContestTerms,
    GameLine,
    GiveUp,
    Join,
    Joined,
    JoiningRequest,
    Refused,
    RunOver,
    RunStands,
    SeatClaim,
    Seated,
    SeatOffer,
    SeatOver,
    SeatStream,
    ServerMessage,
    ShowGame,
    format_message,
)

_log = logging.getLogger(__name__)
_STANDS_EVERY_S = 1.0
_READ_BYTES = 1 << 14
_MOST_UNSENT_BYTES = 1 << 20
_SECRET_S = 60.0


class Line(Client, Protocol):
    """The connection over which a client gives commands."""

    def write(self, text: str) -> None:
        """Send a text; must not raise, and must not wait."""

    def drop(self) -> None:
        """Close it."""


class _Host:
    """Who brings one bot: a client, over one connection after another."""

    def __init__(self, bot: str, user: User, session: str, hosting: Hosting) -> None:
        self.bot = bot
        self.user = user
        self.session = session
        self.line: Line | None = None
        self.seats: dict[int, HostedSeat] = {}
        self._hosting = hosting
        self._stands_s = 0.0

    def notify(self, event: HostEvent) -> None:
        match event:
            case SeatOpen():
                self._open(event)
            case RunStands():
                self._show(event)
            case RunEnded():
                self.close_seats("the run has ended", run=event.run.id)
                self.write(self._hosting.run_over(event.job, event.run, self.user, self.bot))
            case Replaced():
                self.close_seats("another client has brought the bot")
                self.write(Refused("JOIN", None, "another client has brought the bot"))
                if self.line is not None:
                    self.line.drop()

    def write(self, message: ServerMessage) -> None:
        if self.line is None:
            return
        try:
            self.line.write(format_message(message))
        except LocalProtocolError as error:
            _log.error("%s is not notified: %s", self.bot, error)

    def _open(self, event: SeatOpen) -> None:
        for seat in self.seats.values():
            if seat.facts == event:
                self.offer(seat)
                return
        seat = HostedSeat(event, self._seat_over, rejoin_s=self._hosting.rejoin_s)
        self.seats[seat.number] = seat
        self.offer(seat)

    def offer(self, seat: HostedSeat) -> None:
        if self.line is not None:
            facts, seats = seat.facts, self._hosting.seats
            secret = seats.secret_for(seat)
            self.write(
                SeatOffer(
                    seat.number,
                    secret,
                    facts.game,
                    facts.match,
                    player_name(facts.player),
                    hands=facts.hands,
                    expires_s=int(seats.secret_s),
                )
            )

    def _seat_over(self, seat: HostedSeat, reason: str) -> None:
        self.seats.pop(seat.number, None)
        self.write(SeatOver(seat.number, reason))

    def _show(self, progress: RunStands) -> None:
        now_s = time.monotonic()
        if now_s >= self._stands_s:
            self._stands_s = now_s + _STANDS_EVERY_S
            self.write(progress)

    def close_seats(self, reason: str, *, run: int | None = None) -> None:
        for seat in list(self.seats.values()):
            if run in (None, seat.facts.run):
                seat.give_up(reason)


class Hosting:
    """All clients that bring bots.

    Attributes:
        rejoin_s: how long a seat without a connection waits.
    """

    def __init__(self, service: Service) -> None:
        self.seats = Seats()
        self.rejoin_s = service.settings.rejoin_timeout_s
        self._service = service
        self._hosts: dict[tuple[int, str], _Host] = {}

    def run_over(self, job: Job, run: Run, user: User, bot: str) -> RunOver:
        """How a run ended for a bot, as far as a user may read it; `bot` is empty where none of the user's played."""
        own = next((seat for seat in run.results if bot and seat.name == player_name(bot)), None)
        store = self._service.store
        return RunOver(
            job.label,
            run.number,
            job.runs,
            run.state,
            None if own is None else own.name,
            hands=sum(match.hands for match in records.matches(store, run.id)),
            mbb_per_game=None if own is None else own.mbb_per_game,
            half_width_95=None if own is None else own.half_width_95,
            reason=access.reason(store, job.id, Person(user), run.reason),
        )

    def has_joined(self, line: Line) -> bool:
        """Whether a client has brought a bot."""
        return bool(self._hosts_of(line))

    def _hosts_of(self, line: Line) -> list[_Host]:
        return [host for host in self._hosts.values() if host.line is line]

    def _seat(self, line: Line, number: int) -> tuple[_Host, HostedSeat] | None:
        return next(((host, host.seats[number]) for host in self._hosts_of(line) if number in host.seats), None)

    async def answer(self, user: User, line: Line, request: JoiningRequest) -> None:
        """Do what a client asks for, and answer."""
        try:
            match request:
                case Join():
                    await self._join(user, line, request)
                case Challenge():
                    await self._challenge(user, line, request)
                case Again(number):
                    self._again(line, number)
                case GiveUp(number, reason):
                    found = self._seat(line, number)
                    if found is not None:
                        found[1].give_up(reason or "its client has given it up")
                case AskOutcome(tag):
                    self._send_outcome(user, line, tag)
                case ShowGame(name):
                    self._show_game(line, name)
        except RefusedError as error:
            self._refuse(line, request, str(error))
        except StoreError as error:
            _log.error("a request of %s: %s", user.name, error)
            self._refuse(line, request, "the server cannot write it down now; try again later")

    def _refuse(self, line: Line, request: JoiningRequest, reason: str) -> None:
        verb = format_message(request).split()[0]
        tag = request.tag if isinstance(request, Challenge | AskOutcome) else None
        line.write(format_message(Refused(verb, tag, reason)))

    async def _join(self, user: User, line: Line, request: Join) -> None:
        host = self._hosts.get((user.id, request.bot))
        if host is None or host.session != request.session:
            host = _Host(request.bot, user, request.session, self)
        before = host.line
        await self._service.enter(user, request, host)
        self._hosts[user.id, request.bot] = host
        host.line = line
        if before is not None and before is not line:
            # The client itself reports that its earlier connection is dead.
            before.drop()
        host.write(Joined(request.bot, tuple(host.seats)))
        for seat in host.seats.values():
            if not seat.is_carried:
                host.offer(seat)

    async def _challenge(self, user: User, line: Line, request: Challenge) -> None:
        terms = {one.name: getattr(request, one.name) for one in fields(ContestTerms)}
        wanted = JobRequest(request.game, request.players, request.tag, **terms)
        row, _ = await self._service.submit(user, wanted, line)
        line.write(format_message(Challenged(row.tag, request.seed or None)))

    def _again(self, line: Line, number: int) -> None:
        found = self._seat(line, number)
        if found is None:
            line.write(format_message(SeatOver(number, "no match awaits the bot at this seat")))
        else:
            host, seat = found
            host.offer(seat)

    def _send_outcome(self, user: User, line: Line, tag: str) -> None:
        """What has become of the latest challenge with a tag; who asks is notified from now on."""
        store = self._service.store
        for active in self._service.active():
            if active.row.user == user and active.row.tag == tag:
                # After a restart, another client of the same user may have taken it over.
                active.client = line
        jobs = records.jobs(store, user=user.id, tag=tag, most=1)
        if not jobs:
            raise RefusedError("none of your requests has this tag")
        (job,) = jobs
        bot = next((host.bot for host in self._hosts_of(line) if host.bot in job.players), "")
        for run in records.runs_of(store, job):
            if run.state is not RunState.RUNNING:
                line.write(format_message(self.run_over(job, run, user, bot)))
        if not job.is_open:
            line.write(format_message(ChallengeOver(job.tag, job.state, job.reason)))

    def _show_game(self, line: Line, name: str) -> None:
        game = self._service.settings.resolve_game(name)
        for text in format_game_definition(game.game).splitlines():
            line.write(format_message(GameLine(game.name, text)))

    def job_ended(self, line: Line, event: JobEnded) -> None:
        """Notify a client that nothing is left of what it has asked for."""
        if self.has_joined(line):
            line.write(format_message(ChallengeOver(event.job.tag, event.state, event.reason)))

    def left(self, line: Line, *, for_good: bool) -> None:
        """A client has gone: its bots are away; their seats wait for it, unless it has quit."""
        for key, host in list(self._hosts.items()):
            if host.line is not line:
                continue
            host.line = None
            self._service.leave_bots(host)
            if for_good:
                host.close_seats("its client has left")
            if not host.seats:
                del self._hosts[key]

    async def carry(
        self, claim: SeatClaim, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, head: bytes
    ) -> bool:
        """Carry the bytes of a seat; False if the claim names none."""
        seat = self.seats.claimed(claim)
        if seat is None:
            return False
        await seat.carry(reader, writer, claim.received, head)
        return True


class HostedSeat:
    """A seat while the bot is awaited or plays.

    Attributes:
        number: of the seat, as its client calls it.
        is_over: whether the bot is awaited no more.
    """

    def __init__(self, facts: SeatOpen, on_over: Callable[[HostedSeat, str], None], *, rejoin_s: float) -> None:
        self.number = secrets.randbits(48)
        self.facts = facts
        self.is_over = False
        self._on_over = on_over
        self._rejoin_s = rejoin_s
        self._patience: asyncio.TimerHandle | None = None
        self._stream = SeatStream()
        self._client: asyncio.StreamWriter | None = None
        self._link: Link | None = None

    @property
    def is_carried(self) -> bool:
        """Whether there is a connection for it now."""
        return self._client is not None

    async def carry(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, received: int, head: bytes
    ) -> None:
        """Carry bytes over a connection until it ends, or another takes its place.

        Args:
            received: how many bytes of the dealer's the client has.
            head: what has come from it after its claim.
        """
        try:
            lacking = self._stream.rest(received)
        except RemoteProtocolError as error:
            self.give_up(f"the seat cannot be resumed: {error}")
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
                self._hand_on(data)
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

    def _hand_on(self, data: bytes) -> None:
        if self.is_over or self.facts.open_seat is None:
            return
        if self._link is None:
            self._link = Link(self._on_data, lambda: self._end("the match has closed the connection"))
            self.facts.open_seat.take(self._link)
        self._link.receive(data)

    def _on_data(self, data: bytes) -> None:
        self._stream.send(data)
        if self._client is None:
            return
        self._client.write(data)
        if self._client.transport.get_write_buffer_size() > _MOST_UNSENT_BYTES:
            _log.info("seat of %s: the client does not read its input", self.facts.player)
            self._client.transport.abort()
            self._lose_client()

    def give_up(self, reason: str) -> None:
        """End the bot's part: the match sees a player that disconnects."""
        self._end(reason)
        if self._link is not None:
            self._link.receive(b"")

    def _end(self, reason: str) -> None:
        if self.is_over:
            return
        self.is_over = True
        if self._patience is not None:
            self._patience.cancel()
        client, self._client = self._client, None
        if client is not None:
            client.close()
        self._on_over(self, reason)


class Seats:
    """The seats that are offered, by the hashes of their secrets."""

    def __init__(self, *, clock_s: Callable[[], float] = time.monotonic, secret_s: float = _SECRET_S) -> None:
        self.secret_s = secret_s
        self._clock_s = clock_s
        self._offers: dict[int, tuple[bytes, float, HostedSeat]] = {}

    def secret_for(self, seat: HostedSeat) -> str:
        """A new secret for a seat; an earlier one is good no more."""
        self._drop_old()
        secret = secrets.token_urlsafe(32)
        self._offers[seat.number] = (hash_of(secret), self._clock_s() + self.secret_s, seat)
        return secret

    def claimed(self, claim: SeatClaim) -> HostedSeat | None:
        """The seat of a secret, which is used up; None if there is none."""
        self._drop_old()
        given = hash_of(claim.secret)
        found = None
        # All are compared, each in constant time: how long it takes reveals nothing.
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
