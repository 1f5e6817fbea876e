"""Check and unpack an uploaded archive: a zip with ``bot.toml`` and the bot's program.

    # bot.toml
    name = "mine"
    command = "python bot.py"
    language = "Python"
    games = ["limit"]

Sizes are counted while unpacking, because the sizes in a zip can be false. The folder appears complete or not at all.
"""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
import tomllib
import unicodedata
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Annotated, Final

from pydantic import AfterValidator, Field, ValidationError

from bots.sdk.program import split_command
from dealer.errors import RefusedError
from dealer.run.run_settings import StrictSettings, adapter, problem_in_words
from dealer.table.players import NAME_RULE, is_name
from engine.errors import quoted

BOT_FILE: Final = "bot.toml"
_MAX_BOT_FILE_BYTES: Final = 1 << 16
_MAX_PATH_BYTES: Final = 240
_MAX_DEPTH: Final = 16
_METHODS: Final = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_ENCRYPTED: Final = 0x1
_PROGRAM_HEADS: Final = (b"#!", b"\x7fELF")
"""First bytes of programs. A zip made on Windows has no permissions that mark them."""
_CHUNK_BYTES: Final = 1 << 16


def _check_name(text: str) -> str:
    if not is_name(text):
        raise ValueError(NAME_RULE)
    return text


def _check_command(text: str) -> str:
    try:
        words = split_command(text, is_windows=False)
    except ValueError:
        raise ValueError("has a quote that is not closed") from None
    if not words or not text.isprintable():
        raise ValueError("must be a program and its arguments, in one line")
    return text


def _check_text(text: str) -> str:
    if not text.isprintable():
        raise ValueError("must have printable characters only")
    return text


@dataclass(frozen=True, slots=True)
class BotFile(StrictSettings):
    """Contents of ``bot.toml``.

    Attributes:
        command: program and arguments; the dealer's host and port are appended.
        games: names; empty for the first game of the server.
    """

    name: Annotated[str, AfterValidator(_check_name)]
    command: Annotated[str, Field(max_length=1000), AfterValidator(_check_command)]
    language: Annotated[str, Field(min_length=1, max_length=40), AfterValidator(_check_text)]
    games: Annotated[tuple[Annotated[str, Field(max_length=200)], ...], Field(max_length=8)] = ()


def unpack(archive: IO[bytes], folder: Path, max_files: int, max_bytes: int) -> BotFile:
    """Check an archive and unpack it to a new, read-only folder.

    Args:
        max_bytes: of all files together.

    Raises:
        RefusedError: the archive is invalid; no folder is created.
        OSError: the folder cannot be written.
    """
    with _open(archive) as packed:
        entries = _check_entries(packed.infolist(), max_files)
        folder.parent.mkdir(parents=True, exist_ok=True)
        new = Path(tempfile.mkdtemp(prefix="new-", dir=folder.parent))
        try:
            left = max_bytes
            for entry in entries:
                left -= _unpack_entry(packed, entry, new / entry.filename, left, max_bytes)
            bot_file = _bot_file(new / BOT_FILE, entries)
            for path in (*new.rglob("*"), new):
                if path.is_dir():
                    path.chmod(0o555)
            # Some systems cannot rename a read-only folder.
            new.chmod(0o755)
            new.rename(folder)
            folder.chmod(0o555)
        except BaseException:
            remove(new)
            raise
    return bot_file


def remove(folder: Path) -> None:
    """Remove a read-only folder if it exists."""
    for path, _, _ in os.walk(folder):
        os.chmod(path, 0o755)
    shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _open(archive: IO[bytes]) -> Iterator[zipfile.ZipFile]:
    try:
        with zipfile.ZipFile(archive) as packed:
            yield packed
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, ValueError, RuntimeError) as error:
        if isinstance(error, RefusedError):
            raise
        raise RefusedError(f"the archive is not a readable zip file: {error}") from None


