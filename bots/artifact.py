"""The files that bots and their trainings keep: strategies, memories, chromosomes, checkpoints. One format for all.

A file is one line of JSON that says what the file is, the version of its layout and whatever its kind adds, such as the
game or a record of the training; then its contents; then the SHA-256 of both, as a line of hexadecimal digits. Contents
are bytes of any kind, or arrays one after another, whose types and shapes the first line has.

Files are read without numpy, for the bots that play without it, unless they hold arrays. A file is written whole or not
at all; one that is cut, damaged, foreign or of another version is refused in one sentence.

A `ResultJournal` keeps the results of a long computation as they are found: a stopped computation does not repeat them.
The first line of the file holds the settings, every other line one result. A last line without an end, which a stop in
the middle of writing leaves, is dropped.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self

from bots.errors import BotFileError, CheckpointError
from engine.errors import quoted

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

_LONGEST_LINE: Final = 1 << 26
_MOST_LETTERS: Final = 40
_TRAILER_BYTES: Final = 65
"""The checksum's digits and the end of their line."""


class FileKind(NamedTuple):
    """What a file holds; `remedy` is what the reader of an error can do."""

    what: str
    version: int
    error: type[BotFileError]
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
            raise self.kind.error(self.path, f"it is damaged: {error or 'parts are missing'}") from error

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
            found, at = {}, 0
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
    write_file(path, artifact_bytes(kind, header, contents), kind.error)


def write_file(path: str | os.PathLike[str], content: bytes | str, error: type[BotFileError]) -> None:
    """Write any file whole, in place of an earlier one, or raise the error given."""
    # A bot that only plays needs neither.
    from pathlib import Path

    from logs.whole_file import write_whole

    try:
        write_whole(Path(path), content)
    except OSError as failure:
        raise error(os.fspath(path), f"it cannot be written: {failure.strerror or failure}") from failure


def read_artifact(path: str | os.PathLike[str], kind: FileKind, *, is_mapped: bool = False) -> Artifact:
    """Read a whole file of a kind, or raise its error; a mapped file is shared by processes and must not change."""
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
        raise kind.error(path, f"it cannot be read: {error.strerror or error}") from error
    checksum = bytes(whole[-_TRAILER_BYTES:])
    if len(whole) < len(line) + _TRAILER_BYTES or checksum != _checksum(whole[:-_TRAILER_BYTES]):
        raise kind.error(path, f"it is damaged: its last line is not the checksum of what precedes it; {kind.remedy}")
    return Artifact(kind, path, header, whole[len(line) : -_TRAILER_BYTES])


def _checksum(data: memoryview) -> bytes:
    return hashlib.sha256(data).hexdigest().encode("ascii") + b"\n"


def _header(path: str, kind: FileKind, line: bytes) -> dict[str, Any]:
    try:
        header = json.loads(line)
    except (ValueError, RecursionError):
        header = None
    if not isinstance(header, dict) or header.get("what") != kind.what:
        raise kind.error(path, f"it does not begin with a line that identifies it as {kind.what}; {kind.remedy}")
    version = header.get("version")
    if version != kind.version:
        is_newer = isinstance(version, int) and version > kind.version
        advice = f"update acpc-arena, or {kind.remedy}" if is_newer else kind.remedy
        problem = f"it is of version {quoted(version)}; this program reads version {kind.version}: {advice}"
        raise kind.error(path, problem)
    return header


@contextmanager
def locked_run(folder: Path, name: str) -> Iterator[None]:
    """Make the folder of a run; a `CheckpointError` if another process has the run of this name."""
    from logs.whole_file import FileLock

    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(folder / f"{name}.lock")
    except BlockingIOError as error:
        raise CheckpointError(str(folder / name), "another process works on this run") from error
    except FileExistsError as error:
        raise CheckpointError(str(folder), "it is a file; a run needs a folder") from error
    except OSError as error:
        raise CheckpointError(str(folder), f"the folder cannot be written: {error.strerror or error}") from error
    with closing(lock):
        yield


def require_same_settings(
    path: str | os.PathLike[str],
    wanted: Mapping[str, Any],
    found: Mapping[str, Any],
    *,
    error: type[BotFileError] = CheckpointError,
    remedy: str = "take another folder",
) -> None:
    """Raise an error that names the differing values, unless a file was made with the wanted settings."""
    theirs, ours = _settings(found), _settings(wanted)
    if names := [name for name, value in ours.items() if theirs.get(name) != value]:
        made, asked = (", ".join(f"{name} {_in_words(of.get(name))}" for name in names) for of in (theirs, ours))
        problem = f"it was made with {made}, not {asked}: {remedy}, or the same settings to resume"
        raise error(os.fspath(path), problem)


def _settings(values: Mapping[str, Any]) -> dict[str, Any]:
    """Settings as JSON has them; those of a group by their own names."""
    found: dict[str, Any] = {}
    for name, value in values.items():
        found |= _settings(value) if isinstance(value, dict) else {name: value}
    return found


def _in_words(value: object) -> str:
    if isinstance(value, list):
        return " ".join(map(_in_words, value))
    if isinstance(value, str) and "\n" in value:
        return quoted(value, _MOST_LETTERS)
    return f"{value:g}" if isinstance(value, float) else str(value)


class ResultJournal:
    """The results in a file, which no other process writes meanwhile; `rows` has them in the order added."""

    def __init__(self, path: Path, settings: Mapping[str, object]) -> None:
        """Read the file, or make it; a `CheckpointError` if it is of other settings, damaged or in use."""
        from logs.whole_file import FileLock, LineFile

        self.path = path
        about: Mapping[str, Any] = json.loads(json.dumps(settings))
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._lock = FileLock(path.with_name(f"{path.name}.lock"))
        except BlockingIOError:
            raise CheckpointError(str(path), "another process is writing it") from None
        except OSError as error:
            raise CheckpointError(str(path), f"it cannot be written: {error.strerror or error}") from error
        try:
            self.rows = self._read(about)
            self._file = LineFile(path, append=True)
            if not path.stat().st_size:
                self._file.write(json.dumps(about) + "\n")
        except OSError as error:
            self._lock.close()
            raise CheckpointError(str(path), f"it cannot be read or written: {error.strerror or error}") from error
        except BaseException:
            self._lock.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._file.close()
        self._lock.close()

    def add(self, row: object) -> None:
        self._file.write(json.dumps(row) + "\n")
        self.rows.append(row)

    def _read(self, about: Mapping[str, Any]) -> list[Any]:
        if not self.path.exists():
            return []
        text = self.path.read_bytes()
        whole = text[: text.rfind(b"\n") + 1]
        if len(whole) < len(text):
            os.truncate(self.path, len(whole))
        try:
            first, *rows = [json.loads(line) for line in whole.splitlines()] or [about]
        except (ValueError, RecursionError) as error:
            raise self.damaged() from error
        if not isinstance(first, dict):
            raise self.damaged()
        require_same_settings(self.path, about, first)
        return rows

    def damaged(self) -> CheckpointError:
        """What to raise for rows that are no results of this computation."""
        return CheckpointError(str(self.path), "it holds other things than these results, or is damaged")
