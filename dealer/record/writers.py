"""Observers that keep a match on disk line by line: the ACPC log, the transaction log, comments, faults."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from dealer.match.causes import Cause
from dealer.match.faults import QUOTED_BYTES, Fault, FaultKind, Remedy
from dealer.match.observer import MatchObserver
from engine import Action, Seat
from logs import HandRecord, format_score_line, format_state_line, format_transaction
from logs.comments import format_comment
from logs.export import Exporter
from logs.line_file import LineFile
from protocol.actions import format_action, scan_action

__all__ = [
    "CommentWriter",
    "FaultWriter",
    "HandHistoryWriter",
    "LogWriter",
    "TransactionWriter",
    "format_fault",
    "parse_fault",
]


class LogWriter(MatchObserver):
    """Writes the ACPC log: a STATE line per hand before the players see its end, the SCORE line when all is played."""

    def __init__(self, file: LineFile, names: Sequence[str]) -> None:
        self._file = file
        self._names = names

    def hand_finished(self, record: HandRecord) -> None:
        """Write the hand."""
        self._file.write(format_state_line(record))

    def match_finished(self, last_asked_us: int, totals: Sequence[float]) -> None:
        """Write the score."""
        self._file.write(format_score_line(totals, self._names))
        self._file.close()

    def match_failed(self, cause: Cause, waited_us: int) -> None:
        """Keep what is written."""
        self._file.close()


class TransactionWriter(MatchObserver):
    """Writes the transaction log: each action before it is applied."""

    wants_actions = True

    def __init__(self, file: LineFile) -> None:
        self._file = file

    def action_played(self, action: Action, hand_number: int, sent_us: int, received_us: int) -> None:
        """Write the action."""
        self._file.write(format_transaction(action, hand_number, sent_us, received_us))

    def match_finished(self, last_asked_us: int, totals: Sequence[float]) -> None:
        """All is written."""
        self._file.close()

    def match_failed(self, cause: Cause, waited_us: int) -> None:
        """Keep what is written."""
        self._file.close()


class CommentWriter(MatchObserver):
    """Keeps what players remarked; the file appears with the first remark.

    It comes before the log writer: no hand is in the log whose comments are not on disk.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: LineFile | None = None

    def hand_finished(self, record: HandRecord) -> None:
        """Write the comments of the hand."""
        if record.comments:
            if self._file is None:
                self._file = LineFile(self._path, append=True)
            self._file.write("".join(format_comment(record.hand_number, comment) for comment in record.comments))

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()


class HandHistoryWriter(MatchObserver):
    """Writes every hand in a format of other programs, as soon as it is in the log."""

    def __init__(self, exporter: Exporter) -> None:
        self._exporter = exporter

    def hand_finished(self, record: HandRecord) -> None:
        """Write the hand."""
        self._exporter.write(record)


class FaultWriter(MatchObserver):
    """Keeps what players did wrong, a JSON object a line, so that a match that goes on later still counts it.

    That a player takes no part any more is on disk before the first hand without him is: also a machine that stops
    leaves no such hand without its reason.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: LineFile | None = None

    def fault(self, fault: Fault) -> None:
        """Write the fault; the file appears with the first one."""
        if self._file is None:
            self._file = LineFile(self._path, append=True)
        self._file.write(format_fault(fault))
        if fault.is_final:
            self._file.sync()

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()


def format_fault(fault: Fault) -> str:
    """The line of one fault, with its LF; a long offending line is kept in part."""
    data = {
        "seat": fault.seat,
        "kind": fault.kind.value,
        "hand_number": fault.hand_number,
        "line": fault.line[:QUOTED_BYTES].decode("latin-1"),
        "remedy": remedy_text(fault),
        "is_final": fault.is_final,
    }
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
        raise ValueError(f"no action stands in {text!r}")
    return Remedy.PLAYED, scanned[0]


def parse_fault(line: str) -> Fault:
    """The fault of a line.

    Raises:
        ValueError: it holds none.
    """
    try:
        data = json.loads(line)
        return Fault(
            Seat(int(data["seat"])),
            FaultKind(data["kind"]),
            int(data["hand_number"]),
            str(data["line"]).encode("latin-1"),
            *_parse_remedy(str(data["remedy"])),
        )
    except (KeyError, TypeError) as error:
        raise ValueError(f"no fault stands in {line!r}") from error
