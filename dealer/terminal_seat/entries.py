"""What the person types, line by line: from a keyboard, or from a pipe."""

from __future__ import annotations

import io
import sys
from typing import Final, TextIO

__all__ = ["Entries"]

_LONGEST: Final = 1000
"""Characters of a line that are kept; nobody means more."""


class Entries:
    """Lines of standard input.

    Attributes:
        is_terminal: whether somebody types them, and sees what is typed.
    """

    def __init__(self, stream: TextIO | None = None) -> None:
        """Read from a stream; from standard input by default, which may be closed."""
        self._stream = sys.stdin if stream is None else stream
        if isinstance(self._stream, io.TextIOWrapper):
            self._stream.reconfigure(errors="replace")
        self.is_terminal = self._stream is not None and self._stream.isatty()

    def next(self) -> str | None:
        """The next line without its end; None at the end of input."""
        if self._stream is None:
            return None
        try:
            line = self._stream.readline(_LONGEST)
            rest = line
            while rest and not rest.endswith("\n"):
                rest = self._stream.readline(_LONGEST)
        except OSError:
            # The terminal is gone.
            return None
        return line.rstrip("\r\n") if line else None
