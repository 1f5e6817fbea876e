"""A match of bots in this process, with what their code writes."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from bots.errors import BotFileError
from bots.sdk.learning import LearningBot
from dealer.errors import TrainingError
from dealer.match.events import Audience, BotWrote, Watcher
from dealer.match.in_process import InProcessMatch
from dealer.match.setup import NO_EARLIER_HANDS, EarlierHands
from dealer.run.contest_plan import ContestPlan, MatchPlan
from dealer.table.bot_code import bot_code, captured_output
from dealer.table.players import LearnerFiles, make_player
from engine import Seat

_MANY_HANDS = 2000
"""From this many hands on it pays to let bots compile their calculations, which takes some seconds."""
MAX_OUTPUT_CHARACTERS = 10_000_000
"""Kept and shown of what a bot in this process writes in one match."""


class BotMatch:
    """A match with its bots; everything that runs their code is called in this way.

    Attributes:
        match: None where the user interrupted the code of a bot before it was made.
    """

    def __init__(
        self,
        plan: ContestPlan,
        match_plan: MatchPlan,
        watchers: Sequence[Watcher],
        progress: EarlierHands = NO_EARLIER_HANDS,
        learner_files: Mapping[Seat, LearnerFiles] = MappingProxyType({}),
        *,
        is_echoed: bool = True,
    ) -> None:
        """Make the bots of a match.

        Args:
            learner_files: of players that learn.
            is_echoed: whether what bots write also goes to the standard streams; watchers get it always.

        Raises:
            PlayerError: a bot cannot be made.
            TrainingError: a bot that learns cannot read or write its files.
        """
        self._plan, self._match_plan, self._setup = plan, match_plan, plan.setup_of(match_plan)
        self._watchers, self._progress, self._is_echoed = watchers, progress, is_echoed
        self._audience = Audience(watchers)
        self._learners: list[LearningBot] = []
        self._making_seat: Seat | None = None
        self._output_left = [MAX_OUTPUT_CHARACTERS] * len(match_plan.players)
        self.match: InProcessMatch | None = None
        with self._bot_code():
            self.match = self._make(learner_files)

    def play(self, until_hand: int) -> None:
        if self.match is not None:
            with self._bot_code():
                self.match.play(until_hand)

    def finish(self) -> None:
        """End the match here with its score, if it is not over."""
        if self.match is not None:
            with self._bot_code():
                self.match.finish()

    def close(self) -> None:
        """Notify the bots of the end."""
        if self.match is not None:
            with self._bot_code():
                self.match.close()
        for bot in self._learners:
            bot.end_training()

    def _make(self, learner_files: Mapping[Seat, LearnerFiles]) -> InProcessMatch:
        bots = []
        for seat, player in enumerate(self._match_plan.players):
            self._making_seat = Seat(seat)
            bots.append(make_player(self._plan.players[player], self._plan.bot_seed(self._match_plan, player)))
        for seat, files in learner_files.items():
            self._making_seat = seat
            bot = bots[seat]
            assert isinstance(bot, LearningBot)
            self._learners.append(bot)
            try:
                bot.train(files.start, files.journal)
            except BotFileError as error:
                raise TrainingError(str(error)) from error
        if self._setup.hands - self._progress.hands >= _MANY_HANDS:
            for seat, bot in enumerate(bots):
                self._making_seat = Seat(seat)
                bot.prepare_for_many_hands()
        self._making_seat = None
        return InProcessMatch(self._setup, bots, self._watchers, self._progress)

    @contextlib.contextmanager
    def _bot_code(self) -> Iterator[None]:
        with captured_output(self._receive_output), bot_code():
            yield

    def _receive_output(self, stream: str, text: str) -> None:
        """Pass on what the code of a bot writes, up to a bound."""
        seat = self._making_seat if self.match is None else self.match.running_seat
        if seat is None:
            getattr(sys, stream).write(text)
            return
        left = self._output_left[seat]
        self._output_left[seat] -= len(text)
        if left <= 0:
            return
        if len(text) > left:
            name, most = self._setup.names[seat], f"{MAX_OUTPUT_CHARACTERS:,}"
            text = f"{text[:left]}\n[{name} wrote more than {most} characters in one match: the rest is left out]\n"
        if self._is_echoed:
            getattr(sys, stream).write(text)
        self._audience.publish(BotWrote(seat, stream, text))
