"""A contest with players that learn: what each match starts from, and what becomes of what was learnt.

A player that learns is another player in every hand, so nothing here is a measurement: a contest with one of them is
*training*. It is settled so that the same settings always leave the same bytes, however many matches run at a time and
however often they were interrupted:

- Before the first hand, the memory of each learner is copied into the folder of the contest, as ``Ann.start.memory``.
  Every match starts from it and shares nothing with the others.
- In each match a learner writes a journal, ``match.a.seat1.Ann.journal``. A match that goes on begins after the last
  hand that is whole in its log, its transaction log and its journals, and learns the hands before from the journals.
- When all matches are over, the memory at the start and all journals are added up, which gives the same whatever the
  order, in ``Ann.memory``. A learner that writes a file of its own gets it there as well, unless another program
  has changed that file since the contest began, another learner of the same contest among them.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Collection, Sequence
from pathlib import Path

from bots.errors import BotFileError
from bots.sdk.learning import LearningBot, cut_journal, read_journal
from dealer.errors import TrainingError
from dealer.run.contest_plan import ContestPlan, MatchPlan
from dealer.run.results import TrainingReport
from dealer.table.players import LearnerFiles, make_player
from engine import Seat
from logs.whole_file import FileLock, write_whole


class Training:
    """The memories and journals of one contest."""

    def __init__(self, plan: ContestPlan) -> None:
        self._plan = plan

    def begin(self) -> None:
        """Copy the memories that the learners start from, unless an earlier run has done so.

        Raises:
            TrainingError: a memory cannot be read, or none can be written.
        """
        for player in self._plan.learners:
            start = self._start(player)
            if start.exists():
                continue
            if any(self._plan.record.folder.glob("*.journal")):
                raise TrainingError(f"{start} is missing, and without it nothing can be learnt again")
            try:
                write_whole(start, self._bot(player).start_memory(self._plan.game))
            except OSError as error:
                raise TrainingError(f"{start} cannot be written: {error.strerror or error}") from None

    def learner_files(self, match_plan: MatchPlan) -> dict[Seat, LearnerFiles]:
        """What each learner of a match starts from, and where it writes."""
        return {
            seat: LearnerFiles(str(self._start(player).absolute()), str(self._journal(match_plan, seat).absolute()))
            for seat, player in self._seated(match_plan)
        }

    def _seated(self, match_plan: MatchPlan) -> list[tuple[Seat, int]]:
        """The learners of a match, each with its seat."""
        learners = self._plan.learners
        return [(Seat(seat), player) for seat, player in enumerate(match_plan.players) if player in learners]

    def require_whole(self, match_plan: MatchPlan, absent: Collection[Seat]) -> None:
        """Check that all hands of a match that is over are in its journals.

        Args:
            absent: the seats of players that did not take part to its end.

        Raises:
            TrainingError: some are missing, because a learner was ended before it could write them.
        """
        last = match_plan.first_hand + match_plan.hands - 1
        for seat, player in self._seated(match_plan):
            if seat in absent:
                continue
            try:
                end = cut_journal(str(self._journal(match_plan, seat)))
            except BotFileError as error:
                raise TrainingError(str(error)) from error
            if end <= last:
                hand = max(end, match_plan.first_hand)
                raise TrainingError(
                    f"{self._plan.names[player]} was ended before it could write what it learnt: its journal of "
                    f"{match_plan.name} ends before hand {hand}; resume the run to play on from there"
                )

    def end(self, match_plans: Sequence[MatchPlan]) -> tuple[TrainingReport, ...]:
        """Merge what was learnt.

        Args:
            match_plans: the matches, all over.

        Raises:
            TrainingError: a file cannot be read or written.
        """
        bots = {player: self._bot(player) for player in self._plan.learners}
        return tuple(
            self._merge(
                player,
                bot,
                [str(self._journal(match_plan, Seat(match_plan.players.index(player)))) for match_plan in match_plans],
            )
            for player, bot in bots.items()
        )

    def _merge(self, player: int, bot: LearningBot, journals: Sequence[str]) -> TrainingReport:
        own = None if bot.memory_path is None else os.path.abspath(bot.memory_path)
        memory = self._plan.record.folder / f"{self._label(player)}.memory"
        try:
            hands = sum(1 for journal in journals for _ in read_journal(journal))
            merged = bot.merged(str(self._start(player)), journals)
            ours = {path.read_bytes() for path in (self._start(player), memory) if path.exists()} | {merged}
            write_whole(memory, merged)
            problem = "" if own is None else _keep(Path(own), merged, ours)
        except BotFileError as error:
            raise TrainingError(str(error)) from error
        except OSError as error:
            raise TrainingError(f"{memory} cannot be written: {error.strerror or error}") from None
        return TrainingReport(
            player=self._plan.names[player], hands=hands, memory=str(memory), own_file=own, problem=problem or None
        )

    # ---- whose files are where

    def _bot(self, player: int) -> LearningBot:
        bot = make_player(self._plan.players[player], 0)
        assert isinstance(bot, LearningBot)
        return bot

    def _label(self, player: int) -> str:
        return self._plan.names[player].replace("#", "-")

    def _start(self, player: int) -> Path:
        return self._plan.record.folder / f"{self._label(player)}.start.memory"

    def _journal(self, match_plan: MatchPlan, seat: Seat) -> Path:
        return (
            self._plan.record.folder
            / f"{match_plan.name}.seat{seat + 1}.{self._label(match_plan.players[seat])}.journal"
        )


def _keep(path: Path, merged: bytes, ours: Collection[bytes]) -> str:
    """Write a learner's own file; returns why it was not written, in a sentence.

    Args:
        ours: what may stand there now: what this contest began with or has written before.
    """
    try:
        with contextlib.closing(FileLock(path.with_name(f"{path.name}.lock"))):
            if path.exists() and path.read_bytes() not in ours:
                return f"{path} was left as it is: it has been changed since the run began."
            write_whole(path, merged)
    except BlockingIOError:
        return f"{path} was left as it is: another learner is writing it."
    except OSError as error:
        return f"{path} cannot be written: {error.strerror or error}."
    return ""
