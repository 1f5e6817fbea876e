"""Clients that bring bots: they join, play the seats that they are offered, leave, and come back after a break.

A client draws a session when it starts and sends it whenever it joins. Who joins with the same session is the same
client: its seats go on. When its connection breaks, its seats wait for a while (`ServerSettings.rejoin_timeout_s`); the
match does not see it: the bot's clock runs, and what is sent meanwhile is kept. When the client leaves, or another one
brings the same bot, the seats are given up at once. The match then sees what it sees of any bot that disconnects.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections.abc import Callable

from dealer.errors import RefusedError, StoreError
from dealer.server import access
from dealer.server.access import Person
from dealer.server.db import records
from dealer.server.db.records import Job, JobRequest, Run, RunState, estimate_values
from dealer.server.db.users import User
from dealer.server.queue.jobs import JobEnded, RunEnded, SeatOpen, ServiceEvent
from dealer.server.queue.presence import HostEvent
from dealer.server.server_settings import player_name
from dealer.server.service import Service, refusal_text
from dealer.table.links import PlayerLink
from protocol import RemoteProtocolError, format_game_definition
from protocol.benchmark import OWN_SEAT
from protocol.joining import (
    Cancel,
    Challenge,
    ChallengeState,
    Join,
    Joined,
    JoiningRequest,
    Refused,
    RunOver,
    RunStanding,
    SeatOffer,
    SeatOver,
    SeatStream,
    SeatText,
    ServerMessage,
)

_log = logging.getLogger(__name__)


class Hosting:
    """All clients that bring bots."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.hosts: dict[tuple[int, str], Host] = {}

    def run_over(self, job: Job, run: Run, user: User, bot: str) -> RunOver:
        """How a run ended for a bot, as far as a user may read it; `bot` is empty where none of the user's played."""
        own = next((seat for seat in run.results if bot and seat.name == player_name(bot)), None)
        mean, half_width = estimate_values(None if own is None else own.won)
        store = self.service.store
        return RunOver(
            job.label,
            run.number,
            job.runs,
            run.state,
            None if own is None else own.name,
            hands=sum(match.hands for match in records.matches(store, run.id)),
            mbb_per_game=mean,
            half_width_95=half_width,
            reason=access.reason(store, run, Person(user)),
        )


