"""Open files of hands, compressed or not: ``match.log``, ``match.log.xz``, ``.gz``, ``.bz2``.

Text is UTF-8, with or without a byte order mark, or UTF-16. Lines are bounded. A file that is damaged, or has a line
that does not end, is read up to that place (`lines_of`).
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from io import BufferedReader, TextIOWrapper
from typing import Final, TextIO, cast

from logs.errors import LogError, ProblemKind, ProblemReporter

_COMPRESSIONS: Final = (".xz", ".gz", ".bz2")

_MAX_LINE_CHARACTERS: Final = 1 << 24
"""Length of a line beyond which a file is not read further."""
_CHUNK_CHARACTERS: Final = 1 << 16


@contextmanager
def opened(path: str, *, errors: str = "surrogateescape", newline: str | None = "\n") -> Iterator[TextIO]:
    """Open a file as text, without its byte order mark; see the built-in `open` for the arguments.

    Raises:
        LogError: it is a pipe or a device, or its compression is damaged or not the one that its name says.
        OSError: it cannot be read.
    """
    mode = os.stat(path).st_mode
    # Reading a pipe would wait for its writer.
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        raise LogError(path, "this is not a regular file")
    opener, damage_errors = _opener(path[-4:].lower())
    with opener(path, "rb") as file:
        try:
            encoding = _encoding(file.peek(4)[:4])
            # In UTF-16, damaged text has no single bytes that surrogates could stand for.
            text_errors = errors if encoding.startswith("utf-8") else "replace"
            with TextIOWrapper(file, encoding, text_errors, newline) as text:
                yield text
        except damage_errors as error:
            raise LogError(path, f"it cannot be uncompressed to its end: {error}") from None
        except OSError as error:
            # bz2 and gzip report damage as an OSError without a number.
            if error.errno is None:
                raise LogError(path, f"it cannot be uncompressed to its end: {error}") from None
            raise


def lines_of(
    opening: AbstractContextManager[TextIO], max_characters: int, problems: ProblemReporter, *, lines_before: int = 0
) -> Iterator[str]:
    """Yield the lines of a file with their ends, cut to `max_characters`.

    A file whose compression is damaged, or which has a line that does not end, is read up to that place. This is
    reported as a problem, or raised if nothing has been read.

    Args:
        lines_before: number of lines of the file before the part that is opened.

    Raises:
        LogError: nothing of the file can be read.
        DamagedLogError: it cannot be read to its end, and reading is strict.
        OSError: it cannot be read.
    """
    count = lines_before
    try:
        with opening as file:
            while line := file.readline(max_characters):
                if len(line) == max_characters and not line.endswith("\n"):
                    _skip_line(file, problems.path)
                count += 1
                yield line
    except LogError as error:
        if count == lines_before:
            raise
        problems.report(count + 1, None, error.problem, ProblemKind.CUT)


def _skip_line(file: TextIO, path: str) -> None:
    skipped = 0
    while chunk := file.readline(_CHUNK_CHARACTERS):
        skipped += len(chunk)
        if chunk.endswith("\n"):
            return
        if skipped > _MAX_LINE_CHARACTERS:
            raise LogError(path, f"a line does not end within {_MAX_LINE_CHARACTERS:,} characters")


def _encoding(head: bytes) -> str:
    if head.startswith(b"\xef\xbb\xbf"):
        return "utf-8-sig"
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    # UTF-16 without a byte order mark: every other byte of ASCII text is zero.
    zeros = [not byte for byte in head]
    if zeros == [False, True, False, True]:
        return "utf-16-le"
    if zeros == [True, False, True, False]:
        return "utf-16-be"
    return "utf-8"


def is_plain(path: str) -> bool:
    """Return whether the bytes of a file are its text in UTF-8: not compressed, without a byte order mark.

    Raises:
        OSError: it cannot be read.
    """
    if without_compression(path) != path:
        return False
    with open(path, "rb") as file:
        return _encoding(file.read(4)) == "utf-8"


def _opener(ending: str) -> tuple[Callable[..., BufferedReader], tuple[type[Exception], ...]]:
    # Imported here, as Python may have been built without one of them.
    if ending.endswith(".xz"):
        import lzma

        return cast(Callable[..., BufferedReader], lzma.open), (EOFError, lzma.LZMAError)
    if ending.endswith(".gz"):
        import gzip
        import zlib

        return cast(Callable[..., BufferedReader], gzip.open), (EOFError, zlib.error)
    if ending == ".bz2":
        import bz2

        return cast(Callable[..., BufferedReader], bz2.open), (EOFError,)
    return cast(Callable[..., BufferedReader], open), ()


def without_compression(path: str) -> str:
    """Return the path of a file before compression: ``m.log`` for ``m.log.xz``."""
    base, ending = os.path.splitext(path)
    if ending.lower() in _COMPRESSIONS:
        return base
    return path


def stem(path: str) -> str:
    """Return the common part of the paths of a match's files: ``m`` for ``m.log`` and for ``m.log.xz``."""
    return os.path.splitext(without_compression(path))[0]
