"""All output of the command line goes through here: results to standard output, everything else to standard error."""

from __future__ import annotations

import sys
from typing import NoReturn

import typer
from rich.console import Console, RenderableType

__all__ = ["EXIT_FAILED", "EXIT_INTERRUPTED", "EXIT_UNDECIDED", "EXIT_USAGE", "abort", "err", "out", "say", "show"]

EXIT_FAILED = 1
"""The run ended early, by a fault or an error; a gate: the player is not so good; a doctor: something is wrong."""
EXIT_USAGE = 2
"""The command cannot be run as given."""
EXIT_UNDECIDED = 3
"""A gate: the hands played cannot tell."""
EXIT_INTERRUPTED = 130
"""Stopped by Ctrl-C."""

# Where nobody looks, no table has to fit a window.
out = Console(highlight=False, soft_wrap=True, width=None if sys.stdout.isatty() else 400)
err = Console(stderr=True, highlight=False, soft_wrap=True)


def show(renderable: RenderableType) -> None:
    """Print a result."""
    out.print(renderable)


def say(text: str) -> None:
    """Print a plain sentence about what is going on."""
    err.print(text, markup=False)


def abort(text: str, code: int = EXIT_USAGE) -> NoReturn:
    """Print what is wrong and stop."""
    err.print("[bold red]arena:[/] ", end="")
    err.print(text, markup=False)
    raise typer.Exit(code)
