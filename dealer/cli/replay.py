"""``arena replay``: show hands in the browser, step by step."""

from __future__ import annotations

from typing import Annotated

from bots.sdk.options import Interval, Wording
from dealer.cli.shell.console import Terminal
from dealer.cli.shell.pages import NoBrowser, PagePort, show_pages
from dealer.cli.shell.sources import HandOptions, Sources


def replay(
    terminal: Terminal,
    sources: Sources,
    number: Annotated[
        int | None,
        "Number of the hand to show first.",
        Interval(0),
        Wording(flags="--hand", otherwise="the list of hands"),
    ] = None,
    port: PagePort = 0,
    no_browser: NoBrowser = False,
    *,
    reading: HandOptions,
) -> None:
    """Replay hands of runs and logs in the browser, step by step.

    The pages can be opened on this machine only. Ctrl-C ends them.
    """
    show_pages(terminal, sources, reading.finder(), port=port, opens_browser=not no_browser, number=number)
