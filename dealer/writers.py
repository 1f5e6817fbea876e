"""Observers that keep a match on disk: the ACPC log and the transaction log, written line by line as things happen."""

from __future__ import annotations

from collections.abc import Sequence

from dealer.faults import MatchFailure
from dealer.observer import MatchObserver
from engine import Action
from logs import HandRecord, format_score_line, format_state_line, format_transaction
from logs.line_file import LineFile

__all__ = ["LogWriter", "TransactionWriter"]


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

    def match_failed(self, failure: MatchFailure, waited_us: int) -> None:
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

    def match_failed(self, failure: MatchFailure, waited_us: int) -> None:
        """Keep what is written."""
        self._file.close()
