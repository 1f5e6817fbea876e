"""Match with its files, its counts and its players.

    run = TcpRun(plan, match_plan)
    await run.play_until(match_plan.hands)
    await run.close()

`TcpRun` plays over TCP, with bots as processes. `LocalRun` plays inside this process, with the same files and counts.
`RunningMatch` is the interface to contests, which matches of dealer processes have as well (`dealer.run.dealers`).
Errors that prevent the start raise `LaunchError`. Later ones end the match and are its `failure`.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import tempfile
import time
from abc import ABC, abstractmethod
from collections.abc import Coroutine, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import NoReturn

from bots.sdk.program import MAX_OUTPUT_BYTES, GameFile
from bots.sdk.registry import is_builtin
from dealer.errors import Cause, LaunchError
from dealer.match import Match
from dealer.match.causes import Failure, NotStarted, NotWritten, PlayerCause, StartProblem
from dealer.match.events import Audience, Event, FaultSeen, Watcher
from dealer.match.faults import Fault, FaultKind, Remedy
from dealer.match.journal import Journal
from dealer.match.setup import MAX_COMMENT_BYTES_PER_MATCH, MAX_COMMENTS_PER_HAND, LostPlayer, Phase
from dealer.run.affinity import DealerCore, SharedCore
from dealer.run.bot_match import BotMatch
from dealer.run.contest_plan import ContestPlan, MatchPlan
from dealer.run.ending import AwaitedPlayer, Wait
from dealer.run.folder import launching
from dealer.run.match_files import MatchFiles, exchanges_path
from dealer.run.tally import Tally
from dealer.table.connections import Connections
from dealer.table.launcher import BotProcess, sdk_cure, stop_all
from dealer.table.links import OpenSeat
from dealer.table.listener import REACHABLE
from dealer.table.loop import notify_from_thread
from dealer.table.players import LearnerFiles, Player, PlayerKind
from engine import Seat
from engine.text import count_of

_log = logging.getLogger(__name__)


class RunningMatch(ABC):
    """Match played in steps, between which a contest examines all its matches.

    Attributes:
        tally: counts of the match, including those of an earlier run.
        failure: reason why the match ended early, or None.
    """

    tally: Tally
    failure: Failure | None

    @property
    def start_time_left_s(self) -> float | None:
        """Seconds left for players to connect; None without a limit."""
        return None

    def waiting_for(self) -> list[AwaitedPlayer]:
        """Return the players that are not connected."""
        return []

    def waits(self) -> list[Wait]:
        """Return the waits for players without which the match cannot continue, however short."""
        return []

    @abstractmethod
    async def play_until(self, hands: int) -> None:
        """Play until this many hands of the match are finished, or until it fails.

        Raises:
            LaunchError: a bot or socket cannot be started, or the folder cannot be written.
        """

    def hold(self) -> bool:
        """Stop after the current hand; return whether one is in progress."""
        return False

    @abstractmethod
    async def finish(self) -> None:
        """End the match here, with its score.

        Raises:
            LaunchError: a file cannot be written.
        """

    @abstractmethod
    async def close(self) -> None:
        """Close the files and end the bots. An unfinished match can be resumed later."""


class MatchRun(RunningMatch):
    """Match of a contest, with its files and counts.

    Attributes:
        players: players by seat.
        tally: counts of the match, including those of an earlier run.
        failure: reason why the match ended early, or None.
    """

    def __init__(
        self,
        plan: ContestPlan,
        match_plan: MatchPlan,
        watchers: Sequence[Watcher] = (),
        tally: Tally | None = None,
        learner_files: Mapping[Seat, LearnerFiles] = MappingProxyType({}),
    ) -> None:
        """Prepare a run.

        Args:
            plan: plan of the contest.
            match_plan: match of the contest.
            watchers: further watchers, notified after the files and the tally.
            tally: counts of the hands that an interrupted run played.
            learner_files: files of players that learn.
        """
        self.plan = plan
        self.match_plan = match_plan
        self.setup = plan.setup_of(match_plan)
        self.players = tuple([plan.players[player] for player in match_plan.players])
        self.learner_files = learner_files
        self.tally = Tally(plan.game.num_players) if tally is None else tally
        self.failure: Failure | None = None
        self._is_resumed = self.tally.is_begun
        self._progress = self.tally.progress
        if self._is_resumed:
            _log.info("match %s: resumed after %d hands", match_plan.name, self.tally.hands)
        self._files: MatchFiles | None = None
        self._watchers: tuple[Watcher, ...] = (self.tally, Journal(self.setup), *watchers)

    def _bot_seed(self, seat: int) -> int:
        """Return the seed of a built-in bot's own random numbers."""
        return self.plan.bot_seed(self.match_plan, self.match_plan.players[seat])

    async def play_until(self, hands: int) -> None:
        if self._files is None:
            self._open_files()
        await self._explain(await self._play_until(hands))

    async def finish(self) -> None:
        if self._files is not None:
            await self._explain(self._finish())
            return
        # A resumed match that only lacks its score. No player has to be started.
        try:
            self._open_files().close_with_score(self.tally.chips)
        except OSError as error:
            raise LaunchError(f"write {error.filename}", error.strerror) from None

    async def close(self) -> None:
        try:
            await self._close()
        finally:
            files = self._files
            self._files = None
            if files is not None:
                files.close()
                self.tally.warnings += files.left_out()

    @abstractmethod
    async def _play_until(self, hands: int) -> Cause | None:
        """Continue; return why the match ended early, if it did."""

    @abstractmethod
    def _finish(self) -> Cause | None:
        """End the match here; return why it ended early, if it did."""

    @abstractmethod
    async def _close(self) -> None:
        """Close the players' connections and end their processes."""

    def _warn_of_comments(self, dropped: int) -> None:
        if dropped:
            limits = f"a hand keeps {MAX_COMMENTS_PER_HAND}, a match {MAX_COMMENT_BYTES_PER_MATCH:,} bytes"
            self.tally.warnings.append(f"{self.setup.name}: {count_of(dropped, 'comment')} left out: {limits}.")

    async def _details_of(self, cause: PlayerCause) -> tuple[FaultKind, int | None, tuple[str, ...] | None]:
        """Return the fault, the exit code of the player's process, and the last lines of its output.

        The exit code is None unless the process has ended by itself, the lines are None without a process of ours.
        """
        return cause.kind, None, None

    def _open_files(self) -> MatchFiles:
        files = self._files = MatchFiles(self.setup, self.plan.record, is_resumed=self._is_resumed)
        # Files first, so that no watcher sees what a resumed run could lose.
        self._watchers = (*files.watchers, *self._watchers)
        return files

    async def _explain(self, cause: Cause | None) -> None:
        """Record why the match ended early, and count it."""
        if cause is None or self.failure is not None:
            return
        setup = self.setup
        # Taken before `_details_of` waits for a process, so that it is the hand of the failure.
        hand = setup.first_hand + self.tally.hands
        is_before_start = self.tally.started_s is None
        self.failure = Failure(cause, setup.names, hand)
        if not isinstance(cause, PlayerCause):
            return
        kind, exit_code, last_lines = await self._details_of(cause)
        if exit_code is not None:
            self.tally.exit_codes[cause.seat] = exit_code
        cure = sdk_cure(self.players[cause.seat], last_lines or ())
        self.failure = Failure(cause, setup.names, hand, exit_code, last_lines, cure)
        seats = [cause.seat]
        if isinstance(cause, NotStarted):
            seats += cause.others
        fault_hand = -1 if is_before_start else hand
        for seat in seats:
            self._notify(FaultSeen(Fault(seat, kind, fault_hand, cause.line, Remedy.MATCH_ENDED)))

    def _notify(self, event: Event) -> NotWritten | None:
        """Notify the watchers; return why that failed, if it did."""
        try:
            Audience(self._watchers).publish(event)
        except OSError as error:
            return NotWritten.from_error(error)
        return None


