"""One match with everything around it: logs, bots started as processes, what becomes of a bot that fails.

    run = MatchRun(plan)
    await run.play_until(plan.setup.hands)
    await run.close()

The run is moved on in steps (`play_until`), so that several matches can be looked at together between steps. Whatever
goes wrong while it plays ends in `failure`, a sentence that says what happened to whom; only what makes a start
impossible raises `LaunchError`.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import time
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from functools import partial

from dealer.contest.tally import Tally
from dealer.errors import LaunchError
from dealer.match.causes import (
    Cause,
    EndedBeforeConnecting,
    MatchCause,
    NotWritten,
    PlayerCause,
    VersionLate,
)
from dealer.match.faults import Fault, FaultKind, Remedy
from dealer.match.match import NO_PROGRESS, Match, MatchSetup, Phase
from dealer.match.observer import MatchObserver, Observers
from dealer.match.sentences import sentence_of
from dealer.match.setup import Loss
from dealer.record.files import MatchFiles, RecordPlan, open_match_files
from dealer.record.resume import PickedUp
from dealer.table.connections import Table
from dealer.table.launcher import BotProcess, stop_all
from dealer.table.loop import Changes
from dealer.table.players import Player, PlayerKind
from engine import Seat

__all__ = ["MatchPlan", "MatchRun"]

_DEATH_NOTICE_S = 0.5
_MOST_RESTARTS_IN_A_ROW = 3
"""A player who fails so often without one answer in between is not started again."""


@dataclass(frozen=True, slots=True)
class MatchPlan:
    """A match to be run.

    Attributes:
        setup: what is played.
        record: what is kept of it.
        players: by seat.
        bot_seeds: by seat, for the chance decisions of built-in bots.
        host: the address to listen on.
        ports: of the seats; missing ones and 0 mean any free port.
        coalesce_s: see `dealer.table.connections.Table`.
    """

    setup: MatchSetup
    record: RecordPlan
    players: tuple[Player, ...]
    bot_seeds: tuple[int, ...]
    host: str = "127.0.0.1"
    ports: tuple[int, ...] = ()
    coalesce_s: float | None = None


class MatchRun:
    """One match being run over TCP.

    Attributes:
        plan: what is run.
        tally: how it stands.
        failure: why it ended early, in words; None while all is well.
        failed_seat: whose fault that was, if a player's.
        exit_codes: by seat, of the process that failed.
        ports: by seat, once listening.
        started_s: on the monotonic clock, when all players were there; None before.
    """

    def __init__(
        self,
        plan: MatchPlan,
        observers: Sequence[MatchObserver] = (),
        picked_up: PickedUp | None = None,
        on_values: Callable[[Sequence[float]], None] | None = None,
    ) -> None:
        """Prepare a run.

        Args:
            plan: what is run.
            observers: who else watches.
            picked_up: what an interrupted run has left.
            on_values: told the net chips by seat of every hand that ends.
        """
        self.plan = plan
        self.tally = Tally(plan.setup.game, on_values)
        if picked_up is not None:
            self.tally.restore(picked_up)
        self.failure: str | None = None
        self.failed_seat: Seat | None = None
        self.exit_codes: dict[Seat, int] = {}
        self.ports: list[int] = []
        self.started_s: float | None = None
        self._opened_s = time.monotonic()
        self._is_resumed = picked_up is not None
        self._extra_observers = tuple(observers)
        self._progress = NO_PROGRESS if picked_up is None else picked_up.progress
        self._files: MatchFiles | None = None
        self._observers: MatchObserver = MatchObserver()
        self._processes: dict[Seat, BotProcess] = {}
        self._failures_in_a_row = [0] * plan.setup.game.num_players
        self._answers_before = [0] * plan.setup.game.num_players
        self._lost_again: dict[Seat, Loss | None] = {}
        """Seats being filled again, and what has befallen them meanwhile."""
        self._match: Match | None = None
        self._table: Table | None = None
        self._playing: asyncio.Task[None] | None = None
        self._helpers: set[asyncio.Task[None]] = set()

    @property
    def hands(self) -> int:
        """Hands finished, those of an interrupted run included."""
        return self.tally.hands

    @property
    def is_over(self) -> bool:
        """Whether the match has ended, with its score or by a failure."""
        return self._match is not None and self._match.phase in (Phase.FINISHED, Phase.FAILED)

    @property
    def questions(self) -> int:
        """How often a player was asked after an answer."""
        return 0 if self._match is None else self._match.questions

    @property
    def overhead_ns(self) -> int:
        """The dealer's own time between answers and the questions that followed."""
        return 0 if self._match is None else self._match.overhead_ns

    def not_exported(self) -> list[str]:
        """What of the match is in no hand history, in sentences."""
        return [] if self._files is None else self._files.not_exported()

    def waiting_for(self) -> list[tuple[str, str]]:
        """Who is not connected: names, and the address where each seat is awaited."""
        if self._table is None or self._match is None or self._match.phase in (Phase.FINISHED, Phase.FAILED):
            return []
        host = f"[{self.plan.host}]" if ":" in self.plan.host else self.plan.host
        return [(self.plan.setup.names[seat], f"{host}:{self.ports[seat]}") for seat in self._table.missing_seats()]

    @property
    def start_time_left_s(self) -> float | None:
        """Until the players must be there; None without a limit."""
        start_us = self.plan.setup.limits.start_us
        return None if start_us is None else max(0.0, start_us / 1e6 - (time.monotonic() - self._opened_s))

    async def play_until(self, hands: int) -> None:
        """Go on until so many hands of the match are finished, or it has failed.

        Raises:
            LaunchError: a bot or a socket cannot be started, or the folder cannot be written.
        """
        if self._match is None or self._table is None:
            self._open(hands)
        else:
            self._match.play_until(hands)
            self._table.after_step()
        assert self._match is not None
        assert self._table is not None
        await self._table.rest()
        if self._match.failure is not None:
            await self._explain(self._match.failure)

    async def finish(self) -> None:
        """End a held match with its score.

        Raises:
            LaunchError: its files cannot be written.
        """
        if self._match is None or self._table is None:
            # Nobody needs to be asked any more, so nobody is called to the table.
            files = self._open_files()
            try:
                files.close_with_score(self.tally.chips)
            except OSError as error:
                raise LaunchError(f"write {error.filename}", error.strerror) from None
            return
        self._match.finish()
        self._table.after_step()
        if self._match.failure is not None:
            await self._explain(self._match.failure)

    async def close(self) -> None:
        """Close connections and files, and stop the bots; a match that is not over can be picked up later."""
        for helper in self._helpers:
            helper.cancel()
        if self._table is not None:
            if self._playing is not None:
                if self.is_over:
                    # The last lines are on their way.
                    with contextlib.suppress(asyncio.CancelledError):
                        await self._playing
                else:
                    self._playing.cancel()
                    await asyncio.wait([self._playing])
            self._table.close()
        if self._files is not None:
            self._files.close()
        # In a thread: other matches of this loop go on meanwhile.
        await asyncio.shield(asyncio.to_thread(stop_all, list(self._processes.values())))

    # ---- opening

    def _open_files(self) -> MatchFiles:
        self._files = open_match_files(self.plan.setup, self.plan.record, is_resumed=self._is_resumed)
        return self._files

    def _open(self, hands: int) -> None:
        plan = self.plan
        files = self._open_files()
        self._observers = Observers([*files.observers, self.tally, _Start(self), *self._extra_observers])
        match = self._match = Match(plan.setup, self._observers, progress=self._progress)
        match.play_until(hands)
        table = self._table = Table(match, host=plan.host, coalesce_s=plan.coalesce_s)
        table.on_loss = self._on_loss
        self.ports = table.listen(plan.ports)
        self._opened_s = time.monotonic()
        for seat in match.missing_seats():
            self._launch(seat, table)
        self._playing = asyncio.create_task(table.run())
        self._help(self._watch_start(match, table))

    def _launch(self, seat: Seat, table: Table) -> None:
        """Start the player of a seat, if it is ours to start."""
        plan = self.plan
        player = plan.players[seat]
        if player.kind is PlayerKind.TCP:
            return
        self._processes[seat] = BotProcess(
            player,
            host={"0.0.0.0": "127.0.0.1", "::": "::1"}.get(plan.host, plan.host),
            port=self.ports[seat],
            game=str(plan.record.path(plan.setup, "game").absolute()),
            seed=plan.bot_seeds[seat],
            output_path=plan.record.output_path(plan.setup, seat),
            append=self._is_resumed or seat in self._processes,
            on_exit=partial(_notify_from_thread, asyncio.get_running_loop(), table.changes),
        )

    def _help(self, work: Coroutine[None, None, None]) -> None:
        """Do something beside the match."""
        task = asyncio.create_task(work)
        self._helpers.add(task)
        task.add_done_callback(self._on_helped)

    def _on_helped(self, task: asyncio.Task[None]) -> None:
        self._helpers.discard(task)
        error = None if task.cancelled() else task.exception()
        if isinstance(error, Exception) and self._table is not None:
            self._table.fail_by_mistake(error)

    async def _watch_start(self, match: Match, table: Table) -> None:
        """Notice bots that end before they connect; later, the connection tells."""
        await table.changes.wait_for(lambda: match.phase is not Phase.CONNECTING or bool(self._ended_unconnected()))
        for seat in self._ended_unconnected() if match.phase is Phase.CONNECTING else ():
            match.fail(EndedBeforeConnecting(seat))
            table.after_step()

    def _ended_unconnected(self) -> list[Seat]:
        """The seats whose players' processes have ended before they connected."""
        missing = [] if self._table is None else self._table.missing_seats()
        return [seat for seat in missing if seat in self._processes and self._processes[seat].exit_code is not None]

    # ---- players who fail

    def _on_loss(self, loss: Loss) -> None:
        seat = loss.cause.seat
        if seat in self._lost_again:
            self._lost_again[seat] = loss
        else:
            self._lost_again[seat] = None
            self._help(self._replace(loss))

    async def _replace(self, loss: Loss) -> None:
        """Bring a lost player back, or give him up."""
        assert self._match is not None
        assert self._table is not None
        seat, line = loss.cause.seat, loss.cause.line
        kind, _ = await self._kind_of(loss.cause)
        while not self.is_over:
            if seat in self._processes:
                await asyncio.to_thread(self._processes[seat].stop)
            comes_back = self._is_to_come_back(loss)
            remedy = Remedy.RESTARTED if comes_back else Remedy.FORFEITED
            if not self._note(Fault(seat, kind, loss.hand_number, line, remedy)):
                return
            if not comes_back:
                self._match.forfeit(seat)
                self._table.after_step()
                break
            problem = await self._bring_back(seat)
            if problem is None:
                break
            again, self._lost_again[seat] = self._lost_again[seat], None
            if again is None:
                kind, line = problem, b""
            else:
                loss, line = again, again.cause.line
                kind, _ = await self._kind_of(loss.cause)
        del self._lost_again[seat]

    def _is_to_come_back(self, loss: Loss) -> bool:
        """Whether a player gets another chance."""
        seat = loss.cause.seat
        answers = self.tally.times[seat].count + loss.answers
        is_fruitless = answers == self._answers_before[seat]
        self._failures_in_a_row[seat] = self._failures_in_a_row[seat] + 1 if is_fruitless else 1
        self._answers_before[seat] = answers
        return not loss.is_final and self._failures_in_a_row[seat] <= _MOST_RESTARTS_IN_A_ROW

    def _note(self, fault: Fault) -> bool:
        """Tell the observers of a fault; where that fails the match is over."""
        assert self._match is not None
        assert self._table is not None
        try:
            self._observers.fault(fault)
        except OSError as error:
            self._match.fail(NotWritten.of(error))
            self._table.after_step()
            return False
        return True

    async def _bring_back(self, seat: Seat) -> FaultKind | None:
        """Start a player again and wait until he has named his version; what has befallen him if he does not."""
        assert self._match is not None
        assert self._table is not None
        start_us = self.plan.setup.limits.start_us
        self._opened_s = time.monotonic()
        try:
            self.ports[seat] = self._table.reopen(seat)
            self._launch(seat, self._table)
        except LaunchError:
            self._table.close_seat(seat)
            return FaultKind.CRASH
        match, table = self._match, self._table
        is_settled = await table.changes.wait_for(
            lambda: (
                self._lost_again[seat] is not None
                or not match.is_awaited(seat)
                or self.is_over
                or seat in self._ended_unconnected()
            ),
            None if start_us is None else start_us / 1e6,
        )
        problem = None
        if not is_settled:
            problem = FaultKind.TIMEOUT
            # A player that has connected and says nothing is lost again; one that has not connected is still awaited.
            match.lose(VersionLate(seat, start_us or 0))
            table.after_step()
        elif seat in self._ended_unconnected() and match.is_awaited(seat) and not self.is_over:
            problem = FaultKind.CRASH
        if problem is not None:
            self._table.close_seat(seat)
        return FaultKind.CRASH if self._lost_again[seat] is not None else problem

    async def _kind_of(self, cause: PlayerCause) -> tuple[FaultKind, int | None]:
        """What befell a player, and the exit code of his process if that was its end."""
        kind = cause.kind
        process = self._processes.get(cause.seat)
        if process is None or kind in (FaultKind.TIMEOUT, FaultKind.FLOOD):
            return kind, None
        if self._table is not None:
            # The connection may be gone a moment before the process is.
            await self._table.changes.wait_for(lambda: process.exit_code is not None, _DEATH_NOTICE_S)
        code = process.exit_code
        return (FaultKind.CRASH if code and kind is FaultKind.DISCONNECT else kind), code

    async def _explain(self, cause: Cause) -> None:
        """Say why the match failed, in a sentence or two for people, and count it."""
        if self.failure is not None:
            return
        # The hand played when it happened: the wait below must not change the sentence.
        hand = self.plan.setup.first_hand + self.tally.hands
        self.failure = text = sentence_of(cause, self.plan.setup.names, hand)
        if isinstance(cause, MatchCause):
            return
        seat = self.failed_seat = cause.seat
        is_before_start = self.started_s is None
        kind, code = await self._kind_of(cause)
        if code is not None:
            self.exit_codes[seat] = code
            text += f" Its process ended with {_exit_in_words(code)}."
        process = self._processes.get(seat)
        lines = process.last_lines() if process is not None else []
        if lines:
            text += " The last it wrote:\n" + "\n".join(f"    {line}" for line in lines)
        elif process is not None:
            text += " It wrote nothing."
        self.failure = text
        hand_number = -1 if is_before_start else hand
        with contextlib.suppress(OSError):
            self._observers.fault(Fault(seat, kind, hand_number, cause.line, Remedy.MATCH_ENDED))


def _notify_from_thread(loop: asyncio.AbstractEventLoop, changes: Changes) -> None:
    """Tell of a process that has ended; nobody needs to know once the loop is closed."""
    with contextlib.suppress(RuntimeError):
        loop.call_soon_threadsafe(changes.notify)


class _Start(MatchObserver):
    """Notes when the match begins."""

    def __init__(self, run: MatchRun) -> None:
        self._run = run

    def match_started(self, at_us: int) -> None:
        """All players are there."""
        self._run.started_s = time.monotonic()


def _exit_in_words(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"signal {-code} ({signal.Signals(-code).name})"
    except ValueError:
        return f"signal {-code}"
