"""Opening files of hands, compressed or not: ``match.log``, ``match.log.xz``, ``.gz``, ``.bz2``."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, TextIO, cast

from logs.errors import LogError

__all__ = ["COMPRESSIONS", "opened", "stem", "without_compression"]

COMPRESSIONS: Final = (".xz", ".gz", ".bz2")


@contextmanager
def opened(
    path: str, *, encoding: str = "utf-8", errors: str = "surrogateescape", newline: str | None = "\n"
) -> Iterator[TextIO]:
    """A file to be read as text; see the built-in `open` for the arguments.

    Raises:
        LogError: its compression is damaged, or it is not compressed as its name says.
        OSError: it cannot be read.
    """
    opener, damages = _opener(path[-4:].lower())
    with opener(path, "rt", encoding=encoding, errors=errors, newline=newline) as file:
        try:
            yield file
        except damages as error:
            raise LogError(path, f"it cannot be uncompressed to its end: {error}") from None
        except OSError as error:
            # What bz2 says of damage has no number.
            if error.errno is None:
                raise LogError(path, f"it cannot be uncompressed to its end: {error}") from None
            raise


def _opener(ending: str) -> tuple[Callable[..., TextIO], tuple[type[Exception], ...]]:
    """What opens such a file, and what it raises where the file is damaged."""
    # Imported where they are needed: a system's Python may have been built without one of them.
    if ending.endswith(".xz"):
        import lzma

        return cast(Callable[..., TextIO], lzma.open), (EOFError, lzma.LZMAError)
    if ending.endswith(".gz"):
        import gzip
        import zlib

        return cast(Callable[..., TextIO], gzip.open), (EOFError, zlib.error)
    if ending == ".bz2":
        import bz2

        return cast(Callable[..., TextIO], bz2.open), (EOFError,)
    return cast(Callable[..., TextIO], open), ()


def without_compression(path: str) -> str:
    """The path of the file that was compressed: ``m.log`` of ``m.log.xz``."""
    base, ending = os.path.splitext(path)
    return base if ending.lower() in COMPRESSIONS else path


def stem(path: str) -> str:
    """What the files of one match share: ``m`` of ``m.log`` and of ``m.log.xz``, with its folder."""
    return os.path.splitext(without_compression(path))[0]
