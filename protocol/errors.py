"""Errors of the protocol package.

    ProtocolError
    ├── FormatError              a text does not follow its format (also a ValueError)
    │   └── GameDefinitionError  a game definition cannot be found, read or played
    ├── RemoteProtocolError      the peer broke the protocol: log it and count a fault
    └── LocalProtocolError       the caller misused a session: a bug on this side

A session that has raised `RemoteProtocolError` accepts no further calls.
"""

from __future__ import annotations

from engine.errors import PortableError, quoted


class ProtocolError(PortableError):
    """Base class of this package's errors."""


class FormatError(ProtocolError, ValueError):
    """Text that does not follow its format.

    Attributes:
        text: the whole text.
        column: 0-based index of the first wrong character.
        problem: the error at that character, as a clause.
    """

    def __init__(self, text: str, column: int, problem: str) -> None:
        self.text = text
        self.column = column
        self.problem = problem
        super().__init__(f"{problem} (byte {column + 1} of {quoted(text, 200)})")


class GameDefinitionError(FormatError):
    """Game definition that cannot be found, read or played. `text` is its name or path."""

    def __init__(self, source: str, problem: str) -> None:
        self.text = source
        self.column = 0
        self.problem = problem
        # The message of FormatError names a byte of the text, but this text is a file name.
        ValueError.__init__(self, f"{source}: {problem}")


class RemoteProtocolError(ProtocolError):
    """Violation of the protocol by the peer.

    Attributes:
        line: the bytes that broke the protocol; empty if they are not kept.
    """

    def __init__(self, problem: str, line: bytes) -> None:
        self.line = line
        super().__init__(problem)


class LocalProtocolError(ProtocolError):
    """Call that a session does not allow in its present state."""
