"""Training: contests with players that learn.

The same settings leave the same bytes, however many matches run at a time, and after any interruption:

- Before the first hand, the memory of each learner is copied to the folder of the contest, as ``Ann.start.memory``.
  Every match starts from it, and no match depends on another.
- In each match, a learner writes a journal, ``match.a.seat1.Ann.journal``. A resumed match continues after the last
  hand that is complete in its log, its transaction log and its journals. Learners recover from their journals.
- After all matches, the start memory and all journals are merged into ``Ann.memory``, in any order. A learner's own
  file is replaced as well, unless another program or another learner has changed it since the contest began.
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
    """Memories and journals of a contest."""

    def __init__(self, plan: ContestPlan) -> None:
        self._plan = plan

    def begin(self) -> None:
        """Copy the memories of the learners, unless an earlier run has done so.

        Raises:
            TrainingError: a memory cannot be read or written.
        """
        for player in self._plan.learners:
            start = self._start(player)
            if start.exists():
                continue
            # Another memory would not fit the journals of an earlier run.
            if any(self._plan.record.folder.glob("*.journal")):
                raise TrainingError(f"{start} is missing; restore it to continue the training")
            try:
                write_whole(start, self._bot(player).start_memory(self._plan.game))
            except OSError as error:
                raise TrainingError(f"{start} cannot be written: {error.strerror or error}") from None

    def learner_files(self, match_plan: MatchPlan) -> dict[Seat, LearnerFiles]:
        """Return the start memory and the journal of each learner of a match."""
        files = {}
        for seat, player in self._seated(match_plan):
            journal = self._journal(match_plan, seat)
            files[seat] = LearnerFiles(str(self._start(player).absolute()), str(journal.absolute()))
        return files

    def _seated(self, match_plan: MatchPlan) -> list[tuple[Seat, int]]:
        """Return the learners of a match, each with its seat."""
        learners = self._plan.learners
        return [(Seat(seat), player) for seat, player in enumerate(match_plan.players) if player in learners]

    def require_whole(self, match_plan: MatchPlan, absent: Collection[Seat]) -> None:
        """Check that the journals of a finished match have all its hands.

        Args:
            match_plan: finished match.
            absent: seats of players that did not take part to the end.

        Raises:
            TrainingError: hands are missing, because a learner was ended before it could write them.
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
                    f"{self._plan.names[player]} ended before its journal of {match_plan.name} reached hand {hand}; "
                    "resume the run to continue from there"
                )

    def end(self, match_plans: Sequence[MatchPlan]) -> tuple[TrainingReport, ...]:
        """Merge the journals of each learner into its memory.

        Args:
            match_plans: all matches of the contest, which are finished.

        Raises:
            TrainingError: a file cannot be read or written.
        """
        # All bots first, because merging one may replace the file that another one starts from.
        bots = {player: self._bot(player) for player in self._plan.learners}
        reports = []
        for player, bot in bots.items():
            seats = [Seat(match_plan.players.index(player)) for match_plan in match_plans]
            journals = [
                str(self._journal(match_plan, seat)) for match_plan, seat in zip(match_plans, seats, strict=True)
            ]
            reports.append(self._merge(player, bot, journals))
        return tuple(reports)

    def _merge(self, player: int, bot: LearningBot, journals: Sequence[str]) -> TrainingReport:
        own = None if bot.memory_path is None else os.path.abspath(bot.memory_path)
        memory = self._plan.record.folder / f"{self._label(player)}.memory"
        try:
            hands = sum(1 for journal in journals for _ in read_journal(journal))
            merged = bot.merged(str(self._start(player)), journals)
            # The memory of an earlier run of the contest may exist, if deals were added.
            versions = {path.read_bytes() for path in (self._start(player), memory) if path.exists()} | {merged}
            write_whole(memory, merged)
            problem = "" if own is None else _replace_own_file(Path(own), merged, versions)
        except BotFileError as error:
            raise TrainingError(str(error)) from error
        except OSError as error:
            raise TrainingError(f"{memory} cannot be written: {error.strerror or error}") from None
        return TrainingReport(
            player=self._plan.names[player], hands=hands, memory=str(memory), own_file=own, problem=problem or None
        )

    # ---- names of files

    def _bot(self, player: int) -> LearningBot:
        bot = make_player(self._plan.players[player], 0)
        assert isinstance(bot, LearningBot)
        return bot

    def _label(self, player: int) -> str:
        return self._plan.names[player].replace("#", "-")

    def _start(self, player: int) -> Path:
        return self._plan.record.folder / f"{self._label(player)}.start.memory"

    def _journal(self, match_plan: MatchPlan, seat: Seat) -> Path:
        label = self._label(match_plan.players[seat])
        return self._plan.record.folder / f"{match_plan.name}.seat{seat + 1}.{label}.journal"


def _replace_own_file(path: Path, merged: bytes, versions: Collection[bytes]) -> str:
    """Write a learner's own file; return a sentence if it was not written, otherwise an empty text.

    Args:
        path: file of the learner.
        merged: new content.
        versions: contents from the start of this contest or written by it, which may be replaced.
    """
    try:
        with contextlib.closing(FileLock(path.with_name(f"{path.name}.lock"))):
            if path.exists() and path.read_bytes() not in versions:
                return f"{path} was left as it is: it has been changed since the run began."
            write_whole(path, merged)
    except BlockingIOError:
        return f"{path} was left as it is: another learner is writing it."
    except OSError as error:
        return f"{path} cannot be written: {error.strerror or error}."
    return ""
