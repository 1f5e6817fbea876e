"""Clients that bring bots: they join, are told of seats, give some up, leave, and come back after a break.

A client draws a session when it starts and says it whenever it joins. Who joins with the same session is the same
client: its seats go on. When its connection ends without a word, its seats wait for a while
(`ServerSettings.rejoin_s`); when it leaves, or another client brings the same bot, they are given up at once.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Sequence
from typing import Protocol

from dealer.contest.schedule import Seating
from dealer.contest.tcp_run import REACHABLE
from dealer.errors import RefusedError, StoreError
from dealer.match.faults import FaultPolicy
from dealer.server import access, ledger
from dealer.server.access import Person
from dealer.server.accounts import User
from dealer.server.jobs import Client, JobEnded, RunEnded, SeatOpen
from dealer.server.ledger import JobRow, JobState, RunRow, RunState, SeatReport
from dealer.server.lobby import BotOffer, HostEvent, Replaced, RunProgress
from dealer.server.requests import JobRequest
from dealer.server.seats import HostedSeat, SeatFacts, Seats
from dealer.server.service import Service
from dealer.server.settings import most_hands, player_name
from dealer.server.store import Store
from protocol import LocalProtocolError, format_game_definition
from protocol.joining import (
    Again,
    AskOutcome,
    Challenge,
    Challenged,
    ChallengeOver,
    GameLine,
    GiveUp,
    Join,
    Joined,
    JoiningRequest,
    JoiningTold,
    Refused,
    RunOver,
    RunStands,
    SeatClaim,
    SeatOffer,
    SeatOver,
    ShowGame,
    format_message,
)

__all__ = ["Hosting", "Line"]

_log = logging.getLogger(__name__)

_STANDS_EVERY_S = 1.0


class Line(Client, Protocol):
    """The connection over which a client gives commands."""

    def write(self, text: str) -> None:
        """Send a text; must not raise, and must not wait."""

    def drop(self) -> None:
        """Close it."""


class _Host:
    """Who brings one bot: a client, over one connection after another.

    Attributes:
        bot: its name. user: its owner. session: of the client.
        line: the connection; None while there is none.
        seats: that have been opened and are not over.
    """

    def __init__(self, bot: str, user: User, session: str, hosting: Hosting) -> None:
        self.bot = bot
        self.user = user
        self.session = session
        self.line: Line | None = None
        self.seats: dict[int, HostedSeat] = {}
        self._hosting = hosting
        self._stands_s = 0.0

    def tell(self, event: HostEvent) -> None:
        """Hand on what becomes of the bot."""
        match event:
            case SeatOpen():
                self._open(event)
            case RunProgress():
                self._show(event)
            case RunEnded():
                self.close_seats("the run has ended", run=event.run.id)
                report = event.report
                hands = sum(match[-1] for match in report.matches)
                reason = self._hosting.reason(event.job, self.user, report.reason)
                self.write(_run_over(event.job, event.run, report.state, reason, self.bot, report.seats, hands))
            case Replaced():
                self.close_seats("another client has brought the bot")
                self.write(Refused("JOIN", None, "another client has brought the bot"))
                if self.line is not None:
                    self.line.drop()

    def write(self, message: JoiningTold) -> None:
        """Tell the client something, if it is there and the words can be said."""
        if self.line is None:
            return
        try:
            self.line.write(format_message(message))
        except LocalProtocolError as error:
            _log.error("%s is not told: %s", self.bot, error)

    def _open(self, event: SeatOpen) -> None:
        """A match awaits the bot."""
        facts = self._hosting.facts(event)
        for seat in self.seats.values():
            if seat.facts == facts:
                self.offer(seat)
                return
        seat = HostedSeat(facts, self._seat_over, rejoin_s=self._hosting.rejoin_s)
        self.seats[seat.number] = seat
        self.offer(seat)

    def offer(self, seat: HostedSeat) -> None:
        """Offer a seat, with a new secret."""
        if self.line is not None:
            facts, seats = seat.facts, self._hosting.seats
            secret = seats.secret_for(seat)
            self.write(
                SeatOffer(seat.number, secret, facts.game, facts.match, facts.player, facts.hands, int(seats.secret_s))
            )

    def _seat_over(self, seat: HostedSeat, reason: str) -> None:
        self.seats.pop(seat.number, None)
        self.write(SeatOver(seat.number, reason))

    def _show(self, progress: RunProgress) -> None:
        now_s = time.monotonic()
        if now_s >= self._stands_s:
            self._stands_s = now_s + _STANDS_EVERY_S
            label = f"{progress.job.user.name}.{progress.job.tag}"
            self.write(RunStands(label, progress.hands, progress.planned, progress.rate))

    def close_seats(self, reason: str, *, run: int | None = None) -> None:
        """Give up the seats, or those of one run."""
        for seat in list(self.seats.values()):
            if run in (None, seat.facts.run):
                seat.give_up(reason)


class Hosting:
    """All clients that bring bots.

    Attributes:
        seats: that are offered.
        rejoin_s: how long a seat without a connection waits.
    """

    def __init__(self, service: Service) -> None:
        """Start without any.

        Args:
            service: the server.
        """
        self.seats = Seats()
        self.rejoin_s = service.settings.rejoin_timeout_s
        self._service = service
        self._hosts: dict[tuple[int, str], _Host] = {}

    def facts(self, event: SeatOpen) -> SeatFacts:
        """What a seat that is open is."""
        job = event.job
        game = self._service.settings.game(job.game)
        return SeatFacts(
            event.run,
            job.game,
            f"{job.user.name}.{job.tag}",
            player_name(event.player),
            0 if game is None else most_hands(game, job.hands, job.stop),
            REACHABLE.get(event.host, event.host),
            event.port,
            event.key or "",
        )

    def reason(self, job: JobRow, user: User, text: str) -> str:
        """Why a run ended, as far as a user may read it."""
        return access.reason(self._service.store, job.id, Person(user), text)

    def has_joined(self, line: Line) -> bool:
        """Whether a client has brought a bot."""
        return bool(self._hosts_of(line))

    def _hosts_of(self, line: Line) -> list[_Host]:
        return [host for host in self._hosts.values() if host.line is line]

    def _seat(self, line: Line, number: int) -> tuple[_Host, HostedSeat] | None:
        """The seat of this number, if it is a client's."""
        return next(((host, host.seats[number]) for host in self._hosts_of(line) if number in host.seats), None)

    async def answer(self, user: User, line: Line, request: JoiningRequest) -> None:
        """Do what a client asks for, and tell it."""
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
                    self._tell_outcome(user, line, tag)
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
        offer = BotOffer(request.bot, request.version, request.games, request.at_once, request.is_on_ladder)
        await self._service.enter(user, offer, host)
        self._hosts[user.id, request.bot] = host
        host.line = line
        if before is not None and before is not line:
            # The client itself says that its earlier connection is dead.
            before.drop()
        host.write(Joined(request.bot, tuple(host.seats)))
        for seat in host.seats.values():
            if not seat.is_carried:
                host.offer(seat)

    async def _challenge(self, user: User, line: Line, request: Challenge) -> None:
        try:
            seating = Seating(request.seating or Seating.ROTATIONS)
            on_fault = FaultPolicy(request.on_fault or FaultPolicy.END)
        except ValueError as error:
            raise RefusedError(str(error)) from None
        wanted = JobRequest(
            request.game,
            request.players,
            request.tag,
            seed=request.seed or 0,
            hands=request.hands,
            seating=seating,
            stop=request.stop,
            on_fault=on_fault,
        )
        row, _ = await self._service.submit(user, wanted, line)
        line.write(format_message(Challenged(row.tag, request.seed)))

    def _again(self, line: Line, number: int) -> None:
        found = self._seat(line, number)
        if found is None:
            line.write(format_message(SeatOver(number, "nobody awaits the bot there")))
        else:
            host, seat = found
            host.offer(seat)

    def _tell_outcome(self, user: User, line: Line, tag: str) -> None:
        """What has become of the latest challenge with a tag; who asks is told from now on what becomes of it."""
        store = self._service.store
        for active in self._service.active():
            if active.row.user == user and active.row.tag == tag:
                # After a restart, another client of the same user may have taken it over.
                active.client = line
        jobs = ledger.jobs_of(store, user.id, tag, 1)
        if not jobs:
            raise RefusedError("none of your requests has this tag")
        (job,) = jobs
        bot = next((host.bot for host in self._hosts_of(line) if host.bot in job.players), "")
        for run in ledger.runs_of(store, job.id):
            if run.state is not RunState.RUNNING:
                seats, hands = ledger.seats_of(store, run.id), _hands_of(store, run.id)
                reason = self.reason(job, user, run.reason)
                line.write(format_message(_run_over(job, run, run.state, reason, bot, seats, hands)))
        if job.state is not JobState.QUEUED:
            line.write(format_message(ChallengeOver(job.tag, job.state, job.reason)))

    def _show_game(self, line: Line, name: str) -> None:
        game = self._service.settings.game(name)
        if game is None:
            raise RefusedError("there is no such game here; GAMES lists those there are")
        for text in format_game_definition(game.game).splitlines():
            line.write(format_message(GameLine(game.name, text)))

    def job_ended(self, line: Line, event: JobEnded) -> None:
        """Tell a client that nothing is left of what it has asked for."""
        if self.has_joined(line):
            line.write(format_message(ChallengeOver(event.job.tag, event.state, event.reason)))

    def left(self, line: Line, *, for_good: bool) -> None:
        """A client has gone: its bots are away; their seats wait for it, unless it has said that it leaves."""
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


def _hands_of(store: Store, run: int) -> int:
    (row,) = store.read("SELECT coalesce(sum(hands), 0) AS hands FROM matches WHERE run = ?", run)
    return int(row["hands"])


def _run_over(
    job: JobRow, run: RunRow, state: RunState, reason: str, bot: str, seats: Sequence[SeatReport], hands: int
) -> RunOver:
    """How a run ended for a bot."""
    own = next((seat for seat in seats if bot and seat.name == player_name(bot)), None)
    return RunOver(
        f"{job.user.name}.{job.tag}",
        run.number,
        job.runs,
        state,
        None if own is None else own.name,
        hands,
        None if own is None else own.mbb_per_game,
        None if own is None else own.half_width_95,
        reason,
    )
