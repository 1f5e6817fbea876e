"""Compiled kernels on disk, so that only one process ever waits for the compiler: ``arena warmup``.

What goes wrong with caches of compiled code, and what is done here:

- *A kernel holds the tables, constants and helpers of the day it was compiled.* The folder of a cache is named by a
  digest of everything a kernel can be made of: all sources and tables of the packages that hold kernels, Python, numba
  and LLVM, the processor, and numba's settings. What changes leads to another folder.
- *Processes that fill one cache read each other's half-written entries* (numba issue 4807). One process fills a folder
  next to the real one and publishes it whole by renaming it (`publish`); all other processes read, and never write.
- *Some places cannot be written.* Reading needs no permission but to read. Where there is no cache, or a file in it is
  damaged (each begins with its checksum), a kernel is compiled as if there were none.

Programs that start many short processes, such as a suite of tests, can let all of them share what each compiles, in a
folder of their own that `SHARED_VARIABLE` names: an entry is put there whole, under its last name, by renaming it. That
is no cache to keep: a process whose sources are changed while it runs would put old code there under a new name.

A cache is code: whoever can write to the folder decides what the user's processes run. It lies in the user's own cache
folder; `FOLDER_VARIABLE` names another, such as one that an administrator fills for all.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

FOLDER_VARIABLE = "ARENA_CACHE_DIR"
"""The environment variable that names the folder of the caches."""

SHARED_VARIABLE = "ARENA_SHARED_KERNELS"
"""The environment variable that names a folder in which processes share what they compile."""

COMPILING = (
    "kernels are being compiled, which takes some seconds: `arena warmup` does it once for all matches, "
    "--start-timeout gives bots longer to connect"
)
"""What a bot's process writes when it compiles a kernel for the first time."""

PACKAGES = ("engine", "bots")
"""The packages whose kernels are kept; a kernel of anybody else's is not made of what the digest covers."""

_SUFFIX = ".kernel"
_DIGEST_BYTES = 32
_UNFINISHED = "filling-"
_SOURCES = (".py", ".bin")


def root_folder() -> Path:
    """Where the caches of this user lie, one folder each; it need not exist."""
    if given := os.environ.get(FOLDER_VARIABLE):
        return Path(given).absolute()
    from platformdirs import user_cache_path

    return user_cache_path("acpc-arena", appauthor=False) / "kernels"


@cache
def cache_folder() -> Path:
    """The folder that holds, or would hold, the kernels of exactly this installation on this machine.

    Raises:
        OSError: the sources are no files that can be read.
    """
    import llvmlite
    import numba
    from llvmlite import binding

    parts = [
        sys.version,
        str(sys.implementation.cache_tag),
        numba.__version__,
        llvmlite.__version__,
        platform.system(),
        binding.get_process_triple(),
        binding.get_host_cpu_name(),
        binding.get_host_cpu_features().flatten(),
        *(f"{name}={value}" for name, value in sorted(os.environ.items()) if _is_setting(name)),
    ]
    digest = hashlib.sha256("\0".join(parts).encode())
    root = Path(__file__).resolve().parents[2]
    for package in PACKAGES:
        for path in sorted(_files_of(root / package)):
            if path.suffix in _SOURCES:
                digest.update(f"\0{path.relative_to(root).as_posix()}\0".encode())
                digest.update(path.read_bytes())
    return root_folder() / digest.hexdigest()[:_DIGEST_BYTES]


def _files_of(folder: Path) -> Iterator[Path]:
    # `rglob` would silently leave out what cannot be listed.
    for path in folder.iterdir():
        if path.is_dir():
            yield from _files_of(path)
        else:
            yield path


def _is_setting(name: str) -> bool:
    return name.startswith("NUMBA_") and not name.startswith("NUMBA_CACHE")


def is_filled() -> bool:
    """Whether the kernels of this installation have been published."""
    # Where nothing is published, numba is not loaded to find its version.
    return bool(filled_folders()) and cache_folder().is_dir()


def read_kernel(name: str) -> bytes | None:
    """The contents of a published or shared file; None where there is none, or a damaged one."""
    for folder in (cache_folder, _shared_folder):
        with suppress(OSError):
            if (contents := read_kernel_in(folder(), name)) is not None:
                return contents
    return None


def read_kernel_in(folder: Path, name: str) -> bytes | None:
    """The contents of a file in a folder; None where there is none, or a damaged one."""
    with suppress(OSError):
        found = (folder / f"{name}{_SUFFIX}").read_bytes()
        checksum, contents = found[:_DIGEST_BYTES], found[_DIGEST_BYTES:]
        if hashlib.sha256(contents).digest() == checksum:
            return contents
    return None


def is_shared() -> bool:
    """Whether this process shares what it compiles."""
    return bool(os.environ.get(SHARED_VARIABLE))


def share_kernel(name: str, contents: bytes) -> None:
    """Write a file for other processes, where `SHARED_VARIABLE` names a folder that can be written to."""
    with suppress(OSError):
        folder = _shared_folder()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_kernel(folder, name, contents)


def _shared_folder() -> Path:
    if not is_shared():
        raise FileNotFoundError(SHARED_VARIABLE)
    return Path(os.environ[SHARED_VARIABLE]) / cache_folder().name


def start_filling() -> Path:
    """Make the folder that is to be published; whatever earlier attempts have left is removed.

    The caller sees to it that no other process is filling.

    Raises:
        OSError: it cannot be made.
    """
    root = root_folder()
    root.mkdir(mode=0o700, parents=True, exist_ok=True)
    for left in root.glob(f"{_UNFINISHED}*"):
        shutil.rmtree(left)
    folder = root / f"{_UNFINISHED}{os.getpid()}"
    folder.mkdir(mode=0o700)
    return folder


def write_kernel(folder: Path, name: str, contents: bytes) -> None:
    """Write a file, whole at once, into a folder that other processes read and write.

    Raises:
        OSError: it cannot be written.
    """
    unfinished = folder / f"{name}-{os.getpid()}{_SUFFIX}"
    unfinished.write_bytes(hashlib.sha256(contents).digest() + contents)
    unfinished.replace(folder / f"{name}{_SUFFIX}")


def publish(folder: Path) -> Path:
    """Make a filled folder the cache; returns where it is now. If there is one already, it is kept.

    Raises:
        OSError: it cannot be renamed.
    """
    to = cache_folder()
    try:
        folder.rename(to)
    except OSError:
        if not to.is_dir():
            raise
        shutil.rmtree(folder)
    return to


def filled_folders() -> list[Path]:
    """All published caches, those of other installations and processors included."""
    with suppress(OSError):
        return sorted(path for path in root_folder().iterdir() if _is_ours(path))
    return []


def clear() -> int:
    """Remove all caches and what unfinished attempts have left; returns how many folders there were.

    Raises:
        OSError: a folder cannot be removed.
    """
    folders = [*filled_folders(), *root_folder().glob(f"{_UNFINISHED}*")]
    for folder in folders:
        shutil.rmtree(folder)
    return len(folders)


def _is_ours(path: Path) -> bool:
    is_named = len(path.name) == _DIGEST_BYTES and all(letter in "0123456789abcdef" for letter in path.name)
    return is_named and path.is_dir()
