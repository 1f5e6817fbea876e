"""One match played inside this process, for bulk work: no sockets, no bot processes, the same files and counts.

Takes the place of `dealer.contest.match_run.MatchRun` for built-in bots.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Sequence

from bots.registry import make_bot
from dealer.contest.match_run import MatchPlan
from dealer.contest.tally import Tally
from dealer.match.causes import PlayerCause
from dealer.match.faults import Fault, Remedy
from dealer.match.in_process import InProcessMatch
from dealer.match.match import NO_PROGRESS
from dealer.match.observer import MatchObserver, Observers
from dealer.match.sentences import sentence_of
from dealer.record.files import MatchFiles, open_match_files
from dealer.record.resume import PickedUp
from engine import Seat

__all__ = ["LocalRun"]

_MANY_HANDS = 2000
"""From so many on it pays to let bots compile what they compute with, some seconds' work."""

_LONGEST_S = 0.05
"""So long is played before others of the loop, such as the live line or an interrupt, have their turn."""


class LocalRun:
    """One match being run in this process; the attributes are those of `dealer.contest.match_run.MatchRun`."""

    def __init__(
        self,
        plan: MatchPlan,
        picked_up: PickedUp | None = None,
        on_values: Callable[[Sequence[float]], None] | None = None,
    ) -> None:
        """Prepare a run: see `dealer.contest.match_run.MatchRun`."""
        self.plan = plan
        self.tally = Tally(plan.setup.game, on_values)
        if picked_up is not None:
            self.tally.restore(picked_up)
        self.failure: str | None = None
        self.failed_seat: Seat | None = None
        self.exit_codes: dict[Seat, int] = {}
        self.started_s: float | None = None
        self.start_time_left_s: float | None = None
        self.questions = 0
        self.overhead_ns = 0
        self._is_resumed = picked_up is not None
        self._progress = NO_PROGRESS if picked_up is None else picked_up.progress
        self._files: MatchFiles | None = None
        self._observers: MatchObserver = MatchObserver()
        self._match: InProcessMatch | None = None

    def not_exported(self) -> list[str]:
        """What of the match is in no hand history, in sentences."""
        return [] if self._files is None else self._files.not_exported()

    def waiting_for(self) -> list[tuple[str, str]]:
        """Nobody is ever awaited."""
        return []

    async def play_until(self, hands: int) -> None:
        """Go on until so many hands of the match are finished, or it has failed.

        Raises:
            LaunchError: the folder cannot be written.
        """
        match = self._match or self._open()
        at_a_time = 1
        while match.hands_played < hands and match.failure is None:
            began_s = time.monotonic()
            match.play(min(hands, match.hands_played + at_a_time))
            took_s = time.monotonic() - began_s
            at_a_time = at_a_time * 2 if took_s < _LONGEST_S / 2 else max(1, int(at_a_time * _LONGEST_S / took_s))
            await asyncio.sleep(0)
        failure = match.failure
        self._keep_tracebacks(match)
        if failure is not None and self.failure is None:
            hand = self.plan.setup.first_hand + match.hands_played
            self.failed_seat = failure.seat
            self.failure = sentence_of(failure, self.plan.setup.names, hand)
            if isinstance(failure, PlayerCause):
                fault = Fault(failure.seat, failure.kind, hand, b"", Remedy.MATCH_ENDED)
                with contextlib.suppress(OSError):
                    self._observers.fault(fault)
        elif match.hands_played >= self.plan.setup.hands:
            match.finish()

    def _keep_tracebacks(self, match: InProcessMatch) -> None:
        """Where a bot's own code failed, in the file that a bot process would have written."""
        for seat, text in match.tracebacks.items():
            with contextlib.suppress(OSError):
                self.plan.record.output_path(self.plan.setup, Seat(seat)).write_text(text, "utf-8")

    def _open_files(self) -> MatchFiles:
        self._files = open_match_files(self.plan.setup, self.plan.record, is_resumed=self._is_resumed)
        return self._files

    def _open(self) -> InProcessMatch:
        plan = self.plan
        files = self._open_files()
        self.started_s = time.monotonic()
        self._observers = Observers([*files.observers, self.tally])
        bots = [make_bot(player.text, seed) for player, seed in zip(plan.players, plan.bot_seeds, strict=True)]
        progress = self._progress
        if plan.setup.hands - progress.hands >= _MANY_HANDS:
            for bot in bots:
                bot.prepare_for_many_hands()
        self._match = InProcessMatch(
            plan.setup,
            bots,
            self._observers,
            hands_done=progress.hands,
            totals=progress.totals or None,
            used_us=progress.used_us or None,
            forfeited=progress.forfeited,
        )
        return self._match

    async def finish(self) -> None:
        """End the match here, with its score."""
        if self._match is None:
            self._open_files().close_with_score(self.tally.chips)
        else:
            self._match.finish()

    async def close(self) -> None:
        """End the bots' part, and close the files."""
        if self._match is not None:
            self._match.close()
        if self._files is not None:
            self._files.close()
