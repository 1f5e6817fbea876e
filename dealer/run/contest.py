"""Contest: the same deals in every seating, until all are played or a rule stops it.

The matches of a contest, one per seating and slice of the hands, run side by side, as many as there are workers. A
contest whose folder holds an interrupted run continues there.

A stop rule that looks at scores sees them whenever all matches have played the same number of hands, in a fixed order.
The contest therefore stops at the same hand on any machine, with any number of workers, and after any interruption.
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

from dealer.errors import (
    DealerLostError,
    LaunchError,
    PlayerError,
    RecoveryError,
    RemoteError,
    TrainingError,
    ValuationError,
)
from dealer.match import MatchSetup
from dealer.match.causes import CannotPlay, Failure, InternalError
from dealer.match.events import ActionPlayed, Event, Watcher
from dealer.run.affinity import DealerCore
from dealer.run.choices import Score
from dealer.run.contest_plan import ContestPlan, MatchPlan
from dealer.run.dealer_process import LONG_WAIT_S
from dealer.run.dealers import DealerProcesses, DealtRun
from dealer.run.ending import INTERRUPTED, Ending, Outcome, Wait, policy_doubt, stop_reason
from dealer.run.folder import launching
from dealer.run.learning_contest import Training
from dealer.run.match_run import LocalRun, RunningMatch, TcpRun
from dealer.run.recovery import recover_match
from dealer.run.results import TrainingReport
from dealer.run.scores import DealScores
from dealer.run.sliced_run import SlicedRun, SliceProcesses
from dealer.run.tally import Tally
from logs.estimation import Monitor, Rate, Scoreboard

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from dealer.run.corrected import CorrectedValues, Valuation

_HANDS_BETWEEN_LOOKS = 100
"""Hands of every match between two looks of a stop rule."""


# A tuple, because one is created for every action.
class MatchEvent(NamedTuple):
    """Event of a match of a run.

    Attributes:
        game: name of the game.
        match: name of the match and of its files.
        players: names of the players by seat.
        event: the event of the match.
    """

    game: str
    match: str
    players: tuple[str, ...]
    event: Event


Watch: TypeAlias = Callable[[MatchEvent], None]


class MatchWatcher(Watcher):
    """Pass the events of a match to a function."""

    wants = Watcher.wants | {ActionPlayed}

    def __init__(self, watch: Watch, game: str, setup: MatchSetup) -> None:
        self._watch = watch
        self._game = game
        self._match = setup.name
        self._players = setup.names

    def notice(self, event: Event) -> None:
        self._watch(MatchEvent(self._game, self._match, self._players, event))


class _MatchFailed(Exception):
    """A match has failed, which ends its contest."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure)
        self.failure = failure


