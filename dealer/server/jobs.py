"""Jobs of which something is left, and what clients are told of them."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

from dealer.runs import AnyResult, Run
from dealer.server.ledger import JobKind, JobRow, JobState, RunReport, RunRow
from dealer.server.queue import Job, Slot
from dealer.server.settings import ServerGame, slot_of
from protocol.benchmark import OWN_SEAT

__all__ = ["ActiveJob", "Client", "JobEnded", "RunEnded", "Running", "SeatOpen", "ServiceEvent"]


@dataclass(frozen=True, slots=True)
class SeatOpen:
    """A seat waits for an agent at this port: a client's own, or a user's bot.

    Attributes:
        job: whose run it is.
        port: where the agent has to connect.
        player: `protocol.benchmark.OWN_SEAT`, or the name of the bot.
        run: the number of the run.
        key: what has to be said at the port before anything else; None for nothing.
        host: the address on which the run awaits it.
    """

    job: JobRow
    port: int
    player: str = OWN_SEAT
    run: int = 0
    key: str | None = None
    host: str = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class RunEnded:
    """A run has ended and is counted."""

    job: JobRow
    run: RunRow
    report: RunReport


@dataclass(frozen=True, slots=True)
class JobEnded:
    """Nothing is left of a job."""

    job: JobRow
    state: JobState
    reason: str


ServiceEvent: TypeAlias = SeatOpen | RunEnded | JobEnded


class Client(Protocol):
    """Somebody who is told what becomes of jobs.

    Attributes:
        address: from which it has connected.
    """

    address: str

    def tell(self, event: ServiceEvent) -> None:
        """Take note; must not raise, and must not wait."""


@dataclass(slots=True, eq=False)
class ActiveJob:
    """A job of which something is left.

    Attributes:
        row: as it is kept, with the number of runs started.
        game: of the server.
        client: who is told.
        going: the run that goes on. run: the same, once it is being played.
        is_resumed: whether `going` is to be gone on with, not started.
        skips: see `dealer.server.queue.Job`.
        began_s: when that was, on the monotonic clock.
        end: why no more runs are started, if that has been decided.
        is_interrupted: whether its run is to stop now, to be gone on with later.
        at_once: how many matches of a run sit at tables at a time.
    """

    row: JobRow
    game: ServerGame
    client: Client | None = None
    going: RunRow | None = None
    run: Run[AnyResult] | None = None
    is_resumed: bool = False
    skips: int = 0
    began_s: float = 0.0
    end: str = ""
    is_cancelled: bool = False
    is_interrupted: bool = False
    at_once: int = 1

    def interrupt(self) -> None:
        """Stop its run now, to be gone on with later."""
        self.is_interrupted = True
        if self.run is not None:
            self.run.interrupt()

    def make_room(self) -> None:
        """Stop its run after the hand that is being played: who has it stopped must not see a deal twice."""
        self.is_interrupted = True
        if self.run is not None:
            self.run.interrupt_after_hand()

    @property
    def has_own_seat(self) -> bool:
        """Whether a client's own agent plays."""
        return OWN_SEAT in self.row.players

    @property
    def is_running(self) -> bool:
        """Whether a run goes on."""
        return self.going is not None and not self.is_resumed

    @property
    def runs_left(self) -> int:
        """How many runs are to be started, or gone on with after a restart."""
        if self.end:
            return 0
        return self.row.runs - self.row.started + self.is_resumed

    @property
    def guests(self) -> frozenset[str]:
        """The bots of users that play."""
        players = set(self.row.players) - {OWN_SEAT}
        return frozenset(player for player in players if self.game.bot(player) is None)

    @property
    def slot(self) -> Slot:
        """What a run of it takes."""
        is_idle = self.row.kind is JobKind.LADDER
        return slot_of(self.game, self.row.players, user=self.row.user.id, at_once=self.at_once, is_idle=is_idle)

    def waiting(self, served: int, *, is_ready: bool) -> Job:
        """What the queue knows of it.

        Args:
            served: when its user was last served; 0 for never.
            is_ready: whether everybody that is needed is there.
        """
        # What was going on when the server ended comes before everything else.
        first = -1 if self.is_resumed else served
        return Job(self.row.id, self.slot, self.runs_left, self.row.stamp, first, self.skips, is_ready)


@dataclass(slots=True)
class Running:
    """What the service is busy with, by the number of the job."""

    tasks: dict[int, asyncio.Task[None]] = field(default_factory=dict)
    slots: dict[int, Slot] = field(default_factory=dict)
