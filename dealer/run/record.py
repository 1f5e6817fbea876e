"""The files of one match: its game, its ACPC log, its transaction log, and the comments and faults of players.

    match.game              the definition of the game
    match.log               a line per hand
    match.tlog              a line per action
    match.comments          a line per comment; only if there was one
    match.faults            a line per fault; only if there was one
    match.seat1.Ann.out     what the player in a seat wrote
    pokerstars/             hand histories, a folder per format (`logs.export`), unless a folder of all runs has them

A match that is resumed goes on in the same files.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from dealer.errors import LaunchError
from dealer.match import MatchSetup
from dealer.match.events import Watcher
from dealer.run.writers import CommentWriter, FaultWriter, HandHistoryWriter, LogWriter, TransactionWriter
from engine import Seat, logged_seed
from logs import format_header, format_score_line
from logs.acpc_log.reader import read_log
from logs.export import Exporter
from logs.formats import ExportFormat, ExportOptions
from logs.whole_file import LineFile
from protocol import format_game_definition


@dataclass(frozen=True, slots=True)
class RecordPlan:
    """What is kept of the matches of a contest, and where.

    Attributes:
        folder: where their files go; it must exist.
        exports: the formats of the hand histories to write.
        histories: where they go, with those of other runs; None for a folder per format next to the logs.
    """

    folder: Path
    game_name: str
    exports: tuple[ExportFormat, ...] = ()
    options: ExportOptions = field(default_factory=ExportOptions)
    histories: Path | None = None

    def path(self, setup: MatchSetup, kind: str) -> Path:
        """A file of a match by its suffix: ``log``, ``tlog``, ``game``, ``comments`` or ``faults``."""
        return self.folder / f"{setup.name}.{kind}"

    def output_path(self, setup: MatchSetup, seat: Seat) -> Path:
        """The file for what the player in a seat writes."""
        return self.path(setup, f"seat{seat + 1}.{setup.names[seat].replace('#', '-')}.out")


def open_match_files(setup: MatchSetup, plan: RecordPlan, *, is_resumed: bool) -> MatchFiles:
    """The files of a match to be run.

    Raises:
        LaunchError: they cannot be written.
    """
    try:
        return MatchFiles(setup, plan, is_resumed=is_resumed)
    except OSError as error:
        raise LaunchError(f"write to {plan.folder}", error.strerror) from None


class MatchFiles:
    """The open files of a match."""

    def __init__(self, setup: MatchSetup, plan: RecordPlan, *, is_resumed: bool = False) -> None:
        """Open the files; unless the match is resumed they start empty.

        Raises:
            OSError: they cannot be written.
        """
        log_path = plan.path(setup, "log")
        self._names = setup.names
        plan.path(setup, "game").write_text(format_game_definition(setup.game), "ascii")
        self._log = LineFile(log_path, append=is_resumed)
        self._transactions: LineFile | None = None
        self._faults = FaultWriter(plan.path(setup, "faults"))
        self._comments = CommentWriter(plan.path(setup, "comments"))
        options = replace(plan.options, seed=logged_seed(setup.seed))
        label = "" if plan.histories is None else plan.folder.absolute().name
        self._exporters = [
            Exporter(format_, plan.histories or plan.folder / format_.name, options, force=True, label=label)
            for format_ in plan.exports
        ]
        try:
            if not is_resumed:
                plan.path(setup, "faults").unlink(missing_ok=True)
                plan.path(setup, "comments").unlink(missing_ok=True)
                limits = setup.limits
                self._log.write(
                    format_header(
                        setup.name,
                        plan.game_name,
                        setup.hands,
                        setup.seed,
                        t_response_ms=limits.response_us // 1000,
                        t_hand_ms=limits.hand_us // 1000,
                        t_per_hand_ms=limits.per_hand_us // 1000,
                    )
                )
            self._transactions = LineFile(plan.path(setup, "tlog"), append=is_resumed)
            if is_resumed:
                self._export_again(log_path)
        except OSError:
            self.close()
            raise
        self.watchers: tuple[Watcher, ...] = (
            self._comments,
            LogWriter(self._log, setup.names),
            TransactionWriter(self._transactions),
            self._faults,
            *map(HandHistoryWriter, self._exporters),
        )

    def _export_again(self, log: Path) -> None:
        """Rewrite the hand histories from the hands in the log; nothing that an interruption left remains."""
        if self._exporters:
            for record in read_log(log, times=True):
                for exporter in self._exporters:
                    exporter.write(record)

    def not_exported(self) -> list[str]:
        """Sentences about the hands that a hand history cannot hold."""
        return [f"{exporter.not_written()}." for exporter in self._exporters if exporter.skipped]

    def close_with_score(self, totals: Sequence[float]) -> None:
        """Write the score of a match that ends where it was interrupted."""
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


_EXACT_BITS = 6


@dataclass(slots=True)
class ResponseTimes:
    """Times of answers in microseconds, equal when they hold the same counts."""

    count: int = 0
    total_us: int = 0
    _classes: Counter[int] = field(default_factory=Counter)

    def add(self, time_us: int) -> None:
        """Count one answer; a negative time counts as zero."""
        time_us = max(0, time_us)
        self.count += 1
        self.total_us += time_us
        shift = time_us.bit_length() - _EXACT_BITS
        self._classes[time_us if shift <= 0 else (shift << _EXACT_BITS) + (time_us >> shift)] += 1

    def include(self, others: ResponseTimes) -> None:
        """Add everything that another histogram holds."""
        self.count += others.count
        self.total_us += others.total_us
        self._classes.update(others._classes)

    def quantile_us(self, share: float) -> float | None:
        """The time that a given share of the answers did not exceed; None if there are no answers.

        Args:
            share: between 0 and 1, such as 0.5 for the median.
        """
        if not self.count:
            return None
        to_pass = share * self.count
        for index in sorted(self._classes):
            to_pass -= self._classes[index]
            if to_pass <= 0:
                return _middle_us(index)
        return _middle_us(max(self._classes))


def _middle_us(index: int) -> float:
    shift = index >> _EXACT_BITS
    if shift == 0:
        return float(index)
    return float((index & ((1 << _EXACT_BITS) - 1)) << shift) + ((1 << shift) - 1) / 2
