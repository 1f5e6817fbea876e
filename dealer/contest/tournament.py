"""Several contests played by the same workers: every bot against every other, or the first against all others.

What goes wrong in one contest does not affect the others: they go on, and the result gives the reason.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from bots.workers import Workers
from dealer.contest.contest import Contest, Watch
from dealer.contest.ending import INTERRUPTED, Outcome
from dealer.contest.plan import RunPlan
from dealer.contest.remote import RemoteContest

__all__ = ["Tournament"]


class Tournament:
    """The contests of a run while they are played; those of a play are a tournament of one.

    Attributes:
        plan: what is played.
        contests: in the order planned.
        started_s: on the monotonic clock.
        seconds: how long it took, once ended.
    """

    def __init__(
        self,
        plan: RunPlan,
        on_ended: Callable[[Contest], None] = lambda contest: None,
        watch: Watch | None = None,
        cluster: Workers | None = None,
    ) -> None:
        """Prepare a tournament.

        Args:
            plan: what is played.
            on_ended: called with every contest that has ended.
            watch: called with the events of all matches; an error would end the match.
            cluster: other machines, each of whose workers plays one contest at a time; None for this one.
        """
        self.plan = plan
        workers = asyncio.Semaphore(plan.settled.workers)
        # Contests start in their order, not all at once; a cluster keeps its own order.
        self._turns = asyncio.Semaphore(plan.settled.workers if cluster is None else max(1, len(plan.contests)))
        self.contests: list[Contest] = [
            Contest(contest, workers, watch) if cluster is None else RemoteContest(contest, cluster)
            for contest in plan.contests
        ]
        self.started_s = time.monotonic()
        self.seconds = 0.0
        self._on_ended = on_ended

    @property
    def outcome(self) -> Outcome:
        """The worst of the contests' outcomes; a failed contest does not end a tournament."""
        outcomes = {(contest.ending or INTERRUPTED).outcome for contest in self.contests}
        worst = (Outcome.INTERRUPTED, Outcome.FAILED)
        return next((outcome for outcome in worst if outcome in outcomes), Outcome.FINISHED)

    async def play(self) -> None:
        """Play all contests, as many at a time as there are workers; cancelled, it returns once all have stopped."""
        self.started_s = time.monotonic()
        try:
            async with asyncio.TaskGroup() as tasks:
                for contest in self.contests:
                    tasks.create_task(self._play(contest))
        except asyncio.CancelledError:
            # Every contest has noted that it was interrupted; the result so far is still wanted.
            pass
        finally:
            self.seconds = time.monotonic() - self.started_s

    async def _play(self, contest: Contest) -> None:
        try:
            async with self._turns:
                await contest.play_out()
        except asyncio.CancelledError:
            contest.ending = contest.ending or INTERRUPTED
            raise
        self._on_ended(contest)
