"""One match played inside this process, for bulk work: no sockets, no bot processes, the same files and counts."""

from __future__ import annotations

import asyncio
import contextlib
import time

from bots.errors import BotFileError
from bots.sdk.learning import LearningBot
from dealer.contest.match_run import MatchRun
from dealer.errors import TrainingError
from dealer.match.causes import Cause
from dealer.match.in_process import InProcessMatch
from dealer.table.players import make_player
from engine import Seat

__all__ = ["LocalRun"]

_MANY_HANDS = 2000
"""From this many hands on it pays to let bots compile their calculations, which takes some seconds."""

_LONGEST_S = 0.05
"""How long hands are played before other tasks of the loop, such as the live line or an interrupt, have their turn."""


class LocalRun(MatchRun):
    """A match inside this process."""

    def _prepare(self) -> None:
        self._match: InProcessMatch | None = None
        self._learners: list[LearningBot] = []

    async def _play_until(self, hands: int) -> Cause | None:
        match = self._match
        if match is None:
            match = self._match = self._open()
        at_a_time = 1
        while match.hands_played < hands and match.failure is None:
            began_s = time.monotonic()
            match.play(min(hands, match.hands_played + at_a_time))
            took_s = time.monotonic() - began_s
            at_a_time = at_a_time * 2 if took_s < _LONGEST_S / 2 else max(1, int(at_a_time * _LONGEST_S / took_s))
            await asyncio.sleep(0)
        self._keep_tracebacks(match)
        if match.failure is None and match.hands_played >= self.plan.setup.hands:
            match.finish()
        return match.failure

    def _finish(self) -> Cause | None:
        if self._match is None:
            return None
        self._match.finish()
        return self._match.failure

    async def _close(self) -> None:
        if self._match is not None:
            self._match.close()
        for bot in self._learners:
            bot.end_training()

    def _open(self) -> InProcessMatch:
        plan = self.plan
        bots = [make_player(player, seed) for player, seed in zip(plan.players, plan.bot_seeds, strict=True)]
        for seat, bot in enumerate(bots):
            if (lesson := plan.lesson(seat)) is not None and isinstance(bot, LearningBot):
                self._learners.append(bot)
                try:
                    bot.train(lesson.start, lesson.journal)
                except BotFileError as error:
                    raise TrainingError(str(error)) from error
        if plan.setup.hands - self._progress.hands >= _MANY_HANDS:
            for bot in bots:
                bot.prepare_for_many_hands()
        return InProcessMatch(plan.setup, bots, self._watchers, self._progress)

    def _keep_tracebacks(self, match: InProcessMatch) -> None:
        """Keep where a bot's own code failed, in the file that a bot process would have written."""
        for seat, text in match.tracebacks.items():
            with contextlib.suppress(OSError):
                self.plan.record.output_path(self.plan.setup, Seat(seat)).write_text(text, "utf-8")
