"""One match with everything around it: files, counts, and the reason if it ends early.

    run = TcpRun(plan)
    await run.play_until(plan.setup.hands)
    await run.close()

`MatchRun` is what all runs share. How the hands are played is up to its two kinds: over TCP, with bots as processes
(`dealer.contest.tcp_run`), or inside this process (`dealer.contest.local_run`).

A run advances in steps (`play_until`), so that several matches can be examined together between steps. Whatever goes
wrong during play ends in `failure`, a sentence that says what happened to whom; only what makes a start impossible
raises `LaunchError`.
"""

from __future__ import annotations

import logging
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from dealer.contest.ending import Wait
from dealer.contest.tally import Tally
from dealer.errors import LaunchError
from dealer.match.causes import Cause, NotStarted, NotWritten, PlayerCause
from dealer.match.events import Audience, Event, FaultSeen, MatchStarted, Watcher
from dealer.match.faults import Fault, FaultKind, Remedy
from dealer.match.journal import Journal
from dealer.match.sentences import process_sentences, sentence_of
from dealer.match.setup import NO_EARLIER_HANDS, MatchSetup
from dealer.record.files import MatchFiles, RecordPlan, open_match_files
from dealer.record.resume import PickedUp
from dealer.table.players import Lesson, Player
from engine import Seat

__all__ = ["Aftermath", "MatchAccount", "MatchPlan", "MatchRun"]

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class MatchPlan:
    """A match to be run.

    Attributes:
        setup: what is played.
        record: what is kept of it, and where.
        players: by seat.
        bot_seeds: by seat, for the chance decisions of built-in bots.
        host: the address to listen on.
        ports: of the seats; missing ones and 0 mean any free port.
        coalesce_s: see `dealer.table.connections.Connections`.
        lessons: by seat, for players that learn; empty where nobody does.
    """

    setup: MatchSetup
    record: RecordPlan
    players: tuple[Player, ...]
    bot_seeds: tuple[int, ...]
    host: str = "127.0.0.1"
    ports: tuple[int, ...] = ()
    coalesce_s: float | None = None
    lessons: tuple[Lesson | None, ...] = ()

    def lesson(self, seat: int) -> Lesson | None:
        """What the player in a seat is given, if it learns."""
        return self.lessons[seat] if self.lessons else None


@dataclass(frozen=True, slots=True)
class Aftermath:
    """What is known of a player after its fault has ended the match.

    Attributes:
        kind: the fault, as it is counted.
        exit_code: of the player's process, if it has ended.
        last_lines: what the process wrote last; None without a process of ours.
    """

    kind: FaultKind
    exit_code: int | None = None
    last_lines: tuple[str, ...] | None = None


class MatchAccount:
    """What is known of a match while it is played and afterwards, wherever that is.

    Attributes:
        plan: what is run.
        tally: the current counts.
        exit_codes: by seat, of the processes that failed.
        started_s: on the monotonic clock, when all players were there; None before, and where it is played elsewhere.
    """

    plan: MatchPlan
    tally: Tally
    exit_codes: dict[Seat, int]
    started_s: float | None = None

    @property
    def hands(self) -> int:
        """Finished hands, including those of an interrupted run."""
        return self.tally.hands

    @property
    def questions(self) -> int:
        """How often the dealer asked a player after an answer."""
        return 0

    @property
    def overhead_ns(self) -> int:
        """The dealer's own time between answers and the questions that followed."""
        return 0

    @property
    def start_time_left_s(self) -> float | None:
        """The time left for players to connect; None without a limit."""
        return None

    def waiting_for(self) -> list[tuple[str, int]]:
        """The players that are not connected: names, and the port where each is awaited."""
        return []

    def waits(self) -> list[Wait]:
        """The players that the match cannot go on without, be it for a moment only."""
        return []

    def not_exported(self) -> list[str]:
        """Sentences about the hands that a hand history cannot hold."""
        return []


