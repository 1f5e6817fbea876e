"""``arena bots``: the bots that have a name, and what their options decide."""

from __future__ import annotations

from typing import Annotated

import typer
from rich import box
from rich.table import Table

from bots.errors import SpecError
from bots.registry import BotDescription, describe, describe_all
from dealer.cli.console import Terminal, abort

__all__ = ["bots"]


def bots(
    context: typer.Context,
    name: Annotated[
        str | None,
        typer.Argument(help="A bot, to see what each of its options decides.", metavar="BOT", show_default=False),
    ] = None,
) -> None:
    """List the bots that have a name, built in or from installed packages; or what the options of one bot decide."""
    terminal = context.ensure_object(Terminal)
    if name is not None:
        try:
            bot = describe(name)
        except SpecError as error:
            abort(str(error))
        terminal.print(f"{bot.name}: {bot.summary}{f' ({bot.origin})' if bot.origin else ''}")
        if bot.options:
            terminal.show(_options(bot))
        return
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("bot", no_wrap=True)
    table.add_column("what it does")
    table.add_column("options")
    table.add_column("origin")
    for bot in describe_all():
        options = [f"{option.name}={option.default} ({option.type_name})" for option in bot.options]
        table.add_row(bot.name, bot.summary, ", ".join(options), bot.origin)
    terminal.show(table)


def _options(bot: BotDescription) -> Table:
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("option", no_wrap=True)
    table.add_column("default", no_wrap=True)
    table.add_column("type")
    table.add_column("what it decides", overflow="fold")
    for option in bot.options:
        default = (
            str(option.default).lower()
            if isinstance(option.default, bool)
            else ""
            if option.default is None
            else str(option.default)
        )
        table.add_row(option.name, default, option.type_name, option.decides)
    return table
