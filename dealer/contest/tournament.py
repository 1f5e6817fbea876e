"""Several contests played by the same workers: every bot against every other, or the first against all others.

What goes wrong in one contest does not affect the others: they go on, and the result gives the reason.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from dealer.contest.contest import Contest, Watch
from dealer.contest.ending import INTERRUPTED, Ending, Outcome
from dealer.contest.plan import RunPlan
from dealer.errors import LaunchError, PickUpError

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
    ) -> None:
        """Prepare a tournament.

        Args:
            plan: what is played.
            on_ended: called with every contest that has ended.
            watch: called with the events of all matches; an error would end the match.
        """
        self.plan = plan
        workers = asyncio.Semaphore(plan.settled.workers)
        self._turns = asyncio.Semaphore(plan.settled.workers)
        """Contests start in their order, not all at once."""
        self.contests = [Contest(contest, workers, watch) for contest in plan.contests]
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
                folder = contest.plan.record.folder
                try:
                    folder.mkdir(parents=True, exist_ok=True)
                except OSError as error:
                    raise LaunchError(f"make the folder {folder}", error.strerror) from None
                await contest.play()
        except PickUpError as error:
            contest.ending = Ending(Outcome.FAILED, f"{error}.", error)
        except LaunchError as error:
            is_unplayed = contest.scores.hands_played == contest.hands_before
            contest.ending = Ending(Outcome.FAILED, f"{error}.", error if is_unplayed else None)
        except Exception as error:
            # A mistake in our own code ends this contest; the others know nothing of it.
            contest.ending = Ending(Outcome.FAILED, f"internal error: {type(error).__name__}: {error}.")
        except asyncio.CancelledError:
            contest.ending = contest.ending or INTERRUPTED
            raise
        self._on_ended(contest)
