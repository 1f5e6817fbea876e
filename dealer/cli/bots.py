"""``arena bots``: list the built-in bots."""

from __future__ import annotations

import typer
from rich import box
from rich.table import Table

from bots.registry import describe_all
from dealer.cli.console import Terminal

__all__ = ["bots"]


def bots(context: typer.Context) -> None:
    """List the built-in bots, each with its options and their defaults."""
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("bot", no_wrap=True)
    table.add_column("what it does")
    table.add_column("options")
    for bot in describe_all():
        options = [f"{option.name}={option.default} ({option.type_name})" for option in bot.options]
        table.add_row(bot.name, bot.summary, ", ".join(options))
    context.ensure_object(Terminal).show(table)
