"""A contest: some players, one game, the same cards in every seating, until the hands are played or enough is known.

The matches of a contest (one per seating and slice of the hands) run side by side, as many as the gate lets through.
Where a stop rule looks at the scores, all matches play the same number of hands, hold, and the scores are looked at in
an order that does not depend on which match was faster: the same matches stop at the same hand on any machine, however
many of them run at a time, and after any interruption.

A contest whose folder holds an interrupted run goes on from there.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from dealer.contest.ending import Ending, Outcome
from dealer.contest.local_run import LocalRun
from dealer.contest.match_run import MatchPlan, MatchRun
from dealer.contest.schedule import Seating, Slot, slots
from dealer.contest.scores import Scores
from dealer.contest.tcp_run import TcpRun
from dealer.errors import LaunchError
from dealer.match.clocks import DEFAULT_LIMITS, TimeLimits
from dealer.match.faults import FaultPolicy
from dealer.match.match import MatchSetup
from dealer.record.files import RecordPlan
from dealer.record.resume import PickedUp, pick_up
from dealer.table.players import Player
from engine import Game
from logs.estimation import Better, FixedHands, Monitor, StopRule, score_bounds
from logs.export import ExportFormat

__all__ = ["Contest", "ContestPlan"]

HANDS_BETWEEN_LOOKS = 100
"""A stop rule is looked at whenever every match has played so many further hands."""

MAX_IDLE_LINES_PER_HAND = 10_000
"""Far more than a bot that corrects itself, far less than what keeps a dealer busy."""


@dataclass(frozen=True, slots=True)
class ContestPlan:
    """A contest to be run.

    Attributes:
        game_name: as shown and logged.
        game: the game.
        players: who plays.
        names: theirs, all different.
        hands: how many deals at most, each played once in every seating.
        seed: of the cards; built-in bots get seeds of their own that follow from it.
        folder: where everything goes; it must exist.
        seating: which seatings.
        slices: into how many matches the hands of a seating are cut.
        stop: when enough is known.
        on_fault: what becomes of a player who is late or gone.
        limits: the players' clocks.
        fixed_seats: the button does not move.
        is_in_process: built-in bots play in this process.
        host: the address to listen on.
        ports: of the seats, for the only match of a contest.
        coalesce_s: see `dealer.table.connections.Connections`.
        exports: the formats of hand histories that are written.
    """

    game_name: str
    game: Game
    players: tuple[Player, ...]
    names: tuple[str, ...]
    hands: int
    seed: int
    folder: Path
    seating: Seating = Seating.SINGLE
    slices: int = 1
    stop: StopRule | None = None
    on_fault: FaultPolicy = FaultPolicy.END
    limits: TimeLimits = DEFAULT_LIMITS
    fixed_seats: bool = False
    is_in_process: bool = False
    host: str = "127.0.0.1"
    ports: tuple[int, ...] = ()
    coalesce_s: float | None = None
    exports: tuple[ExportFormat, ...] = ()

    @property
    def slots(self) -> list[Slot]:
        """All matches."""
        return slots(self.seating, self.game.num_players, self.hands, self.slices)

    @property
    def is_sequential(self) -> bool:
        """Whether a sequential test decides, so that intervals have to hold at every moment."""
        return isinstance(self.stop, Better)

    @property
    def looks(self) -> bool:
        """Whether the stop rule needs looking at the scores."""
        return self.stop is not None and not isinstance(self.stop, FixedHands)


class _MatchFailed(Exception):
    """A match has failed, so the contest ends; says why."""


def _first_failure(group: ExceptionGroup[Exception]) -> Exception:
    """What went wrong first, be it in a group of a group."""
    first = group.exceptions[0]
    return _first_failure(first) if isinstance(first, ExceptionGroup) else first


class Contest:
    """One contest being run.

    Attributes:
        plan: what is run.
        slots: its matches. runs: the same, as they run. scores: what they have yielded.
        monitor: what watches the scores; None where only the number of hands counts.
        ending: how it ended; None while it runs.
        started_s: on the monotonic clock.
        seconds: how long it ran, once ended.
        hands_before: hands found on disk, played by an earlier run.
    """

    def __init__(self, plan: ContestPlan, gate: asyncio.Semaphore) -> None:
        """Prepare a contest.

        Args:
            plan: what is run.
            gate: lets through as many matches as may run at a time.
        """
        self.plan = plan
        self.slots = plan.slots
        self.scores = Scores(plan.game, self.slots)
        self.runs: list[MatchRun] = []
        self.ending: Ending | None = None
        self.started_s = time.monotonic()
        self.seconds = 0.0
        self.hands_before = 0
        self.monitor: Monitor | None = None
        if plan.looks and plan.stop is not None:
            opponent = plan.names[1] if len(plan.names) == 2 else "the table"
            self.monitor = Monitor(plan.stop, *score_bounds(plan.game), names=(plan.names[0], opponent))
        self._gate = gate
        self._is_closed: list[bool] = []
        self._looked_at = 0

    @property
    def seatings(self) -> int:
        """How many seatings each deal is played in."""
        return 1 + max(slot.seating for slot in self.slots)

    @property
    def hands_to_play(self) -> int:
        """All hands of all matches."""
        return sum(slot.hands for slot in self.slots)

    async def play(self) -> Ending:
        """Run the contest to its end.

        Raises:
            LaunchError: a bot or a socket cannot be started, or the folder cannot be written.
            PickUpError: the folder holds the files of another run.
        """
        self.started_s = time.monotonic()
        try:
            self._prepare()
            self.ending = await self._play()
        except asyncio.CancelledError:
            self.ending = Ending("interrupted", "it was interrupted.")
        finally:
            self.seconds = time.monotonic() - self.started_s
            await self._close_all()
        return self.ending

    def _prepare(self) -> None:
        """Make the runs, and pick up what an earlier run has left."""
        for index, slot in enumerate(self.slots):
            plan = self._match_plan(slot)
            try:
                picked_up = pick_up(plan.setup, plan.record)
            except OSError as error:
                raise LaunchError(f"go on with {plan.record.folder}", error.strerror) from None
            if picked_up is not None:
                self.scores.restore(index, picked_up.values)
                self.hands_before += picked_up.progress.hands
            self.runs.append(self._make_run(index, plan, picked_up))
            self._is_closed.append(picked_up is not None and picked_up.is_closed)

    def _make_run(self, index: int, plan: MatchPlan, picked_up: PickedUp | None) -> MatchRun:
        kind = LocalRun if self.plan.is_in_process else TcpRun
        return kind(plan, picked_up=picked_up, on_values=lambda values: self.scores.add(index, values))

    def _match_plan(self, slot: Slot) -> MatchPlan:
        plan = self.plan
        return MatchPlan(
            MatchSetup(
                plan.game,
                slot.name,
                slot.hands,
                plan.seed,
                tuple(plan.names[player] for player in slot.players),
                plan.fixed_seats,
                slot.first_hand,
                plan.limits,
                plan.on_fault,
                MAX_IDLE_LINES_PER_HAND,
            ),
            RecordPlan(plan.folder, plan.game_name, plan.exports, plan.names[0]),
            tuple(plan.players[player] for player in slot.players),
            # The same in every slice: what a bot does in a hand does not depend on how the hands are cut.
            tuple((plan.seed * 1000003 + slot.seating * 1009 + player) % 2**32 for player in slot.players),
            plan.host,
            plan.ports,
            plan.coalesce_s,
        )

    async def _play(self) -> Ending:
        try:
            return await self._play_all()
        except ExceptionGroup as group:
            failure = _first_failure(group)
        except _MatchFailed as match_failed:
            failure = match_failed
        if not isinstance(failure, _MatchFailed):
            raise failure
        return Ending("failed", str(failure))

    async def _play_all(self) -> Ending:
        for until in self._marks():
            await self._advance(until)
            if self._decides(until):
                assert self.monitor is not None
                return await self._finish("stopped", f"{self.monitor.decision}.")
        return await self._finish("finished", "all hands were played.")

    def _marks(self) -> Iterator[int]:
        """The numbers of hands after which to look, for every match."""
        longest = max(slot.hands for slot in self.slots)
        if self.monitor is not None:
            yield from range(HANDS_BETWEEN_LOOKS, longest, HANDS_BETWEEN_LOOKS)
        yield longest

    def _decides(self, until: int) -> bool:
        """Look at the scores up to a mark; whether that is enough."""
        monitor = self.monitor
        if monitor is None:
            return False
        for scores in self.scores.in_order(self._looked_at, until):
            monitor.add(scores[0])
        self._looked_at = until
        return monitor.decision is not None

    async def _advance(self, until: int) -> None:
        """Play all matches on to a mark."""
        behind = [
            index
            for index, slot in enumerate(self.slots)
            if not self._is_closed[index] and self.scores.hands(index) < min(until, slot.hands)
        ]
        async with asyncio.TaskGroup() as tasks:
            for index in behind:
                tasks.create_task(self._advance_match(index, until))

    async def _advance_match(self, index: int, until: int) -> None:
        run, slot = self.runs[index], self.slots[index]
        async with self._gate:
            await run.play_until(min(until, slot.hands))
            if run.failure is not None:
                raise _MatchFailed(run.failure)
            if self.scores.hands(index) >= slot.hands:
                self._is_closed[index] = True
                await run.close()

    async def _finish(self, outcome: Outcome, reason: str) -> Ending:
        """Write the score under every match that has none yet."""
        for index, run in enumerate(self.runs):
            if not self._is_closed[index]:
                await run.finish()
                if run.failure is not None:
                    raise _MatchFailed(run.failure)
        return Ending(outcome, reason)

    async def _close_all(self) -> None:
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.gather(*(run.close() for run in self.runs))