class Line:
    """A connection over which a client brings a bot: a `dealer.server.queue.jobs.Client`.

    Attributes:
        address: from which it has connected.
        host: who has joined over it; None before.
    """

    def __init__(
        self,
        hosting: Hosting,
        user: User,
        address: str,
        send: Callable[[ServerMessage], None],
        close: Callable[[], None],
    ) -> None:
        """Prepare a connection.

        Args:
            send: sends a message; must not raise, and must not wait.
            close: closes the connection.
        """
        self.address = address
        self.host: Host | None = None
        self.send = send
        self.close = close
        self._hosting = hosting
        self._user = user

    def notify(self, event: ServiceEvent) -> None:
        """Report the end of what the client has asked for."""
        match event:
            case JobEnded():
                self.send(ChallengeState(event.job.tag, event.state, event.reason))
            case RunEnded() if self.host is not None and self.host.bot not in event.job.players:
                # Where its bot plays, the host reports it.
                self.send(self._hosting.run_over(event.job, event.run, self._user, ""))

    def receive(self, message: SeatText) -> None:
        """Hand what a bot says to its match.

        Raises:
            RemoteProtocolError: it has a character that is no byte.
        """
        seat = None if self.host is None else self.host.seats.get(message.seat)
        if seat is None:
            self.send(SeatOver(message.seat, "no match awaits the bot at this seat"))
        else:
            seat.receive(message.text)

    async def answer(self, request: JoiningRequest) -> None:
        """Do what a client asks for, and answer.

        Raises:
            RefusedError: the bot is not taken.
            RemoteProtocolError: the request does not fit.
        """
        if self.host is None and not isinstance(request, Join):
            raise RemoteProtocolError("the first message joins", b"")
        match request:
            case Join():
                await self._join(request)
            case SeatText():
                self.receive(request)
            case SeatOver(number, reason) if self.host is not None:
                if number in self.host.seats:
                    self.host.seats[number].give_up(reason or "its client has given it up")
            case Challenge(tag=tag):
                try:
                    await self._challenge(request)
                except (RefusedError, StoreError) as error:
                    self.send(ChallengeState(tag, "refused", refusal_text(error)))
            case Cancel(tag):
                try:
                    await self._hosting.service.queue.cancel(self._user, tag)
                except StoreError as error:
                    _log.error("nothing can be cancelled: %s", error)

    async def _join(self, request: Join) -> None:
        hosts, key = self._hosting.hosts, (self._user.id, request.bot)
        before = host = hosts.get(key)
        if host is None or host.session != request.session:
            host = Host(request.bot, self._user, request.session, self._hosting)
        if self.host is not None and self.host is not host:
            raise RemoteProtocolError(f"this connection has brought {self.host.bot}, and no other bot can join", b"")
        try:
            connected = await self._hosting.service.presence.enter(self._user, request, host)
        except StoreError as error:
            raise RefusedError(refusal_text(error)) from None
        hosts[key] = host
        if before is not None and before is not host:
            before.replaced()
        if host.line is self:
            return
        if host.line is not None:
            # The client itself reports that its earlier connection is dead.
            host.line.close()
        games = [game for game in self._hosting.service.settings.games if game.name in connected.versions]
        definitions = {game.name: format_game_definition(game.game) for game in games}
        received = {number: seat.stream.received for number, seat in host.seats.items()}
        self.host = host
        host.take(self)
        self.send(Joined(request.bot, self._user.name, definitions, received))
        for number, seat in list(host.seats.items()):
            seat.resume(request.seats.get(number))
        for tag in request.challenges:
            self._send_outcome(tag)

    async def _challenge(self, request: Challenge) -> None:
        if OWN_SEAT in request.players:
            raise RefusedError(f"{OWN_SEAT} is for clients of the text port")
        wanted = JobRequest(request.game, request.players, request.tag, terms=request.terms)
        await self._hosting.service.submit(self._user, wanted, self)
        self.send(ChallengeState(request.tag, "queued"))

    def _send_outcome(self, tag: str) -> None:
        """What has become of the latest challenge with a tag; who asks is notified from now on."""
        store = self._hosting.service.store
        # After a restart, another client of the same user may have taken it over.
        self._hosting.service.queue.follow(self._user, tag, self)
        jobs = records.jobs(store, user=self._user.id, tag=tag, limit=1)
        if not jobs:
            self.send(ChallengeState(tag, "unknown"))
            return
        (job,) = jobs
        bot = self.host.bot if self.host is not None and self.host.bot in job.players else ""
        for run in records.runs_of_job(store, job):
            if run.state is not RunState.RUNNING:
                self.send(self._hosting.run_over(job, run, self._user, bot))
        if not job.is_open:
            self.send(ChallengeState(job.tag, job.state, job.reason))

    def left(self, *, for_good: bool) -> None:
        """The connection has ended: the bot is away; its seats wait for it, unless the client leaves `for_good`."""
        self._hosting.service.queue.leave(self)
        if self.host is not None and self.host.line is self:
            self.host.lose_line(for_good=for_good)


