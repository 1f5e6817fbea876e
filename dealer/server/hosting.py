"""Clients that connect bots: they join, play the seats offered to them, and may reconnect.

A client draws a session key at its start and sends it each time it joins, so that a new connection resumes its seats.
After a lost connection, seats wait for `ServerSettings.rejoin_timeout_s`. The match does not notice: the bot's clock
runs, and what is sent to it is kept. If the client leaves, or another one connects the same bot, the seats are given up
at once, and the match sees a bot that disconnects.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections.abc import Callable

from dealer.errors import RefusedError, StoreError
from dealer.server import access
from dealer.server.access import Person
from dealer.server.accounts import RateLimit
from dealer.server.db import records
from dealer.server.db.records import Job, JobRequest, Run, RunState, estimate_values
from dealer.server.db.users import User
from dealer.server.queue.jobs import JobEnded, RunEnded, SeatOpen, ServiceEvent
from dealer.server.queue.presence import Expelled, HostEvent
from dealer.server.server_settings import player_name
from dealer.server.service import Service, refusal_text
from dealer.table.links import PlayerLink
from engine.text import count_of
from protocol import RemoteProtocolError, format_game_definition
from protocol.benchmark import OWN_SEAT
from protocol.joining import (
    Cancel,
    Challenge,
    ChallengeState,
    Join,
    Joined,
    JoiningRequest,
    LadderState,
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
    """Hosts of all connected bots, by number of the user and name of the bot."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.hosts: dict[tuple[int, str], Host] = {}
        max_joins = service.settings.max_joins_per_minute
        self._joins = RateLimit(max_joins, burst=max_joins)

    def count_join(self, user: User) -> None:
        """Count an attempt of a user to join with a bot.

        Raises:
            RefusedError: the user has reached the limit.
        """
        if wait_s := self._joins.take(str(user.id)):
            limit = count_of(self.service.settings.max_joins_per_minute, "connection")
            raise RefusedError(
                f"the limit is {limit} of bots a minute per user; try again in {count_of(wait_s, 'second')}"
            )

    def run_over(self, job: Job, run: Run, user: User, bot: str) -> RunOver:
        """Make the message about the end of a run, as far as a user may read it.

        Args:
            bot: the user's bot in it; empty for none.
        """
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
    """A connection of a client with a bot; it is a `dealer.server.queue.jobs.Client`.

    Attributes:
        address: of the client.
        host: of the bot; None until the client has joined.
    """

    def __init__(
        self,
        hosting: Hosting,
        user: User,
        address: str,
        send: Callable[[ServerMessage], None],
        close: Callable[[], None],
    ) -> None:
        """Set up a new connection.

        Args:
            send: sends a message; must not raise or block.
            close: closes the connection.
        """
        self.address = address
        self.host: Host | None = None
        self.send = send
        self.close = close
        self._hosting = hosting
        self._user = user

    def notify(self, event: ServiceEvent) -> None:
        """Report the end of a challenge and of its runs."""
        match event:
            case JobEnded():
                self.send(ChallengeState(event.job.tag, event.state, event.reason))
            case RunEnded() if self.host is not None and self.host.bot not in event.job.players:
                # The host reports runs of its own bot.
                self.send(self._hosting.run_over(event.job, event.run, self._user, ""))

    def receive(self, message: SeatText) -> None:
        """Pass a text of a bot to its match.

        Raises:
            RemoteProtocolError: it has a character above 255.
        """
        seat = None if self.host is None else self.host.seats.get(message.seat)
        if seat is None:
            self.send(SeatOver(message.seat, "no match awaits the bot at this seat"))
        else:
            seat.receive(message.text)

    async def answer(self, request: JoiningRequest) -> None:
        """Handle a request of the client.

        Raises:
            RefusedError: the bot is not accepted.
            RemoteProtocolError: the request is not valid at this point.
        """
        if self.host is None and not isinstance(request, Join):
            raise RemoteProtocolError("the first message must join a bot", b"")
        match request:
            case Join():
                await self._join(request)
            case SeatText():
                self.receive(request)
            case SeatOver(number, reason) if self.host is not None:
                if number in self.host.seats:
                    self.host.seats[number].give_up(reason or "its client has cancelled it")
            case Challenge(tag=tag):
                try:
                    await self._challenge(request)
                except (RefusedError, StoreError) as error:
                    self.send(ChallengeState(tag, "refused", refusal_text(error)))
            case Cancel(tag):
                try:
                    await self._hosting.service.queue.cancel(self._user, tag)
                except StoreError as error:
                    _log.error("the challenge %s cannot be cancelled: %s", tag, error)

    async def _join(self, request: Join) -> None:
        self._hosting.count_join(self._user)
        hosts = self._hosting.hosts
        key = (self._user.id, request.bot)
        previous = hosts.get(key)
        host = previous
        if host is None or host.session != request.session:
            host = Host(request.bot, self._user, request.session, self._hosting)
        if self.host is not None and self.host is not host:
            raise RemoteProtocolError(f"this connection is of {self.host.bot}, and no other bot can join", b"")
        try:
            connected = await self._hosting.service.presence.enter(self._user, request, host)
        except StoreError as error:
            raise RefusedError(refusal_text(error)) from None
        # Only now: a bot that is refused must not displace one that is connected.
        hosts[key] = host
        if previous is not None and previous is not host:
            previous.refuse("another client has connected the bot")
        # A join that is repeated on its connection changes the offer only, and is not answered.
        if host.line is self:
            return
        if host.line is not None:
            # The client has reconnected, so its earlier connection is dead.
            host.line.close()
        games = [game for game in self._hosting.service.settings.games if game.name in connected.versions]
        definitions = {game.name: format_game_definition(game.game) for game in games}
        received = {number: seat.stream.received for number, seat in host.seats.items()}
        self.host = host
        host.attach(self)
        self.send(Joined(request.bot, self._user.name, definitions, received))
        for number, seat in list(host.seats.items()):
            seat.resume(request.seats.get(number))
        for tag in request.challenges:
            self._send_state(tag)

    async def _challenge(self, request: Challenge) -> None:
        if OWN_SEAT in request.players:
            raise RefusedError(f"{OWN_SEAT} is for clients of the text port")
        job_request = JobRequest(request.game, request.players, request.tag, terms=request.terms)
        await self._hosting.service.submit(self._user, job_request, self)
        self.send(ChallengeState(request.tag, "queued"))

    def _send_state(self, tag: str) -> None:
        """Send the state of the latest challenge with a tag, and notify this client of it from now on."""
        store = self._hosting.service.store
        # After a restart, another client of the user may have adopted it.
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

    def disconnect(self, *, for_good: bool) -> None:
        """Disconnect the bot; its seats wait for a new connection, unless the client leaves `for_good`."""
        self._hosting.service.queue.leave(self)
        # A newer connection of the client may have replaced this one.
        if self.host is not None and self.host.line is self:
            self.host.disconnect(for_good=for_good)


