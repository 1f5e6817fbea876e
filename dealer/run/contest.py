"""A contest: some players, one game, the same cards in every seating, until all hands are played or a rule stops it.

Where a player could remember the cards of a key, every seating has its own (`ContestPlan.has_own_cards`).

The matches of a contest (one per seating and slice of the hands) run side by side, as many as there are workers. With
a stop rule that looks at the scores, all matches play the same number of hands and hold; the rule then sees the scores
in an order that does not depend on which match was faster. So the same matches stop at the same hand on any machine,
however many of them run at a time, and after any interruption.

A contest whose folder holds an interrupted run goes on from there.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from dealer.errors import DealerLostError, LaunchError, PlayerError, RecoveryError, RemoteError, TrainingError
from dealer.match import MatchSetup
from dealer.match.causes import CannotPlay, Failure, InternalError
from dealer.match.events import ActionPlayed, Event, Watcher
from dealer.run.affinity import DealerCore
from dealer.run.choices import Score
from dealer.run.contest_plan import ContestPlan, MatchPlan
from dealer.run.dealer_process import LONG_WAIT_S
from dealer.run.dealers import DealerProcesses, DealtRun
from dealer.run.ending import INTERRUPTED, Ending, Outcome, Wait, stop_reason
from dealer.run.folder import launching
from dealer.run.learning_contest import Training
from dealer.run.match_run import LocalRun, TcpRun
from dealer.run.recovery import recover_match
from dealer.run.results import TrainingReport
from dealer.run.running_match import RunningMatch
from dealer.run.scores import DealScores
from dealer.run.sliced_run import SlicedRun, SliceProcesses
from dealer.run.tally import Tally
from logs.estimation import Monitor, Rate, Scoreboard

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from dealer.run.corrected import CorrectedValues

HANDS_BETWEEN_LOOKS = 100
"""A stop rule looks at the scores whenever every match has played this many more hands."""


class MatchEvent(NamedTuple):
    """Something that happened in one of the matches of a run. A tuple, because one is made for every action.

    Attributes:
        match: the name of the match, which its files have, too.
        players: the names of the players, by seat.
    """

    game: str
    match: str
    players: tuple[str, ...]
    event: Event


Watch: TypeAlias = Callable[[MatchEvent], None]


class MatchWatcher(Watcher):
    """Hands on the events of one match."""

    wants = Watcher.wants | {ActionPlayed}

    def __init__(self, watch: Watch, game: str, setup: MatchSetup) -> None:
        """Watch a match.

        Args:
            watch: called with its events.
        """
        self._watch = watch
        self._about = (game, setup.name, setup.names)

    def notice(self, event: Event) -> None:
        """Hand an event on."""
        self._watch(MatchEvent(*self._about, event))


class _MatchFailed(Exception):
    """A match has failed, so the contest ends."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure)
        self.failure = failure


