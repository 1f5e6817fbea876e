"""Write the files of a match: the ACPC log, the transaction log and the faults."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence

from dealer.match.events import ActionPlayed, Event, HandPlayed, LogLine, MatchEnded, Watcher
from dealer.match.faults import QUOTED_BYTES, Fault, FaultKind, Remedy
from engine import Action, Seat
from engine.errors import quoted
from logs import format_score_line, format_transaction
from logs.whole_file import LineFile
from protocol.actions import format_action, scan_action


class LogWriter(Watcher):
    """Writes the ACPC log: a STATE line per hand, and the SCORE line of a match that was played to its end."""

    wants = frozenset({LogLine, MatchEnded})

    def __init__(self, file: LineFile, names: Sequence[str]) -> None:
        self._file = file
        self._names = names

    def notice(self, event: Event) -> None:
        """Write the hand or the score."""
        if isinstance(event, LogLine):
            self._file.write_bytes(event.line)
        elif isinstance(event, MatchEnded):
            if event.cause is None:
                self._file.write(format_score_line(event.totals, self._names))
            self._file.close()


class TransactionWriter(Watcher):
    """Writes the transaction log action by action, as the reference does, before the action is applied."""

    wants = frozenset({ActionPlayed, MatchEnded})

    def __init__(self, file: LineFile) -> None:
        self._file = file

    def notice(self, event: Event) -> None:
        if isinstance(event, ActionPlayed):
            self._file.write(format_transaction(event.action, event.hand_number, event.sent_us, event.received_us))
        elif isinstance(event, MatchEnded):
            self._file.close()


class HandTransactionWriter(Watcher):
    """Writes the same transaction log with one write a hand, before the hand's line in the ACPC log.

    A kill loses at most the actions of the unfinished hand, which a resumed match plays again.
    """

    wants = frozenset({HandPlayed, MatchEnded})

    def __init__(self, file: LineFile) -> None:
        self._file = file

    def notice(self, event: Event) -> None:
        if isinstance(event, HandPlayed):
            times = iter(event.times)
            lines = []
            for actions in event.betting.rounds:
                for _, action in actions:
                    lines.append(format_transaction(action, event.hand_number, *next(times)))
            self._file.write("".join(lines))
        elif isinstance(event, MatchEnded):
            self._file.close()


def format_fault(fault: Fault) -> str:
    """Format a fault as a line of JSON, with its LF."""
    data = {
        "seat": fault.seat,
        "kind": fault.kind.value,
        "hand_number": fault.hand_number,
        # Latin-1 maps every byte to a character, so `parse_fault` restores the line exactly.
        "line": fault.line[:QUOTED_BYTES].decode("latin-1"),
        "remedy": format_remedy(fault),
        "is_final": fault.is_final,
    }
    import json

    return json.dumps(data) + "\n"


def format_remedy(fault: Fault) -> str:
    """Format the remedy of a fault for files and results, with the action that was played, such as ``played c``."""
    if fault.played is None:
        return fault.remedy.value
    return f"{fault.remedy.value} {format_action(fault.played)}"


def _parse_remedy(text: str) -> tuple[Remedy, Action | None]:
    word, _, action = text.partition(" ")
    if word != Remedy.PLAYED.value:
        return Remedy(text), None
    # A raise of a limit game has no size.
    scanned = scan_action(action, 0, is_limit=action == "r")
    if scanned is None or scanned[0] is None:
        raise ValueError(f"there is no action in {text!r}")
    return Remedy.PLAYED, scanned[0]


def parse_fault(line: str, players: int) -> Fault:
    """Parse a line of `format_fault`.

    Args:
        line: the line.
        players: number of players of the match.

    Raises:
        ValueError: the line is not a fault of such a match.
    """
    import json

    try:
        data = json.loads(line)
        seat = data["seat"]
        hand_number = data["hand_number"]
        offending_line = data["line"].encode("latin-1")
        remedy, played = _parse_remedy(data["remedy"])
        fault = Fault(Seat(seat), FaultKind(data["kind"]), hand_number, offending_line, remedy, played)
    except (AttributeError, KeyError, TypeError, RecursionError) as error:
        raise ValueError(f"there is no fault in {quoted(line)}") from error
    # By type, not isinstance: a bool is an int.
    if not (type(seat) is type(hand_number) is int and 0 <= seat < players):
        raise ValueError(f"there is no fault of this match in {quoted(line)}")
    return fault


def read_faults(path: str | os.PathLike[str], players: int, max_bytes: int = 1 << 40) -> list[Fault]:
    """Read the faults in the last `max_bytes` of a file. Skip unreadable lines; a missing file has none."""
    faults: list[Fault] = []
    try:
        with open(path, "rb") as file:
            file.seek(max(0, os.path.getsize(path) - max_bytes))
            lines = file.read().splitlines()
    except OSError:
        return []
    for line in lines:
        # The first line may have been cut by `max_bytes`.
        with contextlib.suppress(ValueError):
            faults.append(parse_fault(line.decode("utf-8"), players))
    return faults