_TURN_S = 0.05
"""Time between turns of other tasks of the loop, such as the live line and interrupts."""


async def _until_cancelled() -> NoReturn:
    """Wait for the run to be interrupted.

    Ctrl-C in the code of a bot stops that code at once. The interrupt of the run follows on the event loop.
    """
    while True:
        await asyncio.Event().wait()


class LocalRun(MatchRun):
    """Match inside this process."""

    _bots: BotMatch | None = None
    """None before the first hand."""

    async def _play_until(self, hands: int) -> Cause | None:
        if self._bots is None:
            self._bots = BotMatch(self.plan, self.match_plan, self._watchers, self._progress, self.learner_files)
        match = self._bots.match
        if match is None:
            await _until_cancelled()
        at_a_time = 1
        while match.hands_played < hands and match.failure is None:
            began_s = time.monotonic()
            self._bots.play(min(hands, match.hands_played + at_a_time))
            if match.phase is Phase.PLAYING:
                await _until_cancelled()
            took_s = time.monotonic() - began_s
            # Adapt the number of hands to the time between turns.
            if took_s < _TURN_S / 2:
                at_a_time *= 2
            else:
                at_a_time = max(1, int(at_a_time * _TURN_S / took_s))
            await asyncio.sleep(0)
        if match.failure is None and match.hands_played >= self.setup.hands:
            self._finish()
        return match.failure

    def _finish(self) -> Cause | None:
        if self._bots is None or self._bots.match is None:
            return None
        self._bots.finish()
        return self._bots.match.failure

    async def _close(self) -> None:
        if self._bots is not None:
            self._bots.close()
            if self._bots.match is not None:
                self._warn_of_comments(self._bots.match.dropped_comments)


