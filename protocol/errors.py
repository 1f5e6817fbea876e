"""The errors of the protocol package.

    ProtocolError
    ├── FormatError              a text is not in its format; `column` is the first wrong byte (also a ValueError)
    │   └── GameDefinitionError  a game definition cannot be read or found
    ├── RemoteProtocolError      the peer broke the protocol: for the log and the fault counters
    └── LocalProtocolError       this side misused a session, or used it after its end: a bug in the caller

A remote error ends its session for good: every further call of the session raises a local error.
"""

from __future__ import annotations

from engine.errors import PortableError, quoted


class ProtocolError(PortableError):
    """The root of this package's errors."""


class FormatError(ProtocolError, ValueError):
    """A text is not in its format.

    Attributes:
        column: 0-based index of the first character that is wrong.
        problem: what is wrong there.
    """

    def __init__(self, text: str, column: int, problem: str) -> None:
        self.text = text
        self.column = column
        self.problem = problem
        super().__init__(f"{problem} (byte {column + 1} of {quoted(text, 200)})")


class GameDefinitionError(FormatError):
    """A game definition cannot be found, read or played."""

    def __init__(self, source: str, problem: str) -> None:
        self.text = source
        self.column = 0
        self.problem = problem
        ValueError.__init__(self, f"{source}: {problem}")


class RemoteProtocolError(ProtocolError):
    """The peer sent something the protocol does not allow."""

    def __init__(self, problem: str, line: bytes) -> None:
        self.line = line
        super().__init__(problem)


class LocalProtocolError(ProtocolError):
    """This side asked a session for something that the protocol does not allow at this point."""
