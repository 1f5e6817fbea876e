"""Whether the packages of the extra `web` are here: pages need them, and nothing else does."""

from __future__ import annotations

import importlib.util
from typing import Final

from dealer.cli.console import abort

_PACKAGES: Final = ("starlette", "uvicorn")


def has_web() -> bool:
    """Whether pages can be shown."""
    return all(importlib.util.find_spec(name) for name in _PACKAGES)


def need_web(wish: str) -> None:
    """End the command where there can be no pages.

    Args:
        wish: what was asked for, such as ``--browser``.
    """
    if not has_web():
        abort(f"{wish} needs more packages: pip install starlette fastapi uvicorn")