def _check_entries(entries: list[zipfile.ZipInfo], max_files: int) -> list[zipfile.ZipInfo]:
    """Check that every entry can be unpacked, and that no two have one path on any system."""
    if len(entries) > max_files:
        raise RefusedError(f"the archive has {len(entries):,} files and folders; the limit is {max_files:,}")
    seen: dict[str, str] = {}
    folders: set[str] = set()
    for entry in entries:
        if problem := _entry_problem(entry):
            raise RefusedError(f"{quoted(entry.orig_filename)} in the archive {problem}")
        key = _key(entry.filename.rstrip("/"))
        if (other := seen.get(key)) is not None:
            raise RefusedError(
                f"{quoted(entry.filename)} and {quoted(other)} in the archive are the same file on some systems"
            )
        seen[key] = entry.filename
        parts = key.split("/")
        folders |= {"/".join(parts[:count]) for count in range(1, len(parts))}
    for folder in folders & seen.keys():
        if not seen[folder].endswith("/"):
            raise RefusedError(f"{quoted(seen[folder])} in the archive is both a file and a folder")
    return entries


def _key(name: str) -> str:
    """Normalise a name as file systems that ignore case do."""
    # Twice, because folding the case can undo the normal form.
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def _entry_problem(entry: zipfile.ZipInfo) -> str:
    """Reason that an entry cannot be unpacked, as a predicate; empty if it can."""
    name = entry.orig_filename
    parts = name.removesuffix("/").split("/")
    # The upper bits hold the mode on Unix. A zip made on Windows has none, so its kind is 0.
    kind = stat.S_IFMT(entry.external_attr >> 16)
    if not name.isprintable():
        return "has a name with unprintable characters"
    if name.startswith("/"):
        return "is an absolute path"
    if "\\" in name or ":" in name:
        return "has a backslash or a colon in its name"
    if any(part in ("", ".", "..") for part in parts):
        return "has a path with an empty part, . or .."
    if len(name.encode()) > _MAX_PATH_BYTES or len(parts) > _MAX_DEPTH:
        return f"has a path of more than {_MAX_PATH_BYTES} bytes or {_MAX_DEPTH} folders"
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        return "is a link or a device; only files and folders can be uploaded"
    if entry.flag_bits & _ENCRYPTED:
        return "is encrypted"
    if entry.compress_type not in _METHODS:
        return "is compressed by a method other than deflate"
    return ""


def _unpack_entry(packed: zipfile.ZipFile, entry: zipfile.ZipInfo, path: Path, left: int, max_bytes: int) -> int:
    """Unpack an entry; return its size in bytes."""
    if entry.is_dir():
        path.mkdir(parents=True, exist_ok=True)
        return 0
    path.parent.mkdir(parents=True, exist_ok=True)
    size = 0
    is_program = bool(entry.external_attr >> 16 & 0o111)
    with packed.open(entry) as source, path.open("xb") as target:
        while piece := source.read(_CHUNK_BYTES):
            is_program = is_program or (not size and piece.startswith(_PROGRAM_HEADS))
            size += len(piece)
            if size > left:
                raise RefusedError(f"the archive has more than {max_bytes:,} bytes when unpacked")
            target.write(piece)
    path.chmod(0o555 if is_program else 0o444)
    return size


def _bot_file(path: Path, entries: list[zipfile.ZipInfo]) -> BotFile:
    if not path.is_file():
        misplaced = next((entry.filename for entry in entries if entry.filename.endswith(f"/{BOT_FILE}")), "")
        hint = f", only {misplaced}; pack the files, not their folder" if misplaced else ""
        raise RefusedError(f"the archive has no {BOT_FILE} at its top level{hint}")
    if path.stat().st_size > _MAX_BOT_FILE_BYTES:
        raise RefusedError(f"the file {BOT_FILE} has more than {_MAX_BOT_FILE_BYTES:,} bytes")
    try:
        bot_file: BotFile = adapter(BotFile).validate_python(tomllib.loads(path.read_text("utf-8-sig")))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise RefusedError(f"the file {BOT_FILE} is not TOML: {error}") from None
    except ValidationError as error:
        where, problem = problem_in_words(error.errors(include_url=False)[0])
        raise RefusedError(f"in {BOT_FILE}, {where}: {problem}") from None
    return bot_file
