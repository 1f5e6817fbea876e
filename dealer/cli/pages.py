"""What the commands with pages for this machine share: their options, the way to a browser, and their end."""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import signal
import threading
import webbrowser
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, TypeAlias

import typer

from dealer.cli.console import Terminal, abort
from logs.errors import LogsError

if TYPE_CHECKING:
    from dealer.run.contest import Watch
    from logs.hand_source import HandSource

_START_S = 10.0
PagePort: TypeAlias = Annotated[
    int, typer.Option("--port", min=0, max=65535, help="Port of the pages.", show_default="a free one")
]
NoBrowser: TypeAlias = Annotated[
    bool, typer.Option("--no-browser", help="Print the address only, and open no browser.")
]


def require_web() -> None:
    """End the command where the packages of the pages are missing."""
    if not has_web():
        abort("the pages need more packages: pip install starlette fastapi uvicorn")


def show_pages(
    terminal: Terminal,
    paths: Sequence[Path],
    find: Callable[..., HandSource],
    *,
    port: int,
    opens_browser: bool,
    number: int | None = None,
) -> None:
    """Show pages about runs until Ctrl-C.

    Args:
        terminal: told the address.
        paths: of runs, logs, or folders that hold runs.
        find: makes sources of hands of the paths.
        port: 0 for a free one.
        opens_browser: whether a browser is opened.
        number: of the hand to begin with.
    """
    require_web()
    from dealer.watching import WatchedRun
    from dealer.web.library import LocalLibrary
    from dealer.web.local import local_site
    from dealer.web.views import hand_path, run_path

    for path in paths:
        if not path.exists():
            abort(f"{path}: there is no such file or folder")
    library = LocalLibrary(paths, find=find)
    keys = library.keys()
    begin = run_path(keys[0]) if len(keys) == 1 else "/"
    if len(paths) == 1 and len(keys) == 1:
        try:
            run = WatchedRun(paths[0], keys[0], find)
        except LogsError as error:
            abort(str(error))
        if number is not None:
            holding = [match.key for match in run.matches.values() if match.hands.has(number)]
            if not holding:
                abort(f"there is no hand {number} in {paths[0]}")
            begin = hand_path(keys[0], holding[0], number)
        run.close()

    async def serve() -> None:
        ended = asyncio.Event()
        loop = asyncio.get_running_loop()
        for signal_number in (signal.SIGINT, signal.SIGTERM):
            with contextlib.suppress(NotImplementedError, RuntimeError):
                loop.add_signal_handler(signal_number, ended.set)
        async with local_site(library, port=port, begin=begin) as address:
            terminal.print(f"{address}  (Ctrl-C ends the pages)")
            terminal.out.file.flush()
            if opens_browser:
                _open(terminal, address)
            await ended.wait()

    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(serve())


def _open(terminal: Terminal, address: str) -> None:
    """Open a browser, which may take its time."""

    def work() -> None:
        try:
            is_open = webbrowser.open(address)
        except webbrowser.Error:
            is_open = False
        if not is_open:
            terminal.say("No browser could be opened: open the address yourself.")

    threading.Thread(target=work, daemon=True).start()


@contextlib.contextmanager
def pages_beside(terminal: Terminal, folder: Path, *, opens_browser: bool = True) -> Iterator[Watch]:
    """Show pages about a run of this process while the block lasts, from a thread and with a loop of their own.

    Args:
        terminal: told the address.
        folder: of the run.
        opens_browser: whether a browser is opened.

    Yields:
        what the run is to be played with.
    """
    from dealer.watching import LiveMatches
    from dealer.web.library import LocalLibrary
    from dealer.web.local import local_site
    from dealer.web.views import run_path

    live = LiveMatches()
    library = LocalLibrary([folder], live=live)
    begun, address, loop = threading.Event(), list[str](), asyncio.new_event_loop()
    ended = asyncio.Event()
    problems: list[Exception] = []

    async def serve() -> None:
        async with local_site(library, begin=run_path(library.keys()[0])) as found:
            address.append(found)
            begun.set()
            await ended.wait()

    def work() -> None:
        try:
            loop.run_until_complete(serve())
        except Exception as error:
            problems.append(error)
        finally:
            begun.set()
            loop.close()

    thread = threading.Thread(target=work, name="pages", daemon=True)
    thread.start()
    begun.wait(_START_S)
    if problems:
        raise problems[0]
    terminal.say(f"Watch it at {address[0]}")
    if opens_browser:
        _open(terminal, address[0])
    try:
        yield live
    finally:
        loop.call_soon_threadsafe(ended.set)
        thread.join(_START_S)


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
