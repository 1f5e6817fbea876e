"""``arena watch``: show runs in the browser, also while they are played."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from dealer.cli.shell.console import Terminal
from dealer.cli.shell.pages import NoBrowser, PagePort, show_pages
from dealer.cli.shell.sources import HandOptions, run_argument


def watch(
    terminal: Terminal,
    sources: Annotated[
        list[Path] | None,
        run_argument(metavar="[RUN|DIR...]", help="Folders of runs, or folders that hold runs.", show_default="runs"),
    ] = None,
    port: PagePort = 0,
    no_browser: NoBrowser = False,
    *,
    reading: HandOptions,
) -> None:
    """Show standings, scores and notable hands of runs in the browser. The pages follow runs that are being played.

    The pages can be opened on this machine only. Ctrl-C ends them.
    """
    show_pages(terminal, sources or [Path("runs")], reading.finder(), port=port, opens_browser=not no_browser)
