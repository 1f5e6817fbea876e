"""Cache of compiled kernels on disk, filled by ``arena warmup``.

One process compiles all kernels into a folder and publishes it whole by renaming it. Other processes only read. The
name of the folder is a digest of everything that a kernel depends on, so any change leads to another folder. A missing
or damaged file means that the kernel is compiled as if there were no cache.

Cached kernels are code: a program that can write to the folder controls the user's processes. It is in the user's own
cache folder unless `FOLDER_VARIABLE` names another, such as one that an administrator has filled for all users.
"""

# numba's own cache is written by all processes, which read each other's unfinished entries (numba issue 4807), and it
# ignores changes in the tables and helpers that a kernel contains.

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
"""Environment variable with the folder of the caches."""

SHARED_VARIABLE = "ARENA_SHARED_KERNELS"
"""Environment variable with a folder in which processes share the kernels that they compile.

For programs that start many short processes, such as test suites. Delete the folder afterwards: a process whose sources
change while it runs writes old code under a new name.
"""

COMPILING = (
    "compiling kernels, which takes some seconds; run `arena warmup` once in advance, or give bots longer with "
    "--start-timeout"
)
"""Line that the process of a bot writes before it compiles its first kernel."""

PACKAGES = ("engine", "bots")
"""Packages whose kernels are cached. The digest covers their sources and tables only."""

_SUFFIX = ".kernel"
_DIGEST_BYTES = 32
_UNFINISHED = "filling-"
_SOURCES = (".py", ".bin")


def root_folder() -> Path:
    """Return the folder that contains the caches, which may not exist."""
    folder = os.environ.get(FOLDER_VARIABLE)
    if folder:
        return Path(folder).absolute()
    from platformdirs import user_cache_path

    return user_cache_path("acpc-arena", appauthor=False) / "kernels"


@cache
def cache_folder() -> Path:
    """Return the folder for the kernels of this installation on this machine, which may not exist.

    Raises:
        OSError: the sources cannot be read.
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
        for path in sorted(_walk(root / package)):
            if path.suffix in _SOURCES:
                digest.update(f"\0{path.relative_to(root).as_posix()}\0".encode())
                digest.update(path.read_bytes())
    return root_folder() / digest.hexdigest()[:_DIGEST_BYTES]


def _walk(folder: Path) -> Iterator[Path]:
    # rglob() ignores folders that cannot be listed.
    for path in folder.iterdir():
        if path.is_dir():
            yield from _walk(path)
        else:
            yield path


def _is_setting(name: str) -> bool:
    return name.startswith("NUMBA_") and not name.startswith("NUMBA_CACHE")


def is_filled() -> bool:
    """Return whether the kernels of this installation have been published."""
    # Without any published folder, numba is not imported for its version.
    return bool(filled_folders()) and cache_folder().is_dir()


def read_kernel(name: str) -> bytes | None:
    """Return the contents of a published or shared file, or None if it is missing or damaged."""
    for folder in (cache_folder, _shared_folder):
        with suppress(OSError):
            if (contents := read_kernel_in(folder(), name)) is not None:
                return contents
    return None


def read_kernel_in(folder: Path, name: str) -> bytes | None:
    """Return the contents of a file in a folder, or None if it is missing or damaged."""
    with suppress(OSError):
        data = (folder / f"{name}{_SUFFIX}").read_bytes()
        checksum = data[:_DIGEST_BYTES]
        contents = data[_DIGEST_BYTES:]
        if hashlib.sha256(contents).digest() == checksum:
            return contents
    return None


def is_shared() -> bool:
    """Return whether this process shares the kernels that it compiles."""
    return bool(os.environ.get(SHARED_VARIABLE))


def share_kernel(name: str, contents: bytes) -> None:
    """Write a file to the shared folder, if it can be written to."""
    with suppress(OSError):
        folder = _shared_folder()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_kernel(folder, name, contents)


def _shared_folder() -> Path:
    if not is_shared():
        raise FileNotFoundError(SHARED_VARIABLE)
    return Path(os.environ[SHARED_VARIABLE]) / cache_folder().name


def start_filling() -> Path:
    """Create a folder to fill and publish, and remove those of earlier attempts.

    The caller ensures that no other process is filling a folder.

    Raises:
        OSError: the folder cannot be created.
    """
    root = root_folder()
    root.mkdir(mode=0o700, parents=True, exist_ok=True)
    for unfinished in root.glob(f"{_UNFINISHED}*"):
        shutil.rmtree(unfinished)
    folder = root / f"{_UNFINISHED}{os.getpid()}"
    folder.mkdir(mode=0o700)
    return folder


def write_kernel(folder: Path, name: str, contents: bytes) -> None:
    """Write a file atomically to a folder that other processes read and write.

    Raises:
        OSError: the file cannot be written.
    """
    unfinished = folder / f"{name}-{os.getpid()}{_SUFFIX}"
    unfinished.write_bytes(hashlib.sha256(contents).digest() + contents)
    unfinished.replace(folder / f"{name}{_SUFFIX}")


def publish(folder: Path) -> Path:
    """Make a filled folder the cache, unless there is one already. Returns the folder of the cache.

    Raises:
        OSError: the folder cannot be renamed.
    """
    target = cache_folder()
    try:
        folder.rename(target)
    except OSError:
        if not target.is_dir():
            raise
        shutil.rmtree(folder)
    return target


def filled_folders() -> list[Path]:
    """Return all published caches, also those of other installations and processors."""
    with suppress(OSError):
        return sorted(path for path in root_folder().iterdir() if _is_ours(path))
    return []


def clear() -> int:
    """Remove all caches and unfinished folders. Returns the number of folders.

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
