"""The event loop matches run in."""

from __future__ import annotations

import asyncio

__all__ = ["new_event_loop"]


def new_event_loop() -> asyncio.AbstractEventLoop:
    """A loop that watches sockets by readiness, on every platform (Windows' default one cannot)."""
    return asyncio.SelectorEventLoop()
