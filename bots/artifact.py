"""File format of strategies, memories, chromosomes and checkpoints.

A file has three parts. The first is a line of JSON with the kind of the file, the version of its layout, and the fields
of that kind, such as the game or a record of the training. Then follow the contents, which are plain bytes or arrays
whose types and shapes are in the first line. The last line is the SHA-256 of everything before it, in hexadecimal.
Writing is atomic. Reading refuses a file that is truncated, damaged, of another kind or of another version.
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

_MAX_HEADER_BYTES: Final = 1 << 26
_TRAILER_BYTES: Final = 65
"""Length of the last line: 64 hexadecimal digits and a line feed."""


class FileKind(NamedTuple):
    """Kind of file, identified by its header.

    Attributes:
        what: name of the kind, with an article.
        version: version of the layout.
        remedy: advice that ends the message about an unusable file.
    """

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
        """Report missing or malformed parts as a damaged file."""
        try:
            yield
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise BotFileError(self.path, f"it is damaged: {error or 'parts are missing'}") from error

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays by name. They are read-only views of the contents."""
        # Imported here, because some bots read their files and play without numpy.
        import zlib

        import numpy as np

        with self.parsing():
            contents: Any = self.contents
            if self.header.get("compressed"):
                try:
                    contents = zlib.decompress(contents)
                except zlib.error as error:
                    raise ValueError(str(error)) from error
            arrays = {}
            offset = 0
            for name, dtype, *shape in self.header["arrays"]:
                arrays[name] = np.frombuffer(contents, dtype, math.prod(shape), offset).reshape(shape)
                offset += arrays[name].nbytes
            if offset != len(contents):
                raise ValueError(f"its arrays have {offset} bytes of {len(contents)}")
            return arrays


def as_arrays(
    arrays: Mapping[str, NDArray[np.generic] | None], *, is_compressed: bool = False
) -> tuple[dict[str, Any], bytes]:
    """Return the header fields and the contents of a file with these arrays. A None is left out."""
    import zlib

    layout = []
    parts = []
    for name, array in arrays.items():
        if array is not None:
            layout.append([name, array.dtype.str, *array.shape])
            parts.append(array.tobytes())
    header: dict[str, Any] = {"arrays": layout}
    contents = b"".join(parts)
    if is_compressed:
        return {**header, "compressed": True}, zlib.compress(contents)
    return header, contents


def artifact_bytes(kind: FileKind, header: Mapping[str, Any], contents: bytes) -> bytes:
    """Return a whole file as bytes. Equal headers, of JSON values, and equal contents give equal bytes."""
    line = json.dumps({**header, "what": kind.what, "version": kind.version}, sort_keys=True).encode("ascii")
    whole = line + b"\n" + contents
    return whole + hashlib.sha256(whole).hexdigest().encode("ascii") + b"\n"


def write_artifact(path: str | os.PathLike[str], kind: FileKind, header: Mapping[str, Any], contents: bytes) -> None:
    """Write the file of `artifact_bytes`. An earlier file at this path stays until the new one is complete."""
    write_file(path, artifact_bytes(kind, header, contents))


def write_file(path: str | os.PathLike[str], content: bytes | str) -> None:
    """Write any file atomically, in place of an earlier one.

    Raises:
        BotFileError: the file cannot be written.
    """
    # Imported here, because a bot that only plays needs neither.
    from pathlib import Path

    from logs.whole_file import write_whole

    try:
        write_whole(Path(path), content)
    except OSError as failure:
        raise BotFileError(os.fspath(path), f"it cannot be written: {failure.strerror or failure}") from failure


def lock_file(path: str | os.PathLike[str], in_use: str, *, patience_s: float = 0.0) -> FileLock:
    """Take the lock of a file that only one process may write.

    Raises:
        BotFileError: another process holds the lock, with the text `in_use`, or it cannot be created.
    """
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
    """Read a file of a kind and verify its checksum.

    Args:
        is_mapped: map the file into memory, shared by all processes that read it. It must not change meanwhile.

    Raises:
        BotFileError: the file is missing, damaged, of another kind or of another version.
    """
    path = os.fspath(path)
    try:
        with open(path, "rb") as file:
            line = file.readline(_MAX_HEADER_BYTES)
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
        if isinstance(version, int) and version > kind.version:
            advice = f"update acpc-arena, or {kind.remedy}"
        else:
            advice = kind.remedy
        problem = f"it is of version {quoted(version)}; this program reads version {kind.version}: {advice}"
        raise BotFileError(path, problem)
    return header
