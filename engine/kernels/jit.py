"""The compiler of the kernels.

Kernels are compiled at their first call, once per process (a third of a second each), and not cached on disk. A cached
kernel would hold the frozen tables of the day it was compiled, even after another file of tables is installed; it fails
where neither the package nor the home directory can be written; and processes that fill one cache at the same time can
read each other's half-written entries (numba issue 4807). A process that only plays or deals uses no kernel.

What matters for speed:

- Tables are globals of the kernel's module, which numba freezes into the compiled code. A helper that is given arrays
  counts references at every call, even when inlined, and makes a tight loop 20 to 30 times as slow: helpers in inner
  loops take and return numbers.
- Everything is unsigned: for a signed index numba adds a test for a negative one to every access.
- Only constants of type uint64 meet the keys: with a Python int, a uint64 becomes a float64.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

__all__ = ["njit"]

if TYPE_CHECKING:
    from collections.abc import Callable

    _Function = TypeVar("_Function", bound=Callable[..., Any])

    def njit(function: _Function) -> _Function:
        """Stand in for numba's untyped decorator, which keeps the signature."""
        return function
else:
    from numba import njit
