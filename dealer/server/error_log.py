"""The last warnings and errors of a running server, for who runs it."""

from __future__ import annotations

import contextlib
import logging
from collections import deque
from collections.abc import Iterator
from typing import Final

_MOST_KEPT: Final = 50
_OF_MATCHES: Final = ("dealer.match", "dealer.run", "dealer.table")


class ErrorLog(logging.Handler):
    """Keeps the last warnings and errors, whatever logs them, but for warnings of matches: these are faults of bots.

    Attributes:
        last: the newest last.
        errors: how many errors there were; warnings do not count.
    """

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.last: deque[logging.LogRecord] = deque(maxlen=_MOST_KEPT)
        self.errors = 0

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a record."""
        is_error = record.levelno >= logging.ERROR
        if is_error or not record.name.startswith(_OF_MATCHES):
            self.last.append(record)
        self.errors += is_error

    @contextlib.contextmanager
    def listening(self) -> Iterator[None]:
        """Keep what is logged in the block."""
        logging.getLogger().addHandler(self)
        try:
            yield
        finally:
            logging.getLogger().removeHandler(self)
