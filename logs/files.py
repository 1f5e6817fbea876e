"""Opening files of hands, compressed or not: ``match.log``, ``match.log.xz``, ``.gz``, ``.bz2``.

Text is UTF-8, with a byte order mark or without, or UTF-16. Only regular files are opened: a pipe would wait for its
writer. A line has a bound, and a file that is damaged, or whose line does not end, is read up to there (`lines_of`).
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from io import BufferedReader, TextIOWrapper
from typing import Final, TextIO, cast

from logs.errors import LogError, ProblemKind, ProblemReporter

COMPRESSIONS: Final = (".xz", ".gz", ".bz2")

_MOST_OF_LINE: Final = 1 << 24
"""Characters of a line, after which a file is not read on."""
_PIECE_CHARACTERS: Final = 1 << 16


@contextmanager
def opened(path: str, *, errors: str = "surrogateescape", newline: str | None = "\n") -> Iterator[TextIO]:
    """A file to be read as text, without its byte order mark; see the built-in `open` for the arguments.

    Raises:
        LogError: it is a pipe or a device, its compression is damaged, or its compression is not the one of its name.
        OSError: it cannot be read.
    """
    mode = os.stat(path).st_mode
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        raise LogError(path, "this is not a regular file")
    opener, damages = _opener(path[-4:].lower())
    with opener(path, "rb") as file:
        try:
            encoding = _encoding(file.peek(4)[:4])
            # What is damaged in UTF-16 has no bytes of its own to come back as.
            with TextIOWrapper(file, encoding, errors if encoding.startswith("utf-8") else "replace", newline) as text:
                yield text
        except damages as error:
            raise LogError(path, f"it cannot be uncompressed to its end: {error}") from None
        except OSError as error:
            # Errors of bz2 about damage have no number.
            if error.errno is None:
                raise LogError(path, f"it cannot be uncompressed to its end: {error}") from None
            raise


def lines_of(
    opening: AbstractContextManager[TextIO], max_characters: int, problems: ProblemReporter, *, lines_before: int = 0
) -> Iterator[str]:
    """The lines of a file, with their ends; what a line has beyond a bound is dropped, and its end with it.

    A file that cannot be read on, since its compression is damaged or a line does not end, ends there. That is reported
    as a problem, or raised where nothing has been read.

    Args:
        lines_before: how many lines the file has before what is opened.

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
                    _pass_over(file, problems.path)
                count += 1
                yield line
    except LogError as error:
        if count == lines_before:
            raise
        problems.report(count + 1, None, error.problem, ProblemKind.CUT)


def _pass_over(file: TextIO, path: str) -> None:
    passed = 0
    while piece := file.readline(_PIECE_CHARACTERS):
        passed += len(piece)
        if piece.endswith("\n"):
            return
        if passed > _MOST_OF_LINE:
            raise LogError(path, f"a line does not end within {_MOST_OF_LINE:,} characters")


def _encoding(head: bytes) -> str:
    if head.startswith(b"\xef\xbb\xbf"):
        return "utf-8-sig"
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    zeros = [not byte for byte in head]
    if zeros == [False, True, False, True]:
        return "utf-16-le"
    if zeros == [True, False, True, False]:
        return "utf-16-be"
    return "utf-8"


def is_plain(path: str) -> bool:
    """Whether the bytes of a file are those of its text: neither compressed nor UTF-16, and without a byte order mark.

    Raises:
        OSError: it cannot be read.
    """
    if without_compression(path) != path:
        return False
    with open(path, "rb") as file:
        return _encoding(file.read(4)) == "utf-8"


def _opener(ending: str) -> tuple[Callable[..., BufferedReader], tuple[type[Exception], ...]]:
    # Imported where they are needed: a system's Python may have been built without one of them.
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
    """The path of the file that was compressed: ``m.log`` of ``m.log.xz``."""
    base, ending = os.path.splitext(path)
    if ending.lower() in COMPRESSIONS:
        return base
    return path


def stem(path: str) -> str:
    """What the files of one match share: ``m`` of ``m.log`` and of ``m.log.xz``, with its folder."""
    return os.path.splitext(without_compression(path))[0]
