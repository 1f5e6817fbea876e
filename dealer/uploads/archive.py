"""An uploaded archive: a zip with ``bot.toml`` and the bot's program, checked and unpacked.

    # bot.toml
    name = "mine"
    command = "python bot.py"
    language = "Python"
    games = ["limit"]

Whatever is wrong is refused in one sentence, before anything of it is used. Sizes are counted as they are unpacked, not
believed; the folder appears as a whole or not at all.
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
_MOST_BOT_FILE_BYTES: Final = 1 << 16
_MOST_PATH_BYTES: Final = 240
_MOST_DEPTH: Final = 16
_METHODS: Final = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_ENCRYPTED: Final = 0x1
_HEADS: Final = (b"#!", b"\x7fELF")
"""Of programs; a zip made on Windows does not say which files are."""
_PIECE: Final = 1 << 16


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
        raise ValueError("must have letters that can be printed")
    return text


@dataclass(frozen=True, slots=True)
class BotFile(StrictSettings):
    """What ``bot.toml`` says.

    Attributes:
        command: of the program and its arguments; the dealer's host and port are added.
        games: that it plays; empty for the first of the server.
    """

    name: Annotated[str, AfterValidator(_check_name)]
    command: Annotated[str, Field(max_length=1000), AfterValidator(_check_command)]
    language: Annotated[str, Field(min_length=1, max_length=40), AfterValidator(_check_text)]
    games: Annotated[tuple[Annotated[str, Field(max_length=200)], ...], Field(max_length=8)] = ()


def unpack(archive: IO[bytes], folder: Path, most_files: int, most_bytes: int) -> BotFile:
    """Check an archive and unpack it to a folder, which must not be there yet and which nobody can write to.

    Args:
        most_bytes: of all files together.

    Raises:
        RefusedError: something is wrong with it; there is no folder then.
        OSError: the folder cannot be written.
    """
    with _opened(archive) as packed:
        entries = _checked(packed.infolist(), most_files)
        folder.parent.mkdir(parents=True, exist_ok=True)
        new = Path(tempfile.mkdtemp(prefix="new-", dir=folder.parent))
        try:
            left = most_bytes
            for entry in entries:
                left -= _unpack_entry(packed, entry, new / entry.filename, left, most_bytes)
            described = _bot_file(new / BOT_FILE, entries)
            for path in (*new.rglob("*"), new):
                if path.is_dir():
                    path.chmod(0o555)
            # A folder that cannot be written to cannot be moved by all systems.
            new.chmod(0o755)
            new.rename(folder)
            folder.chmod(0o555)
        except BaseException:
            remove(new)
            raise
    return described


def remove(folder: Path) -> None:
    """Remove a folder that nobody can write to; nothing if it is not there."""
    for path, _, _ in os.walk(folder):
        os.chmod(path, 0o755)
    shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _opened(archive: IO[bytes]) -> Iterator[zipfile.ZipFile]:
    try:
        with zipfile.ZipFile(archive) as packed:
            yield packed
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, ValueError, RuntimeError) as error:
        if isinstance(error, RefusedError):
            raise
        raise RefusedError(f"the archive is no zip that can be read: {error}") from None


def _checked(entries: list[zipfile.ZipInfo], most_files: int) -> list[zipfile.ZipInfo]:
    """The entries of an archive, if every one of them can be unpacked."""
    if len(entries) > most_files:
        raise RefusedError(f"the archive has {len(entries):,} files and folders; {most_files:,} are the most")
    seen: dict[str, str] = {}
    folders: set[str] = set()
    for entry in entries:
        if problem := _entry_problem(entry):
            raise RefusedError(f"{quoted(entry.orig_filename)} in the archive {problem}")
        key = _key(entry.filename.rstrip("/"))
        if (other := seen.get(key)) is not None:
            raise RefusedError(
                f"{quoted(entry.filename)} and {quoted(other)} in the archive are one file to some systems"
            )
        seen[key] = entry.filename
        parts = key.split("/")
        folders |= {"/".join(parts[:count]) for count in range(1, len(parts))}
    for folder in folders & seen.keys():
        if not seen[folder].endswith("/"):
            raise RefusedError(f"{quoted(seen[folder])} in the archive is a file and a folder")
    return entries


def _key(name: str) -> str:
    """What systems that do not tell case apart take a name for."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def _entry_problem(entry: zipfile.ZipInfo) -> str:
    """Why an entry cannot be unpacked, as a predicate; empty if it can."""
    name = entry.orig_filename
    parts = name.removesuffix("/").split("/")
    kind = stat.S_IFMT(entry.external_attr >> 16)
    if not name.isprintable():
        return "has a name that cannot be printed"
    if name.startswith("/"):
        return "is an absolute path"
    if "\\" in name or ":" in name:
        return "has a backslash or a colon in its name"
    if any(part in ("", ".", "..") for part in parts):
        return "is a path that leads elsewhere"
    if len(name.encode()) > _MOST_PATH_BYTES or len(parts) > _MOST_DEPTH:
        return f"has a path of more than {_MOST_PATH_BYTES} bytes or {_MOST_DEPTH} folders"
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        return "is a link or a device; only files and folders can be uploaded"
    if entry.flag_bits & _ENCRYPTED:
        return "is encrypted"
    if entry.compress_type not in _METHODS:
        return "is packed by another method than deflate"
    return ""


def _unpack_entry(packed: zipfile.ZipFile, entry: zipfile.ZipInfo, path: Path, left: int, most_bytes: int) -> int:
    """Unpack an entry; how many bytes it has."""
    if entry.is_dir():
        path.mkdir(parents=True, exist_ok=True)
        return 0
    path.parent.mkdir(parents=True, exist_ok=True)
    size = 0
    is_program = bool(entry.external_attr >> 16 & 0o111)
    with packed.open(entry) as source, path.open("xb") as target:
        while piece := source.read(_PIECE):
            is_program = is_program or (not size and piece.startswith(_HEADS))
            size += len(piece)
            if size > left:
                raise RefusedError(f"the archive has more than {most_bytes:,} bytes when it is unpacked")
            target.write(piece)
    path.chmod(0o555 if is_program else 0o444)
    return size


def _bot_file(path: Path, entries: list[zipfile.ZipInfo]) -> BotFile:
    if not path.is_file():
        elsewhere = next((one.filename for one in entries if one.filename.endswith(f"/{BOT_FILE}")), "")
        hint = f"; it is {elsewhere}: pack the files, not their folder" if elsewhere else ""
        raise RefusedError(f"the archive has no {BOT_FILE} at its top{hint}")
    if path.stat().st_size > _MOST_BOT_FILE_BYTES:
        raise RefusedError(f"the file {BOT_FILE} has more than {_MOST_BOT_FILE_BYTES:,} bytes")
    try:
        found: BotFile = adapter(BotFile).validate_python(tomllib.loads(path.read_text("utf-8-sig")))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise RefusedError(f"the file {BOT_FILE} is not TOML: {error}") from None
    except ValidationError as error:
        where, problem = problem_in_words(error.errors(include_url=False)[0])
        raise RefusedError(f"in {BOT_FILE}, {where}: {problem}") from None
    return found
