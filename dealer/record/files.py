"""The files of one match: its game, its ACPC log, its transaction log, and what players said and did wrong.

    match.game      the definition of the game
    match.log       a line per hand
    match.tlog      a line per action
    match.comments  a line per comment; only where there was one
    match.faults    a line per fault; only where there was one
    pokerstars/     hand histories, a folder per format (`logs.export`)

A match that is picked up goes on in the same files.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dealer.match.match import MatchSetup
from dealer.match.observer import MatchObserver
from dealer.record.writers import CommentWriter, FaultWriter, HandHistoryWriter, LogWriter, TransactionWriter
from dealer.table.launcher import LaunchError
from logs import format_header, format_score_line
from logs.acpc_log.reader import read_log
from logs.export import Exporter, ExportFormat, ExportOptions
from logs.line_file import LineFile
from protocol import format_game_definition

if TYPE_CHECKING:
    from dealer.contest.match_run import MatchPlan

__all__ = ["MatchFiles", "open_match_files"]


def open_match_files(plan: MatchPlan, *, is_resumed: bool) -> MatchFiles:
    """The files of a match to be run.

    Raises:
        LaunchError: they cannot be written.
    """
    try:
        return MatchFiles(
            plan.folder, plan.setup, plan.game_name, is_resumed=is_resumed, exports=plan.exports, hero=plan.hero
        )
    except OSError as error:
        raise LaunchError(f"cannot write to {plan.folder}: {error.strerror}") from None


class MatchFiles:
    """Opened files.

    Attributes:
        observers: who writes them.
    """

    def __init__(
        self,
        folder: Path,
        setup: MatchSetup,
        game_name: str,
        *,
        is_resumed: bool = False,
        exports: Sequence[ExportFormat] = (),
        hero: str | None = None,
    ) -> None:
        """Open the files; those of a match that is not picked up begin anew.

        Args:
            folder: where they are.
            setup: what is played.
            game_name: as logged.
            is_resumed: go on in files that are there.
            exports: the formats of hand histories.
            hero: whose cards they show from the start.

        Raises:
            OSError: they cannot be written.
        """
        self._names = setup.names
        (folder / f"{setup.name}.game").write_text(format_game_definition(setup.game), "ascii")
        self._log = LineFile(folder / f"{setup.name}.log", append=is_resumed)
        self._transactions: LineFile | None = None
        self._faults = FaultWriter(folder / f"{setup.name}.faults")
        self._comments = CommentWriter(folder / f"{setup.name}.comments")
        options = ExportOptions(hero=hero, seed=setup.seed)
        self._exporters = [Exporter(format_, folder / format_.value, options, force=True) for format_ in exports]
        try:
            if not is_resumed:
                (folder / f"{setup.name}.faults").unlink(missing_ok=True)
                (folder / f"{setup.name}.comments").unlink(missing_ok=True)
                limits = setup.limits
                self._log.write(
                    format_header(
                        setup.name,
                        game_name,
                        setup.hands,
                        setup.seed,
                        t_response_ms=limits.response_us // 1000,
                        t_hand_ms=limits.hand_us // 1000,
                        t_per_hand_ms=limits.per_hand_us // 1000,
                    )
                )
            self._transactions = LineFile(folder / f"{setup.name}.tlog", append=is_resumed)
            if is_resumed:
                self._export_again(folder / f"{setup.name}.log")
        except OSError:
            self.close()
            raise
        self.observers: tuple[MatchObserver, ...] = (
            self._comments,
            LogWriter(self._log, setup.names),
            TransactionWriter(self._transactions),
            self._faults,
            *map(HandHistoryWriter, self._exporters),
        )

    def _export_again(self, log: Path) -> None:
        """Hand histories are made again of the hands that stand: whatever an interruption has left is gone."""
        if self._exporters:
            for record in read_log(log, times=True):
                for exporter in self._exporters:
                    exporter.write(record)

    def not_exported(self) -> list[str]:
        """What is in no hand history, in sentences."""
        return [exporter.not_written() for exporter in self._exporters if exporter.skipped]

    def close_with_score(self, totals: Sequence[float]) -> None:
        """Write the score under a match that ends without being played on."""
        self._log.write(format_score_line(totals, self._names))
        self.close()

    def close(self) -> None:
        """Close the files; a second call does nothing."""
        self._log.close()
        if self._transactions is not None:
            self._transactions.close()
        self._comments.close()
        self._faults.close()
        for exporter in self._exporters:
            exporter.close()
