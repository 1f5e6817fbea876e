"""The files that bots and their trainings keep: strategies, memories, chromosomes, checkpoints. One format for all.

A file is one line of JSON that says what the file is, the version of its layout and whatever its kind adds, such as the
game or a record of the training; then its contents; then the SHA-256 of both, as a line of hexadecimal digits. Contents
are bytes of any kind, or arrays one after another, whose types and shapes the first line has.

Files are read without numpy, for the bots that play without it, unless they hold arrays. A file is written whole or not
at all; one that is cut, damaged, foreign or of another version is refused in one sentence.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from bots.errors import BotFileError
from engine.errors import quoted

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from logs.whole_file import FileLock

_LONGEST_LINE: Final = 1 << 26
_TRAILER_BYTES: Final = 65
"""The checksum's digits and the end of their line."""


class FileKind(NamedTuple):
    """What a file holds; `remedy` is what the reader of an error can do."""

    what: str
    version: int
    remedy: str


class Artifact(NamedTuple):
    kind: FileKind
    path: str
    header: Mapping[str, Any]
    contents: memoryview

    @contextmanager
    def parsing(self) -> Iterator[None]:
        """What is raised inside the `with` because parts are missing or wrong means that the file is damaged."""
        try:
            yield
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise BotFileError(self.path, f"it is damaged: {error or 'parts are missing'}") from error

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Its arrays by name; not to be written to."""
        import zlib

        import numpy as np

        with self.parsing():
            contents: Any = self.contents
            if self.header.get("compressed"):
                try:
                    contents = zlib.decompress(contents)
                except zlib.error as error:
                    raise ValueError(str(error)) from error
            found = {}
            at = 0
            for name, dtype, *shape in self.header["arrays"]:
                found[name] = np.frombuffer(contents, dtype, math.prod(shape), at).reshape(shape)
                at += found[name].nbytes
            if at != len(contents):
                raise ValueError(f"its arrays have {at} bytes of {len(contents)}")
            return found


def as_arrays(
    arrays: Mapping[str, NDArray[np.generic] | None], *, is_compressed: bool = False
) -> tuple[dict[str, Any], bytes]:
    """Arrays as a file has them: what the header says about them, and the contents. None is left out."""
    import zlib

    there = {name: array for name, array in arrays.items() if array is not None}
    contents = b"".join([array.tobytes() for array in there.values()])
    header: dict[str, Any] = {"arrays": [[name, array.dtype.str, *array.shape] for name, array in there.items()]}
    if is_compressed:
        return {**header, "compressed": True}, zlib.compress(contents)
    return header, contents


def artifact_bytes(kind: FileKind, header: Mapping[str, Any], contents: bytes) -> bytes:
    """A file as bytes, always the same ones for the same header, an object of JSON, and contents."""
    line = json.dumps({**header, "what": kind.what, "version": kind.version}, sort_keys=True).encode("ascii")
    whole = line + b"\n" + contents
    return whole + hashlib.sha256(whole).hexdigest().encode("ascii") + b"\n"


def write_artifact(path: str | os.PathLike[str], kind: FileKind, header: Mapping[str, Any], contents: bytes) -> None:
    """Write a file in place of an earlier one, which remains until the new one is complete; see `artifact_bytes`."""
    write_file(path, artifact_bytes(kind, header, contents))


def write_file(path: str | os.PathLike[str], content: bytes | str) -> None:
    """Write any file whole, in place of an earlier one."""
    # A bot that only plays needs neither.
    from pathlib import Path

    from logs.whole_file import write_whole

    try:
        write_whole(Path(path), content)
    except OSError as failure:
        raise BotFileError(os.fspath(path), f"it cannot be written: {failure.strerror or failure}") from failure


def lock_file(path: str | os.PathLike[str], in_use: str, *, patience_s: float = 0.0) -> FileLock:
    """The lock of a file that one process writes; a `BotFileError` that says `in_use` if another keeps it."""
    from pathlib import Path

    from logs.whole_file import FileLock

    path = os.fspath(path)
    try:
        return FileLock(Path(f"{path}.lock"), patience_s)
    except BlockingIOError:
        raise BotFileError(path, in_use) from None
    except OSError as error:
        raise BotFileError(path, f"it cannot be written: {error.strerror or error}") from error


def read_artifact(path: str | os.PathLike[str], kind: FileKind, *, is_mapped: bool = False) -> Artifact:
    """Read a whole file of a kind; a mapped file is shared by processes and must not change.

    Raises:
        BotFileError: there is no such file, or it is damaged, of another kind or of another version.
    """
    path = os.fspath(path)
    try:
        with open(path, "rb") as file:
            line = file.readline(_LONGEST_LINE)
            header = _header(path, kind, line)
            if is_mapped:
                import mmap

                whole = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
            else:
                whole = memoryview(line + file.read())
    except OSError as error:
        raise BotFileError(path, f"it cannot be read: {error.strerror or error}") from error
    checksum = bytes(whole[-_TRAILER_BYTES:])
    if len(whole) < len(line) + _TRAILER_BYTES or checksum != _checksum(whole[:-_TRAILER_BYTES]):
        raise BotFileError(path, f"it is damaged: its last line is not the checksum of what precedes it; {kind.remedy}")
    return Artifact(kind, path, header, whole[len(line) : -_TRAILER_BYTES])


def _checksum(data: memoryview) -> bytes:
    return hashlib.sha256(data).hexdigest().encode("ascii") + b"\n"


def _header(path: str, kind: FileKind, line: bytes) -> dict[str, Any]:
    try:
        header = json.loads(line)
    except (ValueError, RecursionError):
        header = None
    if not isinstance(header, dict) or header.get("what") != kind.what:
        raise BotFileError(path, f"it does not begin with a line that identifies it as {kind.what}; {kind.remedy}")
    version = header.get("version")
    if version != kind.version:
        is_newer = isinstance(version, int) and version > kind.version
        if is_newer:
            advice = f"update acpc-arena, or {kind.remedy}"
        else:
            advice = kind.remedy
        problem = f"it is of version {quoted(version)}; this program reads version {kind.version}: {advice}"
        raise BotFileError(path, problem)
    return header
