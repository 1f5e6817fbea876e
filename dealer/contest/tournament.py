"""Several contests with the same workers: every bot against every other, or the first against everyone.

What goes wrong in one contest is its own affair: the others go on, and it stands in the result with its reason.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from dealer.contest.contest import Contest
from dealer.contest.ending import Ending, Outcome
from dealer.contest.plan import RunPlan
from dealer.errors import LaunchError, PickUpError

__all__ = ["Tournament"]


class Tournament:
    """The contests of a run being played.

    Attributes:
        plan: what is run.
        contests: in the order planned.
        started_s: on the monotonic clock.
        seconds: how long it ran, once ended.
    """

    def __init__(self, plan: RunPlan, on_ended: Callable[[Contest], None] = lambda contest: None) -> None:
        """Prepare a tournament.

        Args:
            plan: what is run.
            on_ended: told of every contest that has ended.
        """
        self.plan = plan
        self._gate = asyncio.Semaphore(plan.workers)
        self._turn = asyncio.Semaphore(plan.workers)
        self.contests = [Contest(contest, self._gate) for contest in plan.contests]
        self.started_s = time.monotonic()
        self.seconds = 0.0
        self._on_ended = on_ended

    @property
    def outcome(self) -> Outcome:
        """The worst of the contests' outcomes; a failed contest does not end a tournament."""
        endings = [contest.ending for contest in self.contests]
        if any(ending is None or ending.outcome == "interrupted" for ending in endings):
            return "interrupted"
        if any(ending is not None and ending.outcome == "failed" for ending in endings):
            return "failed"
        return "finished"

    async def play(self) -> None:
        """Play all contests, as many at a time as there are workers."""
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
            async with self._turn:
                try:
                    contest.plan.folder.mkdir(parents=True, exist_ok=True)
                except OSError as error:
                    raise LaunchError(f"make the folder {contest.plan.folder}", error.strerror) from None
                await contest.play()
        except PickUpError as error:
            contest.ending = Ending("failed", f"{error}.", could_not_start=True)
        except LaunchError as error:
            could_not_start = contest.scores.hands_played == contest.hands_before
            contest.ending = Ending("failed", f"{error}.", could_not_start=could_not_start)
        except Exception as error:
            # A mistake in our own code ends this contest; the others know nothing of it.
            contest.ending = Ending("failed", f"internal error: {type(error).__name__}: {error}.")
        except asyncio.CancelledError:
            contest.ending = contest.ending or Ending("interrupted", "it was interrupted.")
            raise
        self._on_ended(contest)
