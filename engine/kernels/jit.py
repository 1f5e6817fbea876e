"""The compiler of the kernels.

A kernel is compiled at its first call, once per process (some tenths of a second each), or read from the disk, where
``arena warmup`` has put it (`engine.kernels.disk` says how that is made safe): some milliseconds. Kernels made inside a
function, such as those of `engine.kernels.betting`, and kernels of other packages are always compiled; what a kernel
of ours calls is part of it, so one that plays such hands is read whole.

What matters for speed:

- Tables are globals of the kernel's module, which numba freezes into the compiled code. A helper that is given arrays
  counts references at every call, even when inlined, and makes a tight loop 20 to 30 times as slow: helpers in inner
  loops take and return numbers.
- Everything is unsigned: for a signed index numba adds a test for a negative one to every access.
- Only constants of type uint64 meet the keys: with a Python int, a uint64 becomes a float64.
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


# numba is untyped: what it makes of a compiled function to be stored, and back.
_REBUILD: Callable[..., Any] = CompileResult._rebuild
_DUMPS: Callable[[object], bytes] = dumps


_filling: tuple[Path, list[str]] | None = None
"""Where compiled kernels are written, and the names of those that were."""
_read = 0


def is_switched_off() -> bool:
    """Whether numba is configured to compile nothing."""
    settings: Any = numba.config
    return bool(settings.DISABLE_JIT)


def kernels_read() -> int:
    """How many kernels this process has read from the disk."""
    return _read


@contextmanager
def kernels_written_to(folder: Path) -> Iterator[list[str]]:
    """Write every kernel that is compiled inside the `with` to a folder; gives the growing list of their names."""
    global _filling
    names: list[str] = []
    _filling = folder, names
    try:
        yield names
    finally:
        _filling = None


class _KernelsOnDisk:
    """What numba asks before and tells after compiling: the place of `numba.core.caching.FunctionCache`.

    Its index files are written and read in place by every player, which is what `engine.kernels.disk` avoids.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._name = f"{function.__module__}.{function.__qualname__}"

    @property
    def cache_path(self) -> str:
        return str(disk.cache_folder())

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        global _read
        name = self._file_name(signature)
        # Processes that fill a folder together read what the first of them has compiled.
        contents = disk.read_kernel(name) if _filling is None else disk.read_kernel_in(_filling[0], name)
        if contents is None:
            _report_compiling()
            return None
        target_context.refresh()
        compiled = _REBUILD(target_context, *pickle.loads(contents))
        _read += 1
        return compiled

    def save_overload(self, signature: Any, compiled: Any) -> None:
        if compiled.library.has_dynamic_globals:
            return
        if _filling is not None:
            folder, names = _filling
            disk.write_kernel(folder, self._file_name(signature), _DUMPS(compiled._reduce()))
            names.append(self._name)
        elif disk.is_shared():
            disk.share_kernel(self._file_name(signature), _DUMPS(compiled._reduce()))

    def enable(self) -> None:
        """Reading is always on."""

    def disable(self) -> None:
        """Reading is always on."""

    def flush(self) -> None:
        """Published kernels stay as they are."""

    def _file_name(self, signature: Any) -> str:
        return f"{self._name}-{hashlib.sha256(str(signature).encode()).hexdigest()[:16]}"


@cache
def _report_compiling() -> None:
    if "ARENA_BOT" in os.environ:
        with suppress(OSError):
            os.write(2, f"bot: {disk.COMPILING}\n".encode())


if TYPE_CHECKING:

    def njit(function: _Function) -> _Function:
        """Compile a function for the types it is called with; it keeps its signature, and lets other threads run."""
        return function
else:

    def njit(function):
        """Compile a function for the types it is called with; other threads run meanwhile."""
        dispatcher = numba.njit(nogil=True)(function)
        is_lasting = function.__closure__ is None and "<locals>" not in function.__qualname__
        if is_lasting and function.__module__.partition(".")[0] in disk.PACKAGES and not is_switched_off():
            dispatcher._cache = _KernelsOnDisk(function)
        return dispatcher
