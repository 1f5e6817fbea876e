"""Recent warnings and errors of a running server, for its operator."""

from __future__ import annotations

import contextlib
import logging
from collections import deque
from collections.abc import Iterator
from typing import Final

_MAX_RECORDS: Final = 50
_MATCH_LOGGERS: Final = ("dealer.match", "dealer.run", "dealer.table")


class ErrorLog(logging.Handler):
    """Handler that keeps recent warnings and errors of all loggers.

    Warnings of matches are left out, because they report faults of bots.

    Attributes:
        last: recent records, the newest last.
        errors: number of errors so far, without warnings.
    """

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.last: deque[logging.LogRecord] = deque(maxlen=_MAX_RECORDS)
        self.errors = 0

    def emit(self, record: logging.LogRecord) -> None:
        is_error = record.levelno >= logging.ERROR
        if is_error or not record.name.startswith(_MATCH_LOGGERS):
            self.last.append(record)
        self.errors += is_error

    @contextlib.contextmanager
    def listening(self) -> Iterator[None]:
        """Listen to the root logger until the end of the block."""
        logging.getLogger().addHandler(self)
        try:
            yield
        finally:
            logging.getLogger().removeHandler(self)