class MatchRun(MatchAccount, ABC):
    """One match being run.

    Attributes:
        failure: a sentence why the match ended early, otherwise None.
        failed_seat: whose fault that was, if a player's.
    """

    def __init__(
        self,
        plan: MatchPlan,
        watchers: Sequence[Watcher] = (),
        picked_up: PickedUp | None = None,
        on_values: Callable[[Sequence[float]], None] | None = None,
    ) -> None:
        """Prepare a run.

        Args:
            plan: what is run.
            watchers: further watchers, told after the files and the tally.
            picked_up: what an interrupted run has left.
            on_values: told the net chips by seat of every hand that ends.
        """
        self.plan = plan
        self.tally = Tally(plan.setup.game, on_values)
        self.failure: str | None = None
        self.failed_seat: Seat | None = None
        self.exit_codes: dict[Seat, int] = {}
        self._is_resumed = picked_up is not None
        self._progress = NO_EARLIER_HANDS
        if picked_up is not None:
            self.tally.restore(picked_up)
            self._progress = picked_up.progress
            _log.info("match %s: resumed after %d hands", plan.setup.name, picked_up.progress.hands)
        self._files: MatchFiles | None = None
        self._watchers: tuple[Watcher, ...] = (self.tally, Journal(plan.setup), _Start(self), *watchers)
        self._prepare()

    @abstractmethod
    def _prepare(self) -> None:
        """Set up what a kind of run has more of."""

    def not_exported(self) -> list[str]:
        """Sentences about the hands that a hand history cannot hold."""
        return [] if self._files is None else self._files.not_exported()

    async def play_until(self, hands: int) -> None:
        """Play until this many hands of the match are finished, or it has failed.

        Raises:
            LaunchError: a bot or a socket cannot be started, or the folder cannot be written.
        """
        if self._files is None:
            self._open_files()
        await self._explain(await self._play_until(hands))

    def hold(self) -> bool:
        """Play no hand after this one; whether one is being played that can be waited for."""
        return False

    async def finish(self) -> None:
        """End the match here, with its score.

        Raises:
            LaunchError: its files cannot be written.
        """
        if self._files is not None:
            await self._explain(self._finish())
            return
        # No player is needed any more, so none is started.
        try:
            self._open_files().close_with_score(self.tally.chips)
        except OSError as error:
            raise LaunchError(f"write {error.filename}", error.strerror) from None

    async def close(self) -> None:
        """Close the files and end the bots; a match that is not over can be resumed later."""
        try:
            await self._close()
        finally:
            if self._files is not None:
                self._files.close()

    @abstractmethod
    async def _play_until(self, hands: int) -> Cause | None:
        """Play on; returns why the match has ended early, if it has."""

    @abstractmethod
    def _finish(self) -> Cause | None:
        """End the match here; returns why it has ended early, if it has."""

    @abstractmethod
    async def _close(self) -> None:
        """Part with the players."""

    async def _aftermath(self, cause: PlayerCause) -> Aftermath:
        return Aftermath(cause.kind)

    def _open_files(self) -> MatchFiles:
        files = self._files = open_match_files(self.plan.setup, self.plan.record, is_resumed=self._is_resumed)
        self._watchers = (*files.watchers, *self._watchers)
        return files

    async def _explain(self, cause: Cause | None) -> None:
        """Say in a sentence or two why the match has ended early, and count it."""
        if cause is None or self.failure is not None:
            return
        setup = self.plan.setup
        # The hand being played when it happened: waiting for a process below must not change it.
        hand = setup.first_hand + self.tally.hands
        is_before_start = self.started_s is None
        self.failure = text = sentence_of(cause, setup.names, hand)
        if not isinstance(cause, PlayerCause):
            return
        seat = self.failed_seat = cause.seat
        aftermath = await self._aftermath(cause)
        if aftermath.exit_code is not None:
            self.exit_codes[seat] = aftermath.exit_code
        name = setup.names[seat] if isinstance(cause, NotStarted) and cause.others else ""
        self.failure = text + process_sentences(aftermath.exit_code, aftermath.last_lines, name)
        self._tell(
            FaultSeen(Fault(seat, aftermath.kind, -1 if is_before_start else hand, cause.line, Remedy.MATCH_ENDED))
        )

    def _tell(self, event: Event) -> NotWritten | None:
        """Tell the watchers of something; returns why that failed, if it did."""
        try:
            Audience(self._watchers).tell(event)
        except OSError as error:
            return NotWritten.of(error)
        return None


class _Start(Watcher):
    """Notes when the match begins."""

    wants = frozenset({MatchStarted})

    def __init__(self, run: MatchRun) -> None:
        self._run = run

    def notice(self, event: Event) -> None:
        """All players are there."""
        self._run.started_s = time.monotonic()
