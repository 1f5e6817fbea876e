"""The files of one match: its game, its ACPC log, its transaction log, and the comments and faults of players.

    match.game              the definition of the game
    match.log               a line per hand
    match.tlog              a line per action, written once a hand
    match.comments          a line per comment; only if there was one
    match.faults            a line per fault; only if there was one
    match.seat1.Ann.out     what the player in a seat wrote
    pokerstars/             hand histories, a folder per format (`logs.export`), unless a folder of all runs has them

A match that is resumed goes on in the same files.
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
"""Of the faults of a match that are kept one by one; those after which a player is gone always are."""


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


class MatchFiles(Watcher):
    """The open files of a match; `watchers` write them.

    Comments are written before the log: no hand is in it whose comments are not on disk. So is the fault that ends a
    player's part, before the first hand without that player: a machine that stops leaves no such hand without its
    reason. Hand histories get a hand as soon as it is in the log.
    """

    def __init__(self, setup: MatchSetup, plan: RecordPlan, *, is_resumed: bool = False) -> None:
        """Open the files; unless the match is resumed they start empty.

        Raises:
            LaunchError: they cannot be written.
        """
        self._setup, self._plan = setup, plan
        self._files: dict[str, LineFile] = {}
        options = replace(plan.options, seed=logged_seed(setup.seed))
        label = "" if plan.histories is None else plan.folder.absolute().name
        self._exporters = [
            Exporter(format_, plan.histories or plan.folder / format_.name, options, force=True, label=label)
            for format_ in plan.exports
        ]
        self.wants = frozenset({LogLine, FaultSeen, BotWrote, *([HandFinished] if plan.exports else [])})
        self._output_mode = "ab" if is_resumed else "wb"
        self._outputs: dict[Seat, BinaryIO] = {}
        self._fault_bytes_left, self._faults_left_out = MAX_FAULT_BYTES, 0
        try:
            self._open(is_resumed)
        except OSError as error:
            self.close()
            raise LaunchError(f"write to {plan.folder}", error.strerror) from None
        writers = HandTransactionWriter(self._file("tlog")), LogWriter(self._file("log"), setup.names)
        self.watchers: tuple[Watcher, ...] = (self, *writers)

    def _open(self, is_resumed: bool) -> None:
        setup, limits = self._setup, self._setup.limits
        self._plan.path(setup, "game").write_text(format_game_definition(setup.game), "ascii")
        for kind in ("log", "tlog"):
            self._files[kind] = LineFile(self._plan.path(setup, kind), append=is_resumed)
        if is_resumed:
            # Hand histories are written again from the log; nothing that an interruption left remains.
            for record in read_log(self._plan.path(setup, "log"), times=True) if self._exporters else ():
                for exporter in self._exporters:
                    exporter.write(record)
            return
        for kind in ("comments", "faults"):
            self._plan.path(setup, kind).unlink(missing_ok=True)
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
        """A file by its suffix; those of comments and faults appear with their first line."""
        if kind not in self._files:
            self._files[kind] = LineFile(self._plan.path(self._setup, kind), append=True)
        return self._files[kind]

    def notice(self, event: Event) -> None:
        """Write the comments of a hand, a fault, or a hand in the formats of other programs."""
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
            # Only these may come without end.
            if len(line) > self._fault_bytes_left:
                self._faults_left_out += 1
                return
            self._fault_bytes_left -= len(line)
        self._file("faults").write(line)
        if fault.is_final:
            self._file("faults").sync()

    def _write_output(self, event: BotWrote) -> None:
        """Append to what the player in a seat wrote. Output is no part of the match: a full disk costs only that."""
        with contextlib.suppress(OSError):
            if event.seat not in self._outputs:
                path = self._plan.output_path(self._setup, event.seat)
                self._outputs[event.seat] = cast(BinaryIO, path.open(self._output_mode, buffering=0))
            self._outputs[event.seat].write(event.text.encode("utf-8", "backslashreplace"))

    def left_out(self) -> list[str]:
        """Sentences about what the files do not hold: hands, by hand history, and faults."""
        sentences = [f"{exporter.not_written()}." for exporter in self._exporters if exporter.skipped]
        if self._faults_left_out:
            name, faults = self._plan.path(self._setup, "faults").name, count_of(self._faults_left_out, "fault")
            sentences.append(f"{name}: {faults} counted but left out, after {MAX_FAULT_BYTES:,} bytes.")
        return sentences

    def close_with_score(self, totals: Sequence[float]) -> None:
        """Write the score of a match that ends where it was interrupted."""
        self._file("log").write(format_score_line(totals, self._setup.names))
        self.close()

    def close(self) -> None:
        """Close the files; a second call does nothing."""
        for file in self._files.values():
            file.close()
        for output in self._outputs.values():
            output.close()
        for exporter in self._exporters:
            exporter.close()
