"""How many files and connections may be open at a time: all that the system admits, and said where that is too few."""

from __future__ import annotations

import asyncio
import errno
import logging
import time
from collections.abc import Callable
from typing import Any

from dealer.server.settings import ServerSettings

__all__ = ["has_too_few", "raise_limit", "without_flood"]

_log = logging.getLogger(__name__)

_MOST = 65_536
_OTHERS = 200
"""Logs, the seats of matches and pipes of bots, beside the connections of clients."""
_SAY_AGAIN_S = 60.0
_EXHAUSTED = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)


def raise_limit() -> int | None:
    """Raise the limit of this process as far as it may; returns how many there may be, None where there is no limit."""
    try:
        import resource
    except ImportError:
        # Windows, where sockets are no files and have no limit of this kind.
        return None
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _MOST if hard == resource.RLIM_INFINITY else min(hard, _MOST)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return None if soft == resource.RLIM_INFINITY else soft
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    except (OSError, ValueError):
        return soft
    return wanted


def has_too_few(settings: ServerSettings, limit: int | None) -> str:
    """What to tell where a limit is less than what the settings admit; empty where it is not."""
    needed = settings.max_connections + settings.web.max_connections + _OTHERS
    if limit is None or limit >= needed:
        return ""
    return (
        f"{limit:,} files and connections can be open at a time, and the configuration admits {needed:,}: raise the "
        "limit (ulimit -n, LimitNOFILE of a unit), or lower max_connections"
    )


def without_flood() -> Callable[[asyncio.AbstractEventLoop, dict[str, Any]], None]:
    """An exception handler for a loop: when no connection can be had any more that is one sentence a minute."""
    next_s = 0.0

    def handle(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        nonlocal next_s
        error = context.get("exception")
        if not isinstance(error, OSError) or error.errno not in _EXHAUSTED:
            loop.default_exception_handler(context)
        elif time.monotonic() >= next_s:
            next_s = time.monotonic() + _SAY_AGAIN_S
            _log.error("new connections have to wait: %s; raise the limit of open files (ulimit -n)", error.strerror)

    return handle
