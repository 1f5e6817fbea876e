"""Match of bots in this process, whose output is captured."""

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
from dealer.run.match_files import exchanges_path
from dealer.table.bot_code import bot_code, captured_output
from dealer.table.players import LearnerFiles, make_player
from engine import Seat

_MANY_HANDS = 2000
"""Fewer hands are not worth the seconds for which bots would compile kernels."""
_MAX_OUTPUT_CHARACTERS = 10_000_000
"""Output of a bot that is kept and shown per match."""


class BotMatch:
    """Match with its bots. All calls of their code go through this class.

    Attributes:
        match: the match, or None if the user interrupted the code of a bot while the bots were being made.
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
            learner_files: files of players that learn.
            is_echoed: whether output also goes to the standard streams, besides the watchers.

        Raises:
            PlayerError: a bot cannot be made.
            TrainingError: a bot that learns cannot read or write its files.
        """
        self._plan = plan
        self._match_plan = match_plan
        self._setup = plan.setup_of(match_plan)
        self._watchers = watchers
        self._progress = progress
        self._is_echoed = is_echoed
        self._audience = Audience(watchers)
        self._learners: list[LearningBot] = []
        self._making_seat: Seat | None = None
        self._output_left = [_MAX_OUTPUT_CHARACTERS] * len(match_plan.players)
        self.match: InProcessMatch | None = None
        with self._bot_code():
            self.match = self._make(learner_files)

    def play(self, until_hand: int) -> None:
        if self.match is not None:
            with self._bot_code():
                self.match.play(until_hand)

    def finish(self) -> None:
        """End the match here with its score, unless it is over."""
        if self.match is not None:
            with self._bot_code():
                self.match.finish()

    def close(self) -> None:
        """Notify the bots that the match is over."""
        if self.match is not None:
            with self._bot_code():
                self.match.close()
        for bot in self._learners:
            bot.end_training()

    def _make(self, learner_files: Mapping[Seat, LearnerFiles]) -> InProcessMatch:
        bots = []
        for seat, player in enumerate(self._match_plan.players):
            self._making_seat = Seat(seat)
            bot = make_player(self._plan.players[player], self._plan.bot_seed(self._match_plan, player))
            bot.keep_exchanges(str(exchanges_path(self._plan.record.folder, self._setup.name, seat)))
            bots.append(bot)
        for seat, files in learner_files.items():
            self._making_seat = seat
            learner = bots[seat]
            assert isinstance(learner, LearningBot)
            self._learners.append(learner)
            try:
                learner.train(files.start, files.journal)
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
        """Publish output of a bot, up to the limit per match."""
        seat = self._making_seat if self.match is None else self.match.running_seat
        # Between the calls of bots, the text is that of this program.
        if seat is None:
            getattr(sys, stream).write(text)
            return
        left = self._output_left[seat]
        self._output_left[seat] -= len(text)
        # Below 0, the text that says so has been written. At 0, nothing has been left out yet.
        if left < 0:
            return
        if len(text) > left:
            name = self._setup.names[seat]
            limit = f"{_MAX_OUTPUT_CHARACTERS:,}"
            text = f"{text[:left]}\n[{name} wrote more than {limit} characters in one match: the rest is left out]\n"
        if self._is_echoed:
            getattr(sys, stream).write(text)
        self._audience.publish(BotWrote(seat, stream, text))
