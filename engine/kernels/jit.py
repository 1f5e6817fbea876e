"""Compiler of the kernels, the decorator `njit`.

A kernel is compiled at its first call in a process, in some tenths of a second, or read from the disk, where
``arena warmup`` has put it (`engine.kernels.disk`), in some milliseconds. Kernels defined inside a function and those
of other packages are always compiled.

Three rules of numba make kernels fast:

- Tables are globals, which are frozen into the compiled code. Passing an array to a helper counts its references at
  every call and makes a tight loop 20 to 30 times as slow, so helpers in inner loops take and return numbers.
- Indexes are unsigned. For a signed index, every access tests whether it is negative.
- Constants that meet a uint64 have this type. A Python int would turn the result into a float64.
"""

from __future__ import annotations

import hashlib
import os
import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numba
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

from engine.kernels import disk

_Function = TypeVar("_Function", bound=Callable[..., Any])


# Internals of numba that convert a compiled function to bytes and back. numba has no types.
_REBUILD: Callable[..., Any] = CompileResult._rebuild
_DUMPS: Callable[[object], bytes] = dumps


# Folder to which compiled kernels are written, and the names of those written so far.
_filling: tuple[Path, list[str]] | None = None
_num_read = 0


def is_switched_off() -> bool:
    """Return whether numba is configured to compile nothing."""
    settings: Any = numba.config
    return bool(settings.DISABLE_JIT)


def kernels_read() -> int:
    """Return the number of kernels that this process has read from the disk."""
    return _num_read


@contextmanager
def kernels_written_to(folder: Path) -> Iterator[list[str]]:
    """Write the kernels compiled inside the ``with`` to a folder; yield the growing list of their names."""
    global _filling
    names: list[str] = []
    _filling = folder, names
    try:
        yield names
    finally:
        _filling = None


class _KernelsOnDisk:
    """Replacement of `numba.core.caching.FunctionCache`, with its methods.

    The cache of numba has index files, which all processes read and write in place (see `engine.kernels.disk`).
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._name = f"{function.__module__}.{function.__qualname__}"

    @property
    def cache_path(self) -> str:
        return str(disk.cache_folder())

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        global _num_read
        name = self._file_name(signature)
        if _filling is None:
            contents = disk.read_kernel(name)
        else:
            # Processes that fill a folder together read kernels that another has compiled.
            contents = disk.read_kernel_in(_filling[0], name)
        if contents is None:
            _report_compiling()
            return None
        target_context.refresh()
        compiled = _REBUILD(target_context, *pickle.loads(contents))
        _num_read += 1
        return compiled

    def save_overload(self, signature: Any, compiled: Any) -> None:
        if compiled.library.has_dynamic_globals:
            # The code contains addresses of this process.
            return
        if _filling is not None:
            folder, names = _filling
            disk.write_kernel(folder, self._file_name(signature), _DUMPS(compiled._reduce()))
            names.append(self._name)
        elif disk.is_shared():
            disk.share_kernel(self._file_name(signature), _DUMPS(compiled._reduce()))

    def enable(self) -> None:
        """Do nothing, because reading is always enabled."""

    def disable(self) -> None:
        """Do nothing, because reading is always enabled."""

    def flush(self) -> None:
        """Do nothing, because published kernels do not change."""

    def _file_name(self, signature: Any) -> str:
        return f"{self._name}-{hashlib.sha256(str(signature).encode()).hexdigest()[:16]}"


@cache
def _report_compiling() -> None:
    if "ARENA_BOT" in os.environ:
        with suppress(OSError):
            os.write(2, f"bot: {disk.COMPILING}\n".encode())


if TYPE_CHECKING:

    def njit(function: _Function) -> _Function:
        """Compile a function for the types of its arguments, without holding the interpreter lock."""
        return function

    def njit_inner(function: _Function) -> _Function:
        """Compile a function that only other kernels call."""
        return function
else:

    def njit(function):
        """Compile a function for the types of its arguments, without holding the interpreter lock."""
        dispatcher = numba.njit(nogil=True)(function)
        # The values that a local function closes over are not part of the digest of the cache.
        is_global = function.__closure__ is None and "<locals>" not in function.__qualname__
        if is_global and function.__module__.partition(".")[0] in disk.PACKAGES and not is_switched_off():
            dispatcher._cache = _KernelsOnDisk(function)
        return dispatcher

    def njit_inner(function):
        """Compile a function that only other kernels call."""
        # For arguments of nested tuples the wrapper for calls from Python takes half of the compilation. The code is
        # part of the callers, so it is not cached.
        return numba.njit(nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)(function)
