"""Files of a match.

    match.game              game definition
    match.log               ACPC log, a line per hand
    match.tlog              transaction log, a line per action, written once per hand
    match.comments          a line per comment, if there are any
    match.faults            a line per fault, if there are any
    match.seat1.Ann.out     output of the player in a seat
    match.seat1.llm.jsonl   exchanges of the player in a seat with a language model, written by the player
    pokerstars/             hand histories, a folder per format (`logs.export`), unless all runs share a folder

A resumed match appends to the same files.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import BinaryIO, Final, cast

from dealer.errors import LaunchError
from dealer.match import MatchSetup
from dealer.match.events import BotWrote, Event, FaultSeen, HandFinished, LogLine, Watcher
from dealer.match.faults import Fault, Remedy
from dealer.match.writers import HandTransactionWriter, LogWriter, format_fault
from engine import Seat, logged_seed
from engine.text import count_of
from logs import format_header, format_score_line
from logs.acpc_log.reader import read_log
from logs.export import Exporter
from logs.formats.export_format import ExportFormat, ExportOptions
from logs.transaction_log import format_comment
from logs.whole_file import LineFile
from protocol import format_game_definition

MAX_FAULT_BYTES: Final = 10_000_000
"""Size of the ``faults`` file above which faults that do not remove a player are only counted."""


@dataclass(frozen=True, slots=True)
class RecordPlan:
    """Files to keep of the matches of a contest.

    Attributes:
        folder: existing folder for the files.
        game_name: canonical name of the game.
        exports: formats of hand histories.
        options: options of hand histories.
        histories: folder for the hand histories of all runs; None for a folder per format next to the logs.
    """

    folder: Path
    game_name: str
    exports: tuple[ExportFormat, ...] = ()
    options: ExportOptions = field(default_factory=ExportOptions)
    histories: Path | None = None

    def path(self, setup: MatchSetup, kind: str) -> Path:
        """Return the path of a match's file by suffix: ``log``, ``tlog``, ``game``, ``comments`` or ``faults``."""
        return self.folder / f"{setup.name}.{kind}"

    def output_path(self, setup: MatchSetup, seat: Seat) -> Path:
        """Return the path of the file for the output of the player in a seat."""
        name = setup.names[seat].replace("#", "-")
        return self.path(setup, f"seat{seat + 1}.{name}.out")


def exchanges_path(folder: Path, match: str, seat: int) -> Path:
    """Return the path of the file for exchanges of the player in a seat of a match with a language model."""
    return folder / f"{match}.seat{seat + 1}.llm.jsonl"


