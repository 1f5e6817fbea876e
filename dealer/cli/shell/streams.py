"""Standard streams that never end the program: closed, full or no longer read, they cost output, not a traceback.

A reader that closes early (``| head``) is no failure. Output that cannot be written, such as to a full disk, is
reported on standard error, and the exit code is 2.

Standard output is for results alone. What the code of bots prints in this process goes to standard error, and so does
what it writes by the descriptor.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Iterator
from typing import Any, TextIO, cast

EXIT_FAILED = 1
"""The run ended early because of a fault or an error; gate: the player wins too little; doctor: there are errors."""
EXIT_USAGE = 2
"""The command cannot be run as given, or its output cannot be written."""
EXIT_UNDECIDED = 3
"""gate: too few deals to decide."""
EXIT_INTERRUPTED = 130
"""Stopped by Ctrl-C."""


def _clean(text: str) -> str:
    if text.isascii():
        return text
    # Here, because it loads the engine, which `arena --help` does not need.
    from engine.text import clean

    return clean(text)


class _Output:
    """A stream that drops output that cannot be written; `problem` is the cause, unless the reader closed it."""

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
            # The interpreter flushes the buffered rest at its end; it must not fail again.
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, self._stream.fileno())
            os.close(null)


@contextlib.contextmanager
def standard_streams() -> Iterator[None]:
    """Keep the program running whatever happens to its standard streams; exits with 2 if output was lost."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            # Otherwise the first opened file gets this number.
            os.open(os.devnull, os.O_RDWR)
    streams = []
    _reserve_standard_output()
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            stream = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
        if isinstance(stream, io.TextIOWrapper):
            # Characters that the encoding lacks become '?'.
            stream.reconfigure(errors="replace")
        streams.append(_Output(stream))
        setattr(sys, name, cast(TextIO, streams[-1]))
    output, errors = streams
    try:
        yield
    finally:
        # What bots print when the interpreter ends is no result.
        sys.stdout = sys.stderr
        output.flush()
        if output.problem is not None:
            errors.write(f"arena: cannot write to standard output: {output.problem.strerror}\n")
            errors.flush()
            sys.exit(EXIT_USAGE)
        errors.flush()


def _reserve_standard_output() -> None:
    """Let descriptor 1 be standard error, and `sys.stdout` write to a copy of what it was."""
    stream = sys.stdout
    # A console of Windows is more than a descriptor.
    if os.name == "nt" or not isinstance(stream, io.TextIOWrapper) or stream.fileno() != 1:
        return
    stream.flush()
    # Not inherited: a program that outlives this one would keep a pipe open.
    copy = os.dup(1)
    os.dup2(2, 1)
    results = open(copy, "w", encoding=stream.encoding)  # noqa: SIM115
    results.reconfigure(line_buffering=stream.line_buffering, write_through=stream.write_through)
    sys.stdout = results


@contextlib.contextmanager
def prints_to_standard_error() -> Iterator[TextIO]:
    """Send what code prints to standard error; the value is standard output."""
    output, errors = sys.stdout, sys.stderr
    sys.stdout = errors
    try:
        yield output
    finally:
        if sys.stdout is errors:
            sys.stdout = output