_DEATH_NOTICE_S = 0.5
"""Time for a process to exit after it has closed its connection."""
_LEAVE_S = 0.5
"""Time for bots to exit after the match."""
_LEARNERS_LEAVE_S = 10.0
"""The same for bots that learn, which may have to write their memory."""
_FIRST_EXAMINATION_S = 0.25
_EXAMINATION_S = 1.0
"""Interval at which bots are examined for sharing the dealer's core."""
_MAX_COMPILING_S = 600.0
"""Time for a built-in bot to connect after it has reported that it compiles its kernels."""
_MAX_FAILURES_IN_A_ROW = 3
"""Failures in a row, without an answer in between, up to which a player is restarted."""


class TcpRun(MatchRun):
    """Match over TCP.

    Under a policy other than `FaultPolicy.END`, a lost player is restarted, or awaited again if it was started outside
    the dealer. A player that fails too often in a row checks or folds to the end of the match.

    Attributes:
        core: core of the dealer, shared with quick bots, or None.
        ports: ports by seat; empty before the first hand.
    """

    def __init__(
        self,
        plan: ContestPlan,
        match_plan: MatchPlan,
        watchers: Sequence[Watcher] = (),
        tally: Tally | None = None,
        learner_files: Mapping[Seat, LearnerFiles] = MappingProxyType({}),
        core: DealerCore | None = None,
    ) -> None:
        """Prepare a run.

        Args:
            core: core of the dealer, to be shared with quick bots, or None.
        """
        super().__init__(plan, match_plan, watchers, tally, learner_files)
        self.core = core
        self.ports: list[int] = []
        self._opened_s = time.monotonic()
        self._processes: dict[Seat, BotProcess] = {}
        self._failures_in_a_row = [0] * len(self.players)
        self._answers_before = [0] * len(self.players)
        self._lost_again: dict[Seat, LostPlayer | None] = {}
        """Players being replaced, each with a further loss during the replacement, if any."""
        self._connections: Connections | None = None
        self._playing: asyncio.Task[None] | None = None
        self._helpers: set[asyncio.Task[None]] = set()
        self._open_folder: tempfile.TemporaryDirectory[str] | None = None
        self._shared_core: SharedCore | None = None

    @property
    def pids(self) -> dict[Seat, int]:
        """Process numbers of the bots that were started, by seat."""
        return {seat: process.pid for seat, process in self._processes.items()}

    @property
    def is_over(self) -> bool:
        """The match has ended, with its score or early."""
        return self._connections is not None and self._connections.is_over

    def waiting_for(self) -> list[AwaitedPlayer]:
        connections = self._connections
        if connections is None or connections.is_over:
            return []
        return [
            AwaitedPlayer(
                self.setup.names[seat],
                self.plan.run.host,
                self.ports[seat],
                self.players[seat].kind is PlayerKind.TCP,
            )
            for seat in connections.match.missing_seats()
        ]

    def waits(self) -> list[Wait]:
        question = None if self._connections is None else self._connections.match.question
        if question is None:
            waited_s = time.monotonic() - self._opened_s
            return [Wait(waited_s, player.name, None) for player in self.waiting_for()]
        waited_s = (time.monotonic_ns() - question.asked_ns) / 1e9
        return [Wait(waited_s, self.setup.names[question.seat], question.hand_number)]

    @property
    def start_time_left_s(self) -> float | None:
        start_s = self.setup.limits.start_s
        if start_s is None:
            return None
        return max(0.0, start_s - (time.monotonic() - self._opened_s))

    async def _play_until(self, hands: int) -> Cause | None:
        connections = self._connections
        if connections is None:
            connections = self._open(hands)
        else:
            connections.match.play_until(hands)
            connections.after_step()
        await connections.rest()
        return connections.match.failure

    def hold(self) -> bool:
        match = None if self._connections is None else self._connections.match
        if match is None or match.phase not in (Phase.CONNECTING, Phase.GREETING, Phase.PLAYING):
            return False
        # The current hand is the next one to be finished.
        match.play_until(match.hands_played + 1)
        return match.phase is Phase.PLAYING

    def _finish(self) -> Cause | None:
        if self._connections is None:
            return None
        self._connections.match.finish()
        self._connections.after_step()
        return self._connections.match.failure

    async def _close(self) -> None:
        for helper in self._helpers:
            # Otherwise they would restart the players that leave now.
            helper.cancel()
        if self._shared_core is not None:
            self._shared_core.release()
        if self._connections is not None:
            if self._playing is not None:
                if self.is_over:
                    # Let it send the last lines.
                    with contextlib.suppress(asyncio.CancelledError):
                        await self._playing
                else:
                    self._playing.cancel()
                    await asyncio.wait([self._playing])
            self._connections.close()
            match = self._connections.match
            self.tally.questions = match.questions
            self.tally.overhead_ns = match.overhead_ns
            self.tally.pauses = self._connections.pauses
            self.tally.paused_ns = self._connections.paused_ns
            self._warn_of_comments(match.dropped_comments)
        # In a thread, because other matches of this loop continue meanwhile.
        leave_s = _LEARNERS_LEAVE_S if self.learner_files else _LEAVE_S
        await asyncio.shield(asyncio.to_thread(stop_all, list(self._processes.values()), leave_s=leave_s))
        for process in self._processes.values():
            with contextlib.suppress(OSError):
                if process.output_path.stat().st_size > MAX_OUTPUT_BYTES:
                    problem = f"the bot wrote more than {MAX_OUTPUT_BYTES:,} bytes; the rest is left out"
                    self.tally.warnings.append(f"{process.output_path.name}: {problem}.")
        if self._open_folder is not None:
            self._open_folder.cleanup()

    # ---- opening

    def _open(self, hands: int) -> Connections:
        run = self.plan.run
        seated = {Seat(seat): player for seat, player in enumerate(self.players)}
        match = Match(self.setup, self._watchers, progress=self._progress)
        # Before any player can connect, as a match plays to its last hand by default.
        match.play_until(hands)
        connections = Connections(
            match,
            host=run.host,
            reads_versions=True,
            may_return=[seat for seat, player in seated.items() if player.kind is PlayerKind.TCP],
            only_from={seat: player.address for seat, player in seated.items() if player.address is not None},
            listeners={seat: OpenSeat() for seat, player in seated.items() if player.is_linked},
            keys={seat: player.key for seat, player in seated.items() if player.key is not None},
            coalesce_s=run.coalesce_s,
        )
        connections.on_loss = partial(self._on_loss, connections)
        connections.on_stray = connections.on_open = self._notify
        connections.may_be_late = lambda seat: seat in self._lost_again or self._is_compiling(seat)
        self.ports = connections.listen(run.ports)
        self._connections = connections
        self._opened_s = time.monotonic()
        for seat in match.missing_seats():
            self._launch(seat, connections)
        self._playing = asyncio.create_task(connections.run())
        self._help(connections, self._watch_start(connections))
        # A player that was started elsewhere cannot be bound to a core.
        if self.core is not None and len(self._processes) == len(self.players):
            self._shared_core = SharedCore(self.core, self.tally.times)
            self._help(connections, self._share_core(connections, self._shared_core))
        return connections

    async def _share_core(self, connections: Connections, shared: SharedCore) -> None:
        while not connections.is_over:
            started_s = self.tally.started_s
            # Short matches should have quick bots bound early.
            has_just_begun = started_s is None or time.monotonic() < started_s + _EXAMINATION_S
            await asyncio.sleep(_FIRST_EXAMINATION_S if has_just_begun else _EXAMINATION_S)
            shared.examine(self.pids)

    def _launch(self, seat: Seat, connections: Connections) -> None:
        player = self.players[seat]
        if player.kind is PlayerKind.TCP:
            return
        host = self.plan.run.host
        record = self.plan.record
        with contextlib.nullcontext() if self.core is None else self.core.unbound():
            self._processes[seat] = BotProcess(
                player,
                host=REACHABLE.get(host, host),
                port=self.ports[seat],
                game=GameFile(self._game_file(player), record.game_name),
                seed=self._bot_seed(seat),
                output_path=record.output_path(self.setup, seat),
                append=self._is_resumed or seat in self._processes,
                learner_files=self.learner_files.get(seat),
                exchanges=exchanges_path(record.folder, self.setup.name, seat),
                response_s=(player.limits or self.setup.limits).response_us / 1e6,
                on_exit=partial(notify_from_thread, asyncio.get_running_loop(), connections.changes),
            )

    def _game_file(self, player: Player) -> Path:
        """Return the path of the game definition for a player.

        A player of another user cannot read the folder of the run. It gets a copy in a folder that all users can read.

        Raises:
            LaunchError: the copy cannot be written.
        """
        definition = self.plan.record.path(self.setup, "game")
        if not player.has_own_user:
            return definition
        with launching(f"write the game for {player.name}"):
            if self._open_folder is None:
                self._open_folder = tempfile.TemporaryDirectory(prefix="arena-game-", ignore_cleanup_errors=True)
                os.chmod(self._open_folder.name, 0o755)
            copy = Path(self._open_folder.name) / definition.name
            copy.write_bytes(definition.read_bytes())
            copy.chmod(0o644)
        return copy

    def _help(self, connections: Connections, work: Coroutine[None, None, None]) -> None:
        def on_done(task: asyncio.Task[None]) -> None:
            self._helpers.discard(task)
            error = None if task.cancelled() else task.exception()
            if isinstance(error, Exception):
                connections.fail_internally(error)

        task = asyncio.create_task(work)
        self._helpers.add(task)
        task.add_done_callback(on_done)

    async def _watch_start(self, connections: Connections) -> None:
        """Report bots that exit or disconnect before they have named their version. Later, the connection does."""
        match = connections.match

        def newly_ended() -> list[Seat]:
            return [seat for seat in self._ended_early(connections) if seat not in self._lost_again]

        while match.phase is Phase.CONNECTING:
            await connections.changes.wait_for(lambda: match.phase is not Phase.CONNECTING or bool(newly_ended()))
            if match.phase is Phase.CONNECTING:
                for seat in newly_ended():
                    match.miss(connections.start_cause(seat, StartProblem.ENDED))
            connections.after_step()

    def _ended_early(self, connections: Connections) -> list[Seat]:
        return [
            seat
            for seat in connections.match.missing_seats()
            if connections.has_left(seat) or self._exit_code(seat) is not None
        ]

    def _exit_code(self, seat: Seat) -> int | None:
        return self._processes[seat].exit_code if seat in self._processes else None

    def _is_compiling(self, seat: Seat) -> bool:
        """Return whether a built-in bot is compiling its kernels, and therefore late to connect."""
        from engine.kernels.disk import COMPILING

        process = self._processes.get(seat)
        return (
            process is not None
            and process.exit_code is None
            and is_builtin(self.players[seat].text)
            and time.monotonic() - self._opened_s < _MAX_COMPILING_S
            and process.has_written(COMPILING)
        )

    # ---- replacing players

    def _on_loss(self, connections: Connections, loss: LostPlayer) -> None:
        seat = loss.cause.seat
        if seat in self._lost_again:
            self._lost_again[seat] = loss
        else:
            self._lost_again[seat] = None
            self._help(connections, self._replace(connections, loss))

    async def _replace(self, connections: Connections, loss: LostPlayer) -> None:
        """Restart a lost player until it connects or forfeits; publish each of its faults."""
        seat = loss.cause.seat
        line = loss.cause.line
        kind, *_ = await self._details_of(loss.cause)
        while not connections.is_over:
            if seat in self._processes:
                # In a thread, because this waits for the processes of the bot to exit.
                await asyncio.to_thread(self._processes[seat].stop)
            if not self._may_restart(loss):
                remedy = Remedy.FORFEITED
            elif self.players[seat].kind is PlayerKind.TCP:
                remedy = Remedy.AWAITED
            else:
                remedy = Remedy.RESTARTED
            problem = self._notify(FaultSeen(Fault(seat, kind, loss.hand_number, line, remedy)))
            if problem is not None:
                connections.match.fail(problem)
                connections.after_step()
                return
            if remedy is Remedy.FORFEITED:
                connections.match.forfeit(seat)
                connections.after_step()
                break
            restart_fault = await self._restart(connections, seat)
            if restart_fault is None:
                break
            # A player that failed in play while it was being replaced has a cause of its own.
            newer = self._lost_again[seat]
            self._lost_again[seat] = None
            if newer is None:
                kind = restart_fault
                line = b""
            else:
                loss = newer
                line = newer.cause.line
                kind, *_ = await self._details_of(loss.cause)
        del self._lost_again[seat]

    def _may_restart(self, loss: LostPlayer) -> bool:
        """Count a failure; return whether the player may be restarted."""
        seat = loss.cause.seat
        # The tally has the finished hands, the loss the answers in the current one.
        answers = self.tally.times[seat].count + loss.answers
        # A player that has answered since its last failure starts a new count.
        if answers == self._answers_before[seat]:
            self._failures_in_a_row[seat] += 1
        else:
            self._failures_in_a_row[seat] = 1
        self._answers_before[seat] = answers
        return not loss.is_final and self._failures_in_a_row[seat] <= _MAX_FAILURES_IN_A_ROW

    async def _restart(self, connections: Connections, seat: Seat) -> FaultKind | None:
        """Restart a player and wait for its version line; return its fault if it sends none."""
        match = connections.match
        self._opened_s = time.monotonic()
        try:
            self.ports[seat] = connections.reopen(seat)
            self._launch(seat, connections)
        except LaunchError as error:
            _log.warning("%s: %s", connections.label(seat), error)
            connections.close_seat(seat)
            return FaultKind.CRASH

        def is_settled() -> bool:
            return (
                self._lost_again[seat] is not None
                or seat not in match.missing_seats()
                or connections.is_over
                or seat in self._ended_early(connections)
            )

        limit_s = self.setup.limits.start_s
        while not await connections.changes.wait_for(is_settled, limit_s) and self._is_compiling(seat):
            # Kernels take longer to compile than a player may take to connect; see `_MAX_COMPILING_S`.
            limit_s = max(1.0, limit_s or 0.0)
        problem = None
        if not is_settled():
            problem = FaultKind.TIMEOUT
        elif seat in self._ended_early(connections) and not connections.is_over:
            problem = FaultKind.CRASH if self._exit_code(seat) else FaultKind.DISCONNECT
        if problem is not None:
            connections.close_seat(seat)
        return FaultKind.CRASH if self._lost_again[seat] is not None else problem

    async def _details_of(self, cause: PlayerCause) -> tuple[FaultKind, int | None, tuple[str, ...] | None]:
        kind = cause.kind
        code = None
        process = self._processes.get(cause.seat)
        if process is None or self._connections is None:
            return kind, None, None
        # After these two, the process is still running.
        if kind not in (FaultKind.TIMEOUT, FaultKind.FLOOD):
            # A process that exits closes its connection a moment before.
            await self._connections.changes.wait_for(lambda: process.exit_code is not None, _DEATH_NOTICE_S)
            code = process.exit_code
        # The exit code tells a crash from a program that left.
        if code and kind is FaultKind.DISCONNECT:
            kind = FaultKind.CRASH
        elif code == 0 and kind is FaultKind.CRASH:
            kind = FaultKind.DISCONNECT
        return kind, code, tuple(process.last_lines())