class Host:
    """Who brings one bot: a client, over one connection after another.

    Attributes:
        line: the connection; None during a break.
        seats: at which the bot is awaited or plays.
    """

    def __init__(self, bot: str, user: User, session: str, hosting: Hosting) -> None:
        self.bot = bot
        self.session = session
        self.line: Line | None = None
        self.seats: dict[int, HostedSeat] = {}
        self._user = user
        self._hosting = hosting
        self._numbers = itertools.count(1)
        self._patience: asyncio.TimerHandle | None = None

    def take(self, line: Line) -> None:
        """The client has joined over a connection."""
        self.line = line
        if self._patience is not None:
            self._patience.cancel()

    def lose_line(self, *, for_good: bool) -> None:
        """The client has gone."""
        self.line = None
        self._hosting.service.presence.leave(self)
        if for_good:
            self._close_seats("its client has left")
        if self.seats:
            rejoin_s = self._hosting.service.settings.rejoin_timeout_s
            self._patience = asyncio.get_running_loop().call_later(rejoin_s, self._forget)
        else:
            self._forget()

    def _forget(self) -> None:
        self._close_seats("its connection was away for too long")
        if self._hosting.hosts.get((self._user.id, self.bot)) is self:
            del self._hosting.hosts[self._user.id, self.bot]

    def notify(self, event: HostEvent) -> None:
        """Tell the client what happens."""
        match event:
            case SeatOpen():
                self._open(event)
            case RunStanding():
                self.send(event)
            case RunEnded():
                self._close_seats("the run has ended", run=event.run.id)
                self.send(self._hosting.run_over(event.job, event.run, self._user, self.bot))

    def replaced(self) -> None:
        """Another client has brought the bot."""
        sentence = "another client has brought the bot"
        self._close_seats(sentence)
        self.send(Refused(sentence))
        if self.line is not None:
            self.line.close()

    def send(self, message: ServerMessage) -> None:
        """Send a message, unless there is no connection."""
        if self.line is not None:
            self.line.send(message)

    def _open(self, event: SeatOpen) -> None:
        number = next(self._numbers)
        self.seats[number] = HostedSeat(number, event, self)
        self.seats[number].resume(None)

    def _close_seats(self, reason: str, *, run: int | None = None) -> None:
        for seat in list(self.seats.values()):
            if run in (None, seat.facts.run):
                seat.give_up(reason)


class HostedSeat:
    """A seat while the bot is awaited or plays.

    Attributes:
        number: of the seat, as its client calls it.
    """

    def __init__(self, number: int, facts: SeatOpen, host: Host) -> None:
        self.number = number
        self.facts = facts
        self.stream = SeatStream()
        self._host = host
        self._link: PlayerLink | None = None

    def resume(self, received: int | None) -> None:
        """Offer the seat, or send what the client lacks that has received so many texts at it."""
        if received is None and self._link is not None:
            self.give_up("its client does not play it any more")
            return
        if received is None:
            facts = self.facts
            self._host.send(
                SeatOffer(self.number, facts.game, facts.match, player_name(facts.player), hands=facts.hands)
            )
            received = 0
        try:
            lacking = self.stream.texts_after(received)
        except RemoteProtocolError as error:
            self.give_up(f"the seat cannot be resumed: {error}")
            return
        for text in lacking:
            self._host.send(SeatText(self.number, text))

    def receive(self, text: str) -> None:
        """Hand what the bot says to the match.

        Raises:
            RemoteProtocolError: it has a character that is no byte.
        """
        try:
            data = text.encode("latin-1")
        except UnicodeEncodeError:
            raise RemoteProtocolError("a text has a character above 255, which is no byte", b"") from None
        self.stream.received += 1
        if self._link is None:
            self._link = PlayerLink(self._on_data, lambda: self._end("the match has closed the connection"))
            assert self.facts.open_seat is not None
            self.facts.open_seat.take(self._link)
        self._link.receive(data)

    def _on_data(self, data: bytes) -> None:
        text = data.decode("latin-1")
        self.stream.send(text)
        self._host.send(SeatText(self.number, text))

    def give_up(self, reason: str) -> None:
        """End the bot's part: the match sees a player that disconnects."""
        self._end(reason)
        if self._link is not None:
            self._link.receive(b"")
        elif self.facts.open_seat is not None:
            self.facts.open_seat.give_up()

    def _end(self, reason: str) -> None:
        if self._host.seats.pop(self.number, None) is not None:
            self._host.send(SeatOver(self.number, reason))