class MatchFiles(Watcher):
    """Open files of a match.

    Attributes:
        watchers: watchers that write the files. Their order is that of the writes, see `__init__`.
    """

    def __init__(self, setup: MatchSetup, plan: RecordPlan, *, is_resumed: bool = False) -> None:
        """Open the files, which start empty unless the match is resumed.

        Raises:
            LaunchError: a file cannot be written.
        """
        self._setup = setup
        self._plan = plan
        self._files: dict[str, LineFile] = {}
        options = replace(plan.options, seed=logged_seed(setup.seed))
        # Files of several runs in one folder need the name of their run.
        label = "" if plan.histories is None else plan.folder.absolute().name
        self._exporters = [
            Exporter(format_, plan.histories or plan.folder / format_.name, options, force=True, label=label)
            for format_ in plan.exports
        ]
        self.wants = frozenset({LogLine, FaultSeen, BotWrote})
        if plan.exports:
            self.wants |= {HandFinished}
        self._output_mode = "ab" if is_resumed else "wb"
        self._outputs: dict[Seat, BinaryIO] = {}
        self._fault_bytes_left = MAX_FAULT_BYTES
        self._faults_left_out = 0
        try:
            self._open(is_resumed)
        except OSError as error:
            self.close()
            raise LaunchError(f"write to {plan.folder}", error.strerror) from None
        # The log comes last, so that a hand in it has its comments and actions on disk, and a lost player its fault.
        self.watchers: tuple[Watcher, ...] = (
            self,
            HandTransactionWriter(self._file("tlog")),
            LogWriter(self._file("log"), setup.names),
        )

    def _open(self, is_resumed: bool) -> None:
        setup = self._setup
        limits = setup.limits
        self._plan.path(setup, "game").write_text(format_game_definition(setup.game), "ascii")
        for kind in ("log", "tlog"):
            self._files[kind] = LineFile(self._plan.path(setup, kind), append=is_resumed)
        if is_resumed:
            # An interruption may have cut a hand history anywhere, so all are rewritten from the log.
            if self._exporters:
                for record in read_log(self._plan.path(setup, "log"), times=True):
                    for exporter in self._exporters:
                        exporter.write(record)
            return
        for kind in ("comments", "faults"):
            self._plan.path(setup, kind).unlink(missing_ok=True)
        for seat in range(setup.game.num_players):
            exchanges_path(self._plan.folder, setup.name, seat).unlink(missing_ok=True)
        self._file("log").write(
            format_header(
                setup.name,
                self._plan.game_name,
                setup.hands,
                setup.seed,
                t_response_ms=limits.response_ms,
                t_hand_ms=limits.hand_ms,
                t_per_hand_ms=limits.per_hand_ms,
            )
        )

    def _file(self, kind: str) -> LineFile:
        """Return a file by suffix; those of comments and faults are created with their first line."""
        if kind not in self._files:
            self._files[kind] = LineFile(self._plan.path(self._setup, kind), append=True)
        return self._files[kind]

    def notice(self, event: Event) -> None:
        if isinstance(event, HandFinished):
            for exporter in self._exporters:
                exporter.write(event.record)
        elif isinstance(event, FaultSeen):
            self._write_fault(event.fault)
        elif isinstance(event, BotWrote):
            self._write_output(event)
        elif isinstance(event, LogLine) and event.comments:
            lines = [format_comment(event.hand_number, comment) for comment in event.comments]
            self._file("comments").write("".join(lines))

    def _write_fault(self, fault: Fault) -> None:
        line = format_fault(fault)
        if fault.remedy in (Remedy.IGNORED, Remedy.PLAYED):
            # A bot can repeat these faults without limit.
            if len(line) > self._fault_bytes_left:
                self._faults_left_out += 1
                return
            self._fault_bytes_left -= len(line)
        self._file("faults").write(line)
        # A resumed match reads here who has forfeited, even after a power cut.
        if fault.is_final:
            self._file("faults").sync()

    def _write_output(self, event: BotWrote) -> None:
        """Append output of the player in a seat. A full disk does not end the match."""
        with contextlib.suppress(OSError):
            if event.seat not in self._outputs:
                path = self._plan.output_path(self._setup, event.seat)
                self._outputs[event.seat] = cast(BinaryIO, path.open(self._output_mode, buffering=0))
            self._outputs[event.seat].write(event.text.encode("utf-8", "backslashreplace"))

    def left_out(self) -> list[str]:
        """Return sentences about hands missing in hand histories and faults missing in their file."""
        sentences = [f"{exporter.not_written()}." for exporter in self._exporters if exporter.skipped]
        if self._faults_left_out:
            name = self._plan.path(self._setup, "faults").name
            faults = count_of(self._faults_left_out, "fault")
            sentences.append(f"{name}: {faults} counted but left out, after {MAX_FAULT_BYTES:,} bytes.")
        return sentences

    def close_with_score(self, totals: Sequence[float]) -> None:
        """Write the score of a match that ends at an interruption, and close the files."""
        self._file("log").write(format_score_line(totals, self._setup.names))
        self.close()

    def close(self) -> None:
        """Close the files. Closing them twice is allowed."""
        for file in self._files.values():
            file.close()
        for output in self._outputs.values():
            output.close()
        for exporter in self._exporters:
            exporter.close()
