"""Serve pages to browsers of this machine, for `arena replay`, `watch` and `play --watch`."""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import threading
import webbrowser
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, TypeAlias

from bots.sdk.options import Interval, Wording
from dealer.cli.shell.console import Terminal, abort, on_stop
from dealer.cli.shell.sources import no_such_hand

if TYPE_CHECKING:
    from dealer.run.contest import Watch
    from dealer.watching import WatchedRun
    from logs.hand_source import HandSource

_START_S = 10.0
PagePort: TypeAlias = Annotated[int, "Port of the pages.", Interval(0, 65535), Wording(otherwise="a free one")]
NoBrowser: TypeAlias = Annotated[bool, "Print the address only, and open no browser."]


WEB_INSTALL: Final = "pip install starlette fastapi uvicorn prometheus-client"


def has_web() -> bool:
    """Return whether the packages of the pages are installed."""
    return all(importlib.util.find_spec(name) for name in ("starlette", "uvicorn", "prometheus_client"))


def require_web(option: str = "") -> None:
    """Abort the command if the packages of the pages are missing.

    Args:
        option: the option that needs them; empty for the command itself.
    """
    if not has_web():
        subject = f"{option} needs" if option else "the pages need"
        abort(f"{subject} more packages: {WEB_INSTALL}")


def show_pages(
    terminal: Terminal,
    paths: Sequence[Path],
    find: Callable[..., HandSource],
    *,
    port: int,
    opens_browser: bool,
    number: int | None = None,
) -> None:
    """Serve pages about runs, logs or folders of runs until Ctrl-C.

    Args:
        find: makes a source of hands from paths.
        port: port of the pages; 0 for a free one.
        number: hand to show first; None for the list.
    """
    require_web()
    from dealer.watching import WatchedRun
    from dealer.web.local_site import local_site
    from dealer.web.pages.shown_runs import LocalLibrary, run_path
    from dealer.web.pages.views import hand_path

    for path in paths:
        if not path.exists():
            abort(f"{path}: there is no such file or folder")
    library = LocalLibrary(paths, find=find)
    keys = library.keys()
    first_page = run_path(keys[0]) if len(keys) == 1 else "/"
    if len(paths) == 1 and len(keys) == 1:
        # Reading the run also reports its problems before any page is opened.
        run = WatchedRun(paths[0], keys[0], find)
        if number is not None:
            match_keys = [match.key for match in run.matches.values() if match.hands.has(number)]
            if not match_keys:
                abort(f"{paths[0]}: {_no_such_hand(run, number)}")
            first_page = hand_path(keys[0], match_keys[0], number)
        run.close()

    async def serve() -> None:
        ended = asyncio.Event()
        on_stop(ended.set)
        async with local_site(library, port=port, begin=first_page) as address:
            terminal.sentence(f"{address} (Ctrl-C ends the pages)")
            terminal.out.file.flush()
            if opens_browser:
                open_browser(terminal, address)
            await ended.wait()

    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(serve())


def _no_such_hand(run: WatchedRun, number: int) -> str:
    count = 0
    first_and_last: list[int] = []
    for match in run.matches.values():
        hands = match.hands
        if hands.count:
            count += hands.count
            first_and_last += [hands.page(0, 1)[0], hands.page(hands.count - 1, 1)[0]]
    return no_such_hand(number, count, min(first_and_last, default=0), max(first_and_last, default=0))


def open_browser(terminal: Terminal, address: str) -> None:
    """Open a browser from a thread, since it may block for a while."""

    def work() -> None:
        try:
            is_open = webbrowser.open(address)
        except webbrowser.Error:
            is_open = False
        if not is_open:
            terminal.note("No browser could be opened. Open the address yourself.")

    threading.Thread(target=work, daemon=True).start()


@contextlib.contextmanager
def pages_during(terminal: Terminal, folder: Path, *, opens_browser: bool = True) -> Iterator[Watch]:
    """Serve pages about a run of this process from a thread.

    Yields:
        the callback for the events of the run.
    """
    from dealer.person.terminal_table import loop_in_thread
    from dealer.watching import LiveMatches
    from dealer.web.local_site import local_site
    from dealer.web.pages.shown_runs import LocalLibrary, run_path

    live = LiveMatches()
    library = LocalLibrary([folder], live=live)
    site = local_site(library, begin=run_path(library.keys()[0]))
    with loop_in_thread("pages") as loop:
        address = asyncio.run_coroutine_threadsafe(site.__aenter__(), loop).result(_START_S)
        terminal.note(f"Watch it at {address}")
        if opens_browser:
            open_browser(terminal, address)
        try:
            yield live
        finally:
            asyncio.run_coroutine_threadsafe(site.__aexit__(None, None, None), loop).result(_START_S)