class Host:
    """Client of one bot, over all of its connections.

    Attributes:
        line: current connection; None while it is lost.
        seats: of the bot, by number.
    """

    def __init__(self, bot: str, user: User, session: str, hosting: Hosting) -> None:
        self.bot = bot
        self.session = session
        self.line: Line | None = None
        self.seats: dict[int, _HostedSeat] = {}
        self._user = user
        self._hosting = hosting
        self._numbers = itertools.count(1)
        self._rejoin_timer: asyncio.TimerHandle | None = None

    def attach(self, line: Line) -> None:
        """Use a new connection."""
        self.line = line
        if self._rejoin_timer is not None:
            self._rejoin_timer.cancel()

    def disconnect(self, *, for_good: bool) -> None:
        """Mark the bot as disconnected, and give up its seats now or after a timeout."""
        self.line = None
        self._hosting.service.presence.leave(self)
        if for_good:
            self._close_seats("its client has left")
        if self.seats:
            rejoin_s = self._hosting.service.settings.rejoin_timeout_s
            self._rejoin_timer = asyncio.get_running_loop().call_later(rejoin_s, self._forget)
        else:
            self._forget()

    def _forget(self) -> None:
        self._close_seats("its client has not reconnected in time")
        # Another client may have connected the bot meanwhile.
        if self._hosting.hosts.get((self._user.id, self.bot)) is self:
            del self._hosting.hosts[self._user.id, self.bot]

    def notify(self, event: HostEvent) -> None:
        """Receive an event of the server."""
        match event:
            case SeatOpen():
                self._open(event)
            case Expelled(reason):
                self.refuse(reason)
            case LadderState() | RunStanding():
                self.send(event)
            case RunEnded():
                self._close_seats("the run has ended", run=event.run.id)
                self.send(self._hosting.run_over(event.job, event.run, self._user, self.bot))

    def refuse(self, reason: str) -> None:
        """Give up the seats and close the connection for good."""
        self._close_seats(reason)
        self.send(Refused(reason))
        if self.line is not None:
            self.line.close()

    def send(self, message: ServerMessage) -> None:
        """Send a message, unless there is no connection."""
        if self.line is not None:
            self.line.send(message)

    def _open(self, event: SeatOpen) -> None:
        number = next(self._numbers)
        self.seats[number] = _HostedSeat(number, event, self)
        self.seats[number].resume(None)

    def _close_seats(self, reason: str, *, run: int | None = None) -> None:
        for seat in list(self.seats.values()):
            if run in (None, seat.facts.run):
                seat.give_up(reason)


class _HostedSeat:
    """A seat offered to a bot or played by it.

    Attributes:
        number: by which the client refers to it.
    """

    def __init__(self, number: int, facts: SeatOpen, host: Host) -> None:
        self.number = number
        self.facts = facts
        self.stream = SeatStream()
        self._host = host
        self._link: PlayerLink | None = None

    def resume(self, received: int | None) -> None:
        """Offer the seat, or resume it.

        Args:
            received: number of texts that the client has received at it; None if it does not know the seat.
        """
        # A client that was started anew cannot continue a match that has begun.
        if received is None and self._link is not None:
            self.give_up("its client no longer plays it")
            return
        if received is None:
            facts = self.facts
            self._host.send(
                SeatOffer(self.number, facts.game, facts.match, player_name(facts.player), hands=facts.hands)
            )
            received = 0
        try:
            missed = self.stream.texts_after(received)
        except RemoteProtocolError as error:
            self.give_up(f"the seat cannot be resumed: {error}")
            return
        for text in missed:
            self._host.send(SeatText(self.number, text))

    def receive(self, text: str) -> None:
        """Pass a text of the bot to the match.

        Raises:
            RemoteProtocolError: it has a character above 255.
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
        """End the seat; the match sees a player that disconnects."""
        # First, so that the match, which closes the link in turn, does not report the end a second time.
        self._end(reason)
        if self._link is not None:
            self._link.receive(b"")
        elif self.facts.open_seat is not None:
            self.facts.open_seat.give_up()

    def _end(self, reason: str) -> None:
        if self._host.seats.pop(self.number, None) is not None:
            self._host.send(SeatOver(self.number, reason))