class Contest:
    """Contest during and after play.

    Attributes:
        match_plans: plans of its matches.
        tallies: counts of its matches; empty before `prepare`.
        scores: scores of its deals.
        runs: its matches during play; empty before `prepare`.
        monitor: state of the stop rule.
        ending: ending of the contest; None during play.
        started_s: start of play, on the monotonic clock.
        seconds: duration of play.
        trained: reports on players that learn, after all deals were played.
        warnings: sentences about scores that the result lacks.
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
        values_hands: bool = False,
    ) -> None:
        """Prepare a contest.

        Args:
            workers: limits the matches that run at a time.
            watch: called with the events of all matches. An exception ends the contest.
            watches_newest: whether `watch` needs only the newest events of hands and actions.
            dealers: processes that play matches over TCP; None for this process.
            core: core of this process, to be shared with quick bots.
            processes: processes that play matches of in-process bots; None for this process.
            values_hands: whether hands are valued by default, in a process of the contest.
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
        self._valuation: Valuation | None = None
        self._values_hands = values_hands and plan.is_valued_by_default
        self._is_doubted = False
        self.warnings: list[str] = []
        self._live = Scoreboard(partial(plan.new_mean, plan.run.score), plan.names)
        self._workers = workers
        self._watches_newest = watches_newest
        self._dealers = dealers
        self._core = core
        self._watch = watch
        self._processes = processes
        self._fitted: tuple[int, NDArray[np.float64] | None] | None = None
        self._looked_at = 0
        self._held: bool | None = None
        """Result of `hold`; None before it is called."""

    def __getstate__(self) -> dict[str, object]:
        # A server computes results in another process, which needs counts and ending, and nothing used for play.
        ending = self.ending and replace(self.ending, error=None)
        kept = self.__dict__ | {"_judged": self.judged, "ending": ending, "runs": [], "_corrected": []}
        unused = ("_training", "_workers", "_dealers", "_processes", "_core", "_watch", "_valuation")
        return kept | dict.fromkeys(unused)

    @property
    def judged(self) -> DealScores:
        """Scores used by the stop rule."""
        for values in self._corrected:
            values.correct()
        return self._judged

    @property
    def live_rate(self) -> Rate | None:
        """Rate of the first player by the scores of the stop rule; None before the first complete deal."""
        first = self.plan.names[0]
        for scores in self.judged.take_new():
            self._live.add([(first, scores[0])])
        return self._live.rate(first)

    def deals_without_luck(self) -> NDArray[np.float64] | None:
        """Return corrected scores of the hands played so far, see `fitted_deals`."""
        hands = self.scores.hands_played
        if self._fitted is None or self._fitted[0] != hands:
            deals = None
            if self.plan.corrects_by_default(hands):
                # Imported here, because numpy and the kernels take a third of a second to load.
                from dealer.run.corrected import fitted_deals

                deals = fitted_deals(self.plan, self.scores)
            self._fitted = (hands, deals)
        return self._fitted[1]

    @property
    def aivat_scores(self) -> DealScores | None:
        """AIVAT scores of the hands played so far; None unless all of them have been valued."""
        valuation = self._valuation
        if valuation is None or self._is_doubted or valuation.scores.hands_played < self.scores.hands_played:
            return None
        return valuation.scores

    def leave_luck(self) -> None:
        """Omit corrected scores from the result of the hands played so far."""
        self._fitted = (self.scores.hands_played, None)

    @property
    def hands_to_play(self) -> int:
        """Number of planned hands of all matches."""
        return sum(match_plan.hands for match_plan in self.match_plans)

    @property
    def hands_played(self) -> int:
        """Number of finished hands of all matches."""
        return self.scores.hands_played

    @property
    def hands_before(self) -> int:
        """Number of hands played by an earlier run."""
        return sum(tally.hands_before for tally in self.tallies)

    @property
    def begun_s(self) -> float | None:
        """Start of the first match on the monotonic clock, or None."""
        starts_s = [tally.started_s for tally in self.tallies if tally.started_s is not None]
        return min(starts_s, default=None)

    @property
    def waits(self) -> list[Wait]:
        """Waits for players that are long enough to be shown."""
        if self.ending is not None:
            return []
        return [wait for run in self.runs for wait in run.waits() if wait.waited_s >= LONG_WAIT_S]

    async def play(self) -> Ending:
        """Run the contest to its end.

        Raises:
            LaunchError: a bot or socket cannot be started, or the folder cannot be written.
            RecoveryError: the folder holds the files of another run.
            TrainingError: a memory or journal cannot be read.
        """
        self.started_s = time.monotonic()
        try:
            self.prepare()
            if self._valuation is not None:
                self._valuation.start()
            self.ending = await self._play()
        except asyncio.CancelledError:
            # Waits compare by their first field, the time waited.
            longest = max(self.waits, default=None)
            if longest is None:
                self.ending = INTERRUPTED
            else:
                self.ending = Ending(Outcome.INTERRUPTED, f"it was interrupted while {longest}.")
        except DealerLostError as error:
            # A server resumes such a contest by itself.
            self.ending = Ending.failed(CannotPlay(str(error)), is_dealer_lost=True)
        except ValuationError as error:
            self.ending = Ending.failed(CannotPlay(str(error)))
        finally:
            self.seconds = time.monotonic() - self.started_s
            await self._close_all()
            # On an exception. Otherwise `_value_rest` closes it, after the remaining hands.
            if self._valuation is not None and self.ending is None:
                await self._valuation.close()
        if self._valuation is not None:
            await self._value_rest(self._valuation)
        if self.ending.outcome.is_complete:
            self._learn()
        return self.ending

    async def _value_rest(self, valuation: Valuation) -> None:
        """Value the remaining hands of a contest that was not interrupted."""
        is_required = self.plan.run.score is Score.AIVAT
        try:
            if self.ending is not None and self.ending.outcome is not Outcome.INTERRUPTED:
                await valuation.settle()
                self._doubt_values()
        except asyncio.CancelledError:
            if is_required:
                self.ending = INTERRUPTED
        except ValuationError as error:
            if is_required:
                self.ending = Ending.failed(CannotPlay(str(error)))
            else:
                self.warnings.append(_without_aivat(error))
        finally:
            await valuation.close()

    def _doubt_values(self) -> None:
        """Note known players with faults; without a demand for their values, leave these out."""
        for name in [player.name for player in self.plan.known]:
            player = self.plan.names.index(name)
            faults = 0
            for match_plan, tally in zip(self.match_plans, self.tallies, strict=True):
                faults += tally.faults[match_plan.players.index(player)].total()
            if faults:
                problem = policy_doubt(name, faults)
                if self.plan.run.score is Score.AIVAT:
                    self.warnings.append(f"The win rates by AIVAT may be biased: {problem}.")
                else:
                    self._is_doubted = True
                    self.warnings.append(f"The result has no win rates by AIVAT: {problem}.")

    def _learn(self) -> None:
        """Merge the learners' journals; fail the contest if one is incomplete."""
        try:
            for match_plan, tally in zip(self.match_plans, self.tallies, strict=True):
                self._training.require_whole(match_plan, tally.absent)
            self.trained = self._training.end(self.match_plans)
        except TrainingError as error:
            self.ending = Ending.failed(CannotPlay(str(error)))

    def hold(self) -> bool:
        """Interrupt after the current hands; return whether any is in progress."""
        if self._held is None:
            # A list, because `any` would stop calling `hold` at the first hand in progress.
            held = [run.hold() for run in self.runs]
            self._held = any(held)
        return self._held

    async def play_out(self) -> None:
        """Create the folder and run the contest to its end. Errors become its ending."""
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
            # An error of ours ends this contest, but not the other contests of a tournament.
            self.ending = Ending.failed(InternalError.from_error(error))

    def prepare(self) -> None:
        """Recover the files of an earlier run and create the runs of the matches. `play` begins with this.

        Raises:
            LaunchError: the folder cannot be read.
            RecoveryError: the folder holds the files of another run.
            TrainingError: a memory or journal cannot be read.
        """
        self._training.begin()
        self._count([self._recovered(match_plan) for match_plan in self.match_plans])
        for index, (match_plan, tally) in enumerate(zip(self.match_plans, self.tallies, strict=True)):
            watchers: list[Watcher] = []
            if self._watch is not None:
                setup = self.plan.setup_of(match_plan)
                watchers.append(MatchWatcher(self._watch, self.plan.record.game_name, setup))
            if self._corrected:
                watchers.append(self._corrected[index])
            if self._valuation is not None:
                watchers.append(self._valuation.matches[index])
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
                # Corrected and valued scores need every hand.
                sends_newest=self._watches_newest and not self._corrected and self._valuation is None,
            )
        return TcpRun(self.plan, match_plan, watchers, tally, learner_files, self._core)

    def _recovered(self, match_plan: MatchPlan) -> Tally:
        plan = self.plan
        journals = {seat: files.journal for seat, files in self._training.learner_files(match_plan).items()}
        with launching(f"resume {plan.record.folder}"):
            return recover_match(plan.setup_of(match_plan), plan.record, journals)

    def _count(self, tallies: Sequence[Tally]) -> None:
        """Set the tallies of the matches, and correct the values of their hands from the logs if necessary."""
        self.tallies = tallies
        self.scores = self._judged = self._scores_of(tallies)
        if self.plan.run.score is Score.AIVAT or self._values_hands:
            self._value_logged()
        if self.plan.run.score is not Score.CORRECTED:
            return
        # Imported here, because it loads compiled code.
        from dealer.run.corrected import corrected_values

        self._corrected = corrected_values(self.plan, self.scores)
        self._judged = self._scores_of(self._corrected)

    def _value_logged(self) -> None:
        """Begin the valuation with the logged hands."""
        # Imported here, because few contests need it.
        from dealer.run.corrected import Valuation

        try:
            self._valuation = Valuation(self.plan, self.scores)
        except ValuationError as error:
            if self.plan.run.score is Score.AIVAT:
                raise
            self.warnings.append(_without_aivat(error))
            return
        if self.plan.run.score is Score.AIVAT:
            self._judged = self._valuation.scores

    def _scores_of(self, matches: Sequence[Tally] | Sequence[CorrectedValues]) -> DealScores:
        return DealScores(self.plan.game, self.match_plans, [match.values for match in matches])

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
            # `hold` interrupts the contest after the current hands.
            if self._held is not None and not self._is_over:
                raise asyncio.CancelledError
            if self.plan.looks and self._valuation is not None:
                # The rule looks at all hands up to the mark, however fast they are valued.
                await self._valuation.settle()
            if self.plan.looks and self._is_decided(until):
                reason = stop_reason(self.monitor.rule, self.monitor.verdict, self.plan.names[0], self.plan.opponent)
                return await self._finish(Outcome.STOPPED, reason)
        return await self._finish(Outcome.FINISHED, "all deals were played.")

    def _marks(self) -> Iterator[int]:
        """Yield the numbers of hands at which all matches wait for each other."""
        longest = max(match_plan.hands for match_plan in self.match_plans)
        if self.plan.looks:
            yield from range(_HANDS_BETWEEN_LOOKS, longest, _HANDS_BETWEEN_LOOKS)
        yield longest

    def _is_decided(self, until: int) -> bool:
        """Add the scores up to a mark to the monitor; return whether to stop."""
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
            # An error in one match ends the other ones.
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _advance_match(self, index: int, until: int) -> None:
        run = self.runs[index]
        match_plan = self.match_plans[index]
        async with self._workers:
            if self._held is None:
                await run.play_until(min(until, match_plan.hands))
            if run.failure is not None:
                raise _MatchFailed(run.failure)
            # Closed at once, so that its bots give their processors and memory to the next match.
            if self.scores.hands(index) >= match_plan.hands:
                run.tally.is_closed = True
                await run.close()

    async def _finish(self, outcome: Outcome, reason: str) -> Ending:
        """Write the scores of the matches that have none yet."""
        for run in self.runs:
            if not run.tally.is_closed:
                await run.finish()
                if run.failure is not None:
                    raise _MatchFailed(run.failure)
        return Ending(outcome, reason)

    async def _close_all(self) -> None:
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.gather(*(run.close() for run in self.runs))


def _without_aivat(error: ValuationError) -> str:
    return f"The result has no win rates by AIVAT: {error}."
