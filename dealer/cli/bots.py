"""``arena bots``: list the bots that have a name."""

from __future__ import annotations

import typer
from rich import box
from rich.table import Table

from bots.registry import describe_all
from dealer.cli.console import Terminal

__all__ = ["bots"]


def bots(context: typer.Context) -> None:
    """List the bots that have a name, built in or from installed packages, with their options and defaults."""
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("bot", no_wrap=True)
    table.add_column("what it does")
    table.add_column("options")
    table.add_column("origin")
    for bot in describe_all():
        options = [f"{option.name}={option.default} ({option.type_name})" for option in bot.options]
        table.add_row(bot.name, bot.summary, ", ".join(options), bot.origin)
    context.ensure_object(Terminal).show(table)