class Contest:
    """One contest being run.

    Attributes:
        match_plans: its matches. scores: their values.
        tallies: what is counted of its matches; runs: the matches while they are played; both empty before `prepare`.
        monitor: applies the stop rule, if it has to look at the scores.
        ending: how it ended; None while it runs.
        started_s: on the monotonic clock.
        trained: what they have learnt, once all deals were played.
    """

    def __init__(
        self,
        plan: ContestPlan,
        workers: asyncio.Semaphore,
        watch: Watch | None = None,
        *,
        watches_newest: bool = False,
        dealers: DealerProcesses | None = None,
        core: DealerCore | None = None,
        processes: SliceProcesses | None = None,
    ) -> None:
        """Prepare a contest.

        Args:
            workers: admits as many matches as may run at a time.
            watch: called with the events of all matches; an error would end the match.
            watches_newest: whether `watch` needs only the newest events of hands and actions.
            dealers: processes that play the matches; without them this process does.
            core: of this process, to be shared with quick bots, if it plays the matches.
            processes: play the matches of bots in process; without them this process does.
        """
        self.plan = plan
        self.match_plans = plan.match_plans
        self.tallies: Sequence[Tally] = ()
        self.scores = self._judged = DealScores(plan.game, self.match_plans, [array("d") for _ in self.match_plans])
        self.runs: list[RunningMatch] = []
        self.ending: Ending | None = None
        self.started_s = time.monotonic()
        self.seconds = 0.0
        self._training = Training(plan)
        self.trained: tuple[TrainingReport, ...] = ()
        self.monitor = Monitor(plan.run.stop, plan.bounds)
        self._corrected: list[CorrectedValues] = []
        self._live = Scoreboard(partial(plan.new_mean, plan.run.score), plan.names)
        self._workers = workers
        self._watches_newest = watches_newest
        self._dealers = dealers
        self._core = core
        self._watch = watch
        self._processes = processes
        self._fitted: tuple[int, NDArray[np.float64] | None] | None = None
        self._looked_at = 0
        self._is_held = False

    def __getstate__(self) -> dict[str, object]:
        """Counts and ending, of which another process may make the result."""
        ending = self.ending and replace(self.ending, error=None)
        kept = self.__dict__ | {"_judged": self.judged, "ending": ending, "runs": [], "_corrected": []}
        # What plays it.
        return kept | dict.fromkeys(("_training", "_workers", "_dealers", "_processes", "_core", "_watch"))

    @property
    def judged(self) -> DealScores:
        """The scores that the stop rule looks at."""
        for values in self._corrected:
            values.correct()
        return self._judged

    @property
    def live_rate(self) -> Rate | None:
        """The first player's winnings so far, as the stop rule looks at them; None before the first complete deal."""
        first = self.plan.names[0]
        for scores in self.judged.take_new():
            self._live.add([(first, scores[0])])
        return self._live.rate(first)

    def deals_without_luck(self) -> NDArray[np.float64] | None:
        """The corrected scores for the result, of as many hands as have been played; see `fitted_deals`."""
        hands = self.scores.hands_played
        if self._fitted is None or self._fitted[0] != hands:
            self._fitted = hands, None
            if self.plan.corrects_unasked(hands):
                # Here, as numpy and the kernels take a third of a second to load.
                from dealer.run.corrected import fitted_deals

                self._fitted = hands, fitted_deals(self.plan, self.scores)
        return self._fitted[1]

    def leave_luck(self) -> None:
        """Make the result, of as many hands as have been played, without corrected scores."""
        self._fitted = self.scores.hands_played, None

    @property
    def hands_to_play(self) -> int:
        """The hands of all matches together."""
        return sum(match_plan.hands for match_plan in self.match_plans)

    @property
    def hands_played(self) -> int:
        """The finished hands of all matches."""
        return self.scores.hands_played

    @property
    def hands_before(self) -> int:
        """The hands found on disk, played by an earlier run."""
        return sum(tally.hands_before for tally in self.tallies)

    @property
    def begun_s(self) -> float | None:
        """When its first hand began, on the monotonic clock; None before."""
        return min((tally.started_s for tally in self.tallies if tally.started_s is not None), default=None)

    @property
    def waits(self) -> list[Wait]:
        """For whom its matches have been waiting long enough to say so."""
        waits = [] if self.ending is not None else [wait for run in self.runs for wait in run.waits()]
        return [wait for wait in waits if wait.waited_s >= LONG_WAIT_S]

    async def play(self) -> Ending:
        """Run the contest to its end.

        Raises:
            LaunchError: a bot or a socket cannot be started, or the folder cannot be written.
            RecoveryError: the folder holds the files of another run.
        """
        self.started_s = time.monotonic()
        try:
            self.prepare()
            self.ending = await self._play()
        except asyncio.CancelledError:
            longest = max(self.waits, default=None)
            while_waiting = f"it was interrupted while {longest}."
            self.ending = INTERRUPTED if longest is None else Ending(Outcome.INTERRUPTED, while_waiting)
        except DealerLostError as error:
            self.ending = Ending.failed(CannotPlay(str(error)), is_dealer_lost=True)
        finally:
            self.seconds = time.monotonic() - self.started_s
            await self._close_all()
        if self.ending.outcome.is_complete:
            self._learn()
        return self.ending

    def _learn(self) -> None:
        """Put together what was learnt; where something is missing, the contest is not over."""
        try:
            for match_plan, tally in zip(self.match_plans, self.tallies, strict=True):
                self._training.require_whole(match_plan, tally.absent)
            self.trained = self._training.end(self.match_plans)
        except TrainingError as error:
            self.ending = Ending.failed(CannotPlay(str(error)))

    def hold(self) -> bool:
        """Have it interrupted when the hands that are being played are over; whether there are any."""
        if not self._is_held:
            # All are to hold, whatever the first returns.
            held = [run.hold() for run in self.runs]
            self._is_held = any(held)
        return self._is_held

    async def play_out(self) -> None:
        """Run the contest to its end, in its folder, which is made; whatever goes wrong is its ending."""
        folder = self.plan.record.folder
        try:
            with launching(f"make the folder {folder}"):
                folder.mkdir(parents=True, exist_ok=True)
            await self.play()
        except (RecoveryError, PlayerError, RemoteError, TrainingError) as error:
            self.ending = Ending.failed(CannotPlay(str(error)), error)
        except LaunchError as error:
            is_unplayed = self.scores.hands_played == self.hands_before
            self.ending = Ending.failed(CannotPlay(str(error)), error if is_unplayed else None)
        except Exception as error:
            # A mistake in our own code ends this contest; the others know nothing of it.
            self.ending = Ending.failed(InternalError.from_error(error))

    def prepare(self) -> None:
        """Make the runs, and pick up what an earlier run has left; `play` begins with it.

        Raises:
            LaunchError: the folder cannot be read.
            RecoveryError: the folder holds the files of another run.
            TrainingError: what players have learnt, or start from, cannot be read.
        """
        self._training.begin()
        self._count(list(map(self._recovered, self.match_plans)))
        for index, (match_plan, tally) in enumerate(zip(self.match_plans, self.tallies, strict=True)):
            watchers: list[Watcher] = [*self._corrected[index : index + 1]]
            if self._watch is not None:
                setup = self.plan.setup_of(match_plan)
                watchers.insert(0, MatchWatcher(self._watch, self.plan.record.game_name, setup))
            self.runs.append(self._new_run(match_plan, watchers, tally))

    def _new_run(self, match_plan: MatchPlan, watchers: Sequence[Watcher], tally: Tally) -> RunningMatch:
        learner_files = self._training.learner_files(match_plan)
        if self._processes is not None:
            return SlicedRun(self._processes, self.plan, match_plan, watchers, tally, learner_files)
        if self.plan.run.in_process:
            return LocalRun(self.plan, match_plan, watchers, tally, learner_files)
        if self._dealers is not None:
            return DealtRun(
                self._dealers,
                self.plan,
                match_plan,
                watchers,
                tally,
                learner_files,
                # Corrected scores need every hand.
                sends_newest=self._watches_newest and not self._corrected,
            )
        return TcpRun(self.plan, match_plan, watchers, tally, learner_files, self._core)

    def _recovered(self, match_plan: MatchPlan) -> Tally:
        plan = self.plan
        journals = {seat: files.journal for seat, files in self._training.learner_files(match_plan).items()}
        with launching(f"resume {plan.record.folder}"):
            return recover_match(plan.setup_of(match_plan), plan.record, journals)

    def _count(self, tallies: Sequence[Tally]) -> None:
        """Let these be the tallies of the matches; corrected values of their hands are made from the logs."""
        self.tallies = tallies
        self.scores = self._judged = self._scores_of(tallies)
        if self.plan.run.score is not Score.CORRECTED:
            return
        # Loads compiled code.
        from dealer.run.corrected import corrected_values

        self._corrected = corrected_values(self.plan, self.scores)
        self._judged = self._scores_of(self._corrected)

    def _scores_of(self, counted: Sequence[Tally] | Sequence[CorrectedValues]) -> DealScores:
        return DealScores(self.plan.game, self.match_plans, [of_match.values for of_match in counted])

    @property
    def _is_over(self) -> bool:
        return all(tally.is_closed for tally in self.tallies)

    async def _play(self) -> Ending:
        try:
            return await self._play_all()
        except _MatchFailed as failed:
            return Ending(Outcome.FAILED, failure=failed.failure)

    async def _play_all(self) -> Ending:
        for until in self._marks():
            await self._advance(until)
            if self._is_held and not self._is_over:
                raise asyncio.CancelledError
            if self.plan.looks and self._is_decided(until):
                reason = stop_reason(self.monitor.rule, self.monitor.verdict, self.plan.names[0], self.plan.opponent)
                return await self._finish(Outcome.STOPPED, reason)
        return await self._finish(Outcome.FINISHED, "all deals were played.")

    def _marks(self) -> Iterator[int]:
        longest = max(match_plan.hands for match_plan in self.match_plans)
        if self.plan.looks:
            yield from range(HANDS_BETWEEN_LOOKS, longest, HANDS_BETWEEN_LOOKS)
        yield longest

    def _is_decided(self, until: int) -> bool:
        """Show the scores up to a mark to the monitor; whether to stop there."""
        for scores in self.judged.in_order(self._looked_at, until):
            self.monitor.add(scores[0])
        self._looked_at = until
        return self.monitor.is_decided

    async def _advance(self, until: int) -> None:
        behind = [
            index
            for index, match_plan in enumerate(self.match_plans)
            if not self.tallies[index].is_closed and self.scores.hands(index) < min(until, match_plan.hands)
        ]
        tasks = [asyncio.create_task(self._advance_match(index, until)) for index in behind]
        try:
            await asyncio.gather(*tasks)
        finally:
            # What fails in one match ends the others.
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _advance_match(self, index: int, until: int) -> None:
        run, match_plan = self.runs[index], self.match_plans[index]
        async with self._workers:
            if not self._is_held:
                await run.play_until(min(until, match_plan.hands))
            if run.failure is not None:
                raise _MatchFailed(run.failure)
            if self.scores.hands(index) >= match_plan.hands:
                run.tally.is_closed = True
                await run.close()

    async def _finish(self, outcome: Outcome, reason: str) -> Ending:
        """Write the score under every match that has none yet."""
        for run in self.runs:
            if not run.tally.is_closed:
                await run.finish()
                if run.failure is not None:
                    raise _MatchFailed(run.failure)
        return Ending(outcome, reason)

    async def _close_all(self) -> None:
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.gather(*(run.close() for run in self.runs))
