"""The lines of a match on disk: the watchers that write the ACPC log and the transaction log, and those of faults."""

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
    """Writes the transaction log as the reference does: each action before it is applied."""

    wants = frozenset({ActionPlayed, MatchEnded})

    def __init__(self, file: LineFile) -> None:
        self._file = file

    def notice(self, event: Event) -> None:
        """Write the action."""
        if isinstance(event, ActionPlayed):
            self._file.write(format_transaction(event.action, event.hand_number, event.sent_us, event.received_us))
        elif isinstance(event, MatchEnded):
            self._file.close()


class HandTransactionWriter(Watcher):
    """Writes the same transaction log hand by hand, each before its line in the ACPC log."""

    wants = frozenset({HandPlayed, MatchEnded})

    def __init__(self, file: LineFile) -> None:
        self._file = file

    def notice(self, event: Event) -> None:
        """Write the actions of the hand."""
        if isinstance(event, HandPlayed):
            actions = [action for of_round in event.betting.rounds for _, action in of_round]
            lines = [
                format_transaction(action, event.hand_number, *times)
                for action, times in zip(actions, event.times, strict=True)
            ]
            self._file.write("".join(lines))
        elif isinstance(event, MatchEnded):
            self._file.close()


def format_fault(fault: Fault) -> str:
    """The line of one fault, with its LF; of a long offending line the beginning is kept."""
    data = {
        "seat": fault.seat,
        "kind": fault.kind.value,
        "hand_number": fault.hand_number,
        "line": fault.line[:QUOTED_BYTES].decode("latin-1"),
        "remedy": format_remedy(fault),
        "is_final": fault.is_final,
    }
    import json

    return json.dumps(data) + "\n"


def format_remedy(fault: Fault) -> str:
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


def parse_fault(line: str, players: int) -> Fault:
    """The fault of a line, by one of so many players.

    Raises:
        ValueError: it holds none.
    """
    import json

    try:
        data = json.loads(line)
        seat, hand_number = data["seat"], data["hand_number"]
        of_line = data["line"].encode("latin-1")
        fault = Fault(Seat(seat), FaultKind(data["kind"]), hand_number, of_line, *_parse_remedy(data["remedy"]))
    except (AttributeError, KeyError, TypeError, RecursionError) as error:
        raise ValueError(f"there is no fault in {quoted(line)}") from error
    if not (type(seat) is type(hand_number) is int and 0 <= seat < players):
        raise ValueError(f"there is no fault of this match in {quoted(line)}")
    return fault


def read_faults(path: str | os.PathLike[str], players: int, max_bytes: int = 1 << 40) -> list[Fault]:
    """The faults at the end of a file, if there is one; lines that hold none are left out."""
    faults: list[Fault] = []
    try:
        with open(path, "rb") as file:
            file.seek(max(0, os.path.getsize(path) - max_bytes))
            lines = file.read().splitlines()
    except OSError:
        return []
    for line in lines:
        with contextlib.suppress(ValueError):
            faults.append(parse_fault(line.decode("utf-8"), players))
    return faults
