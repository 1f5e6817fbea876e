"""The watchers that keep a match on disk line by line: the ACPC log, the transaction log, comments, faults."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dealer.match.events import ActionPlayed, Event, FaultSeen, HandFinished, LogLine, MatchEnded, Watcher
from dealer.match.faults import QUOTED_BYTES, Fault, FaultKind, Remedy
from engine import Action, Seat
from engine.errors import quoted
from logs import format_score_line, format_transaction
from logs.transaction_log import format_comment
from logs.whole_file import LineFile
from protocol.actions import format_action, scan_action

if TYPE_CHECKING:
    # A dealer that writes neither histories nor faults loads nothing for them.
    from pathlib import Path

    from logs.export import Exporter


class LogWriter(Watcher):
    """Writes the ACPC log: a STATE line per hand before the players see its end, the SCORE line when all is played."""

    wants = frozenset({LogLine, MatchEnded})

    def __init__(self, file: LineFile, names: Sequence[str]) -> None:
        self._file = file
        self._names = names

    def notice(self, event: Event) -> None:
        """Write the hand or, at the end, the score."""
        if isinstance(event, LogLine):
            self._file.write_bytes(event.line)
        elif isinstance(event, MatchEnded):
            if event.cause is None:
                self._file.write(format_score_line(event.totals, self._names))
            self._file.close()


class TransactionWriter(Watcher):
    """Writes the transaction log: each action before it is applied."""

    wants = frozenset({ActionPlayed, MatchEnded})

    def __init__(self, file: LineFile) -> None:
        self._file = file

    def notice(self, event: Event) -> None:
        """Write the action."""
        if isinstance(event, ActionPlayed):
            self._file.write(format_transaction(event.action, event.hand_number, event.sent_us, event.received_us))
        elif isinstance(event, MatchEnded):
            self._file.close()


class _LateWriter(Watcher):
    """Writes a file that appears with its first line."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: LineFile | None = None

    def _write(self, lines: str) -> LineFile:
        if self._file is None:
            self._file = LineFile(self._path, append=True)
        self._file.write(lines)
        return self._file

    def close(self) -> None:
        """Close the file, if there is one."""
        if self._file is not None:
            self._file.close()


class CommentWriter(_LateWriter):
    """Keeps the comments of players; the file appears with the first one.

    It comes before the log writer: no hand is in the log whose comments are not on disk.
    """

    wants = frozenset({LogLine})

    def notice(self, event: Event) -> None:
        """Write the comments of the hand."""
        if isinstance(event, LogLine) and event.comments:
            self._write("".join(format_comment(event.hand_number, comment) for comment in event.comments))


class HandHistoryWriter(Watcher):
    """Writes every hand in a format of other programs, as soon as it is in the log."""

    wants = frozenset({HandFinished})

    def __init__(self, exporter: Exporter) -> None:
        self._exporter = exporter

    def notice(self, event: Event) -> None:
        """Write the hand."""
        if isinstance(event, HandFinished):
            self._exporter.write(event.record)


class FaultWriter(_LateWriter):
    """Keeps what players did wrong, a JSON object per line, so that a match that is resumed still counts it.

    The fault that ends a player's part is on disk before the first hand without that player: a machine that stops
    leaves no such hand without its reason.
    """

    wants = frozenset({FaultSeen})

    def notice(self, event: Event) -> None:
        """Write the fault; the file appears with the first one."""
        if isinstance(event, FaultSeen):
            file = self._write(format_fault(event.fault))
            if event.fault.is_final:
                file.sync()


def format_fault(fault: Fault) -> str:
    """The line of one fault, with its LF; of a long offending line the beginning is kept."""
    data = {
        "seat": fault.seat,
        "kind": fault.kind.value,
        "hand_number": fault.hand_number,
        "line": fault.line[:QUOTED_BYTES].decode("latin-1"),
        "remedy": remedy_text(fault),
        "is_final": fault.is_final,
    }
    import json

    return json.dumps(data) + "\n"


def remedy_text(fault: Fault) -> str:
    """What was done about a fault, in files and results: the remedy, with the action for one that was played."""
    return fault.remedy.value if fault.played is None else f"{fault.remedy.value} {format_action(fault.played)}"


def _parse_remedy(text: str) -> tuple[Remedy, Action | None]:
    word, _, action = text.partition(" ")
    if word != Remedy.PLAYED.value:
        return Remedy(text), None
    scanned = scan_action(action, 0, is_limit=action == "r")
    if scanned is None or scanned[0] is None:
        raise ValueError(f"there is no action in {text!r}")
    return Remedy.PLAYED, scanned[0]


def parse_fault(line: str) -> Fault:
    """The fault of a line.

    Raises:
        ValueError: it holds none.
    """
    try:
        import json

        data = json.loads(line)
        return Fault(
            Seat(int(data["seat"])),
            FaultKind(data["kind"]),
            int(data["hand_number"]),
            str(data["line"]).encode("latin-1"),
            *_parse_remedy(str(data["remedy"])),
        )
    except (KeyError, TypeError, RecursionError) as error:
        raise ValueError(f"there is no fault in {quoted(line)}") from error
