"""Standard streams of the commands.

Closed, full or unread streams lose output, but never end a command with a traceback. A reader that closes early
(``| head``) is no error. Output that cannot be written, for example to a full disk, is reported on standard error, and
the exit code is 2. Standard output is for results alone: output of bots' code in this process, also by the file
descriptor, goes to standard error.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Iterator
from typing import IO, Any, TextIO, cast

EXIT_FAILED = 1
"""The run ended early after a fault or an error. For gate, the player wins too little; for doctor, there are errors."""
EXIT_USAGE = 2
"""The command cannot be run as given, or its output cannot be written."""
EXIT_UNDECIDED = 3
"""Only of gate: more deals are needed to decide."""
EXIT_INTERRUPTED = 130
"""Stopped by Ctrl-C."""


def _clean(text: str) -> str:
    if text.isascii():
        return text
    # Not at the top: it imports the engine, which `arena --help` does not need.
    from engine.text import clean

    return clean(text)


class _Output:
    """Stream that drops output after a failure to write.

    Attributes:
        problem: the failure; None if there was none or only the reader had closed the stream.
    """

    def __init__(self, stream: TextIO) -> None:
        self.problem: OSError | None = None
        self._stream = stream
        self._is_dead = False

    def write(self, text: str) -> int:
        with self._surviving():
            self._stream.write(_clean(text))
        return len(text)

    def flush(self) -> None:
        with self._surviving():
            self._stream.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    @contextlib.contextmanager
    def _surviving(self) -> Iterator[None]:
        """Suppress a failure to write in the block, and from then on drop all output."""
        if self._is_dead:
            yield
            return
        try:
            yield
        except OSError as error:
            self._is_dead = True
            # Windows reports a pipe without reader as an invalid argument.
            is_unread = isinstance(error, BrokenPipeError) or (os.name == "nt" and error.errno == 22)
            self.problem = None if is_unread else error
            # The interpreter flushes the buffer at exit, which must not fail again.
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, self._stream.fileno())
            os.close(null)


@contextlib.contextmanager
def standard_streams() -> Iterator[None]:
    """Replace the standard streams by ones that never fail; exit with 2 if output was lost."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            # Otherwise the next file that is opened gets the number of the closed stream.
            os.open(os.devnull, os.O_RDWR)
    streams = []
    _reserve_standard_output()
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            stream = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
        if isinstance(stream, io.TextIOWrapper):
            # Characters outside the encoding are printed as '?'.
            stream.reconfigure(errors="replace")
        streams.append(_Output(stream))
        setattr(sys, name, cast(TextIO, streams[-1]))
    output, errors = streams
    try:
        yield
    finally:
        # Bots may print when the interpreter exits, and that is not a result.
        sys.stdout = sys.stderr
        output.flush()
        if output.problem is not None:
            errors.write(f"arena: cannot write to standard output: {output.problem.strerror}\n")
            errors.flush()
            sys.exit(EXIT_USAGE)
        errors.flush()


def _reserve_standard_output() -> None:
    """Redirect descriptor 1 to standard error; `sys.stdout` keeps a copy of the old one."""
    stream = sys.stdout
    # Python writes to a Windows console by handle, not by descriptor.
    if os.name == "nt" or not isinstance(stream, io.TextIOWrapper) or stream.fileno() != 1:
        return
    stream.flush()
    # `dup` makes a descriptor that is not inherited: a bot that outlives this process would keep a pipe open.
    copy = os.dup(1)
    os.dup2(2, 1)
    results = open(copy, "w", encoding=stream.encoding)  # noqa: SIM115
    results.reconfigure(line_buffering=stream.line_buffering, write_through=stream.write_through)
    sys.stdout = results


def restore_standard_output(output: IO[str]) -> None:
    """Point `sys.stdout` and descriptor 1 to standard output again, for a package that takes them over itself.

    Args:
        output: the real standard output, which `prints_to_standard_error` yields.
    """
    if output.fileno() != 1:
        os.dup2(output.fileno(), 1)
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115


@contextlib.contextmanager
def prints_to_standard_error() -> Iterator[TextIO]:
    """Redirect `sys.stdout` to standard error in the block, and yield the real standard output."""
    output = sys.stdout
    errors = sys.stderr
    sys.stdout = errors
    try:
        yield output
    finally:
        if sys.stdout is errors:
            sys.stdout = output
